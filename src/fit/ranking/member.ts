// One member of a ranker: its sweeps until the likelihood converges, and its state between two sweeps.

import type { Engine } from '../../engine/engine.js';
import { randomStream } from '../../math/random.js';
import { STREAMS } from '../../math/streams.js';
import type { Progress } from '../../progress.js';
import { grouped, percent } from '../../text/numbers.js';
import { type LoopResult, type LoopState, type RankingState, walk } from '../ascent/loop.js';
import { firstState, type Schedule } from '../ascent/schedule.js';
import { RANKING_STEPS } from '../fold-in/fold-in.js';
import { foldMeans } from '../fold-in/member-fold.js';
import { columnSums, meanTable, modelSide, type RankerMember } from '../model.js';
import { cutFolds } from './folds.js';
import type { RankingSettings } from './settings.js';
import { type CrossFit, type CrossFitData, type CrossFitState, startCrossFit } from './sweep.js';

/** Features start alike, and the likelihood hardly changes until they differ. So no fit converges before this many sweeps. */
const LEAST_SWEEPS = 15;
/** Features of a previous model already differ. */
const PREVIOUS_SWEEPS = 2;
/** With blending, a fit from a previous model stops once a sweep changes the likelihood by less than this many tolerances. */
const PREVIOUS_CHANGE = 20;

/** A fit as a member of a ranker, whole or stopped between two sweeps. */
export interface MemberState extends RankingState {
  readonly member: RankerMember;
  readonly stopped: LoopResult['stopped'];
}

/** Where a member starts; if both are undefined, from random items. */
interface MemberStart {
  /** The state in which it was stopped. */
  readonly saved?: RankingState | undefined;
  /** Items of a previous model. */
  readonly items?: RankingState['items'] | undefined;
}

/** The data of members: a graph, or the same with weighed edges, whose counts are fractions. */
export interface RankingGraph extends CrossFitData {
  readonly multigraph: boolean;
  readonly weighed?: true | undefined;
}

interface MemberHooks {
  isStopped(): boolean;
  /** True if another member has failed, so that nobody needs the result. */
  isAbandoned(): boolean;
  onSweep(state: LoopState, change: number): void;
  /** Called and awaited after each sweep but the last. */
  afterSweep(snapshot: () => Promise<MemberState>): Promise<void>;
}

/** Fits member `run`, counted from 0; undefined if it was abandoned. */
export async function fitMember(
  engine: Engine,
  graph: RankingGraph,
  settings: RankingSettings,
  run: number,
  start: MemberStart,
  hooks: MemberHooks,
): Promise<MemberState | undefined> {
  const { features, hyper, seed } = settings;
  const memberAt = async (now: RankingState, stopped: LoopResult['stopped']): Promise<MemberState> => {
    const nothing = new Float64Array(features);
    // Folds in the known users from all their items. A stop waits for these half-steps, so that it leaves a complete model.
    const fixed = modelSide(graph.items, now.items, hyper.items, nothing);
    const { multigraph, weighed } = graph;
    const base = { features, multigraph, prior: hyper.users, fixed };
    const users = await foldMeans(engine, base, graph.users, RANKING_STEPS);
    const member = Object.freeze({
      features,
      items: meanTable(fixed, features),
      users,
      userMass: columnSums(users, features),
      fold: Object.freeze({
        ...{ kind: 'poisson' as const, steps: RANKING_STEPS, hyper },
        ...(weighed && { weighed: true as const }),
      }),
      seed: seed + run,
      iterations: now.state.iteration,
      converged: stopped === 'converged',
    });
    return { ...now, member, stopped };
  };
  const { stopped, now } = await sweepMember(engine, graph, settings, run, start, {
    isStopped: async () => hooks.isStopped(),
    onSweep: hooks.onSweep,
    afterSweep: (snapshot) => hooks.afterSweep(async () => memberAt(await snapshot(), 'aborted')),
    isWanted: () => !hooks.isAbandoned(),
  });
  return now && memberAt(now, stopped);
}

