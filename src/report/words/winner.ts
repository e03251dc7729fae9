// Which method ranks best: decided here alone, so that the headline and the advice name the same one.

import {
  type Comparison,
  type Leaderboard,
  type LeaderboardMetric,
  type LeaderboardRow,
  leaderboardFigure,
} from '../../study/leaderboard.js';
import type { StudyResults } from '../../study/results.js';

/** One metric's duel: the best of ours against the best baseline, and whether the difference is more than chance. */
export interface Duel {
  readonly metric: LeaderboardMetric;
  readonly ours: LeaderboardRow;
  readonly baseline: LeaderboardRow;
  readonly winner: 'model' | 'baseline' | 'tie';
  /** How far the second lies behind the first. */
  readonly gap: Comparison;
}

/** Undefined where there is no baseline, or nobody had a test item that the metric counts. */
export function duel(leaderboard: Leaderboard, metric: LeaderboardMetric): Duel | undefined {
  const ours = bestOf(leaderboard, metric, ['model', 'ranker'])!;
  const baseline = bestOf(leaderboard, metric, ['baseline']);
  if (!baseline) return undefined;
  const [first, second] = leaderboard.best[metric] === baseline.id ? [baseline, ours] : [ours, baseline];
  const gap = leaderboard.comparisons.find(
    (c) => c.metric === metric && c.row === second.id && c.to === first.id,
  );
  if (!gap) return undefined;
  const winner = gap.high >= 0 ? 'tie' : first === baseline ? 'baseline' : 'model';
  return { metric, ours, baseline, winner, gap };
}

function bestOf(
  leaderboard: Leaderboard,
  metric: LeaderboardMetric,
  kinds: readonly LeaderboardRow['kind'][],
) {
  const value = (row: LeaderboardRow) => leaderboardFigure(row, metric)?.mean ?? 0;
  return leaderboard.rows
    .filter((row) => kinds.includes(row.kind))
    .reduce<LeaderboardRow | undefined>((a, b) => (a && value(a) >= value(b) ? a : b), undefined);
}

type MainMetric = 'recall' | 'ndcg';
const MAIN_METRICS: readonly MainMetric[] = ['recall', 'ndcg'];

/** Who comes first by one metric or by both; nobody where ours and the baselines tie by the metric that does not decide. */
export interface Place {
  readonly metrics: readonly MainMetric[];
  /** The best, and those of ours that may be as good; where nothing decides, one of ours and a baseline. */
  readonly first: readonly LeaderboardRow[];
}

/** Which method ranks best, and what to recommend with. */
export interface RankingDecision {
  readonly winner: 'model' | 'baseline' | 'tie';
  /** One place where both metrics say the same, else one for each, the one that decides first. */
  readonly places: readonly Place[];
  /** One of those that the places name. A model that was fitted to explain only where nothing made for ranking does as well. */
  readonly advised: LeaderboardRow;
  /** The duels behind it; null without baselines. */
  readonly duels: Readonly<Record<MainMetric, Duel>> | null;
}

/** What the first run's leaderboard says. A tie and a win make a win; a win each for ours and a baseline, a tie. */
export function decideRanking({ runs, chosen }: StudyResults): RankingDecision {
  const { leaderboard } = runs[0];
  const recall = duel(leaderboard, 'recall');
  const ndcg = duel(leaderboard, 'ndcg');
  const duels = recall && ndcg ? { recall, ndcg } : null;
  const winners = MAIN_METRICS.map((metric) => duels?.[metric].winner ?? 'model');
  const placed = (winner: Duel['winner'], metric: MainMetric): Place => ({
    metrics: [metric],
    first: winner === 'tie' ? [] : leaders(leaderboard, metric, winner, chosen.features),
  });
  const [byRecall, byNdcg] = [placed(winners[0], 'recall'), placed(winners[1], 'ndcg')];
  if (winners[0] !== winners[1]) {
    const places = winners[0] === 'tie' ? [byNdcg, byRecall] : [byRecall, byNdcg];
    const decided = winners.filter((winner) => winner !== 'tie');
    if (decided.length > 1) {
      const named = places.flatMap(({ first }) => first);
      return { winner: 'tie', places, advised: madeForRanking(named), duels };
    }
    const [{ first }] = places;
    return { winner: decided[0], places, advised: evenOf(leaderboard, first) ?? first[0], duels };
  }
  const [winner] = winners;
  if (winner === 'tie' && duels) {
    const places = evenPlaces(leaderboard, duels, chosen.features);
    const named = places.flatMap((place) => place.first);
    return { winner, places, advised: evenOf(leaderboard, named) ?? madeForRanking(named), duels };
  }
  // First by one metric and, but for chance, by the other.
  const both = byRecall.first.filter((row) => byNdcg.first.includes(row));
  const tops = [byRecall.first[0], byNdcg.first[0]];
  if (tops.some((row) => both.includes(row))) {
    const first = [...both].sort((a, b) => Number(tops.includes(b)) - Number(tops.includes(a)));
    return { winner, places: [{ metrics: MAIN_METRICS, first }], advised: madeForRanking(first), duels };
  }
  const places = [byRecall, byNdcg].map((place) => ({ ...place, first: [place.first[0], ...both] }));
  const advised = evenOf(leaderboard, [...both, ...tops]) ?? madeForRanking(tops);
  return { winner, places, advised, duels };
}

