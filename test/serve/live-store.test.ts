// A server with a store, over real sockets and the real DuckDB: what is posted counts at once. Kills and full disks are in
// test/faults/service.test.ts.

import { execFile, spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { openEventStore } from '../../src/events/event-store.js';
import { fit } from '../../src/fit/fit.js';
import type { Model } from '../../src/fit/model.js';
import type { FitOptions } from '../../src/fit/options.js';
import { graphOfPairs } from '../../src/graph/pairs.js';
import { ownItems } from '../../src/predict/user-query.js';
import { simulate } from '../../src/process/poisson-model.js';
import { loadGeneration } from '../../src/serve/generation.js';
import { type RunningServer, serve } from '../../src/serve/serve.js';
import { loadModel, saveModel } from '../../src/store/model-file.js';

vi.setConfig({ testTimeout: 120_000 });
const root = join(import.meta.dirname, '../..');
const side = { sigma: 0.3, tau: 1, shape: 0.3, rate: 0.3, size: 40 };
let folder: string;
let path: string;
let model: Model;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'graphex-live-'));
  const { graph } = await simulate({ users: side, items: side, features: 4, seed: 1 });
  const fitted = await fit(graph, { features: 4, iterations: 10, threads: 1 });
  path = join(folder, 'model.safetensors');
  await saveModel(path, fitted.model);
  model = await loadModel(path);
}, 120_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

async function ask(url: string, path: string, body?: unknown, method = body === undefined ? 'GET' : 'POST') {
  const response = await fetch(`${url}${path}`, {
    method,
    ...(body !== undefined && {
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json' },
    }),
  });
  // biome-ignore lint/suspicious/noExplicitAny: what a client gets is whatever the server sends
  return { status: response.status, body: (await response.json()) as any };
}

const itemsOf = (answer: { body: { items: { item: string }[] } }) =>
  answer.body.items.map(({ item }) => item);
const item = (i: number) => model.items.ids.at(i);

it('releasing a model while a change is sent to it blocks no request', async () => {
  const generation = await loadGeneration(path, { threads: 2, queue: 8 });
  const told = [generation.update({ items: [{ item: item(0), hidden: true }] })];
  told.push(generation.update({ items: [{ item: 'new', attributes: '{}' }], described: true }));
  await generation.close();
  told.push(generation.update({ items: [{ item: item(1), hidden: true }] }));
  await Promise.all(told);
});

