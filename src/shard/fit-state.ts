// The state of a fit over shards, kept in a folder: what all ranks have in one file, and a file for the users of each shard.
// It goes on with any number of ranks to the same bits.

import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { Communicator } from '../comm/communicator.js';
import type { TableTotals, TableValues } from '../engine/engine.js';
import { InputError } from '../errors.js';
import { finishFolder, removeResult } from '../files/folder.js';
import type { FitOrigin, LoopState } from '../fit/ascent/loop.js';
import { type BySide, SIDES, type SideName } from '../graph/graph.js';
import { savedTable, stateSchema } from '../store/checkpoint-tensors.js';
import { putTable } from '../store/posterior-tensors.js';
import { writeTensorsTo } from '../store/safetensors.js';
import { NOT_NEGATIVE, putInto, TensorReader } from '../store/tensor-reader.js';
import type { Tensor, TensorFile } from '../store/tensors.js';
import { many } from '../text/phrases.js';
import { gatherTables, writeGathered } from './gather-shards.js';
import { MOST_SHARDS, type PartitionedData } from './partition-folder.js';
import { cannotGoOn, isRankingState, RANKING_STATE, readState } from './ranking-state.js';

const FORMAT = 'graphex-state';
const EXPECTED = { version: 1, what: 'state of a fit', command: 'fit' } as const;
const WHOLE = 'state.safetensors';

const tableFile = (shard: number) => `users-${String(shard).padStart(4, '0')}.safetensors`;

/** The names of all files of a state with so many shards. */
export function stateFiles(shards: number): string[] {
  return [WHOLE, RANKING_STATE, ...Array.from({ length: shards }, (_, s) => tableFile(s))];
}

/** What every rank knows of a fit that was stopped. */
export interface SavedFit {
  readonly origin: FitOrigin;
  readonly state: LoopState;
  readonly items: TableValues;
  readonly totals: BySide<TableTotals>;
}

/** Whether the path is a folder with such a state. */
export async function isStateFolder(path: string): Promise<boolean> {
  const found = await stat(join(path, WHOLE)).catch(() => undefined);
  return found?.isFile() ?? isRankingState(path);
}

/** Throws unless the path is a folder with such a state, with what it is and what to do. */
export async function requireStateFolder(path: string): Promise<void> {
  if (await isStateFolder(path)) return;
  const found = await stat(path).catch(() => undefined);
  const what =
    found === undefined
      ? 'there is no such folder'
      : found.isDirectory()
        ? 'there is no state of a fit in this folder'
        : 'this is a file, and a fit of parts keeps its state in a folder';
  const instead = found?.isFile()
    ? 'give the data in one piece where it is a state of theirs'
    : 'check the path';
  throw new InputError(`${path}: ${what}; ${instead}, or begin anew without --resume`);
}

/** Removes a state that is no longer needed, and nothing of anybody else's. */
export function removeState(folder: string): Promise<void> {
  return removeResult(folder, stateFiles(MOST_SHARDS));
}

/** Keeps the state: called by every rank, written by rank 0, all of it or nothing. */
export async function saveState(
  folder: string,
  parts: PartitionedData,
  communicator: Communicator,
  { origin, state, items, totals }: SavedFit,
  own: (part: number) => Promise<TableValues>,
): Promise<void> {
  const features = items.featureShape.length / items.weightShape.length;
  const rows = parts.shards.map(({ users }) => users);
  const double = items.weightShape instanceof Float64Array;
  await writeGathered<TableValues>(
    communicator,
    folder,
    {
      first: {
        [WHOLE]: (path) => writeTensorsTo(path, wholeTensors(origin, state, items, totals, rows.length)),
      },
      shards: rows.map((_, s) => tableFile(s)),
    },
    (take) => gatherTables(communicator, rows, features, double, own, take),
    (path, s, table) => writeTensorsTo(path, tableTensors(parts, s, state, table, features)),
  );
}

