// The recommendation leaderboard of a study: every method is evaluated on the same users and candidates and compared
// with the best one.

import type { BaselineName } from '../evaluate/baselines/all-baselines.js';
import type { Setting, SkipReason } from '../evaluate/baselines/baseline.js';
import type { BaselineReport } from '../evaluate/baselines/run-baselines.js';
import { type PairedInterval, pairedBootstraps } from '../evaluate/bootstrap.js';
import { mean } from '../math/moments.js';
import {
  type RankingResult,
  type RankingScores,
  USER_METRICS,
  type UserMetric,
} from '../metrics/ranking-metrics.js';
import type { ModelKind } from './options.js';
import { fitId } from './results.js';

/** What is compared: the two metrics of the paper, with and without popular items. */
export const LEADERBOARD_METRICS = ['recall', 'ndcg', 'recallUnpopular', 'ndcgUnpopular'] as const;
/** The metrics that a study's leaderboard shows. */
export type LeaderboardMetric = (typeof LEADERBOARD_METRICS)[number];

/** A figure with its standard error over users. */
export interface Figure {
  readonly mean: number;
  readonly standardError: number;
}

/** The scores of one method over a set of items. */
export interface LeaderboardScores extends Readonly<Record<UserMetric, Figure>> {
  readonly users: number;
  readonly candidates: number;
  readonly coverage: number;
}

/** One method of a study and its scores. */
export interface LeaderboardRow {
  /** 'sparse-30', 'ease', 'ceiling-fold-in'. */
  readonly id: string;
  /** `model`: fitted to explain; `ranker`: ours, fitted to rank; `lists`: made elsewhere. */
  readonly kind: 'model' | 'ranker' | 'baseline' | 'lists' | 'ceiling';
  readonly model: ModelKind | null;
  /** Models with the same fit, and so the same lists. */
  readonly also: readonly ModelKind[];
  readonly features: number | null;
  /** What tuning chose, for a baseline. */
  readonly setting: Setting | null;
  /** Settings tried on held-back training users. */
  readonly trials: number;
  /** False if the limit of trials ended the search. */
  readonly tuned: boolean;
  readonly all: LeaderboardScores;
  readonly unpopular: LeaderboardScores | null;
}

/** How far a row lies from another, on the same users; undefined metrics are absent. */
export interface Comparison {
  readonly metric: LeaderboardMetric;
  readonly row: string;
  readonly to: string;
  readonly difference: number;
  readonly low: number;
  readonly high: number;
  readonly level: number;
}

/** The methods of a study by how well they rank, and how far they are apart. */
export interface Leaderboard {
  readonly n: number;
  readonly depth: number;
  readonly rows: readonly LeaderboardRow[];
  /** The best row of each metric that is no ceiling and was not made elsewhere. */
  readonly best: Readonly<Partial<Record<LeaderboardMetric, string>>>;
  /** Every row against the best of the metric, and the models of the same K with each other. */
  readonly comparisons: readonly Comparison[];
  /** Rows that follow one another by recall, ceilings aside: the better one against the next, in recall and nDCG. */
  readonly neighbours: readonly Comparison[];
  /** Test users without a history, who get popular items from every method; null if there are none. */
  readonly withoutHistory: LeaderboardScores | null;
  /** Baselines that were not fitted, and why. */
  readonly skipped: readonly { readonly name: BaselineName | 'all'; readonly reason: SkipReason }[];
  /** Test users without a history, and edges to items not in training. */
  readonly left: { readonly usersWithoutHistory: number; readonly edgesToUnseenItems: number };
}

export interface RankedMethod extends Omit<LeaderboardRow, 'all' | 'unpopular'> {
  readonly ranking: RankingResult;
}

export function rankedBaselines(report: BaselineReport): RankedMethod[] {
  return report.results.map(({ name, setting, trials, tuned, ranking }) => ({
    id: name,
    kind: 'baseline',
    model: null,
    also: [],
    features: null,
    setting,
    trials: trials.length,
    tuned,
    ranking,
  }));
}

