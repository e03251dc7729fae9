// A split as a folder: train, foldin and test as Parquet with the original ids, the coins of both sides as Parquet, and
// split.json with the seed, the counts and the fingerprints that loading checks.

import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { InputError } from '../errors.js';
import { writePieces } from '../files/atomic.js';
import { type FolderFiles, finishFolder, writeFolder } from '../files/folder.js';
import { readError } from '../files/read-error.js';
import { buildGraph } from '../graph/build.js';
import { fingerprint } from '../graph/fingerprint.js';
import { type BipartiteGraph, SIDES, type SideName } from '../graph/graph.js';
import { VertexIds } from '../graph/ids.js';
import { readParquet, readParquetColumns } from '../ingest/formats/parquet.js';
import { parseNumber, type ValueColumn } from '../ingest/intake/value-column.js';
import { checkOptions, withDefaults } from '../options/check-options.js';
import {
  PARTITION_FILE,
  PARTITIONED_SPLIT_FORMAT,
  PARTITIONED_SPLIT_READERS,
  SPLIT_FILE,
} from '../options/commands/partition.js';
import type { OptionsOf } from '../options/declare.js';
import { SPLIT_METHODS } from '../options/names.js';
import { FORCE, TASK } from '../options/shared.js';
import { writeParquet } from '../parquet/write.js';
import type { TaskOptions } from '../progress.js';
import type { Assignment, Split } from '../sample/split-types.js';
import { documentProblem } from '../text/documents.js';
import { list } from '../text/phrases.js';
import { readSideNames } from '../text/sides.js';
import { safeJson } from '../text/untrusted.js';
import { edgeColumns } from './edge-rows.js';

const PARTS = { train: 'train', foldIn: 'foldin', test: 'test' } as const;
type PartName = keyof typeof PARTS;
const PART_NAMES = Object.keys(PARTS) as PartName[];
const VERSION = 1;

/** Files of earlier splits, in one piece or in shards. */
export const SPLIT_OBSOLETE = /^(train|foldin|test)(\.parquet$|[/\\])/;

/** The files of a split in its folder. */
export const SPLIT_FILES: readonly string[] = [
  ...PART_NAMES.map((part) => `${PARTS[part]}.parquet`),
  ...SIDES.map(assignmentFile),
  SPLIT_FILE,
];

export const partSchema = z.object({
  users: z.number().int(),
  items: z.number().int(),
  edges: z.number().int(),
  total: z.number().int(),
  fingerprint: z.string(),
});
export const assignmentSchema = z.object({ total: z.number().int(), drawn: z.number().int() });
export const kindSchema = z.enum(['integer', 'text']);
const splitSchema = z.looseObject({
  format: z.literal('graphex-split'),
  version: z.number().int(),
  method: z.enum(SPLIT_METHODS),
  cut: z.number().optional(),
  seed: z.number(),
  testUsers: z.number(),
  testItems: z.number(),
  multigraph: z.boolean(),
  ids: z.object({ users: kindSchema, items: kindSchema }),
  fingerprint: z.string(),
  names: z.unknown().optional(),
  parts: z.object({ train: partSchema, foldIn: partSchema, test: partSchema }),
  coins: z.object({ users: assignmentSchema, items: assignmentSchema }),
});

/**
 * Saves the split; `extra` goes into split.json beside the rest, for instance what was dropped or the source's name. Files of
 * these names that graphex has not written are refused, unless `force` is set.
 */