describe('a server with a store', () => {
  let server: RunningServer;
  let store: string;
  beforeAll(async () => {
    store = join(folder, 'events.duckdb');
    server = await serve(path, { port: 0, threads: 1, store });
  }, 60_000);
  afterAll(() => server?.close());
  const to = (where: string, body?: unknown, method?: string) => ask(server.url, where, body, method);

  it('begins with the histories of the model', async () => {
    const user = model.users.ids.at(0);
    const { body } = await to(`/v1/users/${encodeURIComponent(user)}/events?n=1000`);
    const own = Array.from(ownItems(model, 0).items, item);
    expect(body.events.map((one: { item: string }) => one.item).sort()).toEqual(own.sort());
    expect(own.length).toBeGreaterThan(0);
  });

  it('counts an event of a new user in the next answer', async () => {
    const before = await to('/v1/recommend', { user: 'zoe', n: 5 });
    expect(before).toMatchObject({ status: 200, body: { basis: 'popular', unknown: ['zoe'] } });
    expect((await to('/v1/recommend', { user: 'zoe', unknown: 'refuse' })).status).toBe(404);
    expect((await to('/v1/recommend?user=zoe&unknown=refuse')).status).toBe(404);
    expect(await to('/v1/events', { user: 'zoe', item: item(3) })).toMatchObject({
      status: 202,
      body: { accepted: 1 },
    });
    await to('/v1/events', [
      { user: 'zoe', item: item(8), time: '2026-01-01T00:00:00Z' },
      { user: 'zoe', item: 'new thing' },
    ]);
    const after = await to('/v1/recommend', { user: 'zoe', n: 5 });
    const likes = await to('/v1/recommend', { likes: [item(3), item(8)], n: 5 });
    expect(after.body).toMatchObject({ items: likes.body.items, basis: 'few', unknown: [] });
    const short = await to('/v1/recommend?user=zoe&n=5&explain=true');
    expect(itemsOf(short)).toEqual(itemsOf(likes));
    expect(short.body.items[0].explanation.items.length).toBe(2);
    const wrong = await to('/v1/recommend?user=zoe&explain=perhaps');
    expect([wrong.status, wrong.body.field]).toEqual([400, 'explain']);
    expect((await to('/v1/recommend')).body.field).toBe('user');
    const batch = await to('/v1/recommend/batch', {
      requests: [{ likes: [item(5)] }, { user: 'zoe', n: 5 }],
    });
    expect(batch.body.answers[1].items).toEqual(likes.body.items);
    const explained = await to('/v1/explain', { user: 'zoe', item: item(4) });
    expect(explained.body.explanation.items.map((one: { item: string }) => one.item).sort()).toEqual(
      [item(3), item(8)].sort(),
    );
    expect(explained.status).toBe(200);
  });

  it('adds events to the history in the model, and no longer lists an item that the user took', async () => {
    const row = 1;
    const user = model.users.ids.at(row);
    const own = Array.from(ownItems(model, row).items, item);
    const [best] = itemsOf(await to('/v1/recommend', { user, n: 5 }));
    await to('/v1/events', { user, item: best });
    const after = await to('/v1/recommend', { user, n: 5 });
    expect(itemsOf(after)).not.toContain(best);
    expect(after.body.items).toEqual((await to('/v1/recommend', { likes: [...own, best], n: 5 })).body.items);
  });

  it('hides items from every list, and shows titles', async () => {
    const likes = [item(3), item(8)];
    const [first, second] = itemsOf(await to('/v1/recommend', { likes, n: 2 }));
    const put = await to(`/v1/items/${encodeURIComponent(second)}`, { title: 'Second Best' }, 'PUT');
    expect(put).toMatchObject({ status: 200, body: { stored: 1, unknown: [] } });
    expect((await to('/v1/items', [{ item: first, hidden: true, attributes: { year: 1990 } }])).status).toBe(
      200,
    );
    const list = await to('/v1/recommend', { likes, n: model.items.count });
    expect(itemsOf(list)).not.toContain(first);
    expect(list.body.items[0]).toMatchObject({ item: second, title: 'Second Best' });
    expect(itemsOf(await to('/v1/items?search=second%20best'))).toEqual([second]);
    expect(itemsOf(await to(`/v1/popular?n=1000`))).not.toContain(first);
    expect(itemsOf(await to(`/v1/items?search=${encodeURIComponent(first)}`))).not.toContain(first);
    expect(itemsOf(await to(`/v1/items/${encodeURIComponent(second)}/similar?n=1000`))).not.toContain(first);
    expect(itemsOf(await to('/v1/rank', { likes, candidates: [first, second] }))).toEqual([second]);
    await to(`/v1/items/${encodeURIComponent(first)}`, { hidden: false }, 'PUT');
    expect(itemsOf(await to('/v1/recommend', { likes, n: 1 }))).toEqual([first]);
  });

  it('keeps the title of an item that is hidden and shown again, until it is removed', async () => {
    const change = (fields: object) => to(`/v1/items/${encodeURIComponent(item(5))}`, fields, 'PUT');
    const found = async () => itemsOf(await to('/v1/items?search=kept%20title'));
    await change({ title: 'Kept Title' });
    await change({ hidden: true });
    expect(await found()).toEqual([]);
    await change({ hidden: false });
    expect(await found()).toEqual([item(5)]);
    await change({ title: '' });
    expect(await found()).toEqual([]);
  });

  it('stores a time in the future as the present', async () => {
    await to('/v1/events', { user: 'early', item: item(3), time: '2500-01-01' });
    const [{ time }] = (await to('/v1/users/early/events')).body.events;
    expect(Math.abs(Date.parse(time) - Date.now())).toBeLessThan(60_000);
  });

  it.each([
    '2026-01-02T10:30Z',
    '2026-01-02T10:30',
    '2026-01-02t10:30:00z',
    '2026-01-02T16:00:00+0530',
    '2026-01-02T16:00+05:30',
    '2026-01-02T15:30:00.000+05',
    '2026-01-02T05:30-05',
  ])('takes the time %s', async (time) => {
    expect((await to('/v1/events', { user: time, item: item(3), time })).status).toBe(202);
    const { body } = await to(`/v1/users/${encodeURIComponent(time)}/events`);
    expect(body.events[0].time).toBe('2026-01-02T10:30:00.000Z');
  });

  it.each(['2026-02-30T10:30Z', '2026-01-02T10:30+5', '2026-01-02T24:00Z', '2026-01-02T10Z', '2026-01'])(
    'refuses the time %s',
    async (time) => {
      const { status, body } = await to('/v1/events', { user: 'timeless', item: item(3), time });
      expect([status, body.detail]).toEqual([400, 'time: expected ISO 8601 text, or seconds since 1970']);
    },
  );

  it('takes an id twice in a list for the same user and item only', async () => {
    const order = (items: string[]) => items.map((one) => ({ user: 'carl', item: one, id: 'order 7' }));
    const { status, body } = await to('/v1/events', order([item(3), item(4)]));
    expect([status, body.field]).toEqual([400, '1.id']);
    expect(body.detail).toMatch(/give each event an id of its own/);
    expect((await to('/v1/events', order([item(3), item(3)]))).status).toBe(202);
    expect((await to('/v1/users/carl/events')).body.events.length).toBe(1);
  });

  it('refuses an id of another user or item, and counts a retry as a duplicate', async () => {
    const stored = async () =>
      Number(/^graphex_events_total (\d+)$/m.exec(await (await fetch(`${server.url}/metrics`)).text())?.[1]);
    const before = await stored();
    const first = { user: 'dora', item: item(3), id: 'order-1' };
    expect((await to('/v1/events', first)).body).toMatchObject({ accepted: 1, duplicates: 0 });
    const again = await to('/v1/events', [first, { ...first, id: 'order-2' }]);
    expect(again).toMatchObject({ status: 202, body: { accepted: 2, duplicates: 1 } });
    const taken = { user: 'emil', item: item(4), id: 'order-1' };
    const alone = await to('/v1/events', taken);
    expect([alone.status, alone.body.field]).toEqual([400, 'id']);
    expect(alone.body.detail).toMatch(
      /id: the id .?order-1.? belongs to a stored event of another user or item/,
    );
    const listed = await to('/v1/events', [{ user: 'emil', item: item(5) }, taken]);
    expect([listed.status, listed.body.field]).toEqual([400, '1.id']);
    expect((await to('/v1/users/emil/events')).body).toMatchObject({ total: 0, events: [] });
    const { body } = await to('/v1/users/dora/events?n=1');
    expect([body.total, body.events.length]).toEqual([2, 1]);
    expect((await stored()) - before).toBe(2);
  });

  it('erases a user, who is then new', async () => {
    const user = model.users.ids.at(2);
    const count = (await to(`/v1/users/${encodeURIComponent(user)}/events?n=1000`)).body.events.length;
    const gone = await to(`/v1/users/${encodeURIComponent(user)}`, undefined, 'DELETE');
    expect(gone).toMatchObject({ status: 200, body: { user, erased: count } });
    expect((await to(`/v1/users/${encodeURIComponent(user)}/events`)).body.events).toEqual([]);
    expect((await to('/v1/recommend', { user })).body.basis).toBe('popular');
  });

  it.each([
    ['no user', { item: 'a' }, 'user'],
    ['a weight of 0', [{ user: 'u', item: 'a', weight: 0 }], '0.weight'],
    [
      'a time that is none',
      [
        { user: 'u', item: 'a' },
        { user: 'u', item: 'a', time: 'yesterday' },
      ],
      '1.time',
    ],
    ['half a character in an id', [{ user: 'u', item: 'a', id: '\ud800' }], '0.id'],
    ['an unknown field', { user: 'u', item: 'a', note: 1 }, undefined],
    ['an event id that is half a character', { user: 'u', item: 'a', id: '\ud800' }, 'id'],
    ['an event id with a zero byte', { user: 'u', item: 'a', id: 'a\0b' }, 'id'],
    ['an empty list', [], undefined],
    ['too many', Array.from({ length: 10_001 }, () => ({ user: 'u', item: 'a' })), undefined],
  ])('refuses %s, and stores nothing', async (_, body, field) => {
    const { status, body: problem } = await to('/v1/events', body);
    expect(status).toBe(400);
    if (field) expect(problem.field).toBe(field);
    expect(problem.detail).not.toMatch(/Invalid input$|Too (small|big)/);
    expect((await to('/v1/users/u/events')).body.events).toEqual([]);
  });

  it.each([
    ['/v1/events', { user: 'u', item: 'a' }],
    ['/v1/items', { item: 'a' }],
  ])('says how many may be sent to %s at once, and what to do', async (where, one) => {
    const { status, body } = await to(
      where,
      Array.from({ length: 10_001 }, () => one),
    );
    expect(status).toBe(400);
    expect(body.detail).toBe(
      'the body: the list has more than 10,000 entries; send them in several requests',
    );
    expect((await to(where, [])).body.detail).toBe('the body: the list is empty; send at least one');
  });

  it('takes 10,000 events, each id once, and counts them', async () => {
    const events = Array.from({ length: 10_000 }, (_, i) => ({
      user: `many ${i % 100}`,
      item: item(i % model.items.count),
      id: `many ${i}`,
    }));
    const posts = await Promise.all([to('/v1/events', events), to('/v1/events', events)]);
    expect(posts.map(({ status }) => status)).toEqual([202, 202]);
    expect((await to('/v1/users/many%207/events?n=1000')).body.events.length).toBe(100);
    const metrics = await (await fetch(`${server.url}/metrics`)).text();
    expect(metrics).toMatch(/^graphex_events_total 100\d\d$/m);
    expect(metrics).toMatch(/^graphex_store_up 1$/m);
  });

  it('a load test with events says that they stay in the store', async () => {
    const args = ['bin/graphex.js', 'load', server.url, '--rate', '5', '--events', '100', '--seconds', '2'];
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: root });
    expect(stdout).toMatch(/made-up events of the users graphex-load-0 to graphex-load-999/);
  });

  it('keeps everything over a restart; another process cannot open the store', async () => {
    const second = spawnSync(
      process.execPath,
      ['bin/graphex.js', 'serve', path, '--port', '0', '--store', store],
      { cwd: root, encoding: 'utf8' },
    );
    expect(second.status).toBe(2);
    expect(second.stderr).toMatch(/another process has this store open; stop that one first/);
    await server.close();
    server = await serve(path, { port: 0, threads: 1, store });
    expect((await to('/v1/users/many%207/events?n=1000')).body.events.length).toBe(100);
    expect((await to('/v1/recommend', { user: 'zoe', n: 5 })).body.basis).toBe('few');
    // An erased user is new to this server too, although the model knows the user.
    const erased = model.users.ids.at(2);
    expect((await to('/v1/recommend', { user: erased })).body.basis).toBe('popular');
    await to('/v1/events', { user: erased, item: item(3) });
    const [after, likes] = [
      await to('/v1/recommend', { user: erased }),
      await to('/v1/recommend', { likes: [item(3)] }),
    ];
    expect(after.body.items).toEqual(likes.body.items);
  });
});

