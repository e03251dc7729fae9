// Ridge regressions of items on their nearest items, in closed form. The neighbours S of a target t are the columns that each
// explain most of it alone. Each target has one small dense system,
//   w = (G_SS + λ + δ·diag(G_SS))⁻¹ G_St,  where G_ij is the number of users who have both i and j, each weighed by degree.
// δ is the effect of dropout of the inputs: δ = p/(1 − p) if each input is dropped with probability p. A target is never its own
// input. With all columns as neighbours and δ = 0 this is EASE.
//
// Reading G_SS takes most of the time, since its rows lie far apart. So several settings share it: the chosen columns depend on λ alone, fewer
// neighbours are the first of more, and δ is only on the diagonal. If G is too large and sparse, it is never formed:
// shared users are then counted from lists.
//
// The same counts give similarities between items (item-kNN), without solving a system.

import { lengths, placesOf, type RowLists } from '../math/csr.js';
import { allocate } from '../math/memory.js';
import { createQueue } from '../math/queue.js';
import { taskModule, threadCount } from '../parallel/pool.js';
import type { TaskOptions } from '../progress.js';
import type { SparseWeights } from '../topn/query.js';
import { Heap } from '../wasm/heap.js';
import { inLanes } from '../wasm/lanes.js';
import { loadKernels } from '../wasm/load.js';
import { bySource } from './combine-weights.js';
import {
  chooseInputs,
  listsOf,
  type RegressionData,
  type RegressionInputs,
} from './item-regression-inputs.js';
import {
  BLOCK,
  type ChosenColumns,
  type CountRows,
  chosenBytes,
  countPairs,
  findSimilar,
  paddedColumns,
  type RegressionJob,
  regressionScratchBytes,
  type SharedUsers,
  type SimilarJob,
  solveTargets,
  type TargetJob,
} from './item-regression-tasks.js';
import { listWeight, pairsMet, scratchRoom, storeColumns, TILE, tileScratchBytes } from './pair-counts.js';
import { SMALL } from './solver-workers.js';
import { placeOn, storeLists } from './stored-lists.js';

const TASKS = taskModule('./item-regression-tasks.js', import.meta.url);

/** The most bytes of the data that several settings share. */
const KEPT_BYTES = 2 ** 28;
/** Relative residual at which a target counts as solved. Rankings do not need more digits. */
const TOLERANCE = 1e-4;
const MAX_STEPS = 200;

export interface RegressionSetting {
  /** Number of inputs of each target. */
  readonly neighbours: number;
  readonly lambda: number;
  readonly dropout: number;
  /** A second regression on the best of the inputs, with its own dropout. Its weights are added. */
  readonly nearest?: { readonly neighbours: number; readonly dropout: number } | undefined;
}

/**
 * Similarities of items: G_ij / (d_i^history · d_j^candidates + shrinkage). Without `shrinkage` they are scaled so that items of mean
 * degree have G_ij over the mean degree.
 */
interface SimilaritySetting {
  readonly neighbours: number;
  /** Exponent of the degrees of the items of a history. */
  readonly history: number;
  /** Exponent of the degrees of the candidates. */
  readonly candidates: number;
  readonly shrinkage?: number | undefined;
}

export type ItemRegression = Awaited<ReturnType<typeof createItemRegression>>;

/**
 * Solves the regressions of some data for any setting: for each item its weights to the targets, given by position. Counts the pairs of
 * the data once. If `several` settings are to come, it keeps the data that they share, and its workers.
 */
