// Graph → ranker: cross-fitted sweeps from one or several seeds, and the blend that is added to their scores (blend/).
//
// members.ts estimates the memory. All folds share one user table, so a ranking fit has as many user tables as an ascent.

import { onEngine, ranOn } from '../../engine/select.js';
import { throwIfAborted } from '../../errors.js';
import { fingerprint } from '../../graph/fingerprint.js';
import type { BipartiteGraph } from '../../graph/graph.js';
import { option, optionError } from '../../options/error.js';
import type { TaskOptions } from '../../progress.js';
import { requireTimes } from '../../sample/split.js';
import { checkResume, everyMinutes } from '../ascent/ascent.js';
import { dataFacts } from '../ascent/hyper.js';
import type { FitOrigin, RankingCheckpoint, RankingState } from '../ascent/loop.js';
import { matchVertices, previousItems, previousMembers } from '../ascent/previous.js';
import type { FitResult } from '../fit.js';
import { type Ranker, type RankerMember, rankerOf } from '../model.js';
import { checkGraph, type RankingFitOptions, recordedOptions } from '../options.js';
import { abortedFit, numbersUnderWay, statesUnderWay } from '../unfinished.js';
import { type Blend, fitBlend, mayBlend, previousBlend, withBlend } from './blend/blend.js';
import { type RecencyReport, searchHalfLife } from './half-life-search.js';
import type { RankingGraph } from './member.js';
import { concurrentMembers, fitMembers, type MembersSnapshot } from './members.js';
import {
  agesOf,
  areAlike,
  countEdges,
  edgeWeights,
  latestOf,
  parseHalfLife,
  type Recency,
  weighSides,
} from './recency.js';
import { type RankingSettings, rankingSettings } from './settings.js';

/** Fits a ranker. It has no bound: the fit stops when the likelihood converges. */
export async function fitRanking(
  graph: BipartiteGraph,
  options: Omit<RankingFitOptions, 'method'> = {},
  /** Number of members fitted concurrently, whatever memory is free: for tests only. */
  concurrent?: number,
): Promise<FitResult<Ranker>> {
  checkGraph(graph);
  const resume = options.resume as RankingCheckpoint | undefined;
  const fromModel = options.from !== undefined || resume?.fromModel === true;
  const blends = options.blend !== false && mayBlend(graph);
  const settings = {
    ...rankingSettings(dataFacts(graph), { ...options, blend: blends }),
    ...(fromModel && { fromModel: true as const }),
  };
  // Kept outside the engine's scope: finished members survive an engine that fails.
  const done = new Map(resume?.done.map((member) => [member.seed - settings.seed, member]));
  const saved = resume ? checkSaved(resume, graph, settings, done) : new Map<number, RankingState>();
  const previous = options.from && matchVertices(graph, options.from);
  const blend = previous ? previousBlend(graph, options.from as Ranker, previous.rows.items) : resume?.blend;
  const startedAt = performance.now();
  const { threads, signal, onProgress } = options;
  const task = { seed: settings.seed, threads, signal, onProgress };
  // The half-life of a previous model is kept if its settings are.
  const kept = resume ? resume.recency : blend && options.from?.provenance.recency;
  const weighed = await weighEdges(graph, options.times, settings.halfLife ?? 'never', kept, task);
  const work = { edges: graph.edges * settings.folds, features: settings.features };
  const { features } = settings;
  const origin: FitOrigin = {
    options: { ...recordedOptions('ranking', options), features, blend: blends },
    fingerprint: fingerprint(graph),
  };
  const isDue = options.onCheckpoint ? everyMinutes(options.checkpointMinutes) : () => false;
  const startItems = (run: number) => {
    const member = previous && previousMembers(options.from!).at(run);
    const { hyper, seed } = settings;
    return previous && member && previousItems(weighed.graph, member, previous.rows.items, hyper, seed + run);
  };
  return onEngine(settings.engine, work, options.threads, async ({ engine, reason }) => {
    const result = (members: readonly RankerMember[], blended?: Blend): FitResult<Ranker> => ({
      ...finished(graph, weighed, origin, settings.seed, members, blended),
      ...(previous && { from: previous.report }),
      ...ranOn(engine, reason, startedAt),
    });
    const unfinished = (snapshot: MembersSnapshot) => {
      const [first, ...others] = snapshot.underWay;
      const checkpoint: RankingCheckpoint = {
        method: 'ranking',
        origin,
        ...first,
        seed: settings.seed,
        done: snapshot.done,
        ...(others.length > 0 && { others }),
        ...(fromModel && { fromModel }),
        ...(blend && { blend }),
        ...(kept && { recency: kept }),
      };
      return { ...result(snapshot.members), checkpoint };
    };
    // The blend comes first, so that a stopped fit leaves members alone. A resumed fit computes the blend again.
    const blended = settings.blend
      ? await unlessAborted(options, () =>
          fitBlend(graph, { ...task, previous: blend, edgeWeights: weighed.weights }),
        )
      : undefined;
    const snapshot = await fitMembers(
      engine,
      concurrent ?? concurrentMembers(engine, weighed.graph, settings),
      {
        graph: weighed.graph,
        settings,
        done,
        saved,
        previousItems: startItems,
        isDue,
        signal,
        onProgress,
        onSnapshot: async (now) => options.onCheckpoint?.(unfinished(now)),
      },
    );
    if (snapshot.underWay.length > 0) throw abortedFit(options.signal!, unfinished(snapshot));
    // The signal stopped the blend, but all members were already finished.
    if (settings.blend && !blended) throwIfAborted(options.signal);
    return result(snapshot.members, blended);
  });
}

