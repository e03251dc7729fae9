// Which method of a study ranks best, as numbers and codes.

import {
  type Comparison,
  gapToBest,
  type Leaderboard,
  type LeaderboardMetric,
  type LeaderboardRow,
  leaderboardFigure,
  MAIN_METRICS,
} from './leaderboard.js';
import { type StudyResults, type TooLittle, tooLittle } from './results.js';

type MainMetric = (typeof MAIN_METRICS)[number];

/** The best of ours and the best baseline by one metric, and whether they differ by more than chance. */
export interface BestPair {
  readonly metric: LeaderboardMetric;
  readonly ours: LeaderboardRow;
  readonly baseline: LeaderboardRow;
  readonly winner: 'model' | 'baseline' | 'tie';
  /** How far the second is behind the first. */
  readonly gap: Comparison;
}

/** The methods that come first by one metric or by both; none if ours and the baselines tie by a metric that does not decide. */
interface Place {
  readonly metrics: readonly MainMetric[];
  /** The best, and those of ours that may be as good. If nothing decides: ours and baselines that may be as good. Best first. */
  readonly first: readonly LeaderboardRow[];
}

/** A difference between two rows with its 95 % interval. */
export type Gap = Pick<Comparison, 'difference' | 'low' | 'high'>;

/** Which method ranks best, and which one to recommend with. */
export interface RankingDecision {
  readonly tooLittle: TooLittle;
  readonly winner: 'model' | 'baseline' | 'tie';
  /** One place if both metrics agree, else one for each. The metric that decides comes first. */
  readonly places: readonly Place[];
  /** One of the rows that the places name. A model that was fitted to explain only if nothing made for ranking does as well. */
  readonly advised: LeaderboardRow;
  /** Lists made elsewhere that rank better than every method by a metric, more than chance, and worse by none. */
  readonly listsAhead: readonly LeaderboardRow[];
  /** Null without baselines. */
  readonly pairs: Readonly<Record<MainMetric, BestPair>> | null;
  /** Metrics without popular items whose winner differs from `winner`. */
  readonly otherWinners: readonly BestPair[];
  /** Methods of ours below popularity: by which metrics, and by which of them more than chance. */
  readonly belowPopularity: readonly {
    readonly row: LeaderboardRow;
    readonly by: readonly MainMetric[];
    readonly clear: readonly MainMetric[];
  }[];
  /** The models of the chosen K, and each two of them compared. */
  readonly models: readonly LeaderboardRow[];
  readonly modelGaps: readonly {
    readonly a: LeaderboardRow;
    readonly b: LeaderboardRow;
    readonly recall: Gap;
    readonly ndcg: Gap;
  }[];
}

export function mayBeChance({ low, high }: Gap): boolean {
  return low <= 0 && high >= 0;
}

export function decideRanking({ runs, chosen }: StudyResults): RankingDecision {
  const { leaderboard } = runs[0];
  const small = tooLittle(runs[0], leaderboard.rows[0]?.all.users);
  const decided = decidePlaces(leaderboard, chosen.features);
  const models = leaderboard.rows.filter((row) => row.kind === 'model' && row.features === chosen.features);
  return {
    tooLittle: small,
    ...decided,
    listsAhead: leaderboard.rows.filter((row) => row.kind === 'lists' && isAhead(leaderboard, row)),
    otherWinners: decided.pairs
      ? (['recallUnpopular', 'ndcgUnpopular'] as const).flatMap((metric) => {
          const pair = bestPair(leaderboard, metric);
          return pair && pair.winner !== decided.winner ? [pair] : [];
        })
      : [],
    belowPopularity: belowPopularity(leaderboard, !small),
    models,
    modelGaps: models.flatMap((a, at) =>
      models.slice(at + 1).flatMap((b) => {
        const recall = gapBetween(leaderboard.comparisons, 'recall', a.id, b.id);
        const ndcg = gapBetween(leaderboard.comparisons, 'ndcg', a.id, b.id);
        return recall && ndcg ? [{ a, b, recall, ndcg }] : [];
      }),
    ),
  };
}

