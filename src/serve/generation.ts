// A generation is one loaded model: shared by the workers that compute, with its own queue. Another model is another
// generation, so no answer mixes two models.

import { stat } from 'node:fs/promises';
import { createPool, taskModule, threadCount } from '../parallel/pool.js';
import type { ModelInformation } from './http-schema.js';
import type { LiveUpdate } from './live/live-view.js';
import { BATCH_SIZE, type Query, type Reply, sliceOf } from './queries.js';
import type { LoadTask, SharedServing } from './serving-tasks.js';
import { createQueue, type WorkQueue } from './work-queue.js';

export interface Generation {
  readonly info: ModelInformation;
  /** The file that was loaded. */
  readonly path: string;
  /** When the file was written, milliseconds since 1970. */
  readonly written: number;
  readonly queue: WorkQueue<Query, Reply>;
  /** Tells the workers what has changed. */
  update(update: LiveUpdate): Promise<void>;
  /** Answers what waits, then releases the model. */
  close(): Promise<void>;
}

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
export async function loadGeneration(path: string, options: GenerationOptions): Promise<Generation> {
  const cores = threadCount(undefined);
  // More than two workers a core take memory and answer no sooner.
  const count = threadCount(options.threads ?? cores, 2 * cores);
  const workers = await Promise.all(Array.from({ length: count }, startWorker));
  const close = async () => {
    await Promise.all(workers.map((worker) => worker.close()));
  };
  try {
    const { titles, itemInfo } = options;
    const serving = await workers[0].call<LoadTask, SharedServing>('load', { path, titles, itemInfo });
    const written = (await stat(path).catch(() => undefined))?.mtimeMs ?? Date.now();
    const adopt = async (worker: ServingWorker) => {
      await worker.call('adopt', serving);
      if (options.state) await worker.call('update', options.state());
    };
    await Promise.all(workers.map(adopt));
    const answererAt = (_: ServingWorker, at: number) => {
      let ready: Promise<unknown> = Promise.resolve();
      return async (queries: readonly Query[]) => {
        try {
          await ready;
          return await workers[at].call<readonly Query[], Reply[]>('answer', queries);
        } catch (error) {
          // A refusal is a reply. An error means that the worker has failed or is in an unknown state: it is replaced before
          // the next query, and again if that fails.
          ready = replace(at);
          ready.catch(() => {});
          throw error;
        }
      };
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
      info: { ...serving.info, loaded: new Date().toISOString() },
      path,
      written,
      queue,
      async update(update) {
        // New attributes take a while. The workers take them in one after the other, so that one of them answers.
        if (update.described) await queue.eachWorker((at) => tell(workers[at], update));
        else await Promise.all(workers.map((worker) => tell(worker, update)));
      },
      async close() {
        await queue.drain();
        await close();
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** A thread that serves a model. */
interface ServingWorker {
  /** Rejects if the worker fails or is closed meanwhile. */
  call<Input, Output>(task: string, input: Input): Promise<Output>;
  close(): Promise<void>;
}

async function startWorker(): Promise<ServingWorker> {
  const pool = await createPool(TASKS, 1);
  const closing = new AbortController();
  const { signal } = closing;
  return {
    call: async (task, input) => (await pool.map(task, [input], { signal }))[0] as never,
    async close() {
      closing.abort();
      await pool.close();
    },
  };
}
