// The HTTP side: who may ask, what is asked, who answers. It computes nothing, so that it always answers at once.

import { randomUUID } from 'node:crypto';
import { OpenAPIHono, type z } from '@hono/zod-openapi';
import type { Context, Next } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { InputError } from '../errors.js';
import { once } from '../predict/scoring/once.js';
import { VERSION } from '../version.js';
import { DOCS_POLICY, docsPage } from './docs.js';
import type { Generation } from './generation.js';
import { type Job, joined, piecesOf } from './jobs.js';
import type { Key, KeyRing } from './keys.js';
import { LIMITS } from './limits.js';
import type { LogRecord } from './log.js';
import { nestsDeeper } from './nesting.js';
import { PAGE_HEADERS, type Page, PLAIN_POLICY, pageFile, plainPage } from './page.js';
import { answerProblem, busy, Problem } from './problems.js';
import type { RateLimit } from './rate.js';
import { answerHeaders, type Recorder } from './recorder.js';
import { ROUTES } from './routes.js';
import type { OneRequest } from './schema.js';

export interface AppOptions {
  /** The model that answers now; undefined before the first is ready. */
  readonly current: () => Generation | undefined;
  /** Reads a model (undefined: the served file again) and lets it answer. */
  readonly swap: (file: string | undefined) => Promise<Generation>;
  /** Files that swap takes. */
  readonly files: () => Promise<readonly string[]>;
  /** Whether requests are still taken. */
  readonly draining: () => boolean;
  readonly keys: KeyRing | undefined;
  readonly rate: RateLimit | undefined;
  /** Host names that the server answers for; undefined: any. */
  readonly hosts: ReadonlySet<string> | undefined;
  readonly log: (record: LogRecord) => void;
  /** Keeps count of every answer. */
  readonly recorder: Recorder;
  /** Files of the page at `/`; undefined where it was not built. */
  readonly page: Page | undefined;
  /** Whether the server was started with a model; without one it is ready for the page alone. */
  readonly withModel: boolean;
}

interface Variables {
  requestId: string;
  began: number;
  key: Key | undefined;
  model: string | undefined;
  problem: Problem | undefined;
  /** What logs and metrics call the page's files, which have no route of their own. */
  file: boolean | undefined;
}

type Env = { Variables: Variables };

/** Open to everyone who can reach the server: they say nothing of the model or its users. */
const OPEN = new Set(['/health/live', '/health/ready', '/openapi.json', '/docs']);
/** The rest of the paths are the page's files, which anybody may see. */
const ASKED = /^\/(v1|metrics)(\/|$)/;

/** The methods that some endpoint at this path takes. */
function methodsOf(path: string): string[] {
  const parts = path.split('/');
  const here = Object.values(ROUTES).filter((route) => {
    const pattern = route.path.split('/');
    return (
      pattern.length === parts.length && pattern.every((part, i) => part.startsWith('{') || part === parts[i])
    );
  });
  return [...new Set(here.map(({ method }) => method.toUpperCase()))];
}

const tooLarge = () => new Problem('too-large', `the body is over ${LIMITS.body} bytes`);

const counted = bodyLimit({
  maxSize: LIMITS.body,
  onError: () => {
    throw tooLarge();
  },
});

export interface App {
  readonly http: OpenAPIHono<Env>;
  /** What whoever asks for `path` now is told at the door, where more is asked already than can be answered. */
  turnAway(path: string): Problem | undefined;
}

