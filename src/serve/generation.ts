// A generation is one loaded model: shared by the workers that compute, with its own queue. Another model is another
// generation, so no answer mixes two models.

import { createPool, taskModule, threadCount, type WorkerPool } from '../parallel/pool.js';
import type { ModelInformation } from './http-schema.js';
import type { LiveUpdate } from './live/live-view.js';
import { BATCH_SIZE, type Query, type Reply, sliceOf } from './queries.js';
import type { SharedServing } from './serving-tasks.js';
import { createQueue, type WorkQueue } from './work-queue.js';

export interface Generation {
  readonly info: ModelInformation;
  /** The file that was loaded. */
  readonly path: string;
  readonly queue: WorkQueue<Query, Reply>;
  /** Tells the workers what has changed. */
  update(update: LiveUpdate): Promise<void>;
  /** Answers what waits, then releases the model. */
  close(): Promise<void>;
}

interface GenerationOptions {
  readonly titles: string | undefined;
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
  const pools: WorkerPool[] = await Promise.all(Array.from({ length: count }, () => createPool(TASKS, 1)));
  const close = async () => {
    await Promise.all(pools.map((pool) => pool.close()));
  };
  try {
    const [serving] = await pools[0].map<unknown, SharedServing>('load', [{ path, titles: options.titles }]);
    const adopt = async (pool: WorkerPool) => {
      await pool.map('adopt', [serving]);
      if (options.state) await pool.map('update', [options.state()]);
    };
    await Promise.all(pools.map(adopt));
    const workerAt = (_: WorkerPool, at: number) => {
      let ready: Promise<unknown> = Promise.resolve();
      return async (queries: readonly Query[]) => {
        try {
          await ready;
          return (await pools[at].map<readonly Query[], Reply[]>('answer', [queries]))[0];
        } catch (error) {
          // A refusal is a reply. An error means that the worker has failed or is in an unknown state: it is replaced before
          // the next query, and again if that fails.
          ready = replace(at);
          ready.catch(() => {});
          throw error;
        }
      };
    };
    const replace = async (at: number) => {
      await pools[at].close();
      pools[at] = await createPool(TASKS, 1);
      await adopt(pools[at]);
    };
    const queue = createQueue<Query, Reply>(pools.map(workerAt), {
      capacity: options.queue,
      batchSize: BATCH_SIZE,
      sliceOf,
    });
    return {
      info: { ...serving.info, loaded: new Date().toISOString() },
      path,
      queue,
      async update(update) {
        await Promise.all(pools.map((pool) => pool.map('update', [update])));
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
