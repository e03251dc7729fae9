// How will it grow? Both sides, their edges and their density, when either side has reached a multiple of its present
// size.

import { InputError, throwIfAborted } from '../errors.js';
import { fit } from '../fit/fit.js';
import type { PosteriorModel } from '../fit/model.js';
import { type BipartiteGraph, type BySide, bySide, otherSide, SIDES, type SideName } from '../graph/graph.js';
import { randomStream } from '../math/random.js';
import { STREAMS } from '../math/streams.js';
import { withDefaults } from '../options/check-options.js';
import { FORECAST } from '../options/commands/forecast.js';
import { type OptionsOf, value } from '../options/declare.js';
import { option, optionError } from '../options/error.js';
import { edgeTimes, TASK } from '../options/shared.js';
import type { TaskOptions } from '../progress.js';
import type { DegreeCounts } from '../sparsity/degree-counts.js';
import { type Backtest, backtest, type Refusal, unexplainedError } from './backtest.js';
import { type TimeTest, testByTime } from './by-time.js';
import { type DegreeModel, fitDegreeModel, growthUntil, unseenForEver } from './degree-model.js';
import { DEFAULT_ESTIMATOR, ESTIMATOR_NAMES, type EstimatorName } from './estimators.js';
import { drawGrowth } from './model-draws.js';
import { inPeriod, type NextPeriod, nextPeriod, periodEnds } from './next-period.js';
import {
  countInterval,
  exactly,
  type Foreseen,
  type Projection,
  project,
  REACH,
  type Uncertain,
} from './project.js';

const GIVEN = {
  /** A model fitted to these data. */
  model: value<PosteriorModel>('object', 'a model fitted to these data'),
  /** The time of each edge, milliseconds since 1970, in the order of graph.users.neighbors. */
  times: edgeTimes('the time of each edge, milliseconds since 1970'),
};

/** The growth to forecast, and the estimators; declared in options/commands/forecast.ts. */
export interface ForecastOptions extends OptionsOf<typeof FORECAST & typeof GIVEN>, TaskOptions {}

/** Estimators by degrees, and the model's draws. */
export type ForecastEstimator = EstimatorName | 'model';

/** How a count grows along the size of the data. */
export interface CurveForecast extends Foreseen {
  /** Multiple of the growing side. */
  readonly times: number;
  readonly estimators: Readonly<Partial<Record<ForecastEstimator, Foreseen>>>;
}

/** What a side does while the other grows. */
export interface SideForecast {
  /** Vertices seen so far. */
  readonly seen: number;
  /** By multiples of the other side; ends at the last that passed the back-test, if another failed. */
  readonly curve: readonly CurveForecast[];
  /** Back-tests, by multiples of the other side. */
  readonly backtests: readonly Backtest[];
  /** Of the next edges that the other side's newcomers bring, the share that goes to vertices never seen before. */
  readonly discoveryRate: number;
  /** For a side with an upper limit: its size, and the number of edges at which 95 % of it is seen. */
  readonly saturation: { readonly all: number; readonly edges: number } | undefined;
}

/** The forecast of growth, with intervals and a back-test. */
export interface GrowthForecast {
  readonly observed: Readonly<Record<'users' | 'items' | 'edges' | 'density', number>>;
  /** The multiples that were asked for. */
  readonly asked: BySide<number>;
  /** At those; undefined if there is no forecast. */
  readonly forecast: Readonly<Record<'users' | 'items' | 'edges' | 'density', Foreseen>> | undefined;
  readonly estimator: EstimatorName;
  /** Every estimator at the multiples asked for. */
  readonly estimators: Readonly<Partial<Record<ForecastEstimator, Partial<BySide<Foreseen>>>>>;
  readonly sides: BySide<SideForecast>;
  /** The back-test at the multiples asked for: the worse of the two sides where both grow. */
  readonly backtest:
    | { readonly error: number; readonly coverage: number; readonly trials: number; readonly times: number }
    | undefined;
  readonly refused:
    | {
        readonly reason: Refusal;
        readonly side: SideName;
        readonly times: number;
        readonly error: number | undefined;
        readonly coverage: number | undefined;
      }
    | undefined;
  /** Why there are no draws from the model: they were not requested, or the data are too large to fit it by default. */
  readonly modelLeftOut: 'unasked' | 'large' | undefined;
  /** The growth in the next period, if one was asked for. */
  readonly next: NextPeriod | undefined;
  /** With the times of the edges: whether growth was exchangeable. */
  readonly time: { readonly tests: readonly TimeTest[]; readonly exchangeable: boolean } | undefined;
}

