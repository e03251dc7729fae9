// Requests to a server at a given rate, whether or not answers come. They come as a Poisson process. A time is counted from
// when a request was due, so that one that has to wait for a connection counts as slow: nothing is left out.

import { connect, type Socket } from 'node:net';
import { connect as connectSecurely } from 'node:tls';
import { randomStream } from '../math/random.js';

export interface Load {
  readonly url: string;
  readonly path: string;
  /** Bodies of the requests, taken in turn. */
  readonly bodies: readonly string[];
  /** Requests a second. */
  readonly rate: number;
  readonly seconds: number;
  readonly key?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface LoadResult {
  readonly sent: number;
  readonly statuses: Readonly<Record<string, number>>;
  /** Requests without an answer. */
  readonly errors: number;
  /** Of what was answered with success, milliseconds. */
  readonly p50: number;
  readonly p99: number;
  readonly slowest: number;
}

const MOST_CONNECTIONS = 900;

export async function runLoad(load: Load): Promise<LoadResult> {
  const { url, path, bodies, rate, seconds, key, signal } = load;
  const { hostname, port, protocol, host } = new URL(url);
  const secure = protocol === 'https:';
  const authorization = key === undefined ? '' : `Authorization: Bearer ${key}\r\n`;
  const open = (): Socket => {
    const at = { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || (secure ? 443 : 80)) };
    return secure ? connectSecurely({ ...at, servername: hostname }) : connect(at);
  };
  const random = randomStream(7, Math.round(1000 * rate));
  const free: Connection[] = [];
  const queue: { readonly due: number; readonly body: string }[] = [];
  const times: number[] = [];
  const statuses: Record<string, number> = {};
  let connections = 0;
  let errors = 0;
  let answered = 0;
  let sent = 0;

  class Connection {
    readonly #socket: Socket = open();
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
        `POST ${path} HTTP/1.1\r\nHost: ${host}\r\n${authorization}Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
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
      if (status.startsWith('2')) times.push(performance.now() - (this.#due as number));
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
      if (due >= end || signal?.aborted) resolve();
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
