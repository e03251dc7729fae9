// A model by shard is a folder, so that no process needs memory for all users. head.safetensors holds the items and everything
// else of the whole model; each users-NNNN.safetensors holds the users of one shard. A user's shard follows from the id. The
// head with the users of one shard is an ordinary model of these users.

import { join } from 'node:path';
import { z } from 'zod';
import type { Communicator } from '../comm/communicator.js';
import { finishFolder } from '../files/folder.js';
import { isFile } from '../files/plain-file.js';
import { sideMass } from '../fit/fold-in/fold-in.js';
import { userTables, userWidths, withUsers } from '../fit/fold-in/user-tables.js';
import type { Model, PosteriorModel } from '../fit/model.js';
import { describeSidesFrom, type SidesReport } from '../fit/sides/side-prior.js';
import { metMass, sideFacts } from '../fit/sides/size-posterior.js';
import { degrees, type GraphSide } from '../graph/graph.js';
import { MODEL_FILE } from '../options/commands/merge.js';
import { modelOf, modelTensors } from '../store/model-bytes.js';
import { itemsState } from '../store/model-state.js';
import { readTensors, writeTensorsTo } from '../store/safetensors.js';
import { checkFile, FINITE, NOT_NEGATIVE, putInto, TensorReader } from '../store/tensor-reader.js';
import type { Tensor, TensorFile } from '../store/tensors.js';
import { getSeen, getVertices, putSeen, putVertices } from '../store/vertex-tensors.js';
import type { FittedShards } from './fitted-shards.js';
import { ModelBuilder, orderUsers } from './gather-model.js';
import { usersFile, usersFiles, writeGathered } from './gather-shards.js';
import { MOST_SHARDS, type PartitionedData, readShard } from './partition-folder.js';
import { shardOfBytes } from './user-shards.js';

const FORMAT = 'graphex-model-parts';
const FOLDER = { name: 'model', remedy: 'copy the folder again or fit again' } as const;
const EXPECTED = { version: 2, oldest: 1, what: 'model by shard', again: 'fit' } as const;

const MASS = 'users.mass';

export function modelFiles(shards: number): string[] {
  return [MODEL_FILE, ...usersFiles(shards)];
}

const whole = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER);
const shardsSchema = z
  .array(z.object({ users: whole, edges: whole, hash: z.string().regex(/^[0-9a-f]{16}$/) }))
  .min(1)
  .max(MOST_SHARDS);

export type ModelShards = Awaited<ReturnType<typeof openModelShards>>;

/** Whether the path is a folder with a model by shard. */
export function isModelFolder(path: string): Promise<boolean> {
  return isFile(join(path, MODEL_FILE));
}

/**
 * Saves a fitted model by shard. Every rank calls it, rank 0 writes; all files appear, or none. For a posterior, rank 0 gets
 * the report on both sides, added up over the shards as they are written.
 */
export async function saveModelShards(
  folder: string,
  partition: PartitionedData,
  communicator: Communicator,
  { itemsModel, tablesOf }: FittedShards,
  force: boolean | undefined,
): Promise<SidesReport | undefined> {
  const sums = itemsModel.type === 'posterior' ? new UserSums(itemsModel) : undefined;
  const state = itemsState(itemsModel);
  await writeGathered<Float32Array>(
    communicator,
    folder,
    { [MODEL_FILE]: (path) => writeTensorsTo(path, itemsTensors(itemsModel, partition)) },
    partition.shards,
    { widths: userWidths(itemsModel), double: false },
    tablesOf,
    async (path, s, tables) => {
      const { hash } = partition.shards[s];
      const side = await readShard(partition, s);
      sums?.add(side, tables);
      await writeTensorsTo(path, usersTensors(side, tables, { hash, state }));
    },
    { force, obsolete: /^users-\d{4,}\.safetensors$/ },
  );
  return communicator.rank === 0 ? sums?.report(partition) : undefined;
}

/** What the report on both sides needs of all users, from one shard after the other. */
class UserSums {
  readonly #mass: Float64Array;
  #sum = 0;
  #edges = 0;

  constructor(readonly itemsModel: PosteriorModel) {
    this.#mass = Float64Array.from(itemsModel.users.unseenMass);
  }

  add(side: GraphSide, tables: readonly Float32Array[]): void {
    const { features } = this.itemsModel;
    const vertices = { count: side.count, ids: side.ids, degree: degrees(side) };
    const { users } = withUsers(this.itemsModel, vertices, tables, undefined) as PosteriorModel;
    const mass = sideMass({ ...users, unseenMass: new Float64Array(features) }, features);
    for (let k = 0; k < features; k++) this.#mass[k] += mass[k];
    const { sum, edges } = metMass(users, features);
    this.#sum += sum;
    this.#edges += edges;
  }

