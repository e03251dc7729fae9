// Models in files.

import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { InputError } from '../errors.js';
import type { Checkpoint } from '../fit/ascent/loop.js';
import { type Model, needModel } from '../fit/model.js';
import { MODEL_FILE, MODEL_FOLDER_READERS } from '../options/commands/merge.js';
import { PARTITION_FILE } from '../options/commands/partition.js';
import { list } from '../text/phrases.js';
import {
  FORMAT,
  type ModelFile,
  modelFileFromBytes,
  modelOf,
  modelTensors,
  type SaveOptions,
} from './model-bytes.js';
import { readMetadata, readTensors, writeTensors } from './safetensors.js';

export type { ModelFile, SaveOptions };

/** A file by its path, its bytes, or a Blob. */
export type ModelSource = string | Uint8Array | Blob;

/** Saves a model: whole or not at all. */
export async function saveModel(path: string, model: Model, options: SaveOptions = {}): Promise<void> {
  if (typeof path !== 'string') {
    throw new InputError('the path to save the model at is no text: saveModel(path, model)');
  }
  needModel(model);
  await writeTensors(path, modelTensors(model, options));
}

/** Loads a model. A truncated, changed, foreign or future file is refused with a sentence. */
export async function loadModel(source: ModelSource): Promise<Model> {
  return (await loadModelFile(source)).model;
}

/** Loads a model together with its checkpoint, if it has one. */
export async function loadModelFile(source: ModelSource): Promise<ModelFile> {
  if (typeof source !== 'string') return modelFileFromBytes(source);
  await refuseFolder(source);
  return modelOf(source, await readTensors(source, FORMAT));
}

/** Whether the path is a file with the state of a fit that was stopped, by what it says of itself. */
export async function isSavedFit(path: string): Promise<boolean> {
  if (!(await stat(path).catch(() => undefined))?.isFile()) return false;
  const metadata = await readMetadata(path, FORMAT).catch(() => undefined);
  return metadata?.checkpoint !== undefined;
}

/** Folders that graphex writes and that are no model in one file. */
async function refuseFolder(path: string): Promise<void> {
  const holds = async (name: string) =>
    (await stat(join(path, name)).catch(() => undefined))?.isFile() ?? false;
  if (await holds(MODEL_FILE)) {
    throw new InputError(
      `${path}: this is a model by shard, which only graphex ${list(MODEL_FOLDER_READERS, 'and')} read; make one file of it: graphex merge ${path} -o model.safetensors`,
    );
  }
  if (await holds(PARTITION_FILE)) {
    throw new InputError(
      `${path}: this is a folder of shards and no model; fit it first: graphex fit ${path} -o model.safetensors`,
    );
  }
}

/**
 * Loads where a stopped fit stood, to be given to `fit` as `resume`. A finished model is refused.
 * @example
 * import { BipartiteGraph, fit, loadCheckpoint, saveModel } from 'graphex';
 * const graph = BipartiteGraph.fromPairs([['ann', 'tea'], ['bob', 'milk'], ['bob', 'tea'], ['cleo', 'milk']]);
 * const { model, checkpoint } = await fit(graph, { features: 2, iterations: 2, tolerance: 0 });
 * await saveModel('model.safetensors.partial', model, { checkpoint });
 * const more = await fit(graph, { features: 2, resume: await loadCheckpoint('model.safetensors.partial') });
 * console.log(more.model.bound > model.bound);
 */
export async function loadCheckpoint(source: ModelSource): Promise<Checkpoint> {
  const { checkpoint } = await loadModelFile(source);
  if (checkpoint) return checkpoint;
  const name = typeof source === 'string' ? `${source}: ` : '';
  throw new InputError(`${name}a finished model; only an interrupted fit can go on`);
}
