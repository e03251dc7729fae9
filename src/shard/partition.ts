// A table → shards, out of core: rows are dealt to shards on disk while they are read, then each shard is sorted, its equal
// pairs merged, and written. The result depends on the data and the number of shards alone.

import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { totalmem } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { InputError, throwIfAborted } from '../errors.js';
import { logCountFactorials } from '../fit/bound.js';
import { buildGraph } from '../graph/build.js';
import {
  addHashes,
  combinedFingerprint,
  hashText,
  idHashes,
  NO_HASH,
  sumEdges,
  sumHashes,
} from '../graph/fingerprint.js';
import { type BipartiteGraph, degrees } from '../graph/graph.js';
import { besidePath } from '../ingest/beside.js';
import { EdgeCollector } from '../ingest/collect.js';
import type { ReaderOptions, ReadResult } from '../ingest/options.js';
import { readGraph } from '../ingest/read.js';
import { removeOnExit, writeError } from '../ingest/source.js';
import { settle } from '../options/door.js';
import { option, optionError } from '../options/error.js';
import type { OptionsOf } from '../options/kinds.js';
import { PARTITION, PARTS_FILE } from '../options/partition.js';
import { FORCE, READ, TASK } from '../options/shared.js';
import type { TaskOptions } from '../progress.js';
import { countDegrees, type DegreeCounts } from '../sparsity/degree-counts.js';
import { writePieces } from '../store/atomic.js';
import { type FolderFiles, writeFolder } from '../store/folder.js';
import { readManifest } from '../store/manifest.js';
import { writeTensorsTo } from '../store/safetensors.js';
import type { SideNames } from '../text/sides.js';
import { parseMemory } from './memory.js';
import { ITEMS_FILE, itemsTensors, type PartsDocument, shardFile, shardTensors } from './parts.js';
import { ShardSpill } from './spill.js';

/** How data are cut into shards, and how they are read. */
export interface PartitionOptions
  extends OptionsOf<typeof PARTITION>,
    OptionsOf<typeof READ>,
    OptionsOf<typeof FORCE>,
    TaskOptions {}

/** What was written. */
export interface Partition {
  readonly shards: number;
  readonly users: number;
  readonly items: number;
  readonly edges: number;
  /** Equal to that of the graph in one piece. */
  readonly fingerprint: string;
  readonly read: ReadResult['read'];
  readonly guess: ReadResult['guess'] | undefined;
  readonly names: SideNames | undefined;
}

/** Bytes that a row takes while its shard is sorted, and while it waits in a batch. */
const SORT_BYTES = 48;
const BATCH_BYTES = 32;
/** The share of the memory that a batch may take; the ids have the rest. */
const BATCH_SHARE = 1 / 8;
const MOST_BATCH = 1 << 22;
const LEAST_BATCH = 1 << 12;

/**
 * Cuts data into shards in a folder, for fits on several machines and of data larger than memory. `source` is what `fit`
 * reads, or a graph. The ids are held in memory, the rows are not. All files appear, or none.
 * @example
 * import { BipartiteGraph, partitionGraph } from 'graphex';
 * const graph = BipartiteGraph.fromPairs([['ann', 'tea'], ['bob', 'milk'], ['bob', 'tea'], ['cleo', 'milk']]);
 * const { shards, edges } = await partitionGraph(graph, 'parts', { shards: 2 });
 * console.log(shards, edges);
 */
export async function partitionGraph(
  source: string | readonly string[] | BipartiteGraph,
  folder: string,
  given: PartitionOptions = {},
): Promise<Partition> {
  const { shards, memory, force, threads, signal, onProgress, ...reading } = settle(
    { ...PARTITION, ...FORCE, ...READ, ...TASK },
    given,
  );
  const limit = memory === undefined ? totalmem() / 4 : parseMemory(memory);
  const batch = Math.max(LEAST_BATCH, Math.min(MOST_BATCH, Math.floor((limit * BATCH_SHARE) / BATCH_BYTES)));
  const path = besidePath(join(firstFolder(dirname(resolve(folder))), basename(resolve(folder))));
  let spill: ShardSpill | undefined;
  const done = removeOnExit(path);
  try {
    spill = new ShardSpill(path, shards, batch);
    const result = await readInto(spill, source, { ...reading, threads, signal, onProgress });
    requireMemory(spill, limit);
    return await writeShards(folder, spill, result, { force, signal, onProgress });
  } catch (cause) {
    throw writeError(folder, cause);
  } finally {
    spill?.close();
    await rm(path, { force: true });
    done();
  }
}

/** The folder itself, or the nearest above it that is there: folders are made when there is something to put in. */
function firstFolder(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : firstFolder(dirname(path));
}

type Reading = Pick<ReadResult, 'read'> & {
  readonly guess: ReadResult['guess'] | undefined;
  readonly names: SideNames | undefined;
  readonly multigraph: boolean;
};

async function readInto(
  spill: ShardSpill,
  source: string | readonly string[] | BipartiteGraph,
  options: ReaderOptions,
): Promise<Reading> {
  if (typeof source === 'object' && 'edges' in source) {
    return {
      read: spillGraph(spill, source),
      guess: undefined,
      names: source.names,
      multigraph: source.multigraph,
    };
  }
  const { graph, read, guess } = await readGraph(source, { ...options, spill } as ReaderOptions);
  const { names } = graph;
  // Sets that are drawn come as graphs.
  if (spill.isEmpty) return { read: spillGraph(spill, graph), guess, names, multigraph: graph.multigraph };
  return { read, guess, names, multigraph: options.multigraph ?? false };
}

