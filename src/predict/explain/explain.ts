// Explains a score exactly. The score is r = E[γ] Σ_k E[θ_k] E[ω_j] E[β_jk], and the posterior shape of θ_k is the prior's a plus the
// expected counts of the user's edges in feature k. So each feature's contribution is divided between the prior and the user's items in
// proportion to a and to those counts. All contributions add up to the score.

import { ACTIVITY_FLOOR, type Activity } from '../../engine/engine.js';
import type { OwnItems } from '../../fit/fold-in/member-fold.js';
import { columnSums, meanTable, type Posterior, type PosteriorModel } from '../../fit/model.js';
import { concat } from '../../math/memory.js';
import { sumOfParts } from '../../math/products.js';
import { digamma } from '../../math/special.js';

/** The contributions to a score, or to a sum of scores. */
export interface ScoreParts {
  /** The contribution of each feature; with `direct` they add up to the score. A ranker by popularity has neither. */
  readonly features: Float64Array;
  /** The contribution of item-to-item weights, which use no features. */
  readonly direct: number;
  /** The contribution of each of the user's items, in their order; with `prior` they add up to the score. */
  readonly items: Float64Array;
  /** The contribution of the prior: the score of a user without items. */
  readonly prior: number;
}

/** How much each of the user's items contributes to a recommendation. */
export interface Explanation extends ScoreParts {
  readonly score: number;
  /**
   * The same contributions to the sum of the scores of all items, which stands for the user's average item. A contribution distinguishes an
   * item only if it exceeds this usual one.
   */
  readonly all: ScoreParts;
}

/**
 * Explains the scores of items for a row of `users`: of the model's own, or folded in. `activity` is the expectation that the edge pass of
 * the row used. Work that depends only on the user is done once.
 */
export function posteriorExplainer(
  model: PosteriorModel,
  users: Posterior,
  row: number,
  own: OwnItems,
  activity: Activity,
): (item: number) => Explanation {
  const { features: K } = model;
  const value = activity === 'geometric' ? logMean : mean;
  const write = (side: Posterior, v: number, out: Float64Array) => {
    const weight = value(side.weightShape[v], side.weightRate[v]);
    for (let k = 0; k < K; k++) {
      out[k] = Math.max(
        ACTIVITY_FLOOR,
        weight * value(side.featureShape[v * K + k], side.featureRate[v * K + k]),
      );
    }
  };
  const rowActivity = new Float64Array(K);
  write(users, row, rowActivity);
  return explainer({
    multigraph: model.multigraph,
    priorShape: model.users.hyper.shape,
    shape: users.featureShape.subarray(row * K, (row + 1) * K),
    activity: rowActivity,
    own,
    writeItem: (item, out) => write(model.items, item, out),
    parts: (item) => featureParts(model, users, row, item),
    allParts: () => {
      const weight = users.weightShape[row] / users.weightRate[row];
      return itemMass(model).map((mass, k) => {
        const at = row * K + k;
        return (weight * mass * users.featureShape[at]) / users.featureRate[at];
      });
    },
  });
}

/** The data of a user and of the items that explanations need. */
interface ExplainedUser {
  readonly multigraph: boolean;
  /** The shape of every feature: of the prior, and of the user. */
  readonly priorShape: number;
  readonly shape: ArrayLike<number>;
  /** The activity of the user in the edge pass that made the user's row … */
  readonly activity: Float64Array;
  readonly own: OwnItems;
  /** … and of an item. */
  writeItem(item: number, out: Float64Array): void;
  /** The contribution of each feature to the score of an item … */
  parts(item: number): Float64Array;
  /** … and to the sum of the scores of all items. */
  allParts(): Float64Array;
}

export function explainer(user: ExplainedUser): (item: number) => Explanation {
  const { own, priorShape: a, shape } = user;
  const K = shape.length;
  const shares = ownShares(user, K);
  const shareOut = (parts: Float64Array): ScoreParts => {
    const byItem = new Float64Array(own.items.length);
    const ofItems = new Float64Array(K);
    let prior = 0;
    for (let k = 0; k < K; k++) {
      ofItems[k] = shares.some[k] ? parts[k] * Math.max(0, 1 - a / shape[k]) : 0;
      prior += parts[k] - ofItems[k];
    }
    // Row by row, in the order of memory.
    for (let e = 0; e < byItem.length; e++) {
      let sum = 0;
      for (let k = 0; k < K; k++) sum += ofItems[k] * shares.values[e * K + k];
      byItem[e] = sum;
    }
    return { features: parts, direct: 0, items: byItem, prior };
  };
  const all = shareOut(user.allParts());
  return (item) => {
    const parts = user.parts(item);
    return { score: sumOfParts(parts), ...shareOut(parts), all };
  };
}

