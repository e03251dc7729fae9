import type { BipartiteGraph } from '../graph/graph.js';
import type { TaskOptions } from '../progress.js';
import type { AskedNames } from '../text/sides.js';
import type { ValueColumn } from './value-column.js';

/** How to read a table. Everything has a default; what was guessed is shown in the result. */
export interface ReadOptions extends TaskOptions {
  /** Column of the users: header name or 1-based number. Default: 1. */
  readonly users?: string | number | undefined;
  /** Column of the items: header name or 1-based number. Default: 2. */
  readonly items?: string | number | undefined;
  /** Column of the counts: header name or 1-based number. Default: none, every row counts once. */
  readonly count?: string | number | undefined;
  /** Separator of the columns, one character or more (`::`). Default: guessed. */
  readonly sep?: string | undefined;
  /** Whether the first row names the columns. Default: guessed. */
  readonly header?: boolean | undefined;
  /** Keep counts, adding those of equal pairs; otherwise an edge or none. Default: false. */
  readonly multigraph?: boolean | undefined;
  /** File for bad rows; reading then goes on instead of stopping at the first. Default: stop. */
  readonly rejects?: string | undefined;
  /** Text recipes: words in more than this share of the documents are left out, 0 … 1. Default: 0.5. */
  readonly commonWords?: number | undefined;
  /** What people call the two sides, in the plural: { users: 'customers', items: 'products' }. Default: by the header. */
  readonly names?: AskedNames | undefined;
}

/** What the readers of formats are told: the caller's options, and a further column where one is wanted. */
export interface ReaderOptions extends ReadOptions {
  readonly value?: ValueColumn | undefined;
}

export interface ReadCounts {
  /** Data rows seen: kept + merged + rejected. */
  readonly rows: number;
  /** Distinct pairs: the edges of the graph. */
  readonly kept: number;
  /** Rows that repeated an earlier pair. */
  readonly merged: number;
  /** Bad rows set aside. */
  readonly rejected: number;
}

/** What kind of thing the data came from: any table, or one of the sources that graphex knows. */
export type OriginKind = 'table' | 'text' | 'wikitext' | 'speeches' | 'netflix' | 'echonest' | 'simulated';

/** What a text recipe did with the texts. */
export interface TextReading {
  readonly documents: number;
  /** Words in more than `commonShare` of the documents: left out. */
  readonly commonWords: number;
  readonly commonShare: number;
  /** Documents without any word: left out. */
  readonly wordless: number;
}

/** How the source was understood, for people to check. */
export interface ReadGuess {
  readonly kind: OriginKind;
  /** 'text table', 'parquet', 'json lines', or the recipe's name. */
  readonly format: string;
  /** Present for text tables. */
  readonly separator?: string;
  readonly header?: boolean;
  /** Whether nobody said whether there is a header, not even by naming a column. */
  readonly headerGuessed?: boolean;
  /** Names, or numbers as text, of the columns used. */
  readonly columns: { readonly users: string; readonly items: string; readonly count?: string };
  /** Present for texts. */
  readonly text?: TextReading;
}

export interface ReadResult {
  readonly graph: BipartiteGraph;
  readonly read: ReadCounts;
  readonly guess: ReadGuess;
  /** Of each edge, in the order of graph.users.neighbors, where a further column was asked for. */
  readonly values?: Float64Array;
}

/** A stream of bytes with a name for messages; the file readers make it, and so can a browser. */
export interface ByteSource {
  /** What messages call it: the path, or 'standard input'. */
  readonly name: string;
  readonly chunks: AsyncIterable<Uint8Array>;
  /** Bytes of the file on disk, where known. */
  readonly size?: number | undefined;
  /** Bytes of the file consumed so far (before decompression), where known. */
  consumed?(): number;
}

/** Where bad rows go. Without one, the first bad row throws. */
export interface RejectSink {
  add(row: { line: number; reason: string; text: string }): void;
}
