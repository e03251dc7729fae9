// The tasks of threads that partition data: to read groups of rows and group them by shard, then to sort shards and write
// them. The result depends on the rows alone, not on which thread took which.

import { writeSync } from 'node:fs';
import { basename } from 'node:path';
import { writeError } from '../files/write-error.js';
import { buildRows } from '../graph/build-tasks.js';
import type { IdHashes } from '../graph/fingerprint.js';
import { type ColumnGroup, readColumn } from '../ingest/formats/parquet-tasks.js';
import { DistinctNumbers, rankWith } from '../ingest/intake/number-ranks.js';
import { serveTasks } from '../parallel/worker.js';
import { writeTensorsTo } from '../store/safetensors.js';
import { loadShard, type ShardSource } from './load-spilled.js';
import { describeShard, ItemSums, type ShardSummary } from './shard-totals.js';
import { groupByShard, shardsOfNumbers } from './user-shards.js';

/** Groups of rows that one task takes, and their position in the scratch file. */
export interface Window {
  /** The partition that they belong to. */
  readonly job: number;
  readonly groups: readonly ColumnGroup[];
  readonly shards: number;
  readonly counted: boolean;
  readonly file: number;
  readonly at: number;
}

/** What a thread keeps of a job while it groups rows: buffers, and the items that it has met. */
const createGrouping = (rows: number, counted: boolean, met = new DistinctNumbers()) => ({
  users: new Uint32Array(rows),
  items: new Uint32Array(rows),
  counts: new Uint32Array(counted ? rows : 0),
  shardOf: new Uint16Array(rows),
  words: new Uint32Array((counted ? 3 : 2) * rows),
  met,
});

type Grouping = ReturnType<typeof createGrouping>;
const groupings = new Map<number, Grouping>();

/** Returns where the rows of each shard start among those of the window. */
export async function groupWindow({ job, groups, shards, counted, file, at }: Window): Promise<Uint32Array> {
  const rows = groups.reduce((sum, group) => sum + group.rows, 0);
  const own = groupingOf(job, rows, counted);
  let row = 0;
  for (const { users, items, count, rows: some } of groups) {
    await readColumn({ ...users, into: own.users, at: row });
    await readColumn({ ...items, into: own.items, at: row });
    if (count) await readColumn({ ...count, into: counted ? own.counts : undefined, at: row });
    row += some;
  }
  const { users, items, shardOf, met } = own;
  const counts = counted ? own.counts : undefined;
  shardsOfNumbers(users, rows, shards, shardOf);
  met.add(items, rows);
  const { starts, words } = groupByShard(users.subarray(0, rows), items, counts, shardOf, shards, own.words);
  writeAll(file, new Uint8Array(words.buffer, 0, words.byteLength), at);
  return starts;
}

function groupingOf(job: number, rows: number, counted: boolean): Grouping {
  const before = groupings.get(job);
  if (before && before.users.length >= rows) return before;
  const made = createGrouping(rows, counted, before?.met);
  groupings.set(job, made);
  return made;
}

/** The distinct items that this thread has met; it forgets them. */
export function itemsMet(job: number): Uint32Array {
  const met = groupings.get(job)?.met.values() ?? new Uint32Array(0);
  groupings.delete(job);
  return met;
}

export function writeAll(file: number, bytes: Uint8Array, at: number): void {
  for (let done = 0; done < bytes.length; )
    done += writeSync(file, bytes, done, bytes.length - done, at + done);
}

/** A shard to be sorted, and the path to write it to. */
export interface ShardToSort {
  readonly job: number;
  readonly source: ShardSource;
  readonly to: string;
  /** The folder as the caller named it, for messages. */
  readonly folder: string;
  readonly multigraph: boolean;
  readonly items: IdHashes;
  readonly itemsHash: string;
}

/** What a thread keeps of a job while it sorts shards. */
const createSorter = ({ source, items }: ShardToSort) => ({
  rank: rankWith(source.items.numbers),
  sums: new ItemSums(items.low.length),
});

const sorters = new Map<number, ReturnType<typeof createSorter>>();

export async function sortShard(sorting: ShardToSort): Promise<ShardSummary> {
  const { source, to, multigraph, items, itemsHash } = sorting;
  const { rank, sums } = sorters.get(sorting.job) ?? createSorter(sorting);
  sorters.set(sorting.job, { rank, sums });
  try {
    const { userIds, ...rows } = loadShard(source, rank);
    const counts = multigraph ? (rows.counts ?? new Uint32Array(rows.users.length).fill(1)) : undefined;
    const sorted = buildRows(
      { own: rows.users, other: rows.items, counts },
      userIds.length,
      items.low.length,
    );
    const side = { count: userIds.length, ids: userIds, ...sorted };
    const { file, summary } = describeShard(side, items, itemsHash);
    sums.add(side);
    await writeTensorsTo(to, file);
    return summary;
  } catch (cause) {
    throw writeError(`${sorting.folder}/${basename(to)}`, cause);
  }
}

/** The sums over the shards that this thread has sorted; it forgets them. */
export function itemSums(job: number): ItemSums | undefined {
  const sums = sorters.get(job)?.sums;
  sorters.delete(job);
  return sums;
}

serveTasks('shard-tasks', { groupWindow, itemsMet, sortShard, itemSums });
