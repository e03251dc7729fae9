// What `evaluate` found, in sentences: what the p-values mean, and what the figures leave out.

import type { RankingComparison } from '../../evaluate/compare-rankings.js';
import type { Evaluation, NoPredictiveCheck } from '../../evaluate/evaluate.js';
import type { PredictiveCheck, Statistic } from '../../evaluate/predictive.js';
import { metricPhrase, statisticPhrase } from '../../text/figures.js';
import { fixed, percent, signedFixed } from '../../text/numbers.js';
import { list, many } from '../../text/phrases.js';
import type { SideNames } from '../../text/sides.js';
import { command } from './commands.js';

const NO_CHECK: Readonly<Record<NoPredictiveCheck, string>> = {
  'no-draws': 'no draws were asked for',
  'edges-held-out':
    'the split holds out edges, and the model describes no test graph of that kind; split with --method pq',
  'ranking-model':
    'the model is made for ranking, and no test graph can be drawn from it; fit with --method ascent',
  'in-shards':
    'draws need all users at once, and these are in shards; merge the model, and split the data in one piece',
};

/** Why there is no predictive check, without a capital or a full stop. */
export function noPredictiveCheck(reason: NoPredictiveCheck): string {
  return NO_CHECK[reason];
}

/** Below this the test set lies outside the 90 % interval. */
const SURPRISING = 0.1;
/** A model that expects so many times the pairs that there are spreads uneven counts over too many of them. */
const TOO_MANY_PAIRS = 1.2;

/** What the p-values of a predictive check mean, in a sentence or two. */
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
    if (figures.length === 0) return [];
    return [`${list(figures)} ${figures.length === 1 ? 'is' : 'are'} ${larger ? 'larger' : 'smaller'}`];
  };
  const where =
    surprising.length === statistics.length
      ? 'The test set looks like none of the model’s draws'
      : `In ${surprising.length} of ${statistics.length} figures the test set surprises the model`;
  const sentence = `${where} (p-values below 0.1): ${[...off(true), ...off(false)].join('; ')} than it expects.`;
  const uneven =
    multigraph && draws.edges && observed.edges! * TOO_MANY_PAIRS < draws.edges.mean
      ? ' These are not counts of a Poisson multigraph: fit with --counts hurdle, which gives counts a law of their own.'
      : '';
  return sentence + uneven;
}

/** What is ranked, and which recall is meant: `evaluate --metrics` has another one of the same name. */
export function rankedDefinition({ users, items }: SideNames): string {
  return (
    `Ranked are the ${items.many} of the test part that training saw; recall is the hits over the test ${items.many} of the ${users.one}, ` +
    `counting at most as many as the list is long. With --metrics, every ${items.one} is ranked and recall has no such cap (docs/metrics.md).`
  );
}

/** How a model stands beside the same list for everyone. */
export function popularityWords(comparison: RankingComparison, n: number, names: SideNames): string {
  const beside = figuresOf('Popularity, the same list for everyone,', comparison, n, names);
  return METRICS.every((metric) => comparison.difference[metric].difference < 0)
    ? `${beside} This model ranks below it: do not recommend with it.`
    : `${beside} This model ranks ${standing(comparison, n, names)}.`;
}

/** How a model stands beside another one. */
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
    `In brackets is the ${percent(comparison.difference.recall.level, 0)} interval over the same ${names.users.many} for both.`
  );
}

const METRICS = ['recall', 'ndcg'] as const;

function figuresOf(title: string, { other }: RankingComparison, n: number, names: SideNames): string {
  const figures = METRICS.map(
    (metric) => `${fixed(other.mean[metric], 3)} by ${metricPhrase(metric, n, names)}`,
  );
  return `${title} has ${list(figures)}.`;
}

/** Above or below where the interval of the difference says so. */
function standing({ difference }: RankingComparison, n: number, names: SideNames): string {
  const phrases = (some: readonly (typeof METRICS)[number][]) =>
    list(some.map((metric) => metricPhrase(metric, n, names)));
  const above = METRICS.filter((metric) => difference[metric].low > 0);
  const below = METRICS.filter((metric) => difference[metric].high < 0);
  if (above.length === METRICS.length) return 'above it';
  if (below.length === METRICS.length) return 'below it';
  const rest = METRICS.filter((metric) => !above.includes(metric) && !below.includes(metric));
  return [
    ...(above.length > 0 ? [`above it by ${phrases(above)}`] : []),
    ...(below.length > 0 ? [`below it by ${phrases(below)}`] : []),
    ...(rest.length > 0 ? [`neither above nor below it by ${phrases(rest)}`] : []),
  ].join(', ');
}

/** What to recommend with instead of a model that was fitted to explain, and the commands. */
export function betterRanker(folder: string): {
  readonly text: string;
  readonly commands: readonly string[];
} {
  const file = 'ranker.safetensors';
  return {
    text: 'The model was fitted to explain the data, not to rank. To recommend, compare the fit made for it:',
    commands: [
      command(['fit', folder, '--method', 'ranking', '-o', file]),
      command(['evaluate', file, folder]),
    ],
  };
}

const CORRECTED =
  'Corrected: moved and rescaled by what the same split, fit and draws did on replicas of the model, whose truth is known.';
const UNCORRECTED =
  'The intervals hold 90 % of the draws; on simulated data they held the truth in 72 to 95 % of the cases ' +
  '(docs/predictive.md). --calibrate 20 measures this on replicas of the model, and corrects the intervals.';

const INTERNAL =
  'Means and intervals are those of the draws, moved and rescaled by how far off draws are on data that training knows: ' +
  'its own {users} on the test {items}, and held-out {users} on {items} left out of their fold-in. --no-correct shows them as drawn.';

/** What the intervals of a predictive check are worth. */
export function intervalWords({ calibration, internal }: PredictiveCheck, names: SideNames): string {
  if (calibration) return CORRECTED;
  if (!internal) return UNCORRECTED;
  return INTERNAL.replaceAll(/\{(users|items)\}/g, (_, side: keyof SideNames) => names[side].many);
}

/** What the figures leave out; nothing is said of what did not happen. */
export function leftOutWords({
  dropped,
  method,
  predictive,
  drawsGiven,
  names,
}: Pick<Evaluation, 'dropped' | 'method' | 'predictive' | 'drawsGiven' | 'names'>): string {
  const { ranking, foldIn } = dropped;
  const { users, items } = names;
  const kind = (adjective: string) => ({
    one: `${adjective} ${users.one}`,
    many: `${adjective} ${users.many}`,
  });
  const known = method !== 'pq' ? 'training edge' : `fold-in edge to ${items.many} that training saw`;
  const leftOut = [
    ...(ranking.edges > 0
      ? [`${many(ranking.edges, 'test edge')} to ${items.many} that training never saw`]
      : []),
    ...(ranking.users > 0 ? [`${many(ranking.users, kind('test'))} without a ${known}`] : []),
  ];
  const sentences: string[] = [];
  if (leftOut.length > 0) sentences.push(`The recommendation figures leave out ${list(leftOut)}.`);
  if (foldIn.edges > 0) {
    const whose = foldIn.users > 0 ? `, among them all that ${many(foldIn.users, kind('held-out'))} had` : '';
    sentences.push(
      `Fold-in could not use ${many(foldIn.edges, 'edge')} to ${items.many} that training never saw${whose}.`,
    );
  }
  if (sentences.length === 0) {
    return `Every test edge and every test ${users.one} counts in the recommendation figures.`;
  }
  if (predictive && drawsGiven === 'unconditional')
    sentences.push('The predictive check counts all of them.');
  return sentences.join(' ');
}
