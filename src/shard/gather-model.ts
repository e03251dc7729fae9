// The users of all shards put together in the order of their ids, as if the data had been in one piece.

import type { Communicator } from '../comm/communicator.js';
import type { FitResult } from '../fit/fit.js';
import { type UserTables, userWidths, withUsers } from '../fit/fold-in/user-tables.js';
import type { Model } from '../fit/model.js';
import { MAX_EDGES } from '../graph/build.js';
import { degrees } from '../graph/graph.js';
import { VertexIds } from '../graph/ids.js';
import type { EdgeRows } from '../math/csr.js';
import { allocate, allocateFrom } from '../math/memory.js';
import type { FittedShards } from './fitted-shards.js';
import { gatherRows } from './gather-shards.js';
import { type PartitionedData, readShard } from './partition-folder.js';

type UserOrder = Awaited<ReturnType<typeof orderUsers>>;

/** Reads the ids of one shard after the other. It holds all ids: 20 bytes each, and the texts. */
export async function orderUsers(
  sizes: readonly number[],
  read: (shard: number) => Promise<{ readonly ids: VertexIds; readonly degree: Uint32Array }>,
) {
  const count = sizes.reduce((sum, size) => sum + size, 0);
  let integers = true;
  const numbers = new Float64Array(count);
  const texts: string[] = [];
  const unordered = new Uint32Array(count);
  let at = 0;
  for (let s = 0; s < sizes.length; s++) {
    const { ids, degree } = await read(s);
    unordered.set(degree, at);
    if (ids.length > 0) integers &&= ids.kind === 'integer';
    for (let v = 0; v < ids.length; v++, at++) {
      if (ids.kind === 'integer') numbers[at] = (ids.values as Float64Array)[v];
      else texts[at] = ids.at(v);
    }
  }
  // If one shard has texts, all ids are texts.
  const text = (u: number) => texts[u] ?? String(numbers[u]);
  const order = Uint32Array.from({ length: count }, (_, u) => u);
  order.sort(integers ? (a, b) => numbers[a] - numbers[b] : (a, b) => (text(a) < text(b) ? -1 : 1));
  const positions = new Uint32Array(count);
  for (let v = 0; v < count; v++) positions[order[v]] = v;
  at = 0;
  return {
    ids: integers ? VertexIds.integers(numbers.sort()) : VertexIds.texts(Array.from(order, text)),
    degree: allocateFrom(order.map((u) => unordered[u])),
    /** For each shard, the position of each of its users in that order. */
    positions: sizes.map((size) => {
      at += size;
      return positions.subarray(at - size, at);
    }),
  };
}

/** The order of all users of a partition. `onShard` is called before each shard is read. */
export function orderPartition(
  partition: PartitionedData,
  onShard?: (shard: number) => void,
): Promise<UserOrder> {
  const sizes = partition.shards.map(({ users }) => users);
  return orderUsers(sizes, async (s) => {
    onShard?.(s);
    const shard = await readShard(partition, s);
    return { ids: shard.ids, degree: degrees(shard) };
  });
}

/** The whole model on rank 0; undefined on the other ranks, which send their shards. */
export async function gatherModel(
  partition: PartitionedData,
  communicator: Communicator,
  fitted: FittedShards,
): Promise<FitResult | undefined> {
  const { itemsModel, tablesOf, streamedShards: _, stateHash: __, close: ___, ...result } = fitted;
  const { shards } = partition;
  const shape = { widths: userWidths(itemsModel), double: false };
  const gathered = gatherRows(communicator, shards, shape, tablesOf);
  try {
    if (communicator.rank !== 0) return undefined;
    // Rank 0 reads each shard twice, first for the order and then for its edges, so that it holds one at a time.
    const builder = new ModelBuilder(itemsModel, partition, await orderPartition(partition));
    for (const s of shards.keys()) {
      builder.add(s, await readShard(partition, s), await gathered.next());
    }
    return { ...result, model: builder.finish() };
  } finally {
    await gathered.rest();
  }
}

/** Puts the users of one shard after the other into a whole model. */
export class ModelBuilder {
  readonly #tables: UserTables;
  readonly #seen: EdgeRows | undefined;

  constructor(
    readonly itemsModel: Model,
    { edges, multigraph }: { readonly edges: number; readonly multigraph: boolean },
    readonly order: UserOrder,
  ) {
    const { length: count } = order.ids;
    this.#tables = userWidths(itemsModel).map((width) => allocate(Float32Array, count * width));
    // A file holds no more edges; such a model may recommend items that a user has.
    if (edges >= MAX_EDGES) return;
    const offsets = allocate(Uint32Array, count + 1);
    for (let v = 0; v < count; v++) offsets[v + 1] = offsets[v] + order.degree[v];
    const counts = multigraph ? allocate(Uint32Array, edges) : undefined;
    this.#seen = { offsets, neighbors: allocate(Uint32Array, edges), counts };
  }

  add(s: number, shard: EdgeRows, tables: UserTables): void {
    const positions = this.order.positions[s];
    for (const [t, table] of this.#tables.entries()) {
      const width = positions.length === 0 ? 0 : tables[t].length / positions.length;
      for (let row = 0; row < positions.length; row++) {
        table.set(tables[t].subarray(row * width, (row + 1) * width), positions[row] * width);
      }
    }
    const seen = this.#seen;
    if (!seen) return;
    for (let row = 0; row < positions.length; row++) {
      const [first, last] = [shard.offsets[row], shard.offsets[row + 1]];
      const at = seen.offsets[positions[row]];
      seen.neighbors.set(shard.neighbors.subarray(first, last), at);
      seen.counts?.set(shard.counts!.subarray(first, last), at);
    }
  }

  finish(): Model {
    const { ids, degree } = this.order;
    const users = Object.freeze({ count: ids.length, ids, degree });
    return withUsers(withoutMass(this.itemsModel), users, this.#tables, this.#seen);
  }
}

/** A model that has all of its users needs no separate mass of them. */
function withoutMass(model: Model): Model {
  if (model.type !== 'posterior') return model;
  const { mass: _, ...users } = model.users;
  return { ...model, users };
}
