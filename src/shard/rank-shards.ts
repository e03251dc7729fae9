// The shards of a rank for a sharded engine: all in memory, or some of them streamed from disk.

import type { Communicator } from '../comm/communicator.js';
import type { CountingEngine, EdgeIndex, Table, TableValues } from '../engine/engine.js';
import { createShardedEngine, type ShardedEngine } from '../engine/sharded/sharded-engine.js';
import { joinedValues, type SplitTable } from '../engine/sharded/tables.js';
import { InputError, throwIfAborted } from '../errors.js';
import type { Phase } from '../fit/ascent/schedule.js';
import { MAX_EDGES } from '../graph/build.js';
import type { GraphSide } from '../graph/graph.js';
import { joinIds, VertexIds } from '../graph/ids.js';
import { type EdgeRows, transposeRows } from '../math/csr.js';
import { allocate } from '../math/memory.js';
import type { TaskOptions } from '../progress.js';
import type { ShardRange } from './gather-shards.js';
import type { MemoryPlan } from './memory-plan.js';
import { type PartitionedData, readShard } from './partition-folder.js';
import { openScratchFile } from './scratch-file.js';
import { createStreamedEngine } from './streamed-engine.js';

/** Returns the values of a shard, also after the engine is closed. */
type ValuesOfShard = () => Promise<TableValues>;

export interface LoadedShards {
  readonly engine: ShardedEngine;
  /** The edges that are in memory. */
  readonly edges: { readonly users: EdgeRows; readonly items: EdgeRows };
  /** The values that are in memory. */
  readonly values: TableValues;
  /** The present values of each shard, available until `close`. */
  last(users: Table): Promise<readonly ValuesOfShard[]>;
  close(): Promise<void>;
}

type StartShard = (shard: number, users: GraphSide) => Promise<TableValues>;

export type RankRows = Awaited<ReturnType<typeof readRankRows>>;

/** The rows of a rank's shards, one shard after the other, and the same edges by item. */
export async function readRankRows(partition: PartitionedData, { first, last }: ShardRange) {
  const edges = partition.shards.slice(first, last).reduce((sum, shard) => sum + shard.edges, 0);
  if (edges >= MAX_EDGES) {
    throw new InputError(
      `${edges} edges are on one rank, which holds at most ${MAX_EDGES - 1}; start more ranks, several per host if needed`,
    );
  }
  const shards: GraphSide[] = [];
  for (let s = first; s < last; s++) shards.push(await readShard(partition, s));
  const bounds = boundsOf(shards.map(({ count }) => count));
  const users = joinedSides(shards, bounds, partition.multigraph);
  return { bounds, users, items: transposeRows(users, partition.items) };
}

/** The ids of the users of one of the rank's shards. */
export function shardIds({ users, bounds }: RankRows, localShard: number): VertexIds {
  const { values } = users.ids;
  const [first, last] = [bounds[localShard], bounds[localShard + 1]];
  return values instanceof Float64Array
    ? VertexIds.integers(values.subarray(first, last))
    : VertexIds.texts(values.slice(first, last));
}

/** Where each shard starts among the rows, and where the last one ends. */
function boundsOf(counts: readonly number[]): number[] {
  const bounds = [0];
  for (const count of counts) bounds.push(bounds[bounds.length - 1] + count);
  return bounds;
}

/** Puts all of this rank's shards into memory. */
export function loadAllShards(
  partition: PartitionedData,
  communicator: Communicator,
  local: CountingEngine,
  first: number,
  { bounds, users, items }: RankRows,
  values: TableValues,
): LoadedShards {
  const layout = { shards: partition.shards.length, first, bounds };
  const engine = createShardedEngine(local, communicator, () => layout);
  return {
    ...{ engine, edges: { users, items }, values },
    async last(table) {
      const all: ValuesOfShard[] = [];
      for (let s = 0; s + 1 < bounds.length; s++) {
        const shard = await engine.readPart(table, s);
        all.push(async () => shard);
      }
      return all;
    },
    async close() {},
  };
}

/** Puts some shards into memory and streams the others from a scratch file next to `path`. Only for a single rank. */
export async function streamShards(
  partition: PartitionedData,
  communicator: Communicator,
  local: CountingEngine,
  { plan, path }: { readonly plan: MemoryPlan; readonly path: string },
  { features, users: activity }: Pick<Phase, 'features' | 'users'>,
  start: StartShard,
  { signal, onProgress }: TaskOptions,
): Promise<LoadedShards> {
  const file = await openScratchFile(path, plan.diskBytes);
  const streamed = createStreamedEngine(local, file, plan.indexWords);
  const total = partition.shards.length;
  const tables: Table[] = [];
  const indexes = { own: [] as EdgeIndex[], other: [] as EdgeIndex[] };
  try {
    for (let s = 0; s < total; s++) {
      throwIfAborted(signal);
      onProgress?.({ stage: 'writing the scratch file', done: s, total, unit: 'shards' });
      const rows = await readShard(partition, s);
      const [createTable, createIndex] =
        s < plan.residentShards
          ? [streamed.createTable, streamed.createIndex]
          : [streamed.streamTable, streamed.streamIndex];
      tables.push(await createTable(features, await start(s, rows), activity));
      indexes.own.push(await createIndex(rows));
      indexes.other.push(await createIndex(transposeRows(rows, partition.items)));
    }
  } catch (error) {
    await file.close();
    throw error;
  }
  const layout = { shards: total, first: 0, bounds: boundsOf(partition.shards.map(({ users }) => users)) };
  const engine = createShardedEngine(streamed, communicator, () => layout, {
    ...{ tables, indexes, strengths: partition.itemTotal },
  });
  const none = { offsets: new Uint32Array(1), neighbors: new Uint32Array(0), counts: undefined };
  return {
    engine,
    edges: { users: none, items: none },
    values: joinedValues([]),
    last: (users) => streamed.snapshot((users as SplitTable).parts),
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
  for (const [s, shard] of shards.entries()) {
    for (let v = 0; v <= shard.count; v++) offsets[bounds[s] + v] = at + shard.offsets[v];
    neighbors.set(shard.neighbors, at);
    counts?.set(shard.counts!, at);
    at += shard.neighbors.length;
  }
  return { count, ids: joinIds(shards.map(({ ids }) => ids)), offsets, neighbors, counts };
}
