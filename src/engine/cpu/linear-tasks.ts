// What a worker of the linear solvers does: take the next block of right-hand sides or rows until none is left. Blocks
// are independent of each other, so results do not depend on the number of workers.

import { serveTasks } from '../../parallel/worker.js';

/** The exports of kernels/linear.ts. */
export interface LinearKernels {
  linearGram(
    offsets: number,
    neighbors: number,
    rows: number,
    columns: number,
    lambda: number,
    p: number,
    out: number,
  ): void;
  linearDots(a: number, b: number, scale: number, rows: number, out: number): void;
  linearAxpy(alpha: number, x: number, y: number, rows: number): void;
  linearDirection(beta: number, scale: number, r: number, p: number, rows: number): void;
  alsGram(table: number, rows: number, stride: number, factor: number, gram: number, packed: number): void;
  alsRows(
    own: number,
    other: number,
    offsets: number,
    neighbors: number,
    first: number,
    last: number,
    stride: number,
    packed: number,
    lambda: number,
    base: number,
    steps: number,
    tolerance: number,
    scratch: number,
  ): void;
}

export interface WorkerPlace {
  readonly module: WebAssembly.Module;
  readonly memory: WebAssembly.Memory;
  /** One number that workers count up to take their scratch, and one that they count up to take the next block. */
  readonly places: Int32Array;
  readonly next: Int32Array;
  /** Address of each worker's scratch. */
  readonly scratch: readonly number[];
}

/** Right-hand sides solved together. */
export const WIDTH = 32;

export interface RidgeJob extends WorkerPlace {
  /** Addresses of the inputs' rows, 0/1, and of 1/(degree + λ) per column. */
  readonly offsets: number;
  readonly neighbors: number;
  readonly scale: number;
  readonly rows: number;
  readonly columns: number;
  readonly lambda: number;
  /** Right-hand side t is the sum of the input rows named in its list. */
  readonly targets: { readonly offsets: Uint32Array; readonly values: Uint32Array };
  /** Relative size of the residual at which a column is done. */
  readonly tolerance: number;
  readonly maxIterations: number;
  /** columns × targets, row-major. */
  readonly weights: Float32Array;
}

export function ridgeScratchBytes(columns: number): number {
  return 4 * columns * 4 * WIDTH + 2 * 8 * WIDTH + 2 * 4 * WIDTH;
}

export function solveRidge(job: RidgeJob): void {
  const { columns, rows, lambda, scale } = job;
  const kernels = instantiate(job);
  const address = job.scratch[Atomics.add(job.places, 0, 1)];
  const size = 4 * WIDTH * columns;
  const [x, r, p, q] = [0, 1, 2, 3].map((i) => address + i * size) as [number, number, number, number];
  const dotsAt = address + 4 * size;
  const factorAt = dotsAt + 2 * 8 * WIDTH;
  const dots = new Float64Array(job.memory.buffer, dotsAt, WIDTH);
  const factor = new Float32Array(job.memory.buffer, factorAt, WIDTH);
  const targets = job.targets.offsets.length - 1;
  const residual = new Float64Array(WIDTH);
  for (;;) {
    const first = WIDTH * Atomics.add(job.next, 0, 1);
    if (first >= targets) return;
    const count = Math.min(WIDTH, targets - first);
    new Float32Array(job.memory.buffer, address, 3 * WIDTH * columns).fill(0);
    sumTargets(job, first, count, new Float32Array(job.memory.buffer, r, WIDTH * columns));
    // Preconditioned by the diagonal; x starts at 0, so the residual is the right-hand side.
    kernels.linearDots(r, r, scale, columns, dotsAt);
    residual.set(dots);
    const goal = residual.map((value) => value * job.tolerance ** 2);
    factor.fill(0);
    kernels.linearDirection(factorAt, scale, r, p, columns);
    for (let step = 0; step < job.maxIterations && residual.some((value, c) => value > goal[c]); step++) {
      kernels.linearGram(job.offsets, job.neighbors, rows, columns, lambda, p, q);
      kernels.linearDots(p, q, 0, columns, dotsAt);
      for (let c = 0; c < WIDTH; c++) factor[c] = dots[c] > 0 ? residual[c] / dots[c] : 0;
      kernels.linearAxpy(factorAt, p, x, columns);
      for (let c = 0; c < WIDTH; c++) factor[c] = -factor[c];
      kernels.linearAxpy(factorAt, q, r, columns);
      kernels.linearDots(r, r, scale, columns, dotsAt);
      for (let c = 0; c < WIDTH; c++) factor[c] = residual[c] > 0 ? dots[c] / residual[c] : 0;
      residual.set(dots);
      kernels.linearDirection(factorAt, scale, r, p, columns);
    }
    const solution = new Float32Array(job.memory.buffer, x, WIDTH * columns);
    for (let i = 0; i < columns; i++) {
      job.weights.set(solution.subarray(i * WIDTH, i * WIDTH + count), i * targets + first);
    }
  }
}

function sumTargets(job: RidgeJob, first: number, count: number, out: Float32Array): void {
  const offsets = new Uint32Array(job.memory.buffer, job.offsets);
  const neighbors = new Uint32Array(job.memory.buffer, job.neighbors);
  for (let t = 0; t < count; t++) {
    for (let e = job.targets.offsets[first + t]; e < job.targets.offsets[first + t + 1]; e++) {
      const row = job.targets.values[e];
      for (let n = offsets[row]; n < offsets[row + 1]; n++) out[neighbors[n] * WIDTH + t] += 1;
    }
  }
}

export interface LeastSquaresJob extends WorkerPlace {
  /** Addresses: the table to solve for, the other one, the edges by row, and the other's scaled Gram matrix, packed. */
  readonly own: number;
  readonly other: number;
  readonly offsets: number;
  readonly neighbors: number;
  readonly packed: number;
  readonly rows: number;
  readonly stride: number;
  readonly lambda: number;
  /** Added to the degree in the row's share of the regularization. */
  readonly base: number;
  readonly steps: number;
  /** Relative size of the residual at which a row is done before all steps. */
  readonly tolerance: number;
}

export function leastSquaresScratchBytes(stride: number): number {
  return 12 * 4 * stride + 48;
}

export const ROWS_PER_BLOCK = 128;

export function solveLeastSquares(job: LeastSquaresJob): void {
  const kernels = instantiate(job);
  const scratch = job.scratch[Atomics.add(job.places, 0, 1)];
  for (;;) {
    const first = ROWS_PER_BLOCK * Atomics.add(job.next, 0, 1);
    if (first >= job.rows) return;
    const last = Math.min(job.rows, first + ROWS_PER_BLOCK);
    const { own, other, offsets, neighbors, stride, packed, lambda, base, steps, tolerance } = job;
    kernels.alsRows(
      ...([own, other, offsets, neighbors, first, last, stride, packed, lambda, base, steps] as const),
      ...([tolerance, scratch] as const),
    );
  }
}

export function instantiate({ module, memory }: Pick<WorkerPlace, 'module' | 'memory'>): LinearKernels {
  const instance = new WebAssembly.Instance(module, { env: { memory, abort: () => {} } });
  return instance.exports as unknown as LinearKernels;
}

serveTasks('linear-tasks', { solveRidge, solveLeastSquares });
