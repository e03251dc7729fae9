// Coordinate ascent: graph → model, through the loop.

import type { Engine, TableValues } from '../../engine/engine.js';
import { type EngineReason, onEngine } from '../../engine/select.js';
import { abortReason, DeviceError, InputError } from '../../errors.js';
import { fingerprintWithThreads } from '../../graph/fingerprint-threads.js';
import { type BipartiteGraph, otherSide, SIDES, type SideName } from '../../graph/graph.js';
import { VERSION } from '../../version.js';
import type { FitResult } from '../fit.js';
import { modelSide, type PosteriorModel, seenItems } from '../model.js';
import {
  type AscentOptions,
  CHECKPOINT_MINUTES,
  checkGraph,
  type FitSettings,
  fitSettings,
  recordedOptions,
  type WithFeatureCount,
} from '../options.js';
import { abortedFit, LostFitError } from '../unfinished.js';
import { type BothHyper, type BothTables, logCountFactorials } from './bound.js';
import { dataFacts } from './data-facts.js';
import { firstHyper, learnedHyper, matchesTau, tausToMatch } from './hyper.js';
import {
  type AfterBlock,
  type AscentCheckpoint,
  type FitOrigin,
  type LoopResult,
  type LoopState,
  RELAXATION,
  runLoop,
} from './loop.js';
import { activities } from './phases.js';
import { matchVertices, type PreviousState, previousHyper, previousTables } from './previous.js';
import { fitSample, startsOnSample } from './sample-start.js';
import { startValues } from './start.js';

/** A fit by coordinate ascent, which has the state to go on from. */
export type AscentResult = FitResult<PosteriorModel> & { readonly checkpoint: AscentCheckpoint };

/** A GPU can fail: its state is copied to the host after this many seconds, and then for at most this share of the time. */
const COPY_FROM_SECONDS = 1;
const COPY_SHARE = 0.05;

/** How a run ended, or where it stood when its state was last copied. */
interface Outcome {
  readonly bound: number | undefined;
  readonly stopped: LoopResult['stopped'];
  readonly checkpoint: AscentCheckpoint;
}

/** Maximizes the evidence bound. `data` are the whole data, if `graph` holds only their edges without counts. */
export async function ascend(
  graph: BipartiteGraph,
  options: WithFeatureCount<AscentOptions> = {},
  data: BipartiteGraph = graph,
): Promise<AscentResult> {
  const settings = fitSettings(options);
  checkGraph(graph);
  const began = performance.now();
  const runs = options.resume ? 1 : settings.restarts;
  // These survive the failure of an engine.
  let run = 0;
  let best: Outcome | undefined;
  const resume = options.resume as AscentCheckpoint | undefined;
  let last = resume;
  let finish: ((outcome: Outcome) => AscentResult) | undefined;
  let matched: ReturnType<typeof matchVertices> | undefined;
  let print: string | undefined;

  const work = { edges: graph.edges, features: settings.features };
  try {
    return await onEngine(settings.engine, work, options.threads, async ({ engine, reason }) => {
      // Workers start during this.
      matched ??= options.from && matchVertices(graph, options.from);
      const { report, rows: previousRows } = matched ?? {};
      const origin: FitOrigin = {
        options: recordedOptions('ascent', options),
        fingerprint: (print ??= await fingerprintWithThreads(data, options)),
      };
      const why = finish ? { ...reason, iteration: last?.state.iteration ?? 0 } : reason;
      finish = (outcome) => ({
        ...toResult(graph, settings, outcome, engine, why, began),
        ...(report && { from: report }),
      });
      const copy =
        engine.name === 'gpu' ? copyRegularly(engine, origin, (state) => (last = state)) : undefined;
      const hand = runs > 1 ? undefined : checkpointRegularly(engine, origin, options, (o) => finish!(o));
      const keep: AfterBlock = async (...block) => {
        await copy?.(...block);
        await hand?.(...block);
      };
      for (; run < runs; run++, last = undefined) {
        const { bound, stopped, state, tables } = await oneRun(
          engine,
          graph,
          settings,
          { ...options, ...(last && { resume: last }) },
          previousRows,
          run,
          keep,
        );
        // A checkpoint is of one run: of several, none could go on to the same numbers.
        if (stopped === 'aborted' && runs > 1) throw abortReason(options.signal!);
        const checkpoint = await takeCheckpoint(engine, origin, state, tables);
        for (const side of SIDES) void engine.free(tables[side]);
        const outcome = { bound, stopped, checkpoint };
        if (stopped === 'aborted') throw abortedFit(options.signal!, finish(outcome));
        if (!best || (bound ?? -Infinity) > (best.bound ?? -Infinity)) best = outcome;
      }
      return finish(best!);
    });
  } catch (error) {
    if (!(error instanceof DeviceError) || !finish || !last || last === resume) throw error;
    const bound = last.state.bounds.at(-1)?.[1];
    throw new LostFitError(error.message, finish({ bound, stopped: 'aborted', checkpoint: last }), {
      cause: error,
    });
  }
}

