// The schedule of a fit: a list of phases, walked in order. A fresh fit goes back to posterior means, because they lead out of poor
// optima in which geometric means freeze the fit. If its data are too few for profiles, it starts from noise, explores with more features than
// asked for and merges them.

import type { Activity } from '../../engine/engine.js';
import { type BySide, otherSide } from '../../graph/graph.js';
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

/** Sweeps of a round: with means, then mixed, then geometric. A fresh fit has two rounds, a refit has one. */
const ROUND = { means: 3, mixed: 10, geometric: 5 };
const REFIT_ROUND = { means: 2, mixed: 5, geometric: 3 };
/** The first round of a fit is longer if the vertices of both sides have at least MANY_EDGES on average. */
const FIRST_MEAN_SWEEPS = 40;
const MANY_EDGES = 20;
/** The first round of a fit from noise: how many times the features, and how many sweeps with means. */
const EXPLORED = { times: 1.25, sweeps: 7 };
/** The same if both sides have many edges. */
const EXPLORED_MANY = { times: 1.5, sweeps: FIRST_MEAN_SWEEPS };
/** A refit ends when a sweep gains less than this many tolerances. */
const REFIT_TOLERANCES = 60;
/** τ is matched for this number of geometric sweeps before the last phase of a fit without rounds. */
const MATCHED_SWEEPS = 15;
/** A fit of fewer iterations has no time for rounds: it has one phase with means, for at most half of its iterations. */
const SHORTEST_FIT = 120;
const SHORT_CHANGE = 1e-4;
const SHORT_LEAST = 40;
const SHORT_SHARE = 0.5;

/** What determines the schedule of a fit. */
interface ScheduleSettings {
  readonly features: number;
  readonly iterations: number;
  readonly start: 'warm' | 'cold';
}

/** What a fit starts from: profiles of its items (profiles.ts), noise, or a previous model. */
export type StartKind = 'profiles' | 'noise' | 'previous';

/**
 * What a fresh fit starts from. Short fits start from noise, because features would not spread from profiles in time. So do
 * fits of too few vertices for profiles.
 */
export function startKind(
  { features, iterations, start }: ScheduleSettings,
  { users, items }: BySide<DegreeCounts>,
): StartKind {
  const has =
    start === 'warm' && iterations >= SHORTEST_FIT && 2 * features <= Math.min(users.count, items.count);
  return has ? 'profiles' : 'noise';
}

/** The schedule of a fit by coordinate ascent. */
export function fitSchedule(
  { features, iterations, start }: ScheduleSettings,
  degreeCounts: BySide<DegreeCounts>,
  from: StartKind,
): Schedule {
  const means: Phase = { features, users: 'mean', items: 'mean' };
  const geometric: Phase = { features, users: 'geometric', items: 'geometric' };
  const matching: Phase = { ...geometric, sweeps: MATCHED_SWEEPS, matchesTau: true };
  const last: Phase = { ...geometric, until: { tolerances: 1 } };
  if (start === 'cold') return [matching, last];
  // Means smooth the features of vertices with few edges. So both sides show them in turn only if both have many edges.
  const both = hasManyEdges(degreeCounts.users) && hasManyEdges(degreeCounts.items);
  const longer = edgesAtEnds(degreeCounts.users) > edgesAtEnds(degreeCounts.items) ? 'users' : 'items';
  const turns = both ? [otherSide(longer), longer] : [longer];
  const round = (lengths: typeof ROUND): Schedule => [
    { ...means, sweeps: lengths.means },
    ...turns.map((side): Phase => ({ ...geometric, [side]: 'mean', sweeps: lengths.mixed })),
    { ...matching, sweeps: lengths.geometric },
  ];
  if (from === 'previous') {
    return [...round(REFIT_ROUND), { ...geometric, until: { tolerances: REFIT_TOLERANCES } }];
  }
  if (iterations < SHORTEST_FIT) {
    const until = { change: SHORT_CHANGE, least: SHORT_LEAST };
    return [{ ...means, sweeps: Math.ceil(SHORT_SHARE * iterations), until }, matching, last];
  }
  const starts = { times: 1, sweeps: both ? FIRST_MEAN_SWEEPS : ROUND.means };
  const { times, sweeps } = from === 'profiles' ? starts : both ? EXPLORED_MANY : EXPLORED;
  const more = Math.min(Math.ceil(times * features), FEATURES.max);
  const [, ...afterMeans] = round(ROUND);
  const first = [{ ...means, sweeps }, ...afterMeans].map((phase) => ({ ...phase, features: more }));
  // The last phase stands for the geometric sweeps of the second round.
  return [...first, ...round(ROUND).slice(0, -1), last];
}