/** The best by a metric; of ours with those that may be as good, of baselines alone. */
function leaders(
  leaderboard: Leaderboard,
  metric: MainMetric,
  winner: 'model' | 'baseline',
  features: number,
): LeaderboardRow[] {
  if (winner === 'baseline') return [bestOf(leaderboard, metric, ['baseline'])!];
  const best = bestOf(leaderboard, metric, ['model', 'ranker'])!;
  const others = leaderboard.rows.filter(
    (row) => row !== best && isOurs(row, features) && isAsGood(leaderboard, row, metric),
  );
  return [best, ...others];
}

/** The fit for ranking, or a model with the chosen number of features. */
function isOurs(row: LeaderboardRow, features: number): boolean {
  return row.kind === 'ranker' || (row.kind === 'model' && row.features === features);
}

/** Whether a row is the best by a metric, or behind it by no more than chance. */
export function isAsGood(
  { best, comparisons }: Leaderboard,
  { id }: LeaderboardRow,
  metric: MainMetric,
): boolean {
  if (id === best[metric]) return true;
  const gap = comparisons.find((c) => c.metric === metric && c.row === id && c.to === best[metric]);
  return gap !== undefined && gap.high >= 0;
}

function isEven(leaderboard: Leaderboard, row: LeaderboardRow): boolean {
  return MAIN_METRICS.every((metric) => isAsGood(leaderboard, row, metric));
}

/**
 * Where ours and the baselines tie: one of each that is as good as any by both metrics, and our fit for ranking if it is;
 * where ours or the baselines have none such, the best by each metric.
 */
function evenPlaces(
  leaderboard: Leaderboard,
  duels: Readonly<Record<MainMetric, Duel>>,
  features: number,
): readonly Place[] {
  const even = leaderboard.rows.filter((row) => isEven(leaderboard, row));
  const { recall, ndcg } = duels;
  const ours =
    [recall.ours, ndcg.ours].find((row) => even.includes(row)) ?? even.find((row) => isOurs(row, features));
  const baseline =
    [recall.baseline, ndcg.baseline].find((row) => even.includes(row)) ??
    even.find(({ kind }) => kind === 'baseline');
  const place = (metrics: readonly MainMetric[], one: LeaderboardRow, other: LeaderboardRow): Place => {
    const rankers = leaderboard.rows.filter(
      (row) => row.kind === 'ranker' && metrics.every((metric) => isAsGood(leaderboard, row, metric)),
    );
    return { metrics, first: [...new Set([one, ...rankers, other])] };
  };
  if (ours && baseline) return [place(MAIN_METRICS, ours, baseline)];
  return MAIN_METRICS.map((metric) =>
    place([metric], ours ?? duels[metric].ours, baseline ?? duels[metric].baseline),
  );
}

/** Of some rows one that is as good as any by both metrics, if there is one: made for ranking, else the first. */
function evenOf(leaderboard: Leaderboard, rows: readonly LeaderboardRow[]): LeaderboardRow | undefined {
  const even = rows.filter((row) => isEven(leaderboard, row));
  return even.length > 0 ? madeForRanking(even) : undefined;
}

/** Our fit for ranking, else a baseline, else what comes first. */
function madeForRanking(rows: readonly LeaderboardRow[]): LeaderboardRow {
  return (
    rows.find(({ kind }) => kind === 'ranker') ?? rows.find(({ kind }) => kind === 'baseline') ?? rows[0]
  );
}
