import type { BipartiteGraph } from '../graph/graph.js';
import type { OptionsOf } from '../options/declare.js';
import type { READ } from '../options/shared.js';
import type { TaskOptions } from '../progress.js';
import type { RowSpill } from './intake/collect.js';
import type { ValueColumn } from './intake/value-column.js';
import type { RowFilter } from './where/filter.js';

/** How to read a table; declared in options/shared.ts. Everything has a default; what was guessed is in the result. */
export interface ReadOptions extends OptionsOf<typeof READ>, TaskOptions {}

/** The options of format readers: the caller's, and optionally a further column, a condition on rows, and where rows go. */
export interface ReaderOptions extends ReadOptions {
  readonly value?: ValueColumn | undefined;
  readonly filter?: RowFilter | undefined;
  readonly spill?: RowSpill | undefined;
}

/** How many rows were read, kept, merged and rejected. */
export interface ReadCounts {
  /** Data rows seen: kept + merged + rejected + what was left out. */
  readonly rows: number;
  /** Distinct pairs: the edges of the graph. */
  readonly kept: number;
  /** Rows that repeated an earlier pair. */
  readonly merged: number;
  /** Bad rows set aside. */
  readonly rejected: number;
  /** What was left out, where the options ask for it. */
  readonly leftOut?: LeftOut | undefined;
}

/** Rows and vertices that the options of the reader leave out; present are those that were asked for. */
export interface LeftOut {
  /** Rows of which `where` is not true. */
  readonly where?: number | undefined;
  /** Rows whose weight rounds to nothing. */
  readonly weight?: number | undefined;
  /** Vertices dropped by id. */
  readonly dropped?:
    | (TrimmedPart & {
        /** Ids that are not in the data. */
        readonly unknown: readonly string[];
      })
    | undefined;
  /** Vertices below `minDegree`, and what was left of their edges. */
  readonly core?:
    | (TrimmedPart & {
        readonly least: { readonly users: number; readonly items: number };
        /** Passes until every vertex that is left had enough. */
        readonly passes: number;
      })
    | undefined;
}

/** Vertices and edges that are gone. */
export interface TrimmedPart {
  readonly users: number;
  readonly items: number;
  readonly edges: number;
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
  readonly separator?: string | undefined;
  readonly header?: boolean | undefined;
  /** Whether nobody said whether there is a header, not even by naming a column. */
  readonly headerGuessed?: boolean | undefined;
  /** The first row, if it was taken as data although it differs from the others as a header does. */
  readonly unsureRow?: readonly string[] | undefined;
  /** Names, or numbers as text, of the columns used. */
  readonly columns: {
    readonly users: string;
    readonly items: string;
    readonly count?: string | undefined;
    readonly weight?: string | undefined;
  };
  /** Whether a column of counts was named and nobody said that counts be kept: they are not. */
  readonly countUnused?: boolean | undefined;
  /** Whether counts are kept, yet no column has them and no pair is met twice: every count is 1. */
  readonly countsAllOne?: boolean | undefined;
  /** Files that were read, where there are several. */
  readonly files?: number | undefined;
  /** Present for texts. */
  readonly text?: TextReading | undefined;
}

/** A graph that was read, and how its source was understood. */
export interface ReadResult {
  readonly graph: BipartiteGraph;
  readonly read: ReadCounts;
  readonly guess: ReadGuess;
  /** Of each edge, in the order of graph.users.neighbors, where a further column was asked for. */
  readonly values?: Float64Array | undefined;
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
