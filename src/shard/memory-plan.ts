// How much memory a fit to shards takes, and which shards stay in it: the others are streamed from disk.

import { tableBytes, valueBytes } from '../engine/table-memory.js';
import { option, optionError } from '../options/error.js';
import { threadCount } from '../parallel/pool.js';
import type { PartitionedData } from './partition-folder.js';

const UNITS: Readonly<Record<string, number>> = { K: 2 ** 10, M: 2 ** 20, G: 2 ** 30, T: 2 ** 40 };
const LEAST_MEMORY = 16 * 2 ** 20;

/** The number of bytes of a text such as 8G. */
export function parseMemory(text: string): number {
  const found = /^(\d+(?:\.\d+)?)([KMGT])(?:i?B)?$/i.exec(text.trim());
  const bytes = found ? Number(found[1]) * UNITS[found[2].toUpperCase()] : Number.NaN;
  if (bytes >= LEAST_MEMORY && bytes < 2 ** 53) return Math.floor(bytes);
  throw optionError`${option('memory')} ${text}: expected an amount of at least 16M, as in 800M or 8G`;
}

/** 800M or 1.5G: rounded up, in the form that `parseMemory` reads. */
export function memoryText(bytes: number): string {
  const unit = bytes >= UNITS.G ? 'G' : 'M';
  const amount = bytes / UNITS[unit];
  return `${unit === 'G' ? Math.ceil(10 * amount) / 10 : Math.ceil(amount)}${unit}`;
}

/** A worker of the engine: its heap and the edges that pass through it. */
const WORKER_BYTES = 48 * 2 ** 20;
/** Garbage that V8 has not collected yet: it starts to collect at this size. */
const GARBAGE_BYTES = 64 * 2 ** 20;
/** An id while it is read. */
const ID_BYTES = 64;
/** Shards differ in size: with this many times more shards the largest is small enough. */
const UNEVEN = 1.2;
/** The fraction of the limit that stays free of shards: allocators round up, the more the larger the request. */
const SPARE = 1 / 32;

/** How a fit stays within a limit of memory. */
export type MemoryPlan = NonNullable<ReturnType<typeof planMemory>>;

/** Undefined: everything fits. Throws if not even one shard at a time fits. */
export function planMemory(
  partition: PartitionedData,
  features: number,
  threads: number | undefined,
  limit: number,
  /** Whether the model is written by shard, and is never whole in memory. */
  byShard = false,
) {
  const { users, edges, items, multigraph, shards } = partition;
  const K = features;
  const stride = 4 * Math.ceil(K / 4);
  const width = multigraph ? 2 : 1;
  // The program as it is now, and the workers that it will start.
  const program = process.memoryUsage().rss + GARBAGE_BYTES + threadCount(threads) * WORKER_BYTES;
  const table = (rows: number) => tableBytes(rows, K);
  const values = (rows: number) => valueBytes(rows, K);
  const start = (rows: number) => 2 * values(rows);
  const words = (rows: number, neighbors: number) => rows + 1 + width * neighbors;
  const ofItems = table(items) + 8 * items * stride + start(items);
  const fixed = program + ofItems;

  const all = fixed + table(users) + start(users) + ID_BYTES * users + 4 * 4 * words(0, edges);
  if (all <= limit) return undefined;

  const rows = Math.max(...shards.map((shard) => shard.users));
  const most = Math.max(...shards.map((shard) => shard.edges));
  /** Of the largest streamed index. */
  const indexWords = words(Math.max(rows, items), most);
  const reading = 3 * 4 * words(0, most) + ID_BYTES * rows;
  // While one table is in use the next is read and the last is written; freed memory may be too small to be used again.
  const tables = Math.max(3 * values(rows), values(rows) + start(rows) + reading);
  const streaming = 2 * 4 * indexWords + 2 * table(rows);
  const sweeps = fixed + streaming + tables;
  // The engine's memory is not released before the model is put together.
  const written = byShard ? { users: rows, edges: most } : { users, edges };
  const model = values(written.users) + ID_BYTES * written.users + 4 * words(0, written.edges);
  const ending = fixed + streaming + values(rows) + reading + model;
  const need = Math.max(sweeps, ending);
  if (limit < need) {
    // What no number of shards changes, and what shrinks with more shards.
    const slots = 2 * 4 * words(items, 0);
    const stages = [
      { alone: fixed + slots, all: sweeps },
      { alone: fixed + slots + model, all: ending },
    ];
    const alone = Math.max(...stages.map((stage) => stage.alone));
    const times = stages.map((stage) => (stage.all - stage.alone) / (limit - stage.alone));
    const remedy =
      limit > alone
        ? `, or partition into ${Math.ceil(UNEVEN * shards.length * Math.max(...times))} shards or more`
        : `; more shards would not help, since items and model alone take ${memoryText(alone)}; fewer features take less`;
    throw optionError`${option('memory')} ${memoryText(limit)}: a fit to this partition takes ${memoryText(need)} with one of its ${shards.length} shards in memory at a time; give at least that${remedy}`;
  }
  /** Of both indexes of a shard. */
  const indexes = (shard: (typeof shards)[number]) =>
    4 * words(shard.users, shard.edges) + 4 * words(items, shard.edges);
  let free = limit - need - SPARE * limit;
  /** The shards that stay in memory are the first ones. */
  let residentShards = 0;
  for (const shard of shards) {
    free -= table(shard.users) + indexes(shard);
    if (free < 0) break;
    residentShards++;
  }
  /** The size of the scratch file. */
  const diskBytes = shards.slice(residentShards).reduce((sum, shard) => sum + indexes(shard), start(users));
  return { residentShards, indexWords, diskBytes };
}
