// The server: HTTP around a model, and the page at `/`. Its only state is the model.

import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, createServer as createNetServer, Server as NetServer } from 'node:net';
import { dirname } from 'node:path';
import { createAdaptorServer } from '@hono/node-server';
import { InputError, throwIfAborted } from '../errors.js';
import { readPlainText } from '../files/plain-file.js';
import { withDefaults } from '../options/check-options.js';
import { SERVE } from '../options/commands/serve.js';
import { type OptionsOf, value } from '../options/declare.js';
import { TASK } from '../options/shared.js';
import { openGenerations } from '../refit/generations.js';
import { createRateLimit, type KeyRing, readKeys } from './access.js';
import { limitConnections } from './connections.js';
import { loadGeneration } from './generation.js';
import { createApp } from './http-app.js';
import { LIMITS } from './limits.js';
import { countLive, openLive } from './live/open-live.js';
import { countRefits, openRefits, wantsRefits } from './live/refits.js';
import { createCurrentModel, modelFilesIn } from './model-files.js';
import { refuseOverload } from './overload.js';
import { readPage } from './page-files.js';
import { createRequestLog, type EventRecord, type LogRecord } from './request-log.js';

const GIVEN = {
  /** Called with one record for each request and event. Default: none. */
  onLog: value<(record: LogRecord) => void>('function', 'called with one record for each request and event'),
  /** Stops the server as `close` does. */
  signal: TASK.signal,
};

/** The options of a server; declared in options/commands/serve.ts. */
export interface ServeOptions extends OptionsOf<typeof SERVE & typeof GIVEN> {}

/** A server that answers. */
export interface RunningServer {
  /** As in http://127.0.0.1:8080 */
  readonly url: string;
  /** Takes no more requests, answers the open ones, and ends. */
  close(): Promise<void>;
  /** Resolves when the server has ended. */
  readonly ended: Promise<void>;
}

/** Limits that tests shorten. */
type Limits = Readonly<
  Record<'headers' | 'request' | 'silence' | 'look' | 'connections' | 'spareConnections', number>
>;

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]', '::1'];

