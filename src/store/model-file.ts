// Models in files.

import { join } from 'node:path';
import { InputError } from '../errors.js';
import { writeAtomic } from '../files/atomic.js';
import { isFile } from '../files/plain-file.js';
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
import { readMetadata, readTensors, writeTensorsTo } from './safetensors.js';

export type { ModelFile, SaveOptions };

/** A model file: its path, its bytes, or a Blob. */
export type ModelSource = string | Uint8Array | Blob;

/**
 * Saves a model: the file appears whole, or not at all.
 * @example
 * import { BipartiteGraph, fit, saveModel } from 'graphex';
 * const { model } = await fit(BipartiteGraph.fromPairs([['ann', 'tea'], ['bob', 'milk']]), { features: 1 });
 * await saveModel('saved.safetensors', model);
 * console.log('saved');
 */
export async function saveModel(path: string, model: Model, options: SaveOptions = {}): Promise<void> {
  if (typeof path !== 'string') {
    throw new InputError('the path for the model is not a text; call saveModel(path, model)');
  }
  needModel(model);
  const file = modelTensors(model, options);
  await writeAtomic(path, (temporary) => writeTensorsTo(temporary, file));
}

/**
 * Loads a model. It refuses a file that is cut, changed, foreign or of another version.
 * @example
 * import { BipartiteGraph, fit, loadModel, saveModel } from 'graphex';
 * const { model } = await fit(BipartiteGraph.fromPairs([['ann', 'tea'], ['bob', 'milk']]), { features: 1 });
 * await saveModel('loaded.safetensors', model);
 * console.log((await loadModel('loaded.safetensors')).users.count);
 */
export async function loadModel(source: ModelSource): Promise<Model> {
  return (await loadModelFile(source)).model;
}

/** Loads a model with its checkpoint, if the file has one. */
export async function loadModelFile(source: ModelSource): Promise<ModelFile> {
  if (typeof source !== 'string') return modelFileFromBytes(source);
  await refuseFolder(source);
  return modelOf(source, await readTensors(source, FORMAT));
}

/** Whether the path is a model file with a checkpoint, by its metadata. */
export async function isSavedFit(path: string): Promise<boolean> {
  if (!(await isFile(path))) return false;
  const metadata = await readMetadata(path, FORMAT).catch(() => undefined);
  return metadata?.checkpoint !== undefined;
}

/** Refuses folders that graphex writes and that are not a model in one file. */
async function refuseFolder(path: string): Promise<void> {
  if (await isFile(join(path, MODEL_FILE))) {
    throw new InputError(
      `${path}: this is a model by shard, which only ${list(MODEL_FOLDER_READERS, 'and')} read; merge it into one file first`,
    );
  }
  if (await isFile(join(path, PARTITION_FILE))) {
    throw new InputError(`${path}: this is a folder of shards, not a model; fit it first`);
  }
}

/**
 * Loads the checkpoint of a stopped fit, for the option `resume` of `fit`. It refuses a finished model.
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
  throw new InputError(`${name}this is a finished model; only a stopped fit can resume`);
}
