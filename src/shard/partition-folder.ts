// A partitioned data set is a folder: parts.json describes all shards, items.safetensors holds the items, and each
// shard-NNNN.safetensors holds some of the users with their edges. Reading checks everything and refuses files that do not
// belong together, since a folder may have been copied, mixed or made by another program.

import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { z } from 'zod';
import { finishFolder } from '../files/folder.js';
import { isFile } from '../files/plain-file.js';
import { degrees as degreesOf, type GraphSide } from '../graph/graph.js';
import type { VertexIds } from '../graph/ids.js';
import { sumOf } from '../math/moments.js';
import { PARTITION, PARTITION_FILE } from '../options/commands/partition.js';
import { countDegrees, type DegreeCounts } from '../sparsity/degree-counts.js';
import { readDocument } from '../store/folder-document.js';
import { readTensors } from '../store/safetensors.js';
import { checkFile, putInto, TensorReader } from '../store/tensor-reader.js';
import type { Tensor, TensorFile } from '../store/tensors.js';
import { getSeen, getVertices, putSeen, putVertices } from '../store/vertex-tensors.js';
import { readSideNames, type SideNames } from '../text/sides.js';

export const MOST_SHARDS = PARTITION.shards.max;
export const ITEMS_FILE = 'items.safetensors';
export const PARTITION_FORMAT = { format: 'graphex-parts', version: 1 } as const;
const { format: FORMAT } = PARTITION_FORMAT;

/** The files of shards, of any partition. */
export const SHARD_FILE = /^shard-\d{4,}\.safetensors$/;

export function shardFile(shard: number): string {
  return `shard-${String(shard).padStart(4, '0')}.safetensors`;
}

export function partitionFiles(shards: number): string[] {
  return [PARTITION_FILE, ITEMS_FILE, ...Array.from({ length: shards }, (_, s) => shardFile(s))];
}

const whole = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER);
const hash = z.string().regex(/^[0-9a-f]{16}$/);
/** [degree, vertices], ascending. */
const histogram = z.array(z.tuple([whole.min(1), whole.min(1)]));
const schema = z.object({
  format: z.literal(FORMAT),
  version: z.literal(PARTITION_FORMAT.version),
  multigraph: z.boolean(),
  names: z.unknown().optional(),
  users: whole.min(1),
  items: whole.min(1),
  edges: whole.min(1),
  total: whole.min(1),
  /** Equal to that of the graph in one piece. */
  fingerprint: hash,
  /** Hash of the items alone. */
  itemsHash: hash,
  read: z.object({ rows: whole, kept: whole, merged: whole, rejected: whole }),
  degrees: z.object({ users: histogram, items: histogram }),
  /** Hash of the users' degrees, which shows without reading the shards whether they were edited. */
  degreesHash: hash,
  shards: z
    .array(z.object({ users: whole, edges: whole, total: whole, logFactorials: z.number().min(0), hash }))
    .min(1)
    .max(MOST_SHARDS),
});
/** The contents of parts.json. */
export type PartitionDocument = z.infer<typeof schema>;
type ShardDocument = PartitionDocument['shards'][number];

/** An opened partition: what is known of all shards, with the items. */
export interface PartitionedData extends Omit<PartitionDocument, 'names' | 'degrees' | 'degreesHash'> {
  readonly folder: string;
  readonly names: SideNames | undefined;
  readonly degrees: Readonly<Record<'users' | 'items', DegreeCounts>>;
  readonly itemIds: VertexIds;
  readonly itemDegree: Uint32Array;
  /** Sum of counts of each item. */
  readonly itemTotal: Float64Array;
}

const FOLDER = {
  name: 'partition',
  remedy: 'partition the data again, or copy the folder again',
} as const;
const EXPECTED = { version: 1, what: 'shard file', again: 'partition' } as const;

export function shardTensors(itemsHash: string, shardHash: string, side: GraphSide): TensorFile {
  const tensors = new Map<string, Tensor>();
  putVertices(putInto(tensors, 'users.'), { count: side.count, ids: side.ids, degree: degreesOf(side) });
  putSeen(tensors, side);
  const metadata = { format: `${FORMAT}-shard`, format_version: '1', hash: shardHash, items: itemsHash };
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
  putVertices(put, { count: ids.length, ids, degree });
  put('total', total);
  return { tensors, metadata: { format: `${FORMAT}-items`, format_version: '1', hash: itemsHash } };
}

/** Whether the path is a partitioned data set. */
export function isPartitionFolder(path: string): Promise<boolean> {
  return isFile(join(path, PARTITION_FILE));
}

