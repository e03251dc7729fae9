// Clients of bench/serve.ts, in threads of their own: requests at a given rate whether or not answers come, health
// checks, and a bare handler to compare with.
//
// Requests come as a Poisson process. A time is counted from when a request was due, so that one that has to wait for a
// connection, or for this thread, counts as slow: nothing is left out.

import { setPriority } from 'node:os';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { parentPort, Worker, workerData } from 'node:worker_threads';
import { createAdaptorServer } from '@hono/node-server';
import { Hono } from 'hono';
import { type LoadResult, runLoad } from '../src/load/paced-load.js';

/** A load, and the longest time in milliseconds that its thread could not run. */
export interface MeasuredLoad extends LoadResult {
  readonly stall: number;
}

export interface Load {
  readonly kind: 'load';
  readonly url: string;
  readonly path: string;
  readonly bodies: readonly string[];
  /** Requests a second. */
  readonly rate: number;
  readonly seconds: number;
}

interface Watch {
  readonly kind: 'watch';
  readonly url: string;
}

interface Echo {
  readonly kind: 'echo';
}

/** Runs a load in a thread of its own. */
export function pacedLoad(load: Omit<Load, 'kind'>): Promise<MeasuredLoad> {
  return new Promise((resolve, reject) => {
    const worker = threadOf({ kind: 'load', ...load });
    worker.once('message', resolve);
    worker.once('error', reject);
  });
}

/** Asks for health twenty times a second; `stop` gives the slowest answer in milliseconds. */
export function watchHealth(url: string): { stop(): Promise<number> } {
  const worker = threadOf({ kind: 'watch', url });
  return {
    async stop() {
      const slowest = new Promise<number>((resolve) => worker.once('message', resolve));
      worker.postMessage('stop');
      return slowest;
    },
  };
}

/** A bare handler that echoes its request. */
export async function echoServer(): Promise<{ url: string; close(): Promise<void> }> {
  const worker = threadOf({ kind: 'echo' });
  const url = await new Promise<string>((resolve) => worker.once('message', resolve));
  return {
    url,
    async close() {
      await worker.terminate();
    },
  };
}

function threadOf(task: Load | Watch | Echo): Worker {
  return new Worker(new URL(import.meta.url), { workerData: task });
}

/**
 * A client on another machine would not wait for the server's threads. So this one gets a higher priority, if that is
 * permitted.
 */
async function runMeasured(load: Load): Promise<MeasuredLoad> {
  try {
    setPriority(0, -20);
  } catch {
    // Stalls of this thread are counted.
  }
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const result = await runLoad(load);
  delay.disable();
  return { ...result, stall: delay.max / 1e6 };
}

async function runWatch({ url }: Watch): Promise<number> {
  let watching = true;
  parentPort?.once('message', () => {
    watching = false;
  });
  const ask = async () => {
    const began = performance.now();
    await (await fetch(`${url}/health/live`)).text();
    return performance.now() - began;
  };
  // The first requests load the modules that this thread needs.
  for (let i = 0; i < 3; i++) await ask();
  let slowest = 0;
  while (watching) {
    slowest = Math.max(slowest, await ask());
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return slowest;
}

async function runEcho(): Promise<string> {
  const app = new Hono();
  app.post('/v1/recommend', async (c) => c.json(await c.req.json()));
  app.get('/health/live', (c) => c.json({ status: 'alive' }));
  const server = createAdaptorServer({ fetch: app.fetch });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  return `http://127.0.0.1:${(server.address() as { port: number }).port}`;
}

if (parentPort && workerData) {
  const task = workerData as Load | Watch | Echo;
  const result =
    task.kind === 'load'
      ? await runMeasured(task)
      : task.kind === 'watch'
        ? await runWatch(task)
        : await runEcho();
  parentPort.postMessage(result);
  if (task.kind !== 'echo') process.exit(0);
}
