// Metrics of recommended lists, as papers print them, at several lengths. Each is defined once, here, and for readers in
// docs/metrics.md. A user has R test items; hits are test items among the first n of the list.

import { meanAndSpread } from '../math/moments.js';
import { LIST_METRICS as LIST_METRIC_NAMES, type ListMetricName } from '../options/names.js';

export { LIST_METRIC_NAMES, type ListMetricName };

/** Lists of places among the candidates, best first; a place that is no candidate is NO_CANDIDATE. */
export type Lists = readonly Int32Array[];
/** Something was recommended there that is no candidate: it takes its place and cannot be a hit. */
export const NO_CANDIDATE = -1;

export interface ListMetric {
  readonly title: string;
  /** In words, as docs/metrics.md has it. */
  readonly meaning: string;
  /** A value for each user, or one for all lists together. */
  readonly of: 'user' | 'lists';
}

export const LIST_METRICS = {
  recall: { title: 'recall', of: 'user', meaning: 'hits over R, the number of test items' },
  recallCapped: { title: 'capped recall', of: 'user', meaning: 'hits over min(n, R)' },
  precision: { title: 'precision', of: 'user', meaning: 'hits over n, also where the list is shorter' },
  ndcg: {
    title: 'nDCG',
    of: 'user',
    meaning: 'Σ 1/log2(rank + 1) over the hits, over the same sum for ranks 1 … min(n, R)',
  },
  mrr: { title: 'MRR', of: 'user', meaning: '1 over the rank of the first hit, 0 without a hit' },
  map: {
    title: 'MAP',
    of: 'user',
    meaning: 'Σ precision at the rank of each hit, over min(n, R)',
  },
  hitRate: { title: 'hit rate', of: 'user', meaning: '1 with a hit, 0 without' },
  coverage: { title: 'coverage', of: 'lists', meaning: 'share of the candidates that are in some list' },
  gini: {
    title: 'Gini',
    of: 'lists',
    meaning: 'how unequally the candidates are recommended: 0 all equally often, 1 always the same',
  },
  novelty: {
    title: 'novelty',
    of: 'lists',
    meaning:
      'mean over users of the mean over their list of −log2(share of training users who have the item)',
  },
} as const satisfies Record<ListMetricName, ListMetric>;

/** The metrics that each user has a value of. */
export type UserListMetric = {
  [Name in ListMetricName]: (typeof LIST_METRICS)[Name]['of'] extends 'user' ? Name : never;
}[ListMetricName];

export const isUserMetric = (name: ListMetricName): name is UserListMetric =>
  LIST_METRICS[name].of === 'user';

/** What lists are judged by. */
export interface ListTask {
  /** Number of candidates. */
  readonly candidates: number;
  /** Per user, the places of the test items among the candidates. */
  readonly relevant: readonly Uint32Array[];
  /** Training degree of each candidate, and the number of training users. */
  readonly degree: Uint32Array;
  readonly trainUsers: number;
}

/** The scores of ranked lists, averaged over users. */
export interface ListScores {
  /** Those asked for; without any list there is no Gini and no novelty. */
  readonly mean: Readonly<Partial<Record<ListMetricName, number>>>;
  /** Of the mean over users. */
  readonly standardError: Readonly<Partial<Record<UserListMetric, number>>>;
  readonly perUser: Readonly<Partial<Record<UserListMetric, Float64Array>>>;
}

/** The metrics of the first n of each list; a user without a list has an empty one. */
export function scoreLists(
  lists: Lists,
  task: ListTask,
  n: number,
  names: readonly ListMetricName[],
): ListScores {
  const users = names.filter(isUserMetric);
  const perUser = Object.fromEntries(users.map((name) => [name, new Float64Array(lists.length)])) as Record<
    UserListMetric,
    Float64Array
  >;
  for (const [u, list] of lists.entries()) {
    const values = scoreUser(hitRanks(list, task.relevant[u], n), task.relevant[u].length, n);
    for (const name of users) perUser[name][u] = values[name];
  }
  const together = scoreTogether(lists, task, n);
  const mean: Partial<Record<ListMetricName, number>> = {};
  const standardError: Partial<Record<UserListMetric, number>> = {};
  for (const name of names) {
    if (!isUserMetric(name)) {
      const value = together[name];
      if (value !== undefined) mean[name] = value;
      continue;
    }
    const found = meanAndSpread(Array.from(perUser[name]));
    mean[name] = found.mean;
    standardError[name] = found.spread / Math.sqrt(lists.length);
  }
  return { mean, standardError, perUser };
}

/** Ranks of the hits among the first n, ascending. */
function hitRanks(list: Int32Array, relevant: Uint32Array, n: number): number[] {
  const wanted = new Set(relevant);
  const ranks: number[] = [];
  for (let at = 0; at < Math.min(n, list.length); at++) if (wanted.has(list[at])) ranks.push(at + 1);
  return ranks;
}

function scoreUser(ranks: readonly number[], relevant: number, n: number): Record<UserListMetric, number> {
  const most = Math.min(n, relevant);
  let gain = 0;
  let precisions = 0;
  for (const [h, rank] of ranks.entries()) {
    gain += 1 / Math.log2(rank + 1);
    precisions += (h + 1) / rank;
  }
  let ideal = 0;
  for (let rank = 1; rank <= most; rank++) ideal += 1 / Math.log2(rank + 1);
  return {
    recall: ranks.length / relevant,
    recallCapped: ranks.length / most,
    precision: ranks.length / n,
    ndcg: gain / ideal,
    mrr: ranks.length > 0 ? 1 / ranks[0] : 0,
    map: precisions / most,
    hitRate: ranks.length > 0 ? 1 : 0,
  };
}

function scoreTogether(
  lists: Lists,
  { candidates, degree, trainUsers }: ListTask,
  n: number,
): Record<Exclude<ListMetricName, UserListMetric>, number | undefined> {
  const times = new Float64Array(candidates);
  let surprise = 0;
  let listed = 0;
  for (const list of lists) {
    let own = 0;
    let places = 0;
    for (const place of list.subarray(0, n)) {
      if (place === NO_CANDIDATE) continue;
      times[place]++;
      places++;
      // An item that nobody in training has is as surprising as one that a single user has.
      own += Math.log2(trainUsers / Math.max(1, degree[place]));
    }
    if (places === 0) continue;
    surprise += own / places;
    listed++;
  }
  return {
    coverage: times.filter((x) => x > 0).length / candidates,
    gini: giniOf(times),
    novelty: listed > 0 ? surprise / listed : undefined,
  };
}

/** Σ_i (2i − N − 1) x_i / (N Σ x), x ascending; none where nothing was recommended. */
function giniOf(times: Float64Array): number | undefined {
  const ascending = times.slice().sort();
  let total = 0;
  let weighted = 0;
  for (let i = 0; i < ascending.length; i++) {
    total += ascending[i];
    weighted += (2 * (i + 1) - ascending.length - 1) * ascending[i];
  }
  return total > 0 ? weighted / (ascending.length * total) : undefined;
}