/** Explains scores of a user with `items` items, none of which contributes: scores by popularity or by the user's attributes. */
export function priorExplainer(
  score: (item: number) => number,
  items: number,
): (item: number) => Explanation {
  const parts = (prior: number): ScoreParts => ({
    features: new Float64Array(0),
    direct: 0,
    items: new Float64Array(items),
    prior,
  });
  return (item) => ({ score: score(item), ...parts(score(item)), all: parts(1) });
}

const MASSES = new WeakMap<PosteriorModel['items'], Float64Array>();

/** The sum of the items' mean activities, computed once per model. */
function itemMass({ items, features }: PosteriorModel): Float64Array {
  const known = MASSES.get(items);
  if (known) return known;
  const mass = columnSums(meanTable(items, features), features);
  MASSES.set(items, mass);
  return mass;
}

/** The score of an item for row `row` of `users`. */
export function expectedRate(model: PosteriorModel, users: Posterior, row: number, item: number): number {
  return sumOfParts(featureParts(model, users, row, item));
}

function featureParts(
  { features: K, items }: PosteriorModel,
  users: Posterior,
  row: number,
  item: number,
): Float64Array {
  const weight =
    (users.weightShape[row] / users.weightRate[row]) * (items.weightShape[item] / items.weightRate[item]);
  const parts = new Float64Array(K);
  for (let k = 0; k < K; k++) {
    const mean = users.featureShape[row * K + k] / users.featureRate[row * K + k];
    parts[k] = weight * mean * (items.featureShape[item * K + k] / items.featureRate[item * K + k]);
  }
  return parts;
}

/** Each own item's share of the expected counts of each feature (own items × features, columns adding up to 1). */
function ownShares({ own: { items, counts }, activity: A, multigraph, writeItem }: ExplainedUser, K: number) {
  const n = items.length;
  const values = new Float64Array(n * K);
  const sums = new Float64Array(K);
  const B = new Float64Array(K);
  for (let e = 0; e < n; e++) {
    writeItem(items[e], B);
    let lambda = 0;
    for (let k = 0; k < K; k++) lambda += A[k] * B[k];
    const w = multigraph ? (counts?.[e] ?? 1) / lambda : -1 / Math.expm1(-lambda);
    for (let k = 0; k < K; k++) {
      values[e * K + k] = w * A[k] * B[k];
      sums[k] += values[e * K + k];
    }
  }
  for (let e = 0; e < n; e++) {
    for (let k = 0; k < K; k++) if (sums[k] > 0) values[e * K + k] /= sums[k];
  }
  return { values, some: Uint8Array.from(sums, (sum) => (sum > 0 ? 1 : 0)) };
}

/** The explanation of `share` times the score. */
export function scaled(explanation: Explanation, share: number): Explanation {
  if (share === 1) return explanation;
  const times = (values: Float64Array) => values.map((value) => share * value);
  const parts = ({ features, direct, items, prior }: ScoreParts): ScoreParts => ({
    features: times(features),
    direct: share * direct,
    items: times(items),
    prior: share * prior,
  });
  return { score: share * explanation.score, ...parts(explanation), all: parts(explanation.all) };
}

/** The sum of explanations. Their features follow one another, unless `features` adds them. */
export function addUp(
  parts: readonly Explanation[],
  features: (values: readonly Float64Array[]) => Float64Array = (values) => concat(Float64Array, values),
): Explanation {
  if (parts.length === 1) return parts[0];
  const sumOf = (all: readonly ScoreParts[]): ScoreParts => ({
    features: features(all.map((part) => part.features)),
    direct: all.reduce((sum, part) => sum + part.direct, 0),
    items: added(all.map((part) => part.items)),
    prior: all.reduce((sum, part) => sum + part.prior, 0),
  });
  return {
    score: parts.reduce((sum, part) => sum + part.score, 0),
    ...sumOf(parts),
    all: sumOf(parts.map((part) => part.all)),
  };
}

/** Values added entry by entry. */
export function added(values: readonly Float64Array[]): Float64Array {
  return values[0].map((_, at) => values.reduce((sum, one) => sum + one[at], 0));
}

const mean = (shape: number, rate: number) => shape / rate;
const logMean = (shape: number, rate: number) => Math.exp(digamma(shape)) / rate;
