// What `evaluate` found, in sentences: what the p-values mean, and what the figures leave out.

import { ATTRIBUTE_BASELINES, type AttributeBaseline } from '../../evaluate/baselines/attribute-baselines.js';
import type { AttributeComparisons, RankingComparison } from '../../evaluate/compare-rankings.js';
import type { Evaluation, NoPredictiveCheck } from '../../evaluate/evaluate.js';
import type { PredictiveCheck, Statistic } from '../../evaluate/predictive.js';
import { command } from '../../options/arguments.js';
import { type WriteOption, withArgument } from '../../options/error.js';
import type { SplitMethod } from '../../options/names.js';
import { metricPhrase, statisticPhrase } from '../../text/figures.js';
import { fixed, percent, signedFixed } from '../../text/numbers.js';
import { article, described, list, many, present } from '../../text/phrases.js';
import type { SideNames } from '../../text/sides.js';

const NO_CHECK: Readonly<Record<NoPredictiveCheck, string>> = {
  'no-draws': 'no draws were requested',
  'edges-held-out':
    'the split holds out edges, which the model cannot draw; split by users and items (method pq)',
  'ranking-model': 'a ranker cannot draw test graphs; fit with method ascent',
  'in-shards':
    'draws need all users in memory, and these are in shards; merge the model, and split the data in one piece',
};

/** Why there is no predictive check, without a capital or a full stop. */
export function noPredictiveCheck(reason: NoPredictiveCheck): string {
  return NO_CHECK[reason];
}

/** Below this the test set lies outside the 90 % interval. */
const SURPRISING = 0.1;
/** A model that expects more than this multiple of the observed pairs spreads uneven counts over too many. */
const TOO_MANY_PAIRS = 1.2;

/** What the p-values of a predictive check mean. */
export function surpriseWords(
  { observed, draws, calibration }: PredictiveCheck,
  names: SideNames,
  multigraph: boolean,
): string {
  const statistics = Object.keys(draws) as Statistic[];
  const pValue = (s: Statistic) => calibration?.statistics[s]?.pValue ?? draws[s]!.pValue;
  const surprising = statistics.filter((s) => pValue(s) < SURPRISING);
  if (surprising.length === 0) {
    return 'The test set looks like one of the model’s draws: no p-value is below 0.1.';
  }
  const off = (larger: boolean) => {
    const figures = surprising
      .filter((s) => observed[s]! > draws[s]!.mean === larger)
      .map((s) => `the ${statisticPhrase(s, names)}`);
    const are = figures.length === 1 ? 'is' : 'are';
    return figures.length > 0 && `${list(figures)} ${are} ${larger ? 'larger' : 'smaller'}`;
  };
  const where =
    surprising.length === statistics.length
      ? 'The test set looks like none of the model’s draws'
      : `In ${surprising.length} of ${statistics.length} figures the test set surprises the model`;
  const sentence = `${where} (p-values below 0.1): ${present([off(true), off(false)]).join('; ')} than expected.`;
  const uneven =
    multigraph && draws.edges && observed.edges! * TOO_MANY_PAIRS < draws.edges.mean
      ? ' The counts are not Poisson: fit with the hurdle model (option counts), which models counts separately.'
      : '';
  return sentence + uneven;
}

/** What is ranked, and how recall is defined. */
export function rankedDefinition({ users, items }: SideNames, method?: SplitMethod): string {
  const which = method === 'new-items' ? 'have no edge in training' : 'occur in training';
  return (
    `Protocol: split. The ${items.many} of the test part that ${which} are ranked. Recall divides the hits by the number of test ${items.many} of ${article(users.one)}; ` +
    `capped recall divides by the length of the list if that is smaller.`
  );
}

/** A model compared with the same list for everyone. */
export function popularityWords(comparison: RankingComparison, n: number, names: SideNames): string {
  const figures = figuresOf('Popularity, the same list for everyone,', comparison, n, names);
  return METRICS.every((metric) => comparison.difference[metric].difference < 0)
    ? `${figures} This model ranks below it: do not recommend with it.`
    : `${figures} This model ranks ${standing(comparison, n, names)}.`;
}

const ATTRIBUTE_TITLES: Readonly<Record<AttributeBaseline, string>> = {
  profile: 'The tf-idf profile, the sum of the cosines to the $,',
  attributePopularity: 'Popularity by attribute, the same list for everyone,',
};

/** A model compared with baselines by attributes. */
export function attributeWords(compared: AttributeComparisons, n: number, names: SideNames): string[] {
  return ATTRIBUTE_BASELINES.map((name) => {
    const title = ATTRIBUTE_TITLES[name].replace('$', `${names.users.one}’s ${names.items.many}`);
    const comparison = compared[name];
    return `${figuresOf(title, comparison, n, names)} This model ranks ${standing(comparison, n, names)}.`;
  });
}

