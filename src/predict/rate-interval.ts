// The rate of one pair by the draws that the exact sampler has kept: its mean, spread and interval.

import type { PosteriorModel } from '../fit/model.js';
import { meanAndSpread } from '../math/moments.js';
import { quantile } from '../math/quantile.js';
import { option, optionError } from '../options/error.js';
import { shown } from '../text/untrusted.js';
import { unknownId } from './nearest-id.js';

/** The posterior of the rate of a pair. */
export interface RateInterval {
  readonly mean: number;
  readonly standardDeviation: number;
  /** The 5 % and the 95 % quantile. */
  readonly low: number;
  readonly high: number;
  /** The number of draws. */
  readonly draws: number;
}

/**
 * The posterior of the expected count of a user and an item. The model must have kept draws: fit it with the method `gibbs` and
 * `keepDraws`.
 *
 * @example
 * import { BipartiteGraph, fit, rateInterval } from 'graphex';
 * const graph = BipartiteGraph.fromPairs([['ann', 'tea'], ['bob', 'milk'], ['bob', 'tea'], ['cleo', 'milk']]);
 * const { model } = await fit(graph, { method: 'gibbs', features: 2, iterations: 100, keepDraws: 50 });
 * console.log(rateInterval(model, 'ann', 'tea'));
 */
export function rateInterval(
  { users, items, features: K }: PosteriorModel,
  user: string | number,
  item: string | number,
): RateInterval {
  if (!users.draws || !items.draws) {
    throw optionError`the model has kept no draws; fit it with ${option('method')} gibbs and ${option('keepDraws')}`;
  }
  const [i, j] = [users.ids.find(String(user)), items.ids.find(String(item))];
  if (i < 0) throw unknownId(`the model has no user ${shown(String(user))}`, user, users.ids);
  if (j < 0) throw unknownId(`the model has no item ${shown(String(item))}`, item, items.ids);
  const draws = users.draws.length / (users.count * K);
  const rates = new Float64Array(draws);
  for (let d = 0; d < draws; d++) {
    const [own, other] = [(d * users.count + i) * K, (d * items.count + j) * K];
    for (let k = 0; k < K; k++) rates[d] += users.draws[own + k] * items.draws[other + k];
  }
  rates.sort();
  const { mean, spread } = meanAndSpread(rates);
  const [low, high] = [quantile(rates, 0.05), quantile(rates, 0.95)];
  return { mean, standardDeviation: spread, draws, low, high };
}