/** The schedule of a fit that continues where another ended: geometric sweeps until the bound converges. */
export function continuedSchedule(features: number): Schedule {
  return [{ features, users: 'geometric', items: 'geometric', until: { tolerances: 1 } }];
}

/** Whether the vertices of a side have many edges, on average. */
function hasManyEdges({ sum, count }: DegreeCounts): boolean {
  return sum >= MANY_EDGES * count;
}

/** Σ d² over the vertices: the degree at the end of an edge, summed over the edges. */
function edgesAtEnds({ degree, vertices }: DegreeCounts): number {
  return degree.reduce((sum, d, at) => sum + vertices[at] * d ** 2, 0);
}

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

/** Decides after `sweeps` more sweeps, with these evaluations of the objective, whether the phase has ended. */
export function advance(
  before: LoopState,
  sweeps: number,
  evaluations: readonly Evaluation[],
  tolerance: number,
): Advanced {
  const { sweeps: most = Infinity, until } = phaseOf(before);
  const start: Pick<Advanced, 'state' | 'change'> = { state: before, change: undefined };
  const { state, change } = evaluations.reduce(
    ({ state }, evaluation) => evaluated(state, evaluation),
    start,
  );
  const now = { ...state, iteration: before.iteration + sweeps, swept: before.swept + sweeps };
  const { change: small = (until?.tolerances ?? 0) * tolerance, least = 0 } = until ?? {};
  // A bound that just fell by over-relaxation has not converged.
  const plain = now.relaxation === before.relaxation;
  const hasConverged = change !== undefined && Math.abs(change) < small && plain && now.swept >= least;
  if (isLastPhase(now)) return { state: now, change, converged: hasConverged };
  const next = { ...now, ...PHASE_START, phase: now.phase + 1 };
  return { state: hasConverged || now.swept >= most ? next : now, change, converged: false };
}

/** Sweeps that the last phase of most fits takes, before its changes say more. */
const USUAL_LAST = 40;

/**
 * Sweeps that the whole walk is likely to take. In the last phase the change per sweep falls about as the square of the sweeps
 * done, so the change says when it will be below the tolerance.
 */
export function expectedSweeps({ state, change }: Advanced, iterations: number, tolerance: number): number {
  const { schedule, phase, swept, iteration } = state;
  const begun = iteration - swept;
  const until = (schedule.at(-1)!.until?.tolerances ?? 1) * tolerance;
  const total = isLastPhase(state)
    ? begun + (change === undefined ? USUAL_LAST : swept * Math.sqrt(Math.max(1, Math.abs(change) / until)))
    : begun + schedule.slice(phase).reduce((sum, { sweeps = USUAL_LAST }) => sum + sweeps, 0);
  return Math.min(iterations, Math.max(iteration, Math.round(total)));
}

/** The state with its objective, and the relative change per sweep. A bound that falls ends over-relaxation. */
function evaluated(state: LoopState, [swept, value]: Evaluation): Pick<Advanced, 'state' | 'change'> {
  const { last } = state;
  const isBound = ascendsBound(phaseOf(state));
  const at = state.iteration + swept - state.swept;
  const bounds = isBound
    ? [...state.bounds.filter(([iteration]) => iteration < at), [at, value] as const]
    : state.bounds;
  // If a finished fit is resumed, the objective of this state is already known.
  const change =
    last && last[0] < swept ? (value - last[1]) / (Math.abs(value) * (swept - last[0])) : undefined;
  const relaxation = isBound && change !== undefined && change < 0 ? 0 : state.relaxation;
  return { change, state: { ...state, bounds, relaxation, last: [swept, value] } };
}