export function againstWords(
  title: string,
  comparison: RankingComparison,
  n: number,
  names: SideNames,
): string {
  const differences = METRICS.map((metric) => {
    const { difference, low, high } = comparison.difference[metric];
    return `${signedFixed(difference, 4)} by ${metricPhrase(metric, n, names)} (${signedFixed(low, 4)} … ${signedFixed(high, 4)})`;
  });
  return (
    `${figuresOf(title, comparison, n, names)} This model ranks ${standing(comparison, n, names)}: ${list(differences)}. ` +
    `Brackets: ${percent(comparison.difference.recall.level, 0)} interval over the same ${names.users.many}.`
  );
}

const METRICS = ['recall', 'ndcg'] as const;

function figuresOf(title: string, { other }: RankingComparison, n: number, names: SideNames): string {
  const figures = METRICS.map(
    (metric) => `${metricPhrase(metric, n, names)} ${fixed(other.mean[metric], 3)}`,
  );
  return `${title} has ${list(figures)}.`;
}

/** Above or below if the interval of the difference excludes 0. */
function standing({ difference }: RankingComparison, n: number, names: SideNames): string {
  const phrases = (some: readonly (typeof METRICS)[number][]) =>
    list(some.map((metric) => metricPhrase(metric, n, names)));
  const above = METRICS.filter((metric) => difference[metric].low > 0);
  const below = METRICS.filter((metric) => difference[metric].high < 0);
  if (above.length === METRICS.length) return 'above it';
  if (below.length === METRICS.length) return 'below it';
  const rest = METRICS.filter((metric) => !above.includes(metric) && !below.includes(metric));
  return present([
    above.length > 0 && `above it by ${phrases(above)}`,
    below.length > 0 && `below it by ${phrases(below)}`,
    rest.length > 0 && `neither above nor below it by ${phrases(rest)}`,
  ]).join(', ');
}

/** Why to fit a ranker instead, and the commands that fit and evaluate it. */
export function rankingAdvice(folder: string): string[] {
  const file = 'ranker.safetensors';
  return [
    'This model explains the data. To recommend, compare it with a ranker:',
    `  ${command(['fit', folder, '--method', 'ranking', '-o', file])}`,
    `  ${command(['evaluate', file, folder])}`,
  ];
}

const CORRECTED =
  'Means and intervals are corrected by the errors on replicas: graphs drawn from the model, then split, fitted and checked like the data.';
const UNCORRECTED =
  'The intervals hold 90 % of the draws. On simulated data they contained the truth in 72 to 95 % of the cases (docs/predictive.md).';

/** How far the intervals of a predictive check can be trusted. `write: null` names no options. */
export function intervalWords(
  { calibration, internal }: PredictiveCheck,
  names: SideNames,
  write: WriteOption | null = withArgument,
): string {
  if (calibration) return CORRECTED;
  if (!internal) {
    return write
      ? `${UNCORRECTED} The option ${write('calibrate')} measures this on replicas of the model and corrects the intervals.`
      : UNCORRECTED;
  }
  const off = write ? ` The option ${write('correct', 'false')} shows them as drawn.` : '';
  return `Means and intervals are corrected. ${correctionWords(names)}.${off}`;
}

/** How means and intervals are corrected, without a full stop. */
export function correctionWords({ users, items }: SideNames): string {
  const known = `those of training ${users.many} to the test ${items.many}, and a quarter of the fold-in edges of held-out ${users.many}`;
  return `To measure their error, graphex also drew edges that are already known: ${known}. It then shifted and rescaled them by this error`;
}

/** What the figures leave out. */
export function leftOutWords({
  dropped,
  method,
  predictive,
  drawsGiven,
  names,
}: Pick<Evaluation, 'dropped' | 'method' | 'predictive' | 'drawsGiven' | 'names'>): string {
  const { ranking, foldIn } = dropped;
  const { users, items } = names;
  const one = ranking.users === 1;
  const none = method === 'pq' ? `fold-in ${items.one} that occurs in training` : 'training edge';
  const unranked = method === 'new-items' ? 'without attributes' : 'that are not in the training part';
  const whose =
    foldIn.users > 0 ? `, among them all edges of ${many(foldIn.users, described('held-out', users))}` : '';
  const popular = `${one ? 'the list has' : 'their lists have'} popular ${items.many} and ${one ? 'is' : 'are'} evaluated separately`;
  const unserved = `nobody has the held-out ${items.many}, so ${one ? `this ${users.one} is` : 'they are'} left out`;
  const sentences = present([
    ranking.users > 0 &&
      `${many(ranking.users, described('test', users))} ${one ? 'has' : 'have'} no ${none}: ${method === 'new-items' ? unserved : popular}.`,
    ranking.edges > 0 &&
      `The recommendation figures leave out ${many(ranking.edges, 'test edge')} to ${items.many} ${unranked}.`,
    foldIn.edges > 0 &&
      `Fold-in could not use ${many(foldIn.edges, 'edge')} to ${items.many} that are not in the training part${whose}.`,
  ]);
  if (sentences.length === 0) {
    return `Every test edge and every test ${users.one} counts in the recommendation figures.`;
  }
  const counted = predictive && drawsGiven === 'unconditional';
  return present([...sentences, counted && 'The predictive check counts all of them.']).join(' ');
}
