// Which method ranks best: decided here alone, so that the headline and the advice name the same one.

import {
  type Comparison,
  type Ladder,
  type LadderMetric,
  type LadderRow,
  ladderFigure,
} from '../../study/ladder.js';
import type { StudyResults } from '../../study/results.js';

/** One metric's duel: the best of ours against the best baseline, and whether the difference is more than chance. */
export interface Duel {
  readonly metric: LadderMetric;
  readonly ours: LadderRow;
  readonly baseline: LadderRow;
  readonly winner: 'model' | 'baseline' | 'tie';
  /** How far the second lies behind the first. */
  readonly gap: Comparison;
}

/** Undefined where there is no baseline, or nobody had a test item that the metric counts. */
export function duel(ladder: Ladder, metric: LadderMetric): Duel | undefined {
  const ours = bestOf(ladder, metric, ['model', 'ranker'])!;
  const baseline = bestOf(ladder, metric, ['baseline']);
  if (!baseline) return undefined;
  const [first, second] = ladder.best[metric] === baseline.id ? [baseline, ours] : [ours, baseline];
  const gap = ladder.comparisons.find((c) => c.metric === metric && c.row === second.id && c.to === first.id);
  if (!gap) return undefined;
  const winner = gap.high >= 0 ? 'tie' : first === baseline ? 'baseline' : 'model';
  return { metric, ours, baseline, winner, gap };
}

function bestOf(ladder: Ladder, metric: LadderMetric, kinds: readonly LadderRow['kind'][]) {
  const value = (row: LadderRow) => ladderFigure(row, metric)?.mean ?? 0;
  return ladder.rows
    .filter((row) => kinds.includes(row.kind))
    .reduce<LadderRow | undefined>((a, b) => (a && value(a) >= value(b) ? a : b), undefined);
}

type MainMetric = 'recall' | 'ndcg';
const MAIN_METRICS: readonly MainMetric[] = ['recall', 'ndcg'];

/** Who comes first by one metric or by both; nobody where ours and the baselines tie. */
export interface Place {
  readonly metrics: readonly MainMetric[];
  /** The best, and those of ours that may be as good. */
  readonly first: readonly LadderRow[];
}

/** Which method ranks best, and what to recommend with. */
export interface RankingDecision {
  readonly winner: 'model' | 'baseline' | 'tie';
  /** One place where both metrics say the same, else one for each, the one that decides first. */
  readonly places: readonly Place[];
  /** One of those that the places name. A model that was fitted to explain only where nothing made for ranking does as well. */
  readonly advised: LadderRow;
  /** The duels behind it; null without baselines. */
  readonly duels: Readonly<Record<MainMetric, Duel>> | null;
}

/** What the first run's ladder says. A tie and a win make a win; a win each for ours and a baseline, a tie. */
export function decideRanking({ runs, chosen }: StudyResults): RankingDecision {
  const { ladder } = runs[0];
  const recall = duel(ladder, 'recall');
  const ndcg = duel(ladder, 'ndcg');
  const duels = recall && ndcg ? { recall, ndcg } : null;
  const winners = MAIN_METRICS.map((metric) => duels?.[metric].winner ?? 'model');
  const placed = (winner: Duel['winner'], metric: MainMetric): Place => ({
    metrics: [metric],
    first: winner === 'tie' ? [] : leaders(ladder, metric, winner, chosen.features),
  });
  const [byRecall, byNdcg] = [placed(winners[0], 'recall'), placed(winners[1], 'ndcg')];
  if (winners[0] !== winners[1]) {
    const places = winners[0] === 'tie' ? [byNdcg, byRecall] : [byRecall, byNdcg];
    const decided = winners.filter((winner) => winner !== 'tie');
    if (decided.length > 1) {
      const named = places.flatMap(({ first }) => first);
      return { winner: 'tie', places, advised: madeForRanking(named), duels };
    }
    const [best, ...others] = places[0].first;
    const ranker = others.find((row) => row.kind === 'ranker' && isEven(ladder, row));
    return { winner: decided[0], places, advised: ranker ?? best, duels };
  }
  const [winner] = winners;
  if (winner === 'tie' && duels) {
    const first = evenRows(ladder, duels);
    return { winner, places: [{ metrics: MAIN_METRICS, first }], advised: madeForRanking(first), duels };
  }
  // First by one metric and, but for chance, by the other.
  const both = byRecall.first.filter((row) => byNdcg.first.includes(row));
  const tops = [byRecall.first[0], byNdcg.first[0]];
  if (tops.some((row) => both.includes(row))) {
    const first = [...both].sort((a, b) => Number(tops.includes(b)) - Number(tops.includes(a)));
    return { winner, places: [{ metrics: MAIN_METRICS, first }], advised: madeForRanking(first), duels };
  }
  const places = [byRecall, byNdcg].map((place) => ({ ...place, first: place.first.slice(0, 1) }));
  const advised = tops.find((row) => isEven(ladder, row)) ?? madeForRanking(tops);
  return { winner, places, advised, duels };
}

/** The best by a metric; of ours with those that may be as good, of baselines alone. */
function leaders(
  ladder: Ladder,
  metric: MainMetric,
  winner: 'model' | 'baseline',
  features: number,
): LadderRow[] {
  if (winner === 'baseline') return [bestOf(ladder, metric, ['baseline'])!];
  const best = bestOf(ladder, metric, ['model', 'ranker'])!;
  const others = ladder.rows.filter(
    (row) =>
      row !== best &&
      (row.kind === 'ranker' || (row.kind === 'model' && row.features === features)) &&
      isAsGood(ladder, row, metric),
  );
  return [best, ...others];
}

/** Whether a row is the best by a metric, or behind it by no more than chance. */
function isAsGood({ best, comparisons }: Ladder, { id }: LadderRow, metric: MainMetric): boolean {
  if (id === best[metric]) return true;
  const gap = comparisons.find((c) => c.metric === metric && c.row === id && c.to === best[metric]);
  return gap !== undefined && gap.high >= 0;
}

function isEven(ladder: Ladder, row: LadderRow): boolean {
  return MAIN_METRICS.every((metric) => isAsGood(ladder, row, metric));
}

/** Where ours and the baselines tie: one of each, and our fit for ranking, if they are as good as any by both metrics. */
function evenRows(ladder: Ladder, { recall, ndcg }: Readonly<Record<MainMetric, Duel>>): LadderRow[] {
  const one = (a: LadderRow, b: LadderRow) => [a, b].find((row) => isEven(ladder, row)) ?? a;
  const ranker = ladder.rows.filter((row) => row.kind === 'ranker' && isEven(ladder, row));
  return [...new Set([one(recall.ours, ndcg.ours), ...ranker, one(recall.baseline, ndcg.baseline)])];
}

/** Our fit for ranking, else a baseline, else what comes first. */
function madeForRanking(rows: readonly LadderRow[]): LadderRow {
  return (
    rows.find(({ kind }) => kind === 'ranker') ?? rows.find(({ kind }) => kind === 'baseline') ?? rows[0]
  );
}
