// One refit: reads the data, holds back the last items of some users, fits from the present model, compares the two, and
// writes the new model. It runs in a process of its own (refit-process.ts).

import { carriedRows } from '../attributes/new-rows.js';
import { readSideInfo } from '../attributes/side-info.js';
import { fitBaseline } from '../evaluate/baselines/fit-baseline.js';
import { successorOptions } from '../fit/ascent/previous.js';
import { fit } from '../fit/fit.js';
import type { Model } from '../fit/model.js';
import type { FitOptions } from '../fit/options.js';
import type { BipartiteGraph } from '../graph/graph.js';
import { graphOfPairs } from '../graph/pairs.js';
import { selectEdges } from '../graph/subgraph.js';
import { timeColumn } from '../ingest/intake/value-column.js';
import type { ReadOptions } from '../ingest/options.js';
import { readGraph, readWithValues } from '../ingest/read.js';
import { readSideTable } from '../ingest/side-file.js';
import { BASELINES, type BaselineName } from '../options/names.js';
import { fitContent } from '../predict/content/fit-content.js';
import type { TaskOptions } from '../progress.js';
import { loadModel, saveModel } from '../store/model-file.js';
import { type Comparison, compareModels } from './compare-models.js';
import { type HeldBackUser, holdBackLast } from './hold-back-last.js';

/** A table of events to fit. */
export interface RefitSource {
  readonly sources: readonly string[];
  readonly read: ReadOptions;
  /** The column of times; undefined: there is none. */
  readonly time: string | number | undefined;
}

/** What a refit does; plain values that go to another process. */
export interface RefitPlan {
  readonly data: readonly RefitSource[];
  /** The present model's file. */
  readonly present: string;
  readonly output: string;
  /** A table about the items; undefined: there is none. */
  readonly itemInfo?: string | undefined;
  /** Milliseconds since 1970: what has an older time is left out. */
  readonly since: number | undefined;
  readonly seed: number;
  readonly threads: number;
}

export interface RefitResult {
  readonly users: number;
  readonly items: number;
  readonly edges: number;
  readonly seconds: number;
  /** Undefined if too few users had new items. */
  readonly comparison: Comparison | undefined;
}

interface TimedGraph {
  readonly graph: BipartiteGraph;
  readonly times: Float64Array | undefined;
}

export async function refit(plan: RefitPlan, task: TaskOptions = {}): Promise<RefitResult> {
  const began = performance.now();
  const present = await loadModel(plan.present);
  const { threads, seed } = plan;
  const tables: TimedGraph[] = [];
  for (const source of plan.data)
    tables.push(withoutOld(await readTable(source, present.multigraph, { ...task, threads }), plan.since));
  const { graph, users } = trainingData(tables, present, seed);
  const candidate = await fitAgain(graph, present, plan, task);
  const comparison = await compareModels(present, candidate, users, { threads, signal: task.signal });
  await saveModel(plan.output, await withInfo(candidate, present, plan, task));
  return {
    users: graph.users.count,
    items: graph.items.count,
    edges: graph.edges,
    seconds: (performance.now() - began) / 1000,
    comparison,
  };
}

async function readTable(
  { sources, read, time }: RefitSource,
  multigraph: boolean,
  task: TaskOptions,
): Promise<TimedGraph> {
  const options = { ...read, multigraph, ...task };
  if (time === undefined) return { graph: (await readGraph(sources, options)).graph, times: undefined };
  const { graph, values } = await readWithValues(sources, options, timeColumn(time));
  return { graph, times: values };
}

function withoutOld({ graph, times }: TimedGraph, since: number | undefined): TimedGraph {
  if (times === undefined || since === undefined) return { graph, times };
  const labels = Uint8Array.from(times, (time) => (time < since ? 1 : 0));
  return { graph: selectEdges(graph, labels, 0), times: times.filter((time) => time >= since) };
}

/** All tables as one graph, without what is held back of the last table. */
function trainingData(
  tables: readonly TimedGraph[],
  present: Model,
  seed: number,
): { readonly graph: BipartiteGraph; readonly users: readonly HeldBackUser[] } {
  const { names, multigraph } = present;
  if (tables.length === 1) {
    const [{ graph, times }] = tables;
    const { labels, users } = holdBackLast(graph, times, present, seed);
    return { graph: { ...selectEdges(graph, labels, 0), ...(names && { names }) }, users };
  }
  const merged = graphOfPairs(pairsOf(tables), { multigraph });
  // Times of several tables cannot be told apart, so any new items are held back.
  const { labels, users } = holdBackLast(merged, undefined, present, seed);
  return { graph: { ...selectEdges(merged, labels, 0), ...(names && { names }) }, users };
}

function* pairsOf(tables: readonly TimedGraph[]): Generator<[string, string, number]> {
  for (const { graph } of tables) {
    const { users, items } = graph;
    for (let u = 0; u < users.count; u++) {
      const user = users.ids.at(u);
      for (let e = users.offsets[u]; e < users.offsets[u + 1]; e++) {
        yield [user, items.ids.at(users.neighbors[e]), users.counts?.[e] ?? 1];
      }
    }
  }
}

/** The model with the titles and attributes of its items: those of the table, or else those that the present model has. */
async function withInfo(
  model: Model,
  present: Model,
  { itemInfo: table, seed, threads }: RefitPlan,
  task: TaskOptions,
): Promise<Model> {
  const known = present.info?.items;
  const info =
    table === undefined
      ? known && carriedRows(known, present.items.ids, model.items.ids)
      : readSideInfo(model.items, { name: table, rows: await readSideTable(table) }).info;
  if (!info) return model;
  return { ...model, info: { items: await fitContent(model, info, { ...task, seed, threads }) } };
}

/** Fits by the same method with the same settings, from the present model if a fit can start from it. */
async function fitAgain(
  graph: BipartiteGraph,
  present: Model,
  { seed, threads }: RefitPlan,
  { signal, onProgress }: TaskOptions,
): Promise<Model> {
  const task = { seed, threads, signal, onProgress };
  const method = present.type === 'ranker' ? present.method : 'ascent';
  if ((BASELINES as readonly string[]).includes(method)) {
    return (await fitBaseline(graph, method as BaselineName, task)).model;
  }
  return (await fit(graph, successorOptions({ ...task, from: present } as FitOptions & { from: Model })))
    .model;
}
