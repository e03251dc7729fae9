// The state of a fit for ranking over shards: users are made anew in every sweep, so the items are all that it goes on from.

import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { TableValues } from '../engine/engine.js';
import { InputError } from '../errors.js';
import { finishFolder, writeFolder } from '../files/folder.js';
import type { FitOrigin, LoopState } from '../fit/ascent/loop.js';
import { savedTable, stateSchema } from '../store/checkpoint-tensors.js';
import { putTable } from '../store/posterior-tensors.js';
import { readTensors, writeTensorsTo } from '../store/safetensors.js';
import { NOT_NEGATIVE, putInto, TensorReader } from '../store/tensor-reader.js';
import type { ExpectedTensors, Tensor, TensorFile } from '../store/tensors.js';
import { documentProblem } from '../text/documents.js';
import { stateMetadata } from './fit-state.js';
import type { PartitionedData } from './partition-folder.js';

/** The one file of it. */
export const RANKING_STATE = 'ranking.safetensors';
const FORMAT = 'graphex-ranking-state';
const EXPECTED = { format: FORMAT, version: 1, what: 'state of a fit', command: 'fit' } as const;

/** The items of one of several fits that is done. */
export interface DoneMember {
  readonly items: TableValues;
  readonly iterations: number;
  readonly converged: boolean;
}

/** All that a fit for ranking goes on from. */
export interface SavedRanking {
  readonly origin: FitOrigin;
  readonly done: readonly DoneMember[];
  readonly state: LoopState;
  readonly items: TableValues;
  readonly foldMass: Float64Array;
}

export async function isRankingState(folder: string): Promise<boolean> {
  const found = await stat(join(folder, RANKING_STATE)).catch(() => undefined);
  return found?.isFile() ?? false;
}

/** Written by rank 0 alone. */
export async function saveRankingState(folder: string, saved: SavedRanking): Promise<void> {
  const { origin, done, state, items, foldMass } = saved;
  const tensors = new Map<string, Tensor>();
  const rows = items.weightShape.length;
  const features = items.featureShape.length / rows;
  putTable(putInto(tensors, 'items.'), items, rows, features);
  putInto(tensors, '')('fold_mass', foldMass, [foldMass.length / features, features]);
  for (const [m, member] of done.entries()) {
    putTable(putInto(tensors, `done.${m}.`), member.items, rows, features);
  }
  const metadata = {
    ...stateMetadata(FORMAT, origin, state),
    done: JSON.stringify(done.map(({ iterations, converged }) => ({ iterations, converged }))),
  };
  await writeFolder(folder, { [RANKING_STATE]: (path) => writeTensorsTo(path, { tensors, metadata }) });
}

const optionsSchema = z.looseObject({
  features: z.number().int().min(1).max(65_536),
  folds: z.number().int().min(2),
});
const doneSchema = z
  .array(z.object({ iterations: z.number().int().min(0), converged: z.boolean() }))
  .max(1000);

export async function loadRankingState(folder: string, parts: PartitionedData): Promise<SavedRanking> {
  await finishFolder(folder, [RANKING_STATE]);
  const path = join(folder, RANKING_STATE);
  const { tensors, metadata } = await readState(path, EXPECTED);
  try {
    const { warmSweeps, likelihood, seed: _, ...rest } = stateSchema.parse(JSON.parse(metadata.state));
    const options = optionsSchema.parse(JSON.parse(metadata.options ?? 'null'));
    if (metadata.fingerprint !== parts.fingerprint) {
      throw new InputError(`${folder}: it is of other data; go on with the parts that it began with`);
    }
    const read = new TensorReader(tensors);
    const { features, folds } = options;
    const table = (prefix: string) => savedTable(read, prefix, parts.items, features);
    return {
      origin: { options, fingerprint: metadata.fingerprint },
      done: doneSchema
        .parse(JSON.parse(metadata.done))
        .map((member, m) => ({ ...member, items: table(`done.${m}.`) })),
      state: { ...rest, warmSweeps, likelihood },
      items: table('items.'),
      foldMass: read.numbers('fold_mass', Float64Array, folds * features, NOT_NEGATIVE),
    };
  } catch (cause) {
    throw cannotGoOn(path, cause);
  }
}

/** A file of a state; one that is missing or damaged is told with what to do. */
export async function readState(path: string, expected: ExpectedTensors): Promise<TensorFile> {
  try {
    return await readTensors(path, expected);
  } catch (cause) {
    if (!(cause instanceof InputError)) throw cause;
    const what = cause.message.replace(/; [^;]*$/, '');
    throw new InputError(`${what}; copy the state again, or begin anew without --resume`, { cause });
  }
}

/** What is wrong with a saved state, and what to do. */
export function cannotGoOn(path: string, cause: unknown): InputError {
  if (cause instanceof InputError) return cause;
  const what = documentProblem(cause) ?? (cause as Error).message;
  return new InputError(`${path}: a fit cannot go on from it (${what}); begin anew without --resume`);
}
