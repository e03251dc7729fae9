// Graph → model for recommending: cross-fitted sweeps from one or several seeds, and what is added to their scores (beside.ts).
//
// Memory beside the graph, in bytes: 4 (F − 1) an edge for the users' edges without each fold and 4 an edge for the items'
// (twice that in a multigraph), 12 K for each item, and for each user as much or, on the CPU, 4 K: no more
// user tables than an evidence fit has, since the folds take turns with one.

import type { Engine } from '../engine/engine.js';
import { type EngineReason, onEngine } from '../engine/select.js';
import { fingerprint } from '../graph/fingerprint.js';
import { type BipartiteGraph, degrees, SIDES, type SideName } from '../graph/graph.js';
import { randomStream } from '../math/random.js';
import { STREAMS } from '../math/streams.js';
import { option, optionError } from '../options/error.js';
import { HYPER_NAMES } from '../options/shared.js';
import type { TaskOptions } from '../progress.js';
import { VERSION } from '../version.js';
import { checkResume, nowAndThen } from './ascent.js';
import { type Beside, fitBeside, mayBlend, withBeside } from './beside.js';
import { factsOf } from './facts.js';
import type { FitResult } from './fit.js';
import { RANKING_STEPS } from './fold-in.js';
import { foldMeans } from './fold-means.js';
import { cutFolds } from './folds.js';
import { formerItems, formerMembers, matchVertices } from './former.js';
import type { LoopResult, LoopState, RankingCheckpoint } from './loop.js';
import { columnSums, meanTable, modelSide, type Ranker, type RankerMember, seenItems } from './model.js';
import { CHECKPOINT_MINUTES, checkGraph, type RankingFitOptions } from './options.js';
import { type RankingSettings, rankingSettings } from './ranking-options.js';
import { type CrossFit, type CrossFitState, startCrossFit } from './ranking-sweep.js';
import { abortedFit } from './unfinished.js';

/** Features first look alike and the likelihood hardly moves; it cannot have settled before they have told apart. */
const LEAST_SWEEPS = 15;
/** Those of a former model have. */
const FORMER_SWEEPS = 2;

/** Fits the model for ranking. It does not ascend the bound and has none: it stops when the likelihood settles. */
export async function fitRanking(
  graph: BipartiteGraph,
  options: Omit<RankingFitOptions, 'method'> = {},
): Promise<FitResult<Ranker>> {
  checkGraph(graph);
  const resume = options.resume as RankingCheckpoint | undefined;
  const fromModel = options.from !== undefined || resume?.began.settings.former === true;
  const asked = rankingSettings(factsOf(graph), options);
  const settings = {
    ...asked,
    blend: asked.blend && mayBlend(graph),
    ...(fromModel && { former: true as const }),
  };
  if (resume) checkSaved(resume, graph, settings);
  const former = options.from && matchVertices(graph, options.from);
  const began = performance.now();
  const work = { edges: graph.edges * settings.folds, features: settings.features };
  // Fits that are done outlive an engine that fails.
  const members: RankerMember[] = [...(resume?.done ?? [])];
  const due = options.onCheckpoint
    ? nowAndThen(options.checkpointMinutes ?? CHECKPOINT_MINUTES)
    : () => false;
  return onEngine(settings.engine, work, options.threads, async ({ engine, reason }) => {
    let checkpoint: RankingCheckpoint | undefined;
    const result = (all: readonly RankerMember[], beside?: Beside) => ({
      ...toResult(graph, settings, all, beside, { engine, reason, began }),
      ...(former && { from: former.report }),
      ...(beside && { blend: beside.found }),
    });
    // First, so that what a stop leaves is the state of a member as ever; it is made again when the fit goes on.
    const beside = settings.blend
      ? await unlessAborted(options, () => fitBeside(graph, besideTask(settings, options)))
      : undefined;
    while (members.length < settings.average && !checkpoint) {
      const run = members.length;
      const from = run === resume?.done.length ? resume : undefined;
      const member = former && formerMembers(options.from!).at(run);
      const items =
        former &&
        member &&
        formerItems(graph, member, former.rows.items, settings.hyper, settings.seed + run);
      const begin = from ? goOnFrom(from) : items && { sweeps: 0, items };
      const fitted = await oneFit(engine, graph, settings, options, run, begin, from, async (snapshot) => {
        if (!due()) return;
        const sofar = await snapshot();
        await options.onCheckpoint?.({
          ...result([...members, sofar.member]),
          checkpoint: { ...sofar.checkpoint, done: [...members] },
        });
      });
      if (fitted.stopped === 'aborted') checkpoint = { ...fitted.checkpoint, done: [...members] };
      members.push(fitted.member);
    }
    const fitted = result(members, checkpoint ? undefined : beside);
    if (checkpoint) throw abortedFit(options.signal!, { ...fitted, checkpoint });
    return fitted;
  });
}

