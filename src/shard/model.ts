// One model of a fit over shards: rank 0 reads the users of all shards again, receives their tables, and puts them in the
// order of their ids, as if the data had been in one piece.

import type { Communicator } from '../comm/communicator.js';
import type { TableValues } from '../engine/engine.js';
import type { FitResult } from '../fit/fit.js';
import type { ModelSide, PosteriorModel, SeenItems } from '../fit/model.js';
import { MAX_EDGES } from '../graph/build.js';
import { degrees } from '../graph/graph.js';
import { VertexIds } from '../graph/ids.js';
import { allocate } from '../math/memory.js';
import { VERSION } from '../version.js';
import type { PartsFit } from './fit.js';
import { gatherTables } from './gather.js';
import { type Parts, readShard, type Shard } from './parts.js';

/** The result of a fit, on rank 0; undefined on the others, which give it what they have. */
export async function gatherModel(
  parts: Parts,
  communicator: Communicator,
  fitted: PartsFit,
): Promise<FitResult<PosteriorModel> | undefined> {
  const { features } = fitted.settings;
  const rows = parts.shards.map(({ users }) => users);
  const received: { readonly shard: Shard; readonly table: TableValues }[] = [];
  await gatherTables(communicator, rows, features, fitted.users, async (s, table) => {
    received.push({ shard: await readShard(parts, s), table });
  });
  if (communicator.rank !== 0) return undefined;
  const { settings, state, totals } = fitted;
  const order = orderOf(received.map(({ shard }) => shard));
  const users = joinedSide(received, order, features);
  const model: PosteriorModel = Object.freeze({
    type: 'posterior',
    kind: settings.model,
    features,
    multigraph: parts.multigraph,
    ...(parts.names && { names: parts.names }),
    users: Object.freeze({
      ...users,
      leftover: totals.users.leftover,
      hyper: state.hyper.users,
    }),
    items: itemSide(parts, fitted),
    bound: fitted.bound,
    // A file holds no more; such a model recommends also what a user has.
    ...(parts.edges < MAX_EDGES && { seen: joinedEdges(received, order, parts) }),
    provenance: Object.freeze({
      version: VERSION,
      engine: fitted.engine,
      seed: settings.seed,
      fingerprint: parts.fingerprint,
      options: { ...settings },
      bounds: state.bounds,
      iterations: state.iteration,
      converged: fitted.stopped === 'converged',
      seconds: fitted.seconds,
    }),
  });
  const { stopped, engine, engineReason, threads, seconds } = fitted;
  return { model, stopped, engine, engineReason, threads, seconds };
}

/** Shard and row of every user, ascending by id. */
interface Order {
  readonly ids: VertexIds;
  readonly shard: Uint16Array;
  readonly row: Uint32Array;
}

function orderOf(shards: readonly Shard[]): Order {
  const count = shards.reduce((sum, shard) => sum + shard.count, 0);
  const shardOf = new Uint16Array(count);
  const rowOf = new Uint32Array(count);
  const integers = shards.every(({ ids }) => ids.kind === 'integer');
  const numbers = new Float64Array(integers ? count : 0);
  const texts: string[] = [];
  let at = 0;
  for (const [s, { ids }] of shards.entries()) {
    for (let v = 0; v < ids.length; v++, at++) {
      shardOf[at] = s;
      rowOf[at] = v;
      if (integers) numbers[at] = (ids.values as Float64Array)[v];
      else texts.push(ids.at(v));
    }
  }
  const order = Uint32Array.from({ length: count }, (_, u) => u);
  order.sort(integers ? (a, b) => numbers[a] - numbers[b] : (a, b) => (texts[a] < texts[b] ? -1 : 1));
  return {
    ids: integers ? VertexIds.integers(numbers.sort()) : VertexIds.texts(Array.from(order, (u) => texts[u])),
    shard: shardOf.map((_, v) => shardOf[order[v]]),
    row: rowOf.map((_, v) => rowOf[order[v]]),
  };
}

function joinedSide(
  received: readonly { readonly shard: Shard; readonly table: TableValues }[],
  { ids, shard, row }: Order,
  features: number,
): Omit<ModelSide, 'leftover' | 'hyper'> {
  const count = ids.length;
  const side = {
    count,
    ids,
    degree: allocate(Uint32Array, count),
    weightShape: allocate(Float32Array, count),
    weightRate: allocate(Float32Array, count),
    featureShape: allocate(Float32Array, count * features),
    featureRate: allocate(Float32Array, count * features),
  };
  const degree = received.map((part) => degrees(part.shard));
  for (let v = 0; v < count; v++) {
    const { table } = received[shard[v]];
    const from = row[v];
    side.degree[v] = degree[shard[v]][from];
    side.weightShape[v] = table.weightShape[from];
    side.weightRate[v] = table.weightRate[from];
    const rows = (values: Float32Array | Float64Array) =>
      values.subarray(from * features, (from + 1) * features);
    side.featureShape.set(rows(table.featureShape), v * features);
    side.featureRate.set(rows(table.featureRate), v * features);
  }
  return side;
}

function itemSide(parts: Parts, { items, totals, state }: PartsFit): ModelSide {
  const single = (values: Float32Array | Float64Array) =>
    values instanceof Float32Array ? values : Float32Array.from(values);
  return Object.freeze({
    count: parts.items,
    ids: parts.itemIds,
    degree: parts.itemDegree,
    weightShape: single(items.weightShape),
    weightRate: single(items.weightRate),
    featureShape: single(items.featureShape),
    featureRate: single(items.featureRate),
    leftover: totals.items.leftover,
    hyper: state.hyper.items,
  });
}

function joinedEdges(
  received: readonly { readonly shard: Shard }[],
  { shard, row }: Order,
  parts: Parts,
): SeenItems {
  const offsets = allocate(Uint32Array, shard.length + 1);
  const neighbors = allocate(Uint32Array, parts.edges);
  const counts = parts.multigraph ? allocate(Uint32Array, parts.edges) : undefined;
  let at = 0;
  for (let v = 0; v < shard.length; v++) {
    const own = received[shard[v]].shard;
    const [first, last] = [own.offsets[row[v]], own.offsets[row[v] + 1]];
    neighbors.set(own.neighbors.subarray(first, last), at);
    if (counts) counts.set(own.counts!.subarray(first, last), at);
    at += last - first;
    offsets[v + 1] = at;
  }
  return Object.freeze({ offsets, neighbors, counts });
}
