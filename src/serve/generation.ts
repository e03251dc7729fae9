// A model that answers: loaded once, shared by the workers that compute, with a queue of its own. Another model is
// another generation, so that no answer is made of two.

import { createPool, type TaskModule, threadCount, type WorkerPool } from '../parallel/pool.js';
import { BATCH_SIZE, type Job, type Reply, turnOf } from './jobs.js';
import { createQueue, type WorkQueue } from './queue.js';
import type { Information } from './schema.js';
import type { SharedServing } from './serving-tasks.js';

export interface Generation {
  readonly info: Information;
  readonly queue: WorkQueue<Job, Reply>;
  /** Answers what waits, then lets the model go. */
  close(): Promise<void>;
}

export interface GenerationOptions {
  readonly titles: string | undefined;
  /** Workers that compute. */
  readonly threads: number | undefined;
  /** Requests that may wait. */
  readonly queue: number;
}

const TASKS: TaskModule = {
  name: 'serving-tasks',
  base: import.meta.url,
  worker: () => {
    throw new Error('a server runs in Node');
  },
  here: () => import('./serving-tasks.js'),
};

/** Loads the model in a worker, shares it with the others, and warms them up. */
export async function loadGeneration(path: string, options: GenerationOptions): Promise<Generation> {
  const cores = threadCount(undefined);
  // A worker that answers is never idle in between: more than two a core take memory and answer no sooner.
  const count = threadCount(options.threads ?? cores, 2 * cores);
  const pools: WorkerPool[] = await Promise.all(Array.from({ length: count }, () => createPool(TASKS, 1)));
  const close = async () => {
    await Promise.all(pools.map((pool) => pool.close()));
  };
  try {
    const [serving] = await pools[0].map<unknown, SharedServing>('load', [{ path, titles: options.titles }]);
    const adopt = (pool: WorkerPool) => pool.map('adopt', [serving]);
    await Promise.all(pools.map(adopt));
    const answer = (_: WorkerPool, at: number) => {
      let ready: Promise<unknown> = Promise.resolve();
      return async (jobs: readonly Job[]) => {
        try {
          await ready;
          return (await pools[at].map<readonly Job[], Reply[]>('answer', [jobs]))[0];
        } catch (error) {
          // A job that is refused does not fail. What does is the worker, or leaves it as nobody knows: another one takes its place
          // before it is asked again, and where that cannot start it is tried anew.
          ready = replaced(at);
          ready.catch(() => {});
          throw error;
        }
      };
    };
    const replaced = async (at: number) => {
      await pools[at].close();
      pools[at] = await createPool(TASKS, 1);
      await adopt(pools[at]);
    };
    const queue = createQueue<Job, Reply>(pools.map(answer), {
      most: options.queue,
      together: BATCH_SIZE,
      turnOf,
      // Talking takes about a third of the work of a single answer: in overload, with every core at computing, all would wait for it.
      singly: threadCount(cores - 1, count),
    });
    const info = { ...serving.info, loaded: new Date().toISOString() };
    return {
      info,
      queue,
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
