// The HTTP side: checks requests and passes them on. It computes nothing, so that it always responds quickly.

import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import { OpenAPIHono, type z } from '@hono/zod-openapi';
import type { Context, Next } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { InputError } from '../errors.js';
import { once } from '../math/once.js';
import { isDeeperThan } from '../text/json-depth.js';
import { shown } from '../text/untrusted.js';
import { VERSION } from '../version.js';
import { createRateLimit, type Key, type KeyRing, type RateLimit } from './access.js';
import { listSizes, refuseCostly, tooSlow } from './cost.js';
import { docsPage } from './docs.js';
import { MODEL_ENDPOINTS, type ModelEndpoint, SERVER_ENDPOINTS, type ServerEndpoint } from './endpoints.js';
import { checkedAlone } from './http-schema.js';
import { LIMITS } from './limits.js';
import { adminPage } from './live/admin-page.js';
import { type ServerSide, serverAnswers } from './live/live-routes.js';
import { createActivity } from './live/recent-traffic.js';
import { PAGE_HEADERS, type PageFiles, pageFile, plainPage } from './page-files.js';
import { answerProblem, Problem, tooBusy, wrongField } from './problems.js';
import { joinReplies, piecesOf, type Query } from './queries.js';
import { answerHeaders, type LogRecord, type RequestLog } from './request-log.js';
import { endpointAt, methodsAt, percentDecoded, routeOf } from './routes.js';
import type { ServedPage } from './served-page.js';

interface AppOptions extends ServerSide {
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

const tooLarge = (most: number) => new Problem('too-large', `the body is larger than ${most} bytes`);

const counted = (most: number) =>
  bodyLimit({
    maxSize: most,
    onError: () => {
      throw tooLarge(most);
    },
  });

/** Lists of events and items may be larger than requests to a model. */
function bodyLimitAt({ req }: Context): number {
  const isBulk = req.path === SERVER_ENDPOINTS.events.path || req.path === SERVER_ENDPOINTS.putItems.path;
  return isBulk ? LIMITS.bulkBody : LIMITS.body;
}

export function createApp(options: AppOptions) {
  const app = new OpenAPIHono<Env>({
    defaultHook: (result) => {
      if (!result.success) throw wrongField(result.error);
    },
  });
  const admit = createAdmission(options);
  const activity = createActivity();

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
    const most = bodyLimitAt(c);
    if (length === undefined || c.req.header('transfer-encoding') !== undefined) {
      return counted(most)(c, next);
    }
    if (Number(length) > most) throw tooLarge(most);
    return next();
  });
  app.use('/v1/*', async (c, next) => {
    // Hono passes an id that is not UTF-8 on as it was written, which may be the id of another user.
    const { pathname, search } = new URL(c.req.url);
    for (const [part, text] of Object.entries({ path: pathname, query: search })) {
      if (percentDecoded(text) !== undefined) continue;
      const detail = `the ${part} is not percent-encoded UTF-8; write é as %C3%A9 and % as %25`;
      throw new Problem('bad-request', detail);
    }
    if (c.req.method !== 'GET' && isDeeperThan(await bodyText(c), LIMITS.depth)) {
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

  for (const [name, route] of Object.entries(MODEL_ENDPOINTS)) {
    const answer = async (c: Context<Env>, asked: object) => {
      const { deadlineMs, ...request } = asked as Readonly<Record<string, unknown>>;
      const access = { users: options.listUsers === true || c.get('key')?.admin === true };
      const endpoint = (name === 'recommendUser' ? 'recommend' : name) as ModelEndpoint;
      const query = { endpoint, request, access } as Query;
      if (query.endpoint === 'batch') options.rate?.charge(payerOf(c), query.request.requests.length - 1);
      const value = await ask(c, options, query, deadlineMs as number | undefined);
      activity.answered(performance.now() - c.get('began'));
      // The workers answer in the form that the schemas declare; a test checks it.
      return c.json({ ...(value as object), ...signature(c) }) as never;
    };
    const answerWrong = async (c: Context<Env>, error: z.core.$ZodError) => {
      const batch = name === 'batch' ? checkedAlone(await c.req.json(), error) : undefined;
      if (!batch) throw wrongField(error);
      return answer(c, batch);
    };
    app.openapi(
      route,
      (c) => answer(c, requestOf(c)),
      (result, c) => (result.success ? undefined : answerWrong(c, result.error)),
    );
  }
  for (const [name, answer] of Object.entries(serverAnswers(options, activity))) {
    const route = SERVER_ENDPOINTS[name as ServerEndpoint];
    app.openapi(route, async (c) => {
      const request = requestOf(c);
      // What an operator asks for may take as long as it takes; clients that do not read are cut off as ever.
      if (endpointAt(c.req.path, c.req.method)?.admin) socketOf(c)?.setTimeout(0);
      // Each entry of a list of events or items counts as a request.
      if (Array.isArray(request)) options.rate?.charge(payerOf(c), request.length - 1);
      const value = await answer(request as never);
      c.set('model', (value as { hash?: string }).hash);
      return c.json({ ...value, requestId: c.get('requestId') }, 202 in route.responses ? 202 : 200) as never;
    });
  }

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
  app.get('/docs', (c) => answerPage(c, described().page));
  app.get('/admin', (c) => answerPage(c, adminPage()));
  app.get('*', (c, next) => answerFile(c, options, next));
  return {
    http: app,
    /** Why a request for `path` would be refused now because of overload; undefined: it would not. */
    refusal(path: string, method: string): Problem | undefined {
      if (!path.startsWith('/v1/')) return undefined;
      const queue = options.current()?.queue;
      if (!queue?.isFull()) return undefined;
      const endpoint = endpointAt(path, method)?.endpoint;
      // Batches have a queue of their own.
      if (endpoint === 'batch' || (endpoint !== undefined && endpoint in SERVER_ENDPOINTS)) return undefined;
      return tooBusy(queue.waiting);
    },
  };
}

/** Path, query and body of a request in one object, as the schemas have checked them; a body that is a list as it is. */
function requestOf(c: Context<Env>): object {
  const { req } = c as Context<Env, string, { out: Record<'param' | 'query' | 'json', object> }>;
  const body = req.valid('json');
  return Array.isArray(body) ? body : { ...req.valid('param'), ...req.valid('query'), ...body };
}

/** The current model's answer to a query. */
async function ask(
  c: Context<Env>,
  options: AppOptions,
  asked: Query,
  deadline: number = LIMITS.patience,
): Promise<unknown> {
  const query = options.live ? await options.live.withHistories(asked) : asked;
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
    throw new Problem(reply.problem, reply.detail, { field: reply.field });
  }
  return reply.value;
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
        'the server was started without a model; start it with one: npx graphex serve MODEL',
      );
}

