// A (p,q)-split of parts, shard by shard: the coins of a split in one piece, so that the same edges come to the same parts.
// The result is a folder with parts for training, fold-in and test, cut as the data are, the coins, and split.json. In memory
// are the ids of all users, their coins, and one shard.

import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { InputError, throwIfAborted } from '../errors.js';
import { writePieces } from '../files/atomic.js';
import { type FolderFiles, finishFolder, writeFolder } from '../files/folder.js';
import { degrees, type GraphSide } from '../graph/graph.js';
import type { VertexIds } from '../graph/ids.js';
import { withDefaults } from '../options/check-options.js';
import { PARTITION_FILE, PARTITIONED_SPLIT_FORMAT, SPLIT_FILE } from '../options/commands/partition.js';
import { SPLIT } from '../options/commands/split.js';
import { option, optionError } from '../options/error.js';
import type { TaskOptions } from '../progress.js';
import { emptyPart, pqAssignment, type SplitOptions, type Unseen } from '../sample/split.js';
import type { Assignment, Split } from '../sample/split-types.js';
import { type SplitBias, sideBias } from '../sparsity/split-bias.js';
import { writeTensorsTo } from '../store/safetensors.js';
import {
  assignmentFile,
  assignmentFiles,
  assignmentSchema,
  kindSchema,
  loadAssignment,
  partSchema,
  readRecordText,
  SPLIT_OBSOLETE,
  tally,
} from '../store/split-folder.js';
import { documentProblem } from '../text/documents.js';
import { safeJson } from '../text/untrusted.js';
import { placesOf } from './order.js';
import {
  ITEMS_FILE,
  MOST_SHARDS,
  openPartition,
  type PartitionedData,
  partitionFiles,
  readShard,
  shardFile,
} from './partition-folder.js';
import { ShardTotals } from './shard-totals.js';

export const SPLIT_PARTS = { train: 'train', foldIn: 'foldin', test: 'test' } as const;
export type SplitPart = keyof typeof SPLIT_PARTS;
const NAMES = Object.keys(SPLIT_PARTS) as SplitPart[];

const whole = z.number().int().min(0);
const schema = z.looseObject({
  format: z.literal(PARTITIONED_SPLIT_FORMAT),
  version: z.literal(1),
  method: z.literal('pq'),
  shards: whole.min(1).max(MOST_SHARDS),
  seed: z.number(),
  testUsers: z.number(),
  testItems: z.number(),
  multigraph: z.boolean(),
  ids: z.object({ users: kindSchema, items: kindSchema }),
  fingerprint: z.string(),
  parts: z.object({ train: partSchema, foldIn: partSchema, test: partSchema }),
  coins: z.object({ users: assignmentSchema, items: assignmentSchema }),
});
type SplitRecord = z.infer<typeof schema>;

/** The names of all files of a split of so many shards. */
export function partitionedSplitFiles(shards: number): string[] {
  return [
    SPLIT_FILE,
    ...(['users', 'items'] as const).map(assignmentFile),
    ...NAMES.flatMap((name) => partitionFiles(shards).map((file) => join(SPLIT_PARTS[name], file))),
  ];
}

/** What was written. */
export interface PartitionedSplit
  extends Pick<Split, 'method' | 'seed' | 'testUsers' | 'testItems' | 'assignment' | 'fingerprint'> {
  readonly parts: Readonly<Record<SplitPart, SplitRecord['parts']['train']>>;
  readonly unseen: { readonly foldIn: Unseen; readonly test: Unseen };
  readonly bias: SplitBias;
}

