// Items posted over HTTP count before the next refit: a new item is recommended by its attributes.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { readSideInfo } from '../../src/attributes/side-info.js';
import { fit } from '../../src/fit/fit.js';
import { BipartiteGraph } from '../../src/graph/public.js';
import { sideTable } from '../../src/ingest/side-table.js';
import { fitContent } from '../../src/predict/content/fit-content.js';
import { checkedAttributes } from '../../src/serve/live/posted-attributes.js';
import { type RunningServer, serve } from '../../src/serve/serve.js';
import { saveModel } from '../../src/store/model-file.js';
import { scratchFolder } from '../ingest/scratch.js';

const scratch = scratchFolder();
const path = scratch.path('model.safetensors');
let server: RunningServer;
const start = async () => {
  server = await serve(path, { port: 0, threads: 1, store: scratch.path('events.duckdb') });
};

beforeAll(async () => {
  // Two tastes: users of each have items of one genre.
  const pairs: [string, string][] = [];
  for (let u = 0; u < 60; u++) {
    for (let i = 0; i < 6; i++) pairs.push([`u${u}`, `${u % 2 === 0 ? 'a' : 'b'}${(u * 7 + i * 3) % 15}`]);
  }
  const rows = ['id,title,genre,length'];
  for (let i = 0; i < 15; i++) {
    rows.push(`a${i},Film A${i},Action,${80 + i}.5`, `b${i},Film B${i},Romance,${80 + i}.5`);
  }
  const { model } = await fit(BipartiteGraph.fromPairs(pairs), { features: 2, iterations: 50, threads: 1 });
  const table = sideTable(new TextEncoder().encode(rows.join('\n')), 'items');
  const { info } = readSideInfo(model.items, { name: 'items', rows: table });
  const items = await fitContent(model, info, { seed: 1, threads: 1 });
  await saveModel(path, { ...model, info: { items } });
  await start();
});
afterAll(() => server?.close());

async function ask(where: string, body?: unknown, method = 'PUT') {
  const response = await fetch(`${server.url}${where}`, {
    ...(body !== undefined && {
      method,
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json' },
    }),
  });
  // biome-ignore lint/suspicious/noExplicitAny: what a client gets is whatever the server sends
  return { status: response.status, body: (await response.json()) as any };
}
const listOf = async (user: string): Promise<{ item: string; title?: string }[]> =>
  (await ask(`/v1/recommend?user=${user}&n=40`)).body.items;
const placeOf = async (item: string, user: string) =>
  (await listOf(user)).findIndex((one) => one.item === item);

it('recommends a new item by its attributes, unless it is hidden, also after a restart', async () => {
  const length = (await listOf('u0')).length;
  expect((await ask('/v1/items/new-a', { title: 'Fresh', attributes: { genre: 'Action' } })).status).toBe(
    200,
  );
  await ask('/v1/items', [{ item: 'new-b', attributes: { genre: ['Romance'] } }], 'POST');
  expect(await placeOf('new-a', 'u0')).toBeLessThan(await placeOf('new-b', 'u0'));
  expect(await placeOf('new-b', 'u1')).toBeLessThan(await placeOf('new-a', 'u1'));
  const list = await listOf('u0');
  expect(list).toHaveLength(length + 2);
  expect(list.find(({ item }) => item === 'new-a')?.title).toBe('Fresh');
  expect((await ask('/v1/items?search=fresh')).body.items).toEqual([{ item: 'new-a', title: 'Fresh' }]);
  expect((await ask('/v1/explain', { user: 'u0', item: 'new-a' }, 'POST')).status).toBe(200);
  await ask('/v1/items/new-b', { hidden: true });
  expect(await placeOf('new-b', 'u1')).toBe(-1);
  await server.close();
  await start();
  expect(await placeOf('new-a', 'u0')).toBeGreaterThanOrEqual(0);
  expect(await placeOf('new-b', 'u1')).toBe(-1);
  // Hiding an item does not remove its attributes.
  await ask('/v1/items/new-b', { hidden: false });
  expect(await placeOf('new-b', 'u1')).toBeGreaterThanOrEqual(0);
  await ask('/v1/items/new-a', { attributes: {} });
  expect(await placeOf('new-a', 'u0')).toBe(-1);
});

