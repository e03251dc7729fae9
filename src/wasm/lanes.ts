// Runs a task on several workers in parallel; each takes block after block until none is left.

import { throwIfAborted } from '../errors.js';
import { createPool, type TaskModule, type WorkerPool } from '../parallel/pool.js';

export type Lanes = ReturnType<typeof inLanes>;

/** `threads` workers for the tasks of a module. With 0, tasks run in the caller's thread. */
export function inLanes(module: TaskModule, threads: number) {
  let pool: Promise<WorkerPool> | undefined;
  const start = () => {
    if (threads > 0 && !pool) {
      pool = createPool(module, threads);
      pool.catch(() => {}); // the first task gets the error
    }
  };
  return {
    /** How many run a task. */
    count: Math.max(1, threads),
    /** Starts the workers, which the first task does otherwise. */
    start,
    /** Runs a task on all workers. `job.next` counts its blocks, `blocks` in all. */
    async all<Job extends { readonly next: Int32Array }>(
      name: string,
      task: (job: Job) => void,
      job: Job,
      signal: AbortSignal | undefined,
      blocks: number,
      report?: () => void,
    ): Promise<void> {
      throwIfAborted(signal);
      start();
      const workers = await pool;
      if (!workers) return task(job);
      // A counter beyond the last block stops the workers.
      const stop = () => Atomics.store(job.next, 0, blocks);
      signal?.addEventListener('abort', stop, { once: true });
      const ticking = setInterval(() => report?.(), 200);
      try {
        await workers.everywhere(name, job);
      } finally {
        clearInterval(ticking);
        signal?.removeEventListener('abort', stop);
      }
      throwIfAborted(signal);
    },
    /** A pool that could not start has told its first task. */
    close: async (): Promise<void> => (await pool?.catch(() => undefined))?.close(),
  };
}
