// Which model predicts the test set, in words.

import { drawsOf, isIndex, observedOf, type Statistic } from '../../evaluate/predictive.js';
import { type CheckedFit, predictingFits, type StudyResults } from '../../study/results.js';
import {
  believedInterval,
  heldFigures,
  type Interval,
  isWithin,
  type PredictionDecision,
} from '../../study/verdict.js';
import { statisticPhrase } from '../../text/figures.js';
import { fixed, grouped, percent } from '../../text/numbers.js';
import { capital, list } from '../../text/phrases.js';
import type { SideNames } from '../../text/sides.js';
import { shortName } from './methods.js';
import { type StudyVerdicts, TOO_LITTLE, tooLittleWords } from './study.js';

/** A statistic's value as sentences and tables write it. */
export function statisticValue(statistic: Statistic, value: number, digits = 3): string {
  return isIndex(statistic) ? fixed(value, digits) : grouped(value);
}

type PredictionVerdict = NonNullable<StudyVerdicts['prediction']>;

export function predictionVerdict(decision: PredictionDecision, results: StudyResults): PredictionVerdict {
  const { names } = results.check;
  const { winner, well, tooLittle } = decision;
  const words =
    decision.fits.length === 1 ? oneModel(decision, names) : severalModels(decision, results, names);
  const verdict = { winner, well, ...words };
  if (!tooLittle) return verdict;
  return { ...verdict, headline: TOO_LITTLE, text: `${tooLittleWords(tooLittle, names)} ${words.text}` };
}

/** The question that the verdict answers. */
export function predictionQuestion({ runs, chosen }: StudyResults): string {
  const models = predictingFits(runs[0].fits).filter(({ features }) => features === chosen.features).length;
  if (models === 1) return 'How well does the model predict the test set?';
  return `Which model predicts the test set ${models > 2 ? 'best' : 'better'}?`;
}

type Words = Pick<PredictionVerdict, 'headline' | 'text' | 'details'>;

function oneModel({ fits: [only], statistics, worst, error }: PredictionDecision, names: SideNames): Words {
  const size = error(only.model, worst);
  return {
    headline: `Off by at most ${sizeOfError(worst, size)}`,
    text: `The ${shortName(only)} model’s largest error is in the ${statisticPhrase(worst, names)}: ${describeError(worst, size)}.`,
    details: [...sameWords([only]), coverage(only, statistics, names)],
  };
}

function severalModels(decision: PredictionDecision, { runs }: StudyResults, names: SideNames): Words {
  const { fits, statistics, first, poor, worst, decisive } = decision;
  const shown = poor ? worst : decisive;
  const alike = first.length === fits.length;
  return {
    headline: headlineOf(decision),
    text: shown
      ? `${illustration(shown, fits, names)}${alike ? ` Over all figures ${fits.length > 2 ? 'they' : 'the two'} come equally close.` : ''}`
      : `${fits.length > 2 ? 'No model' : 'Neither model'} predicts any figure of the test set clearly better.`,
    details: [
      ...(poor && runs[0].counts?.model === 'poisson' ? [OVERDISPERSED] : []),
      ...sameWords(fits),
      ...correctedWords(fits),
      ...fits.flatMap((fit) => closerWords(decision, fit, names)),
      ...fits.map((fit) => coverage(fit, statistics, names)),
    ],
  };
}

/** 'The sparse model is closer in the number of items (1.0 % too low; dense: 20.0 % too low).' */
function closerWords(
  { fits, error, leads }: PredictionDecision,
  fit: CheckedFit,
  names: SideNames,
): string[] {
  const others = fits.filter((other) => other !== fit);
  const figures = (leads.get(fit) ?? []).map((statistic) => {
    const said = (other: CheckedFit) =>
      `${shortName(other)}: ${describeError(statistic, error(other.model, statistic))}`;
    const own = describeError(statistic, error(fit.model, statistic));
    return `${statisticPhrase(statistic, names)} (${[own, ...others.map(said)].join('; ')})`;
  });
  const word = others.length > 1 ? 'closest' : 'closer';
  return figures.length === 0 ? [] : [`The ${shortName(fit)} model is ${word} in the ${list(figures)}.`];
}

/** Two models with the same fit are shown as one. */
function sameWords(fits: readonly CheckedFit[]): string[] {
  return fits.flatMap(({ model, also = [] }) =>
    also.map(
      (other) =>
        `The ${model} model equals the ${other} model here: it chose the same prior for both sides, so both are one fit.`,
    ),
  );
}

