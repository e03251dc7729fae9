// An added item gets a part of the item weights of its neighbours too.

import type { RowValues, Sums } from '../../attributes/similarity.js';
import type { Model } from '../../fit/model.js';
import { transposeLists } from '../../math/csr.js';
import { nthLargest } from '../../math/nth-largest.js';
import type { SparseWeights } from '../../topn/query.js';
import { itemWeightsOf } from '../scoring/model-scorer.js';

/** Added to the sum of the similarities, so that items with few similar neighbours get small scores. */
const SMOOTHING = 1;
/** Less than the mean similarity of nearly every item. */
const LEAST_COMMON = 1e-4;

/** An item by its attributes. */
export interface SimilarRows {
  /** The most similar items; the parts of their scores that the item gets. */
  readonly near: RowValues;
  /** The similarities are the parts times this number. */
  readonly sum: number;
}

/** What similarities to the items of the data say, which are in `sums`. */
export function similarRows(sums: Sums, neighbours: number): SimilarRows {
  const { rows, values } = sums.largest(neighbours);
  const sum = values.reduce((total, value) => total + value, SMOOTHING);
  return { near: { rows, values: values.map((value) => value / sum) }, sum };
}

/** The mean similarity to the `known` items of the data, which are in `sums`: large if an item's attributes are common. */
export function commonnessOf(sums: Sums, known: number): number {
  return LEAST_COMMON + sums.total() / Math.max(1, known);
}

/** Weights towards one neighbour that are passed on. */
const MOST_PASSED = 100;

/** What was found for each set of item weights: a server asks for them at every posted item. */
const passedOf = new WeakMap<SparseWeights, SparseWeights>();

/** The largest item weights towards each item. Undefined if the model does not add item weights to factors. */
export function passedWeights(model: Model): SparseWeights | undefined {
  const weights = itemWeightsOf(model);
  if (!weights) return undefined;
  const passed = passedOf.get(weights) ?? largestTowards(weights, model.items.count);
  passedOf.set(weights, passed);
  return passed;
}

function largestTowards({ offsets: starts, targets, weights }: SparseWeights, known: number): SparseWeights {
  const towards = transposeLists({ offsets: starts, values: targets, weights }, known);
  const { values: from, weights: values = new Float32Array(0) } = towards;
  const offsets = new Uint32Array(known + 1);
  const sizes = new Float32Array(known);
  let kept = 0;
  for (let j = 0; j < known; j++) {
    const [first, end] = [towards.offsets[j], towards.offsets[j + 1]];
    const count = end - first;
    for (let i = 0; i < count; i++) sizes[i] = Math.abs(values[first + i]);
    const least = count > MOST_PASSED ? nthLargest(sizes, count, MOST_PASSED) : 0;
    // Of equal weights at the end, the first ones are kept.
    let ties = MOST_PASSED;
    for (let i = 0; i < count; i++) if (sizes[i] > least) ties--;
    for (let e = first; e < end; e++) {
      const size = Math.abs(values[e]);
      if (size < least || (size === least && ties-- <= 0)) continue;
      from[kept] = from[e];
      values[kept++] = values[e];
    }
    offsets[j + 1] = kept;
  }
  return { offsets, targets: from.slice(0, kept), weights: values.slice(0, kept) };
}
