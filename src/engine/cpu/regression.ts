// Ridge regressions of items on the items nearest to them, all in closed form: of the columns that a target has users in common
// with, those that would alone explain most of it, and one small dense system for each target,
//   w = (G_SS + λ + δ·diag(G_SS))⁻¹ G_St,  G the pair counts: how many users have both.
// δ is what dropout of the inputs comes to, δ = p/(1 − p) where each is left out with probability p. A target is never its own
// input. With all columns as neighbours and δ = 0 this is EASE.

import { allocate, createCounter, inSharedMemory } from '../../math/memory.js';
import { type TaskModule, threadCount } from '../../parallel/pool.js';
import type { TaskOptions } from '../../progress.js';
import type { RowLists, SparseWeights } from '../rank.js';
import { inLanes } from './lanes.js';
import {
  BLOCK,
  countPairs,
  type RegressionJob,
  regressionScratchBytes,
  solveTargets,
} from './regression-tasks.js';
import { loadKernels } from './wasm.js';
import { Heap } from './wasm-heap.js';

const TASKS: TaskModule = {
  name: 'regression-tasks',
  base: import.meta.url,
  worker: () =>
    new Worker(new URL('./regression-tasks.js', import.meta.url), {
      type: 'module',
      name: 'graphex:regression-tasks',
    }),
  here: () => import('./regression-tasks.js'),
};

/** Bytes that the pair counts may take: beyond them the least popular columns are no inputs. */
const PAIR_BYTES = 2 ** 29;
/** Pairs of a user's columns counted at most, over all users: beyond them users are left out, evenly. */
const MAX_PAIRS = 5e9;
/** Below this many additions a pool of workers costs more than it saves. */
const SMALL = 5e8;
/** Relative size of the residual at which a target is done, as rankings do not wait for the last digits. */
const TOLERANCE = 1e-4;
const MAX_STEPS = 200;

export interface RegressionData {
  /** Edges in both orders. */
  readonly users: RowLists;
  readonly items: RowLists;
  /** Per item, 1 if it may be an input; all by default. */
  readonly inputs?: ArrayLike<number> | undefined;
  /** Items to be regressed, ascending; all by default. */
  readonly targets?: Uint32Array | undefined;
}

export interface RegressionSetting {
  /** Inputs of each target. */
  readonly neighbours: number;
  readonly lambda: number;
  readonly dropout: number;
  /** A second regression on so many of the inputs, the best, with a dropout of its own: its weights are added. */
  readonly nearest?: { readonly neighbours: number; readonly dropout: number } | undefined;
}

/** From each item to the targets, as positions among them. */
export type ItemWeights = SparseWeights;

/** Pair counts that wait for settings. */
export interface ItemRegression {
  solve(setting: RegressionSetting, options?: TaskOptions): Promise<ItemWeights>;
}

/** Counts pairs once, for any number of settings. */
export async function createItemRegression(
  data: RegressionData,
  options: TaskOptions = {},
): Promise<ItemRegression> {
  const itemCount = data.items.offsets.length - 1;
  const targets = data.targets ?? Uint32Array.from({ length: itemCount }, (_, item) => item);
  const { inputs, rows, columns } = chooseInputs(data);
  const count = inputs.length;
  const degree = Float64Array.from({ length: count }, (_, c) => columns.offsets[c + 1] - columns.offsets[c]);
  const most = degree.reduce((a, b) => Math.max(a, b), 0);
  const size = count * count;
  const pairs = most < 2 ** 16 ? allocate(Uint16Array, size) : allocate(Uint32Array, size);
  let work = 0;
  for (let u = 0; u + 1 < rows.offsets.length; u++) work += (rows.offsets[u + 1] - rows.offsets[u]) ** 2;
  const lanes = work < SMALL ? 0 : threadCount(options.threads, Math.ceil(count / BLOCK));
  const run = inLanes(TASKS, lanes);
  try {
    const job = { next: createCounter(), rows, columns, pairs };
    await run.all('countPairs', countPairs, job, options.signal, count);
  } finally {
    await run.close();
  }
  const ownColumn = new Int32Array(itemCount).fill(-1);
  for (const [c, item] of inputs.entries()) ownColumn[item] = c;
  return {
    async solve({ neighbours, lambda, dropout, nearest }, { threads, signal, onProgress } = {}) {
      const inputsOfEach = Math.max(1, Math.min(neighbours, count));
      const systems = targets.length * inputsOfEach;
      const lanes =
        systems * inputsOfEach * 20 < SMALL ? 1 : threadCount(threads, Math.ceil(targets.length / BLOCK));
      const { module } = await loadKernels();
      const heap = new Heap();
      const job: RegressionJob = {
        ...{ module, memory: heap.memory, places: createCounter(), next: createCounter() },
        scratch: Array.from({ length: lanes }, () => heap.allocate(regressionScratchBytes(inputsOfEach))),
        ...{ rows, pairs, degree },
        targets: listsOf(data.items, targets),
        ownColumn: Int32Array.from(targets, (item) => ownColumn[item]),
        ...{ neighbours: inputsOfEach, lambda, dropout, tolerance: TOLERANCE, maxSteps: MAX_STEPS },
        nearest: Math.min(nearest?.neighbours ?? 0, inputsOfEach),
        nearestDropout: nearest?.dropout ?? 0,
        found: allocate(Uint32Array, targets.length),
        sources: allocate(Uint32Array, systems),
        weights: allocate(Float32Array, systems),
      };
      const run = inLanes(TASKS, lanes === 1 ? 0 : lanes);
      try {
        await run.all('solveTargets', solveTargets, job, signal, targets.length, () =>
          onProgress?.({
            stage: 'solving',
            done: Math.min(targets.length, BLOCK * Atomics.load(job.next, 0)),
            total: targets.length,
            unit: 'items',
          }),
        );
      } finally {
        await run.close();
      }
      return bySource(job, inputs, itemCount);
    },
  };
}

