// One refit: reads the data, holds back the last items of some users, fits from the present model and compares the two. If the
// new model is not clearly worse, it also learns what was held back: otherwise the last items of users who never return would
// be held back by every refit. It runs in a process of its own (refit-process.ts).

import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { carriedInfo, type NewItem } from '../attributes/new-rows.js';
import { withPostedRows } from '../attributes/posted-rows.js';
import { readSideInfo } from '../attributes/side-info.js';
import { fitBaseline } from '../evaluate/baselines/fit-baseline.js';
import { missingUsers, successorOptions } from '../fit/ascent/previous.js';
import { fit } from '../fit/fit.js';
import type { Model } from '../fit/model.js';
import type { FitOptions } from '../fit/options.js';
import { fingerprint } from '../graph/fingerprint.js';
import { type BipartiteGraph, partSize, SIDES } from '../graph/graph.js';
import { selectEdges } from '../graph/subgraph.js';
import { LockedError } from '../ingest/formats/duckdb-package.js';
import { lastTimes, writtenTimes } from '../ingest/intake/value-column.js';
import type { ReadOptions } from '../ingest/options.js';
import { readGraph, readWithValues } from '../ingest/read.js';
import { readSideTable } from '../ingest/side-file.js';
import { lowerBound } from '../math/csr.js';
import { isBaseline } from '../options/names.js';
import { withTables } from '../predict/content/fit-content.js';
import type { TaskOptions } from '../progress.js';
import { joinGraphs, mergedIds } from '../sample/whole-graph.js';
import { loadModel, saveModel } from '../store/model-file.js';
import { compareModels, isClearlyWorse } from './compare-models.js';
import type { Comparison } from './generations.js';
import { holdBackLast } from './hold-back-last.js';

/** A table of events to fit. */
export interface RefitSource {
  readonly sources: readonly string[];
  readonly read: ReadOptions;
  /** The column of times; undefined: there is none. */
  readonly time: string | number | undefined;
  /** Whether the server wrote it, with times in milliseconds since 1970. */
  readonly written?: boolean;
}

/** What a refit does; plain values that go to another process. */
export interface RefitPlan {
  readonly data: readonly RefitSource[];
  /** The present model's file. */
  readonly present: string;
  /** Hash of the data that the present model was fitted to; undefined: unknown. A refit of the same data makes no model. */
  readonly presentData?: string | undefined;
  readonly output: string;
  /** A table about the items; undefined: there is none. */
  readonly itemInfo?: string | undefined;
  /** Items that were posted, as JSON lines of id, title and attributes; used if there is no table. Undefined: there are none. */
  readonly posted?: string | undefined;
  /** Milliseconds since 1970: what has an older time is left out. */
  readonly since: number | undefined;
  readonly seed: number;
  readonly threads: number;
}

export type RefitResult = Awaited<ReturnType<typeof refit>>;

interface TimedGraph {
  readonly graph: BipartiteGraph;
  readonly times: Float64Array | undefined;
}

export async function refit(plan: RefitPlan, task: TaskOptions = {}) {
  const began = performance.now();
  const present = await loadModel(plan.present);
  const { threads } = plan;
  const tables: TimedGraph[] = [];
  for (const source of plan.data)
    tables.push(
      withoutOld(
        await whenOpen(() => readTable(source, present.multigraph, { ...task, threads }), task),
        plan.since,
      ),
    );
  const { graph, times } = allData(tables, present);
  const data = await hashOf({ graph, times }, plan, task);
  const made = data !== plan.presentData;
  // The hash is of the times as they were given: the same data give the same hash later.
  const past = { graph, times: times && withoutFuture(times) };
  const comparison = made ? await makeModel(past, present, plan, task) : undefined;
  return {
    /** Whether there is a new model: not if the present one was fitted to the same data. */
    made,
    /** Hash of the data, unless the model lacks some of them. */
    data: isClearlyWorse(comparison) ? undefined : data,
    ...partSize(graph),
    seconds: (performance.now() - began) / 1000,
    /** Undefined if too few users had new items. */
    comparison,
    /** Users of the present model whom the data lack, if they are many. */
    missing: missingUsers(present, graph),
  };
}

