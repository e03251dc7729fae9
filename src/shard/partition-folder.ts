// A folder of shards: parts.json says what is in all of them together, items.safetensors holds the items, and each
// shard-NNNN.safetensors the users that were dealt to it, with their edges. Everything that is read is checked, and what
// does not belong together is refused: a folder may have been copied, mixed or made by somebody else.

import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { InputError } from '../errors.js';
import { finishFolder } from '../files/folder.js';
import { readError } from '../files/read-error.js';
import type { GraphSide } from '../graph/graph.js';
import type { VertexIds } from '../graph/ids.js';
import { allocate } from '../math/memory.js';
import { PARTITION, PARTITION_FILE } from '../options/commands/partition.js';
import { countDegrees, type DegreeCounts } from '../sparsity/degree-counts.js';
import { readTensors } from '../store/safetensors.js';
import { putIds, putInto, signed, TensorReader } from '../store/tensor-reader.js';
import type { Tensor, TensorFile } from '../store/tensors.js';
import { documentProblem } from '../text/documents.js';
import { readSideNames, type SideNames } from '../text/sides.js';

export const MOST_SHARDS = PARTITION.shards.max;
export const ITEMS_FILE = 'items.safetensors';
const MOST_BYTES = 1 << 26;
const FORMAT = 'graphex-parts';

/** The files of shards, of any partition. */
export const SHARD_FILE = /^shard-\d{4,}\.safetensors$/;

export function shardFile(shard: number): string {
  return `shard-${String(shard).padStart(4, '0')}.safetensors`;
}

/** The names of all files of so many shards. */
export function partitionFiles(shards: number): string[] {
  return [PARTITION_FILE, ITEMS_FILE, ...Array.from({ length: shards }, (_, s) => shardFile(s))];
}

const whole = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER);
const hash = z.string().regex(/^[0-9a-f]{16}$/);
/** [degree, vertices], ascending. */
const histogram = z.array(z.tuple([whole.min(1), whole.min(1)]));
const schema = z.object({
  format: z.literal(FORMAT),
  version: z.literal(1),
  multigraph: z.boolean(),
  names: z.unknown().optional(),
  users: whole.min(1),
  items: whole.min(1),
  edges: whole.min(1),
  total: whole.min(1),
  /** As of the graph in one piece. */
  fingerprint: hash,
  /** Of the items alone. */
  itemsHash: hash,
  read: z.object({ rows: whole, kept: whole, merged: whole, rejected: whole }),
  degrees: z.object({ users: histogram, items: histogram }),
  /** Of the users' degrees; absent where an earlier graphex wrote it. */
  degreesHash: hash.optional(),
  shards: z
    .array(z.object({ users: whole, edges: whole, total: whole, logFactorials: z.number().min(0), hash }))
    .min(1)
    .max(MOST_SHARDS),
});
/** What parts.json says. */
export type PartitionDocument = z.infer<typeof schema>;

/** A folder of shards that was opened: what is known of all, with the items. */
export interface PartitionedData extends Omit<PartitionDocument, 'names' | 'degrees' | 'degreesHash'> {
  readonly folder: string;
  readonly names: SideNames | undefined;
  readonly degrees: Readonly<Record<'users' | 'items', DegreeCounts>>;
  readonly itemIds: VertexIds;
  readonly itemDegree: Uint32Array;
  /** Sum of counts of each item. */
  readonly itemTotal: Float64Array;
}

/** The users of a shard and their edges. */
export type Shard = GraphSide;

const EXPECTED = { version: 1, what: 'shard file', command: 'partition' } as const;

export function shardTensors(
  parts: Pick<PartitionDocument, 'itemsHash'>,
  own: string,
  side: GraphSide,
): TensorFile {
  const tensors = new Map<string, Tensor>();
  const put = putInto(tensors, 'users.');
  putIds(put, side.ids);
  const degree = new Uint32Array(side.count);
  for (let v = 0; v < side.count; v++) degree[v] = side.offsets[v + 1] - side.offsets[v];
  put('degree', signed(degree));
  put('neighbors', signed(side.neighbors));
  if (side.counts) put('counts', signed(side.counts));
  const metadata = { format: `${FORMAT}-shard`, format_version: '1', hash: own, items: parts.itemsHash };
  return { tensors, metadata };
}

