// A fitted model as one safetensors file: users.* and items.* hold shapes, rates, leftover masses, degrees and ids;
// users.neighbors (and users.counts) the items each user has, one user after the other; the metadata says how it came
// about. Member models of an averaged one stand under members.N.*; a fit that can be resumed
// adds checkpoint.*.

import { z } from 'zod';
import type { TableTotals, TableValues } from '../engine/engine.js';
import { InputError } from '../errors.js';
import type { Checkpoint, LoopState } from '../fit/loop.js';
import { type Model, type ModelSide, memberModels, type SeenItems } from '../fit/model.js';
import { SIDES, type SideName } from '../graph/graph.js';
import { VertexIds } from '../graph/ids.js';
import { readTensors, type Tensor, type TensorData, writeTensors } from './safetensors.js';

const FORMAT = { format: 'graphex-model', version: 1 };

const hyperSchema = z.object({
  sigma: z.number(),
  tau: z.number(),
  shape: z.number(),
  rate: z.number(),
  size: z.number(),
});
const boundsSchema = z.array(z.tuple([z.number(), z.number()]));
const headSchema = z.object({
  kind: z.enum(['sparse', 'dense']),
  objective: z.enum(['evidence', 'ranking']),
  features: z.number().int().min(1),
  multigraph: z.boolean(),
  bound: z.number().nullable(),
  hyper: z.object({ users: hyperSchema, items: hyperSchema }),
  version: z.string(),
  engine: z.string(),
  seed: z.number(),
  fingerprint: z.string(),
  options: z.record(z.string(), z.unknown()),
  bounds: boundsSchema,
  iterations: z.number(),
  converged: z.boolean(),
  seconds: z.number(),
  evidence: z.object({ sparse: z.number(), dense: z.number(), difference: z.number() }).optional(),
});
const stateSchema = z.object({
  iteration: z.number(),
  warmSweeps: z.number().optional(),
  bounds: boundsSchema,
  likelihood: z.number().optional(),
  relaxation: z.number(),
  hyper: headSchema.shape.hyper,
  seed: z.number().optional(),
});

export interface ModelFile {
  readonly model: Model;
  /** Where the fit stopped; absent in a model that was saved without it. */
  readonly checkpoint: Checkpoint | undefined;
}

/** Saves a model, and with a checkpoint all that a fit needs to go on to the same numbers. */
export async function saveModel(path: string, model: Model, checkpoint?: Checkpoint): Promise<void> {
  const tensors = new Map<string, Tensor>();
  const metadata: Record<string, string> = {
    format: FORMAT.format,
    format_version: String(FORMAT.version),
    ...headOf(model),
  };
  putModel(tensors, '', model);
  if (model.seen) putSeen(tensors, model.seen);
  if (model.members) {
    metadata.members = JSON.stringify(model.members.map(headOf));
    for (const [m, member] of model.members.entries()) putModel(tensors, `members.${m}.`, member);
  }
  if (checkpoint) {
    const { state, ranking } = checkpoint;
    metadata.checkpoint = JSON.stringify({ ...state, ...(ranking && { seed: ranking.seed }) });
    const stopped = memberModels(model).at(-1)!;
    for (const side of SIDES) putCheckpoint(tensors, side, stopped[side], checkpoint);
    if (ranking) {
      const shape = [ranking.foldMass.length / model.features, model.features];
      tensors.set('checkpoint.fold_mass', { shape, data: ranking.foldMass });
    }
  }
  await writeTensors(path, { tensors, metadata });
}

/** Loads a model. A truncated, changed, foreign or future file is refused with a sentence. */
export async function loadModel(path: string): Promise<Model> {
  return (await loadModelFile(path)).model;
}

/** Loads a model together with its checkpoint. */
export async function loadModelFile(path: string): Promise<ModelFile> {
  const { tensors, metadata } = await readTensors(path, FORMAT);
  try {
    const read = new TensorReader(tensors);
    const main = getModel(read, '', metadata);
    const heads =
      metadata.members === undefined ? undefined : (JSON.parse(metadata.members) as Record<string, string>[]);
    const members = heads?.map((head, m) => getModel(read, `members.${m}.`, head));
    const seen = getSeen(read, main);
    const model: Model = Object.freeze({
      ...main,
      ...(seen === undefined ? {} : { seen }),
      ...(members === undefined ? {} : { members: Object.freeze(members) }),
    });
    return { model, checkpoint: getCheckpoint(read, model, metadata.checkpoint) };
  } catch (cause) {
    // The checksum held, so the file is as it was written, but not by a graphex that this one understands.
    const what =
      cause instanceof z.ZodError ? z.prettifyError(cause).split('\n')[0] : (cause as Error).message;
    throw new InputError(`${path}: the model file does not hold what a model needs (${what}); fit again`);
  }
}

