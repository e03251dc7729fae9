// Who works for a cpu engine. Short jobs begin in the caller's thread: a worker takes longer to start than several of them
// take, so it joins in when it is there. Longer ones are left to workers, and the caller's thread stays free. There are no more
// workers than a job has units: one with more units than any before it brings further workers, up to the number of threads.
// Engines beside each other share them: what one asks for while another's job is under way, a worker begins as soon as it finds no
// unit of that left.

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

/** Units × features (a row's floats) up to which a job is short: some 30 ms of one thread. */
const SHORT = 2048;

let nextEngine = 0;

/** Workers that know no engine yet. */
export interface Workers {
  readonly threads: number;
  /** Has so many of them start, as far as they are not there; all that were ever asked for. */
  hire(wanted: number): readonly Hired[];
  /** What is under way is not waited for. */
  close(): Promise<void>;
}

interface Hired {
  readonly size: number;
  readonly pool: Promise<WorkerPool>;
}

export function createWorkers(threads: number): Workers {
  const all: Hired[] = [];
  let count = 0;
  return {
    threads,
    hire(wanted) {
      if (wanted > count) {
        const size = wanted - count;
        const pool = createPool(HALF_STEPS, size);
        pool.catch(() => {}); // whoever waits for them hears of it
        all.push({ size, pool });
        count = wanted;
      }
      return all;
    },
    async close() {
      const started = await Promise.allSettled(all.map(({ pool }) => pool));
      await Promise.all(started.map((one) => one.status === 'fulfilled' && one.value.close()));
    },
  };
}

/** Who works for one engine. */
export interface EngineWorkers {
  /** Has the workers for a job of so many pieces start now: they come while the caller prepares it. */
  expect(pieces: number, stride: number): void;
  /** Runs the job until no piece of it is left, of which there are so many. One at a time. */
  run(job: Omit<Job, 'engine' | 'bytes'>, pieces: number): Promise<void>;
  addIndex(index: IndexArrays): Promise<void>;
  dropIndex(id: number): Promise<void>;
  /** They forget the engine. What is under way is not waited for. */
  leave(): Promise<void>;
}

export function createEngineWorkers(
  module: WebAssembly.Module,
  heap: Heap,
  limits: UnitLimits,
  workers: Workers,
): EngineWorkers {
  const engine = nextEngine++;
  /** The caller's thread, from its first job on, and workers that are ready. */
  let here: WorkerPool | undefined;
  const pools: WorkerPool[] = [];
  const indexes = new Map<number, IndexArrays>();
  /** Of those hired, how many groups and how many workers know this engine or will. */
  let groups = 0;
  let hired = 0;
  let hiring: Promise<void> = Promise.resolve();
  let failed: { readonly error: unknown } | undefined;

  const all = () => (here ? [here, ...pools] : pools);
  const everywhere = async (task: string, input: unknown, among = all()): Promise<void> => {
    await Promise.all(among.map((pool) => pool.everywhere(task, input)));
  };

  /** Sets up a pool; whatever it is told from then on comes after that. */
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
    // Known and told in one go: what comes next, a job or an index that is dropped, finds it finds the others.
    pools.push(pool);
    await tellIndexes(pool);
  }

  /** Has so many workers start; those who need them wait for `hiring`. */
  function hire(wanted: number): void {
    while (hired < wanted) {
      const { size, pool } = workers.hire(wanted)[groups++];
      hired += size;
      hiring = Promise.all([hiring, bring(pool)]).then(() => {});
      hiring.catch((error) => {
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

  /** Has those start that a job needs; says whether it is short. */
  function hireFor(pieces: number, stride: number): boolean {
    const wanted = threadCount(workers.threads, pieces);
    const short = pieces * stride <= SHORT && mayWorkHere();
    hire(short ? wanted - 1 : wanted);
    return short;
  }

  return {
    expect: hireFor,
    async run(job, pieces) {
      if (failed) throw failed.error;
      const short = hireFor(pieces, job.stride);
      if (!short) await hiring;
      else if (!here) await beginHere();
      const { byteLength: bytes } = heap.memory.buffer;
      await everywhere('run', { ...job, engine, bytes }, short ? all() : pools);
    },
    async addIndex(index) {
      indexes.set(index.id, index);
      await everywhere('addIndex', { engine, index });
    },
    async dropIndex(id) {
      indexes.delete(id);
      await everywhere('dropIndex', { engine, id });
    },
    async leave() {
      await hiring.catch(() => {});
      // A worker that has died needs no telling.
      void everywhere('stop', engine).catch(() => {});
      await here?.close();
    },
  };
}