/** Copies the state from the engine, rarely enough to cost little time. */
function copyRegularly(
  engine: Engine,
  origin: FitOrigin,
  keep: (copy: AscentCheckpoint) => void,
): AfterBlock {
  let due = performance.now() + 1000 * COPY_FROM_SECONDS;
  return async (state, tables) => {
    const began = performance.now();
    if (began < due) return;
    keep(await takeCheckpoint(engine, origin, state, tables));
    const end = performance.now();
    due = end + Math.max(1000 * COPY_FROM_SECONDS, (end - began) / COPY_SHARE);
  };
}

/** Passes the state of a long fit to `onCheckpoint` every few minutes. */
function checkpointRegularly(
  engine: Engine,
  origin: FitOrigin,
  { onCheckpoint, checkpointMinutes = CHECKPOINT_MINUTES }: WithFeatureCount<AscentOptions>,
  finish: (outcome: Outcome) => AscentResult,
): AfterBlock | undefined {
  if (!onCheckpoint) return undefined;
  const due = everyMinutes(checkpointMinutes);
  return async (state, tables) => {
    if (!due()) return;
    const checkpoint = await takeCheckpoint(engine, origin, state, tables);
    await onCheckpoint(finish({ bound: state.bounds.at(-1)?.[1], stopped: 'aborted', checkpoint }));
  };
}

/** A function that is true once in `minutes`. */
export function everyMinutes(minutes: number): () => boolean {
  const wait = 60_000 * minutes;
  let due = performance.now() + wait;
  return () => {
    if (performance.now() < due) return false;
    due = performance.now() + wait;
    return true;
  };
}

async function oneRun(
  engine: Engine,
  graph: BipartiteGraph,
  settings: FitSettings,
  options: WithFeatureCount<AscentOptions>,
  previousRows: Readonly<Record<SideName, Int32Array>> | undefined,
  run: number,
  afterBlock: AfterBlock | undefined,
): Promise<LoopResult> {
  const saved = options.resume as AscentCheckpoint | undefined;
  const resume = saved?.state.onSample ? undefined : saved;
  const facts = dataFacts(graph);
  const seed = settings.seed + run;
  const first = resume?.state.hyper ?? (await firstHyper(facts, settings, options.signal));
  const matchedTaus = tausToMatch(facts, settings, first);
  const learn = learnedHyper(settings, first);
  const sample =
    !resume && startsOnSample(engine, graph, settings, options)
      ? await fitSample(engine, graph, settings, options, seed)
      : undefined;
  const sampled = sample === 'aborted';
  const carried = sampled ? undefined : sample;
  const previous: PreviousState | undefined = resume ? undefined : (options.from ?? carried);
  const hyper = previous ? previousHyper(first, previous, learn, matchedTaus) : first;
  const rows = carried ? matchVertices(graph, carried).rows : previousRows;
  const values =
    resume?.tables ??
    (previous
      ? previousTables(graph, previous, rows!, hyper, seed, carried ? 0 : 1)
      : startValues(graph, hyper, settings, seed));
  const state: LoopState = resume?.state ?? {
    iteration: 0,
    warmSweeps: settings.start === 'warm' ? undefined : 0,
    ...(options.from && { fromModel: true }),
    ...(carried && { fromSample: true }),
    ...(sampled && { onSample: sampled }),
    bounds: [],
    likelihood: undefined,
    relaxation: RELAXATION,
    hyper,
  };
  if (resume) for (const side of SIDES) checkResume(graph, side, settings.features, values[side]);
  const shown = activities(state, graph);
  const tables = {
    users: await engine.createTable(settings.features, values.users, shown.users),
    items: await engine.createTable(settings.features, values.items, shown.items),
  };
  if (resume) {
    for (const side of SIDES) {
      void engine.setMass(tables[side], resume.totals[side].mass);
      void engine.setUnseenMass(
        tables[side],
        resume.totals[side].unseenMass,
        resume.totals[side].unseenMassAt,
      );
    }
  }
  if (sampled) return { state, tables, bound: undefined, stopped: 'aborted' };
  if (previous) await takeUnseenMass(engine, tables, previous, hyper);
  const data = { ...graph, factorials: logCountFactorials(graph.users.counts) };
  return runLoop(engine, data, tables, state, settings, { learn, matchedTaus }, options, afterBlock);
}

