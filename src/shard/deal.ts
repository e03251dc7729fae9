// Rows in the order of the shards that their users belong to, as they wait on disk.

/** Rows of all shards, one shard after the other: its users, then its items, then its counts where there are any. */
export interface Dealt {
  /** Where the rows of each shard begin, and how many there are at the end. */
  readonly starts: Uint32Array;
  readonly words: Uint32Array<ArrayBuffer>;
}

/** A counting sort by shard, straight into what is written. `into`: words that may be used for it, where they suffice. */
export function dealRows(
  users: Uint32Array,
  items: Uint32Array,
  counts: Uint32Array | undefined,
  shardOf: Uint16Array,
  shards: number,
  into?: Uint32Array<ArrayBuffer>,
): Dealt {
  const rows = users.length;
  const starts = new Uint32Array(shards + 1);
  for (let row = 0; row < rows; row++) starts[shardOf[row] + 1]++;
  for (let s = 0; s < shards; s++) starts[s + 1] += starts[s];
  const width = counts ? 3 : 2;
  const words = into && into.length >= width * rows ? into : new Uint32Array(width * rows);
  // Where the next user of each shard goes, and how far from it its item.
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
