// The HTTP side: checks requests and passes them on. It computes nothing, so that it always responds quickly.

import { randomUUID } from 'node:crypto';
import { OpenAPIHono, type z } from '@hono/zod-openapi';
import type { Context, Next } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { InputError } from '../errors.js';
import { RECOMMEND } from '../options/commands/recommend.js';
import { once } from '../predict/scoring/once.js';
import { VERSION } from '../version.js';
import { createRateLimit, type Key, type KeyRing, type RateLimit } from './access.js';
import { type ListSize, refuseCostly } from './cost.js';
import { DOCS_POLICY, docsPage } from './docs.js';
import { ENDPOINTS, type ModelEndpoint, methodsAt, routeOf } from './endpoints.js';
import type { Generation } from './generation.js';
import type { OneRequest } from './http-schema.js';
import { isDeeperThan } from './json-depth.js';
import { LIMITS } from './limits.js';
import { PAGE_HEADERS, type PageFiles, PLAIN_POLICY, pageFile, plainPage } from './page-files.js';
import { answerProblem, Problem, tooBusy } from './problems.js';
import { joinReplies, piecesOf, type Query } from './queries.js';
import { answerHeaders, type LogRecord, type RequestLog } from './request-log.js';

export interface AppOptions {
  /** The model that answers now; undefined before the first is ready. */
  readonly current: () => Generation | undefined;
  /** Loads a model file, then answers from it. Undefined: the current model's file, read again. */
  readonly swap: (file: string | undefined) => Promise<Generation>;
  /** The files that `swap` takes. */
  readonly files: () => Promise<readonly string[]>;
  /** Whether the server is stopping. */
  readonly draining: () => boolean;
  readonly keys: KeyRing | undefined;
  readonly rate: RateLimit | undefined;
  /** Whether every client may see the users of features. */
  readonly listUsers?: boolean | undefined;
  /** Host names that the server answers for; undefined: any. */
  readonly hosts: ReadonlySet<string> | undefined;
  readonly log: (record: LogRecord) => void;
  /** Counts every answer. */
  readonly requestLog: RequestLog;
  /** Files of the page at `/`; undefined if the page was not built. */
  readonly page: PageFiles | undefined;
  /** Whether the server was started with a model. Without one it serves the page alone. */
  readonly withModel: boolean;
}

interface Variables {
  requestId: string;
  began: number;
  key: Key | undefined;
  model: string | undefined;
  problem: Problem | undefined;
  /** Whether the answer is a file of the page; logs and metrics call these routes 'page'. */
  file: boolean | undefined;
}

type Env = { Variables: Variables };

/** Paths that need a key if the server has keys. All other paths are files of the page. */
const GUARDED = /^\/(v1|metrics)(\/|$)/;

/** As in RFC 9110: parameters have a name and a value. */
const JSON_TYPE = /^application\/json\s*(;\s*[\w-]+=[^;]+)*$/i;

const tooLarge = () => new Problem('too-large', `the body is larger than ${LIMITS.body} bytes`);

const countedBody = bodyLimit({
  maxSize: LIMITS.body,
  onError: () => {
    throw tooLarge();
  },
});

export interface App {
  readonly http: OpenAPIHono<Env>;
  /** Why a request for `path` would be refused now because of overload; undefined: it would not. */
  refusal(path: string): Problem | undefined;
}

