// An added item gets a part of the item weights of its neighbours too.

import type { Model } from '../../fit/model.js';
import type { SparseWeights } from '../../topn/query.js';
import { Heap } from '../../wasm/heap.js';
import { instantiate } from '../../wasm/instantiate.js';
import { loadKernels } from '../../wasm/load.js';
import { itemWeightsOf } from '../scoring/model-scorer.js';
import { storeSparse } from './score-tables.js';

/** Added to the sum of the similarities, so that items with few similar neighbours get small scores. */
const SMOOTHING = 1;

/** Divides similarities by their sum, which it returns: they become the parts of the neighbours' scores that an item gets. */
export function toParts(similarities: Float32Array, first: number, end: number): number {
  let sum = SMOOTHING;
  for (let e = first; e < end; e++) sum += similarities[e];
  for (let e = first; e < end; e++) similarities[e] /= sum;
  return sum;
}

/** Rows of a call of a kernel. */
const ROWS = 256;
/** Weights towards one neighbour that are passed on. */
const MOST_PASSED = 50;

/** What was found for each set of item weights: a server asks for them at every posted item. */
const passedOf = new WeakMap<SparseWeights, SparseWeights>();

/** The largest item weights towards each item. Undefined if the model does not add item weights to factors. */
export async function passedWeights(model: Model): Promise<SparseWeights | undefined> {
  const weights = itemWeightsOf(model);
  if (!weights) return undefined;
  const passed = passedOf.get(weights) ?? (await largestTowards(weights, model.items.count));
  passedOf.set(weights, passed);
  return passed;
}

/** The largest weights towards each item, by the item that they lead to. */
export async function largestTowards(weights: SparseWeights, known: number): Promise<SparseWeights> {
  const { module } = await loadKernels();
  const heap = new Heap();
  const count = weights.targets.length;
  const given = storeSparse(heap, weights);
  const [ends, starts] = [heap.allocate(4 * (known + 1)), heap.allocate(4 * (known + 1))];
  const [from, values, sizes] = [
    heap.allocate(4 * count),
    heap.allocate(4 * count),
    heap.allocate(4 * known),
  ];
  const kernels = instantiate(module, heap.memory);
  kernels.startTowards(given[1], count, known, ends);
  // A kernel is compiled well only after some calls.
  for (let row = 0; row < known; row += ROWS) {
    kernels.groupTowards(...given, row, Math.min(known, row + ROWS), ends, from, values);
  }
  for (let row = 0; row < known; row += ROWS) {
    kernels.keepTowards(row, Math.min(known, row + ROWS), MOST_PASSED, ends, starts, from, values, sizes);
  }
  const offsets = heap.u32(starts, known + 1).slice();
  const kept = offsets[known];
  return { offsets, targets: heap.u32(from, kept).slice(), weights: heap.f32(values, kept).slice() };
}
