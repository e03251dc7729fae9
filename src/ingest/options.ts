import type { BipartiteGraph, BySide } from '../graph/graph.js';
import type { OptionsOf } from '../options/declare.js';
import type { READ } from '../options/shared.js';
import type { TaskOptions } from '../progress.js';
import type { RowSpill } from './intake/collect.js';
import type { ValueColumn } from './intake/value-column.js';
import type { RowFilter } from './where/row-filter.js';

/** How to read a table; declared in options/shared.ts. Everything has a default; guesses are in the result. */
export interface ReadOptions extends OptionsOf<typeof READ>, TaskOptions {}

/** The options of format readers: the caller's, and those that graphex itself gives. */
export interface ReaderOptions extends ReadOptions {
  /** The sides whose ids stay texts even if all of them are digits. */
  readonly texts?: Partial<BySide<boolean>> | undefined;
  readonly value?: ValueColumn | undefined;
  readonly filter?: RowFilter | undefined;
  readonly spill?: RowSpill | undefined;
}

/** How many rows were read, kept, merged and rejected. */
export interface ReadCounts {
  /** Rows of data: kept + merged + rejected + left out. */
  readonly rows: number;
  /** Distinct pairs: the edges of the graph. */
  readonly kept: number;
  /** Rows that repeated an earlier pair. */
  readonly merged: number;
  /** Bad rows set aside. */
  readonly rejected: number;
  /** Present if the options leave rows or vertices out. */
  readonly leftOut?: LeftOut | undefined;
}

/** Rows and vertices that the options of the reader leave out; a field is present if its option was given. */
export interface LeftOut {
  /** Rows for which `where` is not true. */
  readonly where?: number | undefined;
  /** Rows whose weight rounds to 0. */
  readonly weight?: number | undefined;
  /** Vertices dropped by id. */
  readonly dropped?:
    | (TrimmedPart & {
        /** Ids that are not in the data. */
        readonly unknown: readonly string[];
      })
    | undefined;
  /** Vertices below `minDegree`, and their remaining edges. */
  readonly core?:
    | (TrimmedPart & {
        readonly least: { readonly users: number; readonly items: number };
        /** Passes until every remaining vertex had enough edges. */
        readonly passes: number;
      })
    | undefined;
}

/** Vertices and edges that were removed. */
export interface TrimmedPart {
  readonly users: number;
  readonly items: number;
  readonly edges: number;
}

/** The kind of source: any table, or one of the sources that graphex knows. */
export type OriginKind = 'table' | 'text' | 'wikitext' | 'speeches' | 'netflix' | 'echonest' | 'simulated';

/** How a text recipe read the texts. */
export interface TextReading {
  readonly documents: number;
  /** Words in more than `commonShare` of the documents: left out. */
  readonly commonWords: number;
  readonly commonShare: number;
  /** Documents without any word: left out. */
  readonly wordless: number;
}

/** How the source was understood, so that people can check it. */
export interface ReadGuess {
  readonly kind: OriginKind;
  /** 'text table', 'parquet', 'json lines', or the recipe's name. */
  readonly format: string;
  /** Present for text tables. */
  readonly separator?: string | undefined;
  readonly header?: boolean | undefined;
  /** Whether the header was guessed: no option states it, and no option names a column. */
  readonly headerGuessed?: boolean | undefined;
  /** The first row, if it was read as data although it differs from the others as a header does. */
  readonly unsureRow?: readonly string[] | undefined;
  /** Names, or numbers as text, of the columns used. */
  readonly columns: {
    readonly users: string;
    readonly items: string;
    readonly count?: string | undefined;
    readonly weight?: string | undefined;
  };
  /** Whether a column of counts was named, but counts are not kept. */
  readonly countUnused?: boolean | undefined;
  /** Whether counts are kept, but there is no column of them and no pair occurs twice: every count is 1. */
  readonly countsAllOne?: boolean | undefined;
  /** The column of times, if all of them lie within ten days of 1970: perhaps it holds no times. */
  readonly unlikelyTimes?: string | undefined;
  /** Number of files, if there are several. */
  readonly files?: number | undefined;
  /** Present for texts. */
  readonly text?: TextReading | undefined;
}

/** A graph that was read, and how its source was understood. */
export interface ReadResult {
  readonly graph: BipartiteGraph;
  readonly read: ReadCounts;
  readonly guess: ReadGuess;
  /** The value of each edge, in the order of graph.users.neighbors, if a column of values was read. */
  readonly values?: Float64Array | undefined;
}

/** A stream of bytes with a name for messages; file readers make it, and so can a browser. */
export interface ByteSource {
  /** Its name in messages: the path, or 'standard input'. */
  readonly name: string;
  readonly chunks: AsyncIterable<Uint8Array>;
  /** Bytes of the file on disk, if known. */
  readonly size?: number | undefined;
  /** Bytes of the file read so far (before decompression), if known. */
  consumed?(): number;
}

/** Receives bad rows. Without it, the first bad row throws. */
export interface RejectSink {
  add(row: { line: number; reason: string; text: string }): void;
}
