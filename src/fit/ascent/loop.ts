// The loop of coordinate ascent: sweeps on an engine, the bound every few sweeps, and a state that can be
// stopped, saved and resumed to the same numbers.

import type { EdgeIndex, EdgeTerm, Engine, TableTotals, TableValues } from '../../engine/engine.js';
import { FitError, located } from '../../errors.js';
import { SIDES, type SideName } from '../../graph/graph.js';
import type { EdgeRows } from '../../math/csr.js';
import type { TaskOptions } from '../../progress.js';
import type { RankerMember } from '../model.js';
import type { FitSettings, Learnable } from '../options.js';
import type { PreviousBlend } from '../ranking/blend/blend.js';
import { type BothHyper, type BothTables, evidenceBound } from './bound.js';
import { type MatchedTaus, matchTaus, maximizeHyper } from './hyper.js';
import {
  type Activities,
  activities,
  afterWarmBlock,
  blockSweeps,
  boundChange,
  evaluatedStates,
  exactSweeps,
  hasConverged,
  matchedSweeps,
  movedSweeps,
  movesHyper,
} from './phases.js';

/** How far features are over-relaxed, until the bound falls once: then the rest of the fit is plain ascent. */
export const RELAXATION = 0.9;

/** The state that decides how a fit continues. */
export interface LoopState {
  /** Sweeps done. */
  readonly iteration: number;
  /** Sweeps of the warm phase; undefined while it lasts. */
  readonly warmSweeps: number | undefined;
  /** The fit started from a previous model. */
  readonly fromModel?: boolean | undefined;
  /** The fit was stopped on a sample: resuming starts it again. */
  readonly onSample?: boolean | undefined;
  /** The fit started with items that were fitted to a sample. */
  readonly fromSample?: boolean | undefined;
  /** [iteration, bound] of each evaluation since the warm phase ended. */
  readonly bounds: readonly (readonly [number, number])[];
  /** The warm phase's likelihood at its last evaluation. */
  readonly likelihood: number | undefined;
  /** Over-relaxation of the next sweeps. */
  readonly relaxation: number;
  readonly hyper: BothHyper;
}

/** What a saved fit was started with. */
export interface FitOrigin {
  /** The options that were given, with the defaults: a resumed fit resolves them again. */
  readonly options: Readonly<Record<string, unknown>>;
  /** Fingerprint of the data. */
  readonly fingerprint: string;
}

/** A fit that was stopped, with all that it needs to continue to the same numbers. */
export type Checkpoint = AscentCheckpoint | RankingCheckpoint;

/** Coordinate ascent: the loop's state, the tables and their totals, exactly. */
export interface AscentCheckpoint {
  readonly method: 'ascent';
  readonly origin: FitOrigin;
  readonly state: LoopState;
  readonly tables: Readonly<Record<SideName, TableValues>>;
  readonly totals: Readonly<Record<SideName, TableTotals>>;
}

/** A fit for ranking between two sweeps, all of which are warm. Users are re-initialised in each sweep. */
export interface RankingState {
  readonly state: LoopState;
  readonly items: TableValues;
  /** Mass of each fold's items, folds × features. */
  readonly foldMass: Float64Array;
}

/** A fit for ranking, or several whose scores are added: the first one under way, those done, and the others. */
export interface RankingCheckpoint extends RankingState {
  readonly method: 'ranking';
  readonly origin: FitOrigin;
  /** Seed of the first of its fits: it decides the folds. */
  readonly seed: number;
  /** Fits of `average` that are done; their seeds say which. */
  readonly done: readonly RankerMember[];
  /** The other fits under way. With the first they have the smallest seeds that no finished fit has, in this order. */
  readonly others?: readonly RankingState[] | undefined;
  /** Settings and start of the blend, taken from a previous model. */
  readonly blend?: PreviousBlend | undefined;
}

/** Called after each block of sweeps with the state from which the next one starts. */
export type AfterBlock = (state: LoopState, tables: BothTables) => Promise<void>;

/** Why a fit ended: it converged, or its iterations were used up. (An aborted fit rejects.) */
export type StopReason = 'converged' | 'iterations';

export interface LoopResult {
  readonly state: LoopState;
  readonly tables: BothTables;
  /** Undefined if the fit was stopped in its warm phase. */
  readonly bound: number | undefined;
  readonly stopped: StopReason | 'aborted';
}

/** The hyperparameters that move during a fit. */
export interface MovingHyper {
  /** Those that the bound is maximized over. */
  readonly learn: Readonly<Record<SideName, readonly Learnable[]>>;
  /** The τ that are matched to the degrees. */
  readonly matchedTaus: MatchedTaus;
}

