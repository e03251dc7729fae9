// Evaluates lists from any source on any train/test pair. All rows of the leaderboard have the same users, candidates and exclusions.

import { InputError } from '../errors.js';
import type { Model } from '../fit/model.js';
import { fingerprint } from '../graph/fingerprint.js';
import { isUserMetric } from '../metrics/definitions.js';
import {
  type ListMetricName,
  type ListScores,
  scoreLists,
  type UserListMetric,
} from '../metrics/list-metrics.js';
import { withDefaults } from '../options/check-options.js';
import { EVALUATE_TABLES } from '../options/commands/evaluate.js';
import { type OptionsOf, value } from '../options/declare.js';
import { TASK } from '../options/shared.js';
import type { TaskOptions } from '../progress.js';
import { type PairedInterval, pairedBootstrap } from './bootstrap.js';
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
  model: value<Model>('object', 'a model fitted to the training part'),
  recommendations: value<GivenRecommendations>('object', 'lists made elsewhere'),
};

/** What is evaluated, and by which metrics; declared in options/commands/evaluate.ts. */
export interface EvaluateTablesOptions
  extends OptionsOf<typeof EVALUATE_TABLES & typeof GIVEN>,
    TaskOptions {}

export const LIST_SOURCES = ['popularity', 'model', 'recommendations'] as const;
/** The source of ranked lists: popularity, a model, or a given table. */
export type ListSource = (typeof LIST_SOURCES)[number];

/** A row of the leaderboard: one method and its scores. */
export interface ListScoreRow {
  readonly source: ListSource;
  /** Number of users without a list, whose metrics are all 0. */
  readonly missing: number;
  /** For each length of the list, in the order of `n`. */
  readonly scores: readonly ListScores[];
}

/** The difference of two methods in one metric. */
export interface ListComparison {
  readonly source: ListSource;
  readonly against: ListSource;
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
  readonly leaderboard: readonly ListScoreRow[];
  /** Compares the last row of the leaderboard with each of the others, user by user. */
  readonly comparisons: readonly ListComparison[];
  /** The same over the users who have a list in the last row; empty if all users have one. */
  readonly comparisonsOfListed: readonly ListComparison[];
  /** Notes on the given lists. */
  readonly given: Omit<GivenLists, 'lists' | 'missing'> | undefined;
  /** False if the model was not fitted to this training part. */
  readonly fittedToTrain: boolean | undefined;
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
  const { metrics, n: asked, seed, model, recommendations } = settings;
  const lengths = [...new Set([asked].flat())];
  if (lengths.length === 0 || metrics.length === 0) {
    throw new InputError(`${lengths.length === 0 ? 'n' : 'metrics'}: the list is empty; give at least one`);
  }
  const longest = Math.max(...lengths);
  const task = tableTask(parts);
  const made: [ListSource, MadeLists][] = [['popularity', popularityLists(task, longest)]];
  if (model) made.push(['model', await modelLists(model, task, longest, options)]);
  const found = recommendations && givenLists(recommendations, task, longest);
  if (found) made.push(['recommendations', found]);
  const leaderboard = made.map(
    ([source, { lists, missing }]): ListScoreRow => ({
      source,
      missing,
      scores: lengths.map((n) => scoreLists(lists, task, n, metrics)),
    }),
  );
  const last = leaderboard[leaderboard.length - 1];
  const compare = (select: (perUser: Float64Array) => Float64Array): ListComparison[] =>
    leaderboard.slice(0, -1).flatMap((other) =>
      metrics.filter(isUserMetric).flatMap((metric) =>
        lengths.map((n, at) => ({
          source: last.source,
          against: other.source,
          metric,
          n,
          interval: pairedBootstrap(
            select(last.scores[at].perUser[metric]!),
            select(other.scores[at].perUser[metric]!),
            { seed },
          ),
        })),
      ),
    );
  const comparisons = compare((perUser) => perUser);
  const { lists, missing } = made[made.length - 1][1];
  const comparisonsOfListed =
    missing === 0 || missing === task.users.length
      ? []
      : compare((perUser) => perUser.filter((_, u) => lists[u].length > 0));
  const given = found && {
    otherUsers: found.otherUsers,
    seenPairs: found.seenPairs,
    unknownPairs: found.unknownPairs,
    shortLists: found.shortLists,
  };
  return Object.freeze({
    n: lengths,
    metrics,
    users: task.users.length,
    candidates: task.candidates,
    left: task.left,
    leaderboard,
    comparisons,
    comparisonsOfListed,
    given,
    fittedToTrain: model && model.provenance.fingerprint === fingerprint(parts.train),
  });
}
