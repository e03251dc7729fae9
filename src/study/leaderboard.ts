// The recommendation leaderboard of a study: every method is evaluated on the same users and candidates and compared
// with the best one.

import type { SkipReason } from '../evaluate/baselines/baseline.js';
import type { BaselineReport } from '../evaluate/baselines/run-baselines.js';
import { pairedBootstraps } from '../evaluate/bootstrap.js';
import { mean } from '../math/moments.js';
import {
  byMetric,
  type RankingResult,
  type RankingScores,
  type UserMetric,
} from '../metrics/ranking-metrics.js';
import type { Setting } from '../metrics/setting-search.js';
import type { BaselineName } from '../options/names.js';
import type { ModelKind } from './options.js';
import { fitId } from './results.js';

/** What is compared: the two metrics of the paper, with and without popular items. */
export const LEADERBOARD_METRICS = ['recall', 'ndcg', 'recallUnpopular', 'ndcgUnpopular'] as const;
export const MAIN_METRICS = ['recall', 'ndcg'] as const;
/** The metrics that a study's leaderboard shows. */
export type LeaderboardMetric = (typeof LEADERBOARD_METRICS)[number];

/** Where the figures of a metric are. */
const PLACES = {
  recall: { items: 'all', figure: 'recall' },
  ndcg: { items: 'all', figure: 'ndcg' },
  recallUnpopular: { items: 'unpopular', figure: 'recall' },
  ndcgUnpopular: { items: 'unpopular', figure: 'ndcg' },
} as const;

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

/** What a row has that is neither a model nor tuned. */
export const PLAIN_ROW = { model: null, also: [], features: null, setting: null, trials: 0, tuned: true };

export function rankedBaselines(report: BaselineReport): RankedMethod[] {
  return report.results.map(({ name, setting, trials, tuned, ranking }) => ({
    id: name,
    kind: 'baseline',
    ...PLAIN_ROW,
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
    const measured = methods.filter(({ ranking }) => perUser(ranking, metric));
    const rivals = measured.filter(({ kind }) => kind !== 'ceiling' && kind !== 'lists');
    if (rivals.length === 0) continue;
    const value = ({ ranking }: RankedMethod) => mean(perUser(ranking, metric)!);
    const first = rivals.reduce((a, b) => (value(b) > value(a) ? b : a));
    best[metric] = first.id;
    const pairs = measured.filter((row) => row !== first).map((row) => ({ metric, row, to: first }));
    const models = rivals.filter((row) => row.model !== null && row !== first);
    for (const [at, row] of models.entries()) {
      for (const to of models.slice(at + 1)) {
        if (to.features === row.features) pairs.push({ metric, row, to });
      }
    }
    comparisons.push(...compared(pairs, seed));
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
  const pairs = order
    .slice(1)
    .flatMap((to, at) => MAIN_METRICS.map((metric) => ({ metric, row: order[at], to })));
  return compared(pairs, seed);
}

/** Pairs of methods with paired intervals; all are over the same users. */
function compared(
  pairs: readonly {
    readonly metric: LeaderboardMetric;
    readonly row: RankedMethod;
    readonly to: RankedMethod;
  }[],
  seed: number,
): Comparison[] {
  const intervals = pairedBootstraps(
    pairs.map(({ metric, row, to }) => ({
      a: perUser(row.ranking, metric)!,
      b: perUser(to.ranking, metric)!,
    })),
    { seed },
  );
  return pairs.map(({ metric, row, to }, at) => {
    const { difference, low, high, level } = intervals[at];
    return { metric, row: row.id, to: to.id, difference, low, high, level };
  });
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
  const { items, figure } = PLACES[metric];
  return row[items]?.[figure];
}

function perUser(ranking: RankingResult, metric: LeaderboardMetric): Float64Array | undefined {
  const { items, figure } = PLACES[metric];
  return ranking[items]?.perUser[figure];
}

/** How a row compares with the best by a metric; undefined if it is the best, or has no such figure. */
export function gapToBest(
  { comparisons, best }: Leaderboard,
  metric: LeaderboardMetric,
  row: string,
): Comparison | undefined {
  return comparisons.find((c) => c.metric === metric && c.row === row && c.to === best[metric]);
}

function scoresOf({ users, candidates, coverage, mean, standardError }: RankingScores): LeaderboardScores {
  const figures = byMetric((name): Figure => ({ mean: mean[name], standardError: standardError[name] }));
  return { users, candidates, ...figures, coverage };
}