/** What the loop needs of the data: the edges of this rank, and sums over all edges. */
export interface LoopData {
  readonly edges: number;
  /** Rows of each side on this rank; users may lie in shards (engine/sharded/). */
  readonly users: EdgeRows;
  readonly items: EdgeRows;
  /** Σ log g! over the edges of a multigraph. */
  readonly factorials: number;
  /** Whether to stop, if several ranks must agree on it. Default: as the signal says. */
  readonly isStopped?: ((asked: boolean) => Promise<boolean>) | undefined;
}

/** When the loop ends. */
export interface LoopLimits extends Pick<FitSettings, 'iterations' | 'tolerance'> {
  /** Most geometric sweeps, if fewer than `iterations`. */
  readonly exactSweeps?: number | undefined;
  /** Relative change at which the warm phase ends. Default: that of an ordinary fit. */
  readonly warmTolerance?: number | undefined;
}

/** Runs sweeps from the given tables until the bound settles, the iterations end, or the signal fires. */
export async function runLoop(
  engine: Engine,
  data: LoopData,
  tables: BothTables,
  first: LoopState,
  settings: LoopLimits,
  { learn, matchedTaus }: MovingHyper,
  task: TaskOptions,
  afterBlock: AfterBlock = async () => {},
): Promise<LoopResult> {
  const rows = data.users.offsets.length - 1;
  const index: Record<SideName, EdgeIndex> = {
    users: await engine.createIndex(data.users, { side: 'own', rows }),
    items: await engine.createIndex(data.items, { side: 'other', rows }),
  };
  const matched = SIDES.some((side) => matchedTaus[side] !== undefined);
  let state = first;
  let stopped: LoopResult['stopped'] = 'iterations';
  const began = performance.now();
  const { exactSweeps: most = Infinity } = settings;
  const boundNow = async (hyper: BothHyper): Promise<number> => {
    const edges = await engine.edgeTerm(tables.users, index.users, tables.items);
    return (await evidenceBound(engine, tables, hyper, edges, data, data.factorials)).value;
  };
  try {
    while (state.iteration < settings.iterations && exactSweeps(state) < most) {
      const asked = task.signal?.aborted ?? false;
      if (data.isStopped ? await data.isStopped(asked) : asked) {
        stopped = 'aborted';
        break;
      }
      const warm = state.warmSweeps === undefined;
      const shown = activities(state, data);
      const sweeps = Math.min(blockSweeps(state), settings.iterations - state.iteration);
      const evaluated = warm ? { before: true, after: false } : evaluatedStates(state);
      // The bound of the state before a block: its row terms now, its edge term from the block's first pass.
      const before = !evaluated.before
        ? undefined
        : warm
          ? likelihoodParts(engine, tables)
          : boundParts(engine, tables, state.hyper, data);
      const swept = sweep(
        engine,
        index,
        tables,
        state.hyper,
        shown,
        state.relaxation,
        sweeps,
        state.iteration,
        before !== undefined,
      );
      const [withEdges, edgeTerm] = await Promise.all([before, swept]);
      const valueBefore = withEdges?.(edgeTerm!);
      const valueAfter = evaluated.after ? await boundNow(state.hyper) : undefined;
      for (const value of [valueBefore, valueAfter]) {
        if (value !== undefined && !Number.isFinite(value))
          throw new FitError(`sweep ${state.iteration + 1}: the bound became ${value}`);
      }
      // The bound of the state before this block is compared with that of the block before.
      const moved = matched && exactSweeps(state) <= movedSweeps(state);
      if (warm) state = afterWarmBlock(state, valueBefore!, sweeps, settings);
      else {
        const known = withBound(state, valueBefore, state.iteration, moved);
        const iteration = state.iteration + sweeps;
        state = { ...withBound(known, valueAfter, iteration, moved), iteration };
      }
      const activity = activities(state, data);
      for (const side of SIDES) {
        if (activity[side] !== shown[side]) await engine.setActivity(tables[side], activity[side]);
      }
      report(task, state, data, settings, began, first.iteration);
      if (!moved && (evaluated.before || evaluated.after) && hasConverged(state, settings.tolerance)) {
        stopped = 'converged';
        break;
      }
      if (movesHyper(state, learn)) {
        const match = matched && state.warmSweeps !== undefined && exactSweeps(state) <= matchedSweeps(state);
        const hyper = match ? await matchTaus(engine, tables, state.hyper, matchedTaus) : state.hyper;
        state = { ...state, hyper: await maximizeHyper(engine, tables, hyper, learn, activity) };
      }
      await afterBlock(state, tables);
    }
    if (stopped !== 'aborted' && state.warmSweeps === undefined) {
      for (const side of SIDES) await engine.setActivity(tables[side], 'geometric');
      state = { ...state, warmSweeps: state.iteration };
    }
    // In the warm phase there is no bound: the edge pass uses means, for which L is not a bound.
    if (state.warmSweeps === undefined) return { state, tables, bound: undefined, stopped };
    const [at, last] = state.bounds.at(-1) ?? [];
    if (stopped === 'converged' && at === state.iteration) return { state, tables, bound: last, stopped };
    const bound = await boundNow(state.hyper);
    // The list may hold this state's bound already, from before its hyperparameters moved.
    const bounds = state.bounds.filter(([iteration]) => iteration < state.iteration);
    if (stopped !== 'aborted') state = { ...state, bounds: [...bounds, [state.iteration, bound]] };
    return { state, tables, bound, stopped };
  } finally {
    for (const side of SIDES) void engine.free(index[side]);
  }
}

