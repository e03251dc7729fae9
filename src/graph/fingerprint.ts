// A content hash. The same edges, ids and counts give the same fingerprint, whatever the order of rows and vertices, and
// whether ids are stored as numbers or as texts. Each edge is hashed from the hashes of its two ids and its count. The
// edge hashes are added, so their order does not matter.

import { type BipartiteGraph, type BySide, bySide, type GraphSide, type SideName } from './graph.js';
import type { VertexIds } from './ids.js';

/** Two independent sums modulo 2³². Partial sums add up in any order. */
export interface HashSum {
  readonly low: number;
  readonly high: number;
}

export const NO_HASH: HashSum = { low: 0, high: 0 };

export function addHashes(a: HashSum, b: HashSum): HashSum {
  return { low: (a.low + b.low) | 0, high: (a.high + b.high) | 0 };
}

export interface IdHashes {
  readonly low: Int32Array;
  readonly high: Int32Array;
}

/** 16 hex digits. Equal content gives equal fingerprints; different content collides with probability 2^−64. */
export function fingerprint(graph: BipartiteGraph): string {
  const hashes = vertexHashes(graph);
  return fingerprintOf(graph, hashes, sumEdges(graph.users, hashes.users, hashes.items));
}

/** The hashes of the vertices of both sides. */
export function vertexHashes(graph: BipartiteGraph): BySide<IdHashes> {
  return bySide((side) => idHashes(graph[side].ids, side));
}

/** The fingerprint of a graph from the hashes of its vertices and the sum over its edges. */
export function fingerprintOf(
  { multigraph }: BipartiteGraph,
  { users, items }: BySide<IdHashes>,
  edges: HashSum,
): string {
  return combinedFingerprint({ users: sumHashes(users), items: sumHashes(items), edges }, multigraph);
}

/** The fingerprint of a graph from its sums over vertices and edges, wherever they were computed. */
export function combinedFingerprint(
  { users, items, edges }: { readonly users: HashSum; readonly items: HashSum; readonly edges: HashSum },
  multigraph: boolean,
): string {
  const kind = multigraph ? 2 : 1;
  return (
    hex(mix((users.low ^ items.low) + edges.low + kind)) +
    hex(mix((users.high ^ items.high) + edges.high - kind))
  );
}

export function hashText({ low, high }: HashSum): string {
  return hex(low) + hex(high);
}

/** The sum over the edges of users; their hashes are indexed by row. */
export function sumEdges(
  { offsets, neighbors, counts }: Pick<GraphSide, 'offsets' | 'neighbors' | 'counts'>,
  users: IdHashes,
  items: IdHashes,
): HashSum {
  let low = 0;
  let high = 0;
  for (let user = 0; user < users.low.length; user++) {
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
  return { low, high };
}

export function sumHashes({ low, high }: IdHashes): HashSum {
  return { low: sum(low), high: sum(high) };
}

const SEEDS = { users: 0x9e3779b9, items: 0x85ebca6b } as const;

/** Two independent 32-bit hashes of every id of a side, from its text. */
export function idHashes(ids: VertexIds, side: SideName): IdHashes {
  const seed = SEEDS[side];
  const low = new Int32Array(ids.length);
  const high = new Int32Array(ids.length);
  for (let v = 0; v < ids.length; v++) {
    const id = ids.at(v);
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

/** A 32-bit finalizer: every input bit affects every output bit. */
function mix(value: number): number {
  let h = value | 0;
  h = Math.imul(h ^ (h >>> 16), 0x7feb352d);
  h = Math.imul(h ^ (h >>> 15), 0x846ca68b);
  return h ^ (h >>> 16);
}

function hex(value: number): string {
  return (value >>> 0).toString(16).padStart(8, '0');
}
