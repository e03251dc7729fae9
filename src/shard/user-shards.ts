// Which shard a user belongs to: by its id alone, so that neither the order of rows nor other users change it.

import { smallInteger } from '../ingest/intake/id-column.js';

/** The shard of a user whose id is a whole number below 2³² − 1. */
export function shardOfNumber(id: number, shards: number): number {
  return (mixed(id) >>> 0) % shards;
}

/** The same of many at once. */
export function shardsOfNumbers(ids: Uint32Array, count: number, shards: number, into: Uint16Array): void {
  // A remainder takes several times as long as the rest; of powers of two it is some bits.
  if ((shards & (shards - 1)) === 0) for (let i = 0; i < count; i++) into[i] = mixed(ids[i]) & (shards - 1);
  else for (let i = 0; i < count; i++) into[i] = (mixed(ids[i]) >>> 0) % shards;
}

/** The shard of a user by the bytes of its id; digits as the number that they are. */
export function shardOfBytes(id: Uint8Array, shards: number): number {
  const number = smallInteger(id, 0, id.length);
  if (number >= 0) return shardOfNumber(number, shards);
  let hash = id.length;
  for (let i = 0; i < id.length; i++) hash = Math.imul(hash ^ id[i], 0x01000193);
  return (mixed(hash) >>> 0) % shards;
}

function mixed(value: number): number {
  let h = Math.imul(value ^ (value >>> 16), 0x7feb352d);
  h = Math.imul(h ^ (h >>> 15), 0x846ca68b);
  return h ^ (h >>> 16);
}
