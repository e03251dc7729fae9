// What a worker of the item regressions does: rows of pair counts, and one small system for each target. Blocks are independent
// of each other, so results do not depend on the number of workers.

import { nthLargest } from '../../math/select.js';
import { serveTasks } from '../../parallel/worker.js';
import type { RowLists } from '../rank.js';

/** Rows counted, or targets solved, at a time. */
export const BLOCK = 16;

/** Two bytes each where they are small enough. */
export type PairCounts = Uint16Array | Uint32Array;

export interface PairJob {
  readonly next: Int32Array;
  /** Per user the columns they have, ascending, and per column its users. */
  readonly rows: RowLists;
  readonly columns: RowLists;
  /** columns × columns. */
  readonly pairs: PairCounts;
}

export function countPairs({ next, rows, columns, pairs }: PairJob): void {
  const count = columns.offsets.length - 1;
  for (;;) {
    const first = BLOCK * Atomics.add(next, 0, 1);
    if (first >= count) return;
    for (let c = first; c < Math.min(count, first + BLOCK); c++) {
      const own = pairs.subarray(c * count, (c + 1) * count);
      for (let e = columns.offsets[c]; e < columns.offsets[c + 1]; e++) {
        const user = columns.values[e];
        for (let n = rows.offsets[user]; n < rows.offsets[user + 1]; n++) own[rows.values[n]]++;
      }
    }
  }
}

export interface RegressionJob {
  readonly next: Int32Array;
  readonly module: WebAssembly.Module;
  readonly memory: WebAssembly.Memory;
  /** One number that workers count up to take their scratch, and where each worker's lies. */
  readonly places: Int32Array;
  readonly scratch: readonly number[];
  readonly rows: RowLists;
  readonly pairs: PairCounts;
  /** Per column how many users have it. */
  readonly degree: Float64Array;
  /** Per target its users and its own column, −1: none. */
  readonly targets: RowLists;
  readonly ownColumn: Int32Array;
  readonly neighbours: number;
  readonly lambda: number;
  readonly dropout: number;
  /** So many of them are inputs of a second regression, whose weights are added; 0: none. */
  readonly nearest: number;
  readonly nearestDropout: number;
  readonly tolerance: number;
  readonly maxSteps: number;
  /** Per target how many columns it got, which, ascending, and their weights: targets × neighbours. */
  readonly found: Uint32Array;
  readonly sources: Uint32Array;
  readonly weights: Float32Array;
}

interface RegressionKernels {
  denseSolve(
    a: number,
    b: number,
    x: number,
    size: number,
    tolerance: number,
    steps: number,
    scratch: number,
  ): void;
}

/** A multiple of 4, as the kernels have rows. */
export function paddedSize(size: number): number {
  return 4 * Math.ceil(size / 4);
}

/** The matrix of one system, and four vectors. */
export function regressionScratchBytes(neighbours: number): number {
  const size = paddedSize(neighbours);
  return 4 * size * (size + 4);
}

export function solveTargets(job: RegressionJob): void {
  const { rows, targets, degree, neighbours, lambda, dropout, ownColumn, pairs } = job;
  const columns = degree.length;
  const kernels = new WebAssembly.Instance(job.module, { env: { memory: job.memory, abort: () => {} } })
    .exports as unknown as RegressionKernels;
  const scratch = job.scratch[Atomics.add(job.places, 0, 1)];
  const common = new Uint32Array(columns);
  const touched = new Uint32Array(columns);
  const gain = new Float32Array(columns);
  const order = new Float32Array(columns);
  const chosen = new Uint32Array(neighbours);
  const scale = new Float64Array(neighbours);
  const solved = new Float32Array(neighbours);
  const count = targets.offsets.length - 1;
  /** Chooses so many of the columns that were met, those that gain most, ascending; says how many there are. */
  const best = (most: number, met: number): number => {
    let least = 0;
    if (met > most) {
      order.set(gain.subarray(0, met));
      least = nthLargest(order, met, most);
    }
    let size = 0;
    for (let m = 0; m < met; m++) if (gain[m] > least) chosen[size++] = touched[m];
    for (let m = 0; m < met && size < most; m++) if (gain[m] === least) chosen[size++] = touched[m];
    chosen.subarray(0, size).sort();
    return size;
  };
  /** The weights of the first so many that are chosen. */
  const solve = (size: number, dropped: number): void => {
    const padded = paddedSize(size);
    const system = new Float32Array(job.memory.buffer, scratch, padded * (padded + 2));
    for (let i = 0; i < size; i++) {
      const column = chosen[i];
      scale[i] = 1 / Math.sqrt(degree[column] * (1 + dropped) + lambda);
    }
    gather(job, chosen, scale, size, system);
    const right = padded * padded;
    system.fill(0, right, right + padded);
    for (let i = 0; i < size; i++) system[right + i] = common[chosen[i]] * scale[i];
    const [b, x] = [scratch + 4 * right, scratch + 4 * (right + padded)];
    kernels.denseSolve(scratch, b, x, padded, job.tolerance, job.maxSteps, x + 4 * padded);
    for (let i = 0; i < size; i++) solved[i] = system[right + padded + i] * scale[i];
  };
  for (;;) {
    const first = BLOCK * Atomics.add(job.next, 0, 1);
    if (first >= count) return;
    for (let t = first; t < Math.min(count, first + BLOCK); t++) {
      const own = ownColumn[t];
      if (own >= 0) {
        common.set(pairs.subarray(own * columns, (own + 1) * columns));
        common[own] = 0;
      } else {
        for (let e = targets.offsets[t]; e < targets.offsets[t + 1]; e++) {
          const user = targets.values[e];
          for (let n = rows.offsets[user]; n < rows.offsets[user + 1]; n++) common[rows.values[n]]++;
        }
      }
      // What each column alone would explain of the target.
      let met = 0;
      for (let column = 0; column < columns; column++) {
        const both = common[column];
        if (both === 0) continue;
        gain[met] = (both * both) / (degree[column] + lambda);
        touched[met++] = column;
      }
      const size = best(neighbours, met);
      solve(size, dropout);
      const [sources, weights] = [job.sources, job.weights].map((all) =>
        all.subarray(t * neighbours, t * neighbours + size),
      );
      sources.set(chosen.subarray(0, size));
      weights.set(solved.subarray(0, size));
      job.found[t] = size;
      if (job.nearest > 0) {
        const few = best(job.nearest, met);
        solve(few, job.nearestDropout);
        // Both ascend, and the few are among the many.
        for (let i = 0, at = 0; i < few; i++) {
          while (sources[at] < chosen[i]) at++;
          weights[at] += solved[i];
        }
      }
      common.fill(0);
    }
  }
}

/** The pair counts of the chosen columns with unit diagonal, which is what conjugate gradients go fastest on. */
function gather(
  { pairs, degree }: RegressionJob,
  chosen: Uint32Array,
  scale: Float64Array,
  size: number,
  out: Float32Array,
): void {
  const columns = degree.length;
  const padded = paddedSize(size);
  out.fill(0, size * padded, padded * padded);
  for (let i = 0; i < size; i++) {
    const from = chosen[i] * columns;
    const own = scale[i];
    // Half of the counts, as most of them are read from far away.
    for (let j = 0; j < i; j++) {
      const value = pairs[from + chosen[j]] * own * scale[j];
      out[i * padded + j] = value;
      out[j * padded + i] = value;
    }
    out[i * padded + i] = 1;
    out.fill(0, i * padded + size, (i + 1) * padded);
  }
}

serveTasks('regression-tasks', { countPairs, solveTargets });
