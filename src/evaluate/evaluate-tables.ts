// Evaluates lists from any source on any train/test pair. All rows of the leaderboard have the same users, candidates and exclusions.

import { InputError } from '../errors.js';
import type { Model } from '../fit/model.js';
import { fingerprint } from '../graph/fingerprint.js';
import { isUserMetric, type UserListMetric } from '../metrics/definitions.js';
import { type ListScores, type Lists, scoreLists } from '../metrics/list-metrics.js';
import { withDefaults } from '../options/check-options.js';
import { EVALUATE_TABLES } from '../options/commands/evaluate.js';
import { type OptionsOf, value } from '../options/declare.js';
import type { ListMetricName } from '../options/names.js';
import { TASK } from '../options/shared.js';
import type { TaskOptions } from '../progress.js';
import { type PairedInterval, pairedBootstraps } from './bootstrap.js';
import { checkTestUsers } from './fitted-to-test.js';
import {
  type GivenLists,
  type GivenRecommendations,
  givenLists,
  type MadeLists,
  modelLists,
  popularityLists,
} from './make-lists.js';
import { type SplitTables, type TableTask, tableTask } from './table-task.js';

const GIVEN = {
  /** A model fitted to the training part. */
  model: value<Model>('object', 'a model fitted to the training part'),
  /** Lists made elsewhere. */
  recommendations: value<GivenRecommendations>('object', 'lists made elsewhere'),
  /** Models and lists to compare with, each with a name. The model or the lists above are compared with each of them. */
  rivals: value<readonly Rival[]>('object', 'models and lists to compare with, each with a name'),
};

/** A model or lists to compare with. */
export interface Rival {
  readonly name: string;
  readonly model?: Model | undefined;
  readonly recommendations?: GivenRecommendations | undefined;
}

/** What is evaluated, and by which metrics; declared in options/commands/evaluate.ts. */
export interface EvaluateTablesOptions
  extends OptionsOf<typeof EVALUATE_TABLES & typeof GIVEN>,
    TaskOptions {}

const LIST_SOURCES = ['popularity', 'model', 'recommendations'] as const;
/** The source of ranked lists: popularity, a model, or a given table. */
export type ListSource = (typeof LIST_SOURCES)[number];

/** A row of the leaderboard: one method and its scores. */
export interface ListScoreRow {
  readonly source: ListSource;
  /** The name of a rival; otherwise the source. */
  readonly name: string;
  /** Number of users with a history and without a list, whose metrics are all 0. */
  readonly missing: number;
  /** For each length of the list, in the order of `n`. */
  readonly scores: readonly ListScores[];
}

/** The difference of two methods in one metric. */
export interface ListComparison {
  readonly source: ListSource;
  readonly against: ListSource;
  /** The name of the other row. */
  readonly name: string;
  readonly metric: UserListMetric;
  readonly n: number;
  readonly interval: PairedInterval;
}

/** The result of `evaluateTables`: the leaderboard and the comparisons. */
export interface TablesEvaluation {
  readonly n: readonly number[];
  readonly metrics: readonly ListMetricName[];
  /** Number of evaluated users, and of candidates. */
  readonly users: number;
  readonly candidates: number;
  readonly left: TableTask['left'];
  /** Per evaluated user, 1 if the user has a history. */
  readonly hasHistory: Uint8Array;
  readonly leaderboard: readonly ListScoreRow[];
  /** Compares the last row of the leaderboard with each of the others, user by user. */
  readonly comparisons: readonly ListComparison[];
  /** The same over the users who have a list in the last row; empty if all users have one. */
  readonly comparisonsOfListed: readonly ListComparison[];
  /** Notes on the given lists. */
  readonly given: Omit<GivenLists, 'lists' | 'missing'> | undefined;
  /** Notes on the lists of each rival, by name. */
  readonly givenByRival: Readonly<Record<string, Omit<GivenLists, 'lists' | 'missing'>>>;
  /** False if the model was not fitted to this training part. */
  readonly fittedToTrain: boolean | undefined;
  /** The names of rivals that are models fitted to other data than this training part. */
  readonly rivalsOfOtherData: readonly string[];
}

