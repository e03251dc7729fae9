// What graphex evaluate prints: its JSON document and its text.

import { ATTRIBUTE_BASELINES } from '../../evaluate/baselines/attribute-baselines.js';
import type { AttributeComparisons, RankingComparison } from '../../evaluate/compare-rankings.js';
import type { ShardedEvaluation } from '../../evaluate/evaluate-shards.js';
import {
  drawsOf,
  LEAST_DRAWS,
  observedOf,
  type PredictiveCheck,
  type Statistic,
} from '../../evaluate/predictive.js';
import {
  joinRankings,
  type RankingResult,
  USER_METRICS,
  type UserMetric,
} from '../../metrics/ranking-metrics.js';
import { asFlag } from '../../options/as-flag.js';
import type { DrawsGiven } from '../../options/names.js';
import { metricTitle, statisticLabel } from '../../text/figures.js';
import { fixed, grouped } from '../../text/numbers.js';
import { many, present } from '../../text/phrases.js';
import type { SideNames } from '../../text/sides.js';
import {
  intervalWords,
  leftOutWords,
  noPredictiveCheck,
  rankedDefinition,
  surpriseWords,
} from '../words/evaluation.js';
import { statisticValue } from '../words/prediction.js';
import { paragraphs, textTable, wrap, wrapAll } from './text-table.js';

export type Printed = Omit<ShardedEvaluation, 'popularity'>;

/** The document of --json; null if a value does not exist. */
export function evaluationJson(result: Printed, popularity: RankingComparison | undefined): object {
  const { ranking, predictive, dropped } = result;
  const { all, unpopular } = ranking;
  return {
    method: result.method,
    recommendation: {
      ...groupJson(ranking),
      recallUnpopular: unpopular?.mean.recall ?? null,
      recallCappedUnpopular: unpopular?.mean.recallCapped ?? null,
      ndcgUnpopular: unpopular?.mean.ndcg ?? null,
      usersUnpopular: unpopular?.users ?? 0,
      candidates: all.candidates,
      n: ranking.n,
      depth: ranking.depth,
      standardErrorUnpopular: unpopular?.standardError ?? null,
      all: groupJson(joinRankings(ranking, result.withoutHistory)),
      withHistory: groupJson(ranking),
      withoutHistory: result.withoutHistory ? groupJson(result.withoutHistory) : null,
      definition: rankedDefinition(result.names, result.method),
      popularity: popularity ? comparisonJson(popularity) : null,
    },
    predictive: predictive
      ? {
          drawsGiven: result.drawsGiven,
          count: predictive.count,
          observed: predictive.observed,
          draws: predictive.draws,
          degrees: predictive.degrees,
          internal: predictive.internal ?? null,
          calibration: predictive.calibration ?? null,
        }
      : null,
    predictiveReason: result.predictiveReason ? noPredictiveCheck(result.predictiveReason) : null,
    dropped,
    fittedToTrain: result.fittedToTrain,
  };
}

const groupJson = ({ all }: RankingResult) => ({
  users: all.users,
  ...all.mean,
  coverage: all.coverage,
  standardError: all.standardError,
});

export const attributesJson = (compared: AttributeComparisons) =>
  Object.fromEntries(ATTRIBUTE_BASELINES.map((name) => [name, comparisonJson(compared[name])]));

export const comparisonJson = ({ other: { mean }, difference }: RankingComparison) => ({
  recall: mean.recall,
  ndcg: mean.ndcg,
  difference,
});

export function evaluationText(
  heading: string,
  result: Printed,
  multigraph: boolean,
  advice: readonly string[],
): string {
  const { predictive, predictiveReason, drawsGiven, withoutHistory, names } = result;
  return paragraphs([
    heading,
    describeRanking(result),
    withoutHistory && describeGroups(result, withoutHistory),
    wrap(rankedDefinition(names, result.method)),
    advice.length > 0 && advice.join('\n'),
    predictive && describePredictive(predictive, drawsGiven, names),
    predictive &&
      wrapAll([surpriseWords(predictive, names, multigraph), intervalWords(predictive, names, asFlag)]),
    predictiveReason && wrap(`No predictive check: ${noPredictiveCheck(predictiveReason)}.`),
    wrap(leftOutWords(result)),
  ]);
}

/** Users with a history, those without one, and all. */
function describeGroups(result: Printed, withoutHistory: RankingResult): string {
  const { ranking, names } = result;
  const metrics = ['recall', 'ndcg'] as const;
  const row = (title: string, { all }: RankingResult) => [
    title,
    grouped(all.users),
    ...metrics.map((metric) => `${fixed(all.mean[metric], 4)} ± ${fixed(all.standardError[metric], 4)}`),
  ];
  return textTable([
    ['', names.users.many, ...metrics.map((metric) => metricTitle(metric, ranking))],
    row('with a history (above)', ranking),
    row('without a history, by popularity', withoutHistory),
    row('all', joinRankings(ranking, withoutHistory)),
  ]);
}

/** The metrics in two groups: of all items, and of those that few users have. */
function describeRanking(result: Printed): string {
  const { ranking, names } = result;
  const { all, unpopular, n, depth } = ranking;
  const columns = present([`all ${names.items.many}`, unpopular && `unpopular ${names.items.many}`]);
  const scores = present([all, unpopular]);
  const cell = ({ mean, standardError }: typeof all, name: UserMetric) =>
    `${fixed(mean[name], 4)} ± ${fixed(standardError[name], 4)}`;
  const table = textTable([
    ['', ...columns],
    ...USER_METRICS.map((name) => [metricTitle(name, { n, depth }), ...scores.map((one) => cell(one, name))]),
    [metricTitle('coverage', { n }), ...scores.map(({ coverage }) => fixed(coverage, 4))],
    [names.users.many, ...scores.map(({ users }) => grouped(users))],
    ['candidates', ...scores.map(({ candidates }) => grouped(candidates))],
  ]);
  return `Recommendation (± standard error)\n${table}`;
}

function describePredictive(check: PredictiveCheck, drawsGiven: DrawsGiven, names: SideNames): string {
  const { calibration } = check;
  const statistics = Object.keys(check.draws) as Statistic[];
  const shown = (name: Statistic, value: number) => statisticValue(name, value, 4);
  const interval = (name: Statistic, { low, high }: { readonly low: number; readonly high: number }) =>
    `${shown(name, low)} … ${shown(name, high)}`;
  const table = textTable([
    [
      'test graph',
      'test',
      check.internal ? 'corrected mean' : 'mean',
      check.internal ? 'corrected 90 %' : check.count < LEAST_DRAWS ? 'range' : '90 % interval',
      'p-value',
      ...(calibration ? ['corrected 90 %', 'p-value', 'replicas held'] : []),
    ],
    ...statistics.map((name) => {
      const { mean, low, high, pValue } = drawsOf(check, name);
      const corrected = calibration?.statistics[name];
      return [
        statisticLabel(name, names),
        shown(name, observedOf(check, name)),
        shown(name, mean),
        interval(name, { low, high }),
        fixed(pValue, 3),
        ...(corrected
          ? [
              interval(name, corrected),
              fixed(corrected.pValue, 3),
              `${corrected.held} of ${corrected.replicas}`,
            ]
          : calibration
            ? ['–', '–', '–']
            : []),
      ];
    }),
  ]);
  return `Predictive checks (${many(check.count, 'draw')}, ${drawsGiven})\n${table}`;
}
