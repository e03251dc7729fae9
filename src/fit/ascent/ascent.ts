// Coordinate ascent: graph → model, through the loop.

import type { Engine, TableValues } from '../../engine/engine.js';
import { onEngine, ranOn } from '../../engine/select.js';
import { abortReason, DeviceError, InputError } from '../../errors.js';
import { fingerprintAside } from '../../graph/fingerprint-aside.js';
import { type BipartiteGraph, type BySide, bySide, SIDES, type SideName } from '../../graph/graph.js';
import { once } from '../../math/once.js';
import { option, optionError } from '../../options/error.js';
import type { Progress, TaskOptions } from '../../progress.js';
import { VERSION } from '../../version.js';
import type { FitResult } from '../fit.js';
import { type ModelSide, modelSide, type PosteriorModel, type SeenItems, seenItems } from '../model.js';
import {
  type AscentWithFeatures,
  CHECKPOINT_MINUTES,
  checkGraph,
  type FitSettings,
  fitSettings,
  recordedOptions,
} from '../options.js';
import { abortedFit, LostFitError, withoutFit } from '../unfinished.js';
import { type BothTables, logCountFactorials, totalsOf } from './bound.js';
import {
  type DataFacts,
  dataFacts,
  firstHyper,
  learnedHyper,
  matchesTau,
  setUnseenMasses,
  tausToMatch,
} from './hyper.js';
import {
  type AfterBlock,
  type AscentCheckpoint,
  type FitOrigin,
  type LoopResult,
  type LoopState,
  runLoop,
} from './loop.js';
import { mergedTables } from './merge-features.js';
import { matchVertices, previousHyper, previousTables } from './previous.js';
import { graphProfiles } from './profiles.js';
import { firstState, fitSchedule, type Phase, phaseOf, type StartKind, startKind } from './schedule.js';
import { differencesOf, startValues } from './start.js';

/** A fit by coordinate ascent, with the state from which it can continue. */
type AscentResult = FitResult<PosteriorModel> & { readonly checkpoint: AscentCheckpoint };

/** A GPU can fail: its state is copied to the host after this many seconds, and then for at most this share of the time. */
const COPY_FROM_SECONDS = 1;
const COPY_SHARE = 0.05;

/** How a run ended, or its state when that was last copied. */
interface Outcome extends Pick<LoopResult, 'bound' | 'stopped'> {
  readonly checkpoint: AscentCheckpoint;
}