export function createApp(options: AppOptions): App {
  const app = new OpenAPIHono<Env>({
    defaultHook: (result) => {
      if (!result.success) throw wrongField(result.error);
    },
  });
  const admit = createAdmission(options);

  app.use('*', async (c, next) => {
    c.set('requestId', randomUUID());
    c.set('began', performance.now());
    await next();
    finish(c, options);
  });
  app.use('*', async (c, next) => {
    admit(c);
    await next();
  });
  app.use('*', (c, next) => {
    const length = c.req.header('content-length');
    if (c.req.method === 'GET' || c.req.method === 'HEAD') return next();
    // Node enforces a declared length. Only a body of unknown length is counted while it is read: that needs a Request and
    // its streams, which take longer than everything else here.
    if (length === undefined || c.req.header('transfer-encoding') !== undefined) return countedBody(c, next);
    if (Number(length) > LIMITS.body) throw tooLarge();
    return next();
  });
  app.use('/v1/*', async (c, next) => {
    // The text is kept for the checks that follow.
    if (c.req.method !== 'GET' && isDeeperThan(await c.req.text(), LIMITS.depth)) {
      throw new Problem('bad-request', `the body is nested deeper than ${LIMITS.depth} levels`);
    }
    await next();
  });
  app.onError((error, c) => {
    const problem = problemOf(error);
    if (problem.kind === 'failed') {
      options.log({ time: new Date().toISOString(), event: 'failed', detail: String(error?.stack ?? error) });
    }
    c.set('problem', problem);
    return answerProblem(c, problem, c.get('requestId'));
  });
  app.notFound((c) => {
    const allowed = methodsAt(c.req.path);
    const problem =
      allowed.length > 0
        ? new Problem('method-not-allowed', `this endpoint takes ${allowed.join(', ')}; see /docs`)
        : new Problem('not-found', 'there is no such endpoint; /docs lists all endpoints');
    c.set('problem', problem);
    if (allowed.length > 0) c.header('allow', allowed.join(', '));
    return answerProblem(c, problem, c.get('requestId'));
  });

  for (const [name, route] of Object.entries(ENDPOINTS)) {
    if (name === 'models' || name === 'swap') continue;
    app.openapi(route, async (c) => {
      const { deadlineMs, ...request } = requestOf(c);
      const access = { users: options.listUsers === true || c.get('key')?.admin === true };
      const query = { endpoint: name as ModelEndpoint, request, access } as Query;
      const value = await ask(c, options, query, deadlineMs as number | undefined);
      // The workers answer in the form that the schemas declare; a test checks it.
      return c.json({ ...(value as object), ...signature(c) }) as never;
    });
  }
  app.openapi(ENDPOINTS.models, async (c) => {
    const files = [...(await options.files())];
    return c.json({ current: options.current()?.info ?? null, files, requestId: c.get('requestId') });
  });
  app.openapi(ENDPOINTS.swap, async (c) => {
    const { file } = requestOf(c);
    const { info } = await options.swap(file as string | undefined);
    c.set('model', info.hash);
    return c.json(info);
  });

  app.get('/health/live', (c) => c.json({ status: 'alive' }));
  app.get('/health/ready', (c) => {
    if (options.draining()) throw new Problem('draining', 'the server is stopping', { retryAfter: 5 });
    const generation = options.current();
    if (!generation && options.withModel) throw noModel(options);
    return c.json({ status: 'ready', model: generation?.info.hash ?? null });
  });
  app.get('/metrics', (c) =>
    c.text(options.requestLog.metrics(), 200, { 'content-type': 'text/plain; version=0.0.4' }),
  );
  app.openAPIRegistry.registerComponent('securitySchemes', 'key', { type: 'http', scheme: 'bearer' });
  // Made once: it takes milliseconds, and any client may ask for it.
  const described = once(() => {
    const document = app.getOpenAPI31Document({
      openapi: '3.1.0',
      info: {
        title: 'graphex',
        version: VERSION,
        description: 'Recommendations and explanations from a fitted model, also for new users.',
      },
    });
    return { json: JSON.stringify(document), page: docsPage(document) };
  });
  app.get('/openapi.json', (c) =>
    c.body(described().json, 200, { 'content-type': 'application/json; charset=utf-8' }),
  );
  app.get('/docs', (c) => c.html(described().page, 200, { 'content-security-policy': DOCS_POLICY }));
  app.get('*', (c, next) => answerFile(c, options, next));
  return {
    http: app,
    refusal(path) {
      if (!path.startsWith('/v1/') || path.startsWith('/v1/models')) return undefined;
      // Batches have a queue of their own.
      if (path.startsWith(ENDPOINTS.batch.path)) return undefined;
      const queue = options.current()?.queue;
      return queue?.isFull() ? tooBusy(queue.waiting) : undefined;
    },
  };
}

/** Path, query and body of a request in one object, as the schemas have checked them. */
function requestOf(c: Context<Env>): Record<string, unknown> {
  const { req } = c as Context<Env, string, { out: Record<'param' | 'query' | 'json', object> }>;
  return { ...req.valid('param'), ...req.valid('query'), ...req.valid('json') };
}

/** The current model's answer to a query. */
async function ask(
  c: Context<Env>,
  options: AppOptions,
  query: Query,
  deadline: number = LIMITS.patience,
): Promise<unknown> {
  const generation = options.current();
  if (!generation) throw noModel(options);
  c.set('model', generation.info.hash);
  refuseCostly(listSizes(query, generation.info.items));
  const { outgoing } = (c.env ?? {}) as { outgoing?: { readonly destroyed?: boolean } };
  const replies = await generation.queue.ask(piecesOf(query), {
    deadline,
    gone: () => outgoing?.destroyed === true,
    tooSlow: tooSlow(query, deadline),
  });
  const reply = joinReplies(query, replies);
  if ('problem' in reply) {
    throw new Problem(reply.problem, reply.detail, reply.field === undefined ? {} : { field: reply.field });
  }
  return reply.value;
}

/** The lists of an answer. */
function listSizes(query: Query, items: number): ListSize[] {
  const sizeOf = ({ n = RECOMMEND.n.default, likes = [], explain }: OneRequest) => ({
    entries: Math.min(n, items),
    likes: likes.length,
    explain,
  });
  switch (query.endpoint) {
    case 'recommend':
      return [sizeOf(query.request)];
    case 'batch':
      return query.request.requests.map(sizeOf);
    case 'rank': {
      const { candidates, likes = [], explain } = query.request;
      return [{ entries: candidates.length, likes: likes.length, explain }];
    }
    default:
      return [];
  }
}