export async function saveSplit(
  folder: string,
  split: Split,
  extra: Readonly<Record<string, unknown>> = {},
  options: OptionsOf<typeof FORCE> = {},
): Promise<void> {
  const { force } = withDefaults(FORCE, options);
  const { method, seed, testUsers, testItems, assignment: coins, byTime } = split;
  const record: z.infer<typeof splitSchema> = {
    ...extra,
    format: 'graphex-split',
    version: VERSION,
    method,
    seed,
    testUsers,
    testItems,
    ...(byTime && { cut: byTime.cut }),
    multigraph: split.train.multigraph,
    ids: { users: coins.users.ids.kind, items: coins.items.ids.kind },
    fingerprint: split.fingerprint,
    ...(split.train.names && { names: split.train.names }),
    parts: { train: describe(split.train), foldIn: describe(split.foldIn), test: describe(split.test) },
    coins: { users: tally(coins.users), items: tally(coins.items) },
  };
  const files: Record<string, (beside: string) => Promise<void>> = {};
  for (const part of PART_NAMES) {
    const graph = split[part];
    const decimals = part === 'foldIn' ? new Float64Array(0) : byTime?.[part];
    const columns = [...edgeColumns(graph), ...(byTime && decimals ? [{ name: 'time', decimals }] : [])];
    files[`${PARTS[part]}.parquet`] = (beside) => writeParquet(beside, graph.edges, columns);
  }
  Object.assign(files, assignmentFiles(coins));
  files[SPLIT_FILE] = (beside) => writePieces(beside, [`${safeJson(JSON.stringify(record, null, 2))}\n`]);
  await writeFolder(folder, files, { force, obsolete: SPLIT_OBSOLETE });
}

/** The coins of both sides as files of a folder. */
export function assignmentFiles(coins: Split['assignment']): FolderFiles {
  const files = SIDES.map((side) => {
    const { ids, drawn } = coins[side];
    const every = Uint32Array.from({ length: ids.length }, (_, v) => v);
    const write = (beside: string) =>
      writeParquet(beside, ids.length, [
        { name: 'id', ids, vertices: every },
        { name: 'drawn', numbers: drawn },
      ]);
    return [assignmentFile(side), write] as const;
  });
  return Object.fromEntries(files);
}

/** Loads a split and checks every part against split.json. */
export async function loadSplit(folder: string, options: TaskOptions = {}): Promise<Split> {
  checkOptions(TASK, options);
  const record = await readRecord(folder);
  const train = await loadPart(folder, 'train', record, options);
  const foldIn = await loadPart(folder, 'foldIn', record, options);
  const test = await loadPart(folder, 'test', record, options);
  const parts = { train: train.graph, foldIn: foldIn.graph, test: test.graph };
  const { cut } = record;
  const byTime =
    cut === undefined || !train.times || !test.times
      ? undefined
      : Object.freeze({ cut, train: train.times, test: test.times });
  const { method, seed, testUsers, testItems } = record;
  return Object.freeze({
    method,
    seed,
    testUsers,
    testItems,
    ...parts,
    ...(byTime && { byTime }),
    assignment: Object.freeze({
      users: await loadAssignment(folder, 'users', record),
      items: await loadAssignment(folder, 'items', record),
    }),
    fingerprint: record.fingerprint,
  });
}

/** What a split says of itself is short. */
const MOST_RECORD_BYTES = 1 << 26;

/** Looked at first: a pipe or a device in its place could be waited for without end. */
export async function readRecordText(path: string): Promise<string> {
  const found = await stat(path);
  if (!found.isFile() || found.size > MOST_RECORD_BYTES) {
    throw new InputError(`${path}: this is not the record of a split; split the data again`);
  }
  return readFile(path, 'utf8');
}

async function readRecord(folder: string): Promise<z.infer<typeof splitSchema>> {
  const path = join(folder, SPLIT_FILE);
  let text: string;
  try {
    await finishFolder(folder, SPLIT_FILES);
    text = await readRecordText(path);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ENOTDIR') {
      throw new InputError(`${folder}: this is a file; give a folder that "graphex split" wrote`);
    }
    if (code === 'ENOENT') {
      if ((await stat(join(folder, PARTITION_FILE)).catch(() => undefined))?.isFile()) {
        throw new InputError(
          `${folder}: this is a folder of shards and no split; split it first: graphex split ${folder} -o split`,
        );
      }
      throw new InputError(
        `${folder}: there is no split.json in it; give a folder that "graphex split" wrote`,
      );
    }
    throw readError(path, cause);
  }
  let json: { format?: unknown; version?: unknown };
  try {
    json = JSON.parse(text);
  } catch (cause) {
    throw new InputError(`${path}: it is not valid JSON (${(cause as Error).message}); split the data again`);
  }
  if (json?.format === PARTITIONED_SPLIT_FORMAT) {
    throw new InputError(
      `${folder}: this split is in shards, which only graphex ${list(PARTITIONED_SPLIT_READERS)} read; split the data themselves in place of parts`,
    );
  }
  if (json?.format === 'graphex-split' && typeof json.version === 'number' && json.version > VERSION) {
    throw new InputError(
      `${path}: it has version ${json.version}, and this graphex reads up to ${VERSION}; update graphex`,
    );
  }
  const parsed = splitSchema.safeParse(json);
  if (parsed.success) return parsed.data;
  throw new InputError(
    `${path}: it does not describe a split (${documentProblem(parsed.error)}); split the data again`,
  );
}