it('finds a new item that has a title only, after those of the model, and shows the title', async () => {
  const found = async (words: string) =>
    (await ask(`/v1/items?search=${encodeURIComponent(words)}&n=3`)).body.items;
  await ask('/v1/items', [{ item: 'bare', title: 'Film of a bare bear' }, { item: 'bare-2' }], 'POST');
  expect(await found('bear')).toEqual([{ item: 'bare', title: 'Film of a bare bear' }]);
  expect(await found('baer')).toEqual([{ item: 'bare', title: 'Film of a bare bear' }]);
  // A close spelling of another item is not listed if one has the word.
  await ask('/v1/items/near', { title: 'Bean' });
  expect(await found('bear')).toEqual([{ item: 'bare', title: 'Film of a bare bear' }]);
  const [first, ...others] = await found('film');
  expect(first.item).toMatch(/^[ab]\d+$/);
  expect(others).not.toContainEqual(expect.objectContaining({ item: 'bare' }));
  await ask('/v1/items/bare', { title: 'Renamed' });
  expect(await found('bear')).toEqual([{ item: 'near', title: 'Bean' }]);
  expect(await found('renamed')).toEqual([{ item: 'bare', title: 'Renamed' }]);
  await ask('/v1/items/bare', { hidden: true });
  expect(await found('renamed')).toEqual([]);
});

it('takes a like of a new item by its id and by its title', async () => {
  await ask('/v1/items/new-c', { title: 'Quite new', attributes: { genre: 'Action' } });
  for (const like of ['new-c', 'Quite new']) {
    const alone = await ask(
      '/v1/recommend',
      { likes: [like], n: 40, confidence: true, explain: true },
      'POST',
    );
    expect([alone.status, alone.body.unknown, alone.body.basis]).toEqual([200, [], 'few']);
    const listed = alone.body.items.map(({ item }: { item: string }) => item);
    expect(listed).not.toContain('new-c');
    expect(listed[0]).toMatch(/^a/);
  }
  expect((await ask('/v1/rank', { likes: ['Quite new'], candidates: ['a0', 'b0'] }, 'POST')).status).toBe(
    200,
  );
  expect((await ask('/v1/explain', { likes: ['Quite new'], item: 'a0' }, 'POST')).status).toBe(200);
});

it('no longer recommends a new item to a user who took it', async () => {
  await ask('/v1/items/new-d', { attributes: { genre: 'Romance' } });
  for (const user of ['u1', 'somebody']) {
    if (user === 'somebody') await ask('/v1/events', { user, item: 'b1' }, 'POST');
    expect(await placeOf('new-d', user)).toBeGreaterThanOrEqual(0);
    expect((await ask('/v1/events', { user, item: 'new-d' }, 'POST')).status).toBe(202);
    expect(await placeOf('new-d', user)).toBe(-1);
    const seen = await ask('/v1/recommend', { user, n: 40, includeSeen: true }, 'POST');
    expect(seen.body.items.map(({ item }: { item: string }) => item)).toContain('new-d');
  }
});

it('names the attributes that the model does not know, and refuses values that do not fit their column', async () => {
  const put = (attributes: object) => ask('/v1/items/described', { attributes });
  expect(await put({ genre: 'Action', length: '95.5', Genre: 'Action', mood: { any: 1 } })).toMatchObject({
    status: 200,
    body: { stored: 1, unknown: ['Genre', 'mood'] },
  });
  const list = await ask(
    '/v1/recommend',
    { likes: ['a0'], n: 40, filter: "genre = 'Action' and length < 96" },
    'POST',
  );
  expect(list.body.items.map(({ item }: { item: string }) => item)).toContain('described');
  for (const [attributes, detail] of [
    [{ length: 'twothousand' }, 'attributes.length: expected a number, not "twothousand"'],
    [{ length: [90, null] }, 'attributes.length: expected a number, not null'],
    [{ genre: null }, 'attributes.genre: expected a text, a number, true, false or a list of them, not null'],
    [
      { genre: { of: 'Action' } },
      'attributes.genre: expected a text, a number, true, false or a list of them, not {"of":"Action"}',
    ],
  ] as const) {
    const refused = await put(attributes);
    expect([refused.status, refused.body.detail]).toEqual([400, detail]);
    expect(detail).toContain(refused.body.field);
  }
  const items = [
    { item: 'fine', attributes: { genre: 'Action' } },
    { item: 'wrong', attributes: { length: {} } },
  ];
  expect((await ask('/v1/items', items, 'POST')).body).toMatchObject({
    status: 400,
    field: '1.attributes.length',
  });
  expect((await ask('/v1/items', { item: 'plain', title: 'Plain' }, 'POST')).body).toMatchObject({
    stored: 1,
    unknown: [],
  });
});

it('takes the number of a column as in a filter', () => {
  const known = new Map([['3', 'other' as const]]);
  expect(checkedAttributes({ '#3': 'Drama', '#4': 1 }, known, 'attributes')).toEqual({ 3: 'Drama', 4: 1 });
  expect(() => checkedAttributes({ '#3': 'Drama', 3: 'Short' }, known, 'attributes')).toThrow(
    'attributes.#3: this is the same column as 3; give one of them',
  );
});
