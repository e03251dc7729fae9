// Calibrates predictive intervals, which are only as good as the approximation behind them. Replicas are graphs drawn from the
// model, so their truth is known. Each is split, fitted, folded in and drawn from as the data were. The deviation of a replica's
// test graph from its own draws, in their standard deviations, shows two things: the bias of the draws, and whether their
// intervals are too narrow or too wide. The data's intervals are shifted and rescaled accordingly.

import { InputError, throwIfAborted } from '../errors.js';
import { refitOptions } from '../fit/ascent/previous.js';
import { fit } from '../fit/fit.js';
import type { PosteriorModel } from '../fit/model.js';
import { SIDES } from '../graph/graph.js';
import { meanAndSpread } from '../math/moments.js';
import { LEAST_REPLICAS } from '../options/commands/evaluate.js';
import { option, optionError } from '../options/error.js';
import type { DrawsGiven, EngineName } from '../options/names.js';
import { type DrawOptions, drawOptions, drawPredictive } from '../predict/draw/draw.js';
import { type GraphStatistics, graphStatistics } from '../predict/draw/draw-graph.js';
import { createReplicator, type HeldOutUsers } from '../predict/draw/replica.js';
import { split } from '../sample/split.js';
import type { Split } from '../sample/split-types.js';
import { foldHeldOut } from './held-out.js';
import {
  byStatistic,
  type CalibratedStatistic,
  checkStatistic,
  forCompared,
  type PredictiveCheck,
  type Statistic,
  shiftedCheck,
  valuesOf,
} from './predictive.js';

interface CalibrateOptions extends Omit<DrawOptions, 'drawsGiven'> {
  /** Number of replicas, at least 5. Each takes as long as the fit and its draws. */
  readonly replicas: number;
  /** The engine of the replicas' fits and fold-ins. A model of the exact sampler is sampled again. Default auto. */
  readonly engine?: EngineName | undefined;
}

/** Checks the number of replicas; 0 means no calibration. */
export function replicaCount(replicas: number): number {
  if (replicas > 0 && replicas < LEAST_REPLICAS) {
    throw optionError`${option('calibrate')} ${replicas}: fewer than ${LEAST_REPLICAS} replicas do not show the error of the intervals; give ${LEAST_REPLICAS} or more, or 0 for none`;
  }
  return replicas;
}

export const PAPER_IS_NOT_CALIBRATED =
  'the paper’s draws omit vertices by design, and a correction would hide that; leave out one of the two';

/**
 * Why replicas must not correct a model's intervals; undefined if they may. A side without unseen atoms misses the vertices that
 * training never saw, on replicas as on the data. A correction would hide this error of the model.
 */
export function reasonAgainstCalibration(
  model: Pick<PosteriorModel, 'users' | 'items'>,
  drawsGiven: DrawsGiven = 'unconditional',
): string | undefined {
  if (drawsGiven === 'paper') return PAPER_IS_NOT_CALIBRATED;
  const closed = SIDES.filter((side) => model[side].hyper.size === 0);
  if (closed.length === 0) return undefined;
  return (
    `the model expects no unseen ${closed.join(' or ')}, so its draws miss them; a correction would hide this error of ` +
    'the model: calibrate the sparse model'
  );
}

/** Corrects the intervals of a check by the deviations on replicas of the model. */
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
  forCompared(check, draws, (name, values, observed) => {
    const corrected = correctedInterval(
      values,
      observed,
      places.map((place) => place[name]),
    );
    if (corrected) statistics[name] = corrected;
  });
  return Object.freeze({ ...check, calibration: { replicas, statistics } });
}

/** The position of a test graph among its draws, by statistic. */
type Place = Readonly<Record<Statistic, ReplicaPlace>>;

interface ReplicaPlace {
  /** The observed value minus the mean of the draws, in their standard deviations. */
  readonly deviation: number;
  /** Whether the observed value lies within the central 90 % of the draws. */
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
  return byStatistic((name) => {
    const values = valuesOf(draws, name);
    const { low, high } = checkStatistic(values, observed[name]);
    const { mean, spread } = meanAndSpread(values);
    return {
      deviation: (observed[name] - mean) / spread,
      inside: observed[name] >= low && observed[name] <= high,
    };
  });
}

/**
 * If the model is right, the deviations of the replicas and that of the data have the same distribution. So the 90 % prediction
 * interval of the data's deviation comes from Student's distribution.
 */
export function correctedInterval(
  draws: readonly number[],
  observed: number,
  places: readonly ReplicaPlace[],
): CalibratedStatistic | undefined {
  const usable = places.filter(({ deviation }) => Number.isFinite(deviation));
  if (usable.length < LEAST_REPLICAS || meanAndSpread(draws).spread === 0) return undefined;
  const deviations = meanAndSpread(usable.map(({ deviation }) => deviation));
  if (deviations.spread === 0) return undefined;
  const scale = deviations.spread * Math.sqrt(1 + 1 / usable.length);
  const shift = { mean: deviations.mean, scale, degrees: usable.length - 1 };
  const { low, high, pValue } = shiftedCheck(draws, observed, shift);
  return { held: usable.filter(({ inside }) => inside).length, replicas: usable.length, low, high, pValue };
}
