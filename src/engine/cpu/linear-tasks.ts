// What a worker of the linear solvers does: take the next block of right-hand sides or rows until none is left. Blocks
// are independent of each other, so results do not depend on the number of workers.

import { serveTasks } from '../../parallel/worker.js';

/** The exports of kernels/linear.ts and kernels/ridge.ts. */
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
  linearSums(offsets: number, values: number, first: number, last: number, table: number, out: number): void;
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

/** Addresses of lists of row numbers, and how many there are. */
export interface StoredLists {
  readonly offsets: number;
  readonly neighbors: number;
  readonly rows: number;
}

/** What is solved for, and what becomes of the solutions. A target is a list of input rows, asked rows are lists of columns. */
export type RidgeAim =
  /** Per target its weights: columns × targets, row-major. */
  | { readonly kind: 'weights'; readonly targets: StoredLists; readonly out: Float32Array }
  /** Asked rows × targets, row-major: solved for each target, or for each asked row. */
  | {
      readonly kind: 'scores-by-target' | 'scores-by-row';
      readonly targets: StoredLists;
      readonly asked: StoredLists;
      readonly out: Float32Array;
    };

export interface RidgeJob extends WorkerPlace {
  /** The rows of the inputs, 0/1, and the address of 1/(degree + λ) per column. */
  readonly inputs: StoredLists;
  readonly scale: number;
  readonly columns: number;
  readonly lambda: number;
  readonly aim: RidgeAim;
  /** Relative size of the residual at which a column is done. */
  readonly tolerance: number;
  readonly maxIterations: number;
}

/** Lists whose sums are made at a time. */
const SUMS = 1024;

export function ridgeScratchBytes(columns: number, rows: number, kind: RidgeAim['kind']): number {
  const sums = kind === 'weights' ? 0 : SUMS + (kind === 'scores-by-row' ? rows : 0);
  return 4 * WIDTH * (4 * columns + sums) + 2 * 8 * WIDTH + 2 * 4 * WIDTH;
}

/** How many systems an aim takes. */
export function ridgeSystems(aim: RidgeAim): number {
  return (aim.kind === 'scores-by-row' ? aim.asked : aim.targets).rows;
}

