// Which shard a user belongs to, and rows grouped by it. The shard follows from the id alone, so that neither the order of
// rows nor other users change it.

import { smallInteger } from '../ingest/intake/id-column.js';

/** The shard of each of the first `count` ids, which are whole numbers below 2³² − 1. */
export function shardsOfNumbers(ids: Uint32Array, count: number, shards: number, into: Uint16Array): void {
  // A remainder takes several times as long as a mask, which serves powers of two.
  if ((shards & (shards - 1)) === 0) for (let i = 0; i < count; i++) into[i] = mixed(ids[i]) & (shards - 1);
  else for (let i = 0; i < count; i++) into[i] = (mixed(ids[i]) >>> 0) % shards;
}

/** The shard of a user by the bytes of its id; digits count as the number that they write. */
export function shardOfBytes(id: Uint8Array, shards: number): number {
  const number = smallInteger(id, 0, id.length);
  if (number >= 0) return (mixed(number) >>> 0) % shards;
  let hash = id.length;
  for (let i = 0; i < id.length; i++) hash = Math.imul(hash ^ id[i], 0x01000193);
  return (mixed(hash) >>> 0) % shards;
}

function mixed(value: number): number {
  let h = Math.imul(value ^ (value >>> 16), 0x7feb352d);
  h = Math.imul(h ^ (h >>> 15), 0x846ca68b);
  return h ^ (h >>> 16);
}

/** A counting sort by shard, straight into the words to be written. It uses `into` if that is long enough. */
export function groupByShard(
  users: Uint32Array,
  items: Uint32Array,
  counts: Uint32Array | undefined,
  shardOf: Uint16Array,
  shards: number,
  into?: Uint32Array<ArrayBuffer>,
) {
  const rows = users.length;
  /** Where the rows of each shard start, and their number at the end. */
  const starts = new Uint32Array(shards + 1);
  for (let row = 0; row < rows; row++) starts[shardOf[row] + 1]++;
  for (let s = 0; s < shards; s++) starts[s + 1] += starts[s];
  const width = counts ? 3 : 2;
  /** For each shard its users, then its items, then its counts if there are any: as the scratch file holds them. */
  const words = into && into.length >= width * rows ? into : new Uint32Array(width * rows);
  // Where the next user of each shard goes, and how far behind it its item lies.
  const cursor = new Uint32Array(shards);
  const sizes = new Uint32Array(shards);
  for (let s = 0; s < shards; s++) {
    cursor[s] = width * starts[s];
    sizes[s] = starts[s + 1] - starts[s];
  }
  for (let row = 0; row < rows; row++) {
    const s = shardOf[row];
    const to = cursor[s]++;
    const size = sizes[s];
    words[to] = users[row];
    words[to + size] = items[row];
    if (counts) words[to + 2 * size] = counts[row];
  }
  return { starts, words: words.subarray(0, width * rows) };
}