export function itemsTensors(
  itemsHash: string,
  ids: VertexIds,
  degree: Uint32Array,
  total: Float64Array,
): TensorFile {
  const tensors = new Map<string, Tensor>();
  const put = putInto(tensors, 'items.');
  putIds(put, ids);
  put('degree', signed(degree));
  put('total', total);
  return { tensors, metadata: { format: `${FORMAT}-items`, format_version: '1', hash: itemsHash } };
}

/** Whether the path is a folder that `graphex partition` wrote. */
export async function isPartitionFolder(path: string): Promise<boolean> {
  const found = await stat(join(path, PARTITION_FILE)).catch(() => undefined);
  return found?.isFile() ?? false;
}

/** Reads what is known of all shards, and the items. */
export async function openPartition(folder: string): Promise<PartitionedData> {
  await finishFolder(folder, partitionFiles(MOST_SHARDS));
  const path = join(folder, PARTITION_FILE);
  const document = parseDocument(path, await readDocument(path));
  const { degrees, degreesHash, names, ...rest } = document;
  const file = join(folder, ITEMS_FILE);
  const { tensors, metadata } = await readTensors(file, { ...EXPECTED, format: `${FORMAT}-items` });
  const parts: PartitionedData = checked(file, () => {
    requireSame(metadata.hash, document.itemsHash);
    const read = new TensorReader(tensors);
    const itemIds = read.ids('items.');
    requireCount('items', itemIds.length, document.items);
    const itemDegree = read.whole('items.degree', document.items);
    const itemTotal = read.numbers('items.total', Float64Array, document.items, {
      ok: (value) => Number.isSafeInteger(value) && value > 0,
      says: 'a whole number above 0',
    });
    requireCount('edges of the items', sum(itemDegree), document.edges);
    requireCount('counts of the items', sum(itemTotal), document.total);
    const counted = countDegrees(itemDegree);
    const said = toCounts(degrees.items);
    if (JSON.stringify(counted) !== JSON.stringify(said)) {
      throw new Error(`the degrees of its items are not those of ${PARTITION_FILE}`);
    }
    return {
      ...rest,
      folder,
      names: readSideNames(names),
      degrees: { users: toCounts(degrees.users), items: said },
      itemIds,
      itemDegree,
      itemTotal,
    };
  });
  const counted = degreesHash ?? hashOfDegrees(await countUsers(parts));
  checked(path, () => {
    if (counted !== hashOfDegrees(degrees.users)) {
      throw new Error('the degrees of its users are not those that the shards have');
    }
  });
  return parts;
}

/** How many users have which degree, ascending: a digest by which edited ones are known without a look at the shards. */
export function hashOfDegrees(histogram: readonly (readonly [number, number])[]): string {
  return createHash('sha256').update(JSON.stringify(histogram)).digest('hex').slice(0, 16);
}

/** The users' degrees as the shards have them, one shard in memory at a time. */
async function countUsers(parts: PartitionedData): Promise<[number, number][]> {
  const counts = new Map<number, number>();
  for (let s = 0; s < parts.shards.length; s++) {
    const { count, offsets } = await readShard(parts, s);
    for (let v = 0; v < count; v++) {
      const degree = offsets[v + 1] - offsets[v];
      counts.set(degree, (counts.get(degree) ?? 0) + 1);
    }
  }
  return [...counts].sort(([a], [b]) => a - b);
}

