// The settings of scores by attributes: the weight of each column, the exponent of the predicted popularity, and the
// weight of the direct similarity. They are those with the best recall of held-back items.

import type { ContentSettings } from '../../attributes/content-scores.js';
import type { SideInfo } from '../../attributes/info.js';
import { predictedPopularity } from '../../attributes/popularity.js';
import { attributeVectors, createNeighbourSearch } from '../../attributes/similarity.js';
import { throwIfAborted } from '../../errors.js';
import type { Model } from '../../fit/model.js';
import { nthLargest } from '../../math/select.js';
import type { TaskOptions } from '../../progress.js';
import { addWeights } from '../../topn/query.js';
import type { ModelScorer } from '../scoring/model-scorer.js';
import { rowLists } from '../scoring/scorer.js';
import type { HeldBackItems } from './held-back-items.js';
import { NEIGHBOURS, SMOOTHING } from './smoothing.js';

export interface FoundContent {
  readonly settings: ContentSettings;
  /** The score units of one unit of similarity. */
  readonly scale: number;
}

const PARTS = [0.1, 0.3, 1, 3];
const POPULARITY = [0, 0.5, 1, 1.5, 2];
const DIRECT = [0, 0.1, 0.3, 1, 3, 30];
const DEFAULTS = { popularity: 0.5, direct: 0.3 };
/** If there are more columns, they are not searched one by one. */
const MOST_SEARCHED = 8;
const LISTS = [20, 100];

export async function findContentSettings(
  model: Model,
  scorer: ModelScorer,
  info: SideInfo,
  trial: HeldBackItems | undefined,
  { signal, onProgress }: TaskOptions,
): Promise<FoundContent> {
  const { columns } = info;
  const even = columns.map(() => 1 / Math.max(1, columns.length));
  if (!trial) {
    const settings = { heldBack: 0, columns: named(info, even), ...DEFAULTS };
    return { settings, scale: typicalScore(model, scorer) };
  }
  const report = (done: number) => {
    throwIfAborted(signal);
    onProgress?.({ stage: 'attributes', done, total: 3, unit: 'steps' });
  };
  const byColumn = directScores(info, trial);
  const popularity = heldBackPopularity(model, info, trial);
  report(1);
  const chosen = searchColumns(byColumn, popularity, trial);
  const direct = weightedSum(byColumn, chosen.parts);
  const through = smoothedScores(model, scorer, info, chosen.parts, trial);
  report(2);
  const scale = spreadOf(through) / (spreadOf(direct) || 1) || 1;
  let best = { value: -1, popularity: 0, direct: 0 };
  for (const part of DIRECT) {
    const sum = through.map((score, i) => score + part * scale * direct[i]);
    for (const exponent of POPULARITY) {
      const value = recallOf(sum, exponent, popularity, trial);
      if (value > best.value) best = { value, popularity: exponent, direct: part };
    }
  }
  report(3);
  const settings = {
    heldBack: trial.items.length,
    columns: named(info, chosen.parts),
    popularity: best.popularity,
    direct: best.direct,
  };
  return { settings, scale };
}

function named({ columns }: SideInfo, parts: readonly number[]): Readonly<Record<string, number>> {
  return Object.fromEntries(columns.map(({ name }, c) => [name, parts[c]]));
}

/** Per column, the sums of cosines between a user's items and the held-back ones: users × items. */
function directScores(info: SideInfo, { items, histories }: HeldBackItems): Float32Array[] {
  const vectors = attributeVectors(
    info,
    info.columns.map(() => 1),
  );
  const columnAt = new Uint16Array(info.names.length);
  for (const [c, { first, count }] of info.columns.entries()) columnAt.fill(c, first, first + count);
  const scores = info.columns.map(() => new Float32Array(histories.length * items.length));
  const profile = new Float64Array(info.names.length);
  const each = (row: number, use: (attribute: number, weight: number) => void) => {
    for (let e = vectors.offsets[row]; e < vectors.offsets[row + 1]; e++) {
      use(vectors.targets[e], vectors.weights[e]);
    }
  };
  for (const [u, history] of histories.entries()) {
    profile.fill(0);
    for (const item of history) each(item, (attribute, weight) => (profile[attribute] += weight));
    for (const [p, item] of items.entries()) {
      const at = u * items.length + p;
      each(item, (attribute, weight) => (scores[columnAt[attribute]][at] += weight * profile[attribute]));
    }
  }
  return scores;
}

