// A pool of workers that run the exported functions of one module. A task is a plain function (input) → output of
// that module; the module's own variables live as long as the worker, so a first task can set up state for later
// ones. Results come back in input order, whatever worker made them, so a caller that derives randomness and blocks
// from the input alone gets the same numbers on any number of threads.

import { AbortError, FitError } from '../errors.js';
import { cores, spawnWorker, type WorkerHandle } from './spawn.js';

export interface WorkerPool {
  readonly size: number;
  /** Runs `task` on every input, in any order; resolves to the outputs in input order. */
  map<Input, Output>(task: string, inputs: readonly Input[], options?: MapOptions<Output>): Promise<Output[]>;
  /** Runs `task` once on every worker with the same input. */
  everywhere<Input, Output>(task: string, input: Input): Promise<Output[]>;
  close(): Promise<void>;
}

export interface MapOptions<Output> {
  readonly signal?: AbortSignal | undefined;
  /** Called as each output arrives, in order of arrival. */
  readonly onResult?: ((output: Output, index: number) => void) | undefined;
}

interface Pending {
  resolve(value: unknown): void;
  reject(reason: unknown): void;
}

/** All cores unless told otherwise; a whole number of at least 1. */
export function threadCount(threads: number | undefined): number {
  return Math.max(1, Math.floor(threads ?? cores()));
}

/**
 * Starts `threads` workers on the module at `moduleUrl` (pass `new URL('./tasks.js', import.meta.url)`). A worker that
 * dies rejects whatever it was doing; nothing hangs.
 */
export async function createPool(moduleUrl: URL, threads?: number): Promise<WorkerPool> {
  const size = threadCount(threads);
  let died: (error: FitError) => void;
  const death = new Promise<never>((_, reject) => {
    died = reject;
  });
  death.catch(() => {}); // whoever waits for a result hears of it
  const workers = await Promise.all(
    Array.from({ length: size }, () => startWorker(moduleUrl, (error) => died(error))),
  );

  async function map<Input, Output>(
    task: string,
    inputs: readonly Input[],
    { signal, onResult }: MapOptions<Output> = {},
  ): Promise<Output[]> {
    const outputs = new Array<Output>(inputs.length);
    let next = 0;
    const drain = async (worker: PoolWorker) => {
      while (next < inputs.length) {
        if (signal?.aborted) throw new AbortError();
        const index = next++;
        try {
          outputs[index] = (await worker.call(task, inputs[index])) as Output;
        } catch (error) {
          next = inputs.length; // the others stop after what they are doing
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
    const ends = [finished, death];
    return signal ? orAborted(signal, ends) : Promise.race(ends);
  }

  return {
    size,
    map,
    everywhere: async (task, input) => Promise.all(workers.map((w) => w.call(task, input))) as never,
    close: async () => {
      await Promise.all(workers.map((w) => w.close()));
    },
  };
}

/** Rejects as soon as the signal fires: a task under way is not waited for (closing the pool ends it). */
async function orAborted<T>(signal: AbortSignal, ends: readonly Promise<T>[]): Promise<T> {
  let stop: () => void;
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(new AbortError());
  });
  if (signal.aborted) stop!();
  // Taken off again: one signal may guard thousands of calls.
  signal.addEventListener('abort', stop!, { once: true });
  try {
    return await Promise.race([...ends, aborted]);
  } finally {
    signal.removeEventListener('abort', stop!);
  }
}

interface PoolWorker {
  call(task: string, input: unknown): Promise<unknown>;
  close(): Promise<void>;
}

async function startWorker(moduleUrl: URL, onDeath: (error: FitError) => void): Promise<PoolWorker> {
  const pending = new Map<number, Pending>();
  let nextId = 0;
  let dead: FitError | undefined;
  const fail = (error: FitError) => {
    dead ??= error;
    for (const { reject } of pending.values()) reject(dead);
    pending.clear();
    onDeath(dead);
  };
  const handle: WorkerHandle = await spawnWorker(moduleUrl, {
    onMessage({ id, output, error }) {
      const waiting = pending.get(id);
      pending.delete(id);
      if (error) waiting?.reject(revive(error));
      else waiting?.resolve(output);
    },
    onDeath: (reason) =>
      fail(
        new FitError(`a worker thread died (${reason}); run it again, with fewer threads if memory is short`),
      ),
  });
  return {
    call(task, input) {
      if (dead) return Promise.reject(dead);
      return new Promise((resolve, reject) => {
        const id = nextId++;
        pending.set(id, { resolve, reject });
        handle.post({ id, task, input });
      });
    },
    close: () => handle.terminate(),
  };
}

/** Errors lose their class on the way between threads; the name brings it back for the ones callers look for. */
function revive(error: { name: string; message: string; stack?: string }): Error {
  const result = new Error(error.message);
  Object.defineProperty(result, 'name', { value: error.name });
  if (error.stack) result.stack = error.stack;
  return result;
}
