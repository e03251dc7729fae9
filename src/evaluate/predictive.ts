// Predictive checks: statistics and degree distributions of the test graph against those of posterior
// predictive draws.

import { InputError } from '../errors.js';
import type { BipartiteGraph } from '../graph/graph.js';
import { SIDES, type SideName } from '../graph/graph.js';
import { predictiveQuantile } from '../math/quantile.js';
import { type GraphStatistics, graphStatistics } from '../predict/draw/draw-graph.js';
import type { DegreeCounts } from '../sparsity/degree-counts.js';

/** Compared one by one; those of counts only in multigraphs. */
export const STATISTICS = ['users', 'items', 'edges', 'total', 'tail', 'sigmaUsers', 'sigmaItems'] as const;
const OF_COUNTS: readonly string[] = ['total', 'tail'];
/** The names of the statistics that predictive draws are compared by. */
export type Statistic = (typeof STATISTICS)[number];

/** Tail indexes are shown with digits; all other statistics are counts. */
export const isIndex = (statistic: Statistic) => statistic === 'sigmaUsers' || statistic === 'sigmaItems';

/** How one statistic of the draws lies around the observed one. */
export interface StatisticCheck {
  readonly mean: number;
  /** The central 90 % of the draws: a further draw would lie within with 90 % (from 19 draws on). */
  readonly low: number;
  readonly high: number;
  /** Two-sided posterior predictive p-value: 2·min(1 + draws at or below, 1 + draws at or above)/(draws + 1), at most 1. */
  readonly pValue: number;
}

/** Vertices with `from` to `to` edges: in the test graph, and over the draws. */
export interface DegreeBin {
  readonly from: number;
  readonly to: number;
  readonly observed: number;
  /** 5 %, 50 % and 95 % points of the draws. */
  readonly low: number;
  readonly median: number;
  readonly high: number;
}

/** What replicas of the model say of one statistic's interval (calibrate.ts). */
export interface CalibratedStatistic {
  /** Replicas whose test graph lay within the central 90 % of its draws. */
  readonly held: number;
  /** Replicas on which the statistic is defined. */
  readonly replicas: number;
  /** The 90 % interval, corrected. */
  readonly low: number;
  readonly high: number;
  /** Two-sided p-value of the observed, corrected. */
  readonly pValue: number;
}

/** How often intervals of predictive draws hold the truth on data that the model made. */
export interface Calibration {
  readonly replicas: number;
  /** A statistic that does not vary, or is not defined on the replicas, has none. */
  readonly statistics: Readonly<Partial<Record<Statistic, CalibratedStatistic>>>;
}

/** What known data say of one statistic's draws (internal-check.ts). */
export interface InternalStatistic {
  /** The draws as they are. */
  readonly drawn: StatisticCheck;
  /** How far the test graph is expected from their mean, in their standard deviations, and how uncertain that is. */
  readonly shift: number;
  readonly scale: number;
}

/** How far off draws are on data that the fit knows: what corrects the others. */
export interface InternalCheck {
  /** Groups of training users, and parts of the fit items. */
  readonly parts: Readonly<Record<SideName, number>>;
  readonly statistics: Readonly<Partial<Record<Statistic, InternalStatistic>>>;
}

/** How whole test graphs drawn from a model compare with the real one. */
export interface PredictiveCheck {
  /** Number of draws. */
  readonly count: number;
  readonly observed: Readonly<Partial<Record<Statistic, number>>>;
  /** Corrected where `internal` is there. */
  readonly draws: Readonly<Partial<Record<Statistic, StatisticCheck>>>;
  /** Where the draws were corrected by what happens on known data. */
  readonly internal?: InternalCheck | undefined;
  readonly degrees: Readonly<Record<SideName, readonly DegreeBin[]>>;
  /** Where replicas were asked for. */
  readonly calibration?: Calibration | undefined;
}

/** The figure of the test graph; asked only of statistics that were compared. */
export function observedOf({ observed }: Pick<PredictiveCheck, 'observed'>, statistic: Statistic): number {
  return compared(observed[statistic], statistic);
}

/** How the draws of it lie. */
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

/** Share that intervals leave out, half of it on either side. */
export const OUTSIDE = 0.1;
/** From so many draws on an interval can leave that share out. */
export const LEAST_DRAWS = 2 / OUTSIDE - 1;
const LOW = OUTSIDE / 2;
const HIGH = 1 - OUTSIDE / 2;
/** Upper end over lower end of a degree bin; small degrees have a bin each. */
const BIN_RATIO = 1.3;

/** Compares draws with the raw test part: also its items that training never saw, since the draws include unseen ones. */
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
      wanted.map((name) => [
        name,
        checkStatistic(
          draws.map((draw) => draw[name]),
          test[name],
        ),
      ]),
    ),
    degrees: Object.fromEntries(
      SIDES.map((side) => [
        side,
        degreeBands(
          draws.map((draw) => draw.degrees[side]),
          test.degrees[side],
        ),
      ]),
    ) as Record<SideName, DegreeBin[]>,
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

/** Bins up to the largest degree of the test graph or of any draw. */
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
