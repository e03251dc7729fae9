// The saved state of a fit to a partition, in a folder: what all ranks share in one file, and for the ascent one file per
// shard for its users. A ranking fit rebuilds its users in every sweep, so it saves items only. A fit resumes from it to the
// same bits on any number of ranks.

import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { Communicator } from '../comm/communicator.js';
import { TABLE_FIELDS, type TableTotals, type TableValues } from '../engine/engine.js';
import { InputError } from '../errors.js';
import { finishFolder, removeResult, writeFolder } from '../files/folder.js';
import { isFile } from '../files/plain-file.js';
import type { FitOrigin, LoopState } from '../fit/ascent/loop.js';
import { phaseOf } from '../fit/ascent/schedule.js';
import { type BySide, SIDES } from '../graph/graph.js';
import { option, optionError } from '../options/error.js';
import { getTotals, parseLoopState, putTotals, savedTable } from '../store/checkpoint-tensors.js';
import { putTable } from '../store/posterior-tensors.js';
import { readTensors, writeTensorsTo } from '../store/safetensors.js';
import { checkContents, NOT_NEGATIVE, putInto, TensorReader } from '../store/tensor-reader.js';
import { type Tensor, type TensorFile, UPDATE } from '../store/tensors.js';
import { many } from '../text/phrases.js';
import { usersFile, usersFiles, writeGathered } from './gather-shards.js';
import { MOST_SHARDS, type PartitionedData } from './partition-folder.js';

const EXPECTED = { version: 2, oldest: 1, what: 'state of a fit', again: 'fit' } as const;
/** The file that all ranks share, and its format, for each method. */
const FILES = {
  ascent: { name: 'state.safetensors', format: 'graphex-state' },
  ranking: { name: 'ranking.safetensors', format: 'graphex-ranking-state' },
} as const;
type Method = keyof typeof FILES;
const USERS_FORMAT = 'graphex-state-users';

export function stateFiles(shards: number): string[] {
  return [...Object.values(FILES).map(({ name }) => name), ...usersFiles(shards)];
}

/** What a fit of either method resumes from. */
interface SavedFit {
  readonly origin: FitOrigin;
  readonly state: LoopState;
  readonly items: TableValues;
}

export interface SavedAscent extends SavedFit {
  readonly totals: BySide<TableTotals>;
}

export interface FinishedMember {
  readonly items: TableValues;
  readonly iterations: number;
  readonly converged: boolean;
}

interface SavedRanking extends SavedFit {
  readonly done: readonly FinishedMember[];
  readonly foldMass: Float64Array;
}

/** The method whose state the folder holds; undefined: it holds none. */
export async function methodOfState(folder: string): Promise<Method | undefined> {
  for (const method of Object.keys(FILES) as Method[]) {
    if (await isFile(join(folder, FILES[method].name))) return method;
  }
  return undefined;
}

/** The same, or an error that says what the path is and what to do. */
export async function requireState(path: string): Promise<Method> {
  const method = await methodOfState(path);
  if (method) return method;
  const found = await stat(path).catch(() => undefined);
  const what =
    found === undefined
      ? 'there is no such folder'
      : found.isDirectory()
        ? 'this folder holds no state of a fit'
        : 'this is a file, and a fit to shards saves its state in a folder';
  const remedy = found?.isFile() ? 'fit the data in one piece if it is their state' : 'check the path';
  throw optionError`${path}: ${what}; ${remedy}, or start again without ${option('resume')}`;
}

/** Removes a state that is no longer needed, and no other file. */
export function removeState(folder: string): Promise<void> {
  return removeResult(folder, stateFiles(MOST_SHARDS));
}

/** Saves the state of an ascent. Every rank calls it, rank 0 writes; all files appear, or none. */
export async function saveAscentState(
  folder: string,
  partition: PartitionedData,
  communicator: Communicator,
  saved: SavedAscent,
  usersOf: (localShard: number) => Promise<TableValues>,
): Promise<void> {
  const { state, items, totals } = saved;
  const features = items.featureShape.length / items.weightShape.length;
  const file = sharedTensors('ascent', saved, { shards: String(partition.shards.length) });
  for (const side of SIDES) putTotals(putInto(file.tensors, `${side}.`), totals[side]);
  await writeGathered(
    communicator,
    folder,
    { [FILES.ascent.name]: (path) => writeTensorsTo(path, file) },
    partition.shards,
    { widths: [1, 1, features, features], double: items.weightShape instanceof Float64Array },
    async (localShard) => {
      const table = await usersOf(localShard);
      return TABLE_FIELDS.map((field) => table[field]);
    },
    async (path, s, [weightShape, weightRate, featureShape, featureRate]) => {
      const tensors = new Map<string, Tensor>();
      const table = { weightShape, weightRate, featureShape, featureRate };
      putTable(putInto(tensors, 'users.'), table, weightShape.length, features);
      const { hash } = partition.shards[s];
      const metadata = {
        format: USERS_FORMAT,
        format_version: String(EXPECTED.version),
        hash,
        iteration: String(state.iteration),
      };
      await writeTensorsTo(path, { tensors, metadata });
    },
  );
}

