// Rows that are too many for memory spill into one scratch file: each batch is grouped by shard and appended. So memory
// holds a batch, the distinct ids, and later one shard.

import { closeSync, unlinkSync } from 'node:fs';
import { openNew } from '../files/temporary-name.js';
import type { BySide } from '../graph/graph.js';
import { sortIds, VertexIds } from '../graph/ids.js';
import type { ColumnGroup } from '../ingest/formats/parquet-tasks.js';
import type { RowSpill } from '../ingest/intake/collect.js';
import { type IdColumn, isInteger } from '../ingest/intake/id-column.js';
import { DistinctNumbers, ranksOf } from '../ingest/intake/number-ranks.js';
import { requireHeap } from '../ingest/intake/text-memory.js';
import { positivePlaces } from '../math/csr.js';
import { allocate, grown, inSharedMemory } from '../math/memory.js';
import { createPool, taskModule, threadCount } from '../parallel/pool.js';
import type { TaskOptions } from '../progress.js';
import {
  type ItemNumbers,
  NO_ITEM,
  type RowBlock,
  type ShardSource,
  type UserTexts,
} from './load-spilled.js';
import { type Window, writeAll } from './shard-tasks.js';
import { groupByShard, shardOfBytes, shardsOfNumbers } from './user-shards.js';

export const SHARD_TASKS = taskModule('./shard-tasks.js', import.meta.url);

/** The least rows of a shard in a window: few enough for the cache, enough for the disk. */
const BLOCK_ROWS = 1 << 12;
/** About the largest number of windows: the memory for each grows with the number of shards. */
const MOST_WINDOWS = 512;
/** Threads that group rows: the disk cannot keep up with more, and each takes memory. */
const GROUPING_THREADS = 4;

let jobs = 0;

