// Predictive checks compare statistics and degree distributions of the test graph with those of posterior predictive draws.

import { InputError } from '../errors.js';
import { type BipartiteGraph, type BySide, bySide } from '../graph/graph.js';
import { meanAndSpread } from '../math/moments.js';
import { predictiveQuantile } from '../math/quantile.js';
import { studentQuantile, studentTwoSided } from '../math/student.js';
import { type GraphStatistics, graphStatistics } from '../predict/draw/draw-graph.js';
import type { DegreeCounts } from '../sparsity/degree-counts.js';

/** The statistics that are compared; those of counts only in multigraphs. */
export const STATISTICS = ['users', 'items', 'edges', 'total', 'tail', 'sigmaUsers', 'sigmaItems'] as const;
const OF_COUNTS: readonly string[] = ['total', 'tail'];
/** The name of a statistic of predictive checks. */
export type Statistic = (typeof STATISTICS)[number];

/** One value for each statistic. */
export function byStatistic<T>(make: (name: Statistic) => T): Record<Statistic, T> {
  return Object.fromEntries(STATISTICS.map((name) => [name, make(name)])) as Record<Statistic, T>;
}

/** Tail indexes are shown with decimals; all other statistics are counts. */
export const isIndex = (statistic: Statistic) => statistic === 'sigmaUsers' || statistic === 'sigmaItems';

/** One statistic of the draws, and how the observed value compares. */
export interface StatisticCheck {
  readonly mean: number;
  /** The central 90 % of the draws. With 19 draws or more, another draw lies within it with probability 0.9. */
  readonly low: number;
  readonly high: number;
  /** Two-sided posterior predictive p-value: 2·min(1 + draws at or below, 1 + draws at or above)/(draws + 1), at most 1. */
  readonly pValue: number;
}

/** The number of vertices with `from` to `to` edges, in the test graph and in the draws. */
export interface DegreeBin {
  readonly from: number;
  readonly to: number;
  readonly observed: number;
  /** 5 %, 50 % and 95 % points of the draws. */
  readonly low: number;
  readonly median: number;
  readonly high: number;
}

/** The interval of one statistic, corrected by replicas of the model (calibrate.ts). */
export interface CalibratedStatistic {
  /** Replicas whose test graph lay within the central 90 % of its draws. */
  readonly held: number;
  /** Replicas on which the statistic is defined. */
  readonly replicas: number;
  /** The corrected 90 % interval. */
  readonly low: number;
  readonly high: number;
  /** The corrected two-sided p-value of the observed value. */
  readonly pValue: number;
}

/** How often the intervals of predictive draws contain the truth, on graphs drawn from the model. */
export interface Calibration {
  readonly replicas: number;
  /** Statistics that do not vary, or that are not defined on the replicas, are absent. */
  readonly statistics: Readonly<Partial<Record<Statistic, CalibratedStatistic>>>;
}

/** The correction of one statistic's draws by known data (internal-check.ts). */
export interface InternalStatistic {
  /** The draws before the correction. */
  readonly drawn: StatisticCheck;
  /** The expected distance of the test graph from their mean, in their standard deviations, and its uncertainty. */
  readonly shift: number;
  readonly scale: number;
}

/** The error of draws on data that the fit knows, which corrects the draws of the test graph. */
export interface InternalCheck {
  /** Number of groups of training users, and of parts of the fit items. */
  readonly parts: BySide<number>;
  readonly statistics: Readonly<Partial<Record<Statistic, InternalStatistic>>>;
}

/** Compares test graphs drawn from a model with the real one. */
export interface PredictiveCheck {
  /** Number of draws. */
  readonly count: number;
  readonly observed: Readonly<Partial<Record<Statistic, number>>>;
  /** Corrected if `internal` is present. */
  readonly draws: Readonly<Partial<Record<Statistic, StatisticCheck>>>;
  /** Present if the draws were corrected by known data. */
  readonly internal?: InternalCheck | undefined;
  readonly degrees: BySide<readonly DegreeBin[]>;
  /** Present if replicas were asked for. */
  readonly calibration?: Calibration | undefined;
}

/** The value of the test graph. Throws if the statistic was not compared. */
export function observedOf({ observed }: Pick<PredictiveCheck, 'observed'>, statistic: Statistic): number {
  return compared(observed[statistic], statistic);
}

/** Visits each statistic that was compared, with its value in each draw and in the test graph. */
export function forCompared(
  { observed }: Pick<PredictiveCheck, 'observed'>,
  draws: readonly GraphStatistics[],
  visit: (name: Statistic, drawn: readonly number[], observed: number) => void,
): void {
  for (const name of STATISTICS) {
    const value = observed[name];
    if (value !== undefined) visit(name, valuesOf(draws, name), value);
  }
}

/** A statistic in each draw. */
export function valuesOf(draws: readonly GraphStatistics[], name: Statistic): number[] {
  return draws.map((draw) => draw[name]);
}

/** The draws of a statistic. Throws if it was not compared. */
export function drawsOf({ draws }: Pick<PredictiveCheck, 'draws'>, statistic: Statistic): StatisticCheck {
  return compared(draws[statistic], statistic);
}

