// Which model predicts the test set, in words.

import { drawsOf, isIndex, observedOf, STATISTICS, type Statistic } from '../../evaluate/predictive.js';
import type { ModelKind } from '../../study/options.js';
import { type CheckedFit, checkedFits, predictionError, type StudyResults } from '../../study/results.js';
import { statisticPhrase } from '../../text/figures.js';
import { fixed, grouped, percent } from '../../text/numbers.js';
import { list } from '../../text/phrases.js';
import type { SideNames } from '../../text/sides.js';
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
export function predictionQuestion({ receipt }: StudyResults): string {
  return receipt.settings.model === 'both'
    ? 'Which model predicts the test set better?'
    : 'How well does the model predict the test set?';
}

function predictionByFigures(results: StudyResults): PredictionVerdict {
  const { features } = results.chosen;
  const { names } = results.check;
  const statistics = shownStatistics(results.runs.flatMap((run) => checkedFits(run.fits)));
  const fits = results.runs.map((run) => {
    const shown = checkedFits(run.fits).filter((f) => f.features === features);
    return {
      sparse: shown.find((f) => f.model === 'sparse'),
      dense: shown.find((f) => f.model === 'dense'),
    };
  });
  const error = (kind: ModelKind, statistic: Statistic) =>
    mean(fits.map((pair) => predictionError(pair[kind]!, statistic)));
  const [first] = fits;
  if (!first?.sparse || !first.dense) {
    const only: ModelKind = first?.sparse ? 'sparse' : 'dense';
    const worst = statistics.reduce((a, b) => (Math.abs(error(only, b)) > Math.abs(error(only, a)) ? b : a));
    return {
      winner: null,
      well: Math.abs(error(only, worst)) <= POOR(worst),
      headline: `Off by at most ${sizeOfError(worst, error(only, worst))}`,
      text: `The ${only} model’s largest error is in the ${statisticPhrase(worst, names)}: ${describeError(worst, error(only, worst))}.`,
      details: [coverage(first![only]!, statistics, names)],
    };
  }
  // Positive: how much closer the sparse model comes.
  const gains = statistics
    .map((statistic) => ({
      statistic,
      gain: Math.abs(error('dense', statistic)) - Math.abs(error('sparse', statistic)),
    }))
    .sort((a, b) => b.gain - a.gain);
  const better = {
    sparse: gains.filter(({ gain }) => gain > ALIKE),
    dense: gains.filter(({ gain }) => gain < -ALIKE).reverse(),
  };
  const sum = gains.reduce((total, { gain }) => total + gain, 0);
  const alike = better.sparse.length + better.dense.length === 0 || Math.abs(sum) <= ALIKE;
  const winner = alike ? 'alike' : sum > 0 ? 'sparse' : 'dense';
  const closer = (kind: ModelKind) => {
    const other = kind === 'sparse' ? 'dense' : 'sparse';
    const figures = better[kind].map(
      ({ statistic }) =>
        `${statisticPhrase(statistic, names)} (${describeError(statistic, error(kind, statistic))}; ${other}: ${describeError(statistic, error(other, statistic))})`,
    );
    return figures.length === 0 ? [] : [`The ${kind} model is closer in the ${list(figures)}.`];
  };
  const details = [
    ...closer('sparse'),
    ...closer('dense'),
    coverage(first.sparse, statistics, names),
    coverage(first.dense, statistics, names),
  ];
  const best = winner === 'dense' ? first.dense : first.sparse;
  // What even the better of the two misses by far.
  const missed = (s: Statistic) => Math.min(Math.abs(error('sparse', s)), Math.abs(error('dense', s)));
  const worst = statistics.reduce((a, b) => (missed(b) / POOR(b) > missed(a) / POOR(a) ? b : a));
  const poor = missed(worst) > POOR(worst);
  const few = 2 * held(best, statistics) < statistics.length;
  const close = statistics.every((s) => Math.abs(error(best.model, s)) <= CLOSE);
  if (poor && results.check.multigraph) details.unshift(OVERDISPERSED);
  const telling = better[winner === 'dense' ? 'dense' : 'sparse'][0]?.statistic;
  const shown = poor ? worst : telling;
  return {
    winner,
    well: !poor && (!few || close),
    headline: headlineOf(winner, poor || few, close),
    text: shown
      ? `${illustration(shown, first.sparse, first.dense, names)}${alike ? ' Over all figures the two come out even.' : ''}`
      : 'Neither predicts any figure of the test set clearly better.',
    details,
  };
}

function headlineOf(winner: ModelKind | 'alike', badly: boolean, close: boolean): string {
  if (badly && close) {
    return winner === 'alike'
      ? 'Both are close, but too sure of themselves'
      : `The ${winner} model is close, but too sure of itself`;
  }
  if (badly) {
    return winner === 'alike'
      ? 'Neither model predicts well'
      : `Neither predicts well; the ${winner} model is closer`;
  }
  return winner === 'alike' ? 'Sparse and dense predict alike' : `The ${winner} model predicts better`;
}

const OVERDISPERSED =
  'The model lets the counts of a pair vary as in a Poisson law. Where a few pairs hold most of the counts, it spreads them over far too many pairs; if that is so here, ask only whether a pair is there, with --simple.';

/** 'The number of films in the test part is 1,298; the sparse model expects 1,293, the dense one 1,192.' */
function illustration(statistic: Statistic, sparse: CheckedFit, dense: CheckedFit, names: SideNames): string {
  const observed = statisticValue(statistic, observedOf(sparse.predictive, statistic));
  const drawn = (fit: CheckedFit) => statisticValue(statistic, drawsOf(fit.predictive, statistic).mean);
  return `The ${statisticPhrase(statistic, names)} in the test part is ${observed}; the sparse model expects ${drawn(sparse)}, the dense one ${drawn(dense)}.`;
}

interface Interval {
  readonly low: number;
  readonly high: number;
}

/** The intervals to believe: corrected where they were. */
function believed({ predictive: { draws, calibration } }: CheckedFit, statistic: Statistic): Interval {
  return calibration?.statistics[statistic] ?? draws[statistic]!;
}

function held(fit: CheckedFit, statistics: readonly Statistic[]): number {
  return statistics.filter((s) => within(observedOf(fit.predictive, s), believed(fit, s))).length;
}

function within(value: number, { low, high }: Interval): boolean {
  return value >= low && value <= high;
}

function coverage(fit: CheckedFit, statistics: readonly Statistic[], names: SideNames): string {
  const { draws, calibration } = fit.predictive;
  const said = `The 90 % intervals of the ${fit.model} model’s draws contain`;
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