/** The most popular items that may be inputs, as many as pair counts have room for, and the users' lists of them. */
function chooseInputs({ users, items, inputs: allowed }: RegressionData) {
  const itemCount = items.offsets.length - 1;
  const degree = Uint32Array.from({ length: itemCount }, (_, i) => items.offsets[i + 1] - items.offsets[i]);
  let inputs = Array.from(degree.keys()).filter((item) => degree[item] > 0 && (!allowed || allowed[item]));
  const most = inputs.reduce((a, item) => Math.max(a, degree[item]), 0);
  const room = Math.floor(Math.sqrt(PAIR_BYTES / (most < 2 ** 16 ? 2 : 4)));
  if (inputs.length > room) {
    inputs = inputs.sort((a, b) => degree[b] - degree[a] || a - b).slice(0, room);
    inputs.sort((a, b) => a - b);
  }
  const column = new Int32Array(itemCount).fill(-1);
  for (const [c, item] of inputs.entries()) column[item] = c;
  const userCount = users.offsets.length - 1;
  const offsets = allocate(Uint32Array, userCount + 1);
  let pairs = 0;
  for (let u = 0; u < userCount; u++) {
    let own = 0;
    for (let e = users.offsets[u]; e < users.offsets[u + 1]; e++) if (column[users.values[e]] >= 0) own++;
    offsets[u + 1] = own;
    pairs += own ** 2;
  }
  const share = Math.min(1, MAX_PAIRS / pairs);
  for (let u = 0; u < userCount; u++) {
    const kept = Math.floor((u + 1) * share) > Math.floor(u * share);
    offsets[u + 1] = offsets[u] + (kept ? offsets[u + 1] : 0);
  }
  const values = allocate(Uint32Array, offsets[userCount]);
  const starts = allocate(Uint32Array, inputs.length + 1);
  for (let u = 0, at = 0; u < userCount; u++) {
    if (offsets[u + 1] === offsets[u]) continue;
    for (let e = users.offsets[u]; e < users.offsets[u + 1]; e++) {
      const c = column[users.values[e]];
      if (c < 0) continue;
      values[at++] = c;
      starts[c + 1]++;
    }
  }
  for (let c = 0; c < inputs.length; c++) starts[c + 1] += starts[c];
  const cursor = starts.slice(0, inputs.length);
  const owners = allocate(Uint32Array, values.length);
  for (let u = 0; u < userCount; u++) {
    for (let e = offsets[u]; e < offsets[u + 1]; e++) owners[cursor[values[e]]++] = u;
  }
  return {
    inputs: Uint32Array.from(inputs),
    rows: { offsets, values },
    columns: { offsets: starts, values: owners },
  };
}

/** The lists of some rows, where threads can share them. */
function listsOf(lists: RowLists, rows: Uint32Array): RowLists {
  const offsets = allocate(Uint32Array, rows.length + 1);
  for (const [r, row] of rows.entries()) {
    offsets[r + 1] = offsets[r] + lists.offsets[row + 1] - lists.offsets[row];
  }
  if (offsets[rows.length] === lists.values.length) return { offsets, values: inSharedMemory(lists.values) };
  const values = allocate(Uint32Array, offsets[rows.length]);
  for (const [r, row] of rows.entries()) {
    values.set(lists.values.subarray(lists.offsets[row], lists.offsets[row + 1]), offsets[r]);
  }
  return { offsets, values };
}

/** From targets and their sources to sources and their targets. */
function bySource(job: RegressionJob, inputs: Uint32Array, itemCount: number): ItemWeights {
  const { found, sources, neighbours } = job;
  const offsets = allocate(Uint32Array, itemCount + 1);
  for (let t = 0; t < found.length; t++) {
    for (let n = 0; n < found[t]; n++) offsets[inputs[sources[t * neighbours + n]] + 1]++;
  }
  for (let i = 0; i < itemCount; i++) offsets[i + 1] += offsets[i];
  const cursor = offsets.slice(0, itemCount);
  const targets = allocate(Uint32Array, offsets[itemCount]);
  const weights = allocate(Float32Array, offsets[itemCount]);
  for (let t = 0; t < found.length; t++) {
    for (let n = 0; n < found[t]; n++) {
      const at = cursor[inputs[sources[t * neighbours + n]]]++;
      targets[at] = t;
      weights[at] = job.weights[t * neighbours + n];
    }
  }
  return { offsets, targets, weights };
}