function spillGraph(spill: ShardSpill, graph: BipartiteGraph): ReadResult['read'] {
  const collector = new EdgeCollector('the graph', { multigraph: graph.multigraph, spill }, undefined, {
    users: graph.users.ids.kind === 'text' ? 'text' : 'dictionary',
    items: graph.items.ids.kind === 'text' ? 'text' : 'dictionary',
  });
  const { offsets, neighbors, counts } = graph.users;
  const items = Uint32Array.from({ length: graph.items.count }, (_, v) =>
    collector.items.encodeText(graph.items.ids.at(v)),
  );
  for (let v = 0; v < graph.users.count; v++) {
    const user = collector.users.encodeText(graph.users.ids.at(v));
    for (let e = offsets[v]; e < offsets[v + 1]; e++)
      collector.push(user, items[neighbors[e]], counts?.[e] ?? 1);
  }
  return collector.finish().read;
}

/** A shard is sorted in memory: where it would not fit, more shards are asked for. */
function requireMemory(spill: ShardSpill, limit: number): void {
  let largest = 0;
  for (let s = 0; s < spill.shards; s++) largest = Math.max(largest, spill.rowsOf(s));
  const need = largest * SORT_BYTES;
  if (need <= limit) return;
  const shards = Math.ceil((1.2 * spill.shards * need) / limit);
  const gigabytes = (bytes: number) => (bytes / 2 ** 30).toPrecision(3);
  throw optionError`${option('memory')}: the largest shard has ${String(largest)} rows, which take ${gigabytes(need)} GB to sort, and there are ${gigabytes(limit)} GB; give ${option('shards')} ${String(shards)} or more`;
}

async function writeShards(
  folder: string,
  spill: ShardSpill,
  { read, guess, names, multigraph }: Reading,
  { force, signal, onProgress }: Pick<PartitionOptions, 'force' | 'signal' | 'onProgress'>,
): Promise<Partition> {
  const { shards, itemIds } = spill;
  const items = idHashes(itemIds, 'items');
  const itemsSum = sumHashes(items);
  const itemsHash = hashText(itemsSum);
  const itemDegree = new Uint32Array(itemIds.length);
  const itemTotal = new Float64Array(itemIds.length);
  const ofUsers = new Map<number, number>();
  const written: PartsDocument['shards'] = [];
  let [usersSum, edgesSum] = [NO_HASH, NO_HASH];

  const writeShard = async (path: string, s: number) => {
    throwIfAborted(signal);
    onProgress?.({ stage: 'sorting', done: s, total: shards, unit: 'shards' });
    const { userIds, ...rows } = spill.load(s);
    const graph = buildGraph({
      ...rows,
      userCount: userIds.length,
      itemCount: itemIds.length,
      userIds,
      itemIds,
      multigraph,
    });
    const users = idHashes(userIds, 'users');
    const [ownUsers, ownEdges] = [sumHashes(users), sumEdges(graph.users, users, items)];
    usersSum = addHashes(usersSum, ownUsers);
    edgesSum = addHashes(edgesSum, ownEdges);
    for (const degree of degrees(graph.users)) ofUsers.set(degree, (ofUsers.get(degree) ?? 0) + 1);
    const { offsets, counts } = graph.items;
    for (let v = 0; v < itemIds.length; v++) {
      itemDegree[v] += offsets[v + 1] - offsets[v];
      if (!counts) itemTotal[v] = itemDegree[v];
      else for (let e = offsets[v]; e < offsets[v + 1]; e++) itemTotal[v] += counts[e];
    }
    const hash = hashText(addHashes(ownUsers, ownEdges));
    written.push({
      users: userIds.length,
      edges: graph.edges,
      total: graph.total,
      logFactorials: logCountFactorials(graph.users.counts),
      hash,
    });
    await writeTensorsTo(path, shardTensors({ itemsHash }, hash, graph.users));
  };

  const document = (): PartsDocument => {
    const over = (value: (shard: PartsDocument['shards'][number]) => number) =>
      written.reduce((total, shard) => total + value(shard), 0);
    const edges = over((shard) => shard.edges);
    return {
      format: 'graphex-parts',
      version: 1,
      multigraph,
      ...(names && { names }),
      users: over((shard) => shard.users),
      items: itemIds.length,
      edges,
      total: over((shard) => shard.total),
      fingerprint: combinedFingerprint({ users: usersSum, items: itemsSum, edges: edgesSum }, multigraph),
      itemsHash,
      read: { rows: read.rows, kept: edges, merged: read.kept - edges, rejected: read.rejected },
      degrees: {
        users: [...ofUsers].sort(([a], [b]) => a - b),
        items: pairsOf(countDegrees(itemDegree)),
      },
      shards: written,
    };
  };

  if (itemIds.length === 0) throw new InputError('no item is left, so there is nothing to partition');
  let whole: PartsDocument | undefined;
  const files: Record<string, FolderFiles[string]> = {};
  for (let s = 0; s < shards; s++) files[shardFile(s)] = (path) => writeShard(path, s);
  files[ITEMS_FILE] = (path) => writeTensorsTo(path, itemsTensors(itemsHash, itemIds, itemDegree, itemTotal));
  files[PARTS_FILE] = (path) => {
    whole = document();
    return writePieces(path, [`${JSON.stringify(whole)}\n`]);
  };
  const before = Object.keys((await readManifest(folder)) ?? {});
  const obsolete = before.filter((name) => /^shard-\d{4}\.safetensors$/.test(name) && !(name in files));
  await writeFolder(folder, files, { force, obsolete });
  const { users, edges, fingerprint } = whole!;
  return { shards, users, items: itemIds.length, edges, fingerprint, read: whole!.read, guess, names };
}

function pairsOf({ degree, vertices }: DegreeCounts): [number, number][] {
  return Array.from(degree, (d, n) => [d, vertices[n]]);
}
