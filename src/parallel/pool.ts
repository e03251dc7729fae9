// A pool of workers that run the exported functions of one module. A task is a plain function (input) → output. The
// module's variables live as long as the worker, so a first task can set up state for later ones. Results come back in
// input order. If randomness and blocks depend on the input alone, the numbers are the same on any number of threads.

import { abortReason, FitError, throwIfAborted, unpackError } from '../errors.js';
import { canShareMemory } from '../math/memory.js';
import type { Progress, TaskOptions } from '../progress.js';
import {
  checkAddressSpace,
  cores,
  spawnWorker,
  type TaskModule,
  taskModule,
  type WorkerEvents,
  type WorkerHandle,
} from './spawn.js';
import { createTurns } from './turns.js';

export { type TaskModule, taskModule };

export type WorkerPool = ReturnType<typeof poolOf>;

interface MapOptions<Output> {
  readonly signal?: AbortSignal | undefined;
  /** Called as each output arrives, in order of arrival. */
  readonly onResult?: ((output: Output, index: number) => void) | undefined;
}

interface Pending {
  resolve(value: unknown): void;
  reject(reason: unknown): void;
  readonly onProgress: TaskOptions['onProgress'];
}

/**
 * The number of threads: by default all cores, but no more than there are pieces of work. It is 1 if threads cannot
 * share memory.
 */
export function threadCount(threads: number | undefined, pieces = Number.POSITIVE_INFINITY): number {
  if (!canShareMemory()) return 1;
  return Math.max(1, Math.min(Math.floor(threads ?? cores()), pieces));
}

/**
 * Starts `threads` workers on a module of tasks. A worker that dies or cannot start rejects its tasks, so nothing hangs.
 * If threads cannot share memory, the tasks run in this thread one after another, with the same numbers.
 */
export async function createPool(module: TaskModule, threads: number): Promise<WorkerPool> {
  if (!canShareMemory()) return createPoolHere(module);
  const deaths = createDeaths();
  const size = threadCount(threads);
  checkAddressSpace(size);
  const workers = Array.from({ length: size }, () => startWorker(module, deaths.report));
  return poolOf(workers, deaths);
}

/** A pool without workers: its tasks run in this thread one after another, and yield to other work from time to time. */
export async function createPoolHere(module: TaskModule): Promise<WorkerPool> {
  return poolOf([await startHere(module)], createDeaths());
}

/** Whether this thread may work along with the workers: the main thread of a page must stay responsive. */
export function mayWorkHere(): boolean {
  return canShareMemory() && typeof document === 'undefined';
}

type Deaths = ReturnType<typeof createDeaths>;

/** Reports the death of a worker. It uses no long-lived promise: such a promise would retain all results raced against it. */
function createDeaths() {
  const listeners = new Set<(error: FitError) => void>();
  let dead: FitError | undefined;
  return {
    report(error: FitError): void {
      dead ??= error;
      for (const listener of listeners) listener(dead);
      listeners.clear();
    },
    /** The result, or a rejection if a worker dies first. */
    or<T>(result: Promise<T>): Promise<T> {
      if (dead) {
        result.catch(() => {});
        return Promise.reject(dead);
      }
      return new Promise((resolve, reject) => {
        listeners.add(reject);
        result.then(resolve, reject).finally(() => listeners.delete(reject));
      });
    },
  };
}

