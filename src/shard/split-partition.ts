// A (p,q)-split of a partitioned data set, shard by shard. It makes the random draws of a split in one piece, so that the
// same edges go to the same parts. The result is a folder with a partition for each of training, fold-in and test, the
// draws, and split.json. Memory holds the ids of all users, their draws, and one shard.

import { join } from 'node:path';
import { z } from 'zod';
import { InputError, throwIfAborted } from '../errors.js';
import type { HeldOutPiece, SplitFrame } from '../evaluate/evaluate-shards.js';
import { writePieces } from '../files/atomic.js';
import { type FolderFiles, finishFolder, writeFolder } from '../files/folder.js';
import { fingerprint as fingerprintOf } from '../graph/fingerprint.js';
import { type BipartiteGraph, createGraph, degrees, type GraphSide, type PartSize } from '../graph/graph.js';
import { labelledEdges } from '../graph/subgraph.js';
import { NO_GRAPH } from '../ingest/intake/collect.js';
import { concat } from '../math/memory.js';
import { withDefaults } from '../options/check-options.js';
import { PARTITION_FILE, PARTITIONED_SPLIT_FORMAT, SPLIT_FILE } from '../options/commands/partition.js';
import { SPLIT } from '../options/commands/split.js';
import type { TaskOptions } from '../progress.js';
import { emptyPart, LABELS, pqAssignment, pqLabels, type SplitOptions } from '../sample/split.js';
import type { Split } from '../sample/split-types.js';
import { type SplitBias, sideBias } from '../sparsity/split-bias.js';
import { readDocument, writeDocument } from '../store/folder-document.js';
import { writeTensorsTo } from '../store/safetensors.js';
import {
  assignmentFile,
  assignmentFiles,
  countDrawn,
  isSplitFolder,
  loadAssignment,
  type PartDescription,
  REPLACED_SPLIT,
  SPLIT_PARTS,
  type SplitPart,
  splitFields,
} from '../store/split-folder.js';
import { needsOnePiece } from './fitted-shards.js';
import { orderPartition } from './gather-model.js';
import {
  ITEMS_FILE,
  isPartitionFolder,
  MOST_SHARDS,
  openPartition,
  type PartitionedData,
  partitionFiles,
  readShard,
  shardFile,
} from './partition-folder.js';
import { ShardTotals } from './shard-totals.js';

const NAMES = Object.keys(SPLIT_PARTS) as SplitPart[];
const FORMAT = {
  ...{ format: PARTITIONED_SPLIT_FORMAT, version: 1, what: 'the description of a split in shards' },
  remedy: 'split the partition again',
} as const;

const schema = z.looseObject({
  format: z.literal(FORMAT.format),
  version: z.literal(FORMAT.version),
  method: z.literal('pq'),
  shards: z.number().int().min(1).max(MOST_SHARDS),
  ...splitFields,
});
type SplitDocument = z.infer<typeof schema>;

export function partitionedSplitFiles(shards: number): string[] {
  return [
    SPLIT_FILE,
    ...(['users', 'items'] as const).map(assignmentFile),
    ...NAMES.flatMap((name) => partitionFiles(shards).map((file) => join(SPLIT_PARTS[name], file))),
  ];
}

interface PartitionedSplit
  extends Pick<Split, 'method' | 'seed' | 'testUsers' | 'testItems' | 'assignment' | 'fingerprint'> {
  readonly parts: Readonly<Record<SplitPart, PartDescription>>;
  readonly unseen: { readonly foldIn: PartSize; readonly test: PartSize };
  readonly bias: SplitBias;
}

