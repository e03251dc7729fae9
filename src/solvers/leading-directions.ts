// The leading right singular vectors of the matrix of edges, by randomized subspace iteration in float64, in one thread: the same bits anywhere.

import { throwIfAborted } from '../errors.js';
import { factorize } from '../math/cholesky.js';
import type { RowLists } from '../math/csr.js';
import type { Random } from '../math/random.js';

/** The weight of each vertex. The matrix of edges R becomes U R D, where U and D hold the weights of users and items. */
export interface EdgeScales {
  readonly users: Float64Array;
  readonly items: Float64Array;
}

/**
 * Orthonormal columns, items × directions, that span the leading right singular vectors of U R D after some multiplications. They
 * are made orthonormal after every `between` of them.
 */
export function leadingDirections(
  users: RowLists,
  scales: EdgeScales,
  directions: number,
  { iterations, between = 1 }: { readonly iterations: number; readonly between?: number },
  random: Random,
  signal?: AbortSignal | undefined,
): Float64Array {
  const items = scales.items.length;
  let basis: Float64Array = Float64Array.from({ length: items * directions }, () => random.uniform() - 0.5);
  for (let iteration = 0; iteration < iterations; iteration++) {
    throwIfAborted(signal);
    basis = multiply(users, scales, basis, items, directions);
    if ((iterations - 1 - iteration) % between === 0) orthonormalize(basis, items, directions);
  }
  return basis;
}

/** D Rᵀ U² R D times a table of `width` columns. */
function multiply(
  { offsets, values }: RowLists,
  scales: EdgeScales,
  table: Float64Array,
  items: number,
  width: number,
): Float64Array {
  const out = new Float64Array(items * width);
  const sum = new Float64Array(width);
  for (let u = 0; u + 1 < offsets.length; u++) {
    sum.fill(0);
    for (let e = offsets[u]; e < offsets[u + 1]; e++) {
      const weight = scales.items[values[e]];
      for (let k = 0, at = values[e] * width; k < width; k++, at++) sum[k] += weight * table[at];
    }
    const own = scales.users[u] ** 2;
    for (let e = offsets[u]; e < offsets[u + 1]; e++) {
      const weight = own * scales.items[values[e]];
      for (let k = 0, at = values[e] * width; k < width; k++, at++) out[at] += weight * sum[k];
    }
  }
  return out;
}

/** Makes the columns of a table orthonormal by the Cholesky factor of their products. */
function orthonormalize(table: Float64Array, rows: number, width: number): void {
  const gram = new Float64Array(width * width);
  for (let r = 0; r < rows; r++) {
    const first = r * width;
    for (let i = 0; i < width; i++) {
      const value = table[first + i];
      if (value === 0) continue;
      for (let j = 0; j <= i; j++) gram[i * width + j] += value * table[first + j];
    }
  }
  let largest = 0;
  for (let i = 0; i < width; i++) largest = Math.max(largest, gram[i * width + i]);
  factorize(gram, width, 1e-14 * Math.max(largest, 1e-280));
  for (let r = 0; r < rows; r++) {
    const first = r * width;
    for (let i = 0; i < width; i++) {
      let value = table[first + i];
      for (let j = 0; j < i; j++) value -= gram[i * width + j] * table[first + j];
      table[first + i] = value / gram[i * width + i];
    }
  }
}
