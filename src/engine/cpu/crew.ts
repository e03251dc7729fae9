// The workers of one cpu engine. They start when there is work for them, and no more than it has units: a job with more
// units than any before it brings further workers, up to the number of threads.

import { createCounter } from '../../math/memory.js';
import { createPool, type TaskModule, threadCount, type WorkerPool } from '../../parallel/pool.js';
import { type Job, type Setup, scratchBytes } from './half-steps.js';
import type { UnitLimits } from './units.js';
import type { Heap } from './wasm-heap.js';
import type { IndexArrays } from './windows.js';

const HALF_STEPS: TaskModule = {
  name: 'half-steps',
  base: import.meta.url,
  worker: () =>
    new Worker(new URL('./half-steps.js', import.meta.url), { type: 'module', name: 'graphex:half-steps' }),
  here: () => import('./half-steps.js'),
};

let nextEngine = 0;

export interface Crew {
  /** Runs the job on all workers until no piece of it is left, of which there are so many. One at a time. */
  run(job: Omit<Job, 'engine'>, pieces: number): Promise<void>;
  addIndex(index: IndexArrays): Promise<void>;
  dropIndex(id: number): Promise<void>;
  /** What is under way is not waited for. */
  close(): Promise<void>;
}

export function createCrew(
  module: WebAssembly.Module,
  heap: Heap,
  limits: UnitLimits,
  threads: number,
): Crew {
  const engine = nextEngine++;
  const pools: WorkerPool[] = [];
  const indexes = new Map<number, IndexArrays>();
  let size = 0;
  let growing: Promise<void> | undefined;

  const everywhere = async (task: string, input: unknown): Promise<void> => {
    await Promise.all(pools.map((pool) => pool.everywhere(task, input)));
  };

  async function grow(more: number): Promise<void> {
    const scratch = Array.from({ length: more }, () => heap.allocate(scratchBytes(limits)));
    const pool = await createPool(HALF_STEPS, more);
    try {
      const setup: Setup = { engine, module, memory: heap.memory, places: createCounter(), scratch };
      await pool.everywhere('start', setup);
    } catch (error) {
      await pool.close();
      throw error;
    }
    // Known before it is told of the indexes: one may be dropped meanwhile.
    pools.push(pool);
    size += more;
    for (const index of indexes.values()) await pool.everywhere('addIndex', { engine, index });
  }

  return {
    async run(job, pieces) {
      const wanted = threadCount(threads, pieces);
      if (wanted > size) {
        growing = grow(wanted - size);
        await growing;
      }
      await everywhere('run', { ...job, engine });
    },
    async addIndex(index) {
      indexes.set(index.id, index);
      await everywhere('addIndex', { engine, index });
    },
    async dropIndex(id) {
      indexes.delete(id);
      await everywhere('dropIndex', { engine, id });
    },
    async close() {
      await growing?.catch(() => {});
      // A worker that has died needs no telling.
      void everywhere('stop', engine).catch(() => {});
      await Promise.all(pools.map((pool) => pool.close()));
    },
  };
}