/** The metadata of one model; numbers and lists as JSON, so that other readers see plain values. */
function headOf(model: Model): Record<string, string> {
  const { kind, objective, features, multigraph, users, items, provenance } = model;
  const hyper = { users: users.hyper, items: items.hyper };
  const head = { kind, objective, features, multigraph, hyper, bound: model.bound ?? null, ...provenance };
  return Object.fromEntries(
    Object.entries(head).map(([key, value]) => [
      key,
      typeof value === 'string' ? value : JSON.stringify(value),
    ]),
  );
}

const TEXT_KEYS = new Set(['kind', 'objective', 'version', 'engine', 'fingerprint']);

function parseHead(metadata: Readonly<Record<string, string>>): z.infer<typeof headSchema> {
  const values: Record<string, unknown> = {};
  for (const key of Object.keys(headSchema.shape)) {
    const text = metadata[key];
    if (text !== undefined) values[key] = TEXT_KEYS.has(key) ? text : JSON.parse(text);
  }
  return headSchema.parse(values);
}

function putModel(tensors: Map<string, Tensor>, prefix: string, model: Model): void {
  for (const name of SIDES) {
    const side = model[name];
    const put = (what: string, data: TensorData, shape: readonly number[] = [data.length]) =>
      tensors.set(`${prefix}${name}.${what}`, { shape, data });
    putTable(put, side, side.count, model.features);
    put('leftover', side.leftover);
    // The same bits; signed, since not every reader of the format knows unsigned numbers.
    put('degree', new Int32Array(side.degree.buffer, side.degree.byteOffset, side.degree.length));
    putIds(put, side.ids);
  }
}

/** Where each user's items begin follows from the degrees. */
function putSeen(tensors: Map<string, Tensor>, { neighbors, counts }: SeenItems): void {
  const put = (name: string, data: Uint32Array) =>
    tensors.set(`users.${name}`, {
      shape: [data.length],
      data: new Int32Array(data.buffer, data.byteOffset, data.length),
    });
  put('neighbors', neighbors);
  if (counts) put('counts', counts);
}

function getSeen(read: TensorReader, { users, items }: Model): SeenItems | undefined {
  if (!read.has('users.neighbors')) return undefined;
  const offsets = new Uint32Array(users.count + 1);
  for (let u = 0; u < users.count; u++) offsets[u + 1] = offsets[u] + users.degree[u];
  const get = (name: string) => new Uint32Array(read.get(name, Int32Array, offsets[users.count]).buffer);
  const neighbors = get('users.neighbors');
  if (neighbors.some((item) => item >= items.count))
    throw new Error('users.neighbors names items that are not there');
  return Object.freeze({
    offsets,
    neighbors,
    counts: read.has('users.counts') ? get('users.counts') : undefined,
  });
}

type Put = (what: string, data: TensorData, shape?: readonly number[]) => void;

function putTable(put: Put, table: TableValues, rows: number, features: number): void {
  put('weight_shape', table.weightShape);
  put('weight_rate', table.weightRate);
  put('feature_shape', table.featureShape, [rows, features]);
  put('feature_rate', table.featureRate, [rows, features]);
}

function putIds(put: Put, ids: VertexIds): void {
  const { values } = ids;
  if (values instanceof Float64Array) {
    put('ids', BigInt64Array.from(values, BigInt));
    return;
  }
  // Texts: their UTF-8 bytes one after the other, and where each ends.
  const encoded = values.map((id) => Buffer.from(id));
  const ends = new BigInt64Array(encoded.length);
  let end = 0;
  for (const [v, bytes] of encoded.entries()) ends[v] = BigInt((end += bytes.length));
  put('id_ends', ends);
  put('id_text', Buffer.concat(encoded));
}

function getModel(read: TensorReader, prefix: string, metadata: Readonly<Record<string, string>>): Model {
  const head = parseHead(metadata);
  const { version, engine, seed, fingerprint, options, bounds, iterations, converged, seconds, evidence } =
    head;
  return Object.freeze({
    kind: head.kind,
    objective: head.objective,
    features: head.features,
    multigraph: head.multigraph,
    users: getSide(read, `${prefix}users.`, head, 'users'),
    items: getSide(read, `${prefix}items.`, head, 'items'),
    bound: head.bound ?? undefined,
    provenance: Object.freeze({
      version,
      engine,
      seed,
      fingerprint,
      options,
      bounds,
      iterations,
      converged,
      seconds,
      ...(evidence ? { evidence } : {}),
    }),
  });
}

function getSide(
  read: TensorReader,
  prefix: string,
  head: z.infer<typeof headSchema>,
  name: SideName,
): ModelSide {
  const ids = getIds(read, prefix);
  const degree = read.get(`${prefix}degree`, Int32Array, ids.length);
  return Object.freeze({
    count: ids.length,
    ids,
    ...getTable(read, prefix, Float32Array, ids.length, head.features),
    leftover: read.get(`${prefix}leftover`, Float64Array, head.features),
    hyper: Object.freeze(head.hyper[name]),
    degree: new Uint32Array(degree.buffer),
  });
}