/** The check without the correction by known data. */
export function asDrawn({ internal, ...check }: PredictiveCheck): PredictiveCheck {
  if (!internal) return check;
  const drawn = Object.entries(internal.statistics).map(([name, statistic]) => [name, statistic.drawn]);
  return Object.freeze({ ...check, draws: { ...check.draws, ...Object.fromEntries(drawn) } });
}

function compared<T>(value: T | undefined, statistic: Statistic): T {
  if (value === undefined) throw new Error(`${statistic} was not compared`);
  return value;
}

/** The probability outside an interval, half of it on each side. */
const OUTSIDE = 0.1;
/** An interval needs at least this many draws to leave that probability outside. */
export const LEAST_DRAWS = 2 / OUTSIDE - 1;
const LOW = OUTSIDE / 2;
const HIGH = 1 - OUTSIDE / 2;
/** Ratio of the upper to the lower end of a degree bin; small degrees have a bin each. */
const BIN_RATIO = 1.3;

/**
 * Compares draws with the raw test part, including items that training never saw, since the draws include unseen ones.
 * @example
 * import { checkPredictive, evaluateModel, fit, simulate, split } from 'graphex';
 * const { graph } = await simulate({ features: 4, users: { size: 30 }, items: { size: 30 }, seed: 1 });
 * const parts = split(graph, { testUsers: 0.3, testItems: 0.3, seed: 1 });
 * const { model } = await fit(parts.train, { features: 4, iterations: 20 });
 * const { draws } = await evaluateModel(model, parts, { draws: 5 });
 * console.log(checkPredictive(draws, parts.test).draws.edges);
 */
export function checkPredictive(
  draws: readonly GraphStatistics[],
  observed: BipartiteGraph | GraphStatistics,
): PredictiveCheck {
  if (draws.length === 0) throw new InputError('a predictive check needs at least one draw');
  const test = 'sigmaUsers' in observed ? observed : graphStatistics(observed);
  const multigraph = test.total !== test.edges || draws.some((draw) => draw.total !== draw.edges);
  const wanted = STATISTICS.filter((name) => multigraph || !OF_COUNTS.includes(name));
  return Object.freeze({
    count: draws.length,
    observed: Object.fromEntries(wanted.map((name) => [name, test[name]])),
    draws: Object.fromEntries(
      wanted.map((name) => [name, checkStatistic(valuesOf(draws, name), test[name])]),
    ),
    degrees: bySide((side) =>
      degreeBands(
        draws.map((draw) => draw.degrees[side]),
        test.degrees[side],
      ),
    ),
  });
}

export function checkStatistic(values: readonly number[], observed: number): StatisticCheck {
  const sorted = Float64Array.from(values).sort();
  let below = 0;
  let above = 0;
  let sum = 0;
  for (const value of sorted) {
    if (value <= observed) below++;
    if (value >= observed) above++;
    sum += value;
  }
  return {
    mean: sum / sorted.length,
    low: predictiveQuantile(sorted, LOW),
    high: predictiveQuantile(sorted, HIGH),
    pValue: Math.min(1, (2 * (1 + Math.min(below, above))) / (sorted.length + 1)),
  };
}

/** Student's distribution of the test graph's deviation from the mean of the draws, in their standard deviations. */
export interface Shift {
  readonly mean: number;
  readonly scale: number;
  /** Degrees of freedom. */
  readonly degrees: number;
}

/** The same if the deviation is expected to have the distribution of `shift`. */
export function shiftedCheck(values: readonly number[], observed: number, shift: Shift): StatisticCheck {
  const { mean, spread } = meanAndSpread(values);
  if (!(spread > 0)) return checkStatistic(values, observed);
  const reach = studentQuantile(OUTSIDE, shift.degrees) * shift.scale;
  const place = ((observed - mean) / spread - shift.mean) / shift.scale;
  return {
    mean: Math.max(0, mean + shift.mean * spread),
    low: Math.max(0, mean + (shift.mean - reach) * spread),
    high: Math.max(0, mean + (shift.mean + reach) * spread),
    pValue: studentTwoSided(place, shift.degrees),
  };
}

/** Bins up to the largest degree of the test graph and of the draws. */
function degreeBands(draws: readonly DegreeCounts[], observed: DegreeCounts): DegreeBin[] {
  const largest = Math.max(observed.degree.at(-1) ?? 1, ...draws.map((counts) => counts.degree.at(-1) ?? 1));
  const starts = [1];
  while (starts.at(-1)! <= largest) {
    starts.push(Math.max(starts.at(-1)! + 1, Math.ceil(starts.at(-1)! * BIN_RATIO)));
  }
  const seen = binned(observed, starts);
  const drawn = draws.map((counts) => binned(counts, starts));
  return starts.slice(0, -1).map((from, bin) => {
    const sorted = Float64Array.from(drawn, (counts) => counts[bin]).sort();
    return {
      from,
      to: starts[bin + 1] - 1,
      observed: seen[bin],
      low: predictiveQuantile(sorted, LOW),
      median: predictiveQuantile(sorted, 0.5),
      high: predictiveQuantile(sorted, HIGH),
    };
  });
}

function binned({ degree, vertices }: DegreeCounts, starts: readonly number[]): Float64Array {
  const result = new Float64Array(starts.length - 1);
  let bin = 0;
  for (let n = 0; n < degree.length; n++) {
    while (degree[n] >= starts[bin + 1]) bin++;
    result[bin] += vertices[n];
  }
  return result;
}
