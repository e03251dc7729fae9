// The model of a fit over shards: what all ranks know of it, and its users shard by shard. Put together, the users are in the
// order of their ids, as if the data had been in one piece.

import type { Communicator } from '../comm/communicator.js';
import { TABLE_FIELDS, type TableTotals, type TableValues } from '../engine/engine.js';
import { matchesTau } from '../fit/ascent/hyper.js';
import type { FitOrigin, LoopState } from '../fit/ascent/loop.js';
import type { FitResult } from '../fit/fit.js';
import { type UserTables, userWidths, withUsers } from '../fit/fold-in/user-tables.js';
import type { Model, PosteriorModel } from '../fit/model.js';
import type { FitSettings } from '../fit/options.js';
import { MAX_EDGES } from '../graph/build.js';
import { addHashes, NO_HASH } from '../graph/fingerprint.js';
import { type BySide, degrees, type GraphSide } from '../graph/graph.js';
import { VertexIds } from '../graph/ids.js';
import { allocate } from '../math/memory.js';
import { stateOf, usersState } from '../store/model-state.js';
import { VERSION } from '../version.js';
import { gatherRows, shardsOfRank } from './gather-shards.js';
import { type Places, placesOf } from './order.js';
import { type PartitionedData, readShard } from './partition-folder.js';
import type { OwnRows } from './rank-shards.js';

/** What a rank has when a fit is over, whatever its method. */
export interface FittedShards extends Omit<FitResult, 'model'> {
  /** The model without its users, the same on every rank. */
  readonly head: Model;
  /** The tables of the users of each shard that this rank has, until `close`. */
  readonly tablesOf: (part: number) => Promise<UserTables>;
  /** Shards that were read in turn. */
  readonly inTurn: number;
  /** As of the model in one piece, the same wherever the bits are. */
  readonly hash: string;
  /** Lets go of what waits on disk. */
  close(): Promise<void>;
}

interface Ascended {
  readonly settings: FitSettings;
  readonly origin: FitOrigin;
  readonly state: LoopState;
  readonly bound: number | undefined;
  readonly items: TableValues;
  readonly totals: BySide<TableTotals>;
  readonly converged: boolean;
}

/** A posterior without its users. */
export function posteriorHead(parts: PartitionedData, fitted: Ascended): PosteriorModel {
  const { settings, state, totals } = fitted;
  const side = (of: 'users' | 'items', [weightShape, weightRate, featureShape, featureRate]: UserTables) => ({
    ...{ weightShape, weightRate, featureShape, featureRate },
    unseenMass: totals[of].unseenMass,
    hyper: state.hyper[of],
    ...(matchesTau(settings, state.hyper, of) && { tauMatched: true as const }),
  });
  const none = () => new Float32Array(0);
  const nobody = { count: 0, ids: VertexIds.texts([]), degree: new Uint32Array(0) };
  return Object.freeze({
    type: 'posterior',
    kind: settings.model,
    features: settings.features,
    multigraph: parts.multigraph,
    ...(parts.names && { names: parts.names }),
    users: Object.freeze({
      ...nobody,
      ...side('users', [none(), none(), none(), none()]),
      mass: totals.users.mass,
    }),
    items: Object.freeze({ ...itemVertices(parts), ...side('items', singles(fitted.items)) }),
    bound: fitted.bound,
    provenance: Object.freeze({
      version: VERSION,
      seed: settings.seed,
      ...fitted.origin,
      bounds: state.bounds,
      iterations: state.iteration,
      converged: fitted.converged,
    }),
  });
}

export function itemVertices({ items, itemIds, itemDegree }: PartitionedData) {
  return { count: items, ids: itemIds, degree: itemDegree };
}

/** A table as a model has it. */
export function singles(table: TableValues): Float32Array[] {
  return TABLE_FIELDS.map((field) => {
    const values = table[field];
    return values instanceof Float32Array ? values : Float32Array.from(values);
  });
}

