// The leading right singular vectors of the matrix of edges, by randomized subspace iteration in the kernels' float32, in one thread.

import { throwIfAborted } from '../errors.js';
import { factorize } from '../math/cholesky.js';
import type { RowLists } from '../math/csr.js';
import type { Random } from '../math/random.js';
import { Heap } from '../wasm/heap.js';
import { instantiate } from '../wasm/instantiate.js';
import { loadKernels } from '../wasm/load.js';
import { WIDTH } from './ridge-blocks.js';
import { storeLists } from './stored-lists.js';

/** The weight of each vertex. The matrix of edges R becomes U R D, where U and D hold the weights of users and items. */
interface EdgeScales {
  readonly users: Float64Array;
  readonly items: Float64Array;
}

/** A table in the kernels' memory, whose rows have room for whole blocks of WIDTH columns. */
export interface Rows {
  readonly values: Float32Array;
  readonly stride: number;
}

/** Squares of pivots are at least this part of the largest: about the precision of float32. */
const LEAST_PIVOT = 1e-6;

/**
 * Items × directions, row-major: columns that span the leading right singular vectors of U R D after some multiplications by its
 * square. They are orthonormal to about 1e-4, then multiplied by the matrix that `turns` returns (directions × directions).
 */
export async function leadingDirections(
  users: RowLists,
  scales: EdgeScales,
  directions: number,
  multiplications: number,
  random: Random,
  { turns, signal }: { turns?: (rows: Rows) => Float64Array; signal?: AbortSignal | undefined } = {},
): Promise<Float32Array> {
  const { module } = await loadKernels();
  const heap = new Heap();
  const kernels = instantiate(module, heap.memory);
  const items = scales.items.length;
  const { offsets, neighbors, rows } = storeLists(heap, users);
  const stride = WIDTH * Math.ceil(directions / WIDTH);
  const [weights, scratch] = [heap.allocate(4 * rows), heap.allocate(4 * stride)];
  const table = heap.allocate(4 * items * stride);
  const [gram, packed, matrix] = [0, 1, 2].map(() => heap.allocate(4 * stride * stride));
  const [product, squares, zeros] = [4 * items * WIDTH, 4 * items, 4 * WIDTH].map((bytes) =>
    heap.allocate(bytes),
  );
  // A table of one block is multiplied where it lies.
  const block = stride === WIDTH ? table : heap.allocate(4 * items * WIDTH);
  heap.f32(weights, rows).set(scales.users.map((scale) => scale ** 2));
  heap.f32(squares, items).set(scales.items.map((scale) => scale ** 2));
  const values = heap.f32(table, items * stride);
  const blockRows = heap.f32(block, items * WIDTH);
  const turn = (by: Float64Array) => {
    const padded = heap.f32(matrix, stride * stride).fill(0);
    for (let k = 0; k < directions; k++) {
      padded.set(by.subarray(k * directions, (k + 1) * directions), k * stride);
    }
    kernels.linearTurn(table, items, stride, matrix, scratch);
  };
  const orthonormalize = () => {
    kernels.alsGram(table, items, stride, 1, gram, packed);
    turn(inverseFactor(heap.f32(gram, stride * stride), stride, directions));
  };

  // A random sign for each number: one draw has 32 of them.
  for (let i = 0, bits = 0; i < items; i++) {
    for (let k = 0; k < directions; k++, bits >>>= 1) {
      if (k % 32 === 0) bits = random.uint32();
      values[i * stride + k] = bits & 1 ? 1 : -1;
    }
  }
  // The table is D times the columns: D² Rᵀ U² R times it is the next one. Columns are made orthonormal every time: two multiplications
  // would leave the smallest of them to float32's rounding, and fits of data with strong features would end far below the best bound.
  for (let m = 0; m < multiplications; m++) {
    for (let first = 0; first < stride; first += WIDTH) {
      throwIfAborted(signal);
      if (block !== table) copyColumns(values, stride, first, blockRows, WIDTH, 0, items);
      kernels.linearGram(offsets, neighbors, weights, rows, items, 0, block, product);
      kernels.linearDirection(zeros, squares, product, block, items);
      if (block !== table) copyColumns(blockRows, WIDTH, 0, values, stride, first, items);
    }
    orthonormalize();
  }
  for (let i = 0; i < items; i++) {
    const inverse = scales.items[i] > 0 ? 1 / scales.items[i] : 0;
    for (let at = i * stride; at < (i + 1) * stride; at++) values[at] *= inverse;
  }
  orthonormalize();
  if (turns) turn(turns({ values, stride }));
  const out = new Float32Array(items * directions);
  for (let i = 0; i < items; i++) {
    for (let k = 0; k < directions; k++) out[i * directions + k] = values[i * stride + k];
  }
  return out;
}

/** Copies WIDTH columns of each row: value by value, because for rows this short creating a view takes longer than copying. */
function copyColumns(
  from: Float32Array,
  fromStride: number,
  fromColumn: number,
  to: Float32Array,
  toStride: number,
  toColumn: number,
  rows: number,
): void {
  for (let i = 0; i < rows; i++) {
    const [source, target] = [i * fromStride + fromColumn, i * toStride + toColumn];
    for (let k = 0; k < WIDTH; k++) to[target + k] = from[source + k];
  }
}

/** L⁻ᵀ of the Cholesky factor L of the first `width` rows and columns: columns with these products become orthonormal by it. */
function inverseFactor(products: Float32Array, stride: number, width: number): Float64Array {
  const factor = new Float64Array(width * width);
  let largest = 1e-30;
  for (let i = 0; i < width; i++) {
    factor.set(products.subarray(i * stride, i * stride + width), i * width);
    largest = Math.max(largest, factor[i * width + i]);
  }
  factorize(factor, width, LEAST_PIVOT * largest);
  const inverse = new Float64Array(width * width);
  for (let column = 0; column < width; column++) {
    // L x = the unit vector of `column`; x is a row of the result.
    for (let i = column; i < width; i++) {
      let sum = i === column ? 1 : 0;
      for (let k = column; k < i; k++) sum -= factor[i * width + k] * inverse[column * width + k];
      inverse[column * width + i] = sum / factor[i * width + i];
    }
  }
  return inverse;
}
