// Rows on their way to shards, on disk: batches are sorted by shard and written one after the other into one file, so that
// memory holds a batch, the distinct ids, and later one shard.

import { closeSync, readSync, writeSync } from 'node:fs';
import { InputError } from '../errors.js';
import { VertexIds } from '../graph/ids.js';
import { openNew } from '../ingest/beside.js';
import type { RowSpill } from '../ingest/collect.js';
import { NumberDictionary } from '../ingest/dictionary.js';
import { requireHeap } from '../ingest/heap.js';
import { type IdColumn, isInteger } from '../ingest/id-column.js';
import { shardOfBytes, shardOfNumber } from './assign.js';

type Columns = Readonly<Record<'users' | 'items', IdColumn>>;

/** Rows of one shard in one batch: users, then items, then counts where there are any. */
interface Block {
  readonly at: number;
  readonly rows: number;
  /** Whether users are numbers themselves, not codes of the column. */
  readonly numbers: boolean;
  readonly counted: boolean;
  /** Whether items go by the numbers met so far, not by codes of the column. */
  readonly itemNumbers: boolean;
}

/** What stands for an item that is left out. */
const NONE = 0xffffffff;

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The rows of a shard, by the vertices that they lead to. */
export interface ShardRows {
  readonly users: Uint32Array;
  readonly items: Uint32Array;
  readonly counts: Uint32Array | undefined;
  readonly userIds: VertexIds;
}

export class ShardSpill implements RowSpill {
  readonly #file: number;
  readonly #path: string;
  #end = 0;
  readonly #blocks: Block[][];
  /** Whole-number items in the order of first sight, while their column is numeric. */
  #itemNumbers = new NumberDictionary();
  /** Codes of the columns that rows have. */
  #usedUsers = new Uint8Array(1 << 10);
  #usedItems = new Uint8Array(1 << 10);
  /** Shard + 1 of each code of the users' column; 0: not yet known. */
  #shardOfCode = new Uint16Array(1 << 10);
  #columns: Columns | undefined;
  #integerUsers = true;
  #itemRank: { readonly byNumber: Uint32Array; readonly byCode: Uint32Array } | undefined;
  #itemIds = VertexIds.range(0);

  /** `path`: where nothing is yet. */
  constructor(
    path: string,
    readonly shards: number,
    readonly batch: number,
  ) {
    this.#path = path;
    this.#file = openNew(path, true);
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
    this.#itemNumbers = new NumberDictionary();
  }

  take(users: Uint32Array, items: Uint32Array, counts: Uint32Array | undefined, columns: Columns): void {
    if (users.length === 0) return;
    const numbers = columns.users.isNumeric;
    const itemNumbers = columns.items.isNumeric;
    const shardOf = this.#shardsOf(users, columns.users);
    this.#codeItems(items, itemNumbers);
    // A counting sort by shard, straight into what is written.
    const starts = new Uint32Array(this.shards + 1);
    for (let row = 0; row < users.length; row++) starts[shardOf[row] + 1]++;
    for (let s = 0; s < this.shards; s++) starts[s + 1] += starts[s];
    const width = counts ? 3 : 2;
    const sorted = new Uint32Array(width * users.length);
    const cursor = starts.slice(0, this.shards);
    for (let row = 0; row < users.length; row++) {
      const s = shardOf[row];
      const size = starts[s + 1] - starts[s];
      const to = width * starts[s] + cursor[s]++ - starts[s];
      sorted[to] = users[row];
      sorted[to + size] = items[row];
      if (counts) sorted[to + 2 * size] = counts[row];
    }
    for (let s = 0; s < this.shards; s++) {
      const rows = starts[s + 1] - starts[s];
      const at = this.#end + 4 * width * starts[s];
      if (rows > 0) this.#blocks[s].push({ at, rows, numbers, counted: width === 3, itemNumbers });
    }
    this.#write(new Uint8Array(sorted.buffer));
  }

  finish(columns: Columns, keepItem: (code: number) => boolean = () => true): void {
    this.#columns = columns;
    if (!columns.users.isNumeric) {
      this.#integerUsers = !columns.users.isText && allIntegers(this.#usedUsers, columns.users);
    }
    this.#rankItems(columns.items, keepItem);
  }

  /** The rows of a shard; those whose items are left out are not among them. */
  load(shard: number): ShardRows {
    const blocks = this.#blocks[shard];
    const all = this.rowsOf(shard);
    const users = new Uint32Array(all);
    const items = new Uint32Array(all);
    const counts = blocks.some(({ counted }) => counted) ? new Uint32Array(all).fill(1) : undefined;
    // Users by number in the order of first sight; numbers that became texts later are one with them.
    const numbers = new NumberDictionary();
    const column = this.#columns!.users;
    const { byNumber, byCode } = this.#itemRank!;
    let row = 0;
    for (const block of blocks) {
      const values = this.#read(block);
      const asCodes = block.numbers && !column.isNumeric ? new Map<number, number>() : undefined;
      const rank = block.itemNumbers ? byNumber : byCode;
      for (let i = 0; i < block.rows; i++) {
        const item = rank[values[block.rows + i]];
        if (item === NONE) continue;
        const user = asCodes ? codeOf(asCodes, column, values[i]) : values[i];
        users[row] = numbers.code(user);
        items[row] = item;
        if (block.counted) counts![row] = values[2 * block.rows + i];
        row++;
      }
    }
    const { ids, rank } = this.#rankUsers(numbers.values, column);
    const kept = users.subarray(0, row);
    for (let i = 0; i < row; i++) kept[i] = rank[kept[i]];
    return {
      users: kept,
      items: items.subarray(0, row),
      counts: counts?.subarray(0, row),
      userIds: ids,
    };
  }