/** Splits a partition into a folder: all files appear, or none. */
export async function splitPartition(
  partition: PartitionedData,
  folder: string,
  given: SplitOptions,
  {
    extra = {},
    force,
    signal,
    onProgress,
  }: Pick<TaskOptions, 'signal' | 'onProgress'> & {
    /** More fields for split.json. */
    readonly extra?: object;
    readonly force?: boolean | undefined;
  } = {},
): Promise<PartitionedSplit> {
  const { method, seed, testUsers, testItems } = withDefaults(SPLIT, given);
  if (method !== 'pq') throw needsOnePiece('method', method);
  const { fingerprint, multigraph } = partition;
  const total = partition.shards.length;
  const step = (stage: string, done: number) => {
    throwIfAborted(signal);
    onProgress?.({ stage, done, total, unit: 'shards' });
  };
  const order = await orderPartition(partition, (s) => step('reading ids', s));
  const drawn = pqAssignment(partition.users, partition.items, { testUsers, testItems, seed });
  const cutOf = async (s: number) => cutShard(await readShard(partition, s), order.positions[s], drawn);

  // The first pass counts degrees within the parts: only then is it known which items a part has.
  const ofItems = perPart(() => new Uint32Array(partition.items));
  const ofUsers = perPart(() => [] as Uint32Array[]);
  for (let s = 0; s < total; s++) {
    step('splitting', s);
    const cut = await cutOf(s);
    for (const name of NAMES) {
      for (const item of cut[name].neighbors) ofItems[name][item]++;
      ofUsers[name].push(degrees(cut[name]));
    }
  }
  const kept = perPart((name) => renumbering(ofItems[name]));
  const totals = perPart((name) => new ShardTotals(partition.itemIds.pick(kept[name].items), multigraph));
  for (const name of ['train', 'test'] as const) {
    if (kept[name].items.length === 0)
      throw emptyPart(name, partition, { method: 'pq', testUsers, testItems });
  }

  // The second pass cuts each shard again and writes its three pieces.
  let current: { readonly shard: number; readonly cut: Awaited<ReturnType<typeof cutOf>> } | undefined;
  const files: Record<string, FolderFiles[string]> = {};
  const present = NAMES.filter((name) => kept[name].items.length > 0);
  for (let s = 0; s < total; s++) {
    for (const name of present) {
      files[join(SPLIT_PARTS[name], shardFile(s))] = async (path) => {
        if (current?.shard !== s) {
          step('writing', s);
          current = { shard: s, cut: await cutOf(s) };
        }
        const side = current.cut[name];
        const neighbors = side.neighbors.map((item) => kept[name].number[item]);
        await writeTensorsTo(path, totals[name].add({ ...side, neighbors }));
      };
    }
  }
  const parts = {} as Record<SplitPart, PartDescription>;
  for (const name of present) {
    files[join(SPLIT_PARTS[name], ITEMS_FILE)] = (path) => writeTensorsTo(path, totals[name].items());
    files[join(SPLIT_PARTS[name], PARTITION_FILE)] = (path) => {
      const document = totals[name].document(partition.names, undefined);
      const { users, items, edges, total: sum, fingerprint: own } = document;
      parts[name] = { users, items, edges, total: sum, fingerprint: own };
      return writePieces(path, [`${JSON.stringify(document)}\n`]);
    };
  }
  const assignment: Split['assignment'] = {
    users: { ids: order.ids, drawn: drawn.users },
    items: { ids: partition.itemIds, drawn: drawn.items },
  };
  Object.assign(files, assignmentFiles(assignment));
  const unseen = {
    foldIn: unseenItems(ofItems.train, ofItems.foldIn),
    test: unseenItems(ofItems.train, ofItems.test),
  };
  files[SPLIT_FILE] = (path) => {
    parts.foldIn ??= { users: 0, items: 0, edges: 0, total: 0, fingerprint: '' };
    const document: SplitDocument = {
      ...extra,
      dropped: unseen.foldIn.edges + unseen.test.edges,
      unseen: { foldin: unseen.foldIn, test: unseen.test },
      format: FORMAT.format,
      version: FORMAT.version,
      ...{ method, shards: total, seed, testUsers, testItems, multigraph },
      ids: { users: order.ids.kind, items: partition.itemIds.kind },
      ...{ fingerprint, parts },
      coins: { users: countDrawn(assignment.users), items: countDrawn(assignment.items) },
    };
    return writeDocument(path, document);
  };
  await writeFolder(folder, files, { force, obsolete: REPLACED_SPLIT });
  const heldOut = (degree: Uint32Array, draws: Uint8Array) => degree.filter((_, v) => draws[v] === 1);
  const bias = {
    users: sideBias(
      order.degree,
      heldOut(order.degree, drawn.users),
      perPart((name) => concat(Uint32Array, ofUsers[name])),
    ),
    items: sideBias(
      partition.itemDegree,
      heldOut(partition.itemDegree, drawn.items),
      perPart((name) => ofItems[name].filter((degree) => degree > 0)),
    ),
  };
  return { method, seed, testUsers, testItems, assignment, unseen, fingerprint, parts, bias };
}

function perPart<T>(make: (name: SplitPart) => T): Record<SplitPart, T> {
  return { train: make('train'), foldIn: make('foldIn'), test: make('test') };
}