/** Maximizes the evidence bound. If `graph` holds edges without their counts, `data` is the multigraph with the counts. */
export async function ascend(
  graph: BipartiteGraph,
  options: AscentWithFeatures = {},
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
  const { onCheckpoint, checkpointMinutes } = options;
  const isDue = onCheckpoint && runs === 1 ? everyMinutes(checkpointMinutes) : () => false;
  // Computed while the engine starts.
  const matching = once(() => options.from && matchVertices(graph, options.from));
  const facts = dataFacts(graph);
  const kind = options.from ? 'previous' : startKind(settings, facts.degreeCounts);
  const profilesOf = () => {
    const made = graphProfiles(graph, settings.features, { run, threads: options.threads });
    made.catch(() => {}); // the run gets the error
    return made;
  };
  let early = kind === 'profiles' && !resume ? profilesOf() : undefined;
  /** Only the first tables of a run need its profiles, so they are not kept. */
  const profiles = () => {
    const made = early ?? profilesOf();
    early = undefined;
    return made;
  };
  const origin = fingerprintAside(data).then(
    (fingerprint): FitOrigin => ({ options: recordedOptions('ascent', options), fingerprint }),
  );
  origin.catch(() => {}); // the first checkpoint gets the error
  const work = { edges: graph.edges, features: settings.features };
  try {
    return await onEngine(settings.engine, work, options.threads, async ({ engine, reason }) => {
      const matched = matching();
      const why = finish ? { ...reason, iteration: last?.state.iteration ?? 0 } : reason;
      finish = (outcome) => ({
        model: toModel(graph, settings, outcome),
        stopped: outcome.stopped === 'converged' ? 'converged' : 'iterations',
        checkpoint: outcome.checkpoint,
        ...ranOn(engine, why, began),
        ...(matched && { from: matched.report }),
      });
      const isGpu = engine.name === 'gpu';
      let copyAt = isGpu ? performance.now() + 1000 * COPY_FROM_SECONDS : Infinity;
      const keep: AfterBlock = async (state, tables) => {
        const at = performance.now();
        const hands = isDue();
        if (at < copyAt && !hands) return;
        const checkpoint = await takeCheckpoint(engine, await origin, state, tables);
        if (isGpu) {
          last = checkpoint;
          const end = performance.now();
          copyAt = end + Math.max(1000 * COPY_FROM_SECONDS, (end - at) / COPY_SHARE);
        }
        if (!hands) return;
        await onCheckpoint!(finish!({ bound: state.bounds.at(-1)?.[1], stopped: 'aborted', checkpoint }));
      };
      for (; run < runs; run++, last = undefined) {
        const previous = matched && { model: options.from!, rows: matched.rows };
        const start = { kind, resume: last, previous, profiles, run };
        const { bound, stopped, state, tables } = await oneRun(
          engine,
          graph,
          facts,
          settings,
          start,
          options,
          keep,
        );
        // Only a single run has a checkpoint: several runs could not continue to the same numbers.
        if (stopped === 'aborted' && runs > 1) throw abortReason(options.signal!);
        const checkpoint = await takeCheckpoint(engine, await origin, state, tables);
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

/** The model of a short fit that only answers a question. If it is interrupted, its error carries no checkpoint. */
export async function trialModel(
  graph: BipartiteGraph,
  options: AscentWithFeatures,
  stage: string,
): Promise<PosteriorModel> {
  const { onProgress } = options;
  const told = onProgress && ((progress: Progress) => onProgress({ ...progress, stage }));
  try {
    return (await ascend(graph, { ...options, restarts: 1, onCheckpoint: undefined, onProgress: told }))
      .model;
  } catch (error) {
    throw withoutFit(error);
  }
}

/** A function that returns true at most once in `minutes`. */
export function everyMinutes(minutes = CHECKPOINT_MINUTES): () => boolean {
  const wait = 60_000 * minutes;
  let due = performance.now() + wait;
  return () => {
    if (performance.now() < due) return false;
    due = performance.now() + wait;
    return true;
  };
}

/** What a run starts from: a saved state, else a previous model, else the start with the number `run`. */
interface RunStart {
  readonly kind: StartKind;
  readonly resume: AscentCheckpoint | undefined;
  readonly previous: { readonly model: PosteriorModel; readonly rows: BySide<Int32Array> } | undefined;
  readonly profiles: () => Promise<Float32Array>;
  readonly run: number;
}

async function oneRun(
  engine: Engine,
  graph: BipartiteGraph,
  facts: DataFacts,
  settings: FitSettings,
  { kind, resume, previous, profiles, run }: RunStart,
  task: TaskOptions,
  afterBlock: AfterBlock,
): Promise<LoopResult> {
  const seed = settings.seed + run;
  const first = resume?.state.hyper ?? (await firstHyper(facts, settings, task.signal));
  const matchedTaus = tausToMatch(facts, settings, first);
  const learn = learnedHyper(settings, first);
  const hyper = !resume && previous ? previousHyper(first, previous.model, learn, matchedTaus) : first;
  const schedule = fitSchedule(settings, facts.degreeCounts, kind);
  const state = resume?.state ?? firstState(schedule, hyper);
  const phase = phaseOf(state);
  const { features } = phase;
  if (resume) {
    checkFeatures(state, settings.features);
    for (const side of SIDES) checkResume(graph, side, features, resume.tables[side]);
  }
  const firstTables = async () => {
    if (previous) return previousTables(graph, previous.model, previous.rows, hyper, seed);
    const leanings = kind === 'profiles' ? await profiles() : undefined;
    return startValues(graph, hyper, features, seed, differencesOf(leanings));
  };
  const values = resume?.tables ?? (await firstTables());
  const tables = await createTables(engine, values, phase, resume?.totals);
  if (!resume && previous) {
    const unseen = bySide((side) => previous.model[side].unseenMass);
    await setUnseenMasses(engine, tables, unseen, hyper);
  }
  const data = { ...graph, factorials: logCountFactorials(graph.users.counts) };
  return runLoop(engine, data, tables, state, settings, { learn, matchedTaus }, task, afterBlock);
}

/** The tables of a phase, with their totals if these were saved. `split`: the users lie in shards. */
export async function createTables(
  engine: Engine,
  values: AscentCheckpoint['tables'],
  phase: Phase,
  totals: AscentCheckpoint['totals'] | undefined,
  split = false,
): Promise<BothTables> {
  const tables = {
    users: await engine.createTable(phase.features, values.users, phase.users, split),
    items: await engine.createTable(phase.features, values.items, phase.items),
  };
  if (!totals) return tables;
  for (const side of SIDES) {
    const { mass, unseenMass, unseenMassAt } = totals[side];
    void engine.setMass(tables[side], mass);
    void engine.setUnseenMass(tables[side], unseenMass, unseenMassAt);
  }
  return tables;
}

/** Refuses a saved fit that ends with another number of features. */
export function checkFeatures({ schedule }: LoopState, wanted: number): void {
  const { features } = schedule[schedule.length - 1];
  if (features === wanted) return;
  throw optionError`${option('resume')}: the saved fit ends with ${features} features, this one with ${wanted}; resume with the same options`;
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
    totals: await totalsOf(engine, tables),
  };
}

function toModel(
  graph: BipartiteGraph,
  settings: FitSettings,
  { bound, stopped, checkpoint }: Outcome,
): PosteriorModel {
  const { state, totals } = checkpoint;
  // A fit that was stopped while it explored has more features than its model.
  const { tables, unseenMass } =
    phaseOf(state).features > settings.features
      ? mergedTables(checkpoint.tables, totals, state.hyper, settings.features)
      : { tables: checkpoint.tables, unseenMass: bySide((side) => totals[side].unseenMass) };
  const sides = bySide((side) => {
    const tauMatched = matchesTau(settings, state.hyper, side);
    return modelSide(graph[side], tables[side], state.hyper[side], unseenMass[side], tauMatched);
  });
  return posteriorOf(graph, settings, sides, { ...checkpoint, bound, stopped }, seenItems(graph.users));
}

/** The model of a fit. Without `seen` it does not know which items its users have. */
export function posteriorOf(
  { multigraph, names }: Pick<BipartiteGraph, 'multigraph' | 'names'>,
  settings: FitSettings,
  sides: BySide<ModelSide>,
  end: Pick<AscentCheckpoint, 'state' | 'origin'> & Pick<LoopResult, 'bound' | 'stopped'>,
  seen?: SeenItems,
): PosteriorModel {
  const { state, origin, bound, stopped } = end;
  return Object.freeze({
    type: 'posterior',
    kind: settings.model,
    features: settings.features,
    multigraph,
    ...(names && { names }),
    ...sides,
    bound,
    ...(seen && { seen }),
    provenance: Object.freeze({
      version: VERSION,
      seed: settings.seed,
      ...origin,
      bounds: state.bounds,
      iterations: state.iteration,
      converged: stopped === 'converged',
    }),
  });
}
