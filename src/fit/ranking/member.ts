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
import { columnSums, meanTable, modelSide, type Posterior, type RankerMember } from '../model.js';
import { cutFolds } from './folds.js';
import type { RankingSettings } from './settings.js';
import { type CrossFitData, type CrossFitState, startCrossFit } from './sweep.js';

/** Features start alike, and the likelihood hardly changes until they differ. So no fit converges before this many sweeps. */
const LEAST_SWEEPS = 15;
/** Features of a previous model already differ. */
const PREVIOUS_SWEEPS = 2;
/** With blending, a fit from a previous model stops once a sweep changes the likelihood by less than this many tolerances. */
const PREVIOUS_CHANGE = 20;

/** A member between two sweeps, and the ranker's member that it makes. */
export interface MemberState extends RankingState {
  readonly member: RankerMember;
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

/** Member `run`, counted from 0, with the known users folded in from all their items. */
export async function memberOf(
  engine: Engine,
  { items, users: rows, multigraph, weighed }: RankingGraph,
  settings: RankingSettings,
  run: number,
  now: RankingState,
  converged = false,
): Promise<MemberState> {
  const { features, hyper } = settings;
  const fixed = modelSide(items, now.items, hyper.items, new Float64Array(features));
  const base = { features, multigraph, prior: hyper.users, fixed };
  const users = await foldMeans(engine, base, rows, RANKING_STEPS);
  const userMass = columnSums(users, features);
  const { iteration } = now.state;
  const member = rankerMember(settings, run, fixed, { users, userMass, weighed }, iteration, converged);
  return { ...now, member };
}

/** A cross-fitted member of a ranker from its items and users. */
export function rankerMember(
  { features, hyper, seed }: RankingSettings,
  run: number,
  items: Posterior,
  { users, userMass, weighed }: Pick<RankerMember, 'users' | 'userMass'> & Pick<RankingGraph, 'weighed'>,
  iterations: number,
  converged: boolean,
): RankerMember {
  return Object.freeze({
    features,
    items: meanTable(items, features),
    users,
    userMass,
    fold: Object.freeze({ kind: 'poisson', steps: RANKING_STEPS, hyper, ...(weighed && { weighed }) }),
    seed: seed + run,
    iterations,
    converged,
  });
}

interface SweepHooks {
  isStopped(): Promise<boolean>;
  /** After each sweep, with the relative change of the likelihood. */
  onSweep(state: LoopState, change: number): void;
  /** Called and awaited after each sweep but the last. */
  afterSweep(snapshot: () => Promise<RankingState>): Promise<void>;
  /** Whether the last state is wanted. Default: it is. */
  isWanted?(): boolean;
}

/** Sweeps until the likelihood converges, the iterations end, or the fit is stopped; and the last state, if it is wanted. */
export async function sweepMember(
  engine: Engine,
  data: CrossFitData,
  settings: RankingSettings,
  run: number,
  { saved, items }: MemberStart,
  { isStopped, onSweep, afterSweep, isWanted = () => true }: SweepHooks,
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
    const { stopped } = await walk(state, settings, {
      block: 1,
      isStopped,
      sweep: async ({ swept }) => [[swept + 1, await cross.sweep()]],
      onAdvance({ state: latest, change = Infinity }) {
        state = latest;
        onSweep(latest, Math.abs(change));
      },
      async afterBlock(latest) {
        await afterSweep(snapshot);
        return latest;
      },
    });
    return { stopped, now: isWanted() ? await snapshot() : undefined };
  } finally {
    cross.free();
  }
}

/** One phase with means, until the likelihood converges. */
export function rankingSchedule(
  settings: Pick<RankingSettings, 'features' | 'fromModel' | 'blend'>,
): Schedule {
  const { features, fromModel, blend } = settings;
  const least = fromModel ? PREVIOUS_SWEEPS : LEAST_SWEEPS;
  const until = { tolerances: fromModel && blend ? PREVIOUS_CHANGE : 1, least };
  return [{ features, users: 'mean', items: 'mean', until }];
}

/** Sweeps that most members take, and those that are expected beyond them. */
const USUAL_SWEEPS = 22;
const SWEEPS_MORE = 3;

/** Sweeps that a member is likely to take in all. */
export function expectedSweeps(iteration: number, iterations: number): number {
  return Math.min(iterations, Math.max(USUAL_SWEEPS, iteration + SWEEPS_MORE));
}

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