/** What to say of a long request that was started and did not end in time: it would be too slow again. */
function tooSlow(query: Query, deadline: number): string | undefined {
  if (query.endpoint !== 'batch' && query.endpoint !== 'rank') return undefined;
  const [size, requests] =
    query.endpoint === 'batch'
      ? [query.request.requests.length, query.request.requests]
      : [query.request.candidates.length, [query.request]];
  const costly = (['confidence', 'explain'] as const).filter((way) => requests.some((one) => one[way]));
  const without = costly.length > 0 ? `, or without ${costly.join(' and ')}` : '';
  const longer = deadline < LIMITS.deadline ? ', or give a longer deadlineMs' : '';
  const what = query.endpoint === 'batch' ? 'requests' : 'candidates';
  return `the request did not end within its deadline of ${deadline} ms: send fewer than ${size} ${what}${without}${longer}`;
}

function signature(c: Context<Env>) {
  return {
    model: c.get('model') ?? '',
    requestId: c.get('requestId'),
    milliseconds: Math.round((performance.now() - c.get('began')) * 1000) / 1000,
  };
}

function noModel({ withModel }: AppOptions): Problem {
  return withModel
    ? new Problem('no-model', 'no model is ready yet', { retryAfter: 1 })
    : new Problem(
        'no-model',
        'the server was started without a model; start it with one: graphex serve MODEL',
      );
}

/** A file of the page, or the plain page if the page was not built. */
async function answerFile(c: Context<Env>, { page, current }: AppOptions, next: Next) {
  if (!page) {
    if (c.req.path !== '/') return next();
    c.set('file', true);
    return c.html(plainPage(current() !== undefined), 200, { 'content-security-policy': PLAIN_POLICY });
  }
  const file = pageFile(page, new URL(c.req.url).pathname);
  if (!file) return next();
  c.set('file', true);
  const headers = { ...PAGE_HEADERS, etag: file.etag, 'cache-control': 'no-cache' };
  if (c.req.header('if-none-match') === file.etag) return c.body(null, 304, headers);
  return c.body(file.bytes, 200, { ...headers, 'content-type': file.type });
}

/** Checks host, type of body, key and rate before anything is read. */
function createAdmission({ hosts, keys, rate }: AppOptions): (c: Context<Env>) => void {
  const wrongKeys = createRateLimit(LIMITS.wrongKeys);
  return (c) => {
    const { path, method } = c.req;
    const host = c.req.header('host')?.replace(/:\d+$/, '').toLowerCase() ?? '';
    if (hosts && !hosts.has(host)) {
      throw new Problem('wrong-host', 'use a host name that the server was told to answer for');
    }
    if (method === 'POST' || method === 'PUT') {
      if (!JSON_TYPE.test(c.req.header('content-type') ?? '')) {
        throw new Problem('not-json', 'send Content-Type: application/json');
      }
    }
    if (!GUARDED.test(path)) return;
    const key = keys && keyOf(c, keys);
    if (keys && !key) {
      wrongKeys.take(clientOf(c));
      throw new Problem('unauthorized', 'send a known key as Authorization: Bearer KEY');
    }
    c.set('key', key);
    if (path === ENDPOINTS.swap.path && keys && !key?.admin) {
      throw new Problem('forbidden', 'loading a model needs a key that is marked admin');
    }
    rate?.take(key?.name ?? clientOf(c));
  };
}

function keyOf(c: Context<Env>, keys: KeyRing): Key | undefined {
  const sent = /^Bearer (\S{1,512})$/.exec(c.req.header('authorization') ?? '')?.[1];
  return sent === undefined ? undefined : keys.find(sent);
}

/** The address of the peer. Headers of a proxy are not trusted. */
function clientOf(c: Context<Env>): string {
  const { incoming } = (c.env ?? {}) as { incoming?: { socket?: { remoteAddress?: string } } };
  return incoming?.socket?.remoteAddress ?? '';
}

function wrongField(error: z.core.$ZodError): Problem {
  const [issue] = error.issues;
  const field = issue.path.join('.');
  return new Problem(
    'bad-request',
    `${field === '' ? 'the body' : field}: ${issue.message}`,
    field === '' ? {} : { field },
  );
}

/** Any error as a problem that tells a client no more than it needs. */
function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (error instanceof InputError) return new Problem('cannot-do', error.message);
  const { status, name, code } = error as { status?: number; name?: string; code?: string };
  if (code === 'ECONNRESET' || name === 'AbortError') {
    return new Problem('gone', 'the client left before its request was complete');
  }
  if (status === 400 || name === 'SyntaxError')
    return new Problem('bad-request', 'the body is not valid JSON');
  if (status === 413) return tooLarge();
  return new Problem('failed', 'the request could not be answered; the reason is in the server’s log');
}

/** Adds the headers of every answer, and records it. */
function finish(c: Context<Env>, { requestLog, draining }: AppOptions): void {
  const { headers, status } = c.res;
  for (const [name, value] of answerHeaders(c.get('requestId'), draining())) {
    if (name !== 'cache-control' || !headers.has(name)) headers.set(name, value);
  }
  requestLog.record({
    requestId: c.get('requestId'),
    method: c.req.method,
    route: c.get('file') ? 'page' : (routeOf(c.req.path) ?? 'none'),
    status,
    milliseconds: performance.now() - c.get('began'),
    key: c.get('key')?.name,
    model: c.get('model'),
    problem: c.get('problem')?.kind,
  });
}