function getTable<T extends Float32Array | Float64Array>(
  read: TensorReader,
  prefix: string,
  type: new (buffer: ArrayBufferLike) => T,
  rows: number,
  features: number,
): { weightShape: T; weightRate: T; featureShape: T; featureRate: T } {
  // A Gamma has a finite shape of at least 0 and a finite rate above 0; anything else would come out as NaN.
  const get = (name: string, length: number, ok: (value: number) => boolean) => {
    const values = read.get(prefix + name, type, length);
    const bad = values.findIndex((value) => !(ok(value) && value < Infinity));
    if (bad >= 0) throw new Error(`tensor ${prefix}${name} holds ${values[bad]}`);
    return values;
  };
  const isShape = (value: number) => value >= 0;
  const isRate = (value: number) => value > 0;
  return {
    weightShape: get('weight_shape', rows, isShape),
    weightRate: get('weight_rate', rows, isRate),
    featureShape: get('feature_shape', rows * features, isShape),
    featureRate: get('feature_rate', rows * features, isRate),
  };
}

function getIds(read: TensorReader, prefix: string): VertexIds {
  if (read.has(`${prefix}ids`)) {
    return VertexIds.integers(Float64Array.from(read.get(`${prefix}ids`, BigInt64Array), Number));
  }
  const text = Buffer.from(read.get(`${prefix}id_text`, Uint8Array));
  let start = 0;
  const texts = Array.from(read.get(`${prefix}id_ends`, BigInt64Array), (end) =>
    text.toString('utf8', start, (start = Number(end))),
  );
  return VertexIds.texts(texts);
}

/** Tables that the model already holds bit for bit are not stored twice. */
function putCheckpoint(
  tensors: Map<string, Tensor>,
  name: SideName,
  side: ModelSide,
  { tables, totals }: Checkpoint,
): void {
  const put = (what: string, data: TensorData, shape: readonly number[] = [data.length]) =>
    tensors.set(`checkpoint.${name}.${what}`, { shape, data });
  const table = tables[name];
  if (table.weightShape instanceof Float64Array) {
    putTable(put, table, side.count, side.count === 0 ? 0 : table.featureShape.length / side.count);
  }
  put('mass', totals[name].mass);
  put('leftover', totals[name].leftover);
  put('leftover_at', totals[name].leftoverAt);
}

function getCheckpoint(read: TensorReader, model: Model, state: string | undefined): Checkpoint | undefined {
  if (state === undefined) return undefined;
  const { warmSweeps, likelihood, seed, ...rest } = stateSchema.parse(JSON.parse(state));
  const loopState: LoopState = { ...rest, warmSweeps, likelihood };
  // Of several fits for ranking the last is the one that was stopped.
  const fits = memberModels(model);
  const stopped = fits.at(-1)!;
  const table = (name: SideName): TableValues => {
    const prefix = `checkpoint.${name}.`;
    const { count } = stopped[name];
    return read.has(`${prefix}weight_shape`)
      ? getTable(read, prefix, Float64Array, count, model.features)
      : stopped[name];
  };
  const total = (name: SideName): TableTotals => ({
    mass: read.get(`checkpoint.${name}.mass`, Float64Array, model.features),
    leftover: read.get(`checkpoint.${name}.leftover`, Float64Array, model.features),
    leftoverAt: read.get(`checkpoint.${name}.leftover_at`, Float64Array, model.features),
  });
  return {
    state: loopState,
    tables: { users: table('users'), items: table('items') },
    totals: { users: total('users'), items: total('items') },
    ...(seed !== undefined && {
      ranking: { seed, done: fits.slice(0, -1), foldMass: getFoldMass(read, model.features) },
    }),
  };
}

function getFoldMass(read: TensorReader, features: number): Float64Array {
  const mass = read.get('checkpoint.fold_mass', Float64Array);
  if (mass.length === 0 || mass.length % features !== 0) {
    throw new Error(`tensor checkpoint.fold_mass has ${mass.length} values`);
  }
  const bad = mass.findIndex((value) => !(value >= 0 && value < Infinity));
  if (bad >= 0) throw new Error(`tensor checkpoint.fold_mass holds ${mass[bad]}`);
  return mass;
}

/** Takes tensors by name, type and length; anything else is an error. */
class TensorReader {
  constructor(readonly tensors: ReadonlyMap<string, Tensor>) {}

  has(name: string): boolean {
    return this.tensors.has(name);
  }

  get<T extends TensorData>(name: string, type: new (buffer: ArrayBufferLike) => T, length?: number): T {
    const data = this.tensors.get(name)?.data;
    if (!(data instanceof type)) throw new Error(`tensor ${name} is missing or of another type`);
    if (length !== undefined && data.length !== length) {
      throw new Error(`tensor ${name} has ${data.length} values instead of ${length}`);
    }
    return data;
  }
}
