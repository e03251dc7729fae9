// Any train/test pair, anybody's lists: one leaderboard over the same users, the same candidates and the same exclusions.

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
  /** A model fitted to the training part. */
  model: value<Model>('object', 'a model fitted to the training part'),
  /** Lists made elsewhere. */
  recommendations: value<GivenRecommendations>('object', 'lists made elsewhere'),
};

/** What is judged, and by what; declared in options/commands/evaluate.ts. */
export interface EvaluateTablesOptions
  extends OptionsOf<typeof EVALUATE_TABLES & typeof GIVEN>,
    TaskOptions {}

export const LIST_SOURCES = ['popularity', 'model', 'recommendations'] as const;
/** Where ranked lists come from: a model, a baseline, or given ones. */
export type ListSource = (typeof LIST_SOURCES)[number];

/** One method and its scores, a row of the leaderboard. */
export interface ListScoreRow {
  readonly source: ListSource;
  /** Users without a list: every one of their metrics is 0. */
  readonly missing: number;
  /** By the length of the list, in the order asked for. */
  readonly scores: readonly ListScores[];
}

/** How far two methods are apart, metric by metric. */
export interface ListComparison {
  readonly source: ListSource;
  readonly against: ListSource;
  readonly metric: UserListMetric;
  readonly n: number;
  readonly interval: PairedInterval;
}

/** What `evaluateParts` found: the leaderboard and the comparisons. */
export interface TablesEvaluation {
  readonly n: readonly number[];
  readonly metrics: readonly ListMetricName[];
  /** Users who are asked, and candidates. */
  readonly users: number;
  readonly candidates: number;
  readonly left: TableTask['left'];
  readonly leaderboard: readonly ListScoreRow[];
  /** The last row of the leaderboard against each of the others, user by user. */
  readonly comparisons: readonly ListComparison[];
  /** The same among those users alone who have a list in the last row; empty where all have one. */
  readonly comparisonsOfListed: readonly ListComparison[];
  /** What was found in the lists made elsewhere. */
  readonly given: Omit<GivenLists, 'lists' | 'missing'> | undefined;
  /** False: the model was fitted to something else than this training part. */
  readonly fittedToTrain: boolean | undefined;
}

/** Judges popularity, a model and lists made elsewhere on a train/test pair. Nothing is fitted. */
export async function evaluateTables(
  parts: SplitTables,
  options: EvaluateTablesOptions = {},
): Promise<TablesEvaluation> {
  const settings = withDefaults({ ...EVALUATE_TABLES, ...GIVEN, ...TASK }, options);
  const { metrics, n: asked, seed, model, recommendations } = settings;
  const lengths = [...new Set([asked].flat())];
  if (lengths.length === 0 || metrics.length === 0) {
    throw new InputError(
      `${lengths.length === 0 ? 'n' : 'metrics'}: nothing is asked for; give at least one`,
    );
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
  const compare = (whom: (perUser: Float64Array) => Float64Array): ListComparison[] =>
    leaderboard.slice(0, -1).flatMap((other) =>
      metrics.filter(isUserMetric).flatMap((metric) =>
        lengths.map((n, at) => ({
          source: last.source,
          against: other.source,
          metric,
          n,
          interval: pairedBootstrap(
            whom(last.scores[at].perUser[metric]!),
            whom(other.scores[at].perUser[metric]!),
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
