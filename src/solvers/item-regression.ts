// Ridge regressions of items on their nearest items, in closed form. The neighbours S of a target t are the columns that each
// explain most of it alone. Each target has one small dense system,
//   w = (G_SS + λ + δ·diag(G_SS))⁻¹ G_St,  where G_ij is the number of users who have both i and j.
// δ is the effect of dropout of the inputs: δ = p/(1 − p) if each input is dropped with probability p. A target is never its own
// input. With all columns as neighbours and δ = 0 this is EASE.
//
// Reading G_SS takes most of the time, since its rows lie far apart. So several settings share it: columns depend on λ alone, fewer
// neighbours are the first of more, and δ is only on the diagonal. With few users G is never formed: a column is a few words of
// bits.

import type { RowLists } from '../math/csr.js';
import { allocate, createCounter } from '../math/memory.js';
import { taskModule, threadCount } from '../parallel/pool.js';
import type { TaskOptions } from '../progress.js';
import type { SparseWeights } from '../topn/query.js';
import { Heap } from '../wasm/heap.js';
import { inLanes } from '../wasm/lanes.js';
import { loadKernels } from '../wasm/load.js';
import {
  chooseInputs,
  listsOf,
  type RegressionData,
  type RegressionInputs,
} from './item-regression-inputs.js';
import {
  BLOCK,
  type ChosenColumns,
  chosenBytes,
  countPairs,
  paddedColumns,
  type RegressionJob,
  regressionScratchBytes,
  type SharedUsers,
  solveTargets,
} from './item-regression-tasks.js';
import { scratchRoom, storeColumns, TILE, tileScratchBytes } from './pair-counts.js';

const TASKS = taskModule('./item-regression-tasks.js', import.meta.url);

/** The most bytes of the data that several settings share. */
const KEPT_BYTES = 2 ** 28;
/** Below this many additions a pool of workers costs more than it saves. */
const SMALL = 1e8;
/** Relative residual at which a target counts as solved. Rankings do not need more digits. */
const TOLERANCE = 1e-4;
const MAX_STEPS = 200;

export type { RegressionData };

export interface RegressionSetting {
  /** Number of inputs of each target. */
  readonly neighbours: number;
  readonly lambda: number;
  readonly dropout: number;
  /** A second regression on the best of the inputs, with its own dropout. Its weights are added. */
  readonly nearest?: { readonly neighbours: number; readonly dropout: number } | undefined;
}

/** For each item its weights to the targets, given by position. */
export type ItemWeights = SparseWeights;

/** Solves the regressions of some data for any setting. */
export interface ItemRegression {
  solve(setting: RegressionSetting, options?: TaskOptions): Promise<ItemWeights>;
}

/** A regression that keeps its workers until it is closed. */
export interface OpenRegression extends ItemRegression {
  close(): Promise<void>;
}

/** Counts the pairs of the data once, for any number of settings. */
export async function createItemRegression(
  data: RegressionData,
  options: TaskOptions = {},
): Promise<ItemRegression> {
  return createRegression(data, options, false);
}

/** The same for several settings: it keeps the data that they share, and its workers. */
export function openItemRegression(data: RegressionData, options: TaskOptions = {}): Promise<OpenRegression> {
  return createRegression(data, options, true);
}

async function createRegression(
  data: RegressionData,
  options: TaskOptions,
  several: boolean,
): Promise<OpenRegression> {
  const itemCount = data.items.offsets.length - 1;
  const targets = data.targets ?? Uint32Array.from({ length: itemCount }, (_, item) => item);
  const chosenInputs = chooseInputs(data);
  const { inputs, rows, columns } = chosenInputs;
  const count = inputs.length;
  const degree = Float64Array.from({ length: count }, (_, c) => columns.offsets[c + 1] - columns.offsets[c]);
  const heap = new Heap();
  const ofItems = listsOf(data.items, targets);
  const width = paddedColumns(count);
  const inverse = heap.allocate(4 * width);
  const ownColumn = new Int32Array(itemCount).fill(-1);
  for (const [c, item] of inputs.entries()) ownColumn[item] = c;
  const ofTargets = { targets: ofItems, ownColumn: Int32Array.from(targets, (item) => ownColumn[item]) };
  const apart = ofTargets.ownColumn.every((own) => own < 0) ? ofItems : undefined;
  const shared = await shareUsers(heap, chosenInputs, apart, options);
  const kept = createStore(heap, targets.length, several);
  const open = inLanes(TASKS, threadCount(options.threads, Math.ceil(targets.length / BLOCK)));
  // Settings are solved one after the other, since they share memory.
  let last: Promise<unknown> = Promise.resolve();
  const solve = async (setting: RegressionSetting, { threads, signal, onProgress }: TaskOptions) => {
    const { lambda, dropout, nearest } = setting;
    const neighbours = Math.max(1, Math.min(setting.neighbours, count));
    const systems = targets.length * neighbours;
    const work = targets.length * (count * (shared.bits?.words ?? 1) + 8 * neighbours * neighbours);
    const own = threadCount(several ? options.threads : threads, Math.ceil(targets.length / BLOCK));
    const lanes = work < (several ? SMALL / 4 : SMALL) ? 1 : own;
    const { module } = await loadKernels();
    const inverses = heap.f32(inverse, width);
    for (let c = 0; c < count; c++) inverses[c] = 1 / (degree[c] + lambda);
    const { chosen, known } = kept.for(lambda, neighbours);
    const bytes = regressionScratchBytes(chosen.neighbours, shared);
    const scratch = Array.from({ length: lanes }, () => heap.allocate(bytes));
    const job: RegressionJob = {
      ...{ module, places: createCounter(), next: createCounter(), scratch },
      ...{ rows, shared, degree, inverse, ...ofTargets, chosen, known },
      ...{ neighbours, dropout, tolerance: TOLERANCE, maxSteps: MAX_STEPS },
      nearest: Math.min(nearest?.neighbours ?? 0, neighbours),
      nearestDropout: nearest?.dropout ?? 0,
      sources: allocate(Uint32Array, systems),
      weights: allocate(Float32Array, systems),
    };
    const run = lanes > 1 && several ? open : inLanes(TASKS, lanes === 1 ? 0 : lanes);
    try {
      await run.all('solveTargets', solveTargets, job, signal, targets.length, () =>
        onProgress?.({
          stage: 'solving',
          done: Math.min(targets.length, BLOCK * Atomics.load(job.next, 0)),
          total: targets.length,
          unit: 'items',
        }),
      );
      kept.keep(chosen);
    } catch (error) {
      if (!known && chosen.at !== undefined) heap.release(chosen.at);
      throw error;
    } finally {
      if (run !== open) await run.close();
      for (const at of scratch) heap.release(at);
    }
    return bySource(job, inputs, itemCount);
  };
  return {
    solve(setting, task = {}) {
      const result = last.then(() => solve(setting, task));
      last = result.catch(() => {});
      return result;
    },
    close: () => open.close(),
  };
}