export function buildLeaderboard(
  methods: readonly RankedMethod[],
  seed: number,
  {
    withoutHistory,
    ...about
  }: Pick<Leaderboard, 'skipped' | 'left'> & { readonly withoutHistory: RankingResult | undefined },
): Leaderboard {
  const { n, depth } = methods[0].ranking;
  const best: Partial<Record<LeaderboardMetric, string>> = {};
  const comparisons: Comparison[] = [];
  for (const metric of LEADERBOARD_METRICS) {
    const entries = methods.flatMap((c) => {
      const values = perUser(c.ranking, metric);
      return values ? [{ c, values, mean: mean(values) }] : [];
    });
    const rivals = entries.filter(({ c }) => c.kind !== 'ceiling' && c.kind !== 'lists');
    if (rivals.length === 0) continue;
    const first = rivals.reduce((a, b) => (b.mean > a.mean ? b : a));
    best[metric] = first.c.id;
    const pairs = entries.filter((entry) => entry !== first).map((entry) => [entry, first] as const);
    const models = rivals.filter(({ c }) => c.model !== null);
    for (const [at, one] of models.entries()) {
      for (const other of models.slice(at + 1)) {
        const done = one === first || other === first;
        if (!done && other.c.features === one.c.features) pairs.push([one, other]);
      }
    }
    if (pairs.length === 0) continue;
    const intervals = pairedBootstraps(
      pairs.map(([a, b]) => ({ a: a.values, b: b.values })),
      { seed },
    );
    for (const [at, [a, b]] of pairs.entries()) {
      comparisons.push({ metric, row: a.c.id, to: b.c.id, ...shortened(intervals[at]) });
    }
  }
  return {
    n,
    depth,
    rows: methods.map(({ ranking, ...row }) => ({
      ...row,
      all: scoresOf(ranking.all),
      unpopular: ranking.unpopular ? scoresOf(ranking.unpopular) : null,
    })),
    best,
    comparisons,
    neighbours: compareNeighbours(methods, seed),
    withoutHistory: withoutHistory ? scoresOf(withoutHistory.all) : null,
    ...about,
  };
}

/** The rows by recall, ceilings aside, each against the next. */
function compareNeighbours(methods: readonly RankedMethod[], seed: number): Comparison[] {
  const order = methods
    .filter(({ kind }) => kind !== 'ceiling')
    .sort((a, b) => b.ranking.all.mean.recall - a.ranking.all.mean.recall);
  const metrics = ['recall', 'ndcg'] as const;
  const pairs = order
    .slice(1)
    .flatMap((next, at) => metrics.map((metric) => ({ metric, one: order[at], next })));
  if (pairs.length === 0) return [];
  const intervals = pairedBootstraps(
    pairs.map(({ metric, one, next }) => ({
      a: one.ranking.all.perUser[metric],
      b: next.ranking.all.perUser[metric],
    })),
    { seed },
  );
  return pairs.map(({ metric, one, next }, at) => ({
    metric,
    ...{ row: one.id, to: next.id },
    ...shortened(intervals[at]),
  }));
}

/** The ids of a row: its own, and those of models with the same fit. */
export function rowIds({ id, also, features }: LeaderboardRow): string[] {
  return [id, ...also.map((kind) => fitId(kind, features!))];
}

/** The rows from best to worst by recall. */
export function byRecall({ rows }: Leaderboard): LeaderboardRow[] {
  return [...rows].sort((a, b) => b.all.recall.mean - a.all.recall.mean);
}

/** A figure of a row, or undefined if no user has an unpopular test item. */
export function leaderboardFigure(row: LeaderboardRow, metric: LeaderboardMetric): Figure | undefined {
  const name = metric.startsWith('recall') ? 'recall' : 'ndcg';
  return (metric.endsWith('Unpopular') ? row.unpopular : row.all)?.[name];
}

function perUser(ranking: RankingResult, metric: LeaderboardMetric): Float64Array | undefined {
  const scores = metric.endsWith('Unpopular') ? ranking.unpopular : ranking.all;
  return scores?.perUser[metric.startsWith('recall') ? 'recall' : 'ndcg'];
}

function scoresOf({ users, candidates, coverage, mean, standardError }: RankingScores): LeaderboardScores {
  const figures = Object.fromEntries(
    USER_METRICS.map((name) => [name, { mean: mean[name], standardError: standardError[name] }]),
  ) as Record<UserMetric, Figure>;
  return { users, candidates, ...figures, coverage };
}

function shortened({ difference, low, high, level }: PairedInterval) {
  return { difference, low, high, level };
}
