// Which model predicts the test set, in words.

import { drawsOf, isIndex, observedOf, STATISTICS, type Statistic } from '../../evaluate/predictive.js';
import type { ModelKind } from '../../study/options.js';
import {
  type CheckedFit,
  checkedFits,
  predictingFits,
  predictionError,
  type StudyResults,
} from '../../study/results.js';
import { statisticPhrase } from '../../text/figures.js';
import { fixed, grouped, percent } from '../../text/numbers.js';
import { capital, list } from '../../text/phrases.js';
import type { SideNames } from '../../text/sides.js';
import { shortName } from './methods.js';
import type { StudyVerdicts } from './study.js';
import { TOO_LITTLE, tooLittle } from './too-little.js';

/** Errors that differ by less than this, relatively (for σ̂: absolutely), count as alike. */
const ALIKE = 0.01;
/** An error beyond this is no prediction: a fifth of a count, a tenth of tail index. */
const POOR = (statistic: Statistic) => (isIndex(statistic) ? 0.1 : 0.2);
/** Errors all within this are small, whatever the intervals say. */
const CLOSE = 0.02;

/** The statistics that all fits were checked by: the sum of counts only where it is not the number of edges. */
export function shownStatistics(fits: readonly CheckedFit[]): Statistic[] {
  return STATISTICS.filter((name) => fits.every((fit) => fit.predictive.observed[name] !== undefined));
}

/** A statistic's value as sentences and tables write it. */
export function statisticValue(statistic: Statistic, value: number, digits = 3): string {
  return isIndex(statistic) ? fixed(value, digits) : grouped(value);
}

type PredictionVerdict = NonNullable<StudyVerdicts['prediction']>;

/** Null where no draws were asked for. */
export function predictionVerdict(results: StudyResults): PredictionVerdict | null {
  if (checkedFits(results.runs[0].fits).length === 0) return null;
  const verdict = predictionByFigures(results);
  const reason = tooLittle(results.runs[0], results.check.names);
  if (!reason) return verdict;
  return { ...verdict, winner: null, headline: TOO_LITTLE, text: `${reason} ${verdict.text}` };
}

/** The question that the verdict answers. */
export function predictionQuestion({ runs, chosen }: StudyResults): string {
  const models = predictingFits(runs[0].fits).filter(({ features }) => features === chosen.features).length;
  if (models === 1) return 'How well does the model predict the test set?';
  return `Which model predicts the test set ${models > 2 ? 'best' : 'better'}?`;
}

/** The models of the chosen K, and how far each is off. */
interface Rivals {
  /** Of the first run, each once. */
  readonly fits: readonly CheckedFit[];
  readonly statistics: readonly Statistic[];
  /** Mean error over the runs. */
  readonly error: (kind: ModelKind, statistic: Statistic) => number;
}

function predictionByFigures(results: StudyResults): PredictionVerdict {
  const { names } = results.check;
  const rivals = rivalsOf(results);
  const { fits, statistics, error } = rivals;
  if (fits.length === 1) {
    const [only] = fits;
    const off = (s: Statistic) => Math.abs(error(only.model, s));
    const worst = statistics.reduce((a, b) => (off(b) > off(a) ? b : a));
    const size = error(only.model, worst);
    return {
      winner: null,
      well: off(worst) <= POOR(worst),
      headline: `Off by at most ${sizeOfError(worst, size)}`,
      text: `The ${shortName(only)} model’s largest error is in the ${statisticPhrase(worst, names)}: ${describeError(worst, size)}.`,
      details: [...sameWords(fits), coverage(only, statistics, names)],
    };
  }
  const first = firstOf(rivals);
  const [best] = first;
  const alike = first.length === fits.length;
  // What even the closest misses by far.
  const missed = (s: Statistic) => Math.min(...fits.map(({ model }) => Math.abs(error(model, s))));
  const worst = statistics.reduce((a, b) => (missed(b) / POOR(b) > missed(a) / POOR(a) ? b : a));
  const poor = missed(worst) > POOR(worst);
  const few = 2 * heldFigures(best, statistics) < statistics.length;
  const close = statistics.every((s) => Math.abs(error(best.model, s)) <= CLOSE);
  const telling = tellingStatistic(rivals, best.model);
  const shown = poor ? worst : telling;
  return {
    winner: alike ? 'alike' : best.model,
    well: !poor && (!few || close),
    headline: headlineOf(first, fits, statistics, poor || few, close),
    text: shown
      ? `${illustration(shown, fits, names)}${alike ? ` Over all figures ${fits.length > 2 ? 'they' : 'the two'} come out even.` : ''}`
      : `${fits.length > 2 ? 'None' : 'Neither'} predicts any figure of the test set clearly better.`,
    details: [
      ...(poor && results.runs[0].counts?.law === 'poisson' ? [OVERDISPERSED] : []),
      ...sameWords(fits),
      ...correctedWords(fits),
      ...fits.flatMap((fit) => closerWords(rivals, fit, names)),
      ...fits.map((fit) => coverage(fit, statistics, names)),
    ],
  };
}