it('counts each event of a list for the rate limit, and the next request waits', async () => {
  const server = await serve(path, { port: 0, threads: 1, store: join(folder, 'rate.duckdb'), rate: 5 });
  const events = Array.from({ length: 30 }, (_, i) => ({ user: 'u', item: item(i) }));
  expect((await ask(server.url, '/v1/events', events)).status).toBe(202);
  expect((await ask(server.url, '/v1/popular')).status).toBe(429);
  await server.close();
});

/** Sixty users with six items each, in two groups. */
async function timedModel(name: string, options: object): Promise<string> {
  const pairs = Array.from({ length: 60 }, (_, u) =>
    Array.from({ length: 6 }, (_, k) => [`u${u}`, `i${(u % 2) * 8 + ((u + k) % 8)}`, 1 + (k % 2)] as const),
  ).flat();
  const { multigraph = false, ...how } = options as { multigraph?: boolean };
  const graph = graphOfPairs(pairs, { multigraph });
  const times = Float64Array.from(
    { length: graph.edges },
    (_, e) => Date.UTC(2025, 0) + 86_400_000 * (e % 40),
  );
  const timed = 'halfLife' in how && { times };
  const file = join(folder, name);
  await saveModel(file, (await fit(graph, { ...how, ...timed, threads: 1 } as FitOptions)).model);
  return file;
}