/** The state of the whole model, on every rank. */
export async function stateOfAll(
  parts: PartitionedData,
  communicator: Communicator,
  { head, tablesOf }: Pick<FittedShards, 'head' | 'tablesOf'>,
  own: OwnRows | undefined,
): Promise<string> {
  const { first, last } = shardsOfRank(parts.shards.length, communicator.size, communicator.rank);
  let users = NO_HASH;
  for (let p = 0; p < last - first; p++) {
    const ids = own ? idsWithin(own, p) : (await readShard(parts, first + p)).ids;
    users = addHashes(users, usersState(ids, await tablesOf(p)));
  }
  // Whole numbers: their sum is exact, and its last 32 bits are those of the sum.
  const sums = Float64Array.of(users.low, users.high);
  await communicator.sum(sums);
  return stateOf(head, { low: sums[0] | 0, high: sums[1] | 0 });
}

function idsWithin({ users, bounds }: OwnRows, p: number): VertexIds {
  const { values } = users.ids;
  return values instanceof Float64Array
    ? VertexIds.integers(values.subarray(bounds[p], bounds[p + 1]))
    : VertexIds.texts(values.slice(bounds[p], bounds[p + 1]));
}

/** The result of a fit in one piece, on rank 0; undefined on the others, which give it what they have. */
export async function gatherModel(
  parts: PartitionedData,
  communicator: Communicator,
  fitted: FittedShards,
): Promise<FitResult | undefined> {
  const rows = parts.shards.map(({ users }) => users);
  // Rank 0 reads each shard twice, for the order of all and then for what is in it, so that it holds one at a time.
  const place = communicator.rank === 0 ? await placesOf(rows, (s) => readVertices(parts, s)) : undefined;
  const widths = userWidths(fitted.head);
  const whole = place && emptyUsers(parts, place, widths);
  await gatherRows(communicator, rows, { widths, double: false }, fitted.tablesOf, async (s, tables) =>
    putShard(whole!, place!.of[s], await readShard(parts, s), tables),
  );
  const { head, tablesOf: _, inTurn: __, hash: ___, close: ____, ...result } = fitted;
  return whole && { ...result, model: modelWith(head, whole) };
}

async function readVertices(parts: PartitionedData, s: number) {
  const shard = await readShard(parts, s);
  return { ids: shard.ids, degree: degrees(shard) };
}

/** The users of all shards in one piece. */
export type WholeUsers = ReturnType<typeof emptyUsers>;

/** Room for the users of all shards and their edges. */
export function emptyUsers(
  { edges, multigraph }: Pick<PartitionedData, 'edges' | 'multigraph'>,
  { ids, degree }: Places,
  widths: readonly number[],
) {
  const count = ids.length;
  const users = { count, ids, degree };
  const tables = widths.map((width) => allocate(Float32Array, count * width));
  // A file holds no more; such a model recommends also what a user has.
  if (edges >= MAX_EDGES) return { users, tables, seen: undefined };
  const offsets = allocate(Uint32Array, count + 1);
  for (let v = 0; v < count; v++) offsets[v + 1] = offsets[v] + degree[v];
  const neighbors = allocate(Uint32Array, edges);
  return {
    users,
    tables,
    seen: { offsets, neighbors, counts: multigraph ? allocate(Uint32Array, edges) : undefined },
  };
}

export function putShard(
  { tables, seen }: WholeUsers,
  places: Uint32Array,
  shard: Pick<GraphSide, 'offsets' | 'neighbors' | 'counts'>,
  own: UserTables,
): void {
  for (const [t, table] of tables.entries()) {
    const width = places.length === 0 ? 0 : own[t].length / places.length;
    for (let row = 0; row < places.length; row++) {
      table.set(own[t].subarray(row * width, (row + 1) * width), places[row] * width);
    }
  }
  if (!seen) return;
  for (let row = 0; row < places.length; row++) {
    const [first, last] = [shard.offsets[row], shard.offsets[row + 1]];
    const at = seen.offsets[places[row]];
    seen.neighbors.set(shard.neighbors.subarray(first, last), at);
    if (seen.counts) seen.counts.set(shard.counts!.subarray(first, last), at);
  }
}

export function modelWith(head: Model, { users, tables, seen }: WholeUsers): Model {
  return withUsers(withoutMass(head), Object.freeze(users), tables, seen);
}

/** A model with all of its users has their mass in them. */
function withoutMass(head: Model): Model {
  if (head.type !== 'posterior') return head;
  const { mass: _, ...users } = head.users;
  return { ...head, users };
}
