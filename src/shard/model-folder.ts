// A model in a folder: items and all that is of the whole model once, in head.safetensors, and the users by shard in
// users-NNNN.safetensors, so that nobody need hold all users at once. A user's shard follows from the id. With the users of
// one shard it is an ordinary model of these users.

import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { Communicator } from '../comm/communicator.js';
import { InputError } from '../errors.js';
import { finishFolder } from '../files/folder.js';
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
import { FINITE, NOT_NEGATIVE, putInto, TensorReader } from '../store/tensor-reader.js';
import type { Tensor, TensorFile } from '../store/tensors.js';
import { getSeen, getVertices, putSeen, putVertices } from '../store/vertex-tensors.js';
import { documentProblem } from '../text/documents.js';
import { emptyUsers, type FittedShards, modelWith, putShard } from './gather-model.js';
import { gatherRows, writeGathered } from './gather-shards.js';
import { placesOf } from './order.js';
import { MOST_SHARDS, type PartitionedData, readShard } from './partition-folder.js';
import { shardOfBytes } from './user-shards.js';

const FORMAT = 'graphex-model-parts';
const EXPECTED = { version: 1, what: 'model by shard', command: 'fit' } as const;

const MASS = 'users.mass';

const usersFile = (shard: number) => `users-${String(shard).padStart(4, '0')}.safetensors`;

/** The names of all files of a model with so many shards. */
export function modelFiles(shards: number): string[] {
  return [MODEL_FILE, ...Array.from({ length: shards }, (_, s) => usersFile(s))];
}

const whole = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER);
const shardsSchema = z
  .array(z.object({ users: whole, edges: whole, hash: z.string().regex(/^[0-9a-f]{16}$/) }))
  .min(1)
  .max(MOST_SHARDS);

/** A model by shard that was opened. */
export interface ModelShards {
  readonly folder: string;
  /** The model without its users. */
  readonly head: Model;
  readonly shards: z.infer<typeof shardsSchema>;
  /** Users of all shards. */
  readonly users: number;
  readonly edges: number;
  /** What the files of the users must say that they belong to. */
  readonly state: string;
}

/** Whether the path is a folder with a model by shard. */
export async function isModelFolder(path: string): Promise<boolean> {
  const found = await stat(join(path, MODEL_FILE)).catch(() => undefined);
  return found?.isFile() ?? false;
}

/**
 * Writes the model of a fit over shards by shard: called by every rank, written by rank 0, all of it or nothing. Rank 0 gets
 * the law of a posterior, added up over the shards as they are written.
 */
export async function saveModelShards(
  folder: string,
  parts: PartitionedData,
  communicator: Communicator,
  { head, tablesOf }: FittedShards,
  force: boolean | undefined,
): Promise<SidesReport | undefined> {
  const sums = head.type === 'posterior' ? new UserSums(head) : undefined;
  const rows = parts.shards.map(({ users }) => users);
  const shape = { widths: userWidths(head), double: false };
  const state = itemsState(head);
  await writeGathered<readonly Float32Array[]>(
    communicator,
    folder,
    {
      first: { [MODEL_FILE]: (path) => writeTensorsTo(path, headTensors(head, parts)) },
      shards: rows.map((_, s) => usersFile(s)),
    },
    (take) => gatherRows(communicator, rows, shape, tablesOf, take),
    async (path, s, tables) => {
      const { hash } = parts.shards[s];
      const side = await readShard(parts, s);
      sums?.add(side, tables);
      await writeTensorsTo(path, usersTensors(side, tables, { hash, state }));
    },
    { force, obsolete: /^users-\d{4,}\.safetensors$/ },
  );
  return communicator.rank === 0 ? sums?.describe(parts) : undefined;
}

/** What the law says of all users, from those of one shard after the other. */
class UserSums {
  readonly #mass: Float64Array;
  #sum = 0;
  #edges = 0;

  constructor(readonly head: PosteriorModel) {
    this.#mass = Float64Array.from(head.users.unseenMass);
  }

  add(side: GraphSide, tables: readonly Float32Array[]): void {
    const { features } = this.head;
    const vertices = { count: side.count, ids: side.ids, degree: degrees(side) };
    const { users } = withUsers(this.head, vertices, tables, undefined) as PosteriorModel;
    const own = sideMass({ ...users, unseenMass: new Float64Array(features) }, features);
    for (let k = 0; k < features; k++) this.#mass[k] += own[k];
    const { sum, edges } = metMass(users, features);
    this.#sum += sum;
    this.#edges += edges;
  }