export function solveRidge(job: RidgeJob): void {
  const { columns, inputs, lambda, scale, aim } = job;
  const kernels = instantiate(job);
  const address = job.scratch[Atomics.add(job.places, 0, 1)];
  const size = 4 * WIDTH * columns;
  const [x, r, p, q] = [0, 1, 2, 3].map((i) => address + i * size) as [number, number, number, number];
  const dotsAt = address + 4 * size;
  const factorAt = dotsAt + 2 * 8 * WIDTH;
  const sumsAt = factorAt + 2 * 4 * WIDTH;
  const dots = new Float64Array(job.memory.buffer, dotsAt, WIDTH);
  const factor = new Float32Array(job.memory.buffer, factorAt, WIDTH);
  const systems = ridgeSystems(aim);
  const residual = new Float64Array(WIDTH);
  for (;;) {
    const first = WIDTH * Atomics.add(job.next, 0, 1);
    if (first >= systems) return;
    const count = Math.min(WIDTH, systems - first);
    new Float32Array(job.memory.buffer, address, 3 * WIDTH * columns).fill(0);
    const right = new Float32Array(job.memory.buffer, r, WIDTH * columns);
    if (aim.kind === 'scores-by-row') markColumns(job, aim.asked, first, count, right);
    else sumTargets(job, first, count, right);
    // Preconditioned by the diagonal; x starts at 0, so the residual is the right-hand side.
    kernels.linearDots(r, r, scale, columns, dotsAt);
    residual.set(dots);
    const goal = residual.map((value) => value * job.tolerance ** 2);
    factor.fill(0);
    kernels.linearDirection(factorAt, scale, r, p, columns);
    for (let step = 0; step < job.maxIterations && residual.some((value, c) => value > goal[c]); step++) {
      kernels.linearGram(inputs.offsets, inputs.neighbors, inputs.rows, columns, lambda, p, q);
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
    keepSolution(job, kernels, first, count, x, sumsAt);
  }
}

function sumTargets(job: RidgeJob, first: number, count: number, out: Float32Array): void {
  const inputs = viewOf(job, job.inputs);
  const targets = viewOf(job, job.aim.targets);
  for (let t = 0; t < count; t++) {
    for (let e = targets.offsets[first + t]; e < targets.offsets[first + t + 1]; e++) {
      const row = targets.values[e];
      for (let n = inputs.offsets[row]; n < inputs.offsets[row + 1]; n++) {
        out[inputs.values[n] * WIDTH + t] += 1;
      }
    }
  }
}

function markColumns(
  job: RidgeJob,
  asked: StoredLists,
  first: number,
  count: number,
  out: Float32Array,
): void {
  const { offsets, values } = viewOf(job, asked);
  for (let t = 0; t < count; t++) {
    for (let e = offsets[first + t]; e < offsets[first + t + 1]; e++) out[values[e] * WIDTH + t] += 1;
  }
}

/** Of a block of solutions, columns × WIDTH at `x`, what the aim wants. */
function keepSolution(
  job: RidgeJob,
  kernels: LinearKernels,
  first: number,
  count: number,
  x: number,
  scratch: number,
): void {
  const { aim, columns, inputs } = job;
  const width = aim.targets.rows;
  const view = (at: number, rows: number) => new Float32Array(job.memory.buffer, at, WIDTH * rows);
  /** The sums of lists over a table, one list after the other. */
  const each = (lists: StoredLists, table: number, use: (list: number, sums: Float32Array) => void) => {
    for (let from = 0; from < lists.rows; from += SUMS) {
      const to = Math.min(lists.rows, from + SUMS);
      kernels.linearSums(lists.offsets, lists.neighbors, from, to, table, scratch);
      const sums = view(scratch, to - from);
      for (let l = from; l < to; l++) use(l, sums.subarray((l - from) * WIDTH, (l - from) * WIDTH + count));
    }
  };
  if (aim.kind === 'weights') {
    const solution = view(x, columns);
    for (let i = 0; i < columns; i++) {
      aim.out.set(solution.subarray(i * WIDTH, i * WIDTH + count), i * width + first);
    }
  } else if (aim.kind === 'scores-by-target') {
    each(aim.asked, x, (row, sums) => aim.out.set(sums, row * width + first));
  } else {
    const predicted = scratch + 4 * WIDTH * SUMS;
    kernels.linearSums(inputs.offsets, inputs.neighbors, 0, inputs.rows, x, predicted);
    each(aim.targets, predicted, (target, sums) => {
      for (let t = 0; t < count; t++) aim.out[(first + t) * width + target] = sums[t];
    });
  }
}

function viewOf({ memory }: WorkerPlace, lists: StoredLists): { offsets: Uint32Array; values: Uint32Array } {
  const offsets = new Uint32Array(memory.buffer, lists.offsets, lists.rows + 1);
  return { offsets, values: new Uint32Array(memory.buffer, lists.neighbors, offsets[lists.rows]) };
}

export interface LeastSquaresJob extends WorkerPlace {
  /** Addresses: the table to solve for, the other one, the edges by row, and the other's scaled Gram matrix, packed. */
  readonly own: number;
  readonly other: number;
  readonly offsets: number;
  readonly neighbors: number;
  readonly packed: number;
  readonly rows: number;
  /** Rows taken at a time. */
  readonly block: number;
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

/** Rows that a worker takes at a time, at most. */
export const MOST_ROWS = 128;
const BLOCKS_PER_LANE = 8;

/** A multiple of 4, as rows are solved four at a time; fewer where there are few, so that no worker waits for another. */
export function rowsPerBlock(rows: number, lanes: number): number {
  return Math.min(MOST_ROWS, 4 * Math.ceil(rows / (4 * BLOCKS_PER_LANE * lanes)));
}

export function solveLeastSquares(job: LeastSquaresJob): void {
  const kernels = instantiate(job);
  const scratch = job.scratch[Atomics.add(job.places, 0, 1)];
  for (;;) {
    const first = job.block * Atomics.add(job.next, 0, 1);
    if (first >= job.rows) return;
    const last = Math.min(job.rows, first + job.block);
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