/** Reads what is known of all shards, and the items. */
export async function openPartition(folder: string): Promise<PartitionedData> {
  await finishFolder(folder, partitionFiles(MOST_SHARDS));
  const path = join(folder, PARTITION_FILE);
  const document = await readDocument(path, schema, {
    ...PARTITION_FORMAT,
    what: 'the description of a partition',
    remedy: 'partition the data again',
  });
  const { degrees, degreesHash, names, ...rest } = document;
  checkFile(path, FOLDER, () => checkSums(document));
  const file = join(folder, ITEMS_FILE);
  const { tensors, metadata } = await readTensors(file, { ...EXPECTED, format: `${FORMAT}-items` });
  const partition: PartitionedData = checkFile(file, FOLDER, () => {
    requireSame(metadata.hash, document.itemsHash);
    const read = new TensorReader(tensors);
    const { ids: itemIds, degree: itemDegree } = getVertices(read, 'items.');
    requireCount('items', itemIds.length, document.items);
    const itemTotal = read.numbers('items.total', Float64Array, document.items, {
      ok: (value) => Number.isSafeInteger(value) && value > 0,
      says: 'a whole number above 0',
    });
    requireCount('edges of the items', sumOf(itemDegree), document.edges);
    requireCount('counts of the items', sumOf(itemTotal), document.total);
    const items = toCounts(degrees.items);
    if (JSON.stringify(countDegrees(itemDegree)) !== JSON.stringify(items)) {
      throw new Error(`the degrees of its items are not those of ${PARTITION_FILE}`);
    }
    return {
      ...{ ...rest, folder, names: readSideNames(names) },
      degrees: { users: toCounts(degrees.users), items },
      ...{ itemIds, itemDegree, itemTotal },
    };
  });
  checkFile(path, FOLDER, () => {
    if (degreesHash === hashOfDegrees(degrees.users)) return;
    throw new Error('the degrees of its users are not those of the shards');
  });
  return partition;
}

export function hashOfDegrees(degrees: readonly (readonly [number, number])[]): string {
  return createHash('sha256').update(JSON.stringify(degrees)).digest('hex').slice(0, 16);
}

export async function readShard(partition: PartitionedData, shard: number): Promise<GraphSide> {
  const file = join(partition.folder, shardFile(shard));
  const { tensors, metadata } = await readTensors(file, { ...EXPECTED, format: `${FORMAT}-shard` });
  return checkFile(file, FOLDER, () => {
    const expected = partition.shards[shard];
    requireSame(metadata.hash, expected.hash);
    requireSame(metadata.items, partition.itemsHash);
    const read = new TensorReader(tensors);
    const users = getVertices(read, 'users.');
    requireCount('users', users.count, expected.users);
    const isolated = users.degree.indexOf(0);
    if (isolated >= 0) throw new Error(`user ${isolated} has no edge`);
    const { items, itemIds, itemDegree, multigraph } = partition;
    const rows = getSeen(read, users, { count: items, ids: itemIds, degree: itemDegree }, true);
    requireCount('edges', rows?.neighbors.length ?? 0, expected.edges);
    const { offsets, neighbors, counts } = rows!;
    if ((counts !== undefined) !== multigraph) throw new Error('only some of the shards have counts');
    requireCount('counts', counts ? sumOf(counts) : expected.edges, expected.total);
    return Object.freeze({ count: users.count, ids: users.ids, offsets, neighbors, counts });
  });
}

function checkSums(document: PartitionDocument): void {
  const { shards, degrees } = document;
  const over = (field: keyof ShardDocument & ('users' | 'edges' | 'total')) =>
    shards.reduce((total, shard) => total + shard[field], 0);
  requireCount('users', over('users'), document.users);
  requireCount('edges', over('edges'), document.edges);
  requireCount('counts', over('total'), document.total);
  for (const side of ['users', 'items'] as const) {
    const { count, sum: edges, degree } = toCounts(degrees[side]);
    requireCount(`degrees of ${side}`, count, document[side]);
    requireCount(`edges of ${side}`, edges, document.edges);
    if (degree.some((d, n) => n > 0 && d <= degree[n - 1])) {
      throw new Error(`degrees of ${side} do not ascend`);
    }
  }
}

function toCounts(pairs: readonly (readonly [number, number])[]): DegreeCounts {
  return {
    degree: Float64Array.from(pairs, ([degree]) => degree),
    vertices: Float64Array.from(pairs, ([, vertices]) => vertices),
    count: pairs.reduce((total, [, vertices]) => total + vertices, 0),
    sum: pairs.reduce((total, [degree, vertices]) => total + degree * vertices, 0),
  };
}

function requireSame(found: string | undefined, expected: string): void {
  if (found !== expected) throw new Error('it belongs to another partition, or the shards have changed');
}

function requireCount(what: string, found: number, expected: number): void {
  if (found !== expected) throw new Error(`${found} ${what} instead of ${expected}`);
}