export async function createItemRegression(
  data: RegressionData,
  { several = false, ...options }: TaskOptions & { readonly several?: boolean } = {},
) {
  const itemCount = data.items.offsets.length - 1;
  const targets = data.targets ?? Uint32Array.from({ length: itemCount }, (_, item) => item);
  const chosenInputs = chooseInputs(data);
  const { inputs, rows, columns, weights, meanWeight } = chosenInputs;
  const count = inputs.length;
  const degree = Float64Array.from({ length: count }, (_, c) => listWeight(columns, c, weights));
  const heap = new Heap();
  const ofItems = listsOf(chosenInputs.items, targets);
  const width = paddedColumns(count);
  const numbers = heap.allocate(4 * width);
  const ownColumn = placesOf(inputs, itemCount);
  const ofTargets = { targets: ofItems, ownColumn: Int32Array.from(targets, (item) => ownColumn[item]) };
  const apart = ofTargets.ownColumn.every((own) => own < 0) ? ofItems : undefined;
  const counting = chosenInputs.counted === 'lists' ? undefined : createCounting(heap, chosenInputs, options);
  const shared = await shareUsers(heap, chosenInputs, counting, apart, options.signal);
  const kept = createStore(heap, targets.length, several);
  const open = inLanes(TASKS, threadCount(options.threads, Math.ceil(targets.length / BLOCK)));
  const itemDegree = lengths(data.items);

  /** Targets that are counted together if only similarities are asked for, so that their counts fit in memory. */
  const together = data.onlySimilar
    ? Math.max(1, Math.floor((data.pairBytes ?? KEPT_BYTES) / counting!.bytes))
    : targets.length;
  let counts: CountRows | undefined;

  /** Counts targets `first` to `last` − 1, for `work`. Counts of all targets are kept for other settings. */
  async function withCounts(
    first: number,
    last: number,
    signal: AbortSignal | undefined,
    work: (piece: Pick<TargetJob, 'shared' | 'targets' | 'ownColumn'>) => Promise<void>,
  ): Promise<void> {
    if (!data.onlySimilar) return work({ shared, ...ofTargets });
    const some = Uint32Array.from({ length: last - first }, (_, t) => first + t);
    const lists = listsOf(ofItems, some);
    const own = counts ?? (await counting!.count(lists, signal));
    if (some.length === targets.length) counts = own;
    const ownColumn = ofTargets.ownColumn.subarray(first, last);
    await work({ shared: { ...shared, ofTargets: own }, targets: lists, ownColumn });
    if (own !== counts) heap.release(own.at);
  }

  /** Runs a task on all targets; `scale` multiplies the weights to each target. */
  async function run<J extends TargetJob>(
    task: 'solveTargets' | 'findSimilar',
    work: { readonly here: (job: J) => void; readonly amount: number; readonly scratchOf: number },
    make: (common: TargetJob, first: number, last: number) => J,
    scale: ArrayLike<number> | undefined,
    { neighbours, threads, signal, onProgress }: TaskOptions & { readonly neighbours: number },
  ): Promise<SparseWeights> {
    const own = threadCount(several ? options.threads : threads, Math.ceil(targets.length / BLOCK));
    const lanes = work.amount < (several ? SMALL / 4 : SMALL) ? 1 : own;
    const { module } = await loadKernels();
    const bytes = regressionScratchBytes(work.scratchOf, shared);
    const scratch = Array.from({ length: lanes }, () => heap.allocate(bytes));
    const found = allocate(Uint32Array, targets.length);
    const sources = allocate(Uint32Array, targets.length * neighbours);
    const targetWeights = allocate(Float32Array, targets.length * neighbours);
    const lanesOf = lanes > 1 && several ? open : inLanes(TASKS, lanes === 1 ? 0 : lanes);
    try {
      for (let first = 0; first < targets.length; first += together) {
        const last = Math.min(targets.length, first + together);
        await withCounts(first, last, signal, async (piece) => {
          const job = make(
            {
              ...placeOn(heap, module, scratch),
              ...{ rows, weights, numbers, ...piece, neighbours },
              found: found.subarray(first, last),
              sources: sources.subarray(first * neighbours, last * neighbours),
              targetWeights: targetWeights.subarray(first * neighbours, last * neighbours),
            },
            ...[first, last],
          );
          await lanesOf.all(task, work.here, job, signal, last - first, () =>
            onProgress?.({
              stage: 'solving',
              done: Math.min(last, first + BLOCK * Atomics.load(job.next, 0)),
              total: targets.length,
              unit: 'items',
            }),
          );
        });
      }
    } finally {
      if (lanesOf !== open) await lanesOf.close();
      for (const at of scratch) heap.release(at);
    }
    return bySource({ neighbours, found, sources, targetWeights }, inputs, itemCount, scale);
  }

  const solve = async (setting: RegressionSetting, task: TaskOptions) => {
    const { lambda, dropout, nearest } = setting;
    const neighbours = Math.max(1, Math.min(setting.neighbours, count));
    const penalty = lambda * meanWeight;
    const inverses = heap.f32(numbers, width);
    for (let c = 0; c < count; c++) inverses[c] = 1 / (degree[c] + penalty);
    const { chosen, known } = kept.for(lambda, neighbours);
    const amount = targets.length * (count + 8 * neighbours * neighbours);
    const make = (common: TargetJob): RegressionJob => ({
      ...common,
      ...{ degree, penalty, chosen, known, dropout, tolerance: TOLERANCE, maxSteps: MAX_STEPS },
      nearest: Math.min(nearest?.neighbours ?? 0, neighbours),
      nearestDropout: nearest?.dropout ?? 0,
    });
    try {
      const work = { here: solveTargets, amount, scratchOf: chosen.neighbours };
      const found = await run('solveTargets', work, make, undefined, { ...task, neighbours });
      kept.keep(chosen);
      return found;
    } catch (error) {
      if (!known && chosen.at !== undefined) heap.release(chosen.at);
      throw error;
    }
  };

  const similar = (setting: SimilaritySetting, task: TaskOptions) => {
    const { history, candidates, shrinkage } = setting;
    const neighbours = Math.max(1, Math.min(setting.neighbours, count));
    const work = { here: findSimilar, amount: 4 * targets.length * count, scratchOf: 0 };
    const ofColumns = heap.f32(numbers, width);
    if (shrinkage !== undefined) {
      for (let c = 0; c < count; c++) ofColumns[c] = meanWeight * itemDegree[inputs[c]] ** history;
      const ofTargets = Float64Array.from(targets, (item) => itemDegree[item] ** candidates);
      const make = (common: TargetJob, first: number, last: number): SimilarJob => ({
        ...common,
        divisors: { targets: ofTargets.subarray(first, last), added: meanWeight * shrinkage },
      });
      return run('findSimilar', work, make, undefined, { ...task, neighbours });
    }
    const mean = meanDegree(itemDegree);
    for (let c = 0; c < count; c++) ofColumns[c] = (itemDegree[inputs[c]] / mean) ** (-2 * history);
    const scale = Float64Array.from(
      targets,
      (item) => (Math.max(1, itemDegree[item]) / mean) ** -candidates / (mean * meanWeight),
    );
    const make = (common: TargetJob): SimilarJob => ({ ...common, divisors: undefined });
    return run('findSimilar', work, make, scale, { ...task, neighbours });
  };

  // Settings are solved one after the other, since they share memory.
  const { inOrder } = createQueue();
  return {
    solve: (setting: RegressionSetting, task: TaskOptions = {}) => inOrder(() => solve(setting, task)),
    similar: (setting: SimilaritySetting, task: TaskOptions = {}) => inOrder(() => similar(setting, task)),
    /** Ends the workers, which only a regression for several settings keeps. */
    close: () => open.close(),
  };
}

