// Full rankings: what is asked and what is answered, and what every engine does alike about them.

import { allocate } from '../math/memory.js';

/** Two tables whose dot products are the scores. */
export interface FactorTables {
  /** Rows × features. */
  readonly users: Float32Array;
  /** Items × features. */
  readonly items: Float32Array;
  readonly features: number;
}

/** Writes the scores of a row for each candidate, in their order. */
export type RowScores = (row: number, candidates: Uint32Array, out: Float32Array) => void;

/** Lists of numbers, one per row: row r holds values[offsets[r] … offsets[r+1]−1], ascending. */
export interface RowLists {
  readonly offsets: Uint32Array;
  readonly values: Uint32Array;
}

/** One way to look at every row: all candidates, or all but some. Views narrow: each leaves out all that the former did. */
export interface RankView {
  /** Candidate positions left out in this view, ascending. */
  readonly without: Uint32Array;
  /** Per row, the relevant candidate positions; none of them in `without` or excluded. */
  readonly relevant: RowLists;
}

/** What to find in each row of scores. */
export interface RankQuery {
  /** Number of candidates; a position is 0 … candidates−1. */
  readonly candidates: number;
  readonly views: readonly RankView[];
  /** Per row, candidate positions that are not to be ranked. */
  readonly excluded: RowLists | undefined;
  /** Ranks beyond this are reported as 0. */
  readonly depth: number;
  /** Length of the lists of best candidates; at most depth. */
  readonly top: number;
}

/** Each row's part is written by whoever ranks it. */
export interface RankAnswer {
  /** Per view, parallel to relevant.values. */
  readonly ranks: readonly Uint32Array[];
  /** Per view: 1 for each candidate that was among the best `top` of some row that has relevant candidates. */
  readonly shown: readonly Uint8Array[];
}

/** Rows that have a relevant candidate in some view. */
export function rowsToRank({ views }: RankQuery): Uint32Array {
  const rows: number[] = [];
  const count = (views[0]?.relevant.offsets.length ?? 1) - 1;
  for (let r = 0; r < count; r++) {
    if (views.some(({ relevant }) => relevant.offsets[r + 1] > relevant.offsets[r])) rows.push(r);
  }
  return Uint32Array.from(rows);
}

export function emptyAnswer({ views, candidates }: RankQuery): RankAnswer {
  return {
    ranks: views.map(({ relevant }) => allocate(Uint32Array, relevant.values.length)),
    shown: views.map(() => allocate(Uint8Array, candidates)),
  };
}

export function listOf(lists: RowLists, row: number): Uint32Array {
  return lists.values.subarray(lists.offsets[row], lists.offsets[row + 1]);
}