function heldBackPopularity(model: Model, info: SideInfo, { items, isOut }: HeldBackItems): Float64Array {
  const all = predictedPopularity(info.rows, info.names.length, model.items.degree, isOut);
  return Float64Array.from(items, (item) => all[item]);
}

/** The weights of the columns with the best recall, found one column after the other. */
function searchColumns(byColumn: readonly Float32Array[], popularity: Float64Array, trial: HeldBackItems) {
  const relative = byColumn.map(() => 1);
  let best = -1;
  let exponent = 0;
  const tryAll = (parts: readonly number[], exponents: readonly number[]) => {
    const sum = weightedSum(byColumn, parts);
    let improved = false;
    for (const one of exponents) {
      const value = recallOf(sum, one, popularity, trial);
      if (value <= best) continue;
      [best, exponent, improved] = [value, one, true];
    }
    return improved;
  };
  tryAll(relative, POPULARITY);
  for (let c = 0; c < byColumn.length && byColumn.length > 1 && byColumn.length <= MOST_SEARCHED; c++) {
    let kept = relative[c];
    for (const part of PARTS) {
      if (part === kept) continue;
      relative[c] = part;
      if (tryAll(relative, [exponent])) kept = part;
    }
    relative[c] = kept;
  }
  const sum = relative.reduce((total, part) => total + part, 0);
  return { parts: relative.map((part) => part / sum) };
}

function weightedSum(byColumn: readonly Float32Array[], parts: readonly number[]): Float32Array {
  const sum = new Float32Array(byColumn[0].length);
  for (const [c, scores] of byColumn.entries()) {
    if (parts[c] === 0) continue;
    for (let i = 0; i < sum.length; i++) sum[i] += parts[c] * scores[i];
  }
  return sum;
}

/** Scores of the held-back items through their neighbours among the others: users × items. */
function smoothedScores(
  model: Model,
  scorer: ModelScorer,
  info: SideInfo,
  parts: readonly number[],
  { items, isOut, histories }: HeldBackItems,
): Float32Array {
  const { count: known, degree } = model.items;
  const search = createNeighbourSearch(attributeVectors(info, parts), known, degree);
  const near = Array.from(items, (item) => {
    const found = search(item, NEIGHBOURS, (other) => isOut[other] === 1);
    const sum = found.similarities.reduce((total, one) => total + one, SMOOTHING);
    return { items: found.items, parts: found.similarities.map((one) => one / sum) };
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
  const own = new Float32Array(K);
  for (const [u, history] of histories.entries()) {
    const { counts } = seenCounts(model);
    factors.rows(
      [scorer.userScorer(undefined, { items: history, ...(counts && { counts: history.map(() => 1) }) })],
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

const seenCounts = ({ seen }: Model) => ({ counts: seen?.counts !== undefined });

/** The mean over the users of the recall of held-back items in lists of 20 and of 100. */
function recallOf(
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
      let hits = 0;
      // A score that many items share, such as 0, does not list them all.
      for (const p of own) if (values[p] > least || (values[p] === least && least > 0)) hits++;
      sum += Math.min(1, hits / Math.min(n, own.length));
    }
  }
  return sum / wanted.length;
}

function spreadOf(scores: Float32Array): number {
  let [sum, squares] = [0, 0];
  for (const score of scores) {
    sum += score;
    squares += score * score;
  }
  const mean = sum / scores.length;
  return Math.sqrt(Math.max(0, squares / scores.length - mean * mean));
}

/** The size of scores if no users can be asked: that of one item for a user who has one. */
function typicalScore({ items }: Model, scorer: ModelScorer): number {
  const most = items.degree.indexOf(Math.max(...items.degree.subarray(0, 100_000)));
  const user = scorer.userScorer(undefined, { items: Uint32Array.of(Math.max(0, most)) });
  const n = Math.min(items.count, 200);
  let sum = 0;
  for (let j = 0; j < n; j++) sum += Math.abs(user.score(j));
  return sum / n || 1;
}
