// Sums over all shards, added up while the shards are written one by one.

import { logCountFactorials } from '../fit/ascent/bound.js';
import {
  addHashes,
  combinedFingerprint,
  hashText,
  type IdHashes,
  idHashes,
  NO_HASH,
  sumEdges,
  sumHashes,
} from '../graph/fingerprint.js';
import type { GraphSide } from '../graph/graph.js';
import type { VertexIds } from '../graph/ids.js';
import { inSharedMemory } from '../math/memory.js';
import { countDegrees } from '../sparsity/degree-counts.js';
import type { TensorFile } from '../store/tensors.js';
import type { SideNames } from '../text/sides.js';
import {
  hashOfDegrees,
  itemsTensors,
  PARTITION_FORMAT,
  type PartitionDocument,
  shardTensors,
} from './partition-folder.js';

/** What the sums need of a shard. */
export type ShardSummary = ReturnType<typeof describeShard>['summary'];

/** The file of a shard, and its summary. */
export function describeShard(side: GraphSide, items: IdHashes, itemsHash: string) {
  const hashes = idHashes(side.ids, 'users');
  const [users, edges] = [sumHashes(hashes), sumEdges(side, hashes, items)];
  const { offsets, neighbors, counts } = side;
  /** The number of users of each degree. */
  const degrees = new Map<number, number>();
  for (let v = 0; v < side.count; v++) {
    const degree = offsets[v + 1] - offsets[v];
    degrees.set(degree, (degrees.get(degree) ?? 0) + 1);
  }
  const total = counts ? counts.reduce((sum, count) => sum + count, 0) : neighbors.length;
  const hash = hashText(addHashes(users, edges));
  const logFactorials = logCountFactorials(counts);
  const described = { users: side.count, edges: neighbors.length, total, logFactorials, hash };
  return { file: shardTensors(itemsHash, hash, side), summary: { described, users, edges, degrees } };
}

/** Edges and counts of each item over some shards. */
export class ItemSums {
  readonly degree: Uint32Array;
  /** Undefined while all counts are 1. */
  total: Float64Array | undefined;

  constructor(items: number) {
    this.degree = new Uint32Array(items);
  }

  add({ neighbors, counts }: Pick<GraphSide, 'neighbors' | 'counts'>): void {
    const { degree } = this;
    if (counts) {
      this.total ??= Float64Array.from(degree);
      for (let e = 0; e < neighbors.length; e++) this.total[neighbors[e]] += counts[e];
    } else if (this.total) {
      for (let e = 0; e < neighbors.length; e++) this.total[neighbors[e]]++;
    }
    for (let e = 0; e < neighbors.length; e++) degree[neighbors[e]]++;
  }
}

export class ShardTotals {
  readonly itemDegree: Uint32Array;
  readonly #itemTotal: Float64Array;
  readonly itemHashes: IdHashes;
  readonly itemsHash: string;
  readonly #userDegrees = new Map<number, number>();
  readonly #shards: PartitionDocument['shards'] = [];
  #usersSum = NO_HASH;
  #edgesSum = NO_HASH;

  constructor(
    readonly itemIds: VertexIds,
    readonly multigraph: boolean,
  ) {
    const { low, high } = idHashes(itemIds, 'items');
    this.itemHashes = { low: inSharedMemory(low), high: inSharedMemory(high) };
    this.itemsHash = hashText(sumHashes(this.itemHashes));
    this.itemDegree = new Uint32Array(itemIds.length);
    this.#itemTotal = new Float64Array(itemIds.length);
  }

  /** Adds the next shard and returns its file. */
  add(side: GraphSide): TensorFile {
    const { file, summary } = describeShard(side, this.itemHashes, this.itemsHash);
    this.addSummary(this.#shards.length, summary);
    const sums = new ItemSums(this.itemIds.length);
    sums.add(side);
    this.addItems(sums);
    return file;
  }

  /** Adds a shard whose summary was made by another thread. */
  addSummary(shard: number, { described, users, edges, degrees }: ShardSummary): void {
    this.#shards[shard] = described;
    this.#usersSum = addHashes(this.#usersSum, users);
    this.#edgesSum = addHashes(this.#edgesSum, edges);
    for (const [degree, count] of degrees) {
      this.#userDegrees.set(degree, (this.#userDegrees.get(degree) ?? 0) + count);
    }
  }

  /** Adds the sums of another thread. */
  addItems({ degree, total }: Pick<ItemSums, 'degree' | 'total'>): void {
    for (let item = 0; item < degree.length; item++) {
      this.itemDegree[item] += degree[item];
      this.#itemTotal[item] += (total ?? degree)[item];
    }
  }

  /** The file of the items, after the last shard. */
  items(): TensorFile {
    return itemsTensors(this.itemsHash, this.itemIds, this.itemDegree, this.#itemTotal);
  }

  /** The contents of parts.json, after the last shard. `read`: the rows of the source. */
  document(
    names: SideNames | undefined,
    read: { readonly rows: number; readonly kept: number; readonly rejected: number } | undefined,
  ): PartitionDocument {
    const over = (value: (shard: PartitionDocument['shards'][number]) => number) =>
      this.#shards.reduce((total, shard) => total + value(shard), 0);
    const edges = over((shard) => shard.edges);
    const userDegrees = [...this.#userDegrees].sort(([a], [b]) => a - b);
    const { degree, vertices } = countDegrees(this.itemDegree);
    const sums = { users: this.#usersSum, items: sumHashes(this.itemHashes), edges: this.#edgesSum };
    return {
      ...PARTITION_FORMAT,
      multigraph: this.multigraph,
      ...(names && { names }),
      users: over((shard) => shard.users),
      items: this.itemIds.length,
      edges,
      total: over((shard) => shard.total),
      fingerprint: combinedFingerprint(sums, this.multigraph),
      itemsHash: this.itemsHash,
      read: {
        rows: read?.rows ?? edges,
        kept: edges,
        merged: (read?.kept ?? edges) - edges,
        rejected: read?.rejected ?? 0,
      },
      degrees: { users: userDegrees, items: Array.from(degree, (d, n) => [d, vertices[n]]) },
      degreesHash: hashOfDegrees(userDegrees),
      shards: this.#shards,
    };
  }
}
