// The threads that work for a cpu engine. A short job starts in the caller's thread, because starting a worker takes longer than
// several short jobs; workers join when they are ready. A long job runs on workers alone, so the caller's thread stays free.
// A job never gets more workers than it has units. A job with more units than any before it starts further workers, up to the
// number of threads. Sibling engines share workers: a worker that finds no unit left in one engine's job starts on the next job.

import { createCounter } from '../../math/memory.js';
import {
  createPool,
  createPoolHere,
  mayWorkHere,
  taskModule,
  threadCount,
  type WorkerPool,
} from '../../parallel/pool.js';
import type { Heap } from '../../wasm/heap.js';
import { type Job, type Setup, scratchBytes } from './half-steps.js';
import type { UnitLimits } from './units.js';
import type { IndexArrays } from './windows.js';

const HALF_STEPS = taskModule('./half-steps.js', import.meta.url);

/** A job is short up to this many units × floats of a row: about 30 ms of one thread. */
const SHORT = 2048;

let nextEngine = 0;

interface WorkerGroup {
  readonly size: number;
  readonly pool: Promise<WorkerPool>;
}

export type Workers = ReturnType<typeof createWorkers>;

/** Workers that are not set up for an engine yet. */
export function createWorkers(threads: number) {
  const all: WorkerGroup[] = [];
  let count = 0;
  return {
    threads,
    /** Starts workers until there are `wanted`. Returns all groups that were ever started. */
    startUpTo(wanted: number): readonly WorkerGroup[] {
      if (wanted > count) {
        const size = wanted - count;
        const pool = createPool(HALF_STEPS, size);
        pool.catch(() => {}); // callers that await the pool get the error
        all.push({ size, pool });
        count = wanted;
      }
      return all;
    },
    /** Does not wait for running jobs. */
    async close(): Promise<void> {
      const started = await Promise.allSettled(all.map(({ pool }) => pool));
      await Promise.all(started.map((one) => one.status === 'fulfilled' && one.value.close()));
    },
  };
}

export type EngineWorkers = ReturnType<typeof createEngineWorkers>;

export function createEngineWorkers(
  module: WebAssembly.Module,
  heap: Heap,
  limits: UnitLimits,
  workers: Workers,
) {
  const engine = nextEngine++;
  /** The caller's thread (from its first job on) and the workers that are ready. */
  let here: WorkerPool | undefined;
  const pools: WorkerPool[] = [];
  const indexes = new Map<number, IndexArrays>();
  /** How many of the started groups and workers know this engine, or soon will. */
  let groups = 0;
  let started = 0;
  let starting: Promise<void> = Promise.resolve();
  let failed: { readonly error: unknown } | undefined;

  const all = () => (here ? [here, ...pools] : pools);
  const everywhere = async (task: string, input: unknown, among = all()): Promise<void> => {
    await Promise.all(among.map((pool) => pool.everywhere(task, input)));
  };

  /** Sets up a pool. Pools run their tasks in order, so every later task finds the setup. */
  async function join(pool: WorkerPool): Promise<void> {
    const scratch = Array.from({ length: pool.size }, () => heap.allocate(scratchBytes(limits)));
    const setup: Setup = { engine, module, memory: heap.memory, places: createCounter(), scratch };
    await pool.everywhere('start', setup);
  }

  const tellIndexes = (pool: WorkerPool) =>
    Promise.all(Array.from(indexes.values(), (index) => pool.everywhere('addIndex', { engine, index })));

  async function bring(coming: Promise<WorkerPool>): Promise<void> {
    const pool = await coming;
    await join(pool);
    // No await in between: the next job, or the next dropped index, reaches this pool like the others.
    pools.push(pool);
    await tellIndexes(pool);
  }

  /** Starts workers until `wanted` serve this engine. A job that needs them awaits `starting`. */
  function startWorkers(wanted: number): void {
    while (started < wanted) {
      const { size, pool } = workers.startUpTo(wanted)[groups++];
      started += size;
      starting = Promise.all([starting, bring(pool)]).then(() => {});
      starting.catch((error) => {
        failed ??= { error };
      });
    }
  }

  async function beginHere(): Promise<void> {
    const pool = await createPoolHere(HALF_STEPS);
    await join(pool);
    here = pool;
    await tellIndexes(pool);
  }

  /** Starts the workers that a job needs. Returns whether the job is short. */
  function startFor(pieces: number, stride: number): boolean {
    const wanted = threadCount(workers.threads, pieces);
    const short = pieces * stride <= SHORT && mayWorkHere();
    startWorkers(short ? wanted - 1 : wanted);
    return short;
  }

  return {
    /** Starts the workers for a job of `pieces` units now, while the caller prepares the job. */
    expect: startFor,
    /** Runs a job of `pieces` units to its end. One job at a time. */
    async run(job: Omit<Job, 'engine' | 'bytes'>, pieces: number): Promise<void> {
      if (failed) throw failed.error;
      const short = startFor(pieces, job.stride);
      if (!short) await starting;
      else if (!here) await beginHere();
      const { byteLength: bytes } = heap.memory.buffer;
      await everywhere('run', { ...job, engine, bytes }, short ? all() : pools);
    },
    async addIndex(index: IndexArrays): Promise<void> {
      indexes.set(index.id, index);
      await everywhere('addIndex', { engine, index });
    },
    async dropIndex(id: number): Promise<void> {
      indexes.delete(id);
      await everywhere('dropIndex', { engine, id });
    },
    /** Makes the workers forget this engine. Does not wait for running jobs. */
    async leave(): Promise<void> {
      await starting.catch(() => {});
      // Ignore errors: a worker that has died needs no message.
      void everywhere('stop', engine).catch(() => {});
      await here?.close();
    },
  };
}
