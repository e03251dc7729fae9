// How much memory a fit to shards takes, and which of them it can hold: the others are streamed.

import { tableBytes, valueBytes } from '../engine/memory.js';
import { option, optionError } from '../options/error.js';
import { threadCount } from '../parallel/pool.js';
import { sizeWords } from './memory-size.js';
import type { PartitionedData } from './partition-folder.js';

/** A worker of the engine: its own heap and the edges that pass through it. */
const WORKER_BYTES = 48 * 2 ** 20;
/** What has been let go of and not yet been collected: beyond this V8 looks for it. */
const GARBAGE_BYTES = 64 * 2 ** 20;
/** An id while it is read. */
const ID_BYTES = 64;
/** Shards are not all of one size: with so many times more of them the largest is small enough. */
const UNEVEN = 1.2;

/** The share of the limit that no shard is held in: what allocators round up grows with what they are asked for. */
const SPARE = 1 / 32;

/** How a fit within a limit goes. */
export interface Room {
  /** Shards from the first on that stay in memory. */
  readonly held: number;
  /** Words of the largest index that is streamed. */
  readonly indexWords: number;
  /** Bytes of disk for what is streamed. */
  readonly disk: number;
}

/** Undefined: all fits within the limit. What even one shard at a time does not fit in is refused. */
export function roomWithin(
  parts: PartitionedData,
  features: number,
  threads: number | undefined,
  limit: number,
  /** Whether the model is written by shard, and never whole in memory. */
  byShard = false,
): Room | undefined {
  const { users, edges, items, multigraph, shards } = parts;
  const K = features;
  const stride = 4 * Math.ceil(K / 4);
  const width = multigraph ? 2 : 1;
  // What the program itself has by now, and the workers that it will start.
  const program = process.memoryUsage().rss + GARBAGE_BYTES + threadCount(threads) * WORKER_BYTES;
  const table = (rows: number) => tableBytes(rows, K);
  const values = (rows: number) => valueBytes(rows, K);
  const start = (rows: number) => 2 * values(rows);
  const words = (rows: number, own: number) => rows + 1 + width * own;
  const ofItems = table(items) + 8 * items * stride + start(items);
  const fixed = program + ofItems;

  const all = fixed + table(users) + start(users) + ID_BYTES * users + 4 * 4 * words(0, edges);
  if (all <= limit) return undefined;

  const rows = Math.max(...shards.map((shard) => shard.users));
  const most = Math.max(...shards.map((shard) => shard.edges));
  const indexWords = words(Math.max(rows, items), most);
  const reading = 3 * 4 * words(0, most) + ID_BYTES * rows;
  // The next table is read and the last is written while one is computed with; a place that came free may be too small.
  const tables = Math.max(3 * values(rows), values(rows) + start(rows) + reading);
  const inTurn = 2 * 4 * indexWords + 2 * table(rows);
  const least = fixed + inTurn + tables;
  // What the engine had is not given back before the model is put together.
  const written = byShard ? { users: rows, edges: most } : { users, edges };
  const model = values(written.users) + ID_BYTES * written.users + 4 * words(0, written.edges);
  const ending = fixed + inTurn + values(rows) + reading + model;
  const need = Math.max(least, ending);
  if (limit < need) {
    // What no number of shards changes, and what becomes less with more of them.
    const slots = 2 * 4 * words(items, 0);
    const stages = [
      { alone: fixed + slots, all: least },
      { alone: fixed + slots + model, all: ending },
    ];
    const alone = Math.max(...stages.map((stage) => stage.alone));
    const times = stages.map((stage) => (stage.all - stage.alone) / (limit - stage.alone));
    const way =
      limit > alone
        ? `, or partition into ${Math.ceil(UNEVEN * shards.length * Math.max(...times))} shards or more`
        : `; more shards would not help, since the items and the model in the end take ${sizeWords(alone)} alone; fewer features take less`;
    throw optionError`${option('memory')} ${sizeWords(limit)}: a fit to these parts takes ${sizeWords(need)} with one of the ${String(shards.length)} shards in memory at a time; give at least that${way}`;
  }
  let room = limit - need - SPARE * limit;
  let held = 0;
  for (const shard of shards) {
    room -= table(shard.users) + 4 * words(shard.users, shard.edges) + 4 * words(items, shard.edges);
    if (room < 0) break;
    held++;
  }
  const disk = shards
    .slice(held)
    .reduce(
      (sum, { users: own, edges: some }) => sum + 4 * words(own, some) + 4 * words(items, some),
      start(users),
    );
  return { held, indexWords, disk };
}