/** Undefined if there is no baseline, or no user has a test item that the metric counts. */
function bestPair(leaderboard: Leaderboard, metric: LeaderboardMetric): BestPair | undefined {
  const ours = bestOf(leaderboard, metric, ['model', 'ranker'])!;
  const baseline = bestOf(leaderboard, metric, ['baseline']);
  if (!baseline) return undefined;
  const second = leaderboard.best[metric] === baseline.id ? ours : baseline;
  const gap = gapToBest(leaderboard, metric, second.id);
  if (!gap) return undefined;
  const winner = gap.high >= 0 ? 'tie' : second === ours ? 'baseline' : 'model';
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

/** A tie by one metric and a win by the other make a win. A win each for ours and for a baseline makes a tie. */
function decidePlaces(
  leaderboard: Leaderboard,
  features: number,
): Pick<RankingDecision, 'winner' | 'places' | 'advised' | 'pairs'> {
  const recall = bestPair(leaderboard, 'recall');
  const ndcg = bestPair(leaderboard, 'ndcg');
  const pairs = recall && ndcg ? { recall, ndcg } : null;
  const winners = MAIN_METRICS.map((metric) => pairs?.[metric].winner ?? 'model');
  const placed = (winner: BestPair['winner'], metric: MainMetric): Place => ({
    metrics: [metric],
    first: winner === 'tie' ? [] : leaders(leaderboard, metric, winner, features),
  });
  const [byRecall, byNdcg] = [placed(winners[0], 'recall'), placed(winners[1], 'ndcg')];
  if (winners[0] !== winners[1]) {
    const places = winners[0] === 'tie' ? [byNdcg, byRecall] : [byRecall, byNdcg];
    const decided = winners.filter((winner) => winner !== 'tie');
    if (decided.length > 1) {
      const named = places.flatMap(({ first }) => first);
      return { winner: 'tie', places, advised: madeForRanking(named), pairs };
    }
    const [{ first }] = places;
    return { winner: decided[0], places, advised: evenOf(leaderboard, first) ?? first[0], pairs };
  }
  const [winner] = winners;
  if (winner === 'tie' && pairs) {
    const places = evenPlaces(leaderboard, pairs, features);
    const named = places.flatMap((place) => place.first);
    return { winner, places, advised: evenOf(leaderboard, named) ?? madeForRanking(named), pairs };
  }
  // First by one metric, and by the other first or behind by no more than chance.
  const both = byRecall.first.filter((row) => byNdcg.first.includes(row));
  const tops = [byRecall.first[0], byNdcg.first[0]];
  if (tops.some((row) => both.includes(row))) {
    const first = [...both].sort((a, b) => Number(tops.includes(b)) - Number(tops.includes(a)));
    return { winner, places: [{ metrics: MAIN_METRICS, first }], advised: madeForRanking(first), pairs };
  }
  const places = [byRecall, byNdcg];
  const advised = evenOf(leaderboard, [...both, ...tops]) ?? madeForRanking(tops);
  return { winner, places, advised, pairs };
}

/** Whether lists are above the best method by a metric, more than chance, and not below by another. */
function isAhead(leaderboard: Leaderboard, { id }: LeaderboardRow): boolean {
  const gaps = MAIN_METRICS.flatMap((metric) => gapToBest(leaderboard, metric, id) ?? []);
  return gaps.some(({ low }) => low > 0) && gaps.every(({ high }) => high >= 0);
}

/** The methods of a leaderboard from best to worst by a metric, without ceilings and lists made elsewhere. */
function inOrder({ rows }: Leaderboard, metric: MainMetric): LeaderboardRow[] {
  return rows
    .filter(({ kind }) => kind !== 'ceiling' && kind !== 'lists')
    .sort((a, b) => b.all[metric].mean - a.all[metric].mean);
}

/** The best by a metric. Ours come with those that may be as good, best first; a baseline comes alone. */
function leaders(
  leaderboard: Leaderboard,
  metric: MainMetric,
  winner: 'model' | 'baseline',
  features: number,
): LeaderboardRow[] {
  if (winner === 'baseline') return [bestOf(leaderboard, metric, ['baseline'])!];
  const best = bestOf(leaderboard, metric, ['model', 'ranker'])!;
  const others = inOrder(leaderboard, metric).filter(
    (row) => row !== best && isOurs(row, features) && isAsGood(leaderboard, row, metric),
  );
  return [best, ...others];
}

/** The ranker, or a model with the chosen number of features. */
function isOurs(row: LeaderboardRow, features: number): boolean {
  return row.kind === 'ranker' || (row.kind === 'model' && row.features === features);
}

/** Whether a row is the best by a metric, or behind it by no more than chance. */
function isWithinChance(leaderboard: Leaderboard, { id }: LeaderboardRow, metric: MainMetric): boolean {
  if (id === leaderboard.best[metric]) return true;
  const gap = gapToBest(leaderboard, metric, id);
  return gap !== undefined && gap.high >= 0;
}

/**
 * Whether a row and all that are better by a metric are within chance of the best. Each has an interval of its own, so a worse
 * row with a wide interval may be within chance where a better row is not.
 */
function isAsGood(leaderboard: Leaderboard, row: LeaderboardRow, metric: MainMetric): boolean {
  const value = row.all[metric].mean;
  return [row, ...inOrder(leaderboard, metric).filter((one) => one.all[metric].mean > value)].every((one) =>
    isWithinChance(leaderboard, one, metric),
  );
}

function isEven(leaderboard: Leaderboard, row: LeaderboardRow): boolean {
  return MAIN_METRICS.every((metric) => isAsGood(leaderboard, row, metric));
}

/**
 * The places if ours and the baselines tie: all that are as good as any by both metrics. If ours or the baselines have none
 * that is, all that tie by each metric.
 */
function evenPlaces(
  leaderboard: Leaderboard,
  { recall, ndcg }: Readonly<Record<MainMetric, BestPair>>,
  features: number,
): readonly Place[] {
  const named = (metric: MainMetric, of: BestPair) =>
    inOrder(leaderboard, metric).filter(
      (row) => row === of.ours || row.kind === 'baseline' || isOurs(row, features),
    );
  const even = named('recall', recall).filter((row) => isEven(leaderboard, row));
  const kinds = new Set(even.map(({ kind }) => kind === 'baseline'));
  if (kinds.size === 2) return [{ metrics: MAIN_METRICS, first: even }];
  const [byRecall, byNdcg] = [recall, ndcg].map((pair, at) => {
    const metric = MAIN_METRICS[at];
    const least = Math.min(pair.ours.all[metric].mean, pair.baseline.all[metric].mean);
    const first = named(metric, pair).filter(
      (row) => row.all[metric].mean >= least || isAsGood(leaderboard, row, metric),
    );
    return { metrics: [metric], first };
  });
  const isSame =
    byRecall.first.length === byNdcg.first.length &&
    byRecall.first.every((row) => byNdcg.first.includes(row));
  return isSame ? [{ ...byRecall, metrics: MAIN_METRICS }] : [byRecall, byNdcg];
}

/** Of some rows one that is as good as any by both metrics, if there is one: made for ranking, else the first. */
function evenOf(leaderboard: Leaderboard, rows: readonly LeaderboardRow[]): LeaderboardRow | undefined {
  const even = rows.filter((row) => isEven(leaderboard, row));
  return even.length > 0 ? madeForRanking(even) : undefined;
}

/** The ranker, else a baseline, else the first row. */
function madeForRanking(rows: readonly LeaderboardRow[]): LeaderboardRow {
  return (
    rows.find(({ kind }) => kind === 'ranker') ?? rows.find(({ kind }) => kind === 'baseline') ?? rows[0]
  );
}

/** `enough`: whether there are enough users to call a difference more than chance. */
function belowPopularity(leaderboard: Leaderboard, enough: boolean): RankingDecision['belowPopularity'] {
  const popularity = leaderboard.rows.find((row) => row.id === 'popularity');
  if (!popularity) return [];
  return leaderboard.rows
    .filter((row) => row.kind === 'model' || row.kind === 'ranker')
    .map((row) => {
      const by = MAIN_METRICS.filter((metric) => row.all[metric].mean < popularity.all[metric].mean);
      const clear = by.filter((metric) => enough && isBehind(leaderboard, row, popularity, metric));
      return { row, by, clear };
    });
}

/**
 * Whether a row is behind another by more than chance. A leaderboard has paired intervals to the best row alone. Otherwise
 * the standard errors decide, as if the two rows had different users. That claims less than a paired interval would.
 */
function isBehind(
  leaderboard: Leaderboard,
  row: LeaderboardRow,
  other: LeaderboardRow,
  metric: MainMetric,
): boolean {
  if (isWithinChance(leaderboard, row, metric)) return false;
  if (other.id === leaderboard.best[metric]) return true;
  const [a, b] = [row.all[metric], other.all[metric]];
  return b.mean - a.mean > 1.96 * Math.hypot(a.standardError, b.standardError);
}

/** A metric of one row minus that of another, whichever way round it was computed. */
function gapBetween(
  comparisons: readonly Comparison[],
  metric: LeaderboardMetric,
  one: string,
  other: string,
): Gap | undefined {
  const between = (row: string, to: string) =>
    comparisons.find((c) => c.metric === metric && c.row === row && c.to === to);
  const found = between(one, other);
  if (found) return found;
  const turned = between(other, one);
  return turned && { difference: -turned.difference, low: -turned.high, high: -turned.low };
}