  close(): void {
    closeSync(this.#file);
  }

  #shardsOf(users: Uint32Array, column: IdColumn): Uint16Array {
    const result = new Uint16Array(users.length);
    if (column.isNumeric) {
      for (let row = 0; row < users.length; row++) result[row] = shardOfNumber(users[row], this.shards);
      return result;
    }
    for (let row = 0; row < users.length; row++) {
      const code = users[row];
      if (code >= this.#shardOfCode.length) {
        this.#shardOfCode = grown(this.#shardOfCode, code);
        this.#usedUsers = grown(this.#usedUsers, code);
      }
      this.#shardOfCode[code] ||= 1 + shardOfBytes(column.bytes(code), this.shards);
      this.#usedUsers[code] = 1;
      result[row] = this.#shardOfCode[code] - 1;
    }
    return result;
  }

  /** Numbers become numbers of the order in which they came; codes of the column stay. */
  #codeItems(items: Uint32Array, numeric: boolean): void {
    for (let row = 0; row < items.length; row++) {
      if (numeric) items[row] = this.#itemNumbers.code(items[row]);
      else {
        if (items[row] >= this.#usedItems.length) this.#usedItems = grown(this.#usedItems, items[row]);
        this.#usedItems[items[row]] = 1;
      }
    }
  }

  #rankItems(column: IdColumn, keepItem: (code: number) => boolean): void {
    const numbers = this.#itemNumbers.values;
    const byNumber = new Uint32Array(numbers.length).fill(NONE);
    if (column.isNumeric) {
      const order = Uint32Array.from(numbers.keys()).sort((a, b) => numbers[a] - numbers[b]);
      for (const [v, code] of order.entries()) byNumber[code] = v;
      this.#itemIds = VertexIds.integers(Float64Array.from(order, (code) => numbers[code]));
      this.#itemRank = { byNumber, byCode: new Uint32Array(0) };
      return;
    }
    const codes = Uint32Array.from(numbers, (number) => column.encodeText(String(number)));
    for (const code of codes) {
      if (code >= this.#usedItems.length) this.#usedItems = grown(this.#usedItems, code);
      this.#usedItems[code] = 1;
    }
    const used = positions(this.#usedItems).filter((code) => keepItem(code));
    const integers = !column.isText && used.every((code) => isInteger(column.bytes(code)));
    requireHeap('the items', used.length, 0);
    const { ids, order } = sortedIds(used, column, integers);
    const byCode = new Uint32Array(this.#usedItems.length).fill(NONE);
    for (const [v, at] of order.entries()) byCode[used[at]] = v;
    for (const [number, code] of codes.entries()) byNumber[number] = byCode[code];
    this.#itemIds = ids;
    this.#itemRank = { byNumber, byCode };
  }

  /** The users of a shard in the order of their ids, and where each of the given ones comes among them. */
  #rankUsers(codes: Uint32Array, column: IdColumn): { ids: VertexIds; rank: Uint32Array } {
    const rank = new Uint32Array(codes.length);
    if (column.isNumeric) {
      const order = Uint32Array.from(codes.keys()).sort((a, b) => codes[a] - codes[b]);
      for (const [v, at] of order.entries()) rank[at] = v;
      return { rank, ids: VertexIds.integers(Float64Array.from(order, (at) => codes[at])) };
    }
    const { ids, order } = sortedIds(codes, column, this.#integerUsers);
    for (const [v, at] of order.entries()) rank[at] = v;
    return { rank, ids };
  }

  #write(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; )
      at += writeSync(this.#file, bytes, at, bytes.length - at, this.#end + at);
    this.#end += bytes.length;
  }

  #read({ at, rows, counted }: Block): Uint32Array {
    const values = new Uint32Array((counted ? 3 : 2) * rows);
    const bytes = new Uint8Array(values.buffer);
    for (let filled = 0; filled < bytes.length; ) {
      const got = readSync(this.#file, bytes, filled, bytes.length - filled, at + filled);
      if (got === 0)
        throw new InputError(`${this.#path}: the rows that were set aside have been cut short; begin anew`);
      filled += got;
    }
    return values;
  }
}

function codeOf(known: Map<number, number>, column: IdColumn, number: number): number {
  let code = known.get(number);
  if (code === undefined) {
    code = column.encodeText(String(number));
    known.set(number, code);
  }
  return code;
}

/** Ids by their codes, ascending, and the order of the codes that this takes. */
function sortedIds(
  codes: Uint32Array,
  column: IdColumn,
  integers: boolean,
): { ids: VertexIds; order: Uint32Array } {
  const texts = Array.from(codes, (code) => decoder.decode(column.bytes(code)));
  if (integers) {
    const values = Float64Array.from(texts, Number);
    const order = Uint32Array.from(values.keys()).sort((a, b) => values[a] - values[b]);
    return { order, ids: VertexIds.integers(values.sort()) };
  }
  const order = Uint32Array.from(texts.keys()).sort((a, b) => (texts[a] < texts[b] ? -1 : 1));
  return { order, ids: VertexIds.texts(Array.from(order, (at) => texts[at])) };
}

function allIntegers(used: Uint8Array, column: IdColumn): boolean {
  return positions(used).every((code) => isInteger(column.bytes(code)));
}

/** Where there is a 1. */
function positions(marks: Uint8Array): Uint32Array {
  const result = new Uint32Array(marks.reduce((sum, mark) => sum + mark, 0));
  let count = 0;
  for (let code = 0; code < marks.length; code++) if (marks[code] === 1) result[count++] = code;
  return result;
}

function grown<T extends Uint8Array | Uint16Array>(values: T, atLeast: number): T {
  const larger = new (values.constructor as new (length: number) => T)(
    Math.max(2 * values.length, atLeast + 1),
  );
  larger.set(values);
  return larger;
}
