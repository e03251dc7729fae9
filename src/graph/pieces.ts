import { lowerBound } from '../math/csr.js';

/** Cuts the numbers 0 … length−1 into `pieces` ranges of about equal length, one for each thread. */
export function cut(length: number, pieces: number): [number, number][] {
  return Array.from({ length: pieces }, (_, p) => [
    Math.floor((p * length) / pieces),
    Math.floor(((p + 1) * length) / pieces),
  ]);
}

/** Cuts the vertices into `pieces` ranges with about equal numbers of edges. */
export function cutRows(offsets: Uint32Array, pieces: number): [number, number][] {
  const count = offsets.length - 1;
  const result: [number, number][] = [];
  let first = 0;
  for (let p = 1; p <= pieces; p++) {
    const wanted = Math.floor((p * offsets[count]) / pieces);
    const last = p === pieces ? count : lowerBound(offsets, wanted, first, count);
    result.push([first, last]);
    first = last;
  }
  return result;
}
