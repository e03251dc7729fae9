// Ridge regression of many targets on the same sparse inputs by conjugate gradients, a block of right-hand sides at a time.
// Blocks are independent of each other.

import { nthLargest } from '../math/nth-largest.js';
import { instantiate, type Kernels } from '../wasm/instantiate.js';
import { type CountedColumns, createTiles, pairsMet, TILE } from './pair-counts.js';
import type { StoredLists, WorkerPlace } from './stored-lists.js';

/** Number of right-hand sides in a block. */
export const WIDTH = 32;

/** The result to compute: weights or scores. A target is a list of input rows; an asked row is a list of columns. */
export type RidgeAim =
  /** Weights: columns × targets, row-major. */
  | { readonly kind: 'weights'; readonly targets: StoredLists; readonly out: Float32Array }
  /** The largest weights of each target. */
  | ({ readonly kind: 'largest'; readonly targets: StoredLists } & LargestWeights & LargestOptions)
  /** Scores: asked rows × targets, row-major. One system is solved for each target, or for each asked row. */
  | {
      readonly kind: 'scores-by-target' | 'scores-by-row';
      readonly targets: StoredLists;
      readonly asked: StoredLists;
      readonly out: Float32Array;
    };

/** At most `neighbours` weights of each target, their columns ascending. */
export interface LargestWeights {
  readonly neighbours: number;
  /** The number of weights of each target. */
  readonly found: Uint32Array;
  /** Targets × neighbours. */
  readonly sources: Uint32Array;
  readonly targetWeights: Float32Array;
}

interface LargestOptions {
  /** The root of each column's degree: weights times it are compared, since a frequent input with a small weight matters too. */
  readonly roots: Float32Array;
  /** Each target's own column, −1 if it has none. It is no input of the target: its weight is left out, as EASE demands. */
  readonly ownColumn: Int32Array;
}

export interface RidgeJob extends WorkerPlace {
  /** The rows of the inputs, 0/1, and the address of 1/(degree + λ) per column. */
  readonly inputs: StoredLists;
  /** The weight of each row; undefined: all are 1. The same as float32 at this address. */
  readonly weights: Uint8Array | undefined;
  readonly weightsAt: number;
  readonly scale: number;
  readonly columns: number;
  readonly lambda: number;
  /** The inputs by column and each worker's scratch, if right-hand sides are counted in tiles. */
  readonly counted: (CountedColumns & { readonly scratch: readonly number[] }) | undefined;
  /** Blocks that a worker takes at a time. */
  readonly blocksPerTurn: number;
  readonly aim: RidgeAim;
  /** Relative residual at which a right-hand side counts as solved. */
  readonly tolerance: number;
  readonly maxIterations: number;
}

/** Number of lists that are summed at a time. */
const SUMS = 1024;

export function ridgeScratchBytes(columns: number, rows: number, kind: RidgeAim['kind']): number {
  const sums = kind === 'weights' || kind === 'largest' ? 0 : SUMS + (kind === 'scores-by-row' ? rows : 0);
  return 4 * WIDTH * (4 * columns + sums) + 2 * 8 * WIDTH + 2 * 4 * WIDTH;
}

export function ridgeSystems(aim: RidgeAim): number {
  return (aim.kind === 'scores-by-row' ? aim.asked : aim.targets).rows;
}