/** As they were written: milliseconds since 1970, or whatever unit a program had. */
const TIMES: ValueColumn = { column: 'time', role: 'time', parse: parseNumber('time'), keep: 'least' };

async function loadPart(
  folder: string,
  part: PartName,
  record: z.infer<typeof splitSchema>,
  options: TaskOptions,
): Promise<{ readonly graph: BipartiteGraph; readonly times: Float64Array | undefined }> {
  const path = join(folder, `${PARTS[part]}.parquet`);
  const expected = record.parts[part];
  const { multigraph, ids } = record;
  let graph: BipartiteGraph;
  let times: Float64Array | undefined;
  if (expected.edges === 0) graph = emptyGraph(multigraph);
  else {
    const kind = (side: SideName) => (ids[side] === 'text' ? 'text' : 'dictionary');
    const columns = { users: 'user', items: 'item', ...(multigraph ? { count: 'count' } : {}) };
    const kinds = { users: kind('users'), items: kind('items') } as const;
    const value = record.cut === undefined ? undefined : TIMES;
    const reading = { ...options, ...columns, multigraph, value };
    const read = await readParquet(path, reading, undefined, kinds);
    graph = read.graph;
    times = read.values;
  }
  if (fingerprint(graph) !== expected.fingerprint) {
    throw new InputError(
      `${path}: its contents are not those that split.json describes; split the data again`,
    );
  }
  const names = readSideNames(record.names);
  return { graph: names ? Object.freeze({ ...graph, names }) : graph, times };
}

function emptyGraph(multigraph: boolean): BipartiteGraph {
  return buildGraph({ users: [], items: [], userCount: 0, itemCount: 0, multigraph });
}

export async function loadAssignment(
  folder: string,
  side: SideName,
  record: Pick<z.infer<typeof splitSchema>, 'ids' | 'coins'>,
): Promise<Assignment> {
  const path = join(folder, assignmentFile(side));
  const text = record.ids[side] === 'text';
  const ids: (string | number | null)[] = [];
  const drawn: number[] = [];
  try {
    await readParquetColumns(path, ['id', 'drawn'], ([id, coin]) => {
      ids.push(id === null || text ? id : exact(id));
      drawn.push(coin === null ? Number.NaN : exact(coin));
    });
  } catch (cause) {
    throw new InputError(
      `${path}: the coins cannot be read (${(cause as Error).message.split('\n')[0]}); split the data again`,
    );
  }
  const coins = {
    ids: text ? VertexIds.texts(ids as string[]) : VertexIds.integers(Float64Array.from(ids as number[])),
    drawn: Uint8Array.from(drawn),
  };
  const found = tally(coins);
  const whole = ids.every((id) => id !== null) && drawn.every((coin) => coin === 0 || coin === 1);
  if (!whole || found.total !== record.coins[side].total || found.drawn !== record.coins[side].drawn) {
    throw new InputError(`${path}: its coins are not those that split.json counts; split the data again`);
  }
  return Object.freeze(coins);
}

/** The whole number that the text writes. */
function exact(text: string): number {
  const value = Number(text);
  if (text === String(value) && Number.isSafeInteger(value)) return value;
  throw new InputError(`${JSON.stringify(text.slice(0, 60))} is no whole number`);
}

export function assignmentFile(side: SideName): string {
  return `coins-${side}.parquet`;
}

function describe(graph: BipartiteGraph): z.infer<typeof partSchema> {
  return {
    users: graph.users.count,
    items: graph.items.count,
    edges: graph.edges,
    total: graph.total,
    fingerprint: fingerprint(graph),
  };
}

export function tally({ drawn }: Pick<Assignment, 'drawn'>): { total: number; drawn: number } {
  let heads = 0;
  for (const coin of drawn) heads += coin;
  return { total: drawn.length, drawn: heads };
}
