// Clients of bench/serve.ts, in threads of their own: requests at a given rate whether or not answers come, questions
// after health, and a bare handler to compare with.
//
// Requests come as a Poisson process. A time is counted from when a request was due, so that one that has to wait for a
// connection, or for this thread, counts as slow: nothing is left out.

import { connect, type Socket } from 'node:net';
import { parentPort, Worker, workerData } from 'node:worker_threads';
import { createAdaptorServer } from '@hono/node-server';
import { Hono } from 'hono';
import { randomStream } from '../src/math/random.js';

export interface Load {
  readonly kind: 'load';
  readonly url: string;
  readonly path: string;
  readonly bodies: readonly string[];
  /** Requests a second. */
  readonly rate: number;
  readonly seconds: number;
}

export interface LoadResult {
  readonly sent: number;
  readonly statuses: Readonly<Record<string, number>>;
  readonly errors: number;
  /** Of what was answered 200, milliseconds. */
  readonly p50: number;
  readonly p99: number;
  readonly slowest: number;
}

interface Watch {
  readonly kind: 'watch';
  readonly url: string;
}

interface Echo {
  readonly kind: 'echo';
}

const MOST_CONNECTIONS = 900;

/** Runs a load in a thread of its own. */
export function pacedLoad(load: Omit<Load, 'kind'>): Promise<LoadResult> {
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

/** A bare handler that gives back what it gets. */
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

async function runLoad({ url, path, bodies, rate, seconds }: Load): Promise<LoadResult> {
  const { hostname, port } = new URL(url);
  const random = randomStream(7, Math.round(rate));
  const free: Connection[] = [];
  const queue: { readonly due: number; readonly body: string }[] = [];
  const times: number[] = [];
  const statuses: Record<string, number> = {};
  let connections = 0;
  let errors = 0;
  let answered = 0;
  let sent = 0;

  class Connection {
    readonly #socket: Socket = connect(Number(port), hostname);
    #heard = '';
    #due: number | undefined;

    constructor() {
      this.#socket.setNoDelay(true).setEncoding('latin1');
      this.#socket.on('data', (text) => this.#hear(String(text)));
      this.#socket.on('error', () => {});
      this.#socket.on('close', () => {
        connections--;
        const at = free.indexOf(this);
        if (at >= 0) free.splice(at, 1);
        if (this.#due === undefined) return;
        errors++;
        answered++;
      });
    }

    send(due: number, body: string): void {
      this.#due = due;
      this.#socket.write(
        `POST ${path} HTTP/1.1\r\nHost: ${hostname}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      );
    }

    end(): void {
      this.#socket.destroy();
    }

    #hear(text: string): void {
      this.#heard += text;
      const head = this.#heard.indexOf('\r\n\r\n');
      if (head < 0) return;
      const length = Number(/content-length: (\d+)/i.exec(this.#heard)?.[1]);
      if (this.#heard.length < head + 4 + length) return;
      const status = this.#heard.slice(9, 12);
      this.#heard = '';
      statuses[status] = (statuses[status] ?? 0) + 1;
      if (status === '200') times.push(performance.now() - (this.#due as number));
      answered++;
      const waiting = queue.shift();
      if (waiting) this.send(waiting.due, waiting.body);
      else {
        this.#due = undefined;
        free.push(this);
      }
    }
  }

  const ask = (due: number, body: string) => {
    sent++;
    const connection = free.pop();
    if (connection) connection.send(due, body);
    else if (connections < MOST_CONNECTIONS) {
      connections++;
      new Connection().send(due, body);
    } else queue.push({ due, body });
  };

  const began = performance.now();
  const end = began + 1000 * seconds;
  let due = began;
  await new Promise<void>((resolve) => {
    const tick = () => {
      const now = performance.now();
      while (due <= now && due < end) {
        ask(due, bodies[sent % bodies.length]);
        due += (-1000 * Math.log(1 - random.uniform())) / rate;
      }
      if (due >= end) resolve();
      else setTimeout(tick, due - performance.now());
    };
    tick();
  });
  const patience = performance.now() + 5000;
  while (answered < sent && performance.now() < patience) await new Promise((done) => setTimeout(done, 20));
  for (const connection of free) connection.end();
  times.sort((a, b) => a - b);
  const at = (share: number) => times[Math.min(times.length - 1, Math.floor(share * times.length))] ?? NaN;
  return {
    sent,
    statuses,
    errors: errors + sent - answered,
    p50: at(0.5),
    p99: at(0.99),
    slowest: at(1),
  };
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
  // The first ones load what this thread needs to ask.
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
      ? await runLoad(task)
      : task.kind === 'watch'
        ? await runWatch(task)
        : await runEcho();
  parentPort.postMessage(result);
  if (task.kind !== 'echo') process.exit(0);
}
