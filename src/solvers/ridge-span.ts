// What speeds conjugate gradients of a ridge regression: the few directions along which the inputs vary most, popularity first of
// all. They are found once for all right-hand sides, solved along directly, and kept out of every further direction (deflation), so
// that steps are left with the rest, which is nearly round. On @simulated 11 steps become 5.

import { FitError } from '../errors.js';
import { factorize, solveFactorized } from '../math/cholesky.js';
import { randomStream } from '../math/random.js';
import { STREAMS } from '../math/streams.js';
import { instantiate, type LinearKernels, type StoredLists, type WorkerPlace } from './linear-kernels.js';

/** Right-hand sides solved together, and directions of a table. */
export const WIDTH = 32;
/** Times that random directions go through the system: each turns them further to where it is largest. */
const POWERS = 4;
/** How far from orthogonal the directions may be, at most. */
const SKEW = 0.01;

/** Directions V, in tables of WIDTH, and what the system makes of them. Addresses in the memory of the kernels. */
export interface RidgeSpan {
  readonly tables: readonly number[];
  readonly images: readonly number[];
  /** The lower factor of Vᵀ(XᵀX + λ)V, once it is found. */
  readonly factor: Float64Array;
  /** 1 once all is there; directions that come out skew are of no use. */
  readonly found: Int32Array;
}

export interface RidgeSystem extends WorkerPlace {
  /** The rows of the inputs, 0/1, and the address of 1/(degree + λ) per column. */
  readonly inputs: StoredLists;
  readonly scale: number;
  readonly columns: number;
  readonly lambda: number;
}

/** Bytes that a worker needs for products of tables. */
export const SPAN_SCRATCH_BYTES = (8 + 4) * WIDTH * WIDTH;

/** Finds the directions: one worker does it all. */
export function spanRidge(job: RidgeSystem & { readonly span: RidgeSpan }): void {
  if (Atomics.add(job.next, 0, 1) > 0) return;
  const { columns, inputs, lambda, scale, span, memory } = job;
  const { tables, images, factor, found } = span;
  const kernels = instantiate(job);
  const products = createProducts(kernels, memory, columns, job.scratch[0]);
  for (const [b, table] of tables.entries()) {
    const random = randomStream(1, STREAMS.ridge, b);
    const view = new Float32Array(memory.buffer, table, WIDTH * columns);
    for (let i = 0; i < view.length; i++) view[i] = random.uniform() - 0.5;
  }
  const apply = () => {
    for (const [b, table] of tables.entries()) {
      kernels.linearGram(inputs.offsets, inputs.neighbors, inputs.rows, columns, lambda, table, images[b]);
    }
  };
  for (let power = 0; power < POWERS; power++) {
    apply();
    for (const [b, table] of tables.entries()) products.rescale(scale, images[b], table);
    if (!products.orthogonalize(tables)) return;
  }
  apply();
  const size = WIDTH * tables.length;
  const identity = products.cross(tables, tables);
  // What is no number is skew, too.
  const isStraight = identity.every((value, at) => Math.abs(value - (at % (size + 1) === 0 ? 1 : 0)) <= SKEW);
  if (!isStraight) return;
  factor.set(products.cross(tables, images));
  if (hasFactor(factor, size)) Atomics.store(found, 0, 1);
}

/** Factorizes, or says that rounding has left no positive matrix: inputs of fewer rows than directions have nothing in some of them. */
function hasFactor(matrix: Float64Array, size: number, least?: number): boolean {
  try {
    factorize(matrix, size, least);
    return true;
  } catch (error) {
    if (error instanceof FitError) return false;
    throw error;
  }
}