/** The three pieces of a shard, without users who have no edge there. Items keep their numbers in the whole. */
function cutShard(
  shard: GraphSide,
  positions: Uint32Array,
  drawn: { readonly users: Uint8Array; readonly items: Uint8Array },
): Record<SplitPart, GraphSide> {
  const users = Uint8Array.from(positions, (position) => drawn.users[position]);
  const labels = pqLabels(shard, { users, items: drawn.items });
  return perPart((name) => {
    const { rows, edges } = labelledEdges(shard, labels, LABELS[name]);
    return { count: rows.length, ids: shard.ids.pick(rows), ...edges };
  });
}

/** The items that have an edge, and the new number of each. */
function renumbering(degree: Uint32Array): { readonly items: Uint32Array; readonly number: Uint32Array } {
  const items = Uint32Array.from(degree.keys()).filter((item) => degree[item] > 0);
  const number = new Uint32Array(degree.length);
  for (const [at, item] of items.entries()) number[item] = at;
  return { items, number };
}

/** The items of a part that training does not have, and their edges. */
function unseenItems(train: Uint32Array, part: Uint32Array): PartSize {
  let [items, edges] = [0, 0];
  for (let item = 0; item < part.length; item++) {
    if (part[item] === 0 || train[item] > 0) continue;
    items++;
    edges += part[item];
  }
  return { users: 0, items, edges };
}

/** The folder with the training part of a split in shards; undefined if the path is no such split. */
export async function trainPartition(folder: string): Promise<string | undefined> {
  return (await isPartitionedSplit(folder)) ? join(folder, SPLIT_PARTS.train) : undefined;
}

/** Whether the path is a folder with a split in shards. */
export async function isPartitionedSplit(folder: string): Promise<boolean> {
  return (await isSplitFolder(folder)) && isPartitionFolder(join(folder, SPLIT_PARTS.train));
}

type OpenedSplit = Awaited<ReturnType<typeof openPartitionedSplit>>;

export async function openPartitionedSplit(folder: string) {
  await finishFolder(folder, partitionedSplitFiles(MOST_SHARDS));
  const path = join(folder, SPLIT_FILE);
  const document = await readDocument(path, schema, FORMAT);
  const open = async (name: SplitPart) => {
    const opened = await openPartition(join(folder, SPLIT_PARTS[name]));
    const expected = document.parts[name].fingerprint;
    if (opened.fingerprint === expected && opened.shards.length === document.shards) return opened;
    throw new InputError(
      `${opened.folder}: its contents are not those that ${path} describes; ${FORMAT.remedy}`,
    );
  };
  const users = await loadAssignment(folder, 'users', document);
  const { shards, seed, testUsers, testItems, fingerprint } = document;
  return {
    ...{ folder, shards, seed, testUsers, testItems, fingerprint },
    train: await open('train'),
    /** Undefined if it has no edges. */
    foldIn: document.parts.foldIn.edges === 0 ? undefined : await open('foldIn'),
    test: await open('test'),
    itemAssignment: await loadAssignment(folder, 'items', document),
    /** The ids of all users of the whole data, and their draws. */
    userIds: users.ids,
    userDrawn: users.drawn,
  };
}

/** What an evaluation needs to know of a split in shards, except its held-out users. */
export function frameOfPartition(split: OpenedSplit): SplitFrame {
  const { seed, testUsers, testItems, fingerprint, train, test, itemAssignment } = split;
  return {
    ...{ seed, testUsers, testItems, itemAssignment, fingerprint },
    train: { ids: train.itemIds, degree: train.itemDegree, fingerprint: train.fingerprint },
    testIds: test.itemIds,
  };
}

/** The same of a split in one piece. */
export function frameOfSplit(split: Split): SplitFrame {
  const { seed, testUsers, testItems, fingerprint, train, test, assignment } = split;
  const { items } = train;
  return {
    ...{ seed, testUsers, testItems, itemAssignment: assignment.items, fingerprint },
    train: { ids: items.ids, degree: degrees(items), fingerprint: fingerprintOf(train) },
    testIds: test.items.ids,
  };
}

export async function* heldOutPieces(
  { shards, foldIn, test }: OpenedSplit,
  { signal, onShard }: { readonly signal?: AbortSignal; readonly onShard?: (shard: number) => void } = {},
): AsyncGenerator<HeldOutPiece> {
  for (let s = 0; s < shards; s++) {
    throwIfAborted(signal);
    onShard?.(s);
    yield { foldIn: foldIn ? await graphOf(foldIn, s) : NO_GRAPH, test: await graphOf(test, s) };
  }
}

async function graphOf(partition: PartitionedData, shard: number): Promise<BipartiteGraph> {
  const { ids, ...byUser } = await readShard(partition, shard);
  return createGraph({ userIds: ids, itemIds: partition.itemIds, byUser });
}
