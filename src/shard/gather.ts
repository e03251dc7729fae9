// Tables of users on their way between the ranks that have their shards and rank 0, which writes: one shard at a time, so
// that rank 0 needs room for one.

import type { Communicator } from '../comm/communicator.js';
import type { TableValues } from '../engine/engine.js';
import { FIELDS } from '../engine/sharded/tables.js';

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

/** What one shard's table looks like. */
interface Shape {
  readonly rows: number;
  readonly features: number;
  readonly double: boolean;
}

function emptyTable({ rows, features, double }: Shape): TableValues {
  const values = (length: number) => (double ? new Float64Array(length) : new Float32Array(length));
  return {
    weightShape: values(rows),
    weightRate: values(rows),
    featureShape: values(rows * features),
    featureRate: values(rows * features),
  };
}

/**
 * Hands the tables of all shards to `take` on rank 0, in the order of the shards. Called by every rank; `own` gives those
 * that it has, one by one, in float64 where they are `double`. Should `take` fail, the rest is still received, so that no rank waits: rank 0 throws in the end.
 */
export async function gatherTables(
  communicator: Communicator,
  rows: readonly number[],
  features: number,
  double: boolean,
  own: (part: number) => Promise<TableValues>,
  take: (shard: number, table: TableValues) => Promise<void>,
): Promise<void> {
  const { rank, size } = communicator;
  const { first } = shardsOfRank(rows.length, size, rank);
  let failed: { readonly error: unknown } | undefined;
  for (let shard = 0; shard < rows.length; shard++) {
    const owner = ownerOf(rows.length, size, shard);
    if (rank !== owner && rank !== 0) continue;
    const table =
      rank === owner ? await own(shard - first) : emptyTable({ rows: rows[shard], features, double });
    for (const field of FIELDS) {
      const { buffer, byteOffset, byteLength } = table[field];
      await communicator.transfer(new Uint8Array(buffer, byteOffset, byteLength), owner, 0);
    }
    if (rank !== 0 || failed) continue;
    try {
      await take(shard, table);
    } catch (error) {
      failed = { error };
    }
  }
  if (failed) throw failed.error;
}