/** What conjugate gradients do along the directions, for WIDTH right-hand sides at a time. */
export function createDeflation(
  kernels: LinearKernels,
  memory: WebAssembly.Memory,
  columns: number,
  { tables, images, factor }: RidgeSpan,
  scratch: number,
) {
  const products = createProducts(kernels, memory, columns, scratch);
  const along = (by: readonly number[], right: number) => {
    const found = products.cross(by, [right]);
    solveFactorized(factor, WIDTH * tables.length, found, WIDTH);
    return found;
  };
  return {
    /** Solves along the directions: adds to x, and leaves in r what is left. */
    begin(x: number, r: number): void {
      const found = along(tables, r);
      products.add(tables, found, 1, x);
      products.add(images, found, -1, r);
    },
    /** Takes out of p what the system would bring back along the directions. */
    keepOut(p: number): void {
      products.add(tables, along(images, p), -1, p);
    },
  };
}

/** Products of tables, columns × WIDTH each, with each other and with small matrices. */
function createProducts(
  kernels: LinearKernels,
  memory: WebAssembly.Memory,
  columns: number,
  scratch: number,
) {
  const sums = new Float64Array(memory.buffer, scratch, WIDTH * WIDTH);
  const matrixAt = scratch + 8 * WIDTH * WIDTH;
  const matrix = new Float32Array(memory.buffer, matrixAt, WIDTH * WIDTH);
  /** Aᵀ B, row-major. */
  const cross = (a: readonly number[], b: readonly number[]) => {
    const width = WIDTH * b.length;
    const out = new Float64Array(WIDTH * a.length * width);
    for (const [i, left] of a.entries()) {
      for (const [j, right] of b.entries()) {
        kernels.linearCross(left, right, columns, scratch);
        for (let row = 0; row < WIDTH; row++) {
          const own = sums.subarray(row * WIDTH, (row + 1) * WIDTH);
          out.set(own, (i * WIDTH + row) * width + j * WIDTH);
        }
      }
    }
    return out;
  };
  /** out += table · weights, or without what was there. */
  const combine = (
    table: number,
    weights: (row: number, column: number) => number,
    keep: boolean,
    out: number,
  ) => {
    for (let at = 0; at < matrix.length; at++) matrix[at] = weights(Math.floor(at / WIDTH), at % WIDTH);
    kernels.linearCombine(table, matrixAt, columns, keep ? 1 : 0, out);
  };
  return {
    cross,
    /** out += sign · (tables · weights), weights of WIDTH columns. */
    add(tables: readonly number[], weights: Float64Array, sign: 1 | -1, out: number): void {
      for (const [b, table] of tables.entries()) {
        combine(table, (row, t) => sign * weights[(b * WIDTH + row) * WIDTH + t], true, out);
      }
    },
    /** out = scale · table, row by row. */
    rescale(scale: number, table: number, out: number): void {
      matrix.fill(0, 0, WIDTH);
      kernels.linearDirection(matrixAt, scale, table, out, columns);
    },
    /** Makes all columns of the tables orthogonal and of length 1: V·L⁻ᵀ, where VᵀV = LLᵀ. Says whether there is such an L. */
    orthogonalize(tables: readonly number[]): boolean {
      const size = WIDTH * tables.length;
      const lower = cross(tables, tables);
      const trace = lower.reduce((sum, value, at) => (at % (size + 1) === 0 ? sum + value : sum), 0);
      if (!hasFactor(lower, size, 1e-12 * trace)) return false;
      const inverse = invertLower(lower, size);
      // Backwards: a table is made of itself and of those before it.
      for (let b = tables.length - 1; b >= 0; b--) {
        const of = (from: number) => (row: number, column: number) =>
          inverse[(b * WIDTH + column) * size + from * WIDTH + row];
        combine(tables[b], of(b), false, tables[b]);
        for (let from = 0; from < b; from++) combine(tables[from], of(from), true, tables[b]);
      }
      return true;
    },
  };
}

/** The inverse of a lower triangle, row-major. */
function invertLower(lower: Float64Array, size: number): Float64Array {
  const inverse = new Float64Array(size * size);
  for (let column = 0; column < size; column++) {
    for (let row = column; row < size; row++) {
      let sum = row === column ? 1 : 0;
      for (let k = column; k < row; k++) sum -= lower[row * size + k] * inverse[k * size + column];
      inverse[row * size + column] = sum / lower[row * size + row];
    }
  }
  return inverse;
}
