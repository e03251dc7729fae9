// A split as a folder. train, foldin and test are Parquet or CSV with the original ids; the random draws of both sides are
// Parquet. split.json has the seed, the counts and the fingerprints that loading checks.

import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { InputError } from '../errors.js';
import { writePieces } from '../files/atomic.js';
import { type FolderFiles, finishFolder, writeFolder } from '../files/folder.js';
import { isFile } from '../files/plain-file.js';
import { buildGraph } from '../graph/build.js';
import { fingerprint } from '../graph/fingerprint.js';
import { type BipartiteGraph, partSize, SIDES, type SideName } from '../graph/graph.js';
import { VertexIds } from '../graph/ids.js';
import { readParquetColumns } from '../ingest/formats/parquet.js';
import { writtenTimes } from '../ingest/intake/value-column.js';
import { readTable } from '../ingest/read.js';
import { checkOptions, withDefaults } from '../options/check-options.js';
import {
  FOLDS_FILE,
  PARTITION_FILE,
  PARTITIONED_SPLIT_FORMAT,
  PARTITIONED_SPLIT_READERS,
  SPLIT_FILE,
} from '../options/commands/partition.js';
import { SAVE_SPLIT } from '../options/commands/split.js';
import type { OptionsOf } from '../options/declare.js';
import { SPLIT_FORMATS, SPLIT_METHODS, type SplitFormat } from '../options/names.js';
import { TASK } from '../options/shared.js';
import { writeParquet } from '../parquet/write.js';
import type { TaskOptions } from '../progress.js';
import type { Assignment, Split } from '../sample/split-types.js';
import { list } from '../text/phrases.js';
import { readSideNames } from '../text/sides.js';
import { edgeColumns, edgeText } from './edge-rows.js';
import { readDocument, readJson, writeDocument } from './folder-document.js';

/** The parts of a split, by their names in the library and on disk. */
export const SPLIT_PARTS = { train: 'train', foldIn: 'foldin', test: 'test' } as const;
export type SplitPart = keyof typeof SPLIT_PARTS;
const PART_NAMES = Object.keys(SPLIT_PARTS) as SplitPart[];
const FORMAT = {
  ...{ format: 'graphex-split', version: 1, what: 'the description of a split' },
  remedy: 'split the data again',
} as const;

/** Files of a previous split in the folder, in one piece or in shards: a new split replaces them. */
export const REPLACED_SPLIT = /^(train|foldin|test)(\.(parquet|csv)$|[/\\])/;

export function splitFiles(format: SplitFormat = 'parquet'): string[] {
  return [...PART_NAMES.map((part) => partFile(part, format)), ...SIDES.map(assignmentFile), SPLIT_FILE];
}

function partFile(part: SplitPart, format: SplitFormat): string {
  return `${SPLIT_PARTS[part]}.${format}`;
}

const partSchema = z.object({
  users: z.number().int(),
  items: z.number().int(),
  edges: z.number().int(),
  total: z.number().int(),
  fingerprint: z.string(),
});
/** What split.json says of one part. */
export type PartDescription = z.infer<typeof partSchema>;
const drawnSchema = z.object({ total: z.number().int(), drawn: z.number().int() });
const kindSchema = z.enum(['integer', 'text']);
/** Fields of split.json that a split has in one piece and in shards. */
export const splitFields = {
  seed: z.number(),
  testUsers: z.number(),
  testItems: z.number(),
  multigraph: z.boolean(),
  ids: z.object({ users: kindSchema, items: kindSchema }),
  fingerprint: z.string(),
  parts: z.object({ train: partSchema, foldIn: partSchema, test: partSchema }),
  coins: z.object({ users: drawnSchema, items: drawnSchema }),
};
const splitSchema = z.looseObject({
  format: z.literal(FORMAT.format),
  version: z.literal(FORMAT.version),
  method: z.enum(SPLIT_METHODS),
  /** The format of the parts. Default parquet. */
  files: z.enum(SPLIT_FORMATS).optional(),
  cut: z.number().optional(),
  /** Whether the parts have times; earlier versions wrote them for the methods time and last alone. */
  times: z.boolean().optional(),
  names: z.unknown().optional(),
  ...splitFields,
});
type SplitDocument = z.infer<typeof splitSchema>;

/**
 * Saves the split. `extra` adds fields to split.json, for instance the name of the source. It refuses to replace files that
 * graphex has not written, unless `force` is set.
 * @example
 * import { saveSplit, simulate, split } from 'graphex';
 * const { graph } = await simulate({ features: 4, users: { size: 30 }, items: { size: 30 }, seed: 1 });
 * await saveSplit('saved-split', split(graph, { seed: 1 }), { source: 'simulated' });
 * console.log('saved');
 */
