// The loop of coordinate ascent: walks through the phases of a schedule with sweeps on an engine. Its state can be stopped, saved
// and resumed to the same numbers.

import type { EdgeIndex, EdgeTerm, Engine, TableTotals, TableValues } from '../../engine/engine.js';
import { FitError, located } from '../../errors.js';
import { type BySide, SIDES } from '../../graph/graph.js';
import type { EdgeRows } from '../../math/csr.js';
import type { TaskOptions } from '../../progress.js';
import { grouped, percent } from '../../text/numbers.js';
import type { RankerMember } from '../model.js';
import type { FitSettings, Learnable } from '../options.js';
import type { PreviousBlend } from '../ranking/blend/blend.js';
import type { RecencyReport } from '../ranking/half-life-search.js';
import { type BothHyper, type BothTables, evidenceBound, expectedCount, totalsOf } from './bound.js';
import { type MatchedTaus, matchTaus, maximizeHyper } from './hyper.js';
import { mergeFeatures } from './merge-features.js';
import {
  type Advanced,
  advance,
  ascendsBound,
  type Evaluation,
  expectedSweeps,
  inLastPhase,
  isLastPhase,
  type Phase,
  phaseOf,
  type Schedule,
} from './schedule.js';

/** Sweeps of a block. Hyperparameters move at its end; the objective is evaluated before its last sweep, so that it is known then. */
const BLOCK_SWEEPS = 5;

/** The state that decides how a fit continues. */
export interface LoopState {
  /** Sweeps done. */
  readonly iteration: number;
  readonly schedule: Schedule;
  /** The phase of the next sweep, counted from 0. */
  readonly phase: number;
  /** Sweeps done in this phase. */
  readonly swept: number;
  /** The last evaluation of the objective in this phase. */
  readonly last: Evaluation | undefined;
  /** Over-relaxation of the next sweeps. */
  readonly relaxation: number;
  /** [iteration, bound] of each evaluation of the bound. */
  readonly bounds: readonly (readonly [number, number])[];
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
  readonly tables: BySide<TableValues>;
  readonly totals: BySide<TableTotals>;
}

/** A ranking fit between two sweeps. Users are re-initialised in each sweep. */
export interface RankingState {
  readonly state: LoopState;
  readonly items: TableValues;
  /** Mass of each fold's items, folds × features. */
  readonly foldMass: Float64Array;
}

/** A ranking fit, or several whose scores are added: the first one under way, those done, and the others. */
export interface RankingCheckpoint extends RankingState {
  readonly method: 'ranking';
  readonly origin: FitOrigin;
  /** Seed of the first of its fits: it decides the folds. */
  readonly seed: number;
  /** Fits of `average` that are done; their seeds say which. */
  readonly done: readonly RankerMember[];
  /** The other fits under way. With the first they have the smallest seeds that no finished fit has, in this order. */
  readonly others?: readonly RankingState[] | undefined;
  /** Whether the fits started from a previous model. */
  readonly fromModel?: boolean | undefined;
  /** Settings and start of the blend, taken from a previous model. */
  readonly blend?: PreviousBlend | undefined;
  /** How the half-life of that model was found. */
  readonly recency?: RecencyReport | undefined;
}

/** Called after each block of sweeps with the state from which the next one starts. */
export type AfterBlock = (state: LoopState, tables: BothTables) => Promise<void>;

/** Why a fit ended: it converged, or its iterations were used up. (An aborted fit rejects.) */
export type StopReason = 'converged' | 'iterations';

export interface LoopResult {
  readonly state: LoopState;
  readonly tables: BothTables;
  /** Undefined if the fit was stopped before its last phase. */
  readonly bound: number | undefined;
  readonly stopped: StopReason | 'aborted';
}

interface MovingHyper {
  /** Those that the bound is maximized over. */
  readonly learn: BySide<readonly Learnable[]>;
  /** The τ that are matched to the degrees. */
  readonly matchedTaus: MatchedTaus;
}