/** Sweeps of two half-steps; resolves to the edge term of the state before the first, where it was asked for. */
async function sweep(
  engine: Engine,
  index: Readonly<Record<SideName, EdgeIndex>>,
  tables: BothTables,
  hyper: BothHyper,
  activity: Activities,
  relaxation: number,
  sweeps: number,
  done: number,
  withTerm: boolean,
): Promise<EdgeTerm | undefined> {
  const halfSteps: Promise<EdgeTerm | undefined>[] = [];
  for (let s = 0; s < sweeps; s++) {
    for (const [side, other] of [['users', 'items'] as const, ['items', 'users'] as const]) {
      const step = engine.update(tables[side], index[side], tables[other], {
        hyper: hyper[side],
        activity: activity[side],
        relaxation,
        edgeTerm: withTerm && halfSteps.length === 0,
      });
      const place = `sweep ${done + s + 1}, ${side}`;
      halfSteps.push(step.catch((error) => Promise.reject(located(error, place))));
    }
  }
  const [edgeTerm] = await Promise.all(halfSteps);
  return edgeTerm;
}

/** The bound of the present state but for its edge term, which the next pass gives. */
async function boundParts(
  engine: Engine,
  tables: BothTables,
  hyper: BothHyper,
  data: LoopData,
): Promise<(edgeTerm: number) => number> {
  const bound = await evidenceBound(engine, tables, hyper, 0, data, data.factorials);
  return (edgeTerm) => bound.value + edgeTerm;
}

/** The log-likelihood at the posterior means, which is what the warm phase climbs, but for its edge term. */
async function likelihoodParts(engine: Engine, tables: BothTables): Promise<(edgeTerm: number) => number> {
  const [users, items] = await Promise.all([engine.totals(tables.users), engine.totals(tables.items)]);
  let mass = 0;
  for (let k = 0; k < users.mass.length; k++) {
    mass += (users.mass[k] + users.unseenMass[k]) * (items.mass[k] + items.unseenMass[k]);
  }
  return (edgeTerm) => edgeTerm - mass;
}

/** The state with its bound after `at` sweeps, where it was evaluated. Where hyperparameters were matched (`moved`) it may fall for that alone. */
function withBound(state: LoopState, bound: number | undefined, at: number, moved: boolean): LoopState {
  if (bound === undefined) return state;
  // A finished fit that is resumed has this state's bound already.
  const bounds = state.bounds.filter(([iteration]) => iteration < at);
  const last = bounds.at(-1);
  const fell = !moved && last !== undefined && bound < last[1];
  return { ...state, bounds: [...bounds, [at, bound]], ...(fell && { relaxation: 0 }) };
}

function report(
  task: TaskOptions,
  state: LoopState,
  data: LoopData,
  settings: LoopLimits,
  began: number,
  from: number,
): void {
  const rate = (data.edges * (state.iteration - from)) / ((performance.now() - began) / 1000);
  const change = boundChange(state.bounds);
  const bound = state.bounds.at(-1)?.[1];
  const objective =
    bound === undefined ? `likelihood ${state.likelihood?.toPrecision(7)}` : `bound ${bound.toPrecision(7)}`;
  task.onProgress?.({
    stage: state.warmSweeps === undefined ? 'warming up' : 'fitting',
    done: state.iteration,
    total: settings.iterations,
    unit: 'iterations',
    note: `${objective}${change === undefined ? '' : `, change ${change.toExponential(1)}`}, ${(rate / 1e6).toPrecision(3)} M edges/s`,
  });
}