/** A number by which threads keep the state of one partition apart. */
export const nextJob = (): number => jobs++;

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export class RowSpillFile implements RowSpill {
  readonly #file: number;
  readonly #path: string;
  #end = 0;
  readonly #blocks: RowBlock[][];
  /** Items that are whole numbers, from rows that came while their column was numeric. */
  #itemNumbers = new DistinctNumbers();
  /** 1 for each code of a column that a row has. */
  #usedUsers = new Uint8Array(1 << 10);
  #usedItems = new Uint8Array(1 << 10);
  /** Shard + 1 of each code of the users' column; 0: unknown yet. */
  #shardOfCode = new Uint16Array(1 << 10);
  #users: IdColumn | undefined;
  #items: ItemNumbers | undefined;
  #itemIds = VertexIds.range(0);

  /** There must be no file at `path`. */
  constructor(
    path: string,
    readonly shards: number,
    readonly batch: number,
  ) {
    this.#path = path;
    this.#file = openNew(path, true);
    // Threads share the open file, so it needs no name; without a name nothing is left however the process ends.
    // Where the system keeps names of open files, the caller removes it.
    try {
      unlinkSync(path);
    } catch {}
    this.#blocks = Array.from({ length: shards }, () => []);
  }

  /** Items in the order of their ids; after `finish`. */
  get itemIds(): VertexIds {
    return this.#itemIds;
  }

  get isEmpty(): boolean {
    return this.#end === 0;
  }

  rowsOf(shard: number): number {
    return this.#blocks[shard].reduce((sum, { rows }) => sum + rows, 0);
  }

  restart(): void {
    this.#end = 0;
    for (const blocks of this.#blocks) blocks.length = 0;
    this.#itemNumbers = new DistinctNumbers();
  }

  take(
    users: Uint32Array,
    items: Uint32Array,
    counts: Uint32Array | undefined,
    columns: BySide<IdColumn>,
  ): void {
    if (users.length === 0) return;
    const numbers = columns.users.isNumeric;
    const itemNumbers = columns.items.isNumeric;
    const shardOf = this.#shardsOf(users, columns.users);
    this.#noteItems(items, itemNumbers);
    const { starts, words } = groupByShard(users, items, counts, shardOf, this.shards);
    this.#note(this.#end, starts, { numbers, counted: counts !== undefined, itemNumbers });
    writeAll(this.#file, new Uint8Array(words.buffer, 0, words.byteLength), this.#end);
    this.#end += words.byteLength;
  }

  async takeColumns(
    groups: readonly ColumnGroup[],
    counted: boolean,
    { threads, signal, onRows }: Pick<TaskOptions, 'threads' | 'signal'> & { onRows(rows: number): void },
  ): Promise<void> {
    const rows = groups.reduce((sum, group) => sum + group.rows, 0);
    const most = Math.min(this.batch, Math.max(BLOCK_ROWS * this.shards, Math.ceil(rows / MOST_WINDOWS)));
    const shared = { job: nextJob(), shards: this.shards, counted, file: this.#file };
    const windows: Window[] = [];
    for (const some of windowsOf(groups, most)) {
      windows.push({ ...shared, groups: some, at: this.#end });
      this.#end += (counted ? 12 : 8) * some.reduce((sum, group) => sum + group.rows, 0);
    }
    const pool = await createPool(
      SHARD_TASKS,
      threadCount(threads, Math.min(GROUPING_THREADS, windows.length)),
    );
    try {
      const grouped = await pool.map<Window, Uint32Array>('groupWindow', windows, {
        signal,
        onResult: (starts) => onRows(starts[this.shards]),
      });
      for (const [w, starts] of grouped.entries()) {
        this.#note(windows[w].at, starts, { numbers: true, counted, itemNumbers: true });
      }
      for (const met of await pool.everywhere<number, Uint32Array>('itemsMet', shared.job)) {
        this.#itemNumbers.add(met, met.length);
      }
    } finally {
      await pool.close();
    }
  }

  /** Records the rows of each shard that lie in the file from `at` on. */
  #note(at: number, starts: Uint32Array, kind: Pick<RowBlock, 'numbers' | 'counted' | 'itemNumbers'>): void {
    const rowBytes = kind.counted ? 12 : 8;
    for (let s = 0; s < this.shards; s++) {
      const rows = starts[s + 1] - starts[s];
      if (rows > 0) this.#blocks[s].push({ at: at + rowBytes * starts[s], rows, ...kind });
    }
  }

  finish(columns: BySide<IdColumn>, keepItem: (code: number) => boolean = () => true): void {
    this.#users = columns.users;
    this.#rankItems(columns.items, keepItem);
  }

  /** Where the rows of each shard lie, in memory that threads share. Call it once, after `finish`. */
  sources(): ShardSource[] {
    const column = this.#users!;
    this.#users = undefined;
    let users: UserTexts | undefined;
    if (!column.isNumeric) {
      users = { ...column.entries(), integers: allIntegers(column, positivePlaces(this.#usedUsers)) };
    }
    const [file, path, items] = [this.#file, this.#path, this.#items!];
    return this.#blocks.map((blocks) => ({ file, path, blocks, users, items }));
  }

  close(): void {
    closeSync(this.#file);
  }

  #shardsOf(users: Uint32Array, column: IdColumn): Uint16Array {
    const result = new Uint16Array(users.length);
    if (column.isNumeric) {
      shardsOfNumbers(users, users.length, this.shards, result);
      return result;
    }
    for (let row = 0; row < users.length; row++) {
      const code = users[row];
      if (code >= this.#shardOfCode.length) {
        this.#shardOfCode = grown(this.#shardOfCode, code + 1);
        this.#usedUsers = grown(this.#usedUsers, code + 1);
      }
      this.#shardOfCode[code] ||= 1 + shardOfBytes(column.bytes(code), this.shards);
      this.#usedUsers[code] = 1;
      result[row] = this.#shardOfCode[code] - 1;
    }
    return result;
  }

  #noteItems(items: Uint32Array, numeric: boolean): void {
    if (numeric) {
      this.#itemNumbers.add(items, items.length);
      return;
    }
    for (let row = 0; row < items.length; row++) {
      if (items[row] >= this.#usedItems.length) this.#usedItems = grown(this.#usedItems, items[row] + 1);
      this.#usedItems[items[row]] = 1;
    }
  }

  #rankItems(column: IdColumn, keepItem: (code: number) => boolean): void {
    const sorted = inSharedMemory(this.#itemNumbers.values().sort());
    const numbers = ranksOf(sorted);
    if (column.isNumeric) {
      this.#itemIds = VertexIds.integers(Float64Array.from(sorted));
      this.#items = { numbers, ofNumber: undefined, ofCode: new Uint32Array(0) };
      return;
    }
    const codes = Uint32Array.from(sorted, (number) => column.encodeText(String(number)));
    for (const code of codes) {
      if (code >= this.#usedItems.length) this.#usedItems = grown(this.#usedItems, code + 1);
      this.#usedItems[code] = 1;
    }
    const used = positivePlaces(this.#usedItems).filter((code) => keepItem(code));
    requireHeap('the items', used.length, 0);
    const texts = Array.from(used, (code) => decoder.decode(column.bytes(code)));
    const { ids, order } = sortIds(texts, allIntegers(column, used));
    const ofCode = allocate(Uint32Array, this.#usedItems.length).fill(NO_ITEM);
    for (const [v, at] of order.entries()) ofCode[used[at]] = v;
    const ofNumber = allocate(Uint32Array, codes.length);
    for (const [at, code] of codes.entries()) ofNumber[at] = ofCode[code];
    this.#itemIds = ids;
    this.#items = { numbers, ofNumber, ofCode };
  }
}

/** Consecutive groups with at most `most` rows together, or a single group. */
function windowsOf(groups: readonly ColumnGroup[], most: number): ColumnGroup[][] {
  const windows: ColumnGroup[][] = [];
  let rows = Number.POSITIVE_INFINITY;
  for (const group of groups) {
    if (rows + group.rows > most) {
      windows.push([]);
      rows = 0;
    }
    windows[windows.length - 1].push(group);
    rows += group.rows;
  }
  return windows;
}

/** Whether the ids of these codes are all whole numbers. */
function allIntegers(column: IdColumn, codes: Uint32Array): boolean {
  return !column.isText && codes.every((code) => isInteger(column.bytes(code)));
}
