// The schedule of a fit: a list of phases, walked in order. A fresh fit explores with more features than asked for, merges them
// down, and then goes back to posterior means a few times, because means leave poor optima that geometric means freeze in.

import type { Activity } from '../../engine/engine.js';
import type { BySide } from '../../graph/graph.js';
import { FEATURES } from '../../options/commands/fit.js';
import type { DegreeCounts } from '../../sparsity/degree-counts.js';
import type { BothHyper } from './bound.js';
import type { LoopState } from './loop.js';

/** Sweeps of the same kind. What each side shows the other follows from `users` and `items`. */
export interface Phase extends BySide<Activity> {
  /** If fewer than in the phase before, features are merged when this phase starts. */
  readonly features: number;
  /** The most sweeps. Default: no limit. */
  readonly sweeps?: number | undefined;
  /** Ends the phase earlier: when the likelihood or the bound hardly changes. Default: the objective is not evaluated. */
  readonly until?: Until | undefined;
  /** Whether the τ of dense sides are matched to the degrees after each block of sweeps. */
  readonly matchesTau?: boolean | undefined;
}

/** A relative change per sweep below `change`, or below `tolerances` times the tolerance of the fit. */
export interface Until {
  readonly change?: number | undefined;
  readonly tolerances?: number | undefined;
  /** Not before this number of sweeps. */
  readonly least?: number | undefined;
}

/** The phases of a fit, in order. */
export type Schedule = readonly Phase[];

/** How far features are over-relaxed, until the bound falls once: then the rest of the phase is plain ascent. */
const RELAXATION = 0.9;

/** Exploring: this many times the features, until the likelihood changes by less than this, for these numbers of sweeps. */
const EXPLORED_FEATURES = 1.5;
const EXPLORED_CHANGE = 1e-3;
const EXPLORED_LEAST = 40;
const EXPLORED_SHARE = 1 / 3;
/** Rounds: sweeps with means, then mixed, then geometric. */
const ROUNDS = 3;
const MEAN_SWEEPS = 3;
const MIXED_SWEEPS = 10;
const GEOMETRIC_SWEEPS = 10;
/** A refit ends when a sweep gains less than this many tolerances. */
const REFIT_TOLERANCES = 15;
/** τ is matched for these numbers of geometric sweeps, before the last phase of a fit without rounds and of a refit. */
const MATCHED_SWEEPS = 15;
const REFIT_MATCHED_SWEEPS = 5;
/** A fit of fewer iterations has no time for rounds: it has one phase with means, for at most half of its iterations. */
export const SHORTEST_FIT = 120;
const SHORT_CHANGE = 1e-4;
const SHORT_SHARE = 0.5;

/** What determines the schedule of a fit. */
export interface ScheduleSettings {
  readonly features: number;
  readonly iterations: number;
  readonly start: 'warm' | 'cold';
}

/** The schedule of a fit by coordinate ascent. */
export function fitSchedule(
  { features, iterations, start }: ScheduleSettings,
  degreeCounts: BySide<DegreeCounts>,
  /** Whether the fit starts from a previous model. */
  isRefit: boolean,
): Schedule {
  const means: Phase = { features, users: 'mean', items: 'mean' };
  const geometric: Phase = { features, users: 'geometric', items: 'geometric' };
  const matching: Phase = { ...geometric, sweeps: MATCHED_SWEEPS, matchesTau: true };
  const last: Phase = { ...geometric, until: { tolerances: 1 } };
  if (start === 'cold') return [matching, last];
  // Edges of vertices with many edges are uncertain for longer: that side shows means for longer.
  const longer = edgesAtEnds(degreeCounts.users) > edgesAtEnds(degreeCounts.items) ? 'users' : 'items';
  const backToMeans: Schedule = [
    { ...means, sweeps: MEAN_SWEEPS },
    { ...geometric, [longer]: 'mean', sweeps: MIXED_SWEEPS },
  ];
  if (isRefit) {
    const end = { ...geometric, until: { tolerances: REFIT_TOLERANCES } };
    return [...backToMeans, { ...matching, sweeps: REFIT_MATCHED_SWEEPS }, end];
  }
  if (iterations < SHORTEST_FIT) {
    const until = { change: SHORT_CHANGE, least: EXPLORED_LEAST };
    return [{ ...means, sweeps: Math.ceil(SHORT_SHARE * iterations), until }, matching, last];
  }
  const more = { features: Math.min(Math.ceil(EXPLORED_FEATURES * features), FEATURES.max) };
  const explored: Phase = {
    ...{ ...means, ...more, sweeps: Math.max(EXPLORED_LEAST, Math.floor(EXPLORED_SHARE * iterations)) },
    until: { change: EXPLORED_CHANGE, least: EXPLORED_LEAST },
  };
  const round: Schedule = [...backToMeans, { ...matching, sweeps: GEOMETRIC_SWEEPS }];
  return [
    explored,
    { ...matching, ...more, sweeps: GEOMETRIC_SWEEPS },
    ...Array.from({ length: ROUNDS - 1 }, () => round).flat(),
    ...backToMeans,
    last,
  ];
}

