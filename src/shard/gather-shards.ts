// Tables of users travel from the ranks that hold their shards to rank 0, which writes them: one shard at a time, so that
// rank 0 needs memory for one.

import type { Communicator } from '../comm/communicator.js';
import { type FolderFiles, type FolderOptions, writeFolder } from '../files/folder.js';
import { lengths, type RowLists } from '../math/csr.js';
import { concat } from '../math/memory.js';
import { sumOf } from '../math/moments.js';

/** The shards of a rank: consecutive ones. */
export interface ShardRange {
  readonly first: number;
  readonly last: number;
}

export function shardsOfRank(shards: number, { size, rank }: { size: number; rank: number }): ShardRange {
  const from = (r: number) => Math.floor((r * shards) / size);
  return { first: from(rank), last: from(rank + 1) };
}

type Values = Float32Array | Float64Array;

/** The number of values that a user has in each of several tables, and whether they are float64. */
interface RowShape {
  readonly widths: readonly number[];
  readonly double: boolean;
}

/**
 * Gathers the tables of all shards on rank 0, in the order of the shards. `tablesOf` gives the tables of one of this rank's
 * own shards. Rank 0 takes them by `next`; every rank calls `rest` at the end, also after an error.
 */
export function gatherRows<T extends Values>(
  communicator: Communicator,
  shards: readonly { readonly users: number }[],
  { widths, double }: RowShape,
  tablesOf: (localShard: number) => Promise<readonly T[]>,
) {
  const { rank, size } = communicator;
  const empty = (count: number) =>
    widths.map((width) => (double ? new Float64Array(count * width) : new Float32Array(count * width)) as T);
  const ranges = Array.from({ length: size }, (_, r) => shardsOfRank(shards.length, { size, rank: r }));
  let shard = 0;
  /** The tables of the next shard; whole on rank 0 and on the rank that has the shard. */
  async function next(): Promise<readonly T[]> {
    const now = shard;
    const owner = ranges.findIndex(({ last }) => now < last);
    // If a transfer fails, nothing more is transferred.
    shard = shards.length;
    let tables: readonly T[] = [];
    if (rank === owner) tables = await tablesOf(now - ranges[owner].first);
    else if (rank === 0) tables = empty(shards[now].users);
    for (const { buffer, byteOffset, byteLength } of tables) {
      await communicator.transfer(new Uint8Array(buffer, byteOffset, byteLength), owner, 0);
    }
    shard = now + 1;
    return tables;
  }
  return {
    next,
    /** Lets the other shards pass, so that no rank waits. */
    async rest(): Promise<void> {
      while (shard < shards.length) await next();
    },
  };
}

export function usersFile(shard: number): string {
  return `users-${String(shard).padStart(4, '0')}.safetensors`;
}

export function usersFiles(shards: number): string[] {
  return Array.from({ length: shards }, (_, shard) => usersFile(shard));
}

/**
 * Writes a folder with the files `shared`, and a file for the users of each shard, whose tables come from the ranks that hold them. Every
 * rank calls it, rank 0 writes; all files appear, or none.
 */
export async function writeGathered<T extends Values>(
  communicator: Communicator,
  folder: string,
  shared: FolderFiles,
  shards: readonly { readonly users: number }[],
  shape: RowShape,
  tablesOf: (localShard: number) => Promise<readonly T[]>,
  write: (path: string, shard: number, tables: readonly T[]) => Promise<void>,
  options: FolderOptions = {},
): Promise<void> {
  const gathered = gatherRows(communicator, shards, shape, tablesOf);
  const files: Record<string, FolderFiles[string]> = { ...shared };
  for (const s of shards.keys()) {
    files[usersFile(s)] = async (path) => write(path, s, await gathered.next());
  }
  try {
    if (communicator.rank === 0) await writeFolder(folder, files, options);
  } finally {
    await gathered.rest();
  }
}

/** The lists of all ranks, one after another, on every rank. */
export async function gatherLists(own: readonly RowLists[], communicator: Communicator): Promise<RowLists> {
  const { rank, size } = communicator;
  /** The numbers of all ranks, one rank after another. */
  const joined = async (parts: readonly Uint32Array[]) => {
    const mine = concat(Uint32Array, parts);
    const sizes = new Float64Array(size);
    sizes[rank] = mine.length;
    await communicator.sum(sizes);
    // One rank sets each position; the others add 0.
    const all = new Float64Array(sumOf(sizes));
    all.set(mine, sumOf(sizes.subarray(0, rank)));
    await communicator.sum(all);
    return Uint32Array.from(all);
  };
  const degrees = await joined(own.map(lengths));
  const offsets = new Uint32Array(degrees.length + 1);
  for (let r = 0; r < degrees.length; r++) offsets[r + 1] = offsets[r] + degrees[r];
  return { offsets, values: await joined(own.map(({ values }) => values)) };
}