/** What the loop needs of the data: the edges of this rank, and sums over all edges. */
interface LoopData {
  readonly edges: number;
  /** Rows of each side on this rank; users may lie in shards (engine/sharded/). */
  readonly users: EdgeRows;
  readonly items: EdgeRows;
  /** Σ log g! over the edges of a multigraph. */
  readonly factorials: number;
  /** Whether to stop, if several ranks must agree on it. Default: as the signal says. */
  readonly isStopped?: ((asked: boolean) => Promise<boolean>) | undefined;
}

/** When the loop ends, if the schedule has not. */
type LoopLimits = Pick<FitSettings, 'iterations' | 'tolerance'>;

interface Steps {
  readonly block: number;
  isStopped(): Promise<boolean>;
  /** Runs sweeps; resolves to the evaluations of the objective, in order. */
  sweep(state: LoopState, sweeps: number): Promise<readonly Evaluation[]>;
  onAdvance(advanced: Advanced): void;
  /** Between two blocks, with the phase of the last one; resolves to the state from which the next one starts. */
  afterBlock(state: LoopState, before: Phase): Promise<LoopState>;
}

/** Walks through the schedule until it has ended, the iterations are used up, or the walk is stopped. */
export async function walk(
  first: LoopState,
  { iterations, tolerance }: LoopLimits,
  steps: Steps,
): Promise<Pick<LoopResult, 'state' | 'stopped'>> {
  let state = first;
  while (state.iteration < iterations) {
    if (await steps.isStopped()) return { state, stopped: 'aborted' };
    const phase = phaseOf(state);
    const left = Math.min(iterations - state.iteration, (phase.sweeps ?? Infinity) - state.swept);
    const sweeps = Math.max(1, Math.min(steps.block, left));
    const advanced = advance(state, sweeps, await steps.sweep(state, sweeps), tolerance);
    steps.onAdvance(advanced);
    state = advanced.state;
    if (advanced.converged) return { state, stopped: 'converged' };
    state = await steps.afterBlock(state, phase);
  }
  return { state, stopped: 'iterations' };
}

/** Walks from the given tables, which it replaces when features are merged. */
export async function runLoop(
  engine: Engine,
  data: LoopData,
  given: BothTables,
  first: LoopState,
  limits: LoopLimits,
  moving: MovingHyper,
  task: TaskOptions,
  afterBlock: AfterBlock = async () => {},
): Promise<LoopResult> {
  const rows = data.users.offsets.length - 1;
  const index: BySide<EdgeIndex> = {
    users: await engine.createIndex(data.users, { side: 'own', rows }),
    items: await engine.createIndex(data.items, { side: 'other', rows }),
  };
  let tables = given;
  const began = performance.now();
  /** Merges features, or switches what the sides show. */
  const enter = async (hyper: BothHyper, before: Phase, after: Phase) => {
    if (after.features < before.features) tables = await mergeFeatures(engine, tables, hyper, after);
    else
      for (const side of SIDES)
        if (after[side] !== before[side]) await engine.setActivity(tables[side], after[side]);
  };
  try {
    const { state: end, stopped } = await walk(first, limits, {
      block: BLOCK_SWEEPS,
      isStopped: async () => (data.isStopped ?? Boolean)(task.signal?.aborted ?? false),
      sweep: (state, sweeps) => sweepAll(engine, index, tables, state, sweeps, data),
      onAdvance: (advanced) => report(task, advanced, data, limits, began, first.iteration),
      async afterBlock(state, phase) {
        const matched = phase.matchesTau
          ? await matchTaus(engine, tables, state.hyper, moving.matchedTaus)
          : state.hyper;
        const hyper = await maximizeHyper(engine, tables, matched, moving.learn, phase);
        await enter(hyper, phase, phaseOf(state));
        const next = { ...state, hyper };
        await afterBlock(next, tables);
        return next;
      },
    });
    if (stopped === 'aborted' && !isLastPhase(end)) return { state: end, tables, bound: undefined, stopped };
    const state = inLastPhase(end);
    await enter(state.hyper, phaseOf(end), phaseOf(state));
    const edges = await engine.edgeTerm(tables.users, index.users, tables.items);
    const bound = await evidenceBound(engine, tables, state.hyper, edges, data.factorials);
    // The list may hold this state's bound already, from before its hyperparameters moved.
    const bounds = state.bounds.filter(([iteration]) => iteration < state.iteration);
    const listed = { ...state, bounds: [...bounds, [state.iteration, bound] as const] };
    return { state: stopped === 'aborted' ? state : listed, tables, bound, stopped };
  } finally {
    for (const side of SIDES) void engine.free(index[side]);
  }
}

