// The back-test of a forecast. It thins the growing side at random to 1/times of its size, forecasts from the rest, and compares
// the forecast with the data, in several trials. The errors show how far to trust the forecast at the same multiple. Errors
// beyond chance widen its intervals; if the back-test fails, there is no forecast.

import { throwIfAborted } from '../errors.js';
import { meanAndSpread } from '../math/moments.js';
import type { Random } from '../math/random.js';
import { createTurns } from '../parallel/turns.js';
import type { TaskOptions } from '../progress.js';
import { drawAssignment } from '../sample/pq.js';
import { DEFAULT_ESTIMATOR, ESTIMATOR_NAMES, type EstimatorName } from './estimators.js';
import { countInterval, type GrowingSide, project } from './project.js';

/** How one estimator did over the trials of a back-test. */
export interface TrackRecord {
  /** Mean of log(foreseen / true). */
  readonly bias: number;
  readonly spread: number;
  /** Root mean square of foreseen/true − 1. */
  readonly error: number;
  /** Share of the trials whose 90 % interval contained the truth. */
  readonly coverage: number;
  readonly trials: number;
}

/** Why a forecast is refused: too little is left after thinning, the intervals missed, or they would be too wide to use. */
export const REFUSALS = ['few', 'missed', 'wide'] as const;
/** Why no forecast was made. */
export type Refusal = (typeof REFUSALS)[number];

/** How well forecasts from a part of the data agree with all data. */
export interface Backtest {
  readonly times: number;
  readonly trials: number;
  readonly estimators: Readonly<Record<EstimatorName, TrackRecord | undefined>>;
  /** Of the number of edges. */
  readonly edges: TrackRecord | undefined;
  /** Why the default estimator is not to be trusted at this multiple. */
  readonly refused: Refusal | undefined;
}

/** Vertices that a thinned side must have on average, of either kind, to be worth a forecast. */
const FEWEST_SAMPLES = 10;
/** Coverage of 90 % intervals below which a back-test has failed, unless the error is too small to matter. */
const LEAST_COVERAGE = 0.6;
const SMALL_ERROR = 0.05;
/** A larger error makes a forecast useless. */
const LARGEST_ERROR = 0.5;

/** Tries the forecast at each of the given multiples, `trials` times. */
export async function backtest(
  side: GrowingSide,
  times: readonly number[],
  trials: number,
  random: Random,
  { signal, onProgress }: Pick<TaskOptions, 'signal' | 'onProgress'> = {},
): Promise<Backtest[]> {
  const results: Backtest[] = [];
  const turn = createTurns();
  for (const [at, f] of times.entries()) {
    const found: Trial[] = [];
    for (let trial = 0; trial < trials; trial++) {
      await turn();
      throwIfAborted(signal);
      onProgress?.({
        stage: 'back-testing',
        done: at * trials + trial,
        total: times.length * trials,
        unit: 'trials',
      });
      const tried = tryOnce(side, f, random.derive(at, trial));
      if (tried) found.push(tried);
    }
    results.push(summarize(f, found, trials, side.own.count / f));
  }
  return results;
}

interface Trial {
  readonly vertices: Readonly<Partial<Record<EstimatorName, Hit | undefined>>>;
  readonly edges: Hit;
}

interface Hit {
  /** Foreseen over true. */
  readonly ratio: number;
  readonly held: boolean;
}

function tryOnce(side: GrowingSide, times: number, random: Random): Trial | undefined {
  const { own, other } = side;
  const kept = drawAssignment(own.count, 1 / times, random.derive(0));
  const samples = kept.reduce((sum, bit) => sum + bit, 0);
  if (samples < 2) return undefined;
  const { counts, projections } = project(side, [own.count / samples], random.derive(1), kept);
  const [{ vertices, edges }] = projections;
  const hit = (foreseen: { value: number; error: number }, truth: number, least: number): Hit => {
    const { low, high } = countInterval(foreseen, least);
    return { ratio: foreseen.value / truth, held: truth >= low && truth <= high };
  };
  return {
    vertices: Object.fromEntries(
      ESTIMATOR_NAMES.map((name) => {
        const foreseen = vertices[name];
        return [name, foreseen && hit(foreseen, other.count, counts.count)];
      }),
    ),
    edges: hit(edges, own.neighbors.length, counts.sum),
  };
}

function summarize(times: number, trials: readonly Trial[], asked: number, samples: number): Backtest {
  const recordOf = (hit: (trial: Trial) => Hit | undefined) => record(trials.map(hit), asked);
  const estimators = Object.fromEntries(
    ESTIMATOR_NAMES.map((name) => [name, recordOf(({ vertices }) => vertices[name])]),
  ) as Backtest['estimators'];
  return {
    times,
    trials: trials.length,
    estimators,
    edges: recordOf(({ edges }) => edges),
    refused: samples < FEWEST_SAMPLES ? 'few' : refusal(estimators[DEFAULT_ESTIMATOR]),
  };
}

/** An estimator with a value in most of the trials is evaluated on those. */
function record(hits: readonly (Hit | undefined)[], asked: number): TrackRecord | undefined {
  const given = hits.filter((hit) => hit !== undefined && Number.isFinite(hit.ratio)) as Hit[];
  if (given.length < Math.max(2, asked / 2)) return undefined;
  const logs = given.map(({ ratio }) => Math.log(Math.max(ratio, 1e-3)));
  const { mean, spread } = meanAndSpread(logs);
  return {
    bias: mean,
    spread,
    error: Math.sqrt(given.reduce((sum, { ratio }) => sum + (ratio - 1) ** 2, 0) / given.length),
    coverage: given.filter(({ held }) => held).length / given.length,
    trials: given.length,
  };
}

function refusal(record: TrackRecord | undefined): Refusal | undefined {
  if (!record) return 'few';
  if (record.error > LARGEST_ERROR) return 'wide';
  return record.coverage < LEAST_COVERAGE && record.error > SMALL_ERROR ? 'missed' : undefined;
}

/** The part of a back-test's mean error that its spread does not explain, relative: what intervals are widened by. */
export function unexplainedError(record: TrackRecord | undefined): number {
  if (!record) return 0;
  return Math.sqrt(Math.max(0, record.bias ** 2 - record.spread ** 2 / record.trials));
}