/**
 * Evaluates popularity, a model and given lists on a train/test pair. It fits nothing.
 * @example
 * import { evaluateTables, simulate, split } from 'graphex';
 * const { graph } = await simulate({ features: 4, users: { size: 30 }, items: { size: 30 }, seed: 1 });
 * const { train, test } = split(graph, { method: 'edges', testUsers: 0.2, seed: 1 });
 * const { leaderboard } = await evaluateTables({ train, test }, { n: [5, 10], metrics: ['recall'] });
 * console.log(leaderboard[0].source, leaderboard[0].scores[0].mean.recall);
 */
export async function evaluateTables(
  parts: SplitTables,
  options: EvaluateTablesOptions = {},
): Promise<TablesEvaluation> {
  const settings = withDefaults({ ...EVALUATE_TABLES, ...GIVEN, ...TASK }, options);
  const { metrics, n: asked, seed, model, recommendations, rivals = [] } = settings;
  const lengths = [...new Set([asked].flat())];
  if (lengths.length === 0 || metrics.length === 0) {
    throw new InputError(`${lengths.length === 0 ? 'n' : 'metrics'}: the list is empty; give at least one`);
  }
  const longest = Math.max(...lengths);
  const task = tableTask(parts);
  for (const { model: given } of [{ model }, ...rivals]) if (given) checkTestUsers(given, parts, task);
  const lists: Lists[] = [];
  const leaderboard: ListScoreRow[] = [];
  const add = (source: ListSource, name: string, made: MadeLists) => {
    lists.push(made.lists);
    const scores = lengths.map((n) => scoreLists(made.lists, task, n, metrics));
    leaderboard.push({ source, name, missing: made.missing, scores });
  };
  /** Adds the rows of a model and of given lists; returns the notes on the lists. */
  const addBoth = async (rival: Omit<Rival, 'name'>, name?: string) => {
    if (rival.model) add('model', name ?? 'model', await modelLists(rival.model, task, longest, options));
    if (!rival.recommendations) return undefined;
    const { otherUsers, seenPairs, unknownPairs, shortLists, ...made } = givenLists(
      rival.recommendations,
      task,
      longest,
    );
    add('recommendations', name ?? 'recommendations', made);
    return { otherUsers, seenPairs, unknownPairs, shortLists };
  };
  add('popularity', 'popularity', popularityLists(task, longest));
  const givenByRival: Record<string, Omit<GivenLists, 'lists' | 'missing'>> = {};
  for (const rival of rivals) {
    const notes = await addBoth(rival, rival.name);
    if (notes) givenByRival[rival.name] = notes;
  }
  const given = await addBoth({ model, recommendations });
  const last = leaderboard[leaderboard.length - 1];
  const compared = leaderboard
    .slice(0, -1)
    .flatMap((other) =>
      metrics.filter(isUserMetric).flatMap((metric) => lengths.map((n, at) => ({ other, metric, n, at }))),
    );
  const compare = (select: (perUser: Float64Array) => Float64Array): ListComparison[] => {
    const pairs = compared.map(({ other, metric, at }) => ({
      a: select(last.scores[at].perUser[metric]!),
      b: select(other.scores[at].perUser[metric]!),
    }));
    const intervals = pairedBootstraps(pairs, { seed });
    return compared.map(({ other, metric, n }, i) => ({
      source: last.source,
      against: other.source,
      name: other.name,
      metric,
      n,
      interval: intervals[i],
    }));
  };
  const comparisons = compare((perUser) => perUser);
  const listsOfLast = lists[lists.length - 1];
  const comparisonsOfListed =
    last.missing === 0 || last.missing === task.users.length
      ? []
      : compare((perUser) => perUser.filter((_, u) => listsOfLast[u].length > 0));
  const trained = fingerprint(parts.train);
  return Object.freeze({
    n: lengths,
    metrics,
    users: task.users.length,
    candidates: task.candidates,
    left: task.left,
    hasHistory: Uint8Array.from(task.history, (own) => (own.length > 0 ? 1 : 0)),
    leaderboard,
    comparisons,
    comparisonsOfListed,
    given,
    givenByRival,
    fittedToTrain: model && model.provenance.fingerprint === trained,
    rivalsOfOtherData: rivals
      .filter((rival) => rival.model && rival.model.provenance.fingerprint !== trained)
      .map(({ name }) => name),
  });
}