function rivalsOf(results: StudyResults): Rivals {
  const checked = results.runs.map((run) =>
    checkedFits(run.fits).filter((fit) => fit.features === results.chosen.features),
  );
  const of = (fits: readonly CheckedFit[], kind: ModelKind) => fits.find(({ model }) => model === kind)!;
  return {
    fits: predictingFits(checked[0]),
    statistics: shownStatistics(results.runs.flatMap((run) => checkedFits(run.fits))),
    error: (kind, statistic) => mean(checked.map((fits) => predictionError(of(fits, kind), statistic))),
  };
}

/** How much closer than another a model comes, over all figures and in those in which they clearly differ. */
function gains({ statistics, error }: Rivals, kind: ModelKind, other: ModelKind) {
  const all = statistics.map((statistic) => ({
    statistic,
    gain: Math.abs(error(other, statistic)) - Math.abs(error(kind, statistic)),
  }));
  return {
    sum: all.reduce((total, { gain }) => total + gain, 0),
    clear: all.filter(({ gain }) => Math.abs(gain) > ALIKE),
  };
}

/** The models that come closest: the best, and those that are even with it. */
function firstOf(rivals: Rivals): CheckedFit[] {
  const { fits } = rivals;
  const best = fits.reduce((a, b) => (gains(rivals, b.model, a.model).sum > 0 ? b : a));
  const even = ({ model }: CheckedFit) => {
    const { sum, clear } = gains(rivals, best.model, model);
    return clear.length === 0 || Math.abs(sum) <= ALIKE;
  };
  return fits.filter((fit) => fit === best || even(fit));
}

/** Where the best leaves the others furthest behind, if it clearly does anywhere. */
function tellingStatistic(rivals: Rivals, best: ModelKind): Statistic | undefined {
  const ahead = rivals.fits
    .filter(({ model }) => model !== best)
    .flatMap(({ model }) => gains(rivals, best, model).clear)
    .filter(({ gain }) => gain > 0);
  if (ahead.length === 0) return undefined;
  return ahead.reduce((a, b) => (b.gain > a.gain ? b : a)).statistic;
}

/** 'The sparse model is closer in the number of items (1.0 % too low; dense: 20.0 % too low).' */
function closerWords(rivals: Rivals, fit: CheckedFit, names: SideNames): string[] {
  const { fits, statistics, error } = rivals;
  const kind = fit.model;
  const others = fits.filter(({ model }) => model !== kind);
  const lead = (statistic: Statistic) =>
    Math.min(...others.map(({ model }) => Math.abs(error(model, statistic)))) -
    Math.abs(error(kind, statistic));
  const figures = statistics
    .filter((statistic) => lead(statistic) > ALIKE)
    .sort((a, b) => lead(b) - lead(a))
    .map((statistic) => {
      const said = (other: CheckedFit) =>
        `${shortName(other)}: ${describeError(statistic, error(other.model, statistic))}`;
      const own = describeError(statistic, error(kind, statistic));
      return `${statisticPhrase(statistic, names)} (${[own, ...others.map(said)].join('; ')})`;
    });
  const word = others.length > 1 ? 'closest' : 'closer';
  return figures.length === 0 ? [] : [`The ${shortName(fit)} model is ${word} in the ${list(figures)}.`];
}

/** Two models that are one fit are one here. */
function sameWords(fits: readonly CheckedFit[]): string[] {
  return fits.flatMap(({ model, also = [] }) =>
    also.map(
      (other) =>
        `The ${model} model is the ${other} model here: the law that it chose for both sides is the same, and they were fitted once.`,
    ),
  );
}

/** Which figures are corrected by known data, where some are and others are not. */
export function correctedWords(fits: readonly CheckedFit[]): string[] {
  const corrected = fits.filter(({ predictive }) => predictive.internal);
  const drawn = fits.filter(({ predictive }) => !predictive.internal);
  if (corrected.length === 0) return [];
  const of = (some: readonly CheckedFit[]) =>
    `the ${list(some.map(shortName))} model${some.length > 1 ? 's' : ''}`;
  return [
    `The figures of ${of(corrected)} are corrected by what such draws miss on data that training knows${
      drawn.length > 0 ? `; those of ${of(drawn)} are as drawn` : ''
    }.`,
  ];
}

