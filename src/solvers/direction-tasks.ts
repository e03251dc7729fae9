// Randomized subspace iteration by workers that share tables. They go from step to step together. The numbers of a row, and the products of a
// part of the rows, do not depend on the worker that computes them, so results do not depend on the number of workers.

import { factorize } from '../math/cholesky.js';
import { instantiate } from '../wasm/instantiate.js';
import { WIDTH } from './ridge-blocks.js';
import type { StoredLists, WorkerPlace } from './stored-lists.js';

/** Products of columns are summed in this many parts of the rows. */
export const PARTS = 16;
/** Blocks of rows that each worker takes of a table, on average. */
const BLOCKS = 16;
/** Squares of pivots are at least this part of the largest: about the precision of float32. */
const LEAST_PIVOT = 1e-6;

/**
 * One side of the matrix of edges: the rows of the other table that each row sums, and the addresses of the squares of its scales and of
 * its table. The users' table has WIDTH columns, the items' `stride`.
 */
interface DirectionsSide {
  readonly lists: StoredLists;
  readonly squares: number;
  readonly table: number;
}

export interface DirectionsJob extends WorkerPlace {
  readonly users: DirectionsSide;
  readonly items: DirectionsSide;
  readonly directions: number;
  readonly stride: number;
  readonly multiplications: number;
  /** Addresses: the items' scales, the products of each part, with room for another form of them, and the matrix by which columns become orthonormal. */
  readonly itemScales: number;
  readonly products: number;
  readonly matrix: number;
  readonly workers: number;
  readonly meeting: Meeting;
  /** For each step, the number of blocks taken. */
  readonly taken: Int32Array;
}

/** Where workers wait for each other. */
interface Meeting {
  /** Workers that have arrived. */
  readonly arrived: Int32Array;
  /** Meetings that are over. */
  readonly over: Int32Array;
  /** Whether the work is done. */
  readonly done: Int32Array;
}

/** The number of counters of blocks that a job needs. */
export function directionSteps(multiplications: number, stride: number): number {
  return multiplications * ((2 * stride) / WIDTH + 2);
}

/**
 * The items' table is D times the columns: D² Rᵀ U² R times it is the next one, and D Rᵀ U² R times it are the columns after the last
 * multiplication. Columns are made orthonormal every time: two multiplications would leave the smallest of them to float32's rounding, and
 * fits of data with strong features would end far below the best bound.
 */
export function multiplyDirections(job: DirectionsJob): void {
  const { users, items, stride, matrix, products, multiplications, workers, meeting } = job;
  const { rows } = items.lists;
  const kernels = instantiate(job.module, job.memory);
  const scratch = job.scratch[Atomics.add(job.places, 0, 1)];
  const size = 4 * stride * stride;
  let step = 0;
  const blocks = (rows: number, block: number, run: (first: number, last: number, block: number) => void) => {
    for (;;) {
      const b = Atomics.add(job.taken, step, 1);
      if (b * block >= rows) break;
      run(b * block, Math.min(rows, (b + 1) * block), b);
    }
    step++;
  };
  const blockOf = (rows: number) => Math.ceil(rows / (BLOCKS * workers));
  const sums = ({ rows, offsets, neighbors }: StoredLists, from: Columns, scales: number, to: Columns) => {
    blocks(rows, blockOf(rows), (first, last) => {
      const out = to.at + 4 * to.stride * first;
      kernels.linearSums(offsets, neighbors, first, last, from.at, from.stride, scales, out, to.stride);
    });
    meet(meeting, workers);
  };
  const part = Math.ceil(rows / PARTS);
  for (let m = 1; Atomics.load(meeting.done, 0) === 0; m++) {
    for (let column = 0; column < stride; column += WIDTH) {
      const ofItems = { at: items.table + 4 * column, stride };
      const ofUsers = { at: users.table, stride: WIDTH };
      sums(users.lists, ofItems, users.squares, ofUsers);
      sums(items.lists, ofUsers, m < multiplications ? items.squares : job.itemScales, ofItems);
    }
    blocks(rows, part, (first, last, p) => {
      const to = products + 2 * size * p;
      kernels.alsGram(items.table + 4 * stride * first, last - first, stride, 1, to, to + size);
    });
    meet(meeting, workers, () => {
      const all = new Float64Array(stride * stride);
      for (let p = 0; p * part < rows; p++) {
        const values = new Float32Array(job.memory.buffer, products + 2 * size * p, all.length);
        for (let i = 0; i < all.length; i++) all[i] += values[i];
      }
      writeMatrix(job, inverseFactor(all, stride, job.directions));
      // The caller stops the work by a number beyond the last multiplication.
      if (Atomics.add(job.next, 0, 1) + 1 >= multiplications) Atomics.store(meeting.done, 0, 1);
    });
    blocks(rows, blockOf(rows), (first, last) => {
      kernels.linearTurn(items.table + 4 * stride * first, last - first, stride, matrix, scratch);
    });
    meet(meeting, workers);
  }
}

/** WIDTH columns of a table, from an address. */
interface Columns {
  readonly at: number;
  readonly stride: number;
}

/** Waits until all workers have arrived. The last one calls `between` before they go on. */
function meet({ arrived, over }: Meeting, workers: number, between?: () => void): void {
  const before = Atomics.load(over, 0);
  if (Atomics.add(arrived, 0, 1) + 1 < workers) {
    while (Atomics.load(over, 0) === before) Atomics.wait(over, 0, before);
    return;
  }
  between?.();
  Atomics.store(arrived, 0, 0);
  Atomics.add(over, 0, 1);
  Atomics.notify(over, 0);
}

/** Writes a matrix (directions × directions) where `linearTurn` reads it, with zeros in the other columns. */
export function writeMatrix(
  { memory, matrix, stride, directions }: Pick<DirectionsJob, 'memory' | 'matrix' | 'stride' | 'directions'>,
  values: Float64Array,
): void {
  const padded = new Float32Array(memory.buffer, matrix, stride * stride).fill(0);
  for (let k = 0; k < directions; k++) {
    padded.set(values.subarray(k * directions, (k + 1) * directions), k * stride);
  }
}

/** L⁻ᵀ of the Cholesky factor L of the first `width` rows and columns: columns with these products become orthonormal by it. */
function inverseFactor(products: Float64Array, stride: number, width: number): Float64Array {
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
