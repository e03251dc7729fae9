// `graphex serve`: HTTP around a model, and the page at `/`. It holds no state but the model.

import { readdir, readFile, stat } from 'node:fs/promises';
import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, Server as NetServer } from 'node:net';
import { join } from 'node:path';
import { createAdaptorServer } from '@hono/node-server';
import { InputError, throwIfAborted } from '../errors.js';
import { withDefaults } from '../options/check-options.js';
import { SERVE } from '../options/commands/serve.js';
import { type OptionsOf, value } from '../options/declare.js';
import { TASK } from '../options/shared.js';
import { createApp } from './app.js';
import { createDoor } from './door.js';
import { type Generation, loadGeneration } from './generation.js';
import { type KeyRing, readKeys } from './keys.js';
import { LIMITS } from './limits.js';
import type { EventRecord, LogRecord } from './log.js';
import { readPage } from './page.js';
import { Problem } from './problems.js';
import { createRateLimit } from './rate.js';
import { createRecorder } from './recorder.js';

const GIVEN = {
  /** One record for each request and event. Default: none. */
  onLog: value<(record: LogRecord) => void>('function', 'called with one record for each request and event'),
  /** Stops the server as `close` does. */
  signal: TASK.signal,
};

/** What a server can be told; declared in options/commands.ts. */
export interface ServeOptions extends OptionsOf<typeof SERVE & typeof GIVEN> {}

/** A server that answers. */
export interface RunningServer {
  /** As in http://127.0.0.1:8080 */
  readonly url: string;
  /** Takes no more requests, answers those under way, and ends. */
  close(): Promise<void>;
  /** Resolves once the server has ended. */
  readonly ended: Promise<void>;
}

/** How long clients may take, in milliseconds. */
type Waits = Readonly<Record<'headers' | 'request' | 'silence' | 'look', number>>;

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]', '::1'];

/** Serves the model at `path`, or the page alone; resolves when it answers. */
export async function startServer(
  path: string | undefined,
  options: ServeOptions = {},
  waits: Waits = LIMITS,
): Promise<RunningServer> {
  const settings = withDefaults({ ...SERVE, ...GIVEN }, options);
  const { onLog, signal, port, host, models, titles, threads, queue, rate } = settings;
  const log = onLog ?? (() => {});
  const event = (name: EventRecord['event'], detail: string) =>
    log({ time: new Date().toISOString(), event: name, detail });
  const keys = settings.keyFile === undefined ? undefined : await keysOf(settings.keyFile);
  const load = (file: string) => loadGeneration(file, { titles, threads, queue });

  const page = await readPage();
  let current: Generation | undefined = path === undefined ? undefined : await load(path);
  let draining = false;
  let swapping: Promise<unknown> = Promise.resolve();

  /** One after the other: the new model is warm before the old one is let go. */
  const swap = (file: string | undefined): Promise<Generation> => {
    const next = swapping.then(async () => {
      const wanted = file === undefined ? servedFile(path) : await fileIn(models, file);
      const generation = await load(wanted).catch((error) => {
        event('load-failed', error instanceof Error ? error.message : String(error));
        throw error;
      });
      const before = current;
      current = generation;
      event('swapped', generation.info.hash);
      void before?.close();
      return generation;
    });
    swapping = next.catch(() => {});
    return next;
  };

  const recorder = createRecorder(() => current, log);
  const { http, turnAway } = createApp({
    current: () => current,
    swap,
    files: () => filesIn(models),
    draining: () => draining,
    keys,
    rate: rate === undefined ? undefined : createRateLimit(rate),
    hosts: hostsFor(host, settings.allowHosts),
    log,
    recorder,
    page,
    withModel: path !== undefined,
  });
  const server = createAdaptorServer({
    fetch: http.fetch,
    createServer: ((options: object, app: RequestListener) =>
      createServer(
        options,
        createDoor({ turnAway, recorder, draining: () => draining, app }),
      )) as typeof createServer,
    serverOptions: {
      maxHeaderSize: 16 << 10,
      connectionsCheckingInterval: waits.look,
      requireHostHeader: true,
    },
  }) as Server;
  server.headersTimeout = waits.headers;
  server.requestTimeout = waits.request;
  server.timeout = waits.silence;
  server.keepAliveTimeout = LIMITS.idle;
  server.maxConnections = LIMITS.connections;
  server.maxHeadersCount = 64;

  const ended = new Promise<void>((resolve) => server.once('close', resolve)).then(async () => {
    await swapping;
    await current?.close();
    current = undefined;
    event('stopped', cut ? 'requests that took too long were cut off' : 'every request was answered');
  });
  let cut = false;
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => {
    closing ??= (async () => {
      draining = true;
      event('draining', 'taking no more requests');
      // No more connections; those there are may bring a request that is on its way, and end with its answer.
      NetServer.prototype.close.call(server);
      // After the next look at the network: what has arrived by then is a request, not idleness.
      const sweep = setInterval(() => setImmediate(() => server.closeIdleConnections()), LIMITS.grace);
      const timer = setTimeout(() => {
        cut = true;
        server.closeAllConnections();
      }, LIMITS.drain);
      await ended;
      clearInterval(sweep);
      clearTimeout(timer);
      // It has ended; this lets go of the timer by which it looked for slow clients.
      server.close();
    })();
    return closing;
  };

  try {
    throwIfAborted(signal);
    await listen(server, port, host);
  } catch (error) {
    await current?.close();
    throw error;
  }
  signal?.addEventListener('abort', () => void close(), { once: true });
  const address = server.address() as AddressInfo;
  const shown = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  const url = `http://${shown}:${address.port}`;
  event('listening', url);
  event('ready', current?.info.hash ?? 'without a model');
  return { url, close, ended };
}

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const reasons: Readonly<Record<string, string>> = {
        EADDRINUSE: `port ${port} is taken; name another, or 0 for any free one`,
        EACCES: `port ${port} is not permitted to this user; name one above 1023`,
        EADDRNOTAVAIL: `${host} is no address of this machine`,
        ENOTFOUND: `${host} is no known host`,
      };
      const reason = reasons[error.code ?? ''];
      reject(reason === undefined ? error : new InputError(reason));
    });
    server.listen(port, host, resolve);
  });
}

