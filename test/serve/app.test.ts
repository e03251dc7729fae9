import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, it } from 'vitest';
import { createRateLimit, readKeys } from '../../src/serve/access.js';
import type { Generation } from '../../src/serve/generation.js';
import { createApp } from '../../src/serve/http-app.js';
import { LIMITS } from '../../src/serve/limits.js';
import type { Query, Reply } from '../../src/serve/queries.js';
import { createRequestLog, type LogRecord } from '../../src/serve/request-log.js';
import { createQueue } from '../../src/serve/work-queue.js';

const INFO = {
  file: 'a.safetensors',
  hash: 'abc',
  kind: 'sparse',
  features: 3,
  users: 2,
  items: 2,
  names: { users: 'users', items: 'items' },
  titles: 0,
  attributes: [],
  loaded: '2026-01-01T00:00:00.000Z',
};

const EMPTY = { items: [], basis: 'personal', unknown: [] };

/** An app whose workers give fixed answers. */
function appWith(
  answer: (query: Query) => Reply | Promise<Reply> = () => ({ value: EMPTY }),
  more: Partial<Parameters<typeof createApp>[0]> = {},
) {
  const queue = createQueue<Query, Reply>([async (queries) => Promise.all(queries.map(answer))], {
    capacity: 8,
    batchSize: 4,
  });
  const generation: Generation = {
    info: INFO,
    path: 'a.safetensors',
    written: 0,
    columns: new Map(),
    caution: undefined,
    queue,
    update: async () => {},
    close: async () => {},
  };
  const records: LogRecord[] = [];
  const log = (record: LogRecord) => {
    records.push(record);
  };
  const { http: app, refusal } = createApp({
    current: () => generation,
    swap: async () => generation,
    files: async () => ['a.safetensors'],
    draining: () => false,
    keys: undefined,
    rate: undefined,
    hosts: undefined,
    log,
    requestLog: createRequestLog(() => generation, log),
    page: undefined,
    withModel: true,
    ...more,
  });
  const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    app.request(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', host: 'localhost', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
  return { app, post, records, refusal };
}

const settled = () => new Promise<undefined>((resolve) => setTimeout(() => resolve(undefined)));

describe('the HTTP side', () => {
  it('passes a request on and adds headers to the answer', async () => {
    const queries: Query[] = [];
    const { post } = appWith((query) => {
      queries.push(query);
      return { value: EMPTY };
    });
    const response = await post('/v1/recommend', { likes: ['a', 7], n: 3 });
    expect(response.status).toBe(200);
    const body = await response.json();
    expect(body).toMatchObject({ ...EMPTY, model: 'abc' });
    expect(body.requestId).toBe(response.headers.get('x-request-id'));
    expect(queries).toEqual([
      { endpoint: 'recommend', request: { likes: ['a', 7], n: 3 }, access: { users: false } },
    ]);
  });

  it.each([
    ['a body that is no JSON', '{"likes":', 400, undefined],
    ['a list of likes that is none', { likes: 'a' }, 400, 'likes'],
    ['an id that is no id', { likes: ['a', { $ne: 1 }] }, 400, 'likes.1'],
    ['too long a list', { likes: ['a'], n: LIMITS.n + 1 }, 400, 'n'],
    ['user and likes together', { user: 'u', likes: ['a'] }, 400, 'user'],
    ['a field that there is not', { likes: ['a'], limit: 3 }, 400, undefined],
    ['a prototype', '{"likes":["a"],"__proto__":{"n":5}}', 400, undefined],
    ['an array', '[]', 400, undefined],
    ['null', 'null', 400, undefined],
    ['an id of megabytes', { likes: ['x'.repeat(LIMITS.text + 1)] }, 400, 'likes.0'],
  ])('refuses %s with a problem document that names the field', async (_, body, status, field) => {
    const { post, records } = appWith();
    const response = await post('/v1/recommend', body);
    expect(response.status).toBe(status);
    expect(response.headers.get('content-type')).toBe('application/problem+json');
    const problem = await response.json();
    expect(problem).toMatchObject({ status, type: '/docs#bad-request' });
    if (field !== undefined) expect(problem.field).toBe(field);
    expect(records.at(-1)).toMatchObject({ status, problem: 'bad-request' });
    expect(({} as { n?: number }).n).toBeUndefined();
  });

  it('refuses a body over the limit, other kinds of body, and deep nests', async () => {
    const { post } = appWith();
    expect((await post('/v1/recommend', `"${'x'.repeat(LIMITS.body)}"`)).status).toBe(413);
    expect((await post('/v1/recommend', 'likes=a', { 'content-type': 'text/plain' })).status).toBe(415);
    const deep = `${'['.repeat(400_000)}${']'.repeat(400_000)}`;
    expect((await post('/v1/recommend', deep)).status).toBe(400);
  });

  it('refuses a body that is not UTF-8, which could name another user', async () => {
    const { app } = appWith();
    const request = (user: Uint8Array) =>
      app.request('/v1/recommend', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: Buffer.concat([Buffer.from('{"user":"'), user, Buffer.from('"}')]),
      });
    expect((await request(Buffer.from('ü'))).status).toBe(200);
    const refused = await request(Buffer.from('ü', 'latin1'));
    expect(refused.status).toBe(400);
    expect(await refused.json()).toMatchObject({ detail: 'the body is not UTF-8' });
  });

  it('asks for a key if there are keys, and for an admin key to load a model', async () => {
    const keys = readKeys('shop a-secret-of-some-length\nops another-secret-text admin\n', 'keys');
    const { app, post, records } = appWith(undefined, { keys });
    const withKey = (key: string) => ({ authorization: `Bearer ${key}` });
    expect((await post('/v1/recommend', { likes: ['a'] })).status).toBe(401);
    expect((await post('/v1/recommend', { likes: ['a'] }, withKey('wrong'))).status).toBe(401);
    expect((await post('/v1/recommend', { likes: ['a'] }, withKey('a-secret-of-some-length'))).status).toBe(
      200,
    );
    const swap = (key: string) =>
      app.request('/v1/models/current', {
        method: 'PUT',
        headers: { 'content-type': 'application/json', ...withKey(key) },
        body: '{}',
      });
    expect((await swap('a-secret-of-some-length')).status).toBe(403);
    expect((await swap('another-secret-text')).status).toBe(200);
    for (const method of ['GET', 'HEAD']) {
      const headers = withKey('a-secret-of-some-length');
      expect((await app.request('/v1/status', { method, headers })).status, method).toBe(403);
    }
    expect((await app.request('/metrics')).status).toBe(401);
    expect((await app.request('/health/live')).status).toBe(200);
    const { paths } = await (await app.request('/openapi.json')).json();
    for (const [path, methods] of Object.entries(paths as Record<string, object>)) {
      for (const method of Object.keys(methods)) {
        const asked = { method: method.toUpperCase(), headers: { 'content-type': 'application/json' } };
        // An app of its own: requests without a key are limited.
        const { status } = await appWith(undefined, { keys }).app.request(
          path.replace(/\{\w+\}/, '1'),
          asked,
        );
        expect(status, `${method} ${path} without a key`).toBe(401);
      }
    }
    const logged = JSON.stringify(records);
    expect(logged).not.toMatch(/a-secret-of-some-length|another-secret-text/);
    expect(logged).toContain('"key":"shop"');
  });

  it('answers only for its own host names, so that a page elsewhere cannot reach it', async () => {
    const { app } = appWith(undefined, { hosts: new Set(['localhost']) });
    const ask = (host: string) => app.request('/health/live', { headers: { host } });
    expect((await ask('localhost:8080')).status).toBe(200);
    expect((await ask('evil.example')).status).toBe(421);
  });

  it('names the methods of an endpoint, whatever the type of the body', async () => {
    const { app } = appWith();
    for (const headers of [undefined, { 'content-type': 'application/json' }]) {
      const response = await app.request('/v1/popular', {
        method: 'POST',
        body: '{}',
        ...(headers && { headers }),
      });
      expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET']);
      expect((await response.json()).detail).toBe('this endpoint takes GET; see /docs');
    }
  });

  it('sends no CORS headers', async () => {
    const { app } = appWith();
    const response = await app.request('/v1/recommend', {
      method: 'OPTIONS',
      headers: { origin: 'https://evil.example', 'access-control-request-method': 'POST' },
    });
    expect([...response.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
    expect(response.status).toBe(405);
  });

  it('limits the rate', async () => {
    const { post } = appWith(undefined, { rate: createRateLimit(1) });
    const statuses = [];
    for (let i = 0; i < 3; i++) statuses.push((await post('/v1/recommend', { likes: ['a'] })).status);
    expect(statuses).toEqual([200, 200, 429]);
  });

  it('counts a batch by its requests', async () => {
    const { post } = appWith(undefined, { rate: createRateLimit(10) });
    const requests = Array.from({ length: 30 }, () => ({ likes: ['a'] }));
    expect((await post('/v1/recommend/batch', { requests })).status).toBe(200);
    expect((await post('/v1/recommend', { likes: ['a'] })).status).toBe(429);
  });

  it('refuses requests under overload before reading them, and accepts more once others are answered', async () => {
    const held: (() => void)[] = [];
    const { app, post, refusal } = appWith(
      () => new Promise((resolve) => held.push(() => resolve({ value: EMPTY }))),
    );
    // The queue holds eight requests, and a worker takes up to four.
    const first = Array.from({ length: 12 }, () => post('/v1/recommend', { likes: ['a'] }));
    for (let i = 0; i < 50 && !refusal('/v1/recommend', 'POST'); i++) await settled();
    expect(refusal('/v1/recommend', 'POST')).toMatchObject({ kind: 'busy', retryAfter: 1 });
    expect(refusal('/v1/models', 'GET')).toBeUndefined();
    expect(refusal('/health/live', 'GET')).toBeUndefined();
    expect((await app.request('/health/live')).status).toBe(200);
    const statuses = Promise.all(first.map(async (one) => (await one).status));
    while (held.length > 0 || (await Promise.race([statuses, settled()])) === undefined) held.shift()?.();
    // The worker takes the first request alone, eight wait, and three are refused.
    expect((await statuses).filter((status) => status === 200)).toHaveLength(9);
    const later = post('/v1/recommend', { likes: ['a'] });
    expect(refusal('/v1/recommend', 'POST')).toBeUndefined();
    while ((await Promise.race([later, settled()])) === undefined) held.shift()?.();
    expect((await later).status).toBe(200);
  });

  it('turns refusals of workers into problems, and hides details of failures', async () => {
    const refused = appWith(() => ({
      problem: 'not-found',
      detail: 'likes.0: zz is no item',
      field: 'likes.0',
    }));
    const response = await refused.post('/v1/recommend', { likes: ['zz'] });
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ field: 'likes.0' });
    const failed = appWith(() => {
      throw new Error('at /secret/path');
    });
    const broken = await failed.post('/v1/recommend', { likes: ['a'] });
    expect(broken.status).toBe(500);
    expect(await broken.text()).not.toContain('/secret/path');
    expect(JSON.stringify(failed.records)).toContain('/secret/path');
  });

  it('names a field that is missing or unknown, in queries, bodies and batches', async () => {
    const { app, post } = appWith(() => ({ value: EMPTY }));
    const said = async (response: Response | Promise<Response>) => {
      const answer = await response;
      const { detail, field } = (await answer.json()) as { detail: string; field: string };
      return [answer.status, field, detail];
    };
    const missing = 'this field is missing';
    const unknown = 'there is no such field; /docs lists all fields';
    expect(await said(app.request('/v1/recommend?n=3'))).toEqual([400, 'user', `user: ${missing}`]);
    expect(await said(app.request('/v1/recommend?user=a&likes=b'))).toEqual([
      400,
      'likes',
      `likes: ${unknown}`,
    ]);
    expect(await said(post('/v1/rank', { likes: ['a'] }))).toEqual([
      400,
      'candidates',
      `candidates: ${missing}`,
    ]);
    for (const [body, field] of [
      [{ user: 'a' }, 'item'],
      [[{ user: 'a', item: 'b' }, { item: 'b' }], '1.user'],
    ] as const) {
      expect(await said(post('/v1/events', body))).toEqual([400, field, `${field}: ${missing}`]);
    }
  });

  it('checks each request of a batch alone', async () => {
    const asked: unknown[] = [];
    const { post } = appWith(({ request }) => {
      asked.push(request);
      return { value: { answers: [] } };
    });
    const requests = [{ likes: ['a'], n: -1 }, { likes: ['a'] }, { like: ['a'] }, 7];
    expect((await post('/v1/recommend/batch', { requests })).status).toBe(200);
    const refused = (detail: string, field?: string) => ({
      refused: { problem: 'bad-request', detail, field },
    });
    expect(asked).toEqual([
      {
        requests: [
          refused('n: expected at least 1', 'n'),
          { likes: ['a'] },
          refused('like: there is no such field; /docs lists all fields', 'like'),
          refused('the body: expected an object, not a number'),
        ],
      },
    ]);
  });

  it('says in plain words what type a field must have', async () => {
    const { post } = appWith(() => ({ value: EMPTY }));
    const said = async (path: string, body: unknown) =>
      ((await (await post(path, body)).json()) as { detail: string }).detail;
    expect(await said('/v1/items', { item: 'a', title: 5 })).toBe('title: expected a text, not a number');
    expect(await said('/v1/items', { item: 'a', hidden: 'no' })).toBe(
      'hidden: expected true or false, not a text',
    );
    expect(await said('/v1/items', { item: 'a', attributes: [] })).toBe(
      'attributes: expected an object, not a list',
    );
    expect(await said('/v1/recommend', { likes: 'tea' })).toBe('likes: expected a list, not a text');
    expect(await said('/v1/recommend', { likes: ['a'], n: 1.5 })).toBe('n: expected a whole number');
    expect(await said('/v1/recommend', { user: '' })).toBe('user: expected at least 1 character');
  });

  it('refuses ids that are empty or no UTF-8', async () => {
    const { app } = appWith();
    for (const method of ['DELETE', 'GET']) {
      const said = async (path: string) => {
        const answer = await app.request(path, { method });
        return [answer.status, ((await answer.json()) as { detail: string }).detail];
      };
      expect(await said(`/v1/users/${method === 'GET' ? '/events' : ''}`)).toEqual([
        404,
        'there is no such endpoint; /docs lists all endpoints',
      ]);
      expect(await said(`/v1/users/%ff${method === 'GET' ? '/events' : ''}`)).toEqual([
        400,
        expect.stringMatching(/the path is not percent-encoded UTF-8/),
      ]);
    }
  });

  it('refuses a query that is no UTF-8, which could name another user', async () => {
    const { app } = appWith();
    for (const [query, status] of [
      ['user=%C3%A9&n=2', 200],
      ['user=a+b', 200],
      ['user=%FF', 400],
      ['user=100%', 400],
    ] as const) {
      const answer = await app.request(`/v1/recommend?${query}`);
      expect([query, answer.status]).toEqual([query, status]);
      if (status === 400)
        expect(await answer.json()).toMatchObject({
          detail: 'the query is not percent-encoded UTF-8; write é as %C3%A9 and % as %25',
        });
    }
  });

  it('is not ready without a model, or while it drains', async () => {
    const without = appWith(undefined, { current: () => undefined });
    expect((await without.app.request('/health/ready')).status).toBe(503);
    expect((await without.post('/v1/recommend', {})).status).toBe(503);
    const stopping = appWith(undefined, { draining: () => true });
    expect((await stopping.app.request('/health/ready')).status).toBe(503);
    expect((await stopping.post('/v1/recommend', {})).headers.get('connection')).toBe('close');
    expect((await stopping.app.request('/health/live')).status).toBe(200);
  });

  it('refuses answers that would be too large before any work, and says what to ask instead', async () => {
    let worked = 0;
    const { post } = appWith(
      () => {
        worked++;
        return { value: EMPTY };
      },
      { current: () => large },
    );
    const queue = createQueue<Query, Reply>([async () => []], { capacity: 8, batchSize: 4 });
    const large: Generation = {
      info: { ...INFO, items: 1e5 },
      path: 'a.safetensors',
      written: 0,
      columns: new Map(),
      caution: undefined,
      queue,
      update: async () => {},
      close: async () => {},
    };
    const likes = Array.from({ length: 20 }, (_, i) => i);
    const requests = Array.from({ length: 1000 }, () => ({ likes, n: 1000, explain: true }));
    const batch = await post('/v1/recommend/batch', { requests });
    expect(batch.status).toBe(422);
    expect((await batch.json()).detail).toMatch(
      /would list 1,000,000 items with explanations, and at most 35,714 .* fewer requests or a smaller n, or leave out explain/,
    );
    const ids = Array.from({ length: 5000 }, (_, i) => i);
    const rank = await post('/v1/rank', { likes: ids, candidates: ids, explain: true });
    expect(rank.status).toBe(422);
    expect(await rank.json()).toMatchObject({ type: '/docs#too-much' });
    expect(worked).toBe(0);
  });

  it('limits wrong keys, and known keys still pass', async () => {
    const keys = readKeys('shop a-secret-of-some-length\n', 'keys');
    const { app } = appWith(undefined, { keys });
    const ask = async (key: string) =>
      (await app.request('/v1/popular', { headers: { authorization: `Bearer ${key}` } })).status;
    const statuses = [];
    for (let i = 0; i < 3 * LIMITS.wrongKeys; i++) statuses.push(await ask('wrong'));
    expect(statuses[0]).toBe(401);
    expect(statuses.at(-1)).toBe(429);
    expect(await ask('a-secret-of-some-length')).toBe(200);
  });

  it.each([
    ['application/json', 200],
    ['application/json; charset=utf-8', 200],
    ['application/json;x', 415],
    ['application/jsonp', 415],
    ['text/plain; application/json', 415],
  ])('Content-Type: %s is answered with %i', async (type, status) => {
    const { post } = appWith();
    expect((await post('/v1/recommend', { likes: ['a'] }, { 'content-type': type })).status).toBe(status);
  });

  it.each([
    ['identity', 200],
    ['gzip', 415],
    ['br, gzip', 415],
  ])('Content-Encoding: %s is answered with %i', async (encoding, status) => {
    const { post } = appWith();
    const answer = await post('/v1/recommend', { likes: ['a'] }, { 'content-encoding': encoding });
    expect(answer.status).toBe(status);
    if (status === 415)
      expect(await answer.json()).toMatchObject({
        detail: `the body is compressed (Content-Encoding: ${encoding}); send it as it is, without this header`,
      });
  });

  it('counts every outcome under its route', async () => {
    const { app, post } = appWith();
    await post('/v1/recommend', { likes: ['a'] });
    await post('/v1/recommend', { likes: 5 });
    await app.request('/nowhere/at/all');
    await post('/v1/recommend', 'likes=a', { 'content-type': 'text/plain' });
    await app.request('/v1/items/7/similar', { method: 'DELETE' });
    const text = await (await app.request('/metrics')).text();
    const locked = appWith(undefined, { keys: readKeys('ops another-secret-text admin', 'keys') });
    await locked.post('/v1/rank', {});
    expect(locked.records.at(-1)).toMatchObject({ route: '/v1/rank', status: 401 });
    const shop = appWith(undefined, { keys: readKeys('shop a-secret-of-some-length', 'keys') });
    const headers = { authorization: 'Bearer a-secret-of-some-length', 'content-type': 'application/json' };
    await shop.app.request('/v1/models/current', { method: 'PUT', body: '{}', headers });
    expect(shop.records.at(-1)).toMatchObject({ route: '/v1/models/current', status: 403 });
    // Refused requests count for the rate, too.
    const slow = appWith(undefined, {
      keys: readKeys('shop a-secret-of-some-length', 'keys'),
      rate: createRateLimit(1),
    });
    for (let i = 0; i < 3; i++)
      await slow.app.request('/v1/models/current', { method: 'PUT', body: '{}', headers });
    expect(slow.records.map((one) => 'status' in one && one.status)).toEqual([403, 403, 429]);
    const limited = appWith(undefined, { rate: createRateLimit(1) });
    for (let i = 0; i < 3; i++) await limited.post('/v1/recommend', { likes: ['a'] });
    expect(limited.records.at(-1)).toMatchObject({ route: '/v1/recommend', status: 429 });
    expect(text).toContain('route="/v1/recommend",method="POST",status="415"} 1');
    expect(text).toContain('route="/v1/items/:id/similar",method="DELETE",status="405"} 1');
    expect(text).toContain('graphex_requests_total{route="/v1/recommend",method="POST",status="200"} 1');
    expect(text).toContain('graphex_requests_total{route="/v1/recommend",method="POST",status="400"} 1');
    expect(text).toMatch(/graphex_requests_total\{route="none",method="GET",status="404"\} 1/);
    expect(text).toContain('graphex_model_info{hash="abc",kind="sparse"} 1');
  });

  it('has an OpenAPI document that a validator accepts, and a page that shows all of it', async () => {
    const { app } = appWith();
    const document = await (await app.request('/openapi.json')).json();
    const result = await new Validator().validate(document);
    expect(result.errors ?? []).toEqual([]);
    expect(result.valid).toBe(true);
    const page = await (await app.request('/docs')).text();
    for (const path of Object.keys(document.paths)) expect(page).toContain(path);
    for (const field of ['explanation.features[].feature', 'answers[].items[].score', 'requests[].n']) {
      expect(page).toContain(`<code>${field}</code>`);
    }
    expect(page).toContain('GET /v1/features/1?n=5');
    const sections = page.split('<h2>').slice(1, -1);
    const operations = Object.values(document.paths).flatMap((methods) => Object.keys(methods as object));
    expect(sections.length).toBe(operations.length);
    for (const section of sections) {
      expect(section).toMatch(/Example:<\/p><pre>[A-Z]+ \/v1\//);
      expect(section).toMatch(/<caption>Answer: [A-Z].*<tr>/s);
    }
    const events = sections.find((section) => section.includes('POST /v1/events<'));
    expect(events).toMatch(/<caption>Request<.*<code>weight<.*<caption>Answer: .*<code>accepted</s);
    expect(page).not.toMatch(/<script|undefined|\[object/);
  });
});
