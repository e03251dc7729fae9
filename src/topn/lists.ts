// Lists of the best few candidates of a row.

import { allocate } from '../math/memory.js';
import { largest } from '../math/nth-largest.js';

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