it('an event of an item that the user has counts immediately in a model of counts', async () => {
  const file = await timedModel('counts.safetensors', { multigraph: true, features: 2, iterations: 20 });
  const server = await serve(file, { port: 0, threads: 1, store: join(folder, 'counts.duckdb') });
  const list = async () => (await ask(server.url, '/v1/recommend?user=u0&n=3')).body.items;
  const [before, { body }] = [await list(), await ask(server.url, '/v1/users/u0/events')];
  await ask(server.url, '/v1/events', { user: 'u0', item: body.events[0].item, weight: 30 });
  const after = await list();
  expect(after).not.toEqual(before);
  // A weight above the largest count counts as the largest count and does not fail.
  const large = Array.from({ length: 6 }, () => ({ user: 'u0', item: body.events[0].item, weight: 1e9 }));
  await ask(server.url, '/v1/events', large);
  expect((await ask(server.url, '/v1/recommend?user=u0&n=3')).status).toBe(200);
  await server.close();
});

it('a later event of an item that the user has counts immediately in a model that weighs by age, and likes may have times', async () => {
  const file = await timedModel('ages.safetensors', { method: 'ranking', features: 2, halfLife: '5d' });
  const server = await serve(file, { port: 0, threads: 1, store: join(folder, 'ages.duckdb') });
  const to = (where: string, body?: unknown) => ask(server.url, where, body);
  const list = async () => (await to('/v1/recommend?user=u0&n=3')).body.items;
  const [before, { body }] = [await list(), await to('/v1/users/u0/events')];
  await to('/v1/events', { user: 'u0', item: body.events.at(-1).item, time: '2025-03-01' });
  const after = await list();
  expect(after).not.toEqual(before);
  // The same user by likes and times.
  const { events } = (await to('/v1/users/u0/events')).body as { events: { item: string; time: string }[] };
  const last = new Map([...events].reverse().map(({ item, time }) => [item, time]));
  const likes = { likes: [...last.keys()], n: 3 };
  const timed = (await to('/v1/recommend', { ...likes, times: [...last.values()] })).body.items;
  expect(timed.map(({ item }: { item: string }) => item)).toEqual(
    after.map(({ item }: { item: string }) => item),
  );
  for (const [i, { score }] of timed.entries()) expect(score).toBeCloseTo(after[i].score, 4);
  expect((await to('/v1/recommend', likes)).body.items).not.toEqual(timed);
  const wrong = await to('/v1/recommend', { ...likes, times: ['2025-01-01'] });
  expect([wrong.status, wrong.body.field]).toEqual([400, 'times']);
  const milliseconds = await to('/v1/recommend', { likes: ['i1'], times: [Date.now()] });
  expect(milliseconds.body.detail).toMatch(/seconds since 1970, not milliseconds/);
  await server.close();
});

