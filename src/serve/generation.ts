// A generation is one loaded model: shared by the workers that compute, with its own queue. Another model is another
// generation, so no answer mixes two models.

import { stat } from 'node:fs/promises';
import { createPool, taskModule, threadCount } from '../parallel/pool.js';
import type { ModelInformation } from './http-schema.js';
import type { LiveUpdate } from './live/live-view.js';
import { BATCH_SIZE, type Query, type Reply, sliceOf } from './queries.js';
import type { LoadTask, SharedServing } from './serving-tasks.js';
import { createQueue } from './work-queue.js';

export type Generation = Awaited<ReturnType<typeof loadGeneration>>;

interface GenerationOptions extends Omit<LoadTask, 'path'> {
  /** Workers that compute. */
  readonly threads: number | undefined;
  /** Requests that may wait. */
  readonly queue: number;
  /** What a new worker must know in addition to the model. */
  readonly state?: (() => LiveUpdate) | undefined;
}

const TASKS = taskModule('./serving-tasks.js', import.meta.url);

/** Loads the model in one worker, shares it with the others, and warms them up. */
export async function loadGeneration(path: string, options: GenerationOptions) {
  const cores = threadCount(undefined);
  // More than two workers a core take memory and answer no sooner.
  const count = threadCount(options.threads ?? cores, 2 * cores);
  const workers: ServingWorker[] = [];
  const close = async () => {
    await Promise.all(workers.map((worker) => worker.close()));
  };
  try {
    while (workers.length < count) workers.push(await startWorker());
    const { titles, itemInfo } = options;
    const serving = await workers[0].call<LoadTask, SharedServing>('load', { path, titles, itemInfo });
    const info: ModelInformation = { ...serving.info, loaded: new Date().toISOString() };
    /** When the file was written, milliseconds since 1970. */
    const written = (await stat(path).catch(() => undefined))?.mtimeMs ?? Date.now();
    const adopt = async (worker: ServingWorker) => {
      await worker.call('adopt', serving);
      if (options.state) await worker.call('update', options.state());
    };
    await Promise.all(workers.map(adopt));
    const replacing: (Promise<void> | undefined)[] = [];
    const answererAt = (_: ServingWorker, at: number) => async (queries: readonly Query[]) => {
      try {
        await replacing[at];
        return await workers[at].call<readonly Query[], Reply[]>('answer', queries);
      } catch (error) {
        // A refusal is a reply. An error means that the worker has failed or is in an unknown state: it is replaced before
        // the next query, and again if that fails.
        replacing[at] = replace(at);
        replacing[at].catch(() => {});
        throw error;
      }
    };
    // A worker that has failed or is closed is replaced by one that knows everything.
    const tell = (worker: ServingWorker, update: LiveUpdate) =>
      worker.call<LiveUpdate, void>('update', update).catch(() => {});
    const replace = async (at: number) => {
      await workers[at].close();
      workers[at] = await startWorker();
      await adopt(workers[at]);
    };
    const queue = createQueue<Query, Reply>(workers.map(answererAt), {
      capacity: options.queue,
      batchSize: BATCH_SIZE,
      sliceOf,
    });
    return {
      info,
      /** The columns of attributes that posted items may have. */
      columns: serving.columns,
      /** A warning of a table of titles that looks wrong. */
      caution: serving.caution,
      path,
      written,
      queue,
      /** Tells the workers what has changed. */
      async update(update: LiveUpdate): Promise<void> {
        // New attributes take a while. The workers take them in one after the other, so that one of them answers.
        if (update.described) await queue.eachWorker((at) => tell(workers[at], update));
        else await Promise.all(workers.map((worker) => tell(worker, update)));
      },
      /** Answers what waits, then releases the model. */
      async close(): Promise<void> {
        await queue.drain();
        await Promise.allSettled(replacing);
        await close();
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

type ServingWorker = Awaited<ReturnType<typeof startWorker>>;

/** A thread that serves a model. */
async function startWorker() {
  const pool = await createPool(TASKS, 1);
  const closing = new AbortController();
  const { signal } = closing;
  return {
    /** Rejects if the worker fails or is closed meanwhile. */
    async call<Input, Output>(task: string, input: Input): Promise<Output> {
      return (await pool.map<Input, Output>(task, [input], { signal }))[0];
    },
    async close(): Promise<void> {
      closing.abort();
      await pool.close();
    },
  };
}
