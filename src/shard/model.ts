// One model of a fit over shards: rank 0 reads the users of all shards again, receives their tables, and puts them in the
// order of their ids, as if the data had been in one piece.

import type { Communicator } from '../comm/communicator.js';
import type { TableValues } from '../engine/engine.js';
import type { FitResult } from '../fit/fit.js';
import type { ModelSide, PosteriorModel } from '../fit/model.js';
import { MAX_EDGES } from '../graph/build.js';
import { degrees } from '../graph/graph.js';
import { VertexIds } from '../graph/ids.js';
import { allocate, allocateFrom } from '../math/memory.js';
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
  // Rank 0 reads each shard twice, for the order of all and then for what is in it, so that it holds one at a time.
  const place = communicator.rank === 0 ? await placesOf(parts) : undefined;
  const whole = place && emptyUsers(parts, place, features);
  const double = fitted.items.weightShape instanceof Float64Array;
  await gatherTables(
    ...([communicator, rows, features, double] as const),
    (p) => fitted.users[p](),
    async (s, table) => putShard(whole!, place!.of[s], await readShard(parts, s), table, features),
  );
  if (!whole) return undefined;
  const { users, seen } = whole;
  const { settings, state, totals } = fitted;
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
    ...(seen && { seen: Object.freeze(seen) }),
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

/** Where the users of all shards come in the order of their ids. */
interface Places {
  readonly ids: VertexIds;
  /** Of each user in that order. */
  readonly degree: Uint32Array;
  /** By shard and row. */
  readonly of: readonly Uint32Array[];
}

async function placesOf(parts: Parts): Promise<Places> {
  const count = parts.users;
  const kinds: string[] = [];
  const numbers = new Float64Array(count);
  const texts: string[] = [];
  const unordered = new Uint32Array(count);
  const of: Uint32Array[] = [];
  let at = 0;
  for (let s = 0; s < parts.shards.length; s++) {
    const shard = await readShard(parts, s);
    const { ids } = shard;
    unordered.set(degrees(shard), at);
    kinds.push(ids.kind);
    for (let v = 0; v < ids.length; v++, at++) {
      if (ids.kind === 'integer') numbers[at] = (ids.values as Float64Array)[v];
      else texts[at] = ids.at(v);
    }
    of.push(new Uint32Array(ids.length));
  }
  const integers = kinds.every((kind) => kind === 'integer');
  // Where some shards have texts, all ids are.
  const text = (u: number) => texts[u] ?? String(numbers[u]);
  const order = Uint32Array.from({ length: count }, (_, u) => u);
  order.sort(integers ? (a, b) => numbers[a] - numbers[b] : (a, b) => (text(a) < text(b) ? -1 : 1));
  const places = new Uint32Array(count);
  for (let v = 0; v < count; v++) places[order[v]] = v;
  at = 0;
  for (const own of of) {
    own.set(places.subarray(at, at + own.length));
    at += own.length;
  }
  return {
    ids: integers ? VertexIds.integers(numbers.sort()) : VertexIds.texts(Array.from(order, text)),
    degree: allocateFrom(order.map((u) => unordered[u])),
    of,
  };
}

/** Room for the users of all shards and their edges. */
function emptyUsers({ edges, multigraph }: Parts, { ids, degree }: Places, features: number) {
  const count = ids.length;
  const users = {
    count,
    ids,
    degree,
    weightShape: allocate(Float32Array, count),
    weightRate: allocate(Float32Array, count),
    featureShape: allocate(Float32Array, count * features),
    featureRate: allocate(Float32Array, count * features),
  };
  // A file holds no more; such a model recommends also what a user has.
  if (edges >= MAX_EDGES) return { users, seen: undefined };
  const offsets = allocate(Uint32Array, count + 1);
  for (let v = 0; v < count; v++) offsets[v + 1] = offsets[v] + degree[v];
  const neighbors = allocate(Uint32Array, edges);
  return {
    users,
    seen: { offsets, neighbors, counts: multigraph ? allocate(Uint32Array, edges) : undefined },
  };
}

function putShard(
  { users, seen }: ReturnType<typeof emptyUsers>,
  places: Uint32Array,
  shard: Shard,
  table: TableValues,
  features: number,
): void {
  for (let row = 0; row < shard.count; row++) {
    const v = places[row];
    users.weightShape[v] = table.weightShape[row];
    users.weightRate[v] = table.weightRate[row];
    for (const field of ['featureShape', 'featureRate'] as const) {
      users[field].set(table[field].subarray(row * features, (row + 1) * features), v * features);
    }
    if (!seen) continue;
    const [first, last] = [shard.offsets[row], shard.offsets[row + 1]];
    seen.neighbors.set(shard.neighbors.subarray(first, last), seen.offsets[v]);
    if (seen.counts) seen.counts.set(shard.counts!.subarray(first, last), seen.offsets[v]);
  }
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
