// What attributes say about single items: their neighbours in the data, and the weights towards them. Workers take blocks of items
// until none is left. Each item has its own place for the results, so they do not depend on the number of workers.

import { createKernelSums } from '../../attributes/kernel-sums.js';
import { addSimilarities, type Sums } from '../../attributes/similarity.js';
import { serveTasks } from '../../parallel/worker.js';
import type { SparseWeights } from '../../topn/query.js';
import { toParts } from './smoothing.js';

/** Items that a worker takes at a time. */
const BLOCK = 32;

/** Less than the mean similarity of nearly every item. */
const LEAST_COMMON = 1e-4;

/** A smaller weight of the direct similarity counts as 0. */
const TINY = 1e-20;

export interface ContentRows {
  /** Items of the data. */
  readonly known: number;
  readonly vectors: SparseWeights;
  /** The items of the data by attribute. */
  readonly lists: SparseWeights;
  /** The sum of each list (attributes/similarity.ts). */
  readonly totals: Float64Array;
  /** Item weights towards each item of the data, which its neighbours get a part of. */
  readonly passed: SparseWeights | undefined;
  /** How much a weight from each item of the data matters. */
  readonly importance: Float32Array;
  /** The items to score, and the factor of all scores of each. */
  readonly items: Uint32Array;
  readonly factors: Float64Array;
  /** Most neighbours of an item. */
  readonly near: number;
  /** The weight of the direct similarity, and the exponent of the mean similarity by which it is divided. */
  readonly direct: number;
  readonly commonness: number;
  /** Where the neighbours and the weights of each item begin: its places are limited by the next one's. */
  readonly places: Uint32Array;
  readonly found: FoundRows;
}

export type AskedRows = Omit<ContentRows, 'found' | 'totals'>;

/** Neighbours are at `near` times the position of the item, weights at its `places`. */
export interface FoundRows {
  readonly nearCounts: Uint32Array;
  readonly nearRows: Uint32Array;
  readonly nearValues: Float32Array;
  /** The direct weight of each item, and the sum of the similarities that the values are parts of. */
  readonly directs: Float64Array;
  readonly sums: Float64Array;
  readonly counts: Uint32Array;
  readonly rows: Uint32Array;
  readonly values: Float32Array;
}

/** Scores the item at a position of `items`. */
export function scoreContentRow(data: ContentRows, position: number, sums: Sums): void {
  const { known, passed, items, found, places, near, importance } = data;
  const item = items[position];
  const own = addSimilarities(data, item, sums);
  const first = position * near;
  const count = sums.writeLargest(near, { rows: found.nearRows, values: found.nearValues }, first);
  const end = first + count;
  found.nearCounts[position] = count;
  found.sums[position] = toParts(found.nearValues, first, end);
  const direct =
    data.commonness === 0 ? data.direct : data.direct * commonness(data, item, own) ** -data.commonness;
  found.directs[position] = direct;
  const place = places[position];
  const width = places[position + 1] - place;
  if (width > 0) {
    // Similarities times `direct` and what neighbours pass on, both times the item's factor: the largest are multiplied at the end.
    const entries = { targets: found.nearRows, weights: found.nearValues };
    const unit = direct > TINY ? direct : 1;
    if (unit !== direct) sums.clear();
    if (passed) sums.addLists(passed, entries, { first, end, factor: 1 / unit });
    // Nobody who has the item gets it again.
    if (item < known) sums.drop(item);
    const kept = sums.writeLargest(width, found, place, importance);
    const factor = data.factors[position] * unit;
    for (let e = place; e < place + kept; e++) found.values[e] *= factor;
    found.counts[position] = kept;
  }
  sums.clear();
}

/** The mean similarity of an item to the others: large if its attributes are common. `own`: its similarity to itself. */
function commonness(
  { known, vectors: { offsets, targets, weights }, totals }: ContentRows,
  item: number,
  own: number,
): number {
  let sum = -own;
  for (let e = offsets[item]; e < offsets[item + 1]; e++) sum += weights[e] * totals[targets[e]];
  return LEAST_COMMON + Math.max(0, sum) / Math.max(1, known);
}

/** Items to score by the kernels. Lists, rows, `importance` and what is found lie in the memory. */
interface ContentJob extends ContentRows {
  readonly module: WebAssembly.Module;
  readonly memory: WebAssembly.Memory;
  /** Counters: of workers, and of blocks. */
  readonly workers: Int32Array;
  readonly next: Int32Array;
  /** The address of each worker's sums, and the most numbers that they are asked for. */
  readonly scratch: readonly number[];
  readonly most: number;
}

export const contentBlocks = ({ items }: Pick<ContentRows, 'items'>) => Math.ceil(items.length / BLOCK);

export function scoreContentRows(job: ContentJob): void {
  const at = job.scratch[Atomics.add(job.workers, 0, 1)];
  const sums = createKernelSums(job.module, job.memory, at, job.known, job.most);
  for (;;) {
    const first = BLOCK * Atomics.add(job.next, 0, 1);
    if (first >= job.items.length) return;
    const end = Math.min(job.items.length, first + BLOCK);
    for (let position = first; position < end; position++) scoreContentRow(job, position, sums);
  }
}

serveTasks('content-rows', { scoreContentRows });
