// The tasks of a worker of item regressions: it counts rows of pairs, and solves one small system for each target. Blocks are
// independent, so results do not depend on the number of workers.

import type { RowLists } from '../math/csr.js';
import { serveTasks } from '../parallel/worker.js';
import { instantiate } from '../wasm/instantiate.js';
import { type CountedColumns, copyCounts, createTiles, pairsMet, TILE } from './pair-counts.js';
import type { StoredLists, WorkerPlace } from './stored-lists.js';

/** Targets solved at a time. */
export const BLOCK = 16;
/** Number of sampled gains from which the threshold of the chosen columns is estimated. */
const SAMPLE = 1024;

/** Rows of `stride` counts, of 2 bytes each, or 4 if `wide`. */
export interface CountRows {
  readonly at: number;
  readonly stride: number;
  readonly wide: boolean;
}

/** The weight of users that two columns share: as counts, or from the users of each column as lists. Addresses in kernel memory. */
export interface SharedUsers {
  readonly columns: number;
  /** Either pairs or lists are there, unless only similarities are asked for. */
  readonly pairs?: CountRows | undefined;
  /** The counts of each target with all columns, if they fit in memory. */
  readonly ofTargets?: CountRows | undefined;
  /** The users of each column, the number of users and the address of their weights. `degrees` has those of the columns, descending. */
  readonly lists?:
    | (StoredLists & { readonly users: number; readonly weights: number; readonly degrees: Uint32Array })
    | undefined;
}

/** `scratch` has room for a tile; it is empty if memory has no room for tiles. */
interface PairJob extends WorkerPlace {
  /** Columns by user, the weight of each user, and the columns in kernel memory. */
  readonly rows: RowLists;
  readonly weights: Uint8Array;
  readonly counted: CountedColumns;
  /** The users of each list, and the rows that receive its counts. */
  readonly lists: RowLists;
  readonly counts: CountRows;
}

/** Counts the users that each list shares with each column. */
export function countPairs({ next, memory, rows, weights, lists, counts, counted, ...place }: PairJob): void {
  const { columns } = counted;
  const count = lists.offsets.length - 1;
  const scratch = place.scratch.at(Atomics.add(place.places, 0, 1));
  const tiles = scratch === undefined ? undefined : createTiles(place.module, counted, scratch);
  for (;;) {
    const first = TILE * Atomics.add(next, 0, 1);
    if (first >= count) return;
    const last = Math.min(count, first + TILE);
    const tile = tiles?.isFaster(pairsMet(lists, rows, first, last)) ? tiles : undefined;
    tile?.count(lists, first, last);
    for (let c = first; c < last; c++) {
      const own = countsAt(memory, counts.wide, counts.at + c * rowBytes(counts), columns.rows);
      if (tile) {
        copyCounts(tile.counts, c - first, own);
        continue;
      }
      addCommon(own, lists, c, rows, weights);
    }
  }
}

/** Adds the weight of the users that list `c` shares with each column. */
function addCommon(
  counts: Uint16Array | Uint32Array,
  lists: RowLists,
  c: number,
  rows: RowLists,
  weights: Uint8Array,
): void {
  for (let e = lists.offsets[c]; e < lists.offsets[c + 1]; e++) {
    const user = lists.values[e];
    const weight = weights[user];
    for (let n = rows.offsets[user]; n < rows.offsets[user + 1]; n++) counts[rows.values[n]] += weight;
  }
}

function countsAt(memory: WebAssembly.Memory, wide: boolean, at: number, length: number) {
  return wide ? new Uint32Array(memory.buffer, at, length) : new Uint16Array(memory.buffer, at, length);
}

const rowBytes = ({ stride, wide }: CountRows) => (wide ? 4 : 2) * stride;

/** What all settings with this λ have in common: the chosen columns of each target, in order, and their common users. */
export interface ChosenColumns {
  readonly lambda: number;
  /** The most columns of a target. */
  readonly neighbours: number;
  /** The address of the first target's data if they are kept; else a worker holds those of one target at a time. */
  readonly at: number | undefined;
  /** The number of columns of each target. */
  readonly found: Uint32Array;
}

export interface TargetJob extends WorkerPlace {
  readonly rows: RowLists;
  readonly weights: Uint8Array;
  readonly shared: SharedUsers;
  readonly targets: RowLists;
  /** The column that is the target itself; −1 if no column is. */
  readonly ownColumn: Int32Array;
  /** The address of a number for each column. Squared counts times it decide which columns a target chooses. */
  readonly numbers: number;
  readonly neighbours: number;
  /** The number of columns of each target. */
  readonly found: Uint32Array;
  /** The columns of each target and their weights: targets × neighbours. */
  readonly sources: Uint32Array;
  readonly targetWeights: Float32Array;
}