/** The unseen masses start as the previous model had them. */
async function takeUnseenMass(
  engine: Engine,
  tables: BothTables,
  previous: PreviousState,
  hyper: BothHyper,
): Promise<void> {
  const unseen = (side: SideName) => (hyper[side].size > 0 ? previous[side].unseenMass : undefined);
  const totals = { users: await engine.totals(tables.users), items: await engine.totals(tables.items) };
  for (const side of SIDES) {
    const own = unseen(side);
    const other = otherSide(side);
    const left = unseen(other);
    const at = totals[other].mass.map((m, k) => m + (left?.[k] ?? 0));
    if (own) void engine.setUnseenMass(tables[side], own, at);
  }
}

/** Refuses a saved fit whose data or number of features differ. */
export function checkResume(
  graph: BipartiteGraph,
  side: SideName,
  wanted: number,
  { weightShape, featureShape }: TableValues,
): void {
  const rows = weightShape.length;
  const features = featureShape.length / Math.max(rows, 1);
  if (rows === graph[side].count && features === wanted) return;
  throw new InputError(
    `resume: the saved fit has ${rows} ${side} and ${features} features, this one ${graph[side].count} and ` +
      `${wanted}; resume with the same data and options`,
  );
}

async function takeCheckpoint(
  engine: Engine,
  origin: FitOrigin,
  state: LoopState,
  tables: BothTables,
): Promise<AscentCheckpoint> {
  return {
    method: 'ascent',
    origin,
    state,
    tables: { users: await engine.read(tables.users), items: await engine.read(tables.items) },
    totals: { users: await engine.totals(tables.users), items: await engine.totals(tables.items) },
  };
}

function toResult(
  graph: BipartiteGraph,
  settings: FitSettings,
  outcome: Outcome,
  engine: Engine,
  reason: EngineReason,
  began: number,
): AscentResult {
  return {
    model: toModel(graph, settings, outcome),
    stopped: outcome.stopped === 'converged' ? 'converged' : 'iterations',
    checkpoint: outcome.checkpoint,
    engine: engine.description,
    engineReason: reason,
    threads: engine.threads,
    seconds: (performance.now() - began) / 1000,
  };
}

function toModel(
  graph: BipartiteGraph,
  settings: FitSettings,
  { bound, stopped, checkpoint }: Outcome,
): PosteriorModel {
  const { state } = checkpoint;
  const side = (name: SideName) =>
    modelSide(
      ...([graph[name], checkpoint.tables[name], state.hyper[name]] as const),
      checkpoint.totals[name].unseenMass,
      matchesTau(settings, state.hyper, name),
    );
  return Object.freeze({
    type: 'posterior',
    kind: settings.model,
    features: settings.features,
    multigraph: graph.multigraph,
    ...(graph.names && { names: graph.names }),
    users: side('users'),
    items: side('items'),
    bound,
    seen: seenItems(graph.users),
    provenance: Object.freeze({
      version: VERSION,
      seed: settings.seed,
      ...checkpoint.origin,
      bounds: state.bounds,
      iterations: state.iteration,
      converged: stopped === 'converged',
    }),
  });
}
