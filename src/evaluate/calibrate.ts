// Predictive intervals are as good as the approximation behind them. Replicas show how good that is on data of this
// kind: graphs drawn from the model, whose truth is therefore known, are split, fitted, folded in and drawn from as the
// data were. Where a replica's test graph lies among its own draws, in their standard deviations, is how far off this
// way of drawing is and how much too narrow or wide; the data's intervals are moved and rescaled by that.

import type { EngineName } from '../engine/select.js';
import { InputError, throwIfAborted } from '../errors.js';
import { fit } from '../fit/fit.js';
import type { PosteriorModel } from '../fit/model.js';
import { refitOptions } from '../fit/refit.js';
import { SIDES } from '../graph/graph.js';
import { meanAndSpread } from '../math/moments.js';
import { studentQuantile, studentTwoSided } from '../math/student.js';
import { LEAST_REPLICAS } from '../options/commands/evaluate.js';
import { option, optionError } from '../options/error.js';
import { type DrawOptions, drawOptions, drawPredictive } from '../predict/draw/draw.js';
import { type GraphStatistics, graphStatistics } from '../predict/draw/draw-graph.js';
import type { DrawsGiven } from '../predict/draw/draw-plan.js';
import { createReplicator, type HeldOutUsers } from '../predict/draw/replica.js';
import { split } from '../sample/split.js';
import type { Split } from '../sample/split-types.js';
import { foldHeldOut } from './held-out.js';
import {
  type CalibratedStatistic,
  checkStatistic,
  OUTSIDE,
  type PredictiveCheck,
  STATISTICS,
  type Statistic,
} from './predictive.js';

export interface CalibrateOptions extends Omit<DrawOptions, 'drawsGiven'> {
  /** Number of replicas, each as much work as the fit and its draws were; at least 5. */
  readonly replicas: number;
  /** Of the replicas' fits and fold-ins; a model of the exact sampler is sampled again. Default auto. */
  readonly engine?: EngineName | undefined;
}

/** The number of replicas, or 0 for no calibration, as it was asked for. */
export function replicaCount(replicas: number): number {
  if (replicas > 0 && replicas < LEAST_REPLICAS) {
    throw optionError`${option('calibrate')} ${replicas}: fewer than ${LEAST_REPLICAS} replicas do not tell how far off intervals are; give ${LEAST_REPLICAS} or more, or 0 for none`;
  }
  return replicas;
}

export const PAPER_IS_NOT_CALIBRATED =
  'the paper’s draws leave out vertices by design, and a correction would hide that; leave out one of the two';

/**
 * Why replicas must not correct a model's intervals, if so. Draws of a side without unseen atoms miss vertices that training
 * never saw, on replicas as on the data: a correction would hide what is wrong with the model.
 */
export function reasonAgainstCalibration(
  model: Pick<PosteriorModel, 'users' | 'items'>,
  drawsGiven: DrawsGiven = 'unconditional',
): string | undefined {
  if (drawsGiven === 'paper') return PAPER_IS_NOT_CALIBRATED;
  const closed = SIDES.filter((side) => model[side].hyper.size === 0);
  if (closed.length === 0) return undefined;
  return (
    `the model expects no unseen ${closed.join(' or ')} and its draws miss them; that is the model's error, which a ` +
    'correction would hide: calibrate the sparse model'
  );
}

/** The check with its intervals corrected by what happens on replicas of the model. */
export async function calibratePredictive(
  model: PosteriorModel,
  heldOut: HeldOutUsers,
  check: PredictiveCheck,
  draws: readonly GraphStatistics[],
  options: CalibrateOptions,
): Promise<PredictiveCheck> {
  const { replicas, seed = 1, signal, onProgress, threads, engine = 'auto' } = options;
  const fitted = refitOptions(model);
  const again = { ...(fitted.method === 'gibbs' ? fitted : { ...fitted, engine }), threads, signal };
  const replicate = createReplicator(model, heldOut);
  const places: Place[] = [];
  for (let r = 0; r < replicas; r++) {
    throwIfAborted(signal);
    onProgress?.({ stage: 'calibrating', done: r, total: replicas, unit: 'replicas' });
    const { testUsers, testItems } = heldOut.split;
    try {
      const parts = split(replicate(seed, r), { testUsers, testItems, seed: seed + 1 + r });
      const refitted = (await fit(parts.train, again)).model;
      places.push(await placeAmongDraws(refitted, parts, { ...options, onProgress: undefined }));
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      throw optionError`${option('calibrate')}: replica ${r + 1} of ${replicas} cannot be split and fitted (${error.message}); the data are too few to calibrate: leave it out`;
    }
  }
  onProgress?.({ stage: 'calibrating', done: replicas, total: replicas, unit: 'replicas' });
  const statistics: Partial<Record<Statistic, CalibratedStatistic>> = {};
  for (const name of STATISTICS) {
    const observed = check.observed[name];
    if (observed === undefined) continue;
    const corrected = correctedInterval(
      draws.map((draw) => draw[name]),
      observed,
      places.map((place) => place[name]),
    );
    if (corrected) statistics[name] = corrected;
  }
  return Object.freeze({ ...check, calibration: { replicas, statistics } });
}

/** Where a test graph lies among its draws, by statistic. */
type Place = Readonly<Record<Statistic, ReplicaPlace>>;

export interface ReplicaPlace {
  /** Observed less the mean of the draws, in their standard deviations. */
  readonly deviation: number;
  /** Within their central 90 %. */
  readonly inside: boolean;
}

async function placeAmongDraws(
  model: PosteriorModel,
  parts: Split,
  options: Omit<CalibrateOptions, 'replicas'>,
): Promise<Place> {
  const { threads, signal, engine } = options;
  const folded = (await foldHeldOut(model, parts, { threads, signal, engine })).folded!;
  const draws = await drawPredictive(model, folded, parts, drawOptions(options));
  const observed = graphStatistics(parts.test);
  const place = (name: Statistic) => {
    const values = draws.map((draw) => draw[name]);
    const { low, high } = checkStatistic(values, observed[name]);
    const { mean, spread } = meanAndSpread(values);
    return {
      deviation: (observed[name] - mean) / spread,
      inside: observed[name] >= low && observed[name] <= high,
    };
  };
  return Object.fromEntries(STATISTICS.map((name) => [name, place(name)])) as Record<
    Statistic,
    ReturnType<typeof place>
  >;
}

/**
 * The deviations of the replicas are a sample of the one that the data have if the model is right: its 90 % prediction
 * interval is that of Student's distribution.
 */
export function correctedInterval(
  draws: readonly number[],
  observed: number,
  places: readonly ReplicaPlace[],
): CalibratedStatistic | undefined {
  const usable = places.filter(({ deviation }) => Number.isFinite(deviation));
  const { mean, spread } = meanAndSpread(draws);
  if (usable.length < LEAST_REPLICAS || spread === 0) return undefined;
  const deviations = meanAndSpread(usable.map(({ deviation }) => deviation));
  if (deviations.spread === 0) return undefined;
  const scale = deviations.spread * Math.sqrt(1 + 1 / usable.length);
  const reach = studentQuantile(OUTSIDE, usable.length - 1) * scale;
  return {
    held: usable.filter(({ inside }) => inside).length,
    replicas: usable.length,
    low: Math.max(0, mean + (deviations.mean - reach) * spread),
    high: mean + (deviations.mean + reach) * spread,
    pValue: studentTwoSided(((observed - mean) / spread - deviations.mean) / scale, usable.length - 1),
  };
}