  describe({ users, degrees: counts }: PartitionedData): SidesReport {
    const own = { count: users, degrees: counts.users, mass: this.#mass, met: this.#sum / this.#edges };
    return describeSidesFrom(this.head, { users: own, items: sideFacts(this.head, 'items') });
  }
}

function headTensors(head: Model, { shards }: Pick<PartitionedData, 'shards'>): TensorFile {
  const { tensors: own, metadata } = modelTensors(head, head.type === 'ranker' ? { users: 'none' } : {});
  const tensors = new Map(own);
  const mass = head.type === 'posterior' ? head.users.mass : undefined;
  if (mass) putInto(tensors, '')(MASS, mass);
  const said = shards.map(({ users, edges, hash }) => ({ users, edges, hash }));
  return {
    tensors,
    metadata: { ...metadata, format: FORMAT, format_version: '1', shards: JSON.stringify(said) },
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
  return { tensors, metadata: { format: `${FORMAT}-users`, format_version: '1', hash, model: state } };
}

/** Reads all but the users. */
export async function openModelShards(folder: string): Promise<ModelShards> {
  await finishFolder(folder, modelFiles(MOST_SHARDS));
  const path = join(folder, MODEL_FILE);
  const file = await readTensors(path, { ...EXPECTED, format: FORMAT });
  const { model } = modelOf(path, file, true);
  const head = inWords(path, () => withMass(model, new TensorReader(file.tensors)));
  const shards = inWords(path, () => shardsSchema.parse(JSON.parse(file.metadata.shards ?? 'null')));
  const sum = (of: 'users' | 'edges') => shards.reduce((total, shard) => total + shard[of], 0);
  return { folder, head, shards, users: sum('users'), edges: sum('edges'), state: itemsState(head) };
}

/** Models written before there was one have no mass of all users. */
function withMass(head: Model, read: TensorReader): Model {
  if (head.type !== 'posterior' || !read.has(MASS)) return head;
  const mass = read.numbers(MASS, Float64Array, head.features, NOT_NEGATIVE);
  return Object.freeze({ ...head, users: Object.freeze({ ...head.users, mass }) });
}

/** The model with the users of one shard alone. */
export async function readModelShard(
  { folder, head, shards, state }: ModelShards,
  s: number,
): Promise<Model> {
  const path = join(folder, usersFile(s));
  const { tensors, metadata } = await readTensors(path, { ...EXPECTED, format: `${FORMAT}-users` });
  return inWords(path, () => {
    const said = shards[s];
    if (metadata.hash !== said.hash || metadata.model !== state) throw new Error('it is of another model');
    const read = new TensorReader(tensors);
    const vertices = getVertices(read, 'users.');
    if (vertices.count !== said.users) {
      throw new Error(`it has ${vertices.count} users, where ${said.users} are expected`);
    }
    const tables = userWidths(head).map((width, t) =>
      read.numbers(`users.tables.${t}`, Float32Array, width * vertices.count, FINITE),
    );
    const seen = getSeen(read, vertices, head.items, true);
    if (seen?.neighbors.length !== said.edges) throw new Error(`it has other edges than ${said.edges}`);
    return withUsers(head, vertices, tables, seen);
  });
}

/** Which shard has the user, if any has. */
export function shardOfUser({ shards }: ModelShards, id: string | number): number {
  return shardOfBytes(new TextEncoder().encode(String(id)), shards.length);
}

/** The whole model in memory, users in the order of their ids. */
export async function mergeModel(
  parts: ModelShards,
  onShard: (done: number, total: number) => void = () => {},
): Promise<Model> {
  const { head, shards, edges } = parts;
  const sizes = shards.map(({ users }) => users);
  const total = 2 * shards.length;
  const places = await placesOf(sizes, async (s) => {
    onShard(s, total);
    return (await readModelShard(parts, s)).users;
  });
  const users = emptyUsers({ edges, multigraph: head.multigraph }, places, userWidths(head));
  for (let s = 0; s < shards.length; s++) {
    onShard(shards.length + s, total);
    const model = await readModelShard(parts, s);
    putShard(users, places.of[s], model.seen!, userTables(model));
  }
  return modelWith(head, users);
}

function inWords<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    if (cause instanceof InputError) throw cause;
    const what = documentProblem(cause) ?? (cause as Error).message;
    throw new InputError(
      `${path}: it does not fit the rest of the model (${what}); copy the folder again or fit again`,
    );
  }
}
