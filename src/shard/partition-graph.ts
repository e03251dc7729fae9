// Cuts a table into shards, out of core. While the table is read, rows are grouped by shard in a scratch file. Then each
// shard is sorted, equal pairs are merged, and the shard is written. The result depends on the data and the number of shards
// alone.

import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { totalmem } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { abortReason, InputError, throwIfAborted } from '../errors.js';
import { writePieces } from '../files/atomic.js';
import { type FolderFiles, writeFolder } from '../files/folder.js';
import { temporaryPathFor } from '../files/temporary-name.js';
import { removeOnExit, writeError } from '../files/write-error.js';
import type { BipartiteGraph } from '../graph/graph.js';
import { EdgeCollector } from '../ingest/intake/collect.js';
import type { ReaderOptions, ReadResult } from '../ingest/options.js';
import { readGraph } from '../ingest/read.js';
import { withDefaults } from '../options/check-options.js';
import { PARTITION, PARTITION_FILE } from '../options/commands/partition.js';
import type { OptionsOf } from '../options/declare.js';
import { option, optionError } from '../options/error.js';
import { FORCE, READ, TASK } from '../options/shared.js';
import { createPool, threadCount } from '../parallel/pool.js';
import type { TaskOptions } from '../progress.js';
import { writeTensorsTo } from '../store/safetensors.js';
import type { SideNames } from '../text/sides.js';
import { parseMemory } from './memory-plan.js';
import { ITEMS_FILE, type PartitionDocument, SHARD_FILE, shardFile } from './partition-folder.js';
import { nextJob, RowSpillFile, SHARD_TASKS } from './row-spill.js';
import type { ShardToSort } from './shard-tasks.js';
import { type ItemSums, type ShardSummary, ShardTotals } from './shard-totals.js';

/** How data are cut into shards, and how they are read. */
export interface PartitionOptions
  extends OptionsOf<typeof PARTITION>,
    OptionsOf<typeof READ>,
    OptionsOf<typeof FORCE>,
    TaskOptions {}

/** The partition that was written. */
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

/** The bytes of a row while its shard is sorted, and while it is in a batch. */
const SORT_BYTES = 48;
const BATCH_BYTES = 32;
/** The memory of a thread without its shard. */
const WORKER_BYTES = 32 * 2 ** 20;
/** The fraction of the memory that a batch may use; the ids have the rest. */
const BATCH_FRACTION = 1 / 8;
const MOST_BATCH = 1 << 22;
const LEAST_BATCH = 1 << 12;

/**
 * Writes data as a folder of shards, for fits on several machines and to data larger than memory (`fitPartition`). `source`
 * is a path, several paths or a graph. Memory holds the ids but not the rows. All files appear, or none.
 * @example
 * import { BipartiteGraph, partitionGraph } from 'graphex';
 * const graph = BipartiteGraph.fromPairs([['ann', 'tea'], ['bob', 'milk'], ['bob', 'tea'], ['cleo', 'milk']]);
 * const { shards, edges } = await partitionGraph(graph, 'shards', { shards: 2 });
 * console.log(shards, edges);
 */
export async function partitionGraph(
  source: string | readonly string[] | BipartiteGraph,
  folder: string,
  given: PartitionOptions = {},
): Promise<Partition> {
  const { shards, memory, force, threads, signal, onProgress, ...reading } = withDefaults(
    { ...PARTITION, ...FORCE, ...READ, ...TASK },
    given,
  );
  if (isGraph(source)) refuseReading(given);
  const limit = memory === undefined ? totalmem() / 4 : parseMemory(memory);
  const batch = Math.max(
    LEAST_BATCH,
    Math.min(MOST_BATCH, Math.floor((limit * BATCH_FRACTION) / BATCH_BYTES)),
  );
  const path = temporaryPathFor(join(existingFolder(dirname(resolve(folder))), basename(resolve(folder))));
  let spill: RowSpillFile | undefined;
  const done = removeOnExit(path);
  try {
    spill = new RowSpillFile(path, shards, batch);
    const result = await readInto(spill, source, { ...reading, threads, signal, onProgress });
    const concurrent = concurrentShards(spill, limit);
    return await writeShards(folder, spill, result, { concurrent, force, threads, signal, onProgress });
  } catch (cause) {
    throw writeError(folder, cause);
  } finally {
    spill?.close();
    await rm(path, { force: true });
    done();
  }
}

type Source = string | readonly string[] | BipartiteGraph;

function isGraph(source: Source): source is BipartiteGraph {
  return typeof source === 'object' && 'edges' in source;
}

function refuseReading(given: PartitionOptions): void {
  const name = Object.keys(READ).find((one) => given[one as keyof typeof READ] !== undefined);
  if (name === undefined) return;
  throw optionError`${option(name)}: a graph was read when it was made; leave this option out, or give it to readGraph`;
}