/** A page elsewhere must not reach a private server under a name of its own making. */
function hostsFor(host: string, allowed: readonly string[] | undefined): ReadonlySet<string> | undefined {
  if (allowed && allowed.length > 0)
    return new Set([...LOOPBACK, host, ...allowed].map((name) => name.toLowerCase()));
  return LOOPBACK.includes(host) ? new Set(LOOPBACK) : undefined;
}

async function keysOf(path: string): Promise<KeyRing> {
  // Of what it points to: a mounted secret is a link.
  const found = await stat(path).catch(() => undefined);
  if (!found) throw new InputError(`${path}: there is no such file of keys; check the path`);
  const MOST = 1 << 20;
  if (!found.isFile() || found.size > MOST) {
    throw new InputError(`${path}: a file of keys is a plain file of at most ${MOST} bytes`);
  }
  return readKeys(await readFile(path, 'utf8'), path);
}

const MODEL_FILE = /^[\w][\w.-]*\.safetensors$/;

async function filesIn(folder: string | undefined): Promise<string[]> {
  if (folder === undefined) return [];
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isFile() && MODEL_FILE.test(entry.name))
    .map(({ name }) => name)
    .sort();
}

function servedFile(path: string | undefined): string {
  if (path !== undefined) return path;
  throw new Problem('cannot-do', 'the server was started without a model file that could be read again', {
    field: 'file',
  });
}

/** Only what the folder itself holds: no path, no link out of it. */
async function fileIn(folder: string | undefined, name: string): Promise<string> {
  if (folder === undefined) {
    throw new Problem('cannot-do', 'the server was given no folder of models', { field: 'file' });
  }
  if (!(await filesIn(folder)).includes(name)) {
    throw new Problem('not-found', 'there is no such model in the folder; GET /v1/models lists them', {
      field: 'file',
    });
  }
  return join(folder, name);
}
