// A worker of the linear solvers takes blocks of right-hand sides or rows until none is left. Blocks are independent, so
// results do not depend on the number of workers.

import { serveTasks } from '../parallel/worker.js';
import { instantiate } from '../wasm/instantiate.js';
import { multiplyDirections } from './direction-tasks.js';
import { solveRidge } from './ridge-blocks.js';
import type { WorkerPlace } from './stored-lists.js';

export interface LeastSquaresJob extends WorkerPlace {
  /** Addresses: the table to solve for, the other one, the edges by row, and the other's scaled Gram matrix, packed. */
  readonly own: number;
  readonly other: number;
  readonly offsets: number;
  readonly neighbors: number;
  /** The weights of the edges; 0: all are 1. */
  readonly weights: number;
  readonly packed: number;
  readonly rows: number;
  /** Rows taken at a time. */
  readonly block: number;
  readonly stride: number;
  readonly lambda: number;
  /** Added to the degree in the regularization of a row. */
  readonly base: number;
  readonly steps: number;
  /** Relative residual at which a row counts as solved before all steps. */
  readonly tolerance: number;
}

export function leastSquaresScratchBytes(stride: number): number {
  return 12 * 4 * stride + 48;
}

/** The most rows that a worker takes at a time. */
export const MOST_ROWS = 128;
const BLOCKS_PER_LANE = 8;

/** A multiple of 4, since rows are solved four at a time; smaller if rows are few, so that no worker idles. */
export function rowsPerBlock(rows: number, lanes: number): number {
  return Math.min(MOST_ROWS, 4 * Math.ceil(rows / (4 * BLOCKS_PER_LANE * lanes)));
}

export function solveLeastSquares(job: LeastSquaresJob): void {
  const kernels = instantiate(job.module, job.memory);
  const scratch = job.scratch[Atomics.add(job.places, 0, 1)];
  for (;;) {
    const first = job.block * Atomics.add(job.next, 0, 1);
    if (first >= job.rows) return;
    const last = Math.min(job.rows, first + job.block);
    const { own, other, offsets, neighbors, weights, stride, packed, lambda, base, steps, tolerance } = job;
    const edges = [offsets, neighbors, weights] as const;
    kernels.alsRows(
      own,
      other,
      ...edges,
      first,
      last,
      stride,
      packed,
      lambda,
      base,
      steps,
      tolerance,
      scratch,
    );
  }
}

serveTasks('linear-tasks', { solveRidge, solveLeastSquares, multiplyDirections });