export function solveRidge(job: RidgeJob): void {
  const { columns, inputs, lambda, scale, aim } = job;
  const kernels = instantiate(job.module, job.memory);
  const place = Atomics.add(job.places, 0, 1);
  const address = job.scratch[place];
  const size = 4 * WIDTH * columns;
  const [x, r, p, q] = [0, 1, 2, 3].map((i) => address + i * size) as [number, number, number, number];
  const dotsAt = address + 4 * size;
  const factorAt = dotsAt + 2 * 8 * WIDTH;
  const sumsAt = factorAt + 2 * 4 * WIDTH;
  const dots = new Float64Array(job.memory.buffer, dotsAt, WIDTH);
  const factor = new Float32Array(job.memory.buffer, factorAt, WIDTH);
  const systems = ridgeSystems(aim);
  const residual = new Float64Array(WIDTH);
  const rightSides = createRightSides(job, place);
  for (let block = 0, end = 0; ; block++) {
    if (block === end) {
      block = job.blocksPerTurn * Atomics.add(job.next, 0, 1);
      end = block + job.blocksPerTurn;
    }
    const first = WIDTH * block;
    if (first >= systems) return;
    const count = Math.min(WIDTH, systems - first);
    new Float32Array(job.memory.buffer, address, 3 * WIDTH * columns).fill(0);
    const right = new Float32Array(job.memory.buffer, r, WIDTH * columns);
    if (aim.kind === 'scores-by-row') markColumns(job, aim.asked, first, count, right);
    else rightSides(first, count, right);
    // Preconditioned by the diagonal; at x = 0 the residual is the right-hand side.
    kernels.linearDots(r, r, scale, columns, dotsAt);
    const goal = dots.map((value) => value * job.tolerance ** 2);
    residual.set(dots);
    factor.fill(0);
    kernels.linearDirection(factorAt, scale, r, p, columns);
    for (let step = 0; step < job.maxIterations && residual.some((value, c) => value > goal[c]); step++) {
      kernels.linearGram(
        ...[inputs.offsets, inputs.neighbors, job.weightsAt, inputs.rows, columns, lambda, p, q],
      );
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

/** XᵀWY for some targets: the weight of the rows that each shares with every column, counted in tiles or one by one. */
function createRightSides(job: RidgeJob, place: number) {
  const { counted } = job;
  const tiles = counted && createTiles(job.module, counted, counted.scratch[place]);
  const inputs = viewOf(job, job.inputs);
  const targets = viewOf(job, job.aim.targets);
  const width = WIDTH * job.blocksPerTurn;
  let [from, to] = [0, 0];
  return (first: number, count: number, out: Float32Array) => {
    if (tiles && (first < from || first >= to)) {
      [from, to] = [first, Math.min(first + width, job.aim.targets.rows)];
      if (tiles.isFaster(pairsMet(targets, inputs, from, to))) tiles.count(targets, from, to);
      else to = from;
    }
    if (tiles && to > from) {
      for (let c = 0; c < job.columns; c++) {
        const at = c * TILE + first - from;
        for (let t = 0; t < count; t++) out[c * WIDTH + t] = tiles.counts[at + t];
      }
      return;
    }
    for (let t = 0; t < count; t++) {
      for (let e = targets.offsets[first + t]; e < targets.offsets[first + t + 1]; e++) {
        const row = targets.values[e];
        for (let n = inputs.offsets[row]; n < inputs.offsets[row + 1]; n++) {
          out[inputs.values[n] * WIDTH + t] += job.weights?.[row] ?? 1;
        }
      }
    }
  };
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

/** Turns a block of solutions, columns × WIDTH at `x`, into weights or scores. */
function keepSolution(
  job: RidgeJob,
  kernels: Kernels,
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
      kernels.linearSums(lists.offsets, lists.neighbors, from, to, table, WIDTH, 0, scratch, WIDTH);
      const sums = view(scratch, to - from);
      for (let l = from; l < to; l++) use(l, sums.subarray((l - from) * WIDTH, (l - from) * WIDTH + count));
    }
  };
  if (aim.kind === 'largest') {
    const solution = view(x, columns);
    for (let t = 0; t < count; t++) keepLargest(aim, solution, first + t, t);
  } else if (aim.kind === 'weights') {
    const solution = view(x, columns);
    for (let i = 0; i < columns; i++) {
      aim.out.set(solution.subarray(i * WIDTH, i * WIDTH + count), i * width + first);
    }
  } else if (aim.kind === 'scores-by-target') {
    each(aim.asked, x, (row, sums) => aim.out.set(sums, row * width + first));
  } else {
    const predicted = scratch + 4 * WIDTH * SUMS;
    const { offsets, neighbors, rows } = inputs;
    kernels.linearSums(offsets, neighbors, 0, rows, x, WIDTH, job.weightsAt, predicted, WIDTH);
    each(aim.targets, predicted, (target, sums) => {
      for (let t = 0; t < count; t++) aim.out[(first + t) * width + target] = sums[t];
    });
  }
}

/** Keeps the largest weights of a target, which is column `lane` of a block of solutions. */
function keepLargest(
  { roots, ownColumn, neighbours, ...out }: LargestWeights & LargestOptions,
  solution: Float32Array,
  target: number,
  lane: number,
): void {
  const own = ownColumn[target];
  const rest = own < 0 ? 1 : 1 - solution[own * WIDTH + lane];
  const sizes = Float32Array.from(roots, (root, c) =>
    c === own ? 0 : root * Math.abs(solution[c * WIDTH + lane]),
  );
  const count = Math.min(neighbours, sizes.length);
  const least = nthLargest(sizes.slice(), sizes.length, count);
  // Ties at the end go to the first columns.
  let ties = count - sizes.reduce((above, size) => above + Number(size > least), 0);
  const first = target * neighbours;
  let found = 0;
  for (let c = 0; c < sizes.length; c++) {
    if (sizes[c] === 0 || sizes[c] < least || (sizes[c] === least && ties-- <= 0)) continue;
    out.sources[first + found] = c;
    out.targetWeights[first + found++] = solution[c * WIDTH + lane] / rest;
  }
  out.found[target] = found;
}

function viewOf({ memory }: WorkerPlace, lists: StoredLists): { offsets: Uint32Array; values: Uint32Array } {
  const offsets = new Uint32Array(memory.buffer, lists.offsets, lists.rows + 1);
  return { offsets, values: new Uint32Array(memory.buffer, lists.neighbors, offsets[lists.rows]) };
}