/** Fits, compares and saves the new model. */
async function makeModel({ graph, times }: TimedGraph, present: Model, plan: RefitPlan, task: TaskOptions) {
  const { threads, seed } = plan;
  const { labels, users } = holdBackLast(graph, times, present, seed);
  let model = present;
  let comparison: Comparison | undefined;
  if (users.length > 0) {
    const known = times?.filter((_, edge) => labels[edge] === 0);
    model = await fitAgain({ graph: selectEdges(graph, labels, 0), times: known }, present, plan, task);
    comparison = await compareModels(present, model, users, { threads, signal: task.signal });
  }
  if (!isClearlyWorse(comparison)) model = await fitAgain({ graph, times }, model, plan, task);
  await saveModel(plan.output, await withInfo(model, present, plan, task));
  return comparison;
}

/** Hash of all that a refit reads. */
async function hashOf(
  { graph, times }: TimedGraph,
  { itemInfo, posted }: RefitPlan,
  task: TaskOptions,
): Promise<string> {
  const hash = createHash('sha256').update(fingerprint(graph));
  if (times) hash.update(times);
  const lines =
    itemInfo !== undefined
      ? (await readItemInfo(itemInfo, task)).map(({ fields }) => JSON.stringify(fields))
      : posted === undefined
        ? []
        : (await readFile(posted, 'utf8')).split('\n');
  // A store returns items in any order.
  for (const line of lines.sort()) hash.update(line);
  return hash.digest('hex').slice(0, 32);
}

const readItemInfo = (name: string, task: TaskOptions) => whenOpen(() => readSideTable(name), task);

/** Milliseconds that a refit waits for another process to close a database, and between two attempts. */
const LOCKED = { most: 300_000, every: 1000 };

/** Reads what another process may have open for a while: a program that writes the data. */
async function whenOpen<T>(read: () => Promise<T>, { signal, onProgress }: TaskOptions): Promise<T> {
  const began = performance.now();
  for (;;) {
    try {
      return await read();
    } catch (error) {
      const waited = performance.now() - began;
      if (!(error instanceof LockedError) || waited > LOCKED.most) throw error;
      const stage = 'waiting until another process closes a database:';
      onProgress?.({ stage, done: Math.round(waited / 1000), unit: 's' });
    }
    await delay(LOCKED.every, undefined, { signal });
  }
}

async function readTable(
  { sources, read, time, written }: RefitSource,
  multigraph: boolean,
  task: TaskOptions,
): Promise<TimedGraph> {
  const options = { ...read, multigraph, ...task };
  if (time === undefined) return { graph: (await readGraph(sources, options)).graph, times: undefined };
  const column = written ? writtenTimes('largest') : lastTimes(time);
  const { graph, values } = await readWithValues(sources, options, column);
  return { graph, times: values };
}

function withoutOld({ graph, times }: TimedGraph, since: number | undefined): TimedGraph {
  if (times === undefined || since === undefined) return { graph, times };
  const labels = Uint8Array.from(times, (time) => (time < since ? 1 : 0));
  return { graph: selectEdges(graph, labels, 0), times: times.filter((time) => time >= since) };
}

/** A time in the future becomes the present, as that of a posted event does: one wrong clock would make all other events old. */
function withoutFuture(times: Float64Array): Float64Array {
  const now = Date.now();
  return times.map((time) => Math.min(time, now));
}

/** All tables as one graph, and the times if a table has some. */
function allData(tables: readonly TimedGraph[], { names }: Model): TimedGraph {
  const [{ graph: first, times }, ...others] = tables;
  if (others.length === 0) return { graph: { ...first, ...(names && { names }) }, times };
  const parts = tables.map(({ graph }) => graph);
  const [users, items] = SIDES.map((side) => mergedIds(parts.map((part) => part[side].ids)));
  const { names: _, ...graph } = joinGraphs(parts, users, items);
  return { graph: { ...graph, ...(names && { names }) }, times: mergedTimes(graph, tables) };
}

