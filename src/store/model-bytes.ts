// Models as bytes, for pages, databases and networks.

import { InputError } from '../errors.js';
import { readAt } from '../files/chunks.js';
import type { Checkpoint } from '../fit/ascent/loop.js';
import { type Model, needModel } from '../fit/model.js';
import { concat } from '../math/memory.js';
import { checkOptions } from '../options/check-options.js';
import { type OptionsOf, value } from '../options/declare.js';
import { STORAGE } from '../options/library.js';
import { checkScores } from './check-scores.js';
import { getCheckpoint, putCheckpoint } from './checkpoint-tensors.js';
import { getInfo, putInfo } from './info-tensors.js';
import { getPosterior, putPosterior } from './posterior-tensors.js';
import { getRanker, putRanker } from './ranker-tensors.js';
import { checkContents, TensorReader } from './tensor-reader.js';
import { type ByteSource, decodeTensors, encodeTensors, type Tensor, type TensorFile } from './tensors.js';

/** The version of the format that this graphex writes, and the oldest that it reads. Version 4 added titles and attributes, and renamed tensors. */
export const FORMAT = {
  format: 'graphex-model',
  version: 4,
  oldest: 3,
  what: 'model file',
  again: 'fit',
} as const;

const SAVE = {
  ...STORAGE,
  /** What a stopped fit needs to resume to the same numbers. The file then holds float32 tables of users and items. */
  checkpoint: value<Checkpoint>('object', 'what a stopped fit needs to resume'),
};

/** How a model is stored, and the state of its fit. */
export interface SaveOptions extends OptionsOf<typeof SAVE> {}

/** A model, and the checkpoint that was saved with it. */
export interface ModelFile {
  readonly model: Model;
  /** What the fit resumes from; undefined if the model was saved without it. */
  readonly checkpoint: Checkpoint | undefined;
}

/**
 * The bytes of a model file.
 * @example
 * import { BipartiteGraph, fit, modelFromBytes, modelToBytes } from 'graphex';
 * const { model } = await fit(BipartiteGraph.fromPairs([['ann', 'tea'], ['bob', 'milk']]), { features: 1 });
 * const same = await modelFromBytes(modelToBytes(model));
 * console.log(same.items.ids.at(0));
 */
export function modelToBytes(model: Model, options: SaveOptions = {}): Uint8Array {
  needModel(model);
  const pieces = encodeTensors(modelTensors(model, options));
  try {
    return concat(Uint8Array, pieces);
  } catch {
    const size = pieces.reduce((sum, piece) => sum + piece.length, 0);
    throw new InputError(
      `the model takes ${Math.ceil(size / 2 ** 20)} MiB, more than one array can hold here; save it to a file`,
    );
  }
}

/**
 * Loads a model from the bytes of its file, or from a Blob (a file that somebody dropped on a page).
 * @example
 * import { BipartiteGraph, fit, modelFromBytes, modelToBytes } from 'graphex';
 * const { model } = await fit(BipartiteGraph.fromPairs([['ann', 'tea'], ['bob', 'milk']]), { features: 1 });
 * const blob = new Blob([modelToBytes(model)]); // in a page: await (await fetch('model.safetensors')).blob()
 * console.log((await modelFromBytes(blob)).items.ids.at(0));
 */
export async function modelFromBytes(source: Uint8Array | Blob): Promise<Model> {
  return (await modelFileFromBytes(source)).model;
}

/** The model with its checkpoint. */
export async function modelFileFromBytes(source: Uint8Array | Blob): Promise<ModelFile> {
  const bytes = byteSource(source);
  return modelOf(bytes.name, await decodeTensors(bytes, FORMAT));
}

function byteSource(source: Uint8Array | Blob): ByteSource {
  if (source instanceof Uint8Array) {
    const read = async (at: number, length: number) => source.subarray(at, at + length);
    return { name: 'the given bytes', size: source.length, read };
  }
  if (typeof Blob === 'undefined' || !(source instanceof Blob)) {
    throw new InputError('a model is loaded from a Uint8Array or a Blob; give one of them');
  }
  const name = (source as { readonly name?: unknown }).name;
  return {
    name: typeof name === 'string' ? name : 'the given Blob',
    size: source.size,
    read: (at, length) => readAt(source, at, length),
  };
}

export function modelTensors(model: Model, options: SaveOptions = {}): TensorFile {
  const tensors = new Map<string, Tensor>();
  const { checkpoint, ...storage } = checkOptions(SAVE, options);
  if (model.type === 'posterior' && (storage.precision !== undefined || storage.users !== undefined)) {
    throw new InputError(
      'precision and users are for rankers: a posterior is stored whole, since draws and resumed fits need its Gamma parameters',
    );
  }
  if (checkpoint && (storage.precision === 'float16' || (storage.users ?? 'stored') !== 'stored')) {
    throw new InputError('a checkpoint is stored in float32 with all users: leave out precision and users');
  }
  const head = model.type === 'posterior' ? putPosterior(tensors, model) : putRanker(tensors, model, storage);
  const metadata: Record<string, string> = {
    format: FORMAT.format,
    format_version: String(FORMAT.version),
    ...head,
    ...(model.info && { info: putInfo(tensors, model.info, storage.users !== 'none') }),
    ...(checkpoint && { checkpoint: putCheckpoint(tensors, checkpoint) }),
  };
  return { tensors, metadata };
}

/** The model that a file holds. `apart`: the file holds no users; they are stored by shard. */
export function modelOf(name: string, { tensors, metadata }: TensorFile, apart = false): ModelFile {
  return checkContents(
    () => {
      const read = new TensorReader(tensors);
      const fitted =
        metadata.type === 'ranker' ? getRanker(read, metadata) : getPosterior(read, metadata, apart);
      checkScores(fitted);
      const model =
        metadata.info === undefined
          ? fitted
          : Object.freeze({ ...fitted, info: getInfo(read, fitted, metadata.info, apart) });
      return { model, checkpoint: getCheckpoint(read, model, metadata.checkpoint) };
    },
    // The checksum was right, so the file is as it was written, but graphex did not write it.
    (problem) =>
      new InputError(`${name}: the model file does not hold what a model needs (${problem}); fit again`),
  );
}
