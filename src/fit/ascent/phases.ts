// The phases of a fit: warm sweeps with posterior means, then geometric ones that ascend the bound. Sweeps
// run in blocks; the bound is evaluated and hyperparameters move between blocks.

import type { Activity } from '../../engine/engine.js';
import type { SideName } from '../../graph/graph.js';
import type { EdgeRows } from '../../math/csr.js';
import type { Learnable } from '../options.js';
import type { LoopLimits, LoopState } from './loop.js';

/** Sweeps between two evaluations of the bound. */
export const BLOCK_SWEEPS = 5;
/** The warm phase ends when its likelihood changes by less than this, relatively, per sweep. */
const WARM_TOLERANCE = 1e-4;
/** … but not before this many sweeps, and not after this share of all iterations. */
const WARM_LEAST = 40;
const WARM_SHARE = 0.5;
/** Items that come from a sample were warm before, so only the users need warm sweeps. */
const FROM_SAMPLE_TOLERANCE = 1e-3;
const FROM_SAMPLE_LEAST = 10;
/**
 * A fit from a previous model has a warm phase of two parts. First both sides use means: geometric sweeps alone leave new edges
 * of known vertices with features that do not suit them. Then only the side whose vertices have more edges uses means. That
 * finds a higher bound than the same number of sweeps of either kind.
 */
const PREVIOUS_BOTH_WARM = 3;
const PREVIOUS_WARM = 8;
/** Its blocks are short, since there are few sweeps. */
const PREVIOUS_BLOCK = 2;
/** Its bound is evaluated after this many geometric sweeps; it cannot have converged before. */
const PREVIOUS_EVALUATED = 8;
/** It ends when a sweep gains less than this many tolerances. */
const PREVIOUS_GAIN = 15;

/**
 * A τ that is matched to the degrees moves until this many geometric sweeps; from then on the bound can only rise. Fixing it
 * earlier would fix the scale that both sides share, before that scale is found.
 */
const MATCHED_SWEEPS = 15;
/** From a previous model both sides already have their scale. */
const PREVIOUS_MATCHED_SWEEPS = 3;

/** Which expectation of each side the edge passes use. */
export type Activities = Readonly<Record<SideName, Activity>>;

/** The expectations of the next sweeps; `edges` are those of the data. */
export function activities(state: LoopState, edges: Readonly<Record<SideName, EdgeRows>>): Activities {
  if (state.warmSweeps !== undefined) return { users: 'geometric', items: 'geometric' };
  if (!state.fromModel || state.iteration < PREVIOUS_BOTH_WARM) return { users: 'mean', items: 'mean' };
  return edgesAtEnds(edges.users) > edgesAtEnds(edges.items)
    ? { users: 'mean', items: 'geometric' }
    : { users: 'geometric', items: 'mean' };
}

/** Σ d² over the vertices: the degree at the end of an edge, summed over the edges. */
function edgesAtEnds({ offsets }: EdgeRows): number {
  let sum = 0;
  for (let i = 1; i < offsets.length; i++) sum += (offsets[i] - offsets[i - 1]) ** 2;
  return sum;
}

/** Geometric sweeps after which τ is matched for the last time. */
export function matchedSweeps({ fromModel: former }: LoopState): number {
  return former ? PREVIOUS_MATCHED_SWEEPS : MATCHED_SWEEPS;
}

/** Geometric sweeps up to which the bound may fall because τ was matched. */
export function movedSweeps(state: LoopState): number {
  return state.fromModel ? matchedSweeps(state) : matchedSweeps(state) + BLOCK_SWEEPS;
}

/** Sweeps since the warm phase ended. */
export function exactSweeps({ iteration, warmSweeps }: LoopState): number {
  return warmSweeps === undefined ? 0 : iteration - warmSweeps;
}

/** Sweeps of the next block. */
export function blockSweeps(state: LoopState): number {
  if (!state.fromModel) return BLOCK_SWEEPS;
  if (state.warmSweeps !== undefined) return PREVIOUS_BLOCK;
  return (state.iteration < PREVIOUS_BOTH_WARM ? PREVIOUS_BOTH_WARM : PREVIOUS_WARM) - state.iteration;
}

/**
 * Which states of a block have their bound evaluated: the one before it costs nothing, as its first pass gives the edge term;
 * the one after it needs a pass of its own, and lets the fit end there.
 */
export function evaluatedStates(state: LoopState): { readonly before: boolean; readonly after: boolean } {
  if (!state.fromModel) return { before: true, after: false };
  const exact = exactSweeps(state);
  return { before: exact === PREVIOUS_EVALUATED, after: exact >= PREVIOUS_EVALUATED };
}

/**
 * Whether hyperparameters move after the last block. In a fit from a previous model, sizes stay as its first geometric sweeps
 * find them until it could end: every move takes a pass over all rows, and later moves gain nothing that counts.
 */
export function movesHyper(
  state: LoopState,
  learn: Readonly<Record<SideName, readonly Learnable[]>>,
): boolean {
  const others = Object.values(learn).some((names) => names.some((name) => name !== 'size'));
  if (!state.fromModel || others) return true;
  const exact = exactSweeps(state);
  const found = state.warmSweeps !== undefined && exact <= matchedSweeps(state);
  return found || exact > PREVIOUS_EVALUATED;
}

/** The state after a block of warm sweeps; the warm phase ends when its likelihood hardly changes. */
export function afterWarmBlock(
  state: LoopState,
  likelihood: number,
  sweeps: number,
  settings: LoopLimits,
): LoopState {
  const [least, tolerance] = state.fromSample
    ? [FROM_SAMPLE_LEAST, FROM_SAMPLE_TOLERANCE]
    : [WARM_LEAST, settings.warmTolerance ?? WARM_TOLERANCE];
  const iteration = state.iteration + sweeps;
  const change =
    state.likelihood === undefined
      ? Infinity
      : Math.abs(likelihood - state.likelihood) / (Math.abs(likelihood) * BLOCK_SWEEPS);
  const hasConverged = state.fromModel
    ? iteration >= PREVIOUS_WARM
    : iteration >= least && change < tolerance;
  const over = hasConverged || iteration >= WARM_SHARE * settings.iterations;
  return { ...state, iteration, likelihood, warmSweeps: over ? iteration : undefined };
}

/** Relative change of the bound per iteration, between its last two evaluations. */
export function boundChange(bounds: LoopState['bounds']): number | undefined {
  const last = bounds.at(-1);
  const before = bounds.at(-2);
  if (!last || !before) return undefined;
  return (last[1] - before[1]) / (Math.abs(last[1]) * (last[0] - before[0]));
}

/** Whether the bound changed by less than the tolerance per sweep. */
export function hasConverged(state: LoopState, tolerance: number): boolean {
  const change = boundChange(state.bounds);
  if (change === undefined) return false;
  return (
    Math.abs(change) < tolerance ||
    (state.fromModel === true && change > 0 && change < PREVIOUS_GAIN * tolerance)
  );
}