/** The schedule of a fit that goes on where another ended: geometric sweeps until the bound converges. */
export function continuedSchedule(features: number): Schedule {
  return [{ features, users: 'geometric', items: 'geometric', until: { tolerances: 1 } }];
}

/** Σ d² over the vertices: the degree at the end of an edge, summed over the edges. */
function edgesAtEnds({ degree, vertices }: DegreeCounts): number {
  return degree.reduce((sum, d, at) => sum + vertices[at] * d ** 2, 0);
}

/** The state before the first sweep. */
export function firstState(schedule: Schedule, hyper: BothHyper): LoopState {
  return { iteration: 0, schedule, phase: 0, ...PHASE_START, bounds: [], hyper };
}

const PHASE_START = { swept: 0, last: undefined, relaxation: RELAXATION } as const;

export function phaseOf({ schedule, phase }: Pick<LoopState, 'schedule' | 'phase'>): Phase {
  return schedule[phase];
}

export function isLastPhase({ schedule, phase }: LoopState): boolean {
  return phase === schedule.length - 1;
}

/** The start of the last phase. */
export function inLastPhase(state: LoopState): LoopState {
  return isLastPhase(state) ? state : { ...state, ...PHASE_START, phase: state.schedule.length - 1 };
}

/** Whether the sweeps of a phase ascend the bound: its objective is then the bound, else the likelihood at the means. */
export function ascendsBound({ users, items }: BySide<Activity>): boolean {
  return users === 'geometric' && items === 'geometric';
}

/** The value of the objective after a number of sweeps of the phase. */
export type Evaluation = readonly [swept: number, value: number];

/** The state after some more sweeps, the relative change of the objective per sweep, and whether the schedule has ended. */
export interface Advanced {
  readonly state: LoopState;
  readonly change: number | undefined;
  readonly converged: boolean;
}

/** Decides after `sweeps` more sweeps whether the phase has ended. */
export function advance(
  before: LoopState,
  sweeps: number,
  evaluation: Evaluation | undefined,
  tolerance: number,
): Advanced {
  const { sweeps: most = Infinity, until } = phaseOf(before);
  const { state, change } = evaluation ? evaluated(before, evaluation) : { state: before };
  const now = { ...state, iteration: before.iteration + sweeps, swept: before.swept + sweeps };
  const { change: small = (until?.tolerances ?? 0) * tolerance, least = 0 } = until ?? {};
  // A bound that just fell by over-relaxation has not converged.
  const plain = now.relaxation === before.relaxation;
  const hasConverged = change !== undefined && Math.abs(change) < small && plain && now.swept >= least;
  if (isLastPhase(now)) return { state: now, change, converged: hasConverged };
  const next = { ...now, ...PHASE_START, phase: now.phase + 1 };
  return { state: hasConverged || now.swept >= most ? next : now, change, converged: false };
}

/** The state with its objective, and the relative change per sweep. A bound that falls ends over-relaxation. */
function evaluated(state: LoopState, [swept, value]: Evaluation): Pick<Advanced, 'state' | 'change'> {
  const { last } = state;
  const isBound = ascendsBound(phaseOf(state));
  const at = state.iteration + swept - state.swept;
  const bounds = isBound
    ? [...state.bounds.filter(([iteration]) => iteration < at), [at, value] as const]
    : state.bounds;
  // A finished fit that is resumed has the value of this state already.
  const change =
    last && last[0] < swept ? (value - last[1]) / (Math.abs(value) * (swept - last[0])) : undefined;
  const relaxation = isBound && change !== undefined && change < 0 ? 0 : state.relaxation;
  return { change, state: { ...state, bounds, relaxation, last: [swept, value] } };
}