/** Which figures are corrected by known data, if only some are. */
export function correctedWords(fits: readonly CheckedFit[]): string[] {
  const corrected = fits.filter(({ predictive }) => predictive.internal);
  const drawn = fits.filter(({ predictive }) => !predictive.internal);
  if (corrected.length === 0) return [];
  const of = (some: readonly CheckedFit[]) =>
    `the ${list(some.map(shortName))} model${some.length > 1 ? 's' : ''}`;
  return [
    `The figures of ${of(corrected)} are corrected by the error of its draws on training data.${
      drawn.length > 0 ? ` Those of ${of(drawn)} are as drawn.` : ''
    }`,
  ];
}

function headlineOf({ first, fits, statistics, poor, few, close, surest }: PredictionDecision): string {
  const badly = poor || few;
  const three = fits.length > 2;
  const alike = first.length === fits.length;
  const who = list(first.map((fit) => `the ${shortName(fit)}`)).replace(/^t/, 'T');
  const one = first.length === 1;
  if (badly && close) {
    if (alike) return `${three ? 'All' : 'Both'} are close, but their intervals are too narrow`;
    return `${who} model ${one ? 'is' : 'are'} close, but ${one ? 'its' : 'their'} intervals are too narrow`;
  }
  if (badly) {
    if (alike) return three ? 'No model predicts well' : 'Neither model predicts well';
    const closer = three ? 'closest' : 'closer';
    return `${three ? 'No model' : 'Neither model'} predicts well; ${who.replace(/^T/, 't')} model ${one ? 'is' : 'are'} ${closer}`;
  }
  if (alike) {
    return three
      ? 'All three predict equally well'
      : `${capital(list(fits.map(shortName)))} predict equally well`;
  }
  if (!one) return `${who} model predict best, equally well`;
  // The closest means and the intervals that hold most may belong to different models.
  if (heldFigures(surest, statistics) > heldFigures(first[0], statistics)) {
    return `${who} model comes ${three ? 'closest' : 'closer'}; the ${shortName(surest)} model’s intervals contain more figures`;
  }
  return `${who} model predicts ${three ? 'best' : 'better'}`;
}

const OVERDISPERSED =
  'The model assumes Poisson counts. If a few pairs hold most of the counts, it spreads them over far too many pairs. Then fit with the hurdle model (option counts), which models counts separately.';

/** 'The number of films in the test part is 1,298; the sparse model expects 1,293, the dense one 1,192.' */
function illustration(statistic: Statistic, fits: readonly CheckedFit[], names: SideNames): string {
  const observed = statisticValue(statistic, observedOf(fits[0].predictive, statistic));
  const drawn = (fit: CheckedFit) => statisticValue(statistic, drawsOf(fit.predictive, statistic).mean);
  const [first, ...others] = fits;
  const said = [
    `the ${shortName(first)} model expects ${drawn(first)}`,
    ...others.map((fit) => `the ${shortName(fit)} model ${drawn(fit)}`),
  ];
  return `The ${statisticPhrase(statistic, names)} in the test part is ${observed}; ${said.join(', ')}.`;
}

function coverage(fit: CheckedFit, statistics: readonly Statistic[], names: SideNames): string {
  const { draws, calibration } = fit.predictive;
  const said = `The 90 % intervals of the ${shortName(fit)} model’s draws contain`;
  const drawn = containment(fit, statistics, names, (s) => draws[s]!);
  if (!calibration) return `${said} ${drawn}.`;
  return `${said} ${drawn}. Corrected, they contain ${containment(fit, statistics, names, (s) => believedInterval(fit, s))}.`;
}

function containment(
  { predictive }: CheckedFit,
  statistics: readonly Statistic[],
  names: SideNames,
  interval: (statistic: Statistic) => Interval,
): string {
  const missed = statistics.filter((s) => !isWithin(observedOf(predictive, s), interval(s)));
  if (missed.length === 0) return 'every figure of the test set';
  if (missed.length === statistics.length) return 'no figure of the test set';
  return `${statistics.length - missed.length} of ${statistics.length} figures, all but the ${list(missed.map((s) => statisticPhrase(s, names)))}`;
}

/** '3.1 % too low', '0.052 too high'. */
export function describeError(statistic: Statistic, error: number): string {
  if (Math.abs(error) < 5e-4) return 'exact';
  return `${sizeOfError(statistic, error)} too ${error < 0 ? 'low' : 'high'}`;
}

function sizeOfError(statistic: Statistic, error: number): string {
  return isIndex(statistic) ? fixed(Math.abs(error), 3) : percent(Math.abs(error), 1);
}
