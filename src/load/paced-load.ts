// Sends requests to a server at a given rate, as a Poisson process, whether or not answers come. A request's time is
// counted from the moment when it was due, so waiting for a connection is included.

import { connect, type Socket } from 'node:net';
import { connect as connectSecurely } from 'node:tls';
import { throwIfAborted } from '../errors.js';
import { randomStream } from '../math/random.js';
import { STREAMS } from '../math/streams.js';

interface Load {
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

export type LoadResult = Awaited<ReturnType<typeof runLoad>>;

const MOST_CONNECTIONS = 900;
/** Characters of the head of an answer. */
const LONGEST_HEAD = 65_536;

export async function runLoad(load: Load) {
  const { url, path, bodies, rate, seconds, key, signal } = load;
  const { hostname, port, protocol, host } = new URL(url);
  const secure = protocol === 'https:';
  const authorization = key === undefined ? '' : `Authorization: Bearer ${key}\r\n`;
  const open = (): Socket => {
    const at = { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || (secure ? 443 : 80)) };
    return secure ? connectSecurely({ ...at, servername: hostname }) : connect(at);
  };
  const random = randomStream(7, STREAMS.load, Math.round(1000 * rate));
  const all = new Set<Connection>();
  const free: Connection[] = [];
  const queue: { readonly due: number; readonly body: string }[] = [];
  const times: number[] = [];
  const statuses: Record<string, number> = {};
  let errors = 0;
  let answered = 0;
  let sent = 0;

  class Connection {
    readonly #socket: Socket = open();
    #head = '';
    #status = '';
    /** Characters of the body that are still to come; undefined while the head is read. */
    #missing: number | undefined;
    #due: number | undefined;

    constructor() {
      this.#socket.setNoDelay(true).setEncoding('latin1');
      this.#socket.on('data', (text) => this.#hear(String(text)));
      this.#socket.on('error', () => {});
      this.#socket.on('close', () => {
        all.delete(this);
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
      if (this.#missing === undefined) {
        this.#head += text;
        const end = this.#head.indexOf('\r\n\r\n');
        this.#status = this.#head.slice(9, 12);
        const isHttp = this.#head.length < 12 || /^\d{3}$/.test(this.#status);
        if (!isHttp || (end < 0 && this.#head.length > LONGEST_HEAD)) this.#socket.destroy();
        if (!isHttp || end < 0) return;
        const length = Number(/content-length: (\d+)/i.exec(this.#head.slice(0, end))?.[1] ?? 0);
        this.#missing = end + 4 + length - this.#head.length;
        this.#head = '';
      } else this.#missing -= text.length;
      if (this.#missing > 0) return;
      this.#missing = undefined;
      const status = this.#status;
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
    else if (all.size < MOST_CONNECTIONS) {
      const connection = new Connection();
      all.add(connection);
      connection.send(due, body);
    } else queue.push({ due, body });
  };

  const began = performance.now();
  const end = began + 1000 * seconds;
  let due = began;
  let timer: ReturnType<typeof setTimeout> | undefined;
  await new Promise<void>((resolve) => {
    const tick = () => {
      const now = performance.now();
      while (due <= now && due < end) {
        ask(due, bodies[sent % bodies.length]);
        due += (-1000 * Math.log(1 - random.uniform())) / rate;
      }
      if (due >= end || signal?.aborted) resolve();
      else timer = setTimeout(tick, Math.min(due, end) - performance.now());
    };
    signal?.addEventListener('abort', () => resolve(), { once: true });
    tick();
  });
  clearTimeout(timer);
  if (signal?.aborted) for (const connection of all) connection.end();
  throwIfAborted(signal);
  const patience = performance.now() + 5000;
  while (answered < sent && performance.now() < patience && !signal?.aborted)
    await new Promise((done) => setTimeout(done, 20));
  for (const connection of all) connection.end();
  throwIfAborted(signal);
  times.sort((a, b) => a - b);
  const at = (share: number) => times[Math.min(times.length - 1, Math.floor(share * times.length))] ?? NaN;
  return {
    sent,
    statuses,
    /** Requests without an answer. */
    errors: errors + sent - answered,
    /** Of what was answered with success, milliseconds. */
    p50: at(0.5),
    p99: at(0.99),
    slowest: at(1),
  };
}
