// Scores of held-back items by their attributes, users × items, and how many of the wanted ones they recall.

import type { SideInfo } from '../../attributes/info.js';
import { attributeVectors } from '../../attributes/similarity.js';
import type { TaskOptions } from '../../progress.js';
import { addWeights } from '../../topn/query.js';
import { Heap } from '../../wasm/heap.js';
import { loadKernels } from '../../wasm/load.js';
import type { ModelScorer } from '../scoring/model-scorer.js';
import type { FoundRows } from './content-rows.js';
import type { HeldBackItems } from './held-back-items.js';

/** Lengths of lists; the longest first. */
const LISTS = [100, 20];

/** One column after the other: the sums of cosines between a user's items and the held-back ones. */
export function* columnScores(
  info: SideInfo,
  { items, histories }: HeldBackItems,
): Generator<Float32Array, void, void> {
  const { offsets, targets, weights } = attributeVectors(
    info,
    info.columns.map(() => 1),
  );
  // Attributes of a row ascend, so those of a column follow one another and begin where the column before ends.
  const starts = offsets.slice(0, -1);
  const ends = starts.slice();
  for (const { first, count } of info.columns) {
    for (let row = 0; row < starts.length; row++) {
      let e = ends[row];
      starts[row] = e;
      while (e < offsets[row + 1] && targets[e] < first + count) e++;
      ends[row] = e;
    }
    const scores = new Float32Array(histories.length * items.length);
    const profile = new Float64Array(count);
    for (const [u, history] of histories.entries()) {
      profile.fill(0);
      for (const item of history) {
        for (let e = starts[item]; e < ends[item]; e++) profile[targets[e] - first] += weights[e];
      }
      for (let p = 0; p < items.length; p++) {
        const at = u * items.length + p;
        const end = ends[items[p]];
        for (let e = starts[items[p]]; e < end; e++) scores[at] += weights[e] * profile[targets[e] - first];
      }
    }
    yield scores;
  }
}

/** Scores of the held-back items through their neighbours among the others. */
export async function throughScores(
  scorer: ModelScorer,
  counted: boolean,
  { near, nearCounts, nearRows, nearValues }: Neighbours,
  { items, histories }: Pick<HeldBackItems, 'items' | 'histories'>,
  options: TaskOptions,
): Promise<Float32Array> {
  const scores = new Float32Array(histories.length * items.length);
  const users = histories.map((own) =>
    scorer.userScorer(undefined, { items: own, ...(counted && { counts: own.map(() => 1) }) }),
  );
  const weights = scorer.factors?.itemWeights();
  const take = (u: number, row: Float32Array) => {
    if (weights) for (const item of histories[u]) addWeights(weights, item, row);
    for (let p = 0; p < items.length; p++) {
      const first = p * near;
      scores[u * items.length + p] = sumAt(row, nearRows, nearValues, first, first + nearCounts[p]);
    }
  };
  await scorer.eachRow(users, take, options);
  return scores;
}

/** The items of the data that are most similar to each item: at `near` times its position. */
type Neighbours = Pick<FoundRows, 'nearCounts' | 'nearRows' | 'nearValues'> & { readonly near: number };

/** The sum of some of the `values`, each times its weight. */
export function sumAt(
  values: Float32Array,
  places: Uint32Array,
  weights: Float32Array,
  first: number,
  end: number,
): number {
  // Two sums, which do not wait for each other, take half of the time.
  let [a, b] = [0, 0];
  let e = first;
  for (; e + 1 < end; e += 2) {
    a += weights[e] * values[places[e]];
    b += weights[e + 1] * values[places[e + 1]];
  }
  return e < end ? a + b + weights[e] * values[places[e]] : a + b;
}

/** The mean over the users of the recall of held-back items in lists of 20 and of 100. */
export type Recall = (scores: Float32Array, exponent: number, trial: Pick<HeldBackItems, 'wanted'>) => number;

interface CountKernels {
  countAbove(values: number, count: number, value: number): number;
  countEqual(values: number, count: number, value: number): number;
}

/** `popularity`: of the held-back items; scores are multiplied by a power of its exponential. */
export async function createRecall(popularity: Float64Array): Promise<Recall> {
  const { module } = await loadKernels();
  const count = popularity.length;
  const padded = 4 * Math.ceil(count / 4);
  const heap = new Heap();
  const at = heap.allocate(4 * padded);
  const { memory } = heap;
  const instance = new WebAssembly.Instance(module, { env: { memory, abort: () => {} } });
  const kernels = instance.exports as unknown as CountKernels;
  const values = heap.f32(at, padded).fill(Number.NEGATIVE_INFINITY);
  return (scores, exponent, { wanted }) => {
    const factor = popularity.map((one) => Math.exp(exponent * one));
    let sum = 0;
    for (const [u, own] of wanted.entries()) {
      const first = u * count;
      for (let p = 0; p < count; p++) values[p] = scores[first + p] * factor[p];
      const hits = LISTS.map(() => 0);
      for (const p of own) {
        const above = kernels.countAbove(at, padded, values[p]);
        if (above >= LISTS[0]) continue;
        const tied = kernels.countEqual(at, padded, values[p]);
        // Items that share the last score share the places that are left.
        for (const [l, n] of LISTS.entries()) hits[l] += Math.max(0, Math.min(1, (n - above) / tied));
      }
      for (const found of hits) sum += found / own.length;
    }
    return sum / (LISTS.length * wanted.length);
  };
}

export function spreadOf(scores: Float32Array): number {
  let [sum, squares] = [0, 0];
  for (const score of scores) {
    sum += score;
    squares += score * score;
  }
  const mean = sum / scores.length;
  return Math.sqrt(Math.max(0, squares / scores.length - mean * mean));
}
