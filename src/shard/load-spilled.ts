// The rows of a shard, from where they were set aside: by any thread, which knows the ids from what all threads share.

import { readSync } from 'node:fs';
import { InputError } from '../errors.js';
import { VertexIds } from '../graph/ids.js';
import { rankInPlace, type SharedRanks } from './number-ranks.js';

/** Rows of one shard in one batch: users, then items, then counts where there are any. */
export interface Block {
  readonly at: number;
  readonly rows: number;
  /** Whether users are numbers themselves, not codes of the column. */
  readonly numbers: boolean;
  readonly counted: boolean;
  /** Whether items are numbers themselves, not codes of the column. */
  readonly itemNumbers: boolean;
}

/** What stands for an item that is left out. */
export const NONE = 0xffffffff;

/** The ids of users by their codes: one after the other, and where each ends. */
export interface UserTexts {
  readonly bytes: Uint8Array;
  readonly ends: Uint32Array;
  /** Whether all are whole numbers. */
  readonly integers: boolean;
}

/** The place of each item in the order of the ids. */
export interface ItemPlaces {
  /** The items that came as numbers, and the place of each of them among all items; undefined: it is the same. */
  readonly numbers: SharedRanks;
  readonly ofNumber: Uint32Array | undefined;
  /** By code of the column. */
  readonly ofCode: Uint32Array;
}

/** Where the rows of a shard are, and what they mean. */
export interface ShardSource {
  readonly file: number;
  /** For messages. */
  readonly path: string;
  readonly blocks: readonly Block[];
  /** Undefined: users are numbers. */
  readonly users: UserTexts | undefined;
  readonly items: ItemPlaces;
}

/** The rows of a shard, by the vertices that they lead to. */
export interface ShardRows {
  readonly users: Uint32Array;
  readonly items: Uint32Array;
  readonly counts: Uint32Array | undefined;
  readonly userIds: VertexIds;
}

/** The rows of a shard; those whose items are left out are not among them. `place`: of a number of
 * `items.numbers` among these. */
export function loadShard(source: ShardSource, place: (item: number) => number): ShardRows {
  const { blocks } = source;
  const all = blocks.reduce((sum, { rows }) => sum + rows, 0);
  const users = new Uint32Array(all);
  const items = new Uint32Array(all);
  const counts = blocks.some(({ counted }) => counted) ? new Uint32Array(all).fill(1) : undefined;
  const { ofNumber, ofCode } = source.items;
  const longest = blocks.reduce((most, { rows, counted }) => Math.max(most, (counted ? 3 : 2) * rows), 0);
  const words = new Uint32Array(longest);
  // Those of users that came as numbers go first.
  const inOrder = [...blocks.filter(({ numbers }) => numbers), ...blocks.filter(({ numbers }) => !numbers)];
  let row = 0;
  let numbered = 0;
  for (const block of inOrder) {
    const { rows } = block;
    readBlock(source, block, words);
    for (let i = 0; i < rows; i++) {
      let item = words[rows + i];
      if (block.itemNumbers) {
        item = place(item);
        if (ofNumber) item = ofNumber[item];
      } else item = ofCode[item];
      if (item === NONE) continue;
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

/** Makes users, by number or by code, their places in the order of the ids, which it returns. */
function rankUsers(byNumber: Uint32Array, byCode: Uint32Array, named: UserTexts | undefined): VertexIds {
  const numbers = rankInPlace(byNumber);
  if (!named) return VertexIds.integers(Float64Array.from(numbers));
  const codes = rankInPlace(byCode);
  // One user may be among both.
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

/** Gives each its place in the order, equal ones the same, and returns the first of each. */
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
  // A decoder takes no memory that is shared.
  return Array.from(codes, (code) =>
    decoder.decode(bytes.slice(code === 0 ? 0 : ends[code - 1], ends[code])),
  );
}

function readBlock({ file, path }: ShardSource, { at, rows, counted }: Block, into: Uint32Array): void {
  const bytes = new Uint8Array(into.buffer, 0, 4 * (counted ? 3 : 2) * rows);
  for (let filled = 0; filled < bytes.length; ) {
    const got = readSync(file, bytes, filled, bytes.length - filled, at + filled);
    if (got === 0)
      throw new InputError(`${path}: the rows that were set aside have been cut short; begin anew`);
    filled += got;
  }
}