interface WeighedEdges {
  readonly graph: RankingGraph;
  readonly recency?: Recency | undefined;
  /** In the order of graph.users.neighbors. */
  readonly weights?: Float32Array | undefined;
  readonly ages?: Float32Array | undefined;
  /** How the half-life was found, if it was searched. */
  readonly report?: RecencyReport | undefined;
}

/** The data of members: every edge counts, also those of a simple graph. */
function counted(graph: BipartiteGraph): RankingGraph {
  return graph.multigraph ? graph : { ...countEdges(graph), multigraph: true, weighed: true };
}

/** Weighs edges by the half-life that was asked for; `auto` takes the `kept` one, or searches. */
async function weighEdges(
  graph: BipartiteGraph,
  times: Float64Array | undefined,
  halfLifeOption: string,
  kept: RecencyReport | undefined,
  task: TaskOptions & { readonly seed: number },
): Promise<WeighedEdges> {
  const asked = parseHalfLife(halfLifeOption);
  if (times) requireTimes(times, graph.edges);
  if (asked === 'never') return { graph: counted(graph) };
  if (!times) {
    throw optionError`${option('halfLife')} ${halfLifeOption}: weights by age need the time of each edge; give ${option('times')}, or leave ${option('halfLife')} out`;
  }
  const report = asked === 'auto' ? (kept ?? (await searchHalfLife({ ...graph, times }, task))) : undefined;
  const halfLife = asked === 'auto' ? report?.halfLife : asked;
  if (halfLife === undefined) return { graph: counted(graph), report };
  const recency = { halfLife, latest: latestOf(times) };
  const ages = agesOf(times, recency);
  const weights = edgeWeights(ages);
  if (areAlike(weights)) return { graph: counted(graph), report };
  const { edges } = graph;
  const data: RankingGraph = { ...weighSides(graph, weights), edges, multigraph: true, weighed: true };
  return { graph: data, recency, weights, ages, report };
}

/** The result of `make`; undefined if the signal stopped it. */
async function unlessAborted<T>({ signal }: TaskOptions, make: () => Promise<T>): Promise<T | undefined> {
  try {
    return await make();
  } catch (error) {
    if (signal?.aborted) return undefined;
    throw error;
  }
}

/** The ranker of these members, and what its fit found. */
function finished(
  graph: BipartiteGraph,
  { graph: { total }, recency, ages, report }: WeighedEdges,
  origin: FitOrigin,
  seed: number,
  members: readonly RankerMember[],
  blended: Blend | undefined,
): Pick<FitResult<Ranker>, 'model' | 'stopped' | 'blend' | 'recency'> {
  const converged = members.every((member) => member.converged);
  const scores = blended
    ? withBlend(members, blended, { edges: graph.edges, total })
    : Object.freeze({ kind: 'factors', members: Object.freeze([...members]) } as const);
  const found = { ...(blended && { blend: blended.found }), ...(report && { recency: report }) };
  const provenance = { seed, ...origin, iterations: members[0].iterations, converged, ...found };
  return {
    model: rankerOf(graph, { method: 'ranking', scores, provenance, recency }, ages),
    stopped: converged ? 'converged' : 'iterations',
    ...found,
  };
}

/** Refuses a saved fit that does not go with these data and settings (fit/resume.ts compares the options). Returns the states of its unfinished members, by number. */
function checkSaved(
  saved: RankingCheckpoint,
  graph: BipartiteGraph,
  settings: RankingSettings,
  done: ReadonlyMap<number, RankerMember>,
): Map<number, RankingState> {
  const { features, folds, average } = settings;
  const numbers = numbersUnderWay(saved);
  const underWay = new Map(statesUnderWay(saved).map((one, n) => [numbers[n], one]));
  for (const one of underWay.values()) {
    checkResume(graph, 'items', features, one.items);
    const cut = one.foldMass.length / features;
    if (cut !== folds)
      throw optionError`${option('resume')}: the saved fit has folds ${cut}, this one ${folds}; resume with the same options`;
  }
  const begun = done.size + underWay.size;
  if ([...done.keys()].some((number) => !Number.isInteger(number) || number < 0 || number >= begun)) {
    throw optionError`${option('resume')}: the numbers of the saved fits have gaps; start again without ${option('resume')}`;
  }
  if (settings.fromModel && average > begun) {
    throw optionError`${option('resume')}: the saved fit started from a previous model and has ${begun} of ${average} fits; start again from that model, or set ${option('average')} to ${begun}`;
  }
  if (average < begun) {
    throw optionError`${option('resume')}: the saved fit already has ${begun} fits, but ${option('average')} is ${average}; leave ${option('average')} out, or raise it`;
  }
  return underWay;
}