/** Saves the state of a ranking fit. Only rank 0 calls it. */
export async function saveRankingState(folder: string, saved: SavedRanking): Promise<void> {
  const { done, items, foldMass } = saved;
  const rows = items.weightShape.length;
  const features = items.featureShape.length / rows;
  const file = sharedTensors('ranking', saved, {
    done: JSON.stringify(done.map(({ iterations, converged }) => ({ iterations, converged }))),
  });
  putInto(file.tensors, '')('fold_mass', foldMass, [foldMass.length / features, features]);
  for (const [m, member] of done.entries()) {
    putTable(putInto(file.tensors, `done.${m}.`), member.items, rows, features);
  }
  await writeFolder(folder, { [FILES.ranking.name]: (path) => writeTensorsTo(path, file) });
}

/** The items, where the fit stands and what it was started with. */
function sharedTensors(
  method: Method,
  { origin, state, items }: SavedFit,
  more: Readonly<Record<string, string>>,
) {
  const tensors = new Map<string, Tensor>();
  const { length: rows } = items.weightShape;
  putTable(putInto(tensors, 'items.'), items, rows, items.featureShape.length / rows);
  const metadata = {
    format: FILES[method].format,
    format_version: String(EXPECTED.version),
    state: JSON.stringify(state),
    options: JSON.stringify(origin.options),
    fingerprint: origin.fingerprint,
    ...more,
  };
  return { tensors, metadata };
}

const optionsSchema = z.looseObject({
  features: z.number().int().min(1).max(65_536),
  folds: z.number().int().min(2).optional(),
});
const doneSchema = z
  .array(z.object({ iterations: z.number().int().min(0), converged: z.boolean() }))
  .max(1000);

export function loadAscentState(folder: string, partition: PartitionedData): Promise<SavedAscent> {
  return loadShared('ascent', folder, partition, ({ read, metadata, features, saved }) => {
    const { length: shards } = partition.shards;
    if (metadata.shards !== String(shards)) {
      throw optionError`${folder}: it is the state of these data in ${many(Number(metadata.shards), 'shard')}, and ${partition.folder} has ${shards}; resume with the shards of its start, or start again without ${option('resume')}`;
    }
    const totals = {
      users: getTotals(read, 'users.', features),
      items: getTotals(read, 'items.', features),
    };
    return { ...saved, totals };
  });
}

export function loadRankingState(folder: string, partition: PartitionedData): Promise<SavedRanking> {
  return loadShared('ranking', folder, partition, ({ read, metadata, features, folds, saved }) => ({
    ...saved,
    done: doneSchema.parse(JSON.parse(metadata.done)).map((member, m) => ({
      ...member,
      items: savedTable(read, `done.${m}.`, partition.items, features),
    })),
    foldMass: read.numbers('fold_mass', Float64Array, folds * features, NOT_NEGATIVE),
  }));
}

interface SharedState {
  readonly read: TensorReader;
  readonly metadata: Readonly<Record<string, string>>;
  readonly features: number;
  readonly folds: number;
  readonly saved: SavedFit;
}

async function loadShared<T>(
  method: Method,
  folder: string,
  partition: PartitionedData,
  take: (shared: SharedState) => T,
): Promise<T> {
  await finishFolder(folder, stateFiles(MOST_SHARDS));
  const { name, format } = FILES[method];
  const path = join(folder, name);
  const { tensors, metadata } = await readState(path, format);
  return checkState(path, () => {
    const state = parseLoopState(JSON.parse(metadata.state));
    const options = optionsSchema.parse(JSON.parse(metadata.options ?? 'null'));
    if (metadata.fingerprint !== partition.fingerprint) {
      throw new InputError(`${folder}: it is the state of other data; resume with the data of its start`);
    }
    const read = new TensorReader(tensors);
    const { folds = 0 } = options;
    const { features } = phaseOf(state);
    const items = savedTable(read, 'items.', partition.items, features);
    const origin = { options, fingerprint: metadata.fingerprint };
    return take({ read, metadata, features, folds, saved: { origin, state, items } });
  });
}

export async function loadShardUsers(
  folder: string,
  partition: PartitionedData,
  shard: number,
  { state }: SavedAscent,
): Promise<TableValues> {
  const path = join(folder, usersFile(shard));
  const { tensors, metadata } = await readState(path, USERS_FORMAT);
  return checkState(path, () => {
    const { hash, users } = partition.shards[shard];
    if (metadata.hash !== hash || metadata.iteration !== String(state.iteration)) {
      throw new Error('it belongs to another fit');
    }
    return savedTable(new TensorReader(tensors), 'users.', users, phaseOf(state).features);
  });
}

/** Reads a file of a state; the error for a missing or damaged file says what to do. */
async function readState(path: string, format: string): Promise<TensorFile> {
  try {
    return await readTensors(path, { ...EXPECTED, format });
  } catch (cause) {
    // The state of a newer graphex is sound.
    if (!(cause instanceof InputError) || cause.message.endsWith(UPDATE)) throw cause;
    const what = cause.message.replace(/; [^;]*$/, '');
    throw optionError`${what}; copy the state again, or start again without ${option('resume')}`;
  }
}

function checkState<T>(path: string, read: () => T): T {
  return checkContents(
    read,
    (problem) =>
      optionError`${path}: a fit cannot resume from it (${problem}); start again without ${option('resume')}`,
  );
}
