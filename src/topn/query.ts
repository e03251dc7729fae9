// Full rankings: the query, the answer, and what all backends share.

import { placesOf, type RowLists } from '../math/csr.js';
import { allocate } from '../math/memory.js';
import { largest } from '../math/nth-largest.js';
import type { TaskOptions } from '../progress.js';

/** A ranking backend: reference (float64), cpu or gpu. All give the same answers, up to ties in float32. */
export interface TopN {
  readonly name: 'reference' | 'cpu' | 'gpu';
  /** Ranks the relevant candidates of every row that has one, and marks the candidates shown. `candidates` ascend. */
  rank(
    tables: FactorTables,
    candidates: Uint32Array,
    query: RankQuery,
    task?: TaskOptions,
  ): Promise<RankAnswer>;
  /**
   * The best `n` candidates of each of `rows`, best first, ties to the smaller position. Undefined on the CPU, where list-maker.ts
   * keeps the items for the next query.
   */
  top?(
    tables: FactorTables,
    candidates: Uint32Array,
    rows: Uint32Array,
    n: number,
    excluded: RowLists | undefined,
    task?: TaskOptions,
  ): Promise<TopLists>;
  close(): Promise<void>;
}

/** Two tables whose dot products are the scores. */
export interface FactorTables {
  /** Rows × features. */
  readonly users: Float32Array;
  /** Items × features. */
  readonly items: Float32Array;
  readonly features: number;
  /** Weights to add to the products. */
  readonly itemWeights?: ItemWeightScores | undefined;
  /** The products, for several rankings that differ in the weights alone. The CPU reads and fills them. */
  readonly products?: Products | undefined;
}

/** Products of two tables: rows × candidates. The first ranking fills them. */
export interface Products {
  readonly values: Float32Array;
  /** 1 for each row that is filled. */
  readonly filled: Uint8Array;
}

export function emptyProducts(rows: number, candidates: number): Products {
  return { values: allocate(Float32Array, rows * candidates), filled: allocate(Uint8Array, rows) };
}

/** Sparse weights from a row's items to the scored items. Their sum is added to the score. */
export interface ItemWeightScores extends SparseWeights {
  /** Per row, its items, and their weights if it has any. */
  readonly history: RowLists;
}

/** The weights from item i are offsets[i] … offsets[i+1]−1; their targets ascend. */
export interface SparseWeights {
  readonly offsets: Uint32Array;
  readonly targets: Uint32Array;
  readonly weights: Float32Array;
}

/** The same weights with candidate positions as targets. Weights to other items are dropped. */
export function towardsCandidates<T extends SparseWeights>(
  itemWeights: T,
  candidates: Uint32Array,
  items: number,
): T {
  const position = placesOf(candidates, items);
  const { offsets, targets, weights } = itemWeights;
  let kept = 0;
  for (const target of targets) if (position[target] >= 0) kept++;
  const narrow = {
    offsets: allocate(Uint32Array, offsets.length),
    targets: allocate(Uint32Array, kept),
    weights: allocate(Float32Array, kept),
  };
  let at = 0;
  for (let i = 0; i + 1 < offsets.length; i++) {
    for (let e = offsets[i]; e < offsets[i + 1]; e++) {
      const to = position[targets[e]];
      if (to < 0) continue;
      narrow.targets[at] = to;
      narrow.weights[at++] = weights[e];
    }
    narrow.offsets[i + 1] = at;
  }
  return { ...itemWeights, ...narrow };
}

export function addItemWeights(
  itemWeights: ItemWeightScores,
  row: number,
  out: Float32Array | Float64Array,
): void {
  const { offsets, values, weights } = itemWeights.history;
  for (let h = offsets[row]; h < offsets[row + 1]; h++) {
    addWeights(itemWeights, values[h], out, undefined, weights?.[h]);
  }
}

/** Sparse weights or, without offsets and targets, a full matrix: items × items. */
type AnyWeights = Pick<SparseWeights, 'weights'> &
  Readonly<Record<'offsets' | 'targets', Uint32Array | undefined>>;

/** Adds the weights from one item, times `factor`; a full matrix has `count` columns. */
export function addWeights(
  { offsets, targets, weights }: AnyWeights,
  from: number,
  out: Float32Array | Float64Array,
  count = out.length,
  factor = 1,
): void {
  if (offsets && targets) {
    for (let e = offsets[from]; e < offsets[from + 1]; e++) out[targets[e]] += factor * weights[e];
    return;
  }
  for (let item = 0; item < count; item++) out[item] += factor * weights[from * count + item];
}

/** Writes a row's score for each candidate, in order. */
export type RowScores = (row: number, candidates: Uint32Array, out: Float32Array) => void;

/** One view of every row: all candidates, or all but some. Each view excludes at least what the view before it does. */
export interface RankView {
  /** Candidate positions that this view excludes, ascending. */
  readonly without: Uint32Array;
  /** Per row, the relevant candidate positions; none of them in `without` or excluded. */
  readonly relevant: RowLists;
}

/** What to find in each row of scores. */
export interface RankQuery {
  /** Number of candidates; a position is 0 … candidates−1. */
  readonly candidates: number;
  readonly views: readonly RankView[];
  /** Per row, candidate positions not to rank. */
  readonly excluded: RowLists | undefined;
  /** Ranks beyond this are reported as 0. */
  readonly depth: number;
  /** Length of the lists of best candidates; at most depth. */
  readonly top: number;
}

export interface LaneQuery extends RankQuery {
  /** Bits of candidate positions that no row lists (math/bits.ts). */
  readonly without?: Uint32Array | undefined;
}

export interface RankAnswer {
  /** Per view, parallel to relevant.values. */
  readonly ranks: readonly Uint32Array[];
  /** Per view: 1 for each candidate among the best `top` of some row that has relevant candidates. */
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

export interface TopLists {
  /** Most candidates of a list. */
  readonly listed: number;
  /** Per requested row, candidate positions, best first: rows × listed. */
  readonly positions: Uint32Array;
  readonly scores: Float32Array;
  /** Per requested row, the length of its list. */
  readonly counts: Uint32Array;
}

export function emptyLists(rows: number, listed: number): TopLists {
  return {
    listed,
    positions: allocate(Uint32Array, rows * listed),
    scores: allocate(Float32Array, rows * listed),
    counts: allocate(Uint32Array, rows),
  };
}

/** Writes list `row`: the best of `scores` (−∞: excluded), best first, ties to the smaller position. */
export function listBest(scores: ArrayLike<number>, row: number, { listed, ...lists }: TopLists): void {
  const best = largest(scores.length, listed, (position) => scores[position]);
  lists.counts[row] = best.length;
  for (const [i, position] of best.entries()) {
    lists.positions[row * listed + i] = position;
    lists.scores[row * listed + i] = scores[position];
  }
}