export async function saveSplit(
  folder: string,
  split: Split,
  extra: Readonly<Record<string, unknown>> = {},
  options: OptionsOf<typeof SAVE_SPLIT> = {},
): Promise<void> {
  const { force, format } = withDefaults(SAVE_SPLIT, options);
  await writeFolder(folder, filesOfSplit(split, extra, format), { force, obsolete: REPLACED_SPLIT });
}

export function filesOfSplit(
  split: Split,
  extra: Readonly<Record<string, unknown>>,
  format: SplitFormat,
): FolderFiles {
  const { method, seed, testUsers, testItems, assignment, times } = split;
  const document: SplitDocument = {
    ...extra,
    format: FORMAT.format,
    version: FORMAT.version,
    ...{ method, seed, testUsers, testItems },
    ...(format !== 'parquet' && { files: format }),
    ...(times?.cut !== undefined && { cut: times.cut }),
    ...(times && { times: true }),
    multigraph: split.train.multigraph,
    ids: { users: assignment.users.ids.kind, items: assignment.items.ids.kind },
    fingerprint: split.fingerprint,
    ...(split.train.names && { names: split.train.names }),
    parts: { train: describe(split.train), foldIn: describe(split.foldIn), test: describe(split.test) },
    coins: { users: countDrawn(assignment.users), items: countDrawn(assignment.items) },
  };
  const files: Record<string, FolderFiles[string]> = {};
  for (const part of PART_NAMES) {
    const graph = split[part];
    const own = times?.[part];
    files[partFile(part, format)] = (path) =>
      format === 'csv'
        ? writePieces(path, edgeText(graph, ',', own))
        : writeParquet(path, graph.edges, [
            ...edgeColumns(graph),
            ...(own ? [{ name: 'time', decimals: own }] : []),
          ]);
  }
  Object.assign(files, assignmentFiles(assignment));
  files[SPLIT_FILE] = (path) => writeDocument(path, document);
  return files;
}

/** The random draws of both sides as files of a folder. */
export function assignmentFiles(assignment: Split['assignment']): FolderFiles {
  const files = SIDES.map((side) => {
    const { ids, drawn } = assignment[side];
    const every = Uint32Array.from({ length: ids.length }, (_, v) => v);
    const write = (path: string) =>
      writeParquet(path, ids.length, [
        { name: 'id', ids, vertices: every },
        { name: 'drawn', numbers: drawn },
      ]);
    return [assignmentFile(side), write] as const;
  });
  return Object.fromEntries(files);
}

/**
 * Loads a split and checks every part against split.json.
 * @example
 * import { loadSplit, saveSplit, simulate, split } from 'graphex';
 * const { graph } = await simulate({ features: 4, users: { size: 30 }, items: { size: 30 }, seed: 1 });
 * await saveSplit('loaded-split', split(graph, { seed: 1 }));
 * console.log((await loadSplit('loaded-split')).train.edges);
 */
export async function loadSplit(folder: string, options: TaskOptions = {}): Promise<Split> {
  checkOptions(TASK, options);
  const document = await readSplitDocument(folder);
  const train = await loadPart(folder, 'train', document, options);
  const foldIn = await loadPart(folder, 'foldIn', document, options);
  const test = await loadPart(folder, 'test', document, options);
  const { cut, method, seed, testUsers, testItems } = document;
  const times =
    train.times && foldIn.times && test.times
      ? Object.freeze({
          ...(cut !== undefined && { cut }),
          ...{ train: train.times, foldIn: foldIn.times, test: test.times },
        })
      : undefined;
  return Object.freeze({
    ...{ method, seed, testUsers, testItems },
    ...{ train: train.graph, foldIn: foldIn.graph, test: test.graph },
    ...(times && { times }),
    assignment: Object.freeze({
      users: await loadAssignment(folder, 'users', document),
      items: await loadAssignment(folder, 'items', document),
    }),
    fingerprint: document.fingerprint,
  });
}

/** Whether a folder holds folds of users. */
export function isFoldsFolder(folder: string): Promise<boolean> {
  return isFile(join(folder, FOLDS_FILE));
}

export function isSplitFolder(folder: string): Promise<boolean> {
  return isFile(join(folder, SPLIT_FILE));
}