function wholeTensors(
  origin: FitOrigin,
  state: LoopState,
  items: TableValues,
  totals: BySide<TableTotals>,
  shards: number,
): TensorFile {
  const tensors = new Map<string, Tensor>();
  const { length: rows } = items.weightShape;
  putTable(putInto(tensors, 'items.'), items, rows, items.featureShape.length / rows);
  for (const side of SIDES) {
    const put = putInto(tensors, `${side}.`);
    put('mass', totals[side].mass);
    put('leftover', totals[side].unseenMass);
    put('leftover_at', totals[side].unseenMassAt);
  }
  return { tensors, metadata: { ...stateMetadata(FORMAT, origin, state), shards: String(shards) } };
}

/** What a saved fit says of itself: where it stands, and with what it was begun. */
export function stateMetadata(format: string, origin: FitOrigin, state: LoopState): Record<string, string> {
  return {
    format,
    format_version: '1',
    state: JSON.stringify(state),
    options: JSON.stringify(origin.options),
    fingerprint: origin.fingerprint,
  };
}

function tableTensors(
  parts: PartitionedData,
  shard: number,
  { iteration }: LoopState,
  table: TableValues,
  features: number,
): TensorFile {
  const tensors = new Map<string, Tensor>();
  putTable(putInto(tensors, 'users.'), table, table.weightShape.length, features);
  const { hash } = parts.shards[shard];
  return {
    tensors,
    metadata: { format: `${FORMAT}-users`, format_version: '1', hash, iteration: String(iteration) },
  };
}

/** What all ranks need to go on. */
export async function loadState(folder: string, parts: PartitionedData): Promise<SavedFit> {
  await finishFolder(folder, stateFiles(MOST_SHARDS));
  const path = join(folder, WHOLE);
  const { tensors, metadata } = await readState(path, { ...EXPECTED, format: FORMAT });
  return inWords(path, () => {
    const { warmSweeps, likelihood, seed: _, ...rest } = stateSchema.parse(JSON.parse(metadata.state));
    const options = z
      .looseObject({ features: z.number().int().min(1).max(65_536) })
      .parse(JSON.parse(metadata.options ?? 'null'));
    if (metadata.fingerprint !== parts.fingerprint) {
      throw new InputError(`${folder}: it is of other data; go on with the parts that it began with`);
    }
    // States of earlier versions do not say it; their users' files do not fit, then.
    const { length: shards } = parts.shards;
    if (metadata.shards !== undefined && metadata.shards !== String(shards)) {
      throw new InputError(
        `${folder}: it is of these data in ${many(Number(metadata.shards), 'shard')}, and ${parts.folder} has ${shards}; go on with the parts that it began with, or begin anew without --resume`,
      );
    }
    const read = new TensorReader(tensors);
    const { features } = options;
    const total = (side: SideName): TableTotals => {
      const get = (what: string) => read.numbers(`${side}.${what}`, Float64Array, features, NOT_NEGATIVE);
      return { mass: get('mass'), unseenMass: get('leftover'), unseenMassAt: get('leftover_at') };
    };
    return {
      origin: { options, fingerprint: metadata.fingerprint },
      state: { ...rest, warmSweeps, likelihood },
      items: savedTable(read, 'items.', parts.items, features),
      totals: { users: total('users'), items: total('items') },
    };
  });
}

/** The users of a shard as they were. */
export async function loadTable(
  folder: string,
  parts: PartitionedData,
  shard: number,
  { state, origin }: SavedFit,
): Promise<TableValues> {
  const path = join(folder, tableFile(shard));
  const { tensors, metadata } = await readState(path, { ...EXPECTED, format: `${FORMAT}-users` });
  return inWords(path, () => {
    const { hash, users } = parts.shards[shard];
    if (metadata.hash !== hash || metadata.iteration !== String(state.iteration)) {
      throw new Error('it is of another fit');
    }
    return savedTable(new TensorReader(tensors), 'users.', users, origin.options.features as number);
  });
}

function inWords<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw cannotGoOn(path, cause);
  }
}
