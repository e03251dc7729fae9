// Which model of a study predicts best, as numbers and codes. report/words turns them into sentences, and decides nothing.

import { isIndex, observedOf, STATISTICS, type Statistic } from '../evaluate/predictive.js';
import { mean } from '../math/moments.js';
import type { ModelKind } from './options.js';
import {
  type CheckedFit,
  checkedFits,
  predictingFits,
  predictionError,
  type StudyResults,
  tooLittle,
} from './results.js';

/** Errors that differ by less than this count as alike: relatively for counts, absolutely for σ̂. */
const ALIKE = 0.01;
/** Larger errors count as poor: a fifth of a count, a tenth of a tail index. */
const POOR = (statistic: Statistic) => (isIndex(statistic) ? 0.1 : 0.2);
/** If all errors are smaller, the model is close, even if its intervals miss. */
const CLOSE = 0.02;

/** How the models of the chosen K compare in predicting the test set. */
export type PredictionDecision = NonNullable<ReturnType<typeof decidePrediction>>;

/** The statistics that all fits were checked by. The sum of counts is one only if it is not the number of edges. */
export function shownStatistics(fits: readonly CheckedFit[]): Statistic[] {
  return STATISTICS.filter((name) => fits.every((fit) => fit.predictive.observed[name] !== undefined));
}

export interface Interval {
  readonly low: number;
  readonly high: number;
}

/** The interval to believe: the corrected one, if replicas corrected it. */
export function believedInterval({ predictive }: CheckedFit, statistic: Statistic): Interval {
  return predictive.calibration?.statistics[statistic] ?? predictive.draws[statistic]!;
}

/** Number of figures of the test set within the intervals to believe. */
export function heldFigures(fit: CheckedFit, statistics: readonly Statistic[]): number {
  return statistics.filter((s) => isWithin(observedOf(fit.predictive, s), believedInterval(fit, s))).length;
}

export function isWithin(value: number, { low, high }: Interval): boolean {
  return value >= low && value <= high;
}

/** Null if the study has no predictive draws. */
export function decidePrediction(results: StudyResults) {
  if (checkedFits(results.runs[0].fits).length === 0) return null;
  const checked = results.runs.map((run) =>
    checkedFits(run.fits).filter((fit) => fit.features === results.chosen.features),
  );
  /** Fits of the first run with the chosen K, each once. */
  const fits = predictingFits(checked[0]);
  const statistics = shownStatistics(results.runs.flatMap((run) => checkedFits(run.fits)));
  /** Mean error over the runs. */
  const error = (kind: ModelKind, statistic: Statistic) =>
    mean(checked.map((run) => predictionError(run.find(({ model }) => model === kind)!, statistic)));
  const off = (kind: ModelKind, statistic: Statistic) => Math.abs(error(kind, statistic));
  /** How much closer one model comes than another: in all figures, and in those that clearly differ. */
  const gains = (kind: ModelKind, other: ModelKind) => {
    const all = statistics.map((statistic) => ({
      statistic,
      gain: off(other, statistic) - off(kind, statistic),
    }));
    return {
      sum: all.reduce((total, { gain }) => total + gain, 0),
      clear: all.filter(({ gain }) => Math.abs(gain) > ALIKE),
    };
  };
  const closest = fits.reduce((a, b) => (gains(b.model, a.model).sum > 0 ? b : a));
  /** The closest model, and those that come as close. */
  const first = fits.filter((fit) => {
    if (fit === closest) return true;
    const { sum, clear } = gains(closest.model, fit.model);
    return clear.length === 0 || Math.abs(sum) <= ALIKE;
  });
  const [best] = first;
  const ahead = fits
    .filter((fit) => fit !== best)
    .flatMap(({ model }) => gains(best.model, model).clear)
    .filter(({ gain }) => gain > 0);
  const missed = (s: Statistic) => Math.min(...fits.map(({ model }) => off(model, s)));
  const single = fits.length === 1;
  const weight = (s: Statistic) => (single ? off(best.model, s) : missed(s) / POOR(s));
  /** The statistic that even the closest model misses most. */
  const worst = statistics.reduce((a, b) => (weight(b) > weight(a) ? b : a));
  /** Whether all models miss `worst` by far. */
  const poor = missed(worst) > POOR(worst);
  /** Whether the closest model's intervals hold fewer than half of the figures. */
  const few = 2 * heldFigures(best, statistics) < statistics.length;
  const close = statistics.every((s) => off(best.model, s) <= CLOSE);
  const small = tooLittle(results.runs[0]);
  return {
    tooLittle: small,
    fits,
    statistics,
    error,
    first,
    winner: small || single ? null : first.length === fits.length ? ('alike' as const) : best.model,
    worst,
    poor,
    few,
    close,
    well: single ? !poor : !poor && (!few || close),
    /** The statistic in which the closest model is furthest ahead of another; undefined if it is clearly ahead in none. */
    decisive: ahead.length === 0 ? undefined : ahead.reduce((a, b) => (b.gain > a.gain ? b : a)).statistic,
    /** For each fit, the statistics in which it is clearly closer than all others, the largest lead first. */
    leads: new Map(fits.map((fit) => [fit, leadsOf(fit, fits, statistics, off)])),
    /** The fit whose intervals hold most figures. */
    surest: fits.reduce((a, b) => (heldFigures(b, statistics) > heldFigures(a, statistics) ? b : a)),
  };
}

function leadsOf(
  { model }: CheckedFit,
  fits: readonly CheckedFit[],
  statistics: readonly Statistic[],
  off: (kind: ModelKind, statistic: Statistic) => number,
): Statistic[] {
  const others = fits.filter((fit) => fit.model !== model);
  const lead = (s: Statistic) => Math.min(...others.map((fit) => off(fit.model, s))) - off(model, s);
  return statistics.filter((s) => lead(s) > ALIKE).sort((a, b) => lead(b) - lead(a));
}