/** Reads a shard. */
export async function readShard(parts: PartitionedData, shard: number): Promise<Shard> {
  const file = join(parts.folder, shardFile(shard));
  const { tensors, metadata } = await readTensors(file, { ...EXPECTED, format: `${FORMAT}-shard` });
  return checked(file, () => {
    const said = parts.shards[shard];
    requireSame(metadata.hash, said.hash);
    requireSame(metadata.items, parts.itemsHash);
    const read = new TensorReader(tensors);
    const ids = read.ids('users.');
    requireCount('users', ids.length, said.users);
    const degree = read.whole('users.degree', ids.length);
    const offsets = allocate(Uint32Array, ids.length + 1);
    for (let v = 0; v < ids.length; v++) {
      if (degree[v] === 0) throw new Error(`user ${v} has no edge`);
      offsets[v + 1] = offsets[v] + degree[v];
    }
    requireCount('edges', sum(degree), said.edges);
    const neighbors = read.whole('users.neighbors', said.edges);
    for (let v = 0; v < ids.length; v++) {
      for (let e = offsets[v]; e < offsets[v + 1]; e++) {
        if (neighbors[e] < parts.items && (e === offsets[v] || neighbors[e] > neighbors[e - 1])) continue;
        throw new Error(`the items of user ${v} do not ascend or are not there`);
      }
    }
    const counts = parts.multigraph ? readCounts(read, said.edges) : undefined;
    requireCount('counts', counts ? sum(counts) : said.edges, said.total);
    return Object.freeze({ count: ids.length, ids, offsets, neighbors, counts });
  });
}

function readCounts(read: TensorReader, edges: number): Uint32Array {
  const counts = new Uint32Array(read.get('users.counts', Int32Array, edges).buffer);
  if (counts.includes(0)) throw new Error('tensor users.counts holds 0 for an edge');
  return counts;
}

/** Looked at first: a pipe or a device in its place could be waited for without end. */
async function readDocument(path: string): Promise<string> {
  try {
    const found = await stat(path);
    if (found.isFile() && found.size <= MOST_BYTES) return await readFile(path, 'utf8');
  } catch (cause) {
    throw readError(path, cause, '; give a folder that "graphex partition" wrote');
  }
  throw new InputError(`${path}: this is not what "graphex partition" writes; partition the data again`);
}

function parseDocument(path: string, text: string): PartitionDocument {
  let document: PartitionDocument;
  try {
    document = schema.parse(JSON.parse(text));
  } catch (cause) {
    const what = documentProblem(cause) ?? 'it is no JSON';
    throw new InputError(
      `${path}: this is not what "graphex partition" writes (${what}); partition the data again`,
    );
  }
  return checked(path, () => {
    const { shards, degrees } = document;
    const over = (value: (shard: PartitionDocument['shards'][number]) => number) =>
      shards.reduce((total, shard) => total + value(shard), 0);
    requireCount(
      'users',
      over(({ users }) => users),
      document.users,
    );
    requireCount(
      'edges',
      over(({ edges }) => edges),
      document.edges,
    );
    requireCount(
      'counts',
      over(({ total }) => total),
      document.total,
    );
    for (const side of ['users', 'items'] as const) {
      const { count, sum: edges, degree } = toCounts(degrees[side]);
      requireCount(`degrees of ${side}`, count, document[side]);
      requireCount(`edges of ${side}`, edges, document.edges);
      if (degree.some((d, n) => n > 0 && d <= degree[n - 1]))
        throw new Error(`degrees of ${side} do not ascend`);
    }
    return document;
  });
}

function toCounts(pairs: readonly (readonly [number, number])[]): DegreeCounts {
  return {
    degree: Float64Array.from(pairs, ([degree]) => degree),
    vertices: Float64Array.from(pairs, ([, vertices]) => vertices),
    count: pairs.reduce((total, [, vertices]) => total + vertices, 0),
    sum: pairs.reduce((total, [degree, vertices]) => total + degree * vertices, 0),
  };
}

function checked<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    if (cause instanceof InputError) throw cause;
    throw new InputError(
      `${path}: it does not fit the other parts (${(cause as Error).message}); partition the data again, or copy the folder again`,
    );
  }
}

function requireSame(found: string | undefined, expected: string): void {
  if (found !== expected) throw new Error('it is of another partition, or the parts have changed');
}

function requireCount(what: string, found: number, expected: number): void {
  if (found !== expected) throw new Error(`${found} ${what}, where ${expected} are expected`);
}

function sum(values: Uint32Array | Float64Array): number {
  let total = 0;
  for (let i = 0; i < values.length; i++) total += values[i];
  return total;
}
