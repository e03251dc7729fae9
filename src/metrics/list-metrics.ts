// Metrics of recommended lists, as papers print them, at several lengths.

import { meanAndSpread } from '../math/moments.js';
import type { ListMetricName } from '../options/names.js';
import { coverage, gini, isUserMetric, type UserListMetric, userMetric } from './definitions.js';

/** For each user, positions among the candidates, best first; NO_CANDIDATE stands for any other item. */
export type Lists = readonly Int32Array[];
/** A recommended item that is not a candidate: it takes a rank and cannot be a hit. */
export const NO_CANDIDATE = -1;

/** What lists are compared with. */
export interface ListTask {
  readonly candidates: number;
  /** Per user, the positions of the test items among the candidates. */
  readonly relevant: readonly Uint32Array[];
  /** Training degree of each candidate. */
  readonly degree: Uint32Array;
  readonly trainUsers: number;
}

/** The scores of ranked lists, averaged over users. */
export interface ListScores {
  /** The metrics that were asked for; without any list there is no Gini and no novelty. */
  readonly mean: Readonly<Partial<Record<ListMetricName, number>>>;
  /** Standard error of the mean over users. */
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
  const hits = lists.map((list, u) => hitRanks(list, task.relevant[u], n));
  const all = scoreAllLists(lists, task, n);
  const mean: Partial<Record<ListMetricName, number>> = {};
  const standardError: Partial<Record<UserListMetric, number>> = {};
  const perUser: Partial<Record<UserListMetric, Float64Array>> = {};
  for (const name of names) {
    if (!isUserMetric(name)) {
      const value = all[name];
      if (value !== undefined) mean[name] = value;
      continue;
    }
    const values = Float64Array.from(hits, (ranks, u) => userMetric[name](ranks, task.relevant[u].length, n));
    const found = meanAndSpread(Array.from(values));
    perUser[name] = values;
    mean[name] = found.mean;
    standardError[name] = found.spread / Math.sqrt(lists.length);
  }
  return { mean, standardError, perUser };
}

/** Ranks of the hits among the first n, ascending. */
export function hitRanks(list: Int32Array, relevant: Uint32Array, n: number): number[] {
  const wanted = new Set(relevant);
  const ranks: number[] = [];
  for (let at = 0; at < Math.min(n, list.length); at++) if (wanted.has(list[at])) ranks.push(at + 1);
  return ranks;
}

function scoreAllLists(
  lists: Lists,
  { candidates, degree, trainUsers }: ListTask,
  n: number,
): Record<Exclude<ListMetricName, UserListMetric>, number | undefined> {
  const times = new Float64Array(candidates);
  let novelty = 0;
  let listed = 0;
  for (const list of lists) {
    let own = 0;
    let length = 0;
    for (const position of list.subarray(0, n)) {
      if (position === NO_CANDIDATE) continue;
      times[position]++;
      length++;
      // An item that no training user has is as novel as one that a single user has.
      own += Math.log2(trainUsers / Math.max(1, degree[position]));
    }
    if (length === 0) continue;
    novelty += own / length;
    listed++;
  }
  return {
    coverage: coverage(times, candidates),
    gini: gini(times),
    novelty: listed > 0 ? novelty / listed : undefined,
  };
}