/** Splits parts into a folder: all files appear, or none. */
export async function splitShards(
  parts: PartitionedData,
  folder: string,
  given: SplitOptions,
  {
    extra = {},
    force,
    signal,
    onProgress,
  }: Pick<TaskOptions, 'signal' | 'onProgress'> & {
    /** Goes into split.json beside the rest. */
    readonly extra?: object;
    readonly force?: boolean | undefined;
  } = {},
): Promise<PartitionedSplit> {
  const { method, seed, testUsers, testItems } = withDefaults(SPLIT, given);
  if (method !== 'pq') {
    throw optionError`${option('method')} ${method} needs the data in one piece, and these are in parts; give the data themselves, or leave ${option('method')} out`;
  }
  const total = parts.shards.length;
  const step = (stage: string, done: number) => {
    throwIfAborted(signal);
    onProgress?.({ stage, done, total, unit: 'shards' });
  };
  const sizes = parts.shards.map(({ users }) => users);
  const places = await placesOf(sizes, async (s) => {
    step('reading ids', s);
    const shard = await readShard(parts, s);
    return { ids: shard.ids, degree: degrees(shard) };
  });
  const drawn = pqAssignment(parts.users, parts.items, { testUsers, testItems, seed });
  const cutOf = async (s: number) => cutShard(await readShard(parts, s), places.of[s], drawn);

  // First the degrees within the parts: which items a part has is known when all shards were seen.
  const ofItems = perPart(() => new Uint32Array(parts.items));
  const ofUsers = perPart(() => [] as Uint32Array[]);
  for (let s = 0; s < total; s++) {
    step('splitting', s);
    const cut = await cutOf(s);
    for (const name of NAMES) {
      for (const item of cut[name].neighbors) ofItems[name][item]++;
      ofUsers[name].push(degrees(cut[name]));
    }
  }
  const kept = perPart((name) => numbering(ofItems[name]));
  const tallies = perPart((name) => new ShardTotals(parts.itemIds.pick(kept[name].items), parts.multigraph));
  for (const name of ['train', 'test'] as const) {
    if (kept[name].items.length === 0) throw emptyPart(name, parts, { testUsers, testItems });
  }

  // Then each shard is cut once more, and its three pieces are written.
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
        const side = renumbered(current.cut[name], kept[name].place);
        await writeTensorsTo(path, tallies[name].add(side));
      };
    }
  }
  const described = {} as Record<SplitPart, SplitRecord['parts']['train']>;
  for (const name of present) {
    const inside = (file: string) => join(SPLIT_PARTS[name], file);
    files[inside(ITEMS_FILE)] = (path) => writeTensorsTo(path, tallies[name].items());
    files[inside(PARTITION_FILE)] = (path) => {
      const document = tallies[name].document(parts.names, undefined);
      const { users, items, edges, total: all, fingerprint } = document;
      described[name] = { users, items, edges, total: all, fingerprint };
      return writePieces(path, [`${JSON.stringify(document)}\n`]);
    };
  }
  const coins: Split['assignment'] = {
    users: { ids: places.ids, drawn: drawn.users },
    items: { ids: parts.itemIds, drawn: drawn.items },
  };
  Object.assign(files, assignmentFiles(coins));
  const unseen = {
    foldIn: unseenItems(ofItems.train, ofItems.foldIn),
    test: unseenItems(ofItems.train, ofItems.test),
  };
  files[SPLIT_FILE] = (path) => {
    described.foldIn ??= { users: 0, items: 0, edges: 0, total: 0, fingerprint: '' };
    const record: SplitRecord = {
      ...extra,
      dropped: unseen.foldIn.edges + unseen.test.edges,
      unseen: { foldin: unseen.foldIn, test: unseen.test },
      format: PARTITIONED_SPLIT_FORMAT,
      version: 1,
      ...{ method, shards: total, seed, testUsers, testItems },
      multigraph: parts.multigraph,
      ids: { users: places.ids.kind, items: parts.itemIds.kind },
      fingerprint: parts.fingerprint,
      parts: described,
      coins: { users: tally(coins.users), items: tally(coins.items) },
    };
    return writePieces(path, [`${safeJson(JSON.stringify(record, null, 2))}\n`]);
  };
  await writeFolder(folder, files, { force, obsolete: SPLIT_OBSOLETE });
  const heldOut = (degree: Uint32Array, coin: Uint8Array) => degree.filter((_, v) => coin[v] === 1);
  return {
    ...{ method, seed, testUsers, testItems, assignment: coins, unseen },
    fingerprint: parts.fingerprint,
    parts: described,
    bias: {
      users: sideBias(
        places.degree,
        heldOut(places.degree, drawn.users),
        perPart((name) => joined(ofUsers[name])),
      ),
      items: sideBias(
        parts.itemDegree,
        heldOut(parts.itemDegree, drawn.items),
        perPart((name) => ofItems[name].filter((degree) => degree > 0)),
      ),
    },
  };
}

function perPart<T>(make: (name: SplitPart) => T): Record<SplitPart, T> {
  return { train: make('train'), foldIn: make('foldIn'), test: make('test') };
}