/** Above this number of edges, a model is fitted only if draws are requested. */
const MOST_EDGES_UNASKED = 5e5;
const SEEN_SHARE = 0.95;

/**
 * Forecasts how many users, items and edges there will be; `await forecastGrowth(graph, { usersTimes: 2 })`.
 * @example
 * import { forecastGrowth, simulate } from 'graphex';
 * const { graph } = await simulate({ features: 4, users: { size: 30 }, items: { size: 30 }, seed: 1 });
 * const { forecast, refused } = await forecastGrowth(graph, { usersTimes: 2, draws: 0 });
 * console.log(forecast?.items ?? refused);
 */
export async function forecastGrowth(
  graph: BipartiteGraph,
  options: ForecastOptions = {},
): Promise<GrowthForecast> {
  const settings = withDefaults({ ...FORECAST, ...GIVEN, ...TASK }, options);
  const { signal, onProgress, threads } = settings;
  const { until, trials, draws, seed, features, iterations } = settings;
  if (graph.edges === 0) throw new InputError('the graph has no edges: there is nothing that could grow');
  if (options.times && options.times.length !== graph.edges) {
    throw new InputError(`times: ${options.times.length} for ${graph.edges} edges; give one for each`);
  }
  const next = nextOf(graph, options);
  const asked = { users: next?.times ?? settings.usersTimes, items: settings.itemsTimes };
  const random = randomStream(seed, STREAMS.backtests);
  const leftOut =
    draws === 0
      ? 'unasked'
      : graph.edges > MOST_EDGES_UNASKED && options.draws === undefined && !options.model
        ? 'large'
        : undefined;
  const task = { threads, signal, onProgress };
  const fitted = async () => (await fit(graph, { features, iterations, seed, ...task })).model;
  const model = leftOut === undefined ? (options.model ?? (await fitted())) : undefined;
  const endOf = async (counted: SideName): Promise<End> => {
    const growing = otherSide(counted);
    const s = SIDES.indexOf(counted);
    const ends = next && growing === 'users' ? periodEnds(graph, next) : [];
    const grid = gridTo(Math.max(until, asked[growing], ...ends), [asked[growing], ...ends]);
    const side = { own: graph[growing], other: graph[counted] };
    throwIfAborted(signal);
    const { counts, projections } = project(side, grid, random.derive(s, 0));
    const tried = grid.filter((f) => f > 1 && (f === asked[growing] || f === 2 || f === until));
    const backtests = await backtest(side, tried, trials, random.derive(s, 1), task);
    const drawn = model && (await drawGrowth(model, growing, grid, { draws, seed, ...task }));
    const seen = graph[counted].count;
    const failed = backtests.findIndex(({ refused }) => refused);
    // Between the last test that passed and the first that failed, nothing was tested.
    const reach = failed < 0 ? Number.POSITIVE_INFINITY : (backtests[failed - 1]?.times ?? 1);
    const points = projections.map((projection, at) => curvePoint(projection, backtests, seen, drawn?.[at]));
    const at = grid.indexOf(asked[growing]);
    return {
      side: Object.freeze({
        seen,
        curve: points.filter(({ times }) => times <= reach),
        backtests,
        discoveryRate: (counts.degree[0] === 1 ? counts.vertices[0] : 0) / counts.sum,
        saturation: saturation(fitDegreeModel(counts), counts, graph.edges),
      }),
      point: points[at],
      projection: projections[at],
      backtest: backtests.find(({ times }) => times === asked[growing]),
      period: ends.map((times) => points[grid.indexOf(times)]),
    };
  };
  const ends = { users: await endOf('users'), items: await endOf('items') };
  const tests = options.times ? timeTests(graph, options.times, asked, ends, random.derive(2)) : undefined;
  const refusedSide = SIDES.find((counted) => ends[counted].backtest?.refused);
  const refusal = refusedSide && ends[refusedSide].backtest!;
  const foreseen = combined(graph, asked, ends);
  return Object.freeze({
    observed: {
      users: graph.users.count,
      items: graph.items.count,
      edges: graph.edges,
      density: graph.edges / (graph.users.count * graph.items.count),
    },
    asked,
    forecast: refusal ? undefined : next ? inPeriod(foreseen, graph, asked, ends.items, next) : foreseen,
    estimator: DEFAULT_ESTIMATOR,
    estimators: estimatorsAt(asked, ends),
    sides: bySide((counted) => ends[counted].side),
    backtest: worstBacktest(SIDES.map((counted) => ends[counted].backtest)),
    refused:
      refusal &&
      Object.freeze({
        reason: refusal.refused!,
        side: otherSide(refusedSide),
        times: refusal.times,
        error: refusal.estimators[DEFAULT_ESTIMATOR]?.error,
        coverage: refusal.estimators[DEFAULT_ESTIMATOR]?.coverage,
      }),
    modelLeftOut: leftOut,
    next,
    time: tests && { tests, exchangeable: tests.every(({ held }) => held) },
  });
}

