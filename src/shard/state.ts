// The state of a fit over shards, kept in a folder: what all ranks have in one file, and a file for the users of each shard.
// It goes on with any number of ranks to the same bits.

import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { Communicator } from '../comm/communicator.js';
import type { TableTotals, TableValues } from '../engine/engine.js';
import { InputError } from '../errors.js';
import type { Beginning, LoopState } from '../fit/loop.js';
import { type BySide, SIDES, type SideName } from '../graph/graph.js';
import { stateSchema } from '../store/checkpoint-tensors.js';
import { type FolderFiles, finishFolder, writeFolder } from '../store/folder.js';
import { getTable, putTable } from '../store/posterior-tensors.js';
import { readTensors, writeTensorsTo } from '../store/safetensors.js';
import { NOT_NEGATIVE, putInto, TensorReader } from '../store/tensor-reader.js';
import type { Tensor, TensorFile } from '../store/tensors.js';
import { gatherTables } from './gather.js';
import { MOST_SHARDS, type Parts } from './parts.js';

const FORMAT = 'graphex-state';
const EXPECTED = { version: 1, what: 'state of a fit', command: 'fit' } as const;
const WHOLE = 'state.safetensors';

const tableFile = (shard: number) => `users-${String(shard).padStart(4, '0')}.safetensors`;

/** The names of all files of a state with so many shards. */
export function stateFiles(shards: number): string[] {
  return [WHOLE, ...Array.from({ length: shards }, (_, s) => tableFile(s))];
}

/** What every rank knows of a fit that was stopped. */
export interface SavedFit {
  readonly began: Beginning;
  readonly state: LoopState;
  readonly items: TableValues;
  readonly totals: BySide<TableTotals>;
}

/** Whether the path is a folder with such a state. */
export async function isStateFolder(path: string): Promise<boolean> {
  const found = await stat(join(path, WHOLE)).catch(() => undefined);
  return found?.isFile() ?? false;
}

/** Keeps the state: called by every rank, written by rank 0, all of it or nothing. */
export async function saveState(
  folder: string,
  parts: Parts,
  communicator: Communicator,
  { began, state, items, totals }: SavedFit,
  own: (part: number) => Promise<TableValues>,
): Promise<void> {
  const features = items.featureShape.length / items.weightShape.length;
  const rows = parts.shards.map(({ users }) => users);
  const received = new Map<number, (table: TableValues) => Promise<void>>();
  // The folder's writer asks for a shard, and waits for it to come.
  const files: Record<string, FolderFiles[string]> = {
    [WHOLE]: (path) => writeTensorsTo(path, wholeTensors(began, state, items, totals, features)),
  };
  let asked: (() => void) | undefined;
  let written: Promise<void> = Promise.resolve();
  for (let s = 0; s < rows.length; s++) {
    files[tableFile(s)] = (path) =>
      new Promise<void>((resolve, reject) => {
        received.set(s, async (table) => {
          const done = writeTensorsTo(path, tableTensors(parts, s, state, table, features));
          done.then(resolve, reject);
          await done;
        });
        asked?.();
      });
  }
  let failed: { readonly error: unknown } | undefined;
  if (communicator.rank === 0) {
    written = writeFolder(folder, files).catch((error: unknown) => {
      failed = { error };
      asked?.();
    });
  }
  const double = items.weightShape instanceof Float64Array;
  await gatherTables(communicator, rows, features, double, own, async (shard, table) => {
    while (!received.has(shard)) {
      if (failed) return;
      await new Promise<void>((resolve) => {
        asked = resolve;
      });
    }
    await received.get(shard)!(table).catch(() => undefined);
  });
  await written;
  if (failed) throw (failed as { readonly error: unknown }).error;
}

function wholeTensors(
  began: Beginning,
  state: LoopState,
  items: TableValues,
  totals: BySide<TableTotals>,
  features: number,
): TensorFile {
  const tensors = new Map<string, Tensor>();
  putTable(putInto(tensors, 'items.'), items, items.weightShape.length, features);
  for (const side of SIDES) {
    const put = putInto(tensors, `${side}.`);
    put('mass', totals[side].mass);
    put('leftover', totals[side].leftover);
    put('leftover_at', totals[side].leftoverAt);
  }
  const metadata = {
    format: FORMAT,
    format_version: '1',
    state: JSON.stringify(state),
    settings: JSON.stringify(began.settings),
    fingerprint: began.fingerprint,
  };
  return { tensors, metadata };
}

function tableTensors(
  parts: Parts,
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
export async function loadState(folder: string, parts: Parts): Promise<SavedFit> {
  await finishFolder(folder, stateFiles(MOST_SHARDS));
  const path = join(folder, WHOLE);
  const { tensors, metadata } = await readTensors(path, { ...EXPECTED, format: FORMAT });
  return inWords(path, () => {
    const { warmSweeps, likelihood, seed: _, ...rest } = stateSchema.parse(JSON.parse(metadata.state));
    const settings = z
      .looseObject({ features: z.number().int().min(1).max(65_536) })
      .parse(JSON.parse(metadata.settings));
    if (metadata.fingerprint !== parts.fingerprint) {
      throw new InputError(`${folder}: it is of other data; go on with the parts that it began with`);
    }
    const read = new TensorReader(tensors);
    const { features } = settings;
    const total = (side: SideName): TableTotals => {
      const get = (what: string) => read.numbers(`${side}.${what}`, Float64Array, features, NOT_NEGATIVE);
      return { mass: get('mass'), leftover: get('leftover'), leftoverAt: get('leftover_at') };
    };
    return {
      began: { settings, fingerprint: metadata.fingerprint },
      state: { ...rest, warmSweeps, likelihood },
      items: tableOf(read, 'items.', parts.items, features),
      totals: { users: total('users'), items: total('items') },
    };
  });
}

/** The users of a shard as they were. */
export async function loadTable(
  folder: string,
  parts: Parts,
  shard: number,
  { state, began }: SavedFit,
): Promise<TableValues> {
  const path = join(folder, tableFile(shard));
  const { tensors, metadata } = await readTensors(path, { ...EXPECTED, format: `${FORMAT}-users` });
  return inWords(path, () => {
    const { hash, users } = parts.shards[shard];
    if (metadata.hash !== hash || metadata.iteration !== String(state.iteration)) {
      throw new Error('it is of another fit');
    }
    return tableOf(new TensorReader(tensors), 'users.', users, began.settings.features as number);
  });
}

function tableOf(read: TensorReader, prefix: string, rows: number, features: number): TableValues {
  const double = read.tensors.get(`${prefix}weight_shape`)?.data instanceof Float64Array;
  return getTable<Float32Array | Float64Array>(
    read,
    prefix,
    double ? Float64Array : Float32Array,
    rows,
    features,
  );
}

function inWords<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    if (cause instanceof InputError) throw cause;
    const what =
      cause instanceof z.ZodError
        ? z.prettifyError(cause).split('\n').slice(0, 2).join(' ')
        : (cause as Error).message;
    throw new InputError(`${path}: a fit cannot go on from it (${what}); begin anew without --resume`);
  }
}
