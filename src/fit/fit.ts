// Graph → model.

import type { Engine, TableValues } from '../engine/engine.js';
import { selectEngine } from '../engine/select.js';
import { InputError } from '../errors.js';
import { fingerprint } from '../graph/fingerprint.js';
import { type BipartiteGraph, degrees, SIDES, type SideName } from '../graph/graph.js';
import { VERSION } from '../version.js';
import { firstHyper, learned } from './hyper.js';
import { type Checkpoint, type LoopResult, type LoopState, runLoop, type StopReason } from './loop.js';
import type { Model, ModelSide } from './model.js';
import { type FitOptions, type FitSettings, fitSettings } from './options.js';
import { startValues } from './start.js';

export interface FitResult {
  readonly model: Model;
  readonly stopped: StopReason;
  /** To go on later: pass it as `resume`. */
  readonly checkpoint: Checkpoint;
  readonly engine: string;
  /** Why that engine ran. */
  readonly engineReason: string;
  readonly threads: number;
  readonly seconds: number;
}

/** Fits the sparse or dense Poisson matrix model by coordinate ascent. */
export async function fit(graph: BipartiteGraph, options: FitOptions = {}): Promise<FitResult> {
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

function checkGraph(graph: BipartiteGraph): void {
  if (graph.edges === 0) throw new InputError('the graph has no edges: there is nothing to fit');
  for (const side of SIDES) {
    const degree = degrees(graph[side]);
    const isolated = degree.indexOf(0);
    if (isolated >= 0) {
      throw new InputError(
        `${side} ${graph[side].ids.at(isolated)} has no edge; drop isolated vertices before a fit`,
      );
    }
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
  const side = (name: SideName): ModelSide =>
    Object.freeze({
      count: graph[name].count,
      ids: graph[name].ids,
      weightShape: toFloat32(checkpoint.tables[name].weightShape),
      weightRate: toFloat32(checkpoint.tables[name].weightRate),
      featureShape: toFloat32(checkpoint.tables[name].featureShape),
      featureRate: toFloat32(checkpoint.tables[name].featureRate),
      leftover: checkpoint.totals[name].leftover,
      hyper: state.hyper[name],
      degree: degrees(graph[name]),
    });
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

function toFloat32(values: Float32Array | Float64Array): Float32Array {
  return values instanceof Float32Array ? values : Float32Array.from(values);
}
