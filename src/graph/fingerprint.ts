// A content hash: the same edges, ids and counts give the same fingerprint, whatever the order of rows and vertices and
// whether ids are held as numbers or as texts. Each edge is hashed from the hashes of its two ids and its count, and the
// edge hashes are added, so no order enters.

import type { BipartiteGraph, GraphSide } from './graph.js';

/** 16 hex digits. Equal content, equal fingerprint; different content differs but for one chance in 2^64. */
export function fingerprint(graph: BipartiteGraph): string {
  const users = idHashes(graph.users, 0x9e3779b9);
  const items = idHashes(graph.items, 0x85ebca6b);
  const { offsets, neighbors, counts } = graph.users;
  let low = sum(users.low) ^ sum(items.low);
  let high = sum(users.high) ^ sum(items.high);
  for (let user = 0; user < graph.users.count; user++) {
    const userLow = users.low[user];
    const userHigh = users.high[user];
    for (let e = offsets[user]; e < offsets[user + 1]; e++) {
      const item = neighbors[e];
      const count = counts ? counts[e] : 1;
      low =
        (low + mix((userLow ^ Math.imul(items.low[item], 0x27d4eb2f)) + Math.imul(count, 0x165667b1))) | 0;
      high =
        (high + mix((userHigh ^ Math.imul(items.high[item], 0xc2b2ae3d)) - Math.imul(count, 0x2545f491))) | 0;
    }
  }
  const kind = graph.multigraph ? 2 : 1;
  return hex(mix(low + kind)) + hex(mix(high - kind));
}

/** Two independent 32-bit hashes of every id of a side, from its text. */
function idHashes(side: GraphSide, seed: number): { low: Int32Array; high: Int32Array } {
  const low = new Int32Array(side.count);
  const high = new Int32Array(side.count);
  for (let v = 0; v < side.count; v++) {
    const id = side.ids.at(v);
    let a = seed | 0;
    let b = ~seed | 0;
    for (let i = 0; i < id.length; i++) {
      const unit = id.charCodeAt(i);
      a = Math.imul(a ^ unit, 0x01000193);
      b = Math.imul((b << 5) - b + unit, 0x5bd1e995) ^ (b >>> 15);
    }
    low[v] = mix(a + id.length);
    high[v] = mix(b - id.length);
  }
  return { low, high };
}

function sum(values: Int32Array): number {
  let total = 0;
  for (let i = 0; i < values.length; i++) total = (total + values[i]) | 0;
  return total;
}

/** A 32-bit finalizer: every input bit moves every output bit. */
function mix(value: number): number {
  let h = value | 0;
  h = Math.imul(h ^ (h >>> 16), 0x7feb352d);
  h = Math.imul(h ^ (h >>> 15), 0x846ca68b);
  return h ^ (h >>> 16);
}

function hex(value: number): string {
  return (value >>> 0).toString(16).padStart(8, '0');
}