interface Circumstances {
  readonly engine: Engine;
  readonly reason: EngineReason;
  readonly began: number;
}

function besideTask({ seed }: RankingSettings, { threads, signal, onProgress }: TaskOptions) {
  return { seed, threads, signal, onProgress };
}

/** What is made, or undefined where a stop came before it was. */
async function unlessAborted<T>({ signal }: TaskOptions, make: () => Promise<T>): Promise<T | undefined> {
  try {
    return await make();
  } catch (error) {
    if (signal?.aborted) return undefined;
    throw error;
  }
}

/** All fits as one result. */
function toResult(
  graph: BipartiteGraph,
  settings: RankingSettings,
  members: readonly RankerMember[],
  beside: Beside | undefined,
  { engine, reason, began }: Circumstances,
): FitResult<Ranker> {
  const seconds = (performance.now() - began) / 1000;
  const converged = members.every((member) => member.converged);
  const side = (name: SideName) =>
    Object.freeze({ count: graph[name].count, ids: graph[name].ids, degree: degrees(graph[name]) });
  return {
    model: Object.freeze({
      type: 'ranker',
      method: 'ranking',
      multigraph: graph.multigraph,
      ...(graph.names && { names: graph.names }),
      users: side('users'),
      items: side('items'),
      scores: beside
        ? withBeside(members, beside, graph)
        : Object.freeze({ kind: 'factors', members: Object.freeze([...members]) }),
      seen: seenItems(graph.users),
      provenance: Object.freeze({
        version: VERSION,
        engine: engine.description,
        seed: settings.seed,
        fingerprint: fingerprint(graph),
        options: { ...settings },
        iterations: members[0].iterations,
        converged,
        seconds,
      }),
    }),
    stopped: converged ? 'converged' : 'iterations',
    engine: engine.description,
    engineReason: reason,
    threads: engine.threads,
    seconds,
  };
}

/** The saved fit goes on where it stood: only with what decides its numbers as it was. */
function checkSaved(saved: RankingCheckpoint, graph: BipartiteGraph, settings: RankingSettings): void {
  const { state, done } = saved;
  checkResume(graph, 'items', settings.features, saved.items);
  const { features, folds, seed, hyper, average } = settings;
  const same = (name: string, before: unknown, now: unknown) => {
    if (JSON.stringify(before) === JSON.stringify(now)) return;
    throw optionError`${option('resume')}: the saved fit has ${name} ${JSON.stringify(before)}, this one ${JSON.stringify(now)}; resume with the same options`;
  };
  same('folds', saved.foldMass.length / features, folds);
  same('seed', saved.seed, seed);
  for (const side of SIDES) {
    for (const name of HYPER_NAMES)
      same(`${name} of the ${side}`, state.hyper[side][name], hyper[side][name]);
  }
  if (settings.former && average > done.length + 1) {
    throw optionError`${option('resume')}: several fits that began from a former model need that model again; begin anew from it`;
  }
  if (average <= done.length) {
    throw optionError`${option('resume')}: the saved fit is at number ${done.length + 1} of several, ${option('average')} is ${average}; leave it as it was, or raise it`;
  }
}

/** One of the fits, whole or stopped between two sweeps. */
interface OneFit {
  readonly member: RankerMember;
  readonly stopped: LoopResult['stopped'];
  readonly checkpoint: Omit<RankingCheckpoint, 'done'>;
}