/** Serves the model at `path`, or the page alone; resolves when it answers. */
export async function startServer(
  path: string | undefined,
  options: ServeOptions = {},
  limits: Limits = LIMITS,
): Promise<RunningServer> {
  const settings = withDefaults({ ...SERVE, ...GIVEN }, options);
  const { onLog, signal, port, host, models, titles, itemInfo, threads, queue, rate, listUsers } = settings;
  const log = onLog ?? (() => {});
  const event = (name: EventRecord['event'], detail: string) =>
    log({ time: new Date().toISOString(), event: name, detail });
  const keys = settings.keyFile === undefined ? undefined : await keysOf(settings.keyFile);
  const page = await readPage();
  // Before a store is made and filled.
  await requireFreePort(port, host);
  const refitting = wantsRefits(settings, path);
  const folder = models ?? (refitting ? dirname(path as string) : undefined);
  const generations = refitting
    ? await openGenerations(folder as string, path as string, (message) => event('refit-failed', message))
    : undefined;
  const live = await openLive(settings, path, event);
  const load = async (file: string) => {
    const generation = await loadGeneration(file, { titles, itemInfo, threads, queue, state: live?.state });
    if (generation.caution !== undefined) event('warning', generation.caution);
    await live?.attach(generation);
    return generation;
  };
  const loadFirst = async (given: string) => {
    const active = await generations?.resume();
    if (active === undefined) return load(given);
    event('refit', `${active} is served instead of ${given}: it was active last`);
    return load(active).catch((error) => {
      event('load-failed', `${error instanceof Error ? error.message : error}; ${given} is served instead`);
      return load(given);
    });
  };
  const first =
    path === undefined
      ? undefined
      : await loadFirst(path).catch(async (error) => {
          await live?.close();
          throw error;
        });
  const model = createCurrentModel({
    first,
    folder,
    load,
    onSwap: ({ info }) => event('swapped', info.hash),
    onRelease: (generation) => live?.detach(generation),
    onFailure: (error) => event('load-failed', error instanceof Error ? error.message : String(error)),
  });
  let draining = false;

  const requestLog = createRequestLog(model.current, log);
  if (live) countLive(requestLog.counters, live);
  const refits =
    generations &&
    (await openRefits(settings, { folder: folder as string, generations, model, live, event }));
  if (refits) countRefits(requestLog.counters, refits);
  const { http, refusal } = createApp({
    current: model.current,
    swap: model.swap,
    files: () => modelFilesIn(folder),
    draining: () => draining,
    keys,
    rate: rate === undefined ? undefined : createRateLimit(rate),
    listUsers,
    live,
    refits,
    hosts: hostsFor(host, settings.allowHosts),
    log,
    requestLog,
    page,
    withModel: path !== undefined,
  });
  const server = createAdaptorServer({
    fetch: http.fetch,
    createServer: ((options: object, app: RequestListener) =>
      createServer(
        options,
        refuseOverload({ refusal, requestLog, draining: () => draining, app }),
      )) as typeof createServer,
    serverOptions: {
      maxHeaderSize: 16 << 10,
      connectionsCheckingInterval: limits.look,
      requireHostHeader: true,
    },
  }) as Server;
  server.headersTimeout = limits.headers;
  server.requestTimeout = limits.request;
  server.timeout = limits.silence;
  server.keepAliveTimeout = LIMITS.idle;
  server.maxHeadersCount = 64;
  limitConnections(server, limits);

  let timedOut = false;
  const release = async () => {
    await refits?.close();
    await model.close();
    await live?.close();
  };
  const ended = new Promise<void>((resolve) => server.once('close', resolve)).then(async () => {
    await release();
    event('stopped', timedOut ? 'requests that took too long were cut off' : 'every request was answered');
  });
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => {
    closing ??= (async () => {
      draining = true;
      event('draining', 'no more requests are taken');
      // Takes no more connections. Open ones may still bring a request that is on its way, and end with its answer.
      NetServer.prototype.close.call(server);
      // After the next look at the network: a request that has arrived by then is not idle.
      const sweep = setInterval(() => setImmediate(() => server.closeIdleConnections()), LIMITS.grace);
      const timer = setTimeout(() => {
        timedOut = true;
        server.closeAllConnections();
      }, LIMITS.drain);
      await ended;
      clearInterval(sweep);
      clearTimeout(timer);
      // Stops the timer that looks for slow clients.
      server.close();
    })();
    return closing;
  };

  try {
    throwIfAborted(signal);
    await listen(server, port, host);
  } catch (error) {
    await release();
    throw error;
  }
  signal?.addEventListener('abort', () => void close(), { once: true });
  const address = server.address() as AddressInfo;
  const shown = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  const url = `http://${shown}:${address.port}`;
  event('listening', url);
  event('ready', model.current()?.info.hash ?? 'without a model');
  return { url, close, ended };
}

async function requireFreePort(port: number, host: string): Promise<void> {
  const server = createNetServer();
  await listen(server, port, host);
  await new Promise((resolve) => server.close(resolve));
}

function listen(server: NetServer, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const reasons: Readonly<Record<string, string>> = {
        EADDRINUSE: `port ${port} is in use; choose another, or 0 for any free port`,
        EACCES: `port ${port} is not permitted to this user; choose one above 1023`,
        EADDRNOTAVAIL: `${host} is not an address of this machine; choose another host`,
        ENOTFOUND: `${host} is not a known host; check its name`,
      };
      const reason = reasons[error.code ?? ''];
      reject(reason === undefined ? error : new InputError(reason));
    });
    server.listen(port, host, resolve);
  });
}

/** Host names that the server answers for: a page elsewhere must not reach a private server by a name of its own. */
function hostsFor(host: string, allowed: readonly string[] | undefined): ReadonlySet<string> | undefined {
  if (allowed && allowed.length > 0)
    return new Set([...LOOPBACK, host, ...allowed].map((name) => name.toLowerCase()));
  return LOOPBACK.includes(host) ? new Set(LOOPBACK) : undefined;
}

const MOST_KEY_BYTES = 1 << 20;

async function keysOf(path: string): Promise<KeyRing> {
  const text = await readPlainText(
    path,
    MOST_KEY_BYTES,
    () => new InputError(`${path}: a file of keys must be a plain file of at most ${MOST_KEY_BYTES} bytes`),
  );
  return readKeys(text, path);
}
