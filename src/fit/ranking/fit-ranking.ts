// Graph → model for recommending: cross-fitted sweeps from one or several seeds, and what is added to their scores (beside.ts).
//
// Memory beside the graph: members.ts. There are no more user tables than an evidence fit has, since the folds take turns with one.

import type { Engine } from '../../engine/engine.js';
import { type EngineReason, onEngine } from '../../engine/select.js';
import { throwIfAborted } from '../../errors.js';
import { fingerprintWithThreads } from '../../graph/fingerprint-threads.js';
import { type BipartiteGraph, degrees, SIDES, type SideName } from '../../graph/graph.js';
import { option, optionError } from '../../options/error.js';
import { HYPER_NAMES } from '../../options/shared.js';
import type { TaskOptions } from '../../progress.js';
import { VERSION } from '../../version.js';
import { checkResume, everyMinutes } from '../ascent/ascent.js';
import { dataFacts } from '../ascent/data-facts.js';
import type { FitOrigin, RankingCheckpoint, RankingState } from '../ascent/loop.js';
import { matchVertices, previousItems, previousMembers } from '../ascent/previous.js';
import type { FitResult } from '../fit.js';
import { type Ranker, type RankerMember, seenItems } from '../model.js';
import { CHECKPOINT_MINUTES, checkGraph, type RankingFitOptions, recordedOptions } from '../options.js';
import { abortedFit, numbersUnderWay, statesUnderWay } from '../unfinished.js';
import { type Blend, fitBlend, mayBlend, previousBlend, withBlend } from './blend/blend.js';
import { concurrentMembers, fitMembers, type MembersStanding } from './members.js';
import { type RankingSettings, rankingSettings } from './settings.js';

/** Fits the model for ranking. It does not ascend the bound and has none: it stops when the likelihood settles. */
export async function fitRanking(
  graph: BipartiteGraph,
  options: Omit<RankingFitOptions, 'method'> = {},
  /** Members fitted at once, whatever memory says: only to test. */
  atOnce?: number,
): Promise<FitResult<Ranker>> {
  checkGraph(graph);
  const resume = options.resume as RankingCheckpoint | undefined;
  const fromModel = options.from !== undefined || resume?.state.fromModel === true;
  const asked = rankingSettings(dataFacts(graph), options);
  const settings = {
    ...asked,
    blend: asked.blend && mayBlend(graph),
    ...(fromModel && { fromModel: true as const }),
  };
  // Fits that are done outlive an engine that fails.
  const done = new Map(resume?.done.map((member) => [member.seed - settings.seed, member]));
  const saved = resume ? checkSaved(resume, graph, settings, done) : new Map<number, RankingState>();
  const former = options.from && matchVertices(graph, options.from);
  const blend = former ? previousBlend(graph, options.from as Ranker, former.rows.items) : resume?.blend;
  const began = performance.now();
  const work = { edges: graph.edges * settings.folds, features: settings.features };
  const { features, blend: blends } = settings;
  const origin: FitOrigin = {
    options: { ...recordedOptions('ranking', options), features, blend: blends },
    fingerprint: await fingerprintWithThreads(graph, { threads: options.threads }),
  };
  const isDue = options.onCheckpoint
    ? everyMinutes(options.checkpointMinutes ?? CHECKPOINT_MINUTES)
    : () => false;
  const ofFormer = (run: number) => {
    const member = former && previousMembers(options.from!).at(run);
    const { hyper, seed } = settings;
    return former && member && previousItems(graph, member, former.rows.items, hyper, seed + run);
  };
  return onEngine(settings.engine, work, options.threads, async ({ engine, reason }) => {
    const result = (all: readonly RankerMember[], blended?: Blend) => ({
      ...toResult(graph, origin, settings.seed, all, blended, { engine, reason, began }),
      ...(former && { from: former.report }),
      ...(blended && { blend: blended.found }),
    });
    const unfinished = (standing: MembersStanding) => {
      const [first, ...others] = standing.underWay;
      const { seed } = settings;
      const head = { method: 'ranking', origin, ...first, seed, done: standing.done } as const;
      const more = { ...(others.length > 0 && { others }), ...(blend && { blend }) };
      const checkpoint: RankingCheckpoint = { ...head, ...more };
      return { ...result(standing.members), checkpoint };
    };
    // First, so that what a stop leaves is the state of members as ever; it is made again when the fit goes on.
    const blended = settings.blend
      ? await unlessAborted(options, () =>
          fitBlend(graph, { ...besideTask(settings, options), former: blend }),
        )
      : undefined;
    const standing = await fitMembers(engine, atOnce ?? concurrentMembers(engine, graph, settings), {
      ...{ graph, settings, done, saved, previousItems: ofFormer, isDue },
      ...{ signal: options.signal, onProgress: options.onProgress },
      onStanding: async (now) => options.onCheckpoint?.(unfinished(now)),
    });
    if (standing.underWay.length > 0) throw abortedFit(options.signal!, unfinished(standing));
    // A stop while it was made, and members that had nothing left to do.
    if (settings.blend && !blended) throwIfAborted(options.signal);
    return result(standing.members, blended);
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
  origin: FitOrigin,
  seed: number,
  members: readonly RankerMember[],
  blended: Blend | undefined,
  { engine, reason, began }: Circumstances,
): FitResult<Ranker> {
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
      scores: blended
        ? withBlend(members, blended, graph)
        : Object.freeze({ kind: 'factors', members: Object.freeze([...members]) }),
      seen: seenItems(graph.users),
      provenance: Object.freeze({
        version: VERSION,
        seed,
        ...origin,
        iterations: members[0].iterations,
        converged,
        ...(blended && { blend: blended.found }),
      }),
    }),
    stopped: converged ? 'converged' : 'iterations',
    engine: engine.description,
    engineReason: reason,
    threads: engine.threads,
    seconds: (performance.now() - began) / 1000,
  };
}

/** The saved fit goes on where it stood: only with what decides its numbers as it was. Resolves to what is under way, by number. */
function checkSaved(
  saved: RankingCheckpoint,
  graph: BipartiteGraph,
  settings: RankingSettings,
  done: ReadonlyMap<number, RankerMember>,
): Map<number, RankingState> {
  const { features, folds, seed, hyper, average } = settings;
  const same = (name: string, before: unknown, now: unknown) => {
    if (JSON.stringify(before) === JSON.stringify(now)) return;
    throw optionError`${option('resume')}: the saved fit has ${name} ${JSON.stringify(before)}, this one ${JSON.stringify(now)}; resume with the same options`;
  };
  same('seed', saved.seed, seed);
  const numbers = numbersUnderWay(saved);
  const underWay = new Map(statesUnderWay(saved).map((one, n) => [numbers[n], one]));
  for (const one of underWay.values()) {
    checkResume(graph, 'items', features, one.items);
    same('folds', one.foldMass.length / features, folds);
    for (const side of SIDES) {
      for (const name of HYPER_NAMES)
        same(`${name} of the ${side}`, one.state.hyper[side][name], hyper[side][name]);
    }
  }
  const begun = done.size + underWay.size;
  if ([...done.keys()].some((number) => !Number.isInteger(number) || number < 0 || number >= begun)) {
    throw optionError`${option('resume')}: the saved fits do not follow one another; begin anew`;
  }
  if (settings.fromModel && average > begun) {
    throw optionError`${option('resume')}: several fits that began from a former model need that model again; begin anew from it`;
  }
  if (average < begun) {
    throw optionError`${option('resume')}: the saved fit is at number ${begun} of several, ${option('average')} is ${average}; leave it was, or raise it`;
  }
  return underWay;
}