async function oneFit(
  engine: Engine,
  graph: BipartiteGraph,
  settings: RankingSettings,
  options: TaskOptions,
  run: number,
  begin: CrossFitState | undefined,
  saved: RankingCheckpoint | undefined,
  afterSweep: (snapshot: () => Promise<OneFit>) => Promise<void>,
): Promise<OneFit> {
  const { features, hyper } = settings;
  const seed = settings.seed + run;
  const beginning = { settings: { ...settings }, fingerprint: fingerprint(graph) };
  const folds = cutFolds(graph.items.count, settings.folds, randomStream(seed, STREAMS.folds));
  const cross = await startCrossFit(engine, graph, folds, hyper, features, seed, begin);
  let state = saved?.state ?? firstSweepState(hyper);
  const snapshot = async (stopped: LoopResult['stopped'], free?: () => void): Promise<OneFit> => {
    const items = await cross.readItems();
    const foldMass = cross.foldMass();
    free?.();
    const nothing = new Float64Array(features);
    // Known users, from all of their items: state F + 1, which no item was updated from. It takes a few half-steps, which
    // a stop waits for: what is left is then a whole model.
    const fixed = modelSide(graph.items, items, hyper.items, nothing);
    const base = { features, multigraph: graph.multigraph, prior: hyper.users, fixed };
    const userMeans = await foldMeans(engine, base, graph.users, RANKING_STEPS);
    return {
      member: Object.freeze({
        features,
        items: meanTable(fixed, features),
        users: userMeans,
        userMass: columnSums(userMeans, features),
        fold: Object.freeze({ kind: 'poisson', steps: RANKING_STEPS, hyper }),
        seed,
        iterations: state.iteration,
        converged: stopped === 'converged',
      }),
      stopped,
      checkpoint: { method: 'ranking', began: beginning, state, items, foldMass, seed: settings.seed },
    };
  };
  try {
    const stopped = await runSweeps(cross, state, settings, options, run, {
      isStopped: async () => options.signal?.aborted ?? false,
      onState: (now) => {
        state = now;
      },
      afterSweep: () => afterSweep(() => snapshot('aborted')),
    });
    return await snapshot(stopped, () => cross.free());
  } catch (error) {
    cross.free();
    throw error;
  }
}

function goOnFrom({ state, items, foldMass }: RankingCheckpoint): CrossFitState {
  return { sweeps: state.iteration, items, foldMass };
}

/** What a cross-fit asks and tells on its way. */
export interface SweepHooks {
  isStopped(): Promise<boolean>;
  /** After each sweep. */
  onState(state: LoopState): void;
  /** After each but the last, and waited for. */
  afterSweep(): Promise<void>;
}

/** Sweeps until the likelihood settles, the iterations are over, or somebody stops it. */
export async function runSweeps(
  cross: Pick<CrossFit, 'sweep'>,
  from: LoopState,
  settings: RankingSettings,
  { onProgress }: Pick<TaskOptions, 'onProgress'>,
  run: number,
  { isStopped, onState, afterSweep }: SweepHooks,
): Promise<LoopResult['stopped']> {
  const { iterations, tolerance, average } = settings;
  const least = settings.former ? FORMER_SWEEPS : LEAST_SWEEPS;
  let state = from;
  while (state.iteration < iterations) {
    if (await isStopped()) return 'aborted';
    const likelihood = await cross.sweep();
    const change = relativeChange(state.likelihood, likelihood);
    state = { ...state, iteration: state.iteration + 1, likelihood };
    onState(state);
    onProgress?.({
      stage: average > 1 ? `fitting ${run + 1} of ${average}` : 'fitting for ranking',
      done: state.iteration,
      total: iterations,
      unit: 'sweeps',
      note: `likelihood ${likelihood.toPrecision(7)}, change ${change.toExponential(1)}`,
    });
    if (state.iteration >= least && change < tolerance) return 'converged';
    await afterSweep();
  }
  return 'iterations';
}

/** Before the first sweep. */
export function firstSweepState(hyper: RankingSettings['hyper']): LoopState {
  return { iteration: 0, warmSweeps: undefined, bounds: [], likelihood: undefined, relaxation: 0, hyper };
}

function relativeChange(before: number | undefined, now: number): number {
  return before === undefined ? Infinity : Math.abs(now - before) / Math.abs(now);
}
