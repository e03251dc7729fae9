// Lists of the best few candidates of a row.

import { allocate } from '../math/memory.js';

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
  // A heap of the best so far, with the worst of them at its root.
  const heap: number[] = [];
  const worse = (a: number, b: number) => scores[a] < scores[b] || (scores[a] === scores[b] && a > b);
  const sink = (from: number) => {
    for (let at = from; ; ) {
      let least = at;
      for (const child of [2 * at + 1, 2 * at + 2]) {
        if (child < heap.length && worse(heap[child], heap[least])) least = child;
      }
      if (least === at) return;
      [heap[at], heap[least]] = [heap[least], heap[at]];
      at = least;
    }
  };
  for (let position = 0; position < scores.length; position++) {
    if (scores[position] === Number.NEGATIVE_INFINITY) continue;
    if (heap.length < listed) {
      heap.push(position);
      if (heap.length === listed) for (let at = listed >> 1; at >= 0; at--) sink(at);
    } else if (worse(heap[0], position)) {
      heap[0] = position;
      sink(0);
    }
  }
  heap.sort((a, b) => (worse(a, b) ? 1 : -1));
  lists.counts[row] = heap.length;
  for (const [i, position] of heap.entries()) {
    lists.positions[row * listed + i] = position;
    lists.scores[row * listed + i] = scores[position];
  }
}
