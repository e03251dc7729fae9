// Scores of held-back items by their attributes, users × items, and how many of the wanted ones they recall.

import type { SideInfo } from '../../attributes/info.js';
import { attributeVectors, type Neighbours } from '../../attributes/similarity.js';
import type { Model } from '../../fit/model.js';
import { nthLargest } from '../../math/select.js';
import { addWeights } from '../../topn/query.js';
import type { ModelScorer } from '../scoring/model-scorer.js';
import { rowLists } from '../scoring/scorer.js';
import type { HeldBackItems } from './held-back-items.js';
import { commonnessOf, SMOOTHING } from './smoothing.js';

const LISTS = [20, 100];

/** One column after the other: the sums of cosines between a user's items and the held-back ones. */
export function* columnScores(
  info: SideInfo,
  { items, histories }: HeldBackItems,
): Generator<Float32Array, void, void> {
  const { offsets, targets, weights } = attributeVectors(
    info,
    info.columns.map(() => 1),
  );
  for (const { first, count } of info.columns) {
    const scores = new Float32Array(histories.length * items.length);
    const profile = new Float64Array(count);
    const each = (row: number, use: (attribute: number, weight: number) => void) => {
      for (let e = offsets[row]; e < offsets[row + 1]; e++) {
        const attribute = targets[e] - first;
        if (attribute >= 0 && attribute < count) use(attribute, weights[e]);
      }
    };
    for (const [u, history] of histories.entries()) {
      profile.fill(0);
      for (const item of history) each(item, (attribute, weight) => (profile[attribute] += weight));
      for (const [p, item] of items.entries()) {
        const at = u * items.length + p;
        each(item, (attribute, weight) => (scores[at] += weight * profile[attribute]));
      }
    }
    yield scores;
  }
}

/** Sums of the similarities of the user's items, as the weights of an added item will be. */
export function directScores(
  near: readonly Neighbours[],
  commonness: number,
  known: number,
  { items, histories }: HeldBackItems,
): Float32Array {
  const scores = new Float32Array(histories.length * items.length);
  const row = new Float32Array(known);
  for (const [p, found] of near.entries()) {
    const factor = commonnessOf(found, known) ** -commonness;
    for (const [i, other] of found.items.entries()) row[other] = factor * found.similarities[i];
    for (const [u, history] of histories.entries()) {
      let sum = 0;
      for (const item of history) sum += row[item];
      scores[u * items.length + p] = sum;
    }
    for (const other of found.items) row[other] = 0;
  }
  return scores;
}

/** Scores of the held-back items through their neighbours among the others. */
export function throughScores(
  model: Model,
  scorer: ModelScorer,
  found: readonly Neighbours[],
  neighbours: number,
  { items, histories }: HeldBackItems,
): Float32Array {
  const { count: known } = model.items;
  const near = found.map((one) => {
    const similarities = one.similarities.slice(0, neighbours);
    const sum = similarities.reduce((total, similarity) => total + similarity, SMOOTHING);
    return {
      items: one.items.slice(0, neighbours),
      parts: similarities.map((similarity) => similarity / sum),
    };
  });
  const scores = new Float32Array(histories.length * items.length);
  const { factors } = scorer;
  const everything = Uint32Array.from({ length: known }, (_, j) => j);
  const row = new Float32Array(known);
  const gather = (u: number) => {
    for (const [p, one] of near.entries()) {
      for (const [i, other] of one.items.entries()) scores[u * items.length + p] += one.parts[i] * row[other];
    }
  };
  if (!factors) {
    const many = scorer.manyScorer(rowLists(histories), []);
    if (many.kind !== 'rows') throw new Error('scores are neither factors nor rows');
    for (let u = 0; u < histories.length; u++) {
      many.scores(u, everything, row);
      gather(u);
    }
    return scores;
  }
  const { features: K } = factors;
  const table = factors.items();
  const rows = new Float32Array(near.length * K);
  for (const [p, one] of near.entries()) {
    for (const [i, other] of one.items.entries()) {
      for (let k = 0; k < K; k++) rows[p * K + k] += one.parts[i] * table[other * K + k];
    }
  }
  const weights = factors.itemWeights();
  const counted = model.seen?.counts !== undefined;
  const own = new Float32Array(K);
  for (const [u, history] of histories.entries()) {
    factors.rows(
      [scorer.userScorer(undefined, { items: history, ...(counted && { counts: history.map(() => 1) }) })],
      own,
    );
    if (weights) {
      row.fill(0);
      for (const item of history) addWeights(weights, item, row);
      gather(u);
    }
    for (let p = 0; p < near.length; p++) {
      let sum = 0;
      for (let k = 0; k < K; k++) sum += own[k] * rows[p * K + k];
      scores[u * items.length + p] += sum;
    }
  }
  return scores;
}

/** The mean over the users of the recall of held-back items in lists of 20 and of 100. */
export function recallOf(
  scores: Float32Array,
  exponent: number,
  popularity: Float64Array,
  { items, wanted }: HeldBackItems,
): number {
  const factor = popularity.map((one) => Math.exp(exponent * one));
  const values = new Float32Array(items.length);
  const scratch = new Float32Array(items.length);
  let sum = 0;
  for (const [u, own] of wanted.entries()) {
    const at = u * items.length;
    for (let p = 0; p < values.length; p++) values[p] = scores[at + p] * factor[p];
    for (const n of LISTS) {
      scratch.set(values);
      const least = items.length > n ? nthLargest(scratch, items.length, n) : Number.NEGATIVE_INFINITY;
      // Items that share the last score share the places that are left.
      let [above, tied] = [0, 0];
      for (let p = 0; p < values.length; p++) {
        if (values[p] > least) above++;
        else if (values[p] === least) tied++;
      }
      const shared = tied > 0 ? Math.min(1, (n - above) / tied) : 0;
      let hits = 0;
      for (const p of own) hits += values[p] > least ? 1 : values[p] === least ? shared : 0;
      sum += hits / own.length;
    }
  }
  return sum / (LISTS.length * wanted.length);
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