it('lists popular items that the model knows or that were posted, scores in the order of the list', async () => {
  const store = join(folder, 'popular.duckdb');
  const opened = await openEventStore(store);
  const [time, weight] = [Date.now(), 1e9];
  await opened.add([
    ...['ann', 'bob', 'cleo'].map((user) => ({ user, item: 'nobody knows it', time, weight })),
    { user: 'ann', item: 'posted', time, weight },
    { user: 'ann', item: item(4), time, weight },
    { user: 'bob', item: item(4), time, weight },
    ...Array.from({ length: 5 }, (_, u) => ({ user: `u${u}`, item: item(3), time: time - 1e10, weight })),
  ]);
  await opened.putItems([{ item: 'posted', title: 'Posted' }]);
  await opened.close();
  const server = await serve(path, { port: 0, threads: 1, store });
  const popular = (await ask(server.url, '/v1/popular?n=10')).body.items;
  const list = (await ask(server.url, '/v1/recommend?user=stranger&n=10')).body.items;
  expect(popular.slice(0, 3)).toMatchObject([
    { item: item(4), users: 2 },
    { item: 'posted', title: 'Posted', users: 1 },
    { item: item(3), users: 5 },
  ]);
  expect(list.map(({ item }: { item: string }) => item)).toEqual(
    popular.map(({ item }: { item: string }) => item),
  );
  expect(list).toHaveLength(10);
  const scores = list.map(({ score }: { score: number }) => score);
  expect(scores).toEqual([...scores].sort((a, b) => b - a));
  expect(scores[0]).toBeCloseTo(2, 2);
  await server.close();
});