function headlineOf(
  first: readonly CheckedFit[],
  fits: readonly CheckedFit[],
  statistics: readonly Statistic[],
  badly: boolean,
  close: boolean,
): string {
  const three = fits.length > 2;
  const alike = first.length === fits.length;
  const who = list(first.map((fit) => `the ${shortName(fit)}`)).replace(/^t/, 'T');
  const one = first.length === 1;
  if (badly && close) {
    if (alike) return `${three ? 'All' : 'Both'} are close, but too sure of themselves`;
    return `${who} model ${one ? 'is' : 'are'} close, but too sure of ${one ? 'itself' : 'themselves'}`;
  }
  if (badly) {
    if (alike) return three ? 'No model predicts well' : 'Neither model predicts well';
    const closer = three ? 'closest' : 'closer';
    return `${three ? 'None' : 'Neither'} predicts well; ${who.replace(/^T/, 't')} model ${one ? 'is' : 'are'} ${closer}`;
  }
  if (alike) return three ? 'All three predict alike' : `${capital(list(fits.map(shortName)))} predict alike`;
  if (!one) return `${who} model predict best, alike`;
  // Closest by its means, yet another one's intervals hold more: both are said.
  const held = (fit: CheckedFit) => heldFigures(fit, statistics);
  const surest = fits.reduce((a, b) => (held(b) > held(a) ? b : a));
  if (held(surest) > held(first[0])) {
    return `${who} model comes ${three ? 'closest' : 'closer'}; the ${shortName(surest)} model’s intervals hold more`;
  }
  return `${who} model predicts ${three ? 'best' : 'better'}`;
}

const OVERDISPERSED =
  'The model lets the counts of a pair vary as in a Poisson law. Where a few pairs hold most of the counts, it spreads them over far too many pairs; if that is so here, give counts a law of their own, with --counts hurdle.';

/** 'The number of films in the test part is 1,298; the sparse model expects 1,293, the dense one 1,192.' */
function illustration(statistic: Statistic, fits: readonly CheckedFit[], names: SideNames): string {
  const observed = statisticValue(statistic, observedOf(fits[0].predictive, statistic));
  const drawn = (fit: CheckedFit) => statisticValue(statistic, drawsOf(fit.predictive, statistic).mean);
  const [first, ...others] = fits;
  const said = [
    `the ${shortName(first)} model expects ${drawn(first)}`,
    ...others.map((fit) => `the ${shortName(fit)} one ${drawn(fit)}`),
  ];
  return `The ${statisticPhrase(statistic, names)} in the test part is ${observed}; ${said.join(', ')}.`;
}

interface Interval {
  readonly low: number;
  readonly high: number;
}

/** The intervals to believe: corrected where they were. */
function believed({ predictive: { draws, calibration } }: CheckedFit, statistic: Statistic): Interval {
  return calibration?.statistics[statistic] ?? draws[statistic]!;
}

/** Figures of the test set that lie within the intervals to believe. */
export function heldFigures(fit: CheckedFit, statistics: readonly Statistic[]): number {
  return statistics.filter((s) => within(observedOf(fit.predictive, s), believed(fit, s))).length;
}

function within(value: number, { low, high }: Interval): boolean {
  return value >= low && value <= high;
}

function coverage(fit: CheckedFit, statistics: readonly Statistic[], names: SideNames): string {
  const { draws, calibration } = fit.predictive;
  const said = `The 90 % intervals of the ${shortName(fit)} model’s draws contain`;
  const drawn = containment(fit, statistics, names, (s) => draws[s]!);
  if (!calibration) return `${said} ${drawn}.`;
  return `${said} ${drawn}; corrected, ${containment(fit, statistics, names, (s) => believed(fit, s))}.`;
}

function containment(
  { predictive }: CheckedFit,
  statistics: readonly Statistic[],
  names: SideNames,
  interval: (statistic: Statistic) => Interval,
): string {
  const missed = statistics.filter((s) => !within(observedOf(predictive, s), interval(s)));
  if (missed.length === 0) return 'every figure of the test set';
  if (missed.length === statistics.length) return 'no figure of the test set';
  return `${statistics.length - missed.length} of ${statistics.length} figures, all but the ${list(missed.map((s) => statisticPhrase(s, names)))}`;
}

/** '3.1 % too low', '0.052 too high'. */
export function describeError(statistic: Statistic, error: number): string {
  if (Math.abs(error) < 5e-4) return 'right on';
  return `${sizeOfError(statistic, error)} too ${error < 0 ? 'low' : 'high'}`;
}

function sizeOfError(statistic: Statistic, error: number): string {
  return isIndex(statistic) ? fixed(Math.abs(error), 3) : percent(Math.abs(error), 1);
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
