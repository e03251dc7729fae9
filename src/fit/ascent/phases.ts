// The phases of a fit: what each side shows to the other and until when, how long legs are, and when all is settled.

import type { Activity } from '../../engine/engine.js';
import type { SideName } from '../../graph/graph.js';
import type { EdgeRows } from '../../math/csr.js';
import type { Learnable } from '../options.js';
import type { LoopLimits, LoopState } from './loop.js';

/** Sweeps between two evaluations of the bound. */
export const BLOCK_SWEEPS = 5;
/** The warm phase ends when its likelihood changes by less than this, relatively, per sweep. */
const WARM_TOLERANCE = 1e-4;
/** … but not before as many sweeps, and not after this share of all iterations. */
const WARM_LEAST = 40;
const WARM_SHARE = 0.5;
/** Items that come from a sample have been warm before: only users have to find to them. */
const CARRIED_TOLERANCE = 1e-3;
const CARRIED_LEAST = 10;
/**
 * From a former model the warm phase has two parts. At first both sides show means: exact sweeps alone leave new edges of known
 * vertices with features that do not suit them. Then only the side that knows more of its vertices does, and the other is
 * exact: that finds a higher bound than as many sweeps of either kind.
 */
const FORMER_BOTH_WARM = 3;
const FORMER_WARM = 8;
/** Its exact legs are short, since there are few sweeps. */
const FORMER_LEG = 2;
/** The first exact sweeps cannot be the last ones: its bound is evaluated after this many. */
const FORMER_JUDGED = 8;
/** It ends when a sweep gains less than so many tolerances. */
const FORMER_GAIN = 15;

/**
 * A τ that follows from the degrees is set after so many exact sweeps for the last time; from there on the bound can only
 * rise. Before them it would take the scale that both sides share along.
 */
const MATCHED_SWEEPS = 15;
/** From a former model both sides have their scale. */
const FORMER_MATCHED_SWEEPS = 3;

/** What each side shows to the other. */
export type Activities = Readonly<Record<SideName, Activity>>;

/** What they show in the sweeps that come next; `edges`: of the data. */
export function activities(state: LoopState, edges: Readonly<Record<SideName, EdgeRows>>): Activities {
  if (state.warmSweeps !== undefined) return { users: 'geometric', items: 'geometric' };
  if (!state.fromModel || state.iteration < FORMER_BOTH_WARM) return { users: 'mean', items: 'mean' };
  return edgesAtEnds(edges.users) > edgesAtEnds(edges.items)
    ? { users: 'mean', items: 'geometric' }
    : { users: 'geometric', items: 'mean' };
}

/** The edges that the vertex at the end of an edge has, summed over the edges. */
function edgesAtEnds({ offsets }: EdgeRows): number {
  let sum = 0;
  for (let i = 1; i < offsets.length; i++) sum += (offsets[i] - offsets[i - 1]) ** 2;
  return sum;
}

/** Exact sweeps after which τ is matched for the last time. */
export function matchedSweeps({ fromModel: former }: LoopState): number {
  return former ? FORMER_MATCHED_SWEEPS : MATCHED_SWEEPS;
}

/** Exact sweeps up to which the bound may have moved for that alone. */
export function movedSweeps(state: LoopState): number {
  return state.fromModel ? matchedSweeps(state) : matchedSweeps(state) + BLOCK_SWEEPS;
}

export function exactSweeps({ iteration, warmSweeps }: LoopState): number {
  return warmSweeps === undefined ? 0 : iteration - warmSweeps;
}

export function blockSweeps(state: LoopState): number {
  if (!state.fromModel) return BLOCK_SWEEPS;
  if (state.warmSweeps !== undefined) return FORMER_LEG;
  return (state.iteration < FORMER_BOTH_WARM ? FORMER_BOTH_WARM : FORMER_WARM) - state.iteration;
}

/** Which states of a leg have their bound evaluated: the one before it, by its first pass; the one after it, by a pass of its own, to end at once. */
export function evaluatedStates(state: LoopState): { readonly before: boolean; readonly after: boolean } {
  if (!state.fromModel) return { before: true, after: false };
  const exact = exactSweeps(state);
  return { before: exact === FORMER_JUDGED, after: exact >= FORMER_JUDGED };
}

/**
 * Whether hyperparameters move after the leg that has led here. From a former model sizes stay as its first exact sweeps find them
 * until it might have ended: every move takes a pass over all rows, and later ones gain nothing that counts.
 */
export function movesHyper(
  state: LoopState,
  learn: Readonly<Record<SideName, readonly Learnable[]>>,
): boolean {
  const others = Object.values(learn).some((names) => names.some((name) => name !== 'size'));
  if (!state.fromModel || others) return true;
  const exact = exactSweeps(state);
  const found = state.warmSweeps !== undefined && exact <= matchedSweeps(state);
  return found || exact > FORMER_JUDGED;
}

export function afterWarmBlock(
  state: LoopState,
  likelihood: number,
  sweeps: number,
  settings: LoopLimits,
): LoopState {
  const [least, tolerance] = state.fromSample
    ? [CARRIED_LEAST, CARRIED_TOLERANCE]
    : [WARM_LEAST, settings.warmTolerance ?? WARM_TOLERANCE];
  const iteration = state.iteration + sweeps;
  const change =
    state.likelihood === undefined
      ? Infinity
      : Math.abs(likelihood - state.likelihood) / (Math.abs(likelihood) * BLOCK_SWEEPS);
  const hasConverged = state.fromModel ? iteration >= FORMER_WARM : iteration >= least && change < tolerance;
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

export function hasConverged(state: LoopState, tolerance: number): boolean {
  const change = boundChange(state.bounds);
  if (change === undefined) return false;
  return (
    Math.abs(change) < tolerance ||
    (state.fromModel === true && change > 0 && change < FORMER_GAIN * tolerance)
  );
}
