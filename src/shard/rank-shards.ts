// The users' shards of a rank, for a sharded engine: all in memory, or in turn.

import type { Communicator } from '../comm/communicator.js';
import type { Activity, CountingEngine, EdgeIndex, Table, TableValues } from '../engine/engine.js';
import { createShardedEngine, type ShardedEngine } from '../engine/sharded/engine.js';
import { joinedValues } from '../engine/sharded/tables.js';
import { InputError, throwIfAborted } from '../errors.js';
import { MAX_EDGES } from '../graph/build.js';
import type { GraphSide } from '../graph/graph.js';
import { VertexIds } from '../graph/ids.js';
import { type EdgeRows, transposeRows } from '../math/csr.js';
import { allocate } from '../math/memory.js';
import type { TaskOptions } from '../progress.js';
import type { Room } from './memory-plan.js';
import { type PartitionedData, readShard } from './partition-folder.js';
import { openPages } from './scratch-file.js';
import { createStreamedEngine } from './streamed-engine.js';

/** Gives the values of a shard again, also when the engine is closed. */
export type ValuesOfShard = () => Promise<TableValues>;

export interface Holding {
  readonly engine: ShardedEngine;
  /** The edges that are in memory. */
  readonly edges: { readonly users: EdgeRows; readonly items: EdgeRows };
  /** The values that are in memory. */
  readonly values: TableValues;
  /** The values as they are now, to be had until `close`. */
  last(users: Table): Promise<readonly ValuesOfShard[]>;
  close(): Promise<void>;
}

/** How the users of a shard begin. */
export type BeginShard = (shard: number, users: GraphSide) => Promise<TableValues>;

/** The rows of a rank, one shard after the other. */
export interface OwnRows {
  readonly bounds: readonly number[];
  readonly users: GraphSide;
  readonly items: EdgeRows;
}

/** The rows of this rank's shards, one after the other, and the same edges by item. */
export async function ownRows(
  parts: PartitionedData,
  { first, last }: { first: number; last: number },
): Promise<OwnRows> {
  const edges = parts.shards.slice(first, last).reduce((sum, shard) => sum + shard.edges, 0);
  if (edges >= MAX_EDGES) {
    throw new InputError(
      `${edges} edges are on one rank, which holds at most ${MAX_EDGES - 1}; start more ranks, several on a host if need be`,
    );
  }
  const shards: GraphSide[] = [];
  for (let s = first; s < last; s++) shards.push(await readShard(parts, s));
  const bounds = boundsOf(shards.map(({ count }) => count));
  const users = joinedSides(shards, bounds, parts.multigraph);
  return { bounds, users, items: transposeRows(users, parts.items) };
}

function boundsOf(counts: readonly number[]): number[] {
  const bounds = [0];
  for (const count of counts) bounds.push(bounds[bounds.length - 1] + count);
  return bounds;
}

/** All of this rank's shards in memory. */
export function holdAll(
  parts: PartitionedData,
  communicator: Communicator,
  local: CountingEngine,
  first: number,
  { bounds, users, items }: OwnRows,
  values: TableValues,
): Holding {
  const engine = createShardedEngine(local, communicator, () => ({
    shards: parts.shards.length,
    first,
    bounds,
  }));
  return {
    ...{ engine, edges: { users, items }, values },
    async last(table) {
      const all: ValuesOfShard[] = [];
      for (let p = 0; p + 1 < bounds.length; p++) {
        const own = await engine.readPart(table, p);
        all.push(async () => own);
      }
      return all;
    },
    async close() {},
  };
}

/** Some shards in memory, the others read in turn from a file beside `path`. For a rank that is alone. */
export async function holdInTurn(
  parts: PartitionedData,
  communicator: Communicator,
  local: CountingEngine,
  { room, path }: { readonly room: Room; readonly path: string },
  features: number,
  activity: Activity,
  begin: BeginShard,
  { signal, onProgress }: TaskOptions,
): Promise<Holding> {
  const file = await openPages(path, room.disk);
  const streamed = createStreamedEngine(local, file, room.indexWords);
  const total = parts.shards.length;
  const tables: Table[] = [];
  const indexes = { own: [] as EdgeIndex[], other: [] as EdgeIndex[] };
  try {
    for (let s = 0; s < total; s++) {
      throwIfAborted(signal);
      onProgress?.({ stage: 'setting aside', done: s, total, unit: 'shards' });
      const rows = await readShard(parts, s);
      const [createTable, createIndex] =
        s < room.held
          ? [streamed.createTable, streamed.createIndex]
          : [streamed.streamTable, streamed.streamIndex];
      tables.push(await createTable(features, await begin(s, rows), activity));
      indexes.own.push(await createIndex(rows));
      indexes.other.push(await createIndex(transposeRows(rows, parts.items)));
    }
  } catch (error) {
    await file.close();
    throw error;
  }
  const bounds = boundsOf(parts.shards.map(({ users }) => users));
  const engine = createShardedEngine(streamed, communicator, () => ({ shards: total, first: 0, bounds }), {
    ...{ tables, indexes, strengths: parts.itemTotal },
  });
  const none = { offsets: new Uint32Array(1), neighbors: new Uint32Array(0), counts: undefined };
  return {
    engine,
    edges: { users: none, items: none },
    values: joinedValues([]),
    last: () => streamed.settle(tables),
    close: () => file.close(),
  };
}

function joinedSides(
  shards: readonly GraphSide[],
  bounds: readonly number[],
  multigraph: boolean,
): GraphSide {
  const count = bounds[bounds.length - 1];
  const edges = shards.reduce((sum, { neighbors }) => sum + neighbors.length, 0);
  const offsets = allocate(Uint32Array, count + 1);
  const neighbors = allocate(Uint32Array, edges);
  const counts = multigraph ? allocate(Uint32Array, edges) : undefined;
  let at = 0;
  for (const [p, shard] of shards.entries()) {
    for (let v = 0; v <= shard.count; v++) offsets[bounds[p] + v] = at + shard.offsets[v];
    neighbors.set(shard.neighbors, at);
    if (counts) counts.set(shard.counts!, at);
    at += shard.neighbors.length;
  }
  return { count, ids: joinedIds(shards.map(({ ids }) => ids)), offsets, neighbors, counts };
}

function joinedIds(all: readonly VertexIds[]): VertexIds {
  if (all.every(({ kind }) => kind === 'integer')) {
    const values = new Float64Array(all.reduce((sum, ids) => sum + ids.length, 0));
    let at = 0;
    for (const ids of all) {
      values.set(ids.values as Float64Array, at);
      at += ids.length;
    }
    return VertexIds.integers(values);
  }
  return VertexIds.texts(all.flatMap((ids) => Array.from({ length: ids.length }, (_, v) => ids.at(v))));
}