/**
 * The users that columns share: as bits if users are few, else as counts of all pairs. Targets that are no columns are counted with
 * every column, too.
 */
async function shareUsers(
  heap: Heap,
  { few, rows, columns }: RegressionInputs,
  targets: RowLists | undefined,
  options: TaskOptions,
): Promise<SharedUsers> {
  const count = columns.offsets.length - 1;
  if (few) {
    const words = 4 * Math.ceil((rows.offsets.length - 1) / 256);
    const at = heap.allocate(8 * words * count);
    const halves = heap.u32(at, 2 * words * count);
    for (let c = 0; c < count; c++) {
      for (let e = columns.offsets[c]; e < columns.offsets[c + 1]; e++) {
        const user = columns.values[e];
        halves[2 * words * c + (user >>> 5)] |= 1 << (user & 31);
      }
    }
    return { memory: heap.memory, columns: count, bits: { at, words } };
  }
  const counted = storeColumns(heap, columns, rows.offsets.length - 1);
  const { wide } = counted;
  const stride = paddedColumns(count);
  const place = (lists: number) => ({ at: heap.allocate((wide ? 4 : 2) * stride * lists), stride, wide });
  const { module } = await loadKernels();
  let work = 0;
  for (let u = 0; u + 1 < rows.offsets.length; u++) work += (rows.offsets[u + 1] - rows.offsets[u]) ** 2;
  const { workers, tile } = scratchRoom(Math.ceil(count / TILE), tileScratchBytes(counted));
  const lanes = work < SMALL ? 1 : threadCount(options.threads, workers);
  const scratch = tile > 0 ? Array.from({ length: lanes }, () => heap.allocate(tile)) : [];
  const run = inLanes(TASKS, work < SMALL ? 0 : lanes);
  const counts = async (lists: RowLists) => {
    const blocks = lists.offsets.length - 1;
    const job = { module, scratch, rows, counted, lists, counts: place(blocks) };
    const counters = { next: createCounter(), places: createCounter() };
    await run.all('countPairs', countPairs, { ...job, ...counters }, options.signal, blocks);
    return job.counts;
  };
  try {
    const pairs = await counts(columns);
    const fits = targets && (wide ? 4 : 2) * stride * (targets.offsets.length - 1) <= KEPT_BYTES;
    const ofTargets = fits ? await counts(targets) : undefined;
    return { memory: heap.memory, columns: count, pairs, ofTargets };
  } finally {
    await run.close();
    for (const at of scratch) heap.release(at);
  }
}

/** Keeps the chosen columns of as many λ as fit in memory. */
function createStore(heap: Heap, targets: number, several: boolean) {
  const kept: ChosenColumns[] = [];
  const bytes = ({ neighbours }: ChosenColumns) => targets * chosenBytes(neighbours);
  const drop = (old: ChosenColumns) => {
    kept.splice(kept.indexOf(old), 1);
    if (old.at !== undefined) heap.release(old.at);
  };
  return {
    for(lambda: number, neighbours: number): { chosen: ChosenColumns; known: boolean } {
      const before = kept.find((old) => old.lambda === lambda);
      if (before && before.neighbours >= neighbours) return { chosen: before, known: true };
      if (before) drop(before);
      const found = allocate(Uint32Array, targets);
      const plain = { lambda, neighbours, at: undefined, found };
      const own = bytes(plain);
      if (!several || own > KEPT_BYTES) return { chosen: plain, known: false };
      while (kept.reduce((sum, old) => sum + bytes(old), own) > KEPT_BYTES) drop(kept[0]);
      return { chosen: { ...plain, at: heap.allocate(own) }, known: false };
    },
    /** Call it once all targets have their columns, so that a stopped run keeps nothing incomplete. */
    keep(chosen: ChosenColumns): void {
      if (chosen.at !== undefined && !kept.includes(chosen)) kept.push(chosen);
    },
  };
}

/** Transposes weights by target into weights by source. */
function bySource(
  { chosen, sources, neighbours, weights: ofTargets }: RegressionJob,
  inputs: Uint32Array,
  itemCount: number,
): ItemWeights {
  const offsets = allocate(Uint32Array, itemCount + 1);
  const found = chosen.found.map((size) => Math.min(size, neighbours));
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
      weights[at] = ofTargets[t * neighbours + n];
    }
  }
  return { offsets, targets, weights };
}