function answerPage(c: Context<Env>, { html, policy }: ServedPage) {
  return c.html(html, 200, { 'content-security-policy': policy });
}

/** A file of the page, or the plain page if the page was not built. */
async function answerFile(c: Context<Env>, { page, current }: AppOptions, next: Next) {
  if (!page) {
    if (c.req.path !== '/') return next();
    c.set('file', true);
    return answerPage(c, plainPage(current() !== undefined));
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
      throw new Problem('wrong-host', 'use a host name that the server answers for');
    }
    // Without such an endpoint the answer says which methods there are.
    if ((method === 'POST' || method === 'PUT') && endpointAt(path, method)) {
      if (!JSON_TYPE.test(c.req.header('content-type') ?? '')) {
        throw new Problem('not-json', 'send Content-Type: application/json');
      }
      const encoding = c.req.header('content-encoding') ?? 'identity';
      if (encoding.toLowerCase() !== 'identity') {
        const detail = `the body is compressed (Content-Encoding: ${shown(encoding)}); send it as it is, without this header`;
        throw new Problem('not-json', detail);
      }
    }
    if (!GUARDED.test(path)) return;
    const sent = /^Bearer (\S{1,512})$/.exec(c.req.header('authorization') ?? '')?.[1];
    const key = sent === undefined ? undefined : keys?.find(sent);
    if (keys && !key) {
      wrongKeys.take(clientOf(c));
      throw new Problem('unauthorized', 'send a known key as Authorization: Bearer KEY');
    }
    c.set('key', key);
    rate?.take(payerOf(c));
    if (keys && !key?.admin && endpointAt(path, method)?.admin) {
      throw new Problem('forbidden', 'this needs a key that is marked admin');
    }
  };
}

const strict = new TextDecoder('utf-8', { fatal: true });

/** The text of a body, which is kept for the checks that follow. Other bytes than UTF-8 would give different ids one name. */
async function bodyText({ req }: Context<Env>): Promise<string> {
  const bytes = await req.raw.arrayBuffer();
  try {
    const text = strict.decode(bytes);
    Object.assign(req.bodyCache, { text: Promise.resolve(text) });
    return text;
  } catch {
    throw new Problem('bad-request', 'the body is not UTF-8');
  }
}

/** The client that a request counts for in the rate limit: a key, or else an address. */
function payerOf(c: Context<Env>): string {
  return c.get('key')?.name ?? clientOf(c);
}

function socketOf(c: Context<Env>): Socket | undefined {
  return ((c.env ?? {}) as { incoming?: { socket?: Socket } }).incoming?.socket;
}

/** The address of the peer. Headers of a proxy are not trusted. */
function clientOf(c: Context<Env>): string {
  return socketOf(c)?.remoteAddress ?? '';
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
  if (status === 413) return tooLarge(LIMITS.body);
  return new Problem('failed', 'the request could not be answered; the reason is in the server’s log');
}

/** Adds the headers of every answer, and records it. */
function finish(c: Context<Env>, { requestLog, draining }: AppOptions): void {
  const { headers, status } = c.res;
  for (const [name, value] of Object.entries(answerHeaders(c.get('requestId'), draining()))) {
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