async function readSplitDocument(folder: string): Promise<SplitDocument> {
  const path = join(folder, SPLIT_FILE);
  const found = await stat(folder).catch(() => undefined);
  if (found && !found.isDirectory()) {
    throw new InputError(`${folder}: this is a file; give the folder of a split`);
  }
  await finishFolder(folder, [...splitFiles(), ...splitFiles('csv')]);
  if (found && !(await stat(path).catch(() => undefined))) {
    throw new InputError(
      (await isFile(join(folder, PARTITION_FILE)))
        ? `${folder}: this is a folder of shards, not a split; split it first`
        : (await isFoldsFolder(folder))
          ? `${folder}: this is a folder of folds; give one of them, as in ${join(folder, 'fold-1')}, or study all with npx graphex study`
          : `${folder}: there is no ${SPLIT_FILE} in it; give the folder of a split`,
    );
  }
  const { what, remedy } = FORMAT;
  if ((await readJson(path, what, remedy))?.format === PARTITIONED_SPLIT_FORMAT) {
    throw new InputError(
      `${folder}: this split is in shards, which only ${list(PARTITIONED_SPLIT_READERS)} read; split the data themselves instead of shards`,
    );
  }
  return readDocument(path, splitSchema, FORMAT);
}

async function loadPart(
  folder: string,
  part: SplitPart,
  document: SplitDocument,
  options: TaskOptions,
): Promise<{ readonly graph: BipartiteGraph; readonly times: Float64Array | undefined }> {
  const { multigraph, ids, method, files = 'parquet', times: timed = document.cut !== undefined } = document;
  const path = join(folder, partFile(part, files));
  const withTimes = timed || method === 'last';
  const expected = document.parts[part];
  let graph: BipartiteGraph;
  let times: Float64Array | undefined;
  if (expected.edges === 0) {
    graph = buildGraph({ users: [], items: [], userCount: 0, itemCount: 0, multigraph });
    times = withTimes ? new Float64Array(0) : undefined;
  } else {
    const columns = { users: 'user', items: 'item', ...(multigraph ? { count: 'count' } : {}) };
    const texts = { users: ids.users === 'text', items: ids.items === 'text' };
    const value = withTimes ? writtenTimes('least') : undefined;
    const reading = { ...options, ...columns, multigraph, value, texts };
    const layout = files === 'csv' ? { header: true, sep: ',' } : {};
    const read = await readTable(path, { ...reading, ...layout });
    graph = read.graph;
    times = read.values;
  }
  if (fingerprint(graph) !== expected.fingerprint) {
    throw new InputError(
      `${path}: its contents are not those that ${SPLIT_FILE} describes; split the data again`,
    );
  }
  const names = readSideNames(document.names);
  return { graph: names ? Object.freeze({ ...graph, names }) : graph, times };
}

export async function loadAssignment(
  folder: string,
  side: SideName,
  { ids: kinds, coins: expected }: Pick<SplitDocument, 'ids' | 'coins'>,
): Promise<Assignment> {
  const path = join(folder, assignmentFile(side));
  const text = kinds[side] === 'text';
  const ids: (string | number | null)[] = [];
  const drawn: number[] = [];
  try {
    await readParquetColumns(path, ['id', 'drawn'], ([id, draw]) => {
      ids.push(id === null || text ? id : exact(id));
      drawn.push(draw === null ? Number.NaN : exact(draw));
    });
  } catch (cause) {
    throw new InputError(
      `${path}: the random draws cannot be read (${(cause as Error).message.split('\n')[0]}); split the data again`,
    );
  }
  const assignment = {
    ids: text ? VertexIds.texts(ids as string[]) : VertexIds.integers(Float64Array.from(ids as number[])),
    drawn: Uint8Array.from(drawn),
  };
  const found = countDrawn(assignment);
  const whole = ids.every((id) => id !== null) && drawn.every((draw) => draw === 0 || draw === 1);
  if (!whole || found.total !== expected[side].total || found.drawn !== expected[side].drawn) {
    throw new InputError(
      `${path}: its random draws are not those that ${SPLIT_FILE} counts; split the data again`,
    );
  }
  return Object.freeze(assignment);
}

/** The whole number that the text writes. */
function exact(text: string): number {
  const value = Number(text);
  if (text === String(value) && Number.isSafeInteger(value)) return value;
  throw new InputError(`${JSON.stringify(text.slice(0, 60))} is not a whole number`);
}

export function assignmentFile(side: SideName): string {
  return `coins-${side}.parquet`;
}

function describe(graph: BipartiteGraph): PartDescription {
  return {
    ...partSize(graph),
    total: graph.total,
    fingerprint: fingerprint(graph),
  };
}

export function countDrawn({ drawn }: Pick<Assignment, 'drawn'>): { total: number; drawn: number } {
  return { total: drawn.length, drawn: drawn.reduce((sum, draw) => sum + draw, 0) };
}
