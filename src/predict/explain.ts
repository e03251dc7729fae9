// Why a score is what it is, exactly: r = E[γ] Σ_k E[θ_k] E[ω_j] E[β_jk], and the posterior shape of θ_k is the prior's
// a plus the expected counts of the user's own edges in feature k (section 6). So each feature's part of the score
// divides between the prior and the user's own items in proportion to a and to those counts; parts add up to the whole.

import { ACTIVITY_FLOOR, type Activity } from '../engine/engine.js';
import { InputError } from '../errors.js';
import type { Model, Posterior } from '../fit/model.js';
import { digamma } from '../math/special.js';
import { shown } from '../text/untrusted.js';

/** Items that a user has, and how often in a multigraph. */
export interface OwnItems {
  readonly items: ArrayLike<number>;
  readonly counts?: ArrayLike<number> | undefined;
  /** What the edge pass that made the user's posterior used. Default: what the model's objective uses. */
  readonly activity?: Activity | undefined;
}

export interface Explanation {
  readonly score: number;
  /** The part of each feature; they add up to the score. */
  readonly features: Float64Array;
  /** The part of each of the user's own items, in their order; with `prior` they add up to the score. */
  readonly items: Float64Array;
  /** The part that the user would have without any item. */
  readonly prior: number;
}

/** Shares out the score of one item for row `row` of `users` (the model's own, or folded in). */
export function explain(
  model: Model,
  users: Posterior,
  row: number,
  own: OwnItems,
  item: number,
): Explanation {
  return explainer(model, users, row, own)(item);
}

/** The same for many items of one user: what depends on the user alone is done once. */
export function explainer(
  model: Model,
  users: Posterior,
  row: number,
  own: OwnItems,
): (item: number) => Explanation {
  const { features: K, items } = model;
  const { shape: a } = model.users.hyper;
  const shares = ownShares(model, users, row, own);
  return (item) => {
    if (!(item >= 0 && item < items.count)) {
      throw new InputError(`there is no item ${shown(item)} among the ${items.count} of the model`);
    }
    const parts = featureParts(model, users, row, item);
    const byItem = new Float64Array(own.items.length);
    let prior = 0;
    for (let k = 0; k < K; k++) {
      const part = parts[k];
      const ofItems = shares.some[k] ? part * Math.max(0, 1 - a / users.featureShape[row * K + k]) : 0;
      prior += part - ofItems;
      for (let e = 0; e < byItem.length; e++) byItem[e] += ofItems * shares.values[e * K + k];
    }
    const score = parts.reduce((sum, part) => sum + part, 0);
    return { score, features: parts, items: byItem, prior };
  };
}

/** The score of an item for row `row` of `users` (section 8). */
export function expectedRate(model: Model, users: Posterior, row: number, item: number): number {
  return featureParts(model, users, row, item).reduce((sum, part) => sum + part, 0);
}

function featureParts(
  { features: K, items }: Model,
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
function ownShares(model: Model, users: Posterior, row: number, { items, counts, activity: used }: OwnItems) {
  const K = model.features;
  const n = items.length;
  const values = new Float64Array(n * K);
  const sums = new Float64Array(K);
  // The edge pass that made the posterior: exp(E log ·), or means.
  const value = (used ?? (model.objective === 'evidence' ? 'exact' : 'mean')) === 'exact' ? logMean : mean;
  const activity = (side: Posterior, v: number, out: Float64Array) => {
    const weight = value(side.weightShape[v], side.weightRate[v]);
    for (let k = 0; k < K; k++) {
      out[k] = Math.max(
        ACTIVITY_FLOOR,
        weight * value(side.featureShape[v * K + k], side.featureRate[v * K + k]),
      );
    }
  };
  const A = new Float64Array(K);
  const B = new Float64Array(K);
  activity(users, row, A);
  for (let e = 0; e < n; e++) {
    activity(model.items, items[e], B);
    let lambda = 0;
    for (let k = 0; k < K; k++) lambda += A[k] * B[k];
    const w = model.multigraph ? (counts?.[e] ?? 1) / lambda : -1 / Math.expm1(-lambda);
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

const mean = (shape: number, rate: number) => shape / rate;
const logMean = (shape: number, rate: number) => Math.exp(digamma(shape)) / rate;