/** The latest time of each edge in any table. Edges without a time count as the oldest. */
function mergedTimes(
  { users, items, edges }: BipartiteGraph,
  tables: readonly TimedGraph[],
): Float64Array | undefined {
  const timed = tables.filter(({ times }) => times !== undefined && times.length > 0);
  if (timed.length === 0) return undefined;
  const times = new Float64Array(edges).fill(Number.NEGATIVE_INFINITY);
  for (const { graph, times: own } of timed) {
    const user = users.ids.findAll(graph.users.ids);
    const item = items.ids.findAll(graph.items.ids);
    for (let u = 0; u < graph.users.count; u++) {
      const [first, last] = [users.offsets[user[u]], users.offsets[user[u] + 1]];
      for (let e = graph.users.offsets[u]; e < graph.users.offsets[u + 1]; e++) {
        const at = lowerBound(users.neighbors, item[graph.users.neighbors[e]], first, last);
        times[at] = Math.max(times[at], own![e]);
      }
    }
  }
  const oldest = times.reduce((a, b) => (Number.isFinite(b) ? Math.min(a, b) : a), Number.POSITIVE_INFINITY);
  return times.map((time) => Math.max(time, oldest));
}

/** Adds titles and attributes to the model; those of users come from the present model. */
async function withInfo(model: Model, present: Model, plan: RefitPlan, task: TaskOptions): Promise<Model> {
  const items = await itemInfo(model, present, plan, task);
  const users = carriedInfo('users', present, model);
  if (!items && !users) return model;
  const { seed, threads } = plan;
  return withTables(model, { items, users }, { ...task, seed, threads });
}

/** Of the given table if there is one, else of the present model with the items that were posted, which replace its rows. */
async function itemInfo(
  model: Model,
  present: Model,
  { itemInfo: table, posted }: RefitPlan,
  task: TaskOptions,
) {
  const read = async (name: string) =>
    readSideInfo(model.items, { name, rows: await readItemInfo(name, task) }).info;
  if (table !== undefined) return read(table);
  const known = carriedInfo('items', present, model);
  const items = posted === undefined ? [] : await postedItems(posted);
  const { ids } = model.items;
  if (known) return withPostedRows(known, ids, items);
  // If nobody has taken an item that was posted, nothing can be learned from their attributes.
  if (!items.some(({ item }) => ids.find(item) >= 0)) return undefined;
  // The columns of a table are those of its first line; other items may have further ones.
  return withPostedRows(await read(posted as string), ids, items);
}

async function postedItems(file: string): Promise<NewItem[]> {
  const lines = (await readFile(file, 'utf8')).trimEnd().split('\n');
  return lines.map((line) => {
    const { id, title, ...attributes } = JSON.parse(line) as { id: string; title?: string };
    return { item: id, title, attributes };
  });
}

/** Fits by the same method with the same settings, from the present model if a fit can start from it. */
async function fitAgain(
  { graph, times }: TimedGraph,
  present: Model,
  { seed, threads }: RefitPlan,
  { signal, onProgress }: TaskOptions,
): Promise<Model> {
  const task = { seed, threads, signal, onProgress };
  const method = present.type === 'ranker' ? present.method : 'ascent';
  if (isBaseline(method)) return (await fitBaseline(graph, method, task)).model;
  const options = successorOptions({ ...task, from: present } as FitOptions & { from: Model });
  const { halfLife = 'never' } = options as { readonly halfLife?: string };
  // Weights by age stay only if the data have times.
  const byAge = halfLife !== 'never' && { halfLife: times ? halfLife : 'never', times };
  return (await fit(graph, { ...options, ...byAge } as FitOptions)).model;
}
