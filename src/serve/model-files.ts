// The model files that a server may load, and the current model: at most two models are in memory at a time.

import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createQueue } from '../math/queue.js';
import { MODEL_FILE } from '../refit/generations.js';
import type { Generation } from './generation.js';
import { Problem } from './problems.js';

/** The names of the model files in a folder. Links are left out. */
export async function modelFilesIn(folder: string | undefined): Promise<string[]> {
  if (folder === undefined) return [];
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isFile() && MODEL_FILE.test(entry.name))
    .map(({ name }) => name)
    .sort();
}

/** The path of a file that lies directly in the folder: no path from outside, and no link. */
async function pathIn(folder: string | undefined, name: string): Promise<string> {
  const field = 'file';
  if (folder === undefined) {
    throw new Problem('cannot-do', 'the server was started without a folder of models', { field });
  }
  if ((await modelFilesIn(folder)).includes(name)) return join(folder, name);
  throw new Problem('not-found', 'the folder has no such model; GET /v1/models lists its files', { field });
}

export type CurrentModel = ReturnType<typeof createCurrentModel>;

interface CurrentModelOptions {
  readonly first: Generation | undefined;
  readonly folder: string | undefined;
  readonly load: (path: string) => Promise<Generation>;
  readonly onSwap: (generation: Generation) => void;
  readonly onFailure: (error: unknown) => void;
  /** Called with a model that answers no longer. */
  readonly onRelease?: (generation: Generation) => void;
}

export function createCurrentModel(options: CurrentModelOptions) {
  let current = options.first;
  const loads = createQueue();
  /** The release of the model before the current one. */
  let released: Promise<unknown> = Promise.resolve();
  const waiting = new Map<string | undefined, Promise<Generation>>();

  async function load(file: string | undefined): Promise<Generation> {
    const path = file === undefined ? current?.path : await pathIn(options.folder, file);
    if (path === undefined) {
      const detail = 'the server was started without a model, so there is no file to read again';
      throw new Problem('cannot-do', detail, { field: 'file' });
    }
    await released;
    try {
      const next = await options.load(path);
      if (current) options.onRelease?.(current);
      released = current?.close() ?? Promise.resolve();
      released.catch(() => {});
      current = next;
      options.onSwap(next);
      return next;
    } catch (error) {
      options.onFailure(error);
      throw error;
    }
  }

  return {
    /** The model that answers now. */
    current: () => current,
    /**
     * Loads a file of the folder (undefined: the current file again), then answers from it. Loads run one after the other;
     * equal ones that wait are one.
     */
    swap(file: string | undefined): Promise<Generation> {
      const same = waiting.get(file);
      if (same) return same;
      const next = loads.inOrder(() => {
        waiting.delete(file);
        return load(file);
      });
      waiting.set(file, next);
      return next;
    },
    /** Waits for loads, then releases the model. */
    async close() {
      await loads.idle();
      await Promise.all([released, current?.close()]);
      current = undefined;
    },
  };
}
