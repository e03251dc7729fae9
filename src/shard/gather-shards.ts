// Tables of users on their way between the ranks that have their shards and rank 0, which writes: one shard at a time, so
// that rank 0 needs room for one.

import type { Communicator } from '../comm/communicator.js';
import { TABLE_FIELDS, type TableValues } from '../engine/engine.js';
import { type FolderFiles, type FolderOptions, writeFolder } from '../files/folder.js';

/** Which shards a rank has: those of one rank follow one another. */
export function shardsOfRank(shards: number, size: number, rank: number): { first: number; last: number } {
  const from = (r: number) => Math.floor((r * shards) / size);
  return { first: from(rank), last: from(rank + 1) };
}

function ownerOf(shards: number, size: number, shard: number): number {
  let rank = 0;
  while (shardsOfRank(shards, size, rank).last <= shard) rank++;
  return rank;
}

type Values = Float32Array | Float64Array;

/** Values that a user has in each of several tables, in float64 where they are `double`. */
export interface RowShape {
  readonly widths: readonly number[];
  readonly double: boolean;
}

/**
 * Hands the tables of all shards to `take` on rank 0, in the order of the shards. Called by every rank; `own` gives those
 * that it has, one by one. Should `take` fail, the rest is still received, so that no rank waits: rank 0 throws in the end.
 */
export async function gatherRows<T extends Values>(
  communicator: Communicator,
  rows: readonly number[],
  { widths, double }: RowShape,
  own: (part: number) => Promise<readonly T[]>,
  take: (shard: number, tables: readonly T[]) => Promise<void>,
): Promise<void> {
  const { rank, size } = communicator;
  const { first } = shardsOfRank(rows.length, size, rank);
  const empty = (count: number) =>
    widths.map((width) => (double ? new Float64Array(count * width) : new Float32Array(count * width)) as T);
  let failed: { readonly error: unknown } | undefined;
  for (let shard = 0; shard < rows.length; shard++) {
    const owner = ownerOf(rows.length, size, shard);
    if (rank !== owner && rank !== 0) continue;
    const tables = rank === owner ? await own(shard - first) : empty(rows[shard]);
    for (const { buffer, byteOffset, byteLength } of tables) {
      await communicator.transfer(new Uint8Array(buffer, byteOffset, byteLength), owner, 0);
    }
    if (rank !== 0 || failed) continue;
    try {
      await take(shard, tables);
    } catch (error) {
      failed = { error };
    }
  }
  if (failed) throw failed.error;
}

/** The same of the tables of an engine. */
export function gatherTables(
  communicator: Communicator,
  rows: readonly number[],
  features: number,
  double: boolean,
  own: (part: number) => Promise<TableValues>,
  take: (shard: number, table: TableValues) => Promise<void>,
): Promise<void> {
  const shape = { widths: [1, 1, features, features], double };
  return gatherRows<Values>(
    ...([communicator, rows, shape] as const),
    async (part) => {
      const table = await own(part);
      return TABLE_FIELDS.map((field) => table[field]);
    },
    (shard, [weightShape, weightRate, featureShape, featureRate]) =>
      take(shard, { weightShape, weightRate, featureShape, featureRate }),
  );
}

/**
 * Writes a folder whose files by shard come from the ranks that have them: called by every rank, written by rank 0, all of it
 * or nothing. The folder's writer asks for a shard, and waits for it to come.
 */
export async function writeGathered<T>(
  communicator: Communicator,
  folder: string,
  files: { readonly first: FolderFiles; readonly shards: readonly string[] },
  gather: (take: (shard: number, tables: T) => Promise<void>) => Promise<void>,
  write: (path: string, shard: number, tables: T) => Promise<void>,
  options: FolderOptions = {},
): Promise<void> {
  const received = new Map<number, (tables: T) => Promise<void>>();
  const all: Record<string, FolderFiles[string]> = { ...files.first };
  let asked: (() => void) | undefined;
  let failed: { readonly error: unknown } | undefined;
  for (const [s, name] of files.shards.entries()) {
    all[name] = (path) =>
      new Promise<void>((resolve, reject) => {
        received.set(s, async (tables) => {
          const done = write(path, s, tables);
          done.then(resolve, reject);
          await done;
        });
        asked?.();
      });
  }
  const written =
    communicator.rank === 0
      ? writeFolder(folder, all, options).catch((error: unknown) => {
          failed = { error };
          asked?.();
        })
      : Promise.resolve();
  await gather(async (shard, tables) => {
    while (!received.has(shard)) {
      if (failed) return;
      await new Promise<void>((resolve) => {
        asked = resolve;
      });
    }
    await received.get(shard)!(tables).catch(() => undefined);
  });
  await written;
  if (failed) throw (failed as { readonly error: unknown }).error;
}
