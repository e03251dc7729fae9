// Reads the rows of a shard from the scratch file. Any thread can do so, since threads share the ids.

import { readSync } from 'node:fs';
import { InputError } from '../errors.js';
import { VertexIds } from '../graph/ids.js';
import { rankInPlace, type SharedRanks } from '../ingest/intake/number-ranks.js';

/** The rows of one shard in one batch: users, then items, then counts if there are any. */
export interface RowBlock {
  readonly at: number;
  readonly rows: number;
  /** True: users are ids that are whole numbers. False: they are codes of ids. */
  readonly numbers: boolean;
  readonly counted: boolean;
  /** True: items are ids that are whole numbers. False: they are codes of ids. */
  readonly itemNumbers: boolean;
}

/** Marks an item that is left out. */
export const NO_ITEM = 0xffffffff;

/** The ids of users by their codes: all texts in one array, and where each ends. */
export interface UserTexts {
  readonly bytes: Uint8Array;
  readonly ends: Uint32Array;
  /** Whether all are whole numbers. */
  readonly integers: boolean;
}

/** The number of each item in the order of the ids. */
export interface ItemNumbers {
  /** The items whose ids are numbers, and the index of each among all items. Undefined: the indexes are the same. */
  readonly numbers: SharedRanks;
  readonly ofNumber: Uint32Array | undefined;
  /** By the code of the column. */
  readonly ofCode: Uint32Array;
}

/** Where the rows of a shard lie, and what they mean. */
export interface ShardSource {
  readonly file: number;
  /** For messages. */
  readonly path: string;
  readonly blocks: readonly RowBlock[];
  /** Undefined: users are numbers. */
  readonly users: UserTexts | undefined;
  readonly items: ItemNumbers;
}

/**
 * The rows of a shard by the numbers of their vertices, without those of left-out items. `rank`: the position of an item among
 * `items.numbers`.
 */
export function loadShard(source: ShardSource, rank: (item: number) => number) {
  const { blocks } = source;
  const all = blocks.reduce((sum, { rows }) => sum + rows, 0);
  const users = new Uint32Array(all);
  const items = new Uint32Array(all);
  const counts = blocks.some(({ counted }) => counted) ? new Uint32Array(all).fill(1) : undefined;
  const { ofNumber, ofCode } = source.items;
  const longest = blocks.reduce((most, { rows, counted }) => Math.max(most, (counted ? 3 : 2) * rows), 0);
  const words = new Uint32Array(longest);
  // Rows whose users are numbers come first.
  const inOrder = [...blocks.filter(({ numbers }) => numbers), ...blocks.filter(({ numbers }) => !numbers)];
  let row = 0;
  let numbered = 0;
  for (const block of inOrder) {
    const { rows } = block;
    readBlock(source, block, words);
    for (let i = 0; i < rows; i++) {
      let item = words[rows + i];
      if (block.itemNumbers) {
        item = rank(item);
        if (ofNumber) item = ofNumber[item];
      } else item = ofCode[item];
      if (item === NO_ITEM) continue;
      users[row] = words[i];
      items[row] = item;
      if (block.counted && counts) counts[row] = words[2 * rows + i];
      row++;
    }
    if (block.numbers) numbered = row;
  }
  const userIds = rankUsers(users.subarray(0, numbered), users.subarray(numbered, row), source.users);
  return {
    users: users.subarray(0, row),
    items: items.subarray(0, row),
    counts: counts?.subarray(0, row),
    userIds,
  };
}

/** Replaces users, given by number or by code, by their numbers in the order of the ids, which it returns. */
function rankUsers(byNumber: Uint32Array, byCode: Uint32Array, named: UserTexts | undefined): VertexIds {
  const numbers = rankInPlace(byNumber);
  if (!named) return VertexIds.integers(Float64Array.from(numbers));
  const codes = rankInPlace(byCode);
  // A user may occur among both.
  const texts = [...Array.from(numbers, String), ...textsOf(codes, named)];
  const values = named.integers ? Float64Array.from(texts, Number) : texts;
  const order = Uint32Array.from(values.keys()).sort((a, b) => (values[a] < values[b] ? -1 : 1));
  const rank = new Uint32Array(order.length);
  const different = rankInOrder(order, rank, (a, b) => values[a] === values[b]);
  for (let i = 0; i < byNumber.length; i++) byNumber[i] = rank[byNumber[i]];
  for (let i = 0; i < byCode.length; i++) byCode[i] = rank[numbers.length + byCode[i]];
  return values instanceof Float64Array
    ? VertexIds.integers(Float64Array.from(different, (at) => values[at]))
    : VertexIds.texts(Array.from(different, (at) => values[at]));
}

/** Ranks the values in their order, equal ones alike, and returns the first of each. */
function rankInOrder(
  order: Uint32Array,
  rank: Uint32Array,
  same: (a: number, b: number) => boolean,
): Uint32Array {
  const different = new Uint32Array(order.length);
  let count = 0;
  for (const at of order) {
    if (count === 0 || !same(different[count - 1], at)) different[count++] = at;
    rank[at] = count - 1;
  }
  return different.subarray(0, count);
}

function textsOf(codes: Uint32Array, { bytes, ends }: UserTexts): string[] {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  // A decoder refuses shared memory.
  return Array.from(codes, (code) =>
    decoder.decode(bytes.slice(code === 0 ? 0 : ends[code - 1], ends[code])),
  );
}

function readBlock({ file, path }: ShardSource, { at, rows, counted }: RowBlock, into: Uint32Array): void {
  const bytes = new Uint8Array(into.buffer, 0, 4 * (counted ? 3 : 2) * rows);
  for (let filled = 0; filled < bytes.length; ) {
    const got = readSync(file, bytes, filled, bytes.length - filled, at + filled);
    if (got === 0) throw new InputError(`${path}: the scratch file was cut short; start again`);
    filled += got;
  }
}