function nextOf(graph: BipartiteGraph, { next, times, usersTimes }: ForecastOptions): NextPeriod | undefined {
  if (next === undefined) return undefined;
  if (usersTimes !== undefined) {
    throw optionError`${option('next')} and ${option('usersTimes')} both say how the users grow; give one of them`;
  }
  if (!times) {
    throw optionError`${option('next')} needs the time of each row: name its column with ${option('time')}`;
  }
  return nextPeriod(graph, times, next);
}

/** What a side does while the other grows, and its forecasts at the multiple asked for. */
interface End {
  readonly side: SideForecast;
  readonly point: CurveForecast;
  readonly projection: Projection;
  readonly backtest: Backtest | undefined;
  /** At the lowest and the highest number of users of the next period; empty if there is no period. */
  readonly period: readonly CurveForecast[];
}

/** Multiples from 1 on, evenly spaced in their logarithm, with those that are asked about among them. */
function gridTo(until: number, asked: readonly number[]): readonly number[] {
  const steps = 12;
  const even = Array.from({ length: steps + 1 }, (_, i) =>
    i === steps ? until : Number((until ** (i / steps)).toPrecision(3)),
  );
  const two = until >= 2 ? [2] : [];
  return [...new Set([...even, ...two, ...asked])].sort((a, b) => a - b);
}

/** The error by the jackknife groups, widened by the error of the back-tests that chance does not explain. */
function widened(
  foreseen: Uncertain,
  backtests: readonly Backtest[],
  name: EstimatorName,
  times: number,
): Uncertain {
  const error = Math.hypot(foreseen.error, wideningAt(backtests, name, times) * foreseen.value);
  return { value: foreseen.value, error };
}

/** The widening at a multiple: linear between the back-tests around it, and 0 at the present size. */
function wideningAt(backtests: readonly Backtest[], name: EstimatorName, times: number): number {
  let before = { times: 1, widening: 0 };
  for (const test of backtests) {
    const here = { times: test.times, widening: unexplainedError(test.estimators[name]) };
    if (times <= here.times) {
      const share = (times - before.times) / (here.times - before.times);
      return before.widening + share * (here.widening - before.widening);
    }
    before = here;
  }
  return before.widening;
}