/** The mean degree of the item of an edge. */
function meanDegree(degree: Uint32Array): number {
  let [sum, squares] = [0, 0];
  for (const d of degree) {
    sum += d;
    squares += d * d;
  }
  return Math.max(1, squares / Math.max(1, sum));
}

/** Counts the users that lists share with every column. */
function createCounting(heap: Heap, { rows, weights, columns }: RegressionInputs, { threads }: TaskOptions) {
  const counted = storeColumns(heap, columns, weights);
  const { wide } = counted;
  const stride = paddedColumns(columns.offsets.length - 1);
  const bytes = (wide ? 4 : 2) * stride;
  return {
    /** Bytes of the counts of a list. */
    bytes,
    async count(lists: RowLists, signal: AbortSignal | undefined): Promise<CountRows> {
      const { module } = await loadKernels();
      const blocks = lists.offsets.length - 1;
      const work = pairsMet(lists, rows, 0, blocks);
      const { workers, tile } = scratchRoom(Math.ceil(blocks / TILE), tileScratchBytes(counted));
      const lanes = work < SMALL ? 1 : threadCount(threads, workers);
      const scratch = tile > 0 ? Array.from({ length: lanes }, () => heap.allocate(tile)) : [];
      const counts = { at: heap.allocate(bytes * blocks), stride, wide };
      const job = { ...placeOn(heap, module, scratch), rows, weights, counted, lists, counts };
      const run = inLanes(TASKS, work < SMALL ? 0 : lanes);
      try {
        await run.all('countPairs', countPairs, job, signal, blocks);
        return counts;
      } finally {
        await run.close();
        for (const at of scratch) heap.release(at);
      }
    },
  };
}

/**
 * The users that columns share: as counts of all pairs, or from lists. Targets that are no columns are counted with every column, too.
 */
async function shareUsers(
  heap: Heap,
  { counted, weights, columns }: RegressionInputs,
  counting: ReturnType<typeof createCounting> | undefined,
  targets: RowLists | undefined,
  signal: AbortSignal | undefined,
): Promise<SharedUsers> {
  const shared = { columns: columns.offsets.length - 1 };
  if (!counting) {
    const at = heap.allocate(weights.length);
    new Uint8Array(heap.memory.buffer, at, weights.length).set(weights);
    const degrees = lengths(columns).sort().reverse();
    const lists = { ...storeLists(heap, columns), users: weights.length, weights: at, degrees };
    return { ...shared, lists };
  }
  if (counted === 'none') return shared;
  const pairs = await counting.count(columns, signal);
  const fits = targets && counting.bytes * (targets.offsets.length - 1) <= KEPT_BYTES;
  return { ...shared, pairs, ofTargets: fits ? await counting.count(targets, signal) : undefined };
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