function poolOf(workers: readonly PoolWorker[], deaths: Deaths) {
  /** Runs `task` on every input, in any order; resolves to the outputs in input order. */
  async function map<Input, Output>(
    task: string,
    inputs: readonly Input[],
    { signal, onResult }: MapOptions<Output> = {},
  ): Promise<Output[]> {
    const outputs = new Array<Output>(inputs.length);
    let next = 0;
    const drain = async (worker: PoolWorker) => {
      while (next < inputs.length) {
        throwIfAborted(signal);
        const index = next++;
        try {
          outputs[index] = (await worker.call(task, inputs[index])) as Output;
        } catch (error) {
          next = inputs.length; // the other workers stop after their current task
          throw error;
        }
        onResult?.(outputs[index], index);
      }
    };
    const finished = Promise.allSettled(workers.map(drain)).then((settled) => {
      const failed = settled.find((s) => s.status === 'rejected');
      if (failed) throw failed.reason;
      return outputs;
    });
    const ended = deaths.or(finished);
    return signal ? orAborted(signal, ended) : ended;
  }

  const free = [...workers];
  const waiting: ((worker: PoolWorker) => void)[] = [];
  /** Runs `task` on one input, on the first free worker; the task may report progress. */
  async function run<Input, Output>(
    task: string,
    input: Input,
    signal?: AbortSignal,
    onProgress?: TaskOptions['onProgress'],
  ): Promise<Output> {
    const turn = async () => {
      const worker = free.pop() ?? (await new Promise<PoolWorker>((resolve) => waiting.push(resolve)));
      try {
        throwIfAborted(signal);
        const called = worker.call(task, input, onProgress) as Promise<Output>;
        // The signal is not observed while waiting: many calls may share it, and each rejected one lets the next proceed.
        return await (signal ? orAborted(signal, called) : called);
      } finally {
        const next = waiting.shift();
        if (next) next(worker);
        else free.push(worker);
      }
    };
    return deaths.or(turn());
  }

  return {
    size: workers.length,
    map,
    run,
    everywhere: async <Input, Output>(task: string, input: Input): Promise<Output[]> =>
      Promise.all(workers.map((w) => w.call(task, input) as Promise<Output>)),
    close: async (): Promise<void> => {
      await Promise.all(workers.map((w) => w.close()));
    },
  };
}

/** Rejects as soon as the signal fires, without waiting for the running task (closing the pool ends it). */
async function orAborted<T>(signal: AbortSignal, ended: Promise<T>): Promise<T> {
  let stop: () => void;
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(abortReason(signal));
  });
  if (signal.aborted) stop!();
  // Remove the listener: one signal may guard thousands of calls.
  signal.addEventListener('abort', stop!, { once: true });
  try {
    return await Promise.race([ended, aborted]);
  } finally {
    signal.removeEventListener('abort', stop!);
  }
}

interface PoolWorker {
  call(task: string, input: unknown, onProgress?: TaskOptions['onProgress']): Promise<unknown>;
  close(): Promise<void>;
}

function startWorker(module: TaskModule, onDeath: (error: FitError) => void): PoolWorker {
  const pending = new Map<number, Pending>();
  let nextId = 0;
  let dead: FitError | undefined;
  const fail = (error: FitError) => {
    dead ??= error;
    for (const { reject } of pending.values()) reject(dead);
    pending.clear();
    onDeath(dead);
  };
  const events: WorkerEvents = {
    onMessage({ id, output, error, progress }) {
      const waiting = pending.get(id);
      if (progress) {
        waiting?.onProgress?.(progress);
        return;
      }
      pending.delete(id);
      if (error) waiting?.reject(unpackError(error));
      else waiting?.resolve(output);
    },
    onDeath: (reason) =>
      fail(
        new FitError(`a worker thread died (${reason}); run it again, with fewer threads if memory is short`),
      ),
  };
  let handle: WorkerHandle | undefined;
  try {
    handle = spawnWorker(module, events);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    fail(new FitError(`a worker thread could not start (${reason}); use fewer threads, or allow more`));
  }
  return {
    call(task, input, onProgress) {
      if (dead) return Promise.reject(dead);
      return new Promise((resolve, reject) => {
        const id = nextId++;
        pending.set(id, { resolve, reject, onProgress });
        handle?.post({ id, task, input });
      });
    },
    close: async () => handle?.terminate(),
  };
}

type Report = (progress: Progress) => void;

/** Runs tasks in this thread like a worker, and yields to other events. */
async function startHere(module: TaskModule): Promise<PoolWorker> {
  const tasks = (await module.here()) as Record<string, (input: unknown, report: Report) => unknown>;
  let last: Promise<unknown> = Promise.resolve();
  const turn = createTurns();
  return {
    call(task, input, onProgress) {
      const result = last.then(async () => {
        await turn();
        if (!tasks[task]) throw new Error(`there is no task ${task}`);
        return tasks[task](input, (progress) => onProgress?.(progress));
      });
      last = result.catch(() => {}); // the caller handles a task's failure
      return result;
    },
    close: async () => {},
  };
}