/**
 * Sweeps of two half-steps. If the phase asks for the objective, it is evaluated before the last sweep, and before the first one of
 * the phase: its row terms before the sweep, its edge term in the sweep's first pass.
 */
async function sweepAll(
  engine: Engine,
  index: BySide<EdgeIndex>,
  tables: BothTables,
  state: LoopState,
  sweeps: number,
  data: LoopData,
): Promise<Evaluation[]> {
  const { hyper, relaxation, iteration, swept } = state;
  const phase = phaseOf(state);
  const evaluations: Promise<Evaluation>[] = [];
  const halfSteps: Promise<unknown>[] = [];
  for (let s = 0; s < sweeps; s++) {
    const evaluates = phase.until !== undefined && (s === sweeps - 1 || (s === 0 && !state.last));
    const rest = evaluates ? restOfObjective(engine, tables, hyper, data, phase) : undefined;
    for (const [side, other] of [['users', 'items'] as const, ['items', 'users'] as const]) {
      const edgeTerm = evaluates && side === 'users';
      const options = { hyper: hyper[side], activity: phase[side], relaxation, edgeTerm };
      const place = `sweep ${iteration + s + 1}, ${side}`;
      const step = engine
        .update(tables[side], index[side], tables[other], options)
        .catch((error) => Promise.reject(located(error, place)));
      halfSteps.push(step);
      if (edgeTerm) evaluations.push(objective(rest!, step, [swept + s, iteration + s + 1]));
    }
  }
  await Promise.all([...halfSteps, ...evaluations]);
  return Promise.all(evaluations);
}

async function objective(
  rest: Promise<number>,
  edgeTerm: Promise<EdgeTerm | undefined>,
  [swept, sweep]: readonly [number, number],
): Promise<Evaluation> {
  const [others, edges] = await Promise.all([rest, edgeTerm]);
  const value = others + edges!;
  if (Number.isFinite(value)) return [swept, value];
  throw new FitError(`sweep ${sweep}: the bound became ${value}`);
}

/**
 * The objective of the present state without its edge term: the bound, or the log-likelihood at the posterior means.
 */
async function restOfObjective(
  engine: Engine,
  tables: BothTables,
  hyper: BothHyper,
  data: LoopData,
  phase: Phase,
): Promise<number> {
  if (ascendsBound(phase)) return evidenceBound(engine, tables, hyper, 0, data.factorials);
  return -expectedCount(await totalsOf(engine, tables));
}

function report(
  task: TaskOptions,
  advanced: Advanced,
  data: LoopData,
  { iterations, tolerance }: LoopLimits,
  began: number,
  from: number,
): void {
  const { state, change } = advanced;
  const { iteration, schedule, last } = state;
  const phase = phaseOf(state);
  const rate = (data.edges * (iteration - from)) / ((performance.now() - began) / 1000);
  const note = [
    last && `${ascendsBound(phase) ? 'bound' : 'likelihood'} ${grouped(last[1])}`,
    change !== undefined && `change ${percent(change)}`,
    `${(rate / 1e6).toPrecision(3)} M edges/s`,
  ];
  task.onProgress?.({
    stage: phase.features > schedule[schedule.length - 1].features ? 'exploring' : 'fitting',
    ...{ done: iteration, total: iterations, unit: 'iterations', note: note.filter(Boolean).join(', ') },
    expected: expectedSweeps(advanced, iterations, tolerance),
  });
}