/** The path, or the nearest folder above it that exists: the folder itself is created when its files are complete. */
function existingFolder(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : existingFolder(dirname(path));
}

type Reading = Awaited<ReturnType<typeof readInto>>;

async function readInto(spill: RowSpillFile, source: Source, options: ReaderOptions) {
  if (isGraph(source)) {
    const { names, multigraph } = source;
    return { read: spillGraph(spill, source), guess: undefined, names, multigraph };
  }
  const { graph, read, guess } = await readGraph(source, { ...options, spill } as ReaderOptions);
  const { names } = graph;
  // A simulated data set comes as a graph.
  if (spill.isEmpty) return { read: spillGraph(spill, graph), guess, names, multigraph: graph.multigraph };
  return { read, guess, names, multigraph: options.multigraph ?? false };
}

function spillGraph(spill: RowSpillFile, graph: BipartiteGraph): ReadResult['read'] {
  const texts = { users: graph.users.ids.kind === 'text', items: graph.items.ids.kind === 'text' };
  const collector = new EdgeCollector('the graph', { multigraph: graph.multigraph, spill, texts });
  // The codes of the items serve all rows.
  collector.items.keepCodes();
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

/** The number of shards that can be sorted in memory at the same time; throws if not even one fits. */
function concurrentShards(spill: RowSpillFile, limit: number): number {
  let largest = 0;
  for (let s = 0; s < spill.shards; s++) largest = Math.max(largest, spill.rowsOf(s));
  const need = largest * SORT_BYTES;
  if (need <= limit) return Math.floor(limit / Math.max(1, need + WORKER_BYTES)) || 1;
  const shards = Math.ceil((1.2 * spill.shards * need) / limit);
  const gigabytes = (bytes: number) => (bytes / 2 ** 30).toPrecision(3);
  throw optionError`${option('memory')}: the largest shard has ${String(largest)} rows, which take ${gigabytes(need)} GB to sort, and the limit is ${gigabytes(limit)} GB; give ${option('shards')} ${String(shards)} or more`;
}

async function writeShards(
  folder: string,
  spill: RowSpillFile,
  { read, guess, names, multigraph }: Reading,
  {
    concurrent,
    force,
    threads,
    signal,
    onProgress,
  }: Pick<PartitionOptions, 'force' | 'threads' | 'signal' | 'onProgress'> & {
    /** The number of shards that may be sorted at the same time. */
    readonly concurrent: number;
  },
): Promise<Partition> {
  const { shards, itemIds } = spill;
  if (itemIds.length === 0) throw new InputError('no item is left, so there is nothing to partition');
  const totals = new ShardTotals(itemIds, multigraph);
  const job = nextJob();
  const sources = spill.sources();
  const workers = threadCount(threads, Math.min(shards, concurrent));
  const pool = await createPool(SHARD_TASKS, workers);
  // An error or an abort also stops the shards that wait.
  const stop = new AbortController();
  const abort = () => stop.abort(abortReason(signal!));
  signal?.addEventListener('abort', abort, { once: true });
  let done = 0;
  const step = () => onProgress?.({ stage: 'sorting', done: done++, total: shards, unit: 'shards' });
  const writeShard = async (path: string, s: number) => {
    const { itemHashes: items, itemsHash } = totals;
    const sorting = { job, source: sources[s], to: path, folder, multigraph, items, itemsHash };
    try {
      totals.addSummary(s, await pool.run<ShardToSort, ShardSummary>('sortShard', sorting, stop.signal));
      step();
    } catch (error) {
      stop.abort(error);
      throw error;
    }
  };

  let whole: PartitionDocument | undefined;
  const files: Record<string, FolderFiles[string]> = {};
  for (let s = 0; s < shards; s++) files[shardFile(s)] = (path) => writeShard(path, s);
  const shardFiles = Object.keys(files);
  files[ITEMS_FILE] = async (path) => {
    const sums = await pool.everywhere<number, ItemSums | undefined>('itemSums', job);
    for (const sum of sums) if (sum) totals.addItems(sum);
    await writeTensorsTo(path, totals.items());
  };
  files[PARTITION_FILE] = (path) => {
    whole = totals.document(names, read);
    return writePieces(path, [`${JSON.stringify(whole)}\n`]);
  };
  try {
    throwIfAborted(signal);
    step();
    await writeFolder(folder, files, { force, obsolete: SHARD_FILE, concurrent: shardFiles });
  } finally {
    signal?.removeEventListener('abort', abort);
    await pool.close();
  }
  const { users, edges, fingerprint } = whole!;
  // Only now is it known whether a pair came twice.
  const understood = guess && { ...guess, ...(whole!.read.merged > 0 && { countsAllOne: false }) };
  return {
    ...{ shards, users, items: itemIds.length, edges, fingerprint },
    ...{ read: whole!.read, guess: understood, names },
  };
}
