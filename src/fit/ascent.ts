// Coordinate ascent: graph → model, through the loop.

import type { Engine, TableValues } from '../engine/engine.js';
import { selectEngine } from '../engine/select.js';
import { InputError } from '../errors.js';
import { fingerprint } from '../graph/fingerprint.js';
import { type BipartiteGraph, SIDES, type SideName } from '../graph/graph.js';
import { VERSION } from '../version.js';
import type { FitResult } from './fit.js';
import { firstHyper, learned } from './hyper.js';
import { type Checkpoint, type LoopResult, type LoopState, RELAXATION, runLoop } from './loop.js';
import { type Model, modelSide } from './model.js';
import { checkGraph, type FitOptions, type FitSettings, fitSettings } from './options.js';
import { startValues } from './start.js';

/** A fit by coordinate ascent, which has the state to go on from. */
export type AscentResult = FitResult & { readonly checkpoint: Checkpoint };

/** Maximizes the evidence bound. */
export async function ascend(graph: BipartiteGraph, options: FitOptions = {}): Promise<AscentResult> {
  const settings = fitSettings(options);
  checkGraph(graph);
  const began = performance.now();
  const { engine, reason } = await selectEngine(
    settings.engine,
    { edges: graph.edges, features: settings.features },
    options.threads,
  );
  try {
    let best: { result: LoopResult; checkpoint: Checkpoint } | undefined;
    const runs = options.resume ? 1 : settings.restarts;
    for (let run = 0; run < runs; run++) {
      const result = await oneRun(engine, graph, settings, options, run);
      const checkpoint = await takeCheckpoint(engine, result);
      for (const side of SIDES) engine.free(result.tables[side]);
      if (!best || result.bound > best.result.bound) best = { result, checkpoint };
      if (result.stopped === 'aborted') break;
    }
    const { result, checkpoint } = best!;
    const seconds = (performance.now() - began) / 1000;
    return {
      model: toModel(graph, settings, result, checkpoint, engine, seconds),
      stopped: result.stopped,
      checkpoint,
      engine: engine.description,
      engineReason: reason,
      threads: engine.threads,
      seconds,
    };
  } finally {
    await engine.close();
  }
}

async function oneRun(
  engine: Engine,
  graph: BipartiteGraph,
  settings: FitSettings,
  options: FitOptions,
  run: number,
): Promise<LoopResult> {
  const { resume } = options;
  const hyper = resume?.state.hyper ?? (await firstHyper(graph, settings, options.signal));
  const values = resume?.tables ?? startValues(graph, hyper, settings.features, settings.seed + run);
  const state: LoopState = resume?.state ?? {
    iteration: 0,
    warmSweeps: settings.start === 'warm' ? undefined : 0,
    bounds: [],
    likelihood: undefined,
    relaxation: RELAXATION,
    hyper,
  };
  if (resume) checkResume(graph, settings, values);
  const activity = state.warmSweeps === undefined ? 'mean' : 'exact';
  const tables = {
    users: await engine.createTable(settings.features, values.users, activity),
    items: await engine.createTable(settings.features, values.items, activity),
  };
  if (resume) {
    for (const side of SIDES) {
      engine.setMass(tables[side], resume.totals[side].mass);
      engine.setLeftover(tables[side], resume.totals[side].leftover, resume.totals[side].leftoverAt);
    }
  }
  return runLoop(engine, graph, tables, state, settings, learned(settings, hyper), options);
}

function checkResume(
  graph: BipartiteGraph,
  settings: FitSettings,
  values: Readonly<Record<SideName, TableValues>>,
): void {
  for (const side of SIDES) {
    const rows = values[side].weightShape.length;
    const features = values[side].featureShape.length / Math.max(rows, 1);
    if (rows !== graph[side].count || features !== settings.features) {
      throw new InputError(
        `resume: the saved fit has ${rows} ${side} and ${features} features, this one ${graph[side].count} and ` +
          `${settings.features}; resume with the same data and options`,
      );
    }
  }
}

async function takeCheckpoint(engine: Engine, result: LoopResult): Promise<Checkpoint> {
  const { tables, state } = result;
  return {
    state,
    tables: { users: await engine.read(tables.users), items: await engine.read(tables.items) },
    totals: { users: await engine.totals(tables.users), items: await engine.totals(tables.items) },
  };
}

function toModel(
  graph: BipartiteGraph,
  settings: FitSettings,
  result: LoopResult,
  checkpoint: Checkpoint,
  engine: Engine,
  seconds: number,
): Model {
  const { state, bound, stopped } = result;
  const side = (name: SideName) =>
    modelSide(graph[name], checkpoint.tables[name], state.hyper[name], checkpoint.totals[name].leftover);
  return Object.freeze({
    kind: settings.model,
    objective: 'evidence',
    features: settings.features,
    multigraph: graph.multigraph,
    users: side('users'),
    items: side('items'),
    bound,
    seen: Object.freeze({
      offsets: graph.users.offsets,
      neighbors: graph.users.neighbors,
      counts: graph.users.counts,
    }),
    provenance: Object.freeze({
      version: VERSION,
      engine: engine.description,
      seed: settings.seed,
      fingerprint: fingerprint(graph),
      options: { ...settings },
      bounds: state.bounds,
      iterations: state.iteration,
      converged: stopped === 'converged',
      seconds,
    }),
  });
}
