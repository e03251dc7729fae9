// Every metric of a ranking, defined once; docs/metrics.md has the same definitions for readers. A user has R test items.
// Hits are the test items among the first n places of the user's list.

import type { ListMetricName } from '../options/names.js';

/** The metrics that each user has a value of. All lists together have one value of the others. */
export type UserListMetric = Exclude<ListMetricName, 'coverage' | 'gini' | 'novelty'>;

export const isUserMetric = (name: ListMetricName): name is UserListMetric => name in userMetric;

/** One user's value: `hits` are the ranks of the hits among the first `n`, ascending; `relevant` is R. */
type UserValue = (hits: ArrayLike<number>, relevant: number, n: number) => number;

export const userMetric: Readonly<Record<UserListMetric, UserValue>> = {
  recall: (hits, relevant) => hits.length / relevant,
  recallCapped: (hits, relevant, n) => hits.length / Math.min(n, relevant),
  precision: (hits, _, n) => hits.length / n,
  ndcg(hits, relevant, n) {
    let gain = 0;
    for (let h = 0; h < hits.length; h++) gain += 1 / Math.log2(hits[h] + 1);
    return gain / idealGain(Math.min(n, relevant));
  },
  mrr: (hits) => (hits.length > 0 ? 1 / hits[0] : 0),
  map(hits, relevant, n) {
    let precision = 0;
    for (let h = 0; h < hits.length; h++) precision += (h + 1) / hits[h];
    return precision / Math.min(n, relevant);
  },
  hitRate: (hits) => (hits.length > 0 ? 1 : 0),
};

/** Σ_{r ≤ m} 1/log2(r + 1) for each m that was asked for so far. */
const idealGains = [0];

function idealGain(m: number): number {
  while (idealGains.length <= m)
    idealGains.push(idealGains[idealGains.length - 1] + 1 / Math.log2(idealGains.length + 1));
  return idealGains[m];
}

/** Share of the candidates with a mark: those that are in some list. */
export function coverage(marks: ArrayLike<number>, candidates: number): number {
  let covered = 0;
  for (let c = 0; c < marks.length; c++) if (marks[c] > 0) covered++;
  return covered / candidates;
}

/** Σ_i (2i − N − 1) x_i / (N Σ x), x ascending; undefined if nothing was recommended. */
export function gini(times: Float64Array): number | undefined {
  const ascending = times.slice().sort();
  let total = 0;
  let weighted = 0;
  for (let i = 0; i < ascending.length; i++) {
    total += ascending[i];
    weighted += (2 * (i + 1) - ascending.length - 1) * ascending[i];
  }
  return total > 0 ? weighted / (ascending.length * total) : undefined;
}