interface SweptHooks extends Pick<MemberHooks, 'onSweep'> {
  isStopped(): Promise<boolean>;
  afterSweep(snapshot: () => Promise<RankingState>): Promise<void>;
  /** Whether the last state is wanted. Default: it is. */
  isWanted?(): boolean;
}

/** The sweeps of a member, and the state after the last one, if it is wanted. */
export async function sweepMember(
  engine: Engine,
  data: CrossFitData,
  settings: RankingSettings,
  run: number,
  { saved, items }: MemberStart,
  { isStopped, onSweep, afterSweep, isWanted }: SweptHooks,
): Promise<{ readonly stopped: LoopResult['stopped']; readonly now: RankingState | undefined }> {
  const { features, hyper } = settings;
  const seed = settings.seed + run;
  const folds = cutFolds(data.items.count, settings.folds, randomStream(seed, STREAMS.folds));
  const begin: CrossFitState | undefined = saved
    ? { sweeps: saved.state.iteration, items: saved.items, foldMass: saved.foldMass }
    : items && { sweeps: 0, items };
  const cross = await startCrossFit(engine, data, folds, hyper, features, seed, begin);
  let state = saved?.state ?? firstState(rankingSchedule(settings), hyper);
  const snapshot = async () => ({ state, items: await cross.readItems(), foldMass: cross.foldMass() });
  try {
    const stopped = await runSweeps(cross, state, settings, {
      isStopped,
      onState: (latest, change) => {
        state = latest;
        onSweep(latest, change);
      },
      afterSweep: () => afterSweep(snapshot),
    });
    return { stopped, now: (isWanted?.() ?? true) ? await snapshot() : undefined };
  } finally {
    cross.free();
  }
}

/** Callbacks of `runSweeps`. */
interface SweepHooks {
  isStopped(): Promise<boolean>;
  /** After each sweep, with the relative change of the likelihood. */
  onState(state: LoopState, change: number): void;
  /** Called and awaited after each sweep but the last. */
  afterSweep(): Promise<void>;
}

/** One phase with means, until the likelihood converges. */
export function rankingSchedule({
  features,
  fromModel,
  blend,
}: Pick<RankingSettings, 'features' | 'fromModel' | 'blend'>): Schedule {
  const least = fromModel ? PREVIOUS_SWEEPS : LEAST_SWEEPS;
  const until = { tolerances: fromModel && blend ? PREVIOUS_CHANGE : 1, least };
  return [{ features, users: 'mean', items: 'mean', until }];
}

/** Sweeps until the likelihood converges, the iterations end, or the fit is stopped. */
export async function runSweeps(
  cross: Pick<CrossFit, 'sweep'>,
  from: LoopState,
  limits: Pick<RankingSettings, 'iterations' | 'tolerance'>,
  { isStopped, onState, afterSweep }: SweepHooks,
): Promise<LoopResult['stopped']> {
  const { stopped } = await walk(from, limits, {
    ...{ block: 1, isStopped },
    sweep: async ({ swept }) => [[swept + 1, await cross.sweep()]],
    onAdvance: ({ state, change = Infinity }) => onState(state, Math.abs(change)),
    async afterBlock(state) {
      await afterSweep();
      return state;
    },
  });
  return stopped;
}

/** Sweeps that most members take, and those that are expected beyond them. */
const USUAL_SWEEPS = 22;
const SWEEPS_MORE = 3;

/** Sweeps that a member is likely to take in all. */
export function expectedSweeps(iteration: number, iterations: number): number {
  return Math.min(iterations, Math.max(USUAL_SWEEPS, iteration + SWEEPS_MORE));
}

/** Progress of member `run`. */
export function sweepProgress(
  { average, iterations }: RankingSettings,
  run: number,
  { iteration, last }: LoopState,
  change: number,
): Progress {
  return {
    stage: average > 1 ? `fitting ${run + 1} of ${average}` : 'fitting the ranker',
    done: iteration,
    total: iterations,
    expected: expectedSweeps(iteration, iterations),
    unit: 'sweeps',
    note: `likelihood ${last ? grouped(last[1]) : '–'}, change ${percent(change)}`,
  };
}