export interface SimilarJob extends TargetJob {
  /** Counts are divided by numbers[c] · targets[t] + added; undefined: they are multiplied by the root of numbers[c]. */
  readonly divisors: { readonly targets: Float64Array; readonly added: number } | undefined;
}

export interface RegressionJob extends TargetJob {
  /** The weight of the users of each column, and the penalty of squared weights in the same unit. */
  readonly degree: Float64Array;
  readonly penalty: number;
  readonly chosen: ChosenColumns;
  /** Whether the columns are already chosen. */
  readonly known: boolean;
  readonly dropout: number;
  /** Number of best columns for a second regression, whose weights are added; 0 for none. */
  readonly nearest: number;
  readonly nearestDropout: number;
  readonly tolerance: number;
  readonly maxSteps: number;
}

/** Rounded up to a multiple of 4, as the kernels require of rows. */
function paddedSize(size: number): number {
  return 4 * Math.ceil(size / 4);
}

/** Rounded up to a multiple of 8, as the ranking kernels require of rows of scores. */
export function paddedColumns(columns: number): number {
  return 8 * Math.ceil(columns / 8);
}

/** Bytes of one target's data: its columns, and the users that they share with it and with each other. */
export function chosenBytes(neighbours: number): number {
  const size = paddedSize(neighbours);
  return 4 * (2 * size + (size * (size + 4)) / 2);
}

function scratchParts(neighbours: number, { columns, lists }: SharedUsers) {
  const entries = lists ? lists.degrees.subarray(0, neighbours).reduce((sum, d) => sum + d, 1) : 0;
  const size = paddedSize(neighbours);
  const list = 4 * (paddedColumns(columns) + 16);
  const sizes = {
    ...{ system: 4 * size * size, scale: 4 * size, right: 4 * size, solved: 4 * size, vectors: 8 * size },
    ...{
      counts: list,
      gains: list,
      kept: list,
      positions: list,
      sample: Math.max(list, 4 * (2 * SAMPLE + 16)),
    },
    ...{ chosen: chosenBytes(neighbours), heads: 4 * (lists?.users ?? 0), entries: 8 * entries },
  };
  let bytes = 0;
  const at = Object.fromEntries(
    Object.entries(sizes).map(([name, size]) => {
      const first = bytes;
      bytes += 64 * Math.ceil(size / 64);
      return [name, first];
    }),
  ) as Record<keyof typeof sizes, number>;
  return { at, bytes };
}

export function regressionScratchBytes(neighbours: number, shared: SharedUsers): number {
  return scratchParts(neighbours, shared).bytes;
}

/** Calls `work` for one target after the other, until none is left. */
function eachTarget({ next, targets }: TargetJob, work: (target: number) => void): void {
  const count = targets.offsets.length - 1;
  for (;;) {
    const first = BLOCK * Atomics.add(next, 0, 1);
    if (first >= count) return;
    for (let t = first; t < Math.min(count, first + BLOCK); t++) work(t);
  }
}

/** The part of an array that belongs to a target. */
function ofTarget<T extends Uint32Array | Float32Array>(all: T, job: TargetJob, t: number, size: number): T {
  return all.subarray(t * job.neighbours, t * job.neighbours + size) as T;
}

export function solveTargets(job: RegressionJob): void {
  const { neighbours, chosen, known, nearest } = job;
  const bench = createBench(job, chosen.neighbours);
  const stride = chosenBytes(chosen.neighbours);
  const solve = createSolver(job, bench);
  eachTarget(job, (t) => {
    const at = chosen.at === undefined ? bench.chosen : chosen.at + t * stride;
    if (!known) chosen.found[t] = bench.choose(t, at);
    const size = Math.min(neighbours, chosen.found[t]);
    job.found[t] = size;
    ofTarget(job.sources, job, t, size).set(new Uint32Array(job.memory.buffer, at, size));
    const weights = ofTarget(job.targetWeights, job, t, size);
    weights.set(solve(at, size, job.dropout));
    if (nearest === 0) return;
    // The nearest columns are the first of all chosen ones.
    const few = solve(at, Math.min(nearest, size), job.nearestDropout);
    for (let i = 0; i < few.length; i++) weights[i] += few[i];
  });
}

/** The columns that share most users with a target, by their counts over what they are divided by. */
export function findSimilar(job: SimilarJob): void {
  const { divisors, neighbours } = job;
  const bench = createBench(job, 0);
  eachTarget(job, (t) => {
    const divisor = divisors && ([divisors.targets[t], divisors.added] as const);
    const { size, gains, columns } = bench.best(t, neighbours, divisor);
    job.found[t] = size;
    ofTarget(job.sources, job, t, size).set(columns);
    const weights = ofTarget(job.targetWeights, job, t, size);
    for (let i = 0; i < size; i++) weights[i] = divisor ? gains[i] : Math.sqrt(gains[i]);
  });
}

