// Graph → model for recommending: cross-fitted sweeps (section 8b) from one or several seeds.
//
// Memory beside the graph, in bytes: 4 (F − 1) an edge for the users' edges without each fold and 4 an edge for the items'
// (twice that in a multigraph), and 12 K for each item and each user: no more user tables than an evidence fit has, since
// the folds take turns with one.

import type { Engine, TableValues } from '../engine/engine.js';
import { onEngine } from '../engine/select.js';
import { throwIfAborted } from '../errors.js';
import { fingerprint } from '../graph/fingerprint.js';
import type { BipartiteGraph, SideName } from '../graph/graph.js';
import { randomStream } from '../math/random.js';
import { VERSION } from '../version.js';
import type { FitResult } from './fit.js';
import { foldRows } from './fold-in.js';
import { cutFolds } from './folds.js';
import { type Model, modelSide } from './model.js';
import { checkGraph, type FitOptions } from './options.js';
import { type RankingSettings, rankingSettings } from './ranking-options.js';
import { startCrossFit } from './ranking-sweep.js';

/** Features first look alike and the likelihood hardly moves; it cannot have settled before they have told apart. */
const LEAST_SWEEPS = 15;

/** Fits the model for ranking. It does not ascend the bound and has none: it stops when the likelihood settles. */
export async function fitRanking(graph: BipartiteGraph, options: FitOptions = {}): Promise<FitResult> {
  checkGraph(graph);
  const settings = rankingSettings(graph, options);
  const began = performance.now();
  const work = { edges: graph.edges * settings.folds, features: settings.features };
  return onEngine(settings.engine, work, options.threads, async ({ engine, reason }) => {
    const models: Model[] = [];
    for (let run = 0; run < settings.average; run++) {
      models.push(await oneFit(engine, graph, settings, options, run));
    }
    const [first, ...members] = models;
    const seconds = (performance.now() - began) / 1000;
    const converged = models.every((model) => model.provenance.converged);
    return {
      model: Object.freeze({
        ...first!,
        seen: Object.freeze({
          offsets: graph.users.offsets,
          neighbors: graph.users.neighbors,
          counts: graph.users.counts,
        }),
        ...(members.length > 0 && { members: Object.freeze(members) }),
        provenance: Object.freeze({ ...first!.provenance, seconds }),
      }),
      stopped: converged ? 'converged' : 'iterations',
      engine: engine.description,
      engineReason: reason,
      threads: engine.threads,
      seconds,
    };
  });
}

async function oneFit(
  engine: Engine,
  graph: BipartiteGraph,
  settings: RankingSettings,
  options: FitOptions,
  run: number,
): Promise<Model> {
  const began = performance.now();
  const { features, iterations, tolerance } = settings;
  const seed = settings.seed + run;
  const folds = cutFolds(graph.items.count, settings.folds, randomStream(seed, 0xf01d));
  const cross = await startCrossFit(engine, graph, folds, settings.hyper, features, seed);
  try {
    let before: number | undefined;
    let sweeps = 0;
    let converged = false;
    while (sweeps < iterations && !converged) {
      throwIfAborted(options.signal);
      const likelihood = await cross.sweep();
      sweeps++;
      const change = before === undefined ? Infinity : Math.abs(likelihood - before) / Math.abs(likelihood);
      converged = sweeps >= LEAST_SWEEPS && change < tolerance;
      before = likelihood;
      options.onProgress?.({
        stage: settings.average > 1 ? `fitting ${run + 1} of ${settings.average}` : 'fitting for ranking',
        done: sweeps,
        total: iterations,
        unit: 'sweeps',
        note: `likelihood ${likelihood.toPrecision(7)}, change ${change.toExponential(1)}`,
      });
    }
    const leftover = new Float64Array(features);
    const side = (name: SideName, values: TableValues) =>
      modelSide(graph[name], values, settings.hyper[name], leftover);
    const itemSide = side('items', await cross.readItems());
    cross.free();
    const base = {
      kind: settings.model,
      objective: 'ranking',
      features,
      multigraph: graph.multigraph,
      items: itemSide,
    } as const;
    // Known users, from all of their items: state F + 1, which no item was updated from.
    const users = await foldRows(engine, base, settings.hyper.users, base.items, graph.users, {
      signal: options.signal,
    });
    return Object.freeze({
      ...base,
      users: side('users', users),
      bound: undefined,
      provenance: Object.freeze({
        version: VERSION,
        engine: engine.description,
        seed,
        fingerprint: fingerprint(graph),
        options: { ...settings },
        bounds: [],
        iterations: sweeps,
        converged,
        seconds: (performance.now() - began) / 1000,
      }),
    });
  } catch (error) {
    cross.free();
    throw error;
  }
}