/** The three pieces of a shard, items by their numbers in the whole; users without an edge in a piece are not in it. */
function cutShard(
  shard: GraphSide,
  places: Uint32Array,
  drawn: { readonly users: Uint8Array; readonly items: Uint8Array },
): Record<SplitPart, GraphSide> {
  const wanted = (row: number, item: number): SplitPart =>
    drawn.users[places[row]] === 0 ? 'train' : drawn.items[item] === 0 ? 'foldIn' : 'test';
  return perPart((name) => {
    const rows: number[] = [];
    const offsets = [0];
    let edges = 0;
    for (let row = 0; row < shard.count; row++) {
      const before = edges;
      for (let e = shard.offsets[row]; e < shard.offsets[row + 1]; e++) {
        if (wanted(row, shard.neighbors[e]) === name) edges++;
      }
      if (edges === before) continue;
      rows.push(row);
      offsets.push(edges);
    }
    const neighbors = new Uint32Array(edges);
    const counts = shard.counts && new Uint32Array(edges);
    let at = 0;
    for (const row of rows) {
      for (let e = shard.offsets[row]; e < shard.offsets[row + 1]; e++) {
        if (wanted(row, shard.neighbors[e]) !== name) continue;
        neighbors[at] = shard.neighbors[e];
        if (counts) counts[at] = shard.counts![e];
        at++;
      }
    }
    return {
      count: rows.length,
      ids: shard.ids.pick(rows),
      offsets: Uint32Array.from(offsets),
      neighbors,
      counts,
    };
  });
}

/** The items that have an edge, and the number of each among them. */
function numbering(degree: Uint32Array): { readonly items: Uint32Array; readonly place: Uint32Array } {
  const items = Uint32Array.from(degree.keys()).filter((item) => degree[item] > 0);
  const place = new Uint32Array(degree.length);
  for (const [at, item] of items.entries()) place[item] = at;
  return { items, place };
}

function renumbered(side: GraphSide, place: Uint32Array): GraphSide {
  return { ...side, neighbors: side.neighbors.map((item) => place[item]) };
}

/** Items of a part that training never saw, and their edges. */
function unseenItems(train: Uint32Array, part: Uint32Array): Unseen {
  let [items, edges] = [0, 0];
  for (let item = 0; item < part.length; item++) {
    if (part[item] === 0 || train[item] > 0) continue;
    items++;
    edges += part[item];
  }
  return { users: 0, items, edges };
}

function joined(lists: readonly Uint32Array[]): Uint32Array {
  const all = new Uint32Array(lists.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of lists) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** The folder with the training part of a split in shards; undefined where the path is no such split. */
export async function trainPartition(folder: string): Promise<string | undefined> {
  return (await isPartitionedSplit(folder)) ? join(folder, SPLIT_PARTS.train) : undefined;
}

/** Whether the path is a folder with a split in shards. */
export async function isPartitionedSplit(folder: string): Promise<boolean> {
  const inside = join(folder, SPLIT_PARTS.train, PARTITION_FILE);
  const [record, train] = await Promise.all([isFile(join(folder, SPLIT_FILE)), isFile(inside)]);
  return record && train;
}

async function isFile(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isFile() ?? false;
}

/** A split in shards that was opened. */
export interface OpenedSplit extends Pick<SplitRecord, 'shards' | 'seed' | 'testUsers' | 'testItems'> {
  readonly folder: string;
  readonly train: PartitionedData;
  /** Undefined where it has no edge. */
  readonly foldIn: PartitionedData | undefined;
  readonly test: PartitionedData;
  readonly fingerprint: string;
  readonly itemCoins: Assignment;
  /** By the id of a user of the whole data. */
  readonly userIds: VertexIds;
  readonly userCoins: Uint8Array;
}

export async function openPartitionedSplit(folder: string): Promise<OpenedSplit> {
  await finishFolder(folder, partitionedSplitFiles(MOST_SHARDS));
  const path = join(folder, SPLIT_FILE);
  const parsed = schema.safeParse(parseJson(path, await readRecordText(path)));
  if (!parsed.success) {
    throw new InputError(
      `${path}: it does not describe a split of parts (${documentProblem(parsed.error)}); split the parts again`,
    );
  }
  const record = parsed.data;
  const open = async (name: SplitPart) => {
    const opened = await openPartition(join(folder, SPLIT_PARTS[name]));
    const said = record.parts[name];
    if (opened.fingerprint === said.fingerprint && opened.shards.length === record.shards) return opened;
    throw new InputError(
      `${opened.folder}: its contents are not those that ${path} describes; split the parts again`,
    );
  };
  const users = await loadAssignment(folder, 'users', record);
  const { shards, seed, testUsers, testItems, fingerprint } = record;
  return {
    ...{ folder, shards, seed, testUsers, testItems, fingerprint },
    train: await open('train'),
    foldIn: record.parts.foldIn.edges === 0 ? undefined : await open('foldIn'),
    test: await open('test'),
    itemCoins: await loadAssignment(folder, 'items', record),
    userIds: users.ids,
    userCoins: users.drawn,
  };
}

function parseJson(path: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new InputError(
      `${path}: it is not valid JSON (${(cause as Error).message}); split the parts again`,
    );
  }
}