export function createApp(options: AppOptions): App {
  const app = new OpenAPIHono<Env>({
    defaultHook: (result) => {
      if (!result.success) throw wrongField(result.error);
    },
  });

  app.use('*', async (c, next) => {
    c.set('requestId', randomUUID());
    c.set('began', performance.now());
    await next();
    finish(c, options);
  });
  app.use('*', async (c, next) => {
    admit(c, options);
    await next();
  });
  app.use('*', (c, next) => {
    const length = c.req.header('content-length');
    // A length that is said is the length that is read. Only a body of unknown length is counted as it comes: for that a Request
    // and its streams are made, which takes longer than all else that is done here.
    if (c.req.method === 'GET' || c.req.method === 'HEAD') return next();
    if (length === undefined || c.req.header('transfer-encoding') !== undefined) return counted(c, next);
    if (Number(length) > LIMITS.body) throw tooLarge();
    return next();
  });
  app.use('/v1/*', async (c, next) => {
    // What is read here is kept for the checks that follow.
    if (c.req.method !== 'GET' && nestsDeeper(await c.req.text(), LIMITS.depth)) {
      throw new Problem('bad-request', `the body nests deeper than ${LIMITS.depth} levels`);
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
    const allowed = methodsOf(c.req.path);
    const problem =
      allowed.length > 0
        ? new Problem('method-not-allowed', `this endpoint takes ${allowed.join(', ')}; /docs says how`)
        : new Problem('not-found', 'there is no such endpoint; /docs lists them');
    c.set('problem', problem);
    if (allowed.length > 0) c.header('allow', allowed.join(', '));
    return answerProblem(c, problem, c.get('requestId'));
  });

  const ask = async (c: Context<Env>, job: Job, deadline: number = LIMITS.patience): Promise<unknown> => {
    const generation = options.current();
    if (!generation) throw noModel(options);
    c.set('model', generation.info.hash);
    const { outgoing } = (c.env ?? {}) as { outgoing?: { readonly destroyed?: boolean } };
    const gone = () => outgoing?.destroyed === true;
    const limits = {
      deadline,
      gone,
      ...(job.kind === 'batch' && { tooMuch: tooMuch(job.requests, deadline) }),
    };
    const reply = joined(await generation.queue.ask(piecesOf(job), limits));
    if ('problem' in reply) {
      throw new Problem(reply.problem, reply.detail, reply.field === undefined ? {} : { field: reply.field });
    }
    return reply.value;
  };
  const signature = (c: Context<Env>) => ({
    model: c.get('model') ?? '',
    requestId: c.get('requestId'),
    milliseconds: Math.round((performance.now() - c.get('began')) * 1000) / 1000,
  });
  // Values come from the computing side in the form that the schemas declare; a contract test holds it to them.
  const answer = async (c: Context<Env>, job: Job, deadline?: number): Promise<never> => {
    const value = (await ask(c, job, deadline)) as object;
    return c.json({ ...value, ...signature(c) }) as never;
  };

  app.openapi(ROUTES.recommend, (c) => {
    const { deadlineMs, ...request } = c.req.valid('json');
    return answer(c, { kind: 'recommend', request }, deadlineMs);
  });
  app.openapi(ROUTES.batch, (c) => {
    const { deadlineMs, requests } = c.req.valid('json');
    return answer(c, { kind: 'batch', requests }, deadlineMs);
  });
  app.openapi(ROUTES.rank, (c) => {
    const { deadlineMs, ...request } = c.req.valid('json');
    return answer(c, { kind: 'rank', request }, deadlineMs);
  });
  app.openapi(ROUTES.explain, (c) => {
    const { deadlineMs, ...request } = c.req.valid('json');
    return answer(c, { kind: 'explain', request }, deadlineMs);
  });
  app.openapi(ROUTES.similar, (c) =>
    answer(c, { kind: 'similar', item: c.req.valid('param').id, n: c.req.valid('query').n ?? 20 }),
  );
  app.openapi(ROUTES.search, (c) => {
    const { search, n = 20 } = c.req.valid('query');
    return answer(c, { kind: 'search', text: search, n });
  });
  app.openapi(ROUTES.popular, (c) => answer(c, { kind: 'popular', n: c.req.valid('query').n ?? 20 }));
  app.openapi(ROUTES.features, (c) =>
    answer(c, { kind: 'features', n: c.req.valid('query').n ?? 10, feature: undefined }),
  );
  app.openapi(ROUTES.feature, (c) =>
    answer(c, { kind: 'features', n: c.req.valid('query').n ?? 10, feature: c.req.valid('param').k }),
  );
  app.openapi(ROUTES.models, async (c) => {
    const files = [...(await options.files())];
    return c.json({ current: options.current()?.info ?? null, files, requestId: c.get('requestId') }, 200);
  });
  app.openapi(ROUTES.swap, async (c) => {
    const { info } = await options.swap(c.req.valid('json').file);
    c.set('model', info.hash);
    return c.json(info, 200);
  });

  app.get('/health/live', (c) => c.json({ status: 'alive' }));
  app.get('/health/ready', (c) => {
    if (options.draining()) throw new Problem('draining', 'the server is stopping', { retryAfter: 5 });
    const generation = options.current();
    if (!generation && options.withModel) throw noModel(options);
    return c.json({ status: 'ready', model: generation?.info.hash ?? null });
  });
  app.get('/metrics', (c) =>
    c.text(options.recorder.metrics(), 200, { 'content-type': 'text/plain; version=0.0.4' }),
  );
  app.openAPIRegistry.registerComponent('securitySchemes', 'key', { type: 'http', scheme: 'bearer' });
  // Made once: it takes milliseconds, and anybody may ask for it.
  const described = once(() => {
    const document = app.getOpenAPI31Document({
      openapi: '3.1.0',
      info: { title: 'graphex', version: VERSION, description: 'Recommendations, explanations and fold-in.' },
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
    turnAway(path) {
      if (!path.startsWith('/v1/') || path.startsWith('/v1/models')) return undefined;
      const queue = options.current()?.queue;
      // Batches have a room of their own.
      return queue && !path.startsWith(ROUTES.batch.path) && queue.turnsAway()
        ? busy(queue.waiting)
        : undefined;
    },
  };
}

/** What to say of a batch that was begun and did not end in time: as it is it may well not do so again. */
function tooMuch(requests: readonly OneRequest[], deadline: number): string {
  const costly = (['confidence', 'explain'] as const).filter((part) => requests.some((one) => one[part]));
  const without = costly.length > 0 ? `, or without ${costly.join(' and ')}` : '';
  const longer = deadline < LIMITS.deadline ? ', or give a longer deadlineMs' : '';
  return `the batch did not end within its deadline of ${deadline} ms: send fewer than ${requests.length} at once${without}${longer}`;
}

function noModel({ withModel }: AppOptions): Problem {
  return withModel
    ? new Problem('no-model', 'no model is ready yet', { retryAfter: 1 })
    : new Problem(
        'no-model',
        'the server was started without a model; start it with one: graphex serve MODEL',
      );
}

/** A file of the page, or the plain page in its place. */
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

/** Host, size, kind of body and key are looked at before anything is read. */
function admit(c: Context<Env>, { hosts, keys, rate }: AppOptions): void {
  const { path, method } = c.req;
  const host = c.req.header('host')?.replace(/:\d+$/, '').toLowerCase() ?? '';
  if (hosts && !hosts.has(host)) {
    throw new Problem('wrong-host', 'ask by a name that the server was told to answer for');
  }
  if (method === 'POST' || method === 'PUT') {
    const type = c.req.header('content-type') ?? '';
    if (!/^application\/json\s*(;|$)/i.test(type)) {
      throw new Problem('not-json', 'send Content-Type: application/json');
    }
  }
  if (OPEN.has(path) || !ASKED.test(path)) return;
  const key = keys && keyOf(c, keys);
  c.set('key', key);
  if (path === '/v1/models/current' && keys && !key?.admin) {
    throw new Problem('forbidden', 'loading a model needs a key that is marked admin');
  }
  rate?.take(key?.name ?? clientOf(c));
}

function keyOf(c: Context<Env>, keys: KeyRing): Key {
  const sent = /^Bearer (\S{1,512})$/.exec(c.req.header('authorization') ?? '')?.[1];
  const key = sent === undefined ? undefined : keys.find(sent);
  if (!key) throw new Problem('unauthorized', 'send a known key as Authorization: Bearer KEY');
  return key;
}

/** The address at the other end; what a proxy claims is not believed. */
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

/** Anything that was thrown, as a problem that tells a client no more than it needs. */
function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (error instanceof InputError) return new Problem('cannot-do', error.message);
  const { status, name, code } = error as { status?: number; name?: string; code?: string };
  if (code === 'ECONNRESET' || name === 'AbortError')
    return new Problem('gone', 'the client went before its request had come');
  if (status === 400 || name === 'SyntaxError')
    return new Problem('bad-request', 'the body is no JSON that can be read');
  if (status === 413) return tooLarge();
  return new Problem('failed', 'the request could not be answered; the server’s log has the reason');
}

/** Headers that every answer carries, and its record. */
function finish(c: Context<Env>, { recorder, draining }: AppOptions): void {
  const path = c.req.routePath;
  const { headers, status } = c.res;
  for (const [name, value] of answerHeaders(c.get('requestId'), draining())) {
    if (name !== 'cache-control' || !headers.has(name)) headers.set(name, value);
  }
  recorder.record({
    requestId: c.get('requestId'),
    method: c.req.method,
    route: c.get('file') ? 'page' : path === '/*' || path === '*' ? 'none' : path,
    status,
    milliseconds: performance.now() - c.get('began'),
    key: c.get('key')?.name,
    model: c.get('model'),
    problem: c.get('problem')?.kind,
  });
}