  report({ users: count, degrees: counts }: PartitionedData): SidesReport {
    const users = { count, degrees: counts.users, mass: this.#mass, met: this.#sum / this.#edges };
    return describeSidesFrom(this.itemsModel, { users, items: sideFacts(this.itemsModel, 'items') });
  }
}

function itemsTensors(model: Model, { shards }: Pick<PartitionedData, 'shards'>): TensorFile {
  const { tensors, metadata } = modelTensors(model, model.type === 'ranker' ? { users: 'none' } : {});
  const all = new Map(tensors);
  const mass = model.type === 'posterior' ? model.users.mass : undefined;
  if (mass) putInto(all, '')(MASS, mass);
  const described = shards.map(({ users, edges, hash }) => ({ users, edges, hash }));
  return {
    tensors: all,
    metadata: {
      ...metadata,
      format: FORMAT,
      format_version: String(EXPECTED.version),
      shards: JSON.stringify(described),
    },
  };
}

function usersTensors(
  side: GraphSide,
  tables: readonly Float32Array[],
  { hash, state }: { readonly hash: string; readonly state: string },
): TensorFile {
  const tensors = new Map<string, Tensor>();
  const put = putInto(tensors, 'users.');
  putVertices(put, { count: side.count, ids: side.ids, degree: degrees(side) });
  putSeen(tensors, side);
  for (const [t, table] of tables.entries()) {
    put(`tables.${t}`, table, [side.count, side.count === 0 ? 0 : table.length / side.count]);
  }
  return {
    tensors,
    metadata: { format: `${FORMAT}-users`, format_version: String(EXPECTED.version), hash, model: state },
  };
}

/** Reads everything but the users. */
export async function openModelShards(folder: string) {
  await finishFolder(folder, modelFiles(MOST_SHARDS));
  const path = join(folder, MODEL_FILE);
  const file = await readTensors(path, { ...EXPECTED, format: FORMAT });
  const { model } = modelOf(path, file, true);
  return checkFile(path, FOLDER, () => {
    const itemsModel = withMass(model, new TensorReader(file.tensors));
    const shards = shardsSchema.parse(JSON.parse(file.metadata.shards ?? 'null'));
    const sum = (of: 'users' | 'edges') => shards.reduce((total, shard) => total + shard[of], 0);
    /** The hash by which the files of the users name their model. */
    const state = itemsState(itemsModel);
    return { folder, itemsModel, shards, users: sum('users'), edges: sum('edges'), state };
  });
}

function withMass(model: Model, read: TensorReader): Model {
  if (model.type !== 'posterior') return model;
  const mass = read.numbers(MASS, Float64Array, model.features, NOT_NEGATIVE);
  return Object.freeze({ ...model, users: Object.freeze({ ...model.users, mass }) });
}

export async function readModelShard(
  { folder, itemsModel, shards, state }: ModelShards,
  s: number,
): Promise<Model> {
  const path = join(folder, usersFile(s));
  const { tensors, metadata } = await readTensors(path, { ...EXPECTED, format: `${FORMAT}-users` });
  return checkFile(path, FOLDER, () => {
    const expected = shards[s];
    if (metadata.hash !== expected.hash || metadata.model !== state) {
      throw new Error('it belongs to another model');
    }
    const read = new TensorReader(tensors);
    const vertices = getVertices(read, 'users.');
    if (vertices.count !== expected.users) {
      throw new Error(`it has ${vertices.count} users instead of ${expected.users}`);
    }
    const tables = userWidths(itemsModel).map((width, t) =>
      read.numbers(`users.tables.${t}`, Float32Array, width * vertices.count, FINITE),
    );
    const seen = getSeen(read, vertices, itemsModel.items, true);
    if (seen?.neighbors.length !== expected.edges) {
      throw new Error(`it has ${seen?.neighbors.length ?? 0} edges instead of ${expected.edges}`);
    }
    return withUsers(itemsModel, vertices, tables, seen);
  });
}

/** The shard that a user of this id is in, if there is such a user. */
export function shardOfUser({ shards }: ModelShards, id: string | number): number {
  return shardOfBytes(new TextEncoder().encode(String(id)), shards.length);
}

/** The whole model in memory, with the users in the order of their ids. */
export async function mergeModel(
  model: ModelShards,
  onShard: (done: number, total: number) => void = () => {},
): Promise<Model> {
  const { itemsModel, shards, edges } = model;
  const total = 2 * shards.length;
  const order = await orderUsers(
    shards.map(({ users }) => users),
    async (s) => {
      onShard(s, total);
      return (await readModelShard(model, s)).users;
    },
  );
  const builder = new ModelBuilder(itemsModel, { edges, multigraph: itemsModel.multigraph }, order);
  for (let s = 0; s < shards.length; s++) {
    onShard(shards.length + s, total);
    const shard = await readModelShard(model, s);
    builder.add(s, shard.seen!, userTables(shard));
  }
  return builder.finish();
}
