// What is known of all shards, added up while they are written one by one.

import { logCountFactorials } from '../fit/bound.js';
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
import { countDegrees, type DegreeCounts } from '../sparsity/degree-counts.js';
import type { TensorFile } from '../store/tensors.js';
import type { SideNames } from '../text/sides.js';
import { itemsTensors, type PartsDocument, shardTensors } from './parts.js';

export class PartsTally {
  readonly itemDegree: Uint32Array;
  readonly #itemTotal: Float64Array;
  readonly #items: IdHashes;
  readonly #itemsHash: string;
  readonly #ofUsers = new Map<number, number>();
  readonly #written: PartsDocument['shards'] = [];
  #usersSum = NO_HASH;
  #edgesSum = NO_HASH;

  constructor(
    readonly itemIds: VertexIds,
    readonly multigraph: boolean,
  ) {
    this.#items = idHashes(itemIds, 'items');
    this.#itemsHash = hashText(sumHashes(this.#items));
    this.itemDegree = new Uint32Array(itemIds.length);
    this.#itemTotal = new Float64Array(itemIds.length);
  }

  /** The next shard, as it is written. */
  add(side: GraphSide): TensorFile {
    const users = idHashes(side.ids, 'users');
    const [ownUsers, ownEdges] = [sumHashes(users), sumEdges(side, users, this.#items)];
    this.#usersSum = addHashes(this.#usersSum, ownUsers);
    this.#edgesSum = addHashes(this.#edgesSum, ownEdges);
    const { offsets, neighbors, counts } = side;
    for (let v = 0; v < side.count; v++) {
      const degree = offsets[v + 1] - offsets[v];
      this.#ofUsers.set(degree, (this.#ofUsers.get(degree) ?? 0) + 1);
    }
    let total = 0;
    for (let e = 0; e < neighbors.length; e++) {
      const count = counts ? counts[e] : 1;
      this.itemDegree[neighbors[e]]++;
      this.#itemTotal[neighbors[e]] += count;
      total += count;
    }
    const hash = hashText(addHashes(ownUsers, ownEdges));
    const logFactorials = logCountFactorials(counts);
    this.#written.push({ users: side.count, edges: neighbors.length, total, logFactorials, hash });
    return shardTensors({ itemsHash: this.#itemsHash }, hash, side);
  }

  /** The items, after the last shard. */
  items(): TensorFile {
    return itemsTensors(this.#itemsHash, this.itemIds, this.itemDegree, this.#itemTotal);
  }

  /** What parts.json says, after the last shard. `read`: how the data came in. */
  document(
    names: SideNames | undefined,
    read: { readonly rows: number; readonly kept: number; readonly rejected: number } | undefined,
  ): PartsDocument {
    const over = (value: (shard: PartsDocument['shards'][number]) => number) =>
      this.#written.reduce((total, shard) => total + value(shard), 0);
    const edges = over((shard) => shard.edges);
    const sums = { users: this.#usersSum, items: sumHashes(this.#items), edges: this.#edgesSum };
    return {
      format: 'graphex-parts',
      version: 1,
      multigraph: this.multigraph,
      ...(names && { names }),
      users: over((shard) => shard.users),
      items: this.itemIds.length,
      edges,
      total: over((shard) => shard.total),
      fingerprint: combinedFingerprint(sums, this.multigraph),
      itemsHash: this.#itemsHash,
      read: {
        rows: read?.rows ?? edges,
        kept: edges,
        merged: (read?.kept ?? edges) - edges,
        rejected: read?.rejected ?? 0,
      },
      degrees: {
        users: [...this.#ofUsers].sort(([a], [b]) => a - b),
        items: pairsOf(countDegrees(this.itemDegree)),
      },
      shards: this.#written,
    };
  }
}

function pairsOf({ degree, vertices }: DegreeCounts): [number, number][] {
  return Array.from(degree, (d, n) => [d, vertices[n]]);
}
