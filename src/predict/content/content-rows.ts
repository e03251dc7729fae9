// What attributes say about single items: their neighbours in the data, and the weights towards them. Workers take blocks of items
// until none is left. Each item has its own place for the results, so they do not depend on the number of workers.

import { createKernelSums } from '../../attributes/kernel-sums.js';
import { addSimilarities, type Sums } from '../../attributes/similarity.js';
import { serveTasks } from '../../parallel/worker.js';
import type { SparseWeights } from '../../topn/query.js';
import { commonnessOf, similarRows } from './smoothing.js';

/** Items that a worker takes at a time. */
const BLOCK = 32;

export interface ContentRows {
  /** Items of the data. */
  readonly known: number;
  readonly vectors: SparseWeights;
  /** The items of the data by attribute. */
  readonly lists: SparseWeights;
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
  const { known, passed, items, factors, found, places } = data;
  const [item, factor] = [items[position], factors[position]];
  addSimilarities(data, item, sums);
  const { near, sum } = similarRows(sums, data.near);
  const { rows, values } = near;
  const direct =
    data.commonness === 0 ? data.direct : data.direct * commonnessOf(sums, known) ** -data.commonness;
  found.nearCounts[position] = rows.length;
  found.nearRows.set(rows, position * data.near);
  found.nearValues.set(values, position * data.near);
  found.directs[position] = direct;
  found.sums[position] = sum;
  if (places[position + 1] === places[position]) {
    sums.clear();
    return;
  }
  sums.multiply(factor * direct);
  for (let i = 0; passed && i < rows.length; i++) {
    sums.addList(passed, passed.offsets[rows[i]], passed.offsets[rows[i] + 1], factor * values[i]);
  }
  // Nobody who has the item gets it again.
  if (item < known) sums.drop(item);
  const kept = sums.largest(places[position + 1] - places[position], data.importance);
  found.counts[position] = kept.rows.length;
  found.rows.set(kept.rows, places[position]);
  found.values.set(kept.values, places[position]);
  sums.clear();
}

/** Items to score by the kernels. The lists and `importance` lie in the memory. */
export interface ContentJob extends ContentRows {
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