it('says in its status and its metrics that the store cannot be read, until it can', async () => {
  const store = join(folder, 'damaged.duckdb');
  const opened = await openEventStore(store);
  const time = Date.now();
  // So many ids that they fill blocks of their own, which nothing has read yet.
  await opened.add(
    Array.from({ length: 100_000 }, (_, i) => ({
      user: 'ann',
      item: item(3),
      time,
      weight: 1,
      id: `${Math.sqrt(i)}`,
    })),
  );
  await opened.close();
  const server = await serve(path, { port: 0, threads: 1, store });
  const state = async () => {
    const { body } = await ask(server.url, '/v1/status');
    const metrics = await (await fetch(`${server.url}/metrics`)).text();
    return [body.store.failure, /^graphex_store_up (\d)$/m.exec(metrics)?.[1]];
  };
  const whole = await readFile(store);
  await truncate(store, 12_288);
  expect((await ask(server.url, '/v1/users/ann/events')).status).toBe(503);
  expect(await state()).toEqual([expect.stringMatching(/damaged\.duckdb: this file is damaged/), '0']);
  await writeFile(store, whole);
  expect((await ask(server.url, '/v1/users/ann/events')).status).toBe(200);
  expect(await state()).toEqual([undefined, '1']);
  await server.close();
});

describe('without a store', () => {
  it('says so', async () => {
    const server = await serve(path, { port: 0, threads: 1 });
    const { status, body } = await ask(server.url, '/v1/events', { user: 'a', item: 'b' });
    expect([status, body.detail]).toEqual([404, expect.stringMatching(/started without a store/)]);
    await server.close();
  });

  it('refuses an invalid span of time', async () => {
    await expect(serve(path, { port: 0, store: join(folder, 'x.duckdb'), window: 'long' })).rejects.toThrow(
      /window long: expected a span of time such as 90s/,
    );
  });
});