function curvePoint(
  { times, vertices }: Projection,
  backtests: readonly Backtest[],
  seen: number,
  drawn: Foreseen | undefined,
): CurveForecast {
  const estimators: Partial<Record<ForecastEstimator, Foreseen>> = {};
  for (const name of ESTIMATOR_NAMES) {
    const foreseen = vertices[name];
    if (foreseen) estimators[name] = countInterval(widened(foreseen, backtests, name, times), seen);
  }
  if (drawn) estimators.model = drawn;
  return { times, ...(times === 1 ? exactly(seen) : estimators[DEFAULT_ESTIMATOR]!), estimators };
}

function saturation(
  degreeModel: DegreeModel | undefined,
  { count: seen, degree }: DegreeCounts,
  edges: number,
): SideForecast['saturation'] {
  // If no vertex has few edges, no new vertices are expected. If every vertex has a single edge, there is no upper limit.
  if (!degreeModel) return degree[0] > 1 ? { all: seen, edges } : undefined;
  const all = seen + unseenForEver(degreeModel);
  if (!Number.isFinite(all)) return undefined;
  const missing = SEEN_SHARE * all - seen;
  return { all, edges: missing <= 0 ? edges : edges * (1 + growthUntil(degreeModel, missing)) };
}

/** If both sides grow: the size that the other side's growth gives, times the side's own multiple. */
function combined(
  graph: BipartiteGraph,
  asked: BySide<number>,
  ends: BySide<End>,
): NonNullable<GrowthForecast['forecast']> {
  const side = (counted: SideName) => scaled(ends[counted].point, asked[counted]);
  const product = (value: number, pick: (projection: Projection) => Uncertain): Foreseen => {
    const relative = Math.hypot(
      ...SIDES.map((counted) => {
        const foreseen = pick(ends[counted].projection);
        return asked[otherSide(counted)] > 1 ? foreseen.error / foreseen.value : 0;
      }),
    );
    // Never below 0, and symmetric in the logarithm.
    return {
      mean: value,
      low: value * Math.exp(-REACH * relative),
      high: value * Math.exp(REACH * relative),
    };
  };
  const [users, items] = [side('users'), side('items')];
  const edges = product(asked.users * asked.items * graph.edges, (projection) => projection.edges);
  return {
    users,
    items,
    edges: { ...edges, low: Math.max(graph.edges, Math.floor(edges.low)), high: Math.ceil(edges.high) },
    density: product(edges.mean / (users.mean * items.mean), (projection) => projection.density),
  };
}

function scaled({ mean, low, high }: Foreseen, factor: number): Foreseen {
  return { mean: mean * factor, low: Math.floor(low * factor), high: Math.ceil(high * factor) };
}

function estimatorsAt(asked: BySide<number>, ends: BySide<End>): GrowthForecast['estimators'] {
  const result: Partial<Record<ForecastEstimator, Partial<Record<SideName, Foreseen>>>> = {};
  for (const counted of SIDES) {
    for (const [name, foreseen] of Object.entries(ends[counted].point.estimators)) {
      const entry = (result[name as ForecastEstimator] ??= {});
      entry[counted] = scaled(foreseen, asked[counted]);
    }
  }
  return result;
}

function worstBacktest(tests: readonly (Backtest | undefined)[]): GrowthForecast['backtest'] {
  let worst: GrowthForecast['backtest'];
  for (const test of tests) {
    const found = test?.estimators[DEFAULT_ESTIMATOR];
    if (!test || !found || (worst && worst.error >= found.error)) continue;
    worst = { error: found.error, coverage: found.coverage, trials: found.trials, times: test.times };
  }
  return worst;
}

function timeTests(
  graph: BipartiteGraph,
  times: Float64Array,
  asked: BySide<number>,
  ends: BySide<End>,
  random: ReturnType<typeof randomStream>,
): readonly TimeTest[] {
  return SIDES.filter((side) => asked[side] > 1).flatMap((side, at) => {
    const known = ends[otherSide(side)].backtest?.estimators[DEFAULT_ESTIMATOR];
    return testByTime(graph, times, side, asked[side], unexplainedError(known), random.derive(at));
  });
}
