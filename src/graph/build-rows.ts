import { allocate } from '../math/memory.js';
import { type Rows, sortBucket } from './build-tasks.js';
import type { GraphSide } from './graph.js';

/** The edges of one side alone, from vertices of each row, which are used up; counts are kept where there are any. */
export function buildRows(
  rows: Rows,
  ownCount: number,
  otherCount: number,
): Pick<GraphSide, 'offsets' | 'neighbors' | 'counts'> {
  const offsets = allocate(Uint32Array, ownCount + 1);
  const whole = { from: 0, to: rows.own.length, first: 0, last: ownCount };
  const { edges } = sortBucket({ ...whole, rows, otherCount, offsets });
  offsets[ownCount] = edges;
  return {
    offsets,
    neighbors: rows.other.subarray(0, edges),
    counts: rows.counts?.subarray(0, edges),
  };
}
