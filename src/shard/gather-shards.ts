// Tables of users travel from the ranks that hold their shards to rank 0, which writes them: one shard at a time, so that
// rank 0 needs memory for one.

import type { Communicator } from '../comm/communicator.js';
import { type FolderFiles, type FolderOptions, writeFolder } from '../files/folder.js';
import type { RowLists } from '../math/csr.js';

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
 * Passes the tables of all shards to `receive` on rank 0, in the order of the shards. Every rank calls it; `tablesOf` gives
 * the tables of one of its own shards. If `receive` fails, rank 0 still receives the rest, so that no rank waits, and throws
 * at the end.
 */
export async function gatherRows<T extends Values>(
  communicator: Communicator,
  rows: readonly number[],
  { widths, double }: RowShape,
  tablesOf: (localShard: number) => Promise<readonly T[]>,
  receive: (shard: number, tables: readonly T[]) => Promise<void>,
): Promise<void> {
  const { rank, size } = communicator;
  const empty = (count: number) =>
    widths.map((width) => (double ? new Float64Array(count * width) : new Float32Array(count * width)) as T);
  let failed: { readonly error: unknown } | undefined;
  for (let owner = 0; owner < size; owner++) {
    if (rank !== owner && rank !== 0) continue;
    const { first, last } = shardsOfRank(rows.length, { size, rank: owner });
    for (let shard = first; shard < last; shard++) {
      const tables = rank === owner ? await tablesOf(shard - first) : empty(rows[shard]);
      for (const { buffer, byteOffset, byteLength } of tables) {
        await communicator.transfer(new Uint8Array(buffer, byteOffset, byteLength), owner, 0);
      }
      if (rank !== 0 || failed) continue;
      try {
        await receive(shard, tables);
      } catch (error) {
        failed = { error };
      }
    }
  }
  if (failed) throw failed.error;
}

/** A folder with files that all shards share, written first, and a file for the users of each shard. */
interface GatheredFolder {
  readonly shared: FolderFiles;
  /** The number of users of each shard. */
  readonly rows: readonly number[];
  readonly nameOf: (shard: number) => string;
  readonly shape: RowShape;
}

/**
 * Writes a folder whose files by shard come from the ranks that hold them. Every rank calls it, rank 0 writes; all files
 * appear, or none. The folder's writer asks for a shard and waits until it arrives.
 */
export async function writeGathered<T extends Values>(
  communicator: Communicator,
  folder: string,
  { shared, rows, nameOf, shape }: GatheredFolder,
  tablesOf: (localShard: number) => Promise<readonly T[]>,
  write: (path: string, shard: number, tables: readonly T[]) => Promise<void>,
  options: FolderOptions = {},
): Promise<void> {
  const requests = new Map<number, (tables: readonly T[]) => Promise<void>>();
  const files: Record<string, FolderFiles[string]> = { ...shared };
  let onRequest: (() => void) | undefined;
  let failed: { readonly error: unknown } | undefined;
  for (let s = 0; s < rows.length; s++) {
    files[nameOf(s)] = (path) =>
      new Promise<void>((resolve, reject) => {
        requests.set(s, async (tables) => {
          const done = write(path, s, tables);
          done.then(resolve, reject);
          await done;
        });
        onRequest?.();
      });
  }
  const written =
    communicator.rank === 0
      ? writeFolder(folder, files, options).catch((error: unknown) => {
          failed = { error };
          onRequest?.();
        })
      : Promise.resolve();
  await gatherRows(communicator, rows, shape, tablesOf, async (shard, tables) => {
    while (!requests.has(shard)) {
      if (failed) return;
      await new Promise<void>((resolve) => {
        onRequest = resolve;
      });
    }
    await requests.get(shard)!(tables).catch(() => undefined);
  });
  await written;
  if (failed) throw (failed as { readonly error: unknown }).error;
}

/** The lists of all ranks, one after another, on every rank. */
export async function gatherLists(own: readonly RowLists[], communicator: Communicator): Promise<RowLists> {
  const { rank, size } = communicator;
  /** Rows and values of each rank. */
  const sizes = new Float64Array(2 * size);
  for (const { offsets, values } of own) {
    sizes[2 * rank] += offsets.length - 1;
    sizes[2 * rank + 1] += values.length;
  }
  await communicator.sum(sizes);
  const before = (at: number, of: number) =>
    sizes.reduce((sum, count, i) => (i % 2 === at && i < 2 * of ? sum + count : sum), 0);
  const rows = before(0, size);
  // One rank sets each position; the others add 0.
  const all = new Float64Array(rows + before(1, size));
  let [row, value] = [before(0, rank), rows + before(1, rank)];
  for (const { offsets, values } of own) {
    for (let r = 0; r + 1 < offsets.length; r++) all[row++] = offsets[r + 1] - offsets[r];
    all.set(values, value);
    value += values.length;
  }
  await communicator.sum(all);
  const offsets = new Uint32Array(rows + 1);
  for (let r = 0; r < rows; r++) offsets[r + 1] = offsets[r] + all[r];
  return { offsets, values: Uint32Array.from(all.subarray(rows)) };
}