/** A worker's scratch, with the steps that use it. */
function createBench(job: TargetJob, neighbours: number) {
  const { memory, shared, rows, weights, targets, ownColumn } = job;
  const { columns, pairs, lists, ofTargets } = shared;
  const kernels = instantiate(job.module, memory);
  const base = job.scratch[Atomics.add(job.places, 0, 1)];
  const parts = scratchParts(neighbours, shared);
  const at = (name: keyof typeof parts.at) => base + parts.at[name];
  const wide = (pairs ?? ofTargets)?.wide ?? lists !== undefined;
  const width = paddedColumns(columns);
  const room = paddedSize(neighbours);
  const counts = countsAt(memory, wide, at('counts'), columns);
  if (lists) new Uint32Array(memory.buffer, at('heads'), lists.users).fill(0);

  /** The address of the counts of users that each column shares with a target. */
  function countsOf(target: number): number {
    const own = ownColumn[target];
    if (pairs && own >= 0) return pairs.at + own * rowBytes(pairs);
    if (ofTargets) return ofTargets.at + target * rowBytes(ofTargets);
    counts.fill(0);
    addCommon(counts, targets, target, rows, weights);
    return at('counts');
  }

  /** The `most` columns with the largest gains, and the address of all counts. */
  function best(target: number, most: number, divisor?: readonly [own: number, added: number]) {
    const from = countsOf(target);
    const counted = [from, wide ? 1 : 0, job.numbers] as const;
    if (divisor) kernels.similarityGains(...counted, ...divisor, width, at('gains'));
    else kernels.regressionGains(...counted, width, at('gains'));
    const own = ownColumn[target];
    if (own >= 0) new Float32Array(memory.buffer, at('gains'), columns)[own] = Number.NEGATIVE_INFINITY;
    const found = [at('kept'), at('positions')] as const;
    const kept = kernels.rankKeep(at('gains'), width, most, ...found, at('sample'), SAMPLE);
    const size = kernels.rankTop(...found, kept, most);
    return {
      ...{ from, size },
      gains: new Float32Array(memory.buffer, at('kept'), size),
      columns: new Uint32Array(memory.buffer, at('positions'), size),
    };
  }

  return {
    ...{ kernels, at, room, best },
    chosen: at('chosen'),
    /** Chooses the columns that each explain most of a target, and writes their data; returns their number. */
    choose(target: number, to: number): number {
      const { from, size, columns: found } = best(target, neighbours);
      kernels.regressionOrder(at('kept'), at('positions'), size);
      new Uint32Array(memory.buffer, to, room).set(found);
      kernels.rightSide(from, wide ? 1 : 0, to, size, to + 4 * room);
      const matrix = to + 8 * room;
      if (pairs) kernels.sharedFromCounts(pairs.at, wide ? 1 : 0, rowBytes(pairs), to, size, matrix);
      else if (lists) {
        const { offsets, neighbors } = lists;
        const scratch = [at('heads'), at('entries')] as const;
        kernels.sharedFromLists(offsets, neighbors, lists.weights, to, size, ...scratch, matrix);
      }
      return size;
    },
  };
}

/** Solves for the weights of the first `size` chosen columns, whose data are at `from`. */
function createSolver(job: RegressionJob, { kernels, at, room }: ReturnType<typeof createBench>) {
  const { memory } = job;
  const scale = new Float32Array(memory.buffer, at('scale'), room);
  const right = new Float32Array(memory.buffer, at('right'), room);
  const solved = new Float32Array(memory.buffer, at('solved'), room);
  return (from: number, size: number, dropped: number): Float32Array => {
    const padded = paddedSize(size);
    const list = new Uint32Array(memory.buffer, from, size);
    const common = new Float32Array(memory.buffer, from + 4 * room, size);
    for (let i = 0; i < size; i++) {
      scale[i] = 1 / Math.sqrt(job.degree[list[i]] * (1 + dropped) + job.penalty);
      right[i] = common[i] * scale[i];
    }
    for (let i = size; i < padded; i++) {
      scale[i] = 0;
      right[i] = 0;
    }
    const [system, x] = [at('system'), at('solved')];
    kernels.scaledSystem(from + 8 * room, at('scale'), padded, system);
    kernels.denseSolve(system, at('right'), x, padded, job.tolerance, job.maxSteps, at('vectors'));
    for (let i = 0; i < size; i++) solved[i] *= scale[i];
    return solved.subarray(0, size);
  };
}

serveTasks('item-regression-tasks', { countPairs, solveTargets, findSimilar });
