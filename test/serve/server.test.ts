import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { copyFile, mkdtemp, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { getPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { InputError } from '../../src/errors.js';
import { fitBaseline } from '../../src/evaluate/baselines/fit-baseline.js';
import { fit } from '../../src/fit/fit.js';
import { createRecommender } from '../../src/predict/recommender.js';
import { simulate } from '../../src/process/poisson-model.js';
import { loadGeneration } from '../../src/serve/generation.js';
import { LIMITS } from '../../src/serve/limits.js';
import { type RunningServer, serve } from '../../src/serve/serve.js';
import { startServer } from '../../src/serve/server.js';
import { NICER } from '../../src/serve/serving-tasks.js';
import { loadModel, saveModel } from '../../src/store/model-file.js';

interface Listed {
  readonly item: string;
  readonly score: number;
}

const side = { sigma: 0.3, tau: 1, shape: 0.3, rate: 0.3, size: 40 };
let folder: string;
let path: string;
let server: RunningServer;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'graphex-serve-'));
  const { graph } = await simulate({ users: side, items: side, features: 4, seed: 1 });
  for (const [name, seed] of [
    ['first', 1],
    ['second', 2],
  ] as const) {
    const { model } = await fit(graph, { features: 4, iterations: 10, seed, threads: 1 });
    await saveModel(join(folder, `${name}.safetensors`), model);
  }
  path = join(folder, 'first.safetensors');
  const { items } = await loadModel(path);
  const titles = Array.from(
    { length: items.count },
    (_, i) => `${items.ids.at(i)},"Thing ${i % 10 === 0 ? 'twice' : i}"`,
  );
  await writeFile(join(folder, 'titles.csv'), `id,title\n${titles.join('\n')}\n`);
  await writeFile(join(folder, 'secret.txt'), 'secret');
  await symlink(join(folder, 'secret.txt'), join(folder, 'link.safetensors'));
  server = await serve(path, { port: 0, threads: 2, models: folder, titles: join(folder, 'titles.csv') });
}, 120_000);

afterAll(async () => {
  await server?.close();
  await rm(folder, { recursive: true, force: true });
});

const ask = async (path: string, body?: unknown, method = body === undefined ? 'GET' : 'POST') => {
  const response = await fetch(`${server.url}${path}`, {
    method,
    ...(body !== undefined && {
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json' },
    }),
  });
  // biome-ignore lint/suspicious/noExplicitAny: what a client gets is whatever the server sends
  return { status: response.status, body: (await response.json()) as any };
};

describe('a running server', () => {
  it('recommends as the library does, to the last digit', async () => {
    const model = await loadModel(path);
    const recommender = createRecommender(model);
    const likes = [model.items.ids.at(3), model.items.ids.at(8)];
    const list = await recommender.recommend({ likes }, { n: 5 });
    const { status, body } = await ask('/v1/recommend', { likes, n: 5 });
    expect(status).toBe(200);
    expect(body.items.map(({ item, score }: Listed) => ({ item, score }))).toEqual(list);
    expect(body).toMatchObject({ basis: 'few', unknown: [] });
    const user = model.users.ids.at(0);
    const known = await ask('/v1/recommend', { user, n: 3, explain: true });
    expect(known.body.items.map(({ item, score }: Listed) => ({ item, score }))).toEqual(
      await recommender.recommend({ user }, { n: 3 }),
    );
    for (const { score, explanation } of known.body.items) {
      const { items, others, rest } = explanation as {
        items: { contribution: number }[];
        others: { contribution: number };
        rest: number;
      };
      expect(
        items.reduce((sum, { contribution }) => sum + contribution, others.contribution + rest),
      ).toBeCloseTo(score, 9);
    }
    await recommender.close();
  });

  it('answers a batch like single requests, and a wrong request does not affect the others', async () => {
    const { items } = await loadModel(path);
    const requests = Array.from({ length: 40 }, (_, i) => ({
      likes: [items.ids.at(i), items.ids.at(2 * i + 1)],
      n: 4,
    }));
    const { body } = await ask('/v1/recommend/batch', {
      requests: [...requests, { likes: ['no such thing'], unknown: 'refuse' }],
    });
    const answers = body.answers;
    expect(answers).toHaveLength(41);
    for (const [i, request] of requests.entries()) {
      const { body: alone } = await ask('/v1/recommend', request);
      const { model: _, requestId: __, milliseconds: ___, ...rest } = alone;
      expect(answers[i]).toEqual(rest);
    }
    expect(answers[40]).toMatchObject({ error: expect.stringContaining('no such thing'), field: 'likes.0' });
  });

  it('applies exclusions and inclusions exactly', async () => {
    const { items } = await loadModel(path);
    const likes = [items.ids.at(1)];
    const all = await ask('/v1/recommend', { likes, n: 1000 });
    const ids = all.body.items.map(({ item }: Listed) => item as string);
    expect(ids).not.toContain(likes[0]);
    const some = await ask('/v1/recommend', { likes, n: 1000, exclude: ids.slice(0, 5) });
    expect(some.body.items.map(({ item }: Listed) => item)).toEqual(ids.slice(5));
    const few = await ask('/v1/recommend', { likes, include: ids.slice(2, 6).reverse() });
    expect(few.body.items.map(({ item }: Listed) => item)).toEqual(ids.slice(2, 6));
    const popular = await ask('/v1/recommend', { likes: [], include: ids.slice(2, 6) });
    expect(popular.body.basis).toBe('popular');
    expect(popular.body.items.map(({ item }: Listed) => item).sort()).toEqual(ids.slice(2, 6).sort());
    // Words of several titles are refused, and a number without its leading zeros or with more of them is hinted at.
    expect((await ask('/v1/recommend', { likes: ['thing'] })).body.detail).toMatch(
      /^likes\.0: several items fit thing: /,
    );
    const padded = `00${items.ids.at(3)}`;
    expect((await ask('/v1/recommend', { likes: [padded] })).body).toMatchObject({
      basis: 'popular',
      unknown: [padded],
      didYouMean: { [padded]: items.ids.at(3) },
    });
    const twice = await ask('/v1/recommend', { likes, exclude: ['Thing twice'] });
    expect(twice).toMatchObject({ status: 404, body: { field: 'exclude.0' } });
    const ranked = await ask('/v1/rank', { likes, candidates: [...ids.slice(0, 3), likes[0]] });
    expect(ranked.body.items).toHaveLength(4);
    expect(ranked.body.items.map(({ item }: Listed) => item).filter((id: string) => id !== likes[0])).toEqual(
      ids.slice(0, 3),
    );
  });

  it('knows titles where they are unambiguous', async () => {
    const { items } = await loadModel(path);
    const byTitle = await ask('/v1/recommend', { likes: ['Thing 3', 'thing 7'], n: 3 });
    const byId = await ask('/v1/recommend', { likes: [items.ids.at(3), items.ids.at(7)], n: 3 });
    expect(byTitle.body.items).toEqual(byId.body.items);
    expect((byTitle.body.items[0] as { title: string }).title).toMatch(/^Thing /);
    const twice = await ask('/v1/recommend', { likes: ['Thing twice'] });
    expect(twice.status).toBe(404);
    expect(twice.body.detail).toMatch(
      /several items fit Thing twice: Thing twice \(\d+\), Thing twice .*; send the id of one of them/,
    );
    const found = await ask('/v1/items?search=thing%2013');
    expect(found.body.items).toContainEqual({ item: items.ids.at(13), title: 'Thing 13' });
  });

  it('a like that is repeated five times is one like', async () => {
    const { items } = await loadModel(path);
    const { body } = await ask('/v1/recommend', { likes: Array(5).fill(items.ids.at(3)) });
    expect(body.basis).toBe('few');
  });

  it('a wrong request does not fail those that are ranked with it', async () => {
    const { graph } = await simulate({ users: side, items: side, features: 4, seed: 1 });
    const popular = join(folder, 'popular.safetensors');
    await saveModel(popular, (await fitBaseline(graph, 'popularity')).model);
    const other = await serve(popular, { port: 0, threads: 1 });
    try {
      const likes = [graph.items.ids.at(1)];
      // Popularity has no features, so its lists have no confidence.
      const requests = Array.from({ length: 20 }, (_, i) => ({ likes, n: 2, confidence: i % 4 === 1 }));
      const body = JSON.stringify({ requests });
      const headers = { 'content-type': 'application/json' };
      const response = await fetch(`${other.url}/v1/recommend/batch`, { method: 'POST', headers, body });
      const { answers } = (await response.json()) as { answers: object[] };
      expect(answers.map((answer) => 'error' in answer)).toEqual(
        requests.map(({ confidence }) => confidence),
      );
    } finally {
      await other.close();
    }
  });

  it('takes keys from a file behind a link, as mounted secrets are', async () => {
    await writeFile(join(folder, 'keys.txt'), 'shop 0123456789abcdef\n');
    await symlink(join(folder, 'keys.txt'), join(folder, 'linked-keys.txt'));
    const other = await serve(path, { port: 0, threads: 1, keyFile: join(folder, 'linked-keys.txt') });
    expect((await fetch(`${other.url}/v1/popular`)).status).toBe(401);
    const headers = { authorization: 'Bearer 0123456789abcdef' };
    expect((await fetch(`${other.url}/v1/popular`, { headers })).status).toBe(200);
    await other.close();
  });

  it('says what a list is based on, and which ids are unknown', async () => {
    const { items } = await loadModel(path);
    const popular = await ask('/v1/popular?n=5');
    const nobody = await ask('/v1/recommend', { likes: ['nothing'], n: 5 });
    const refused = await ask('/v1/recommend', { likes: ['nothing'], unknown: 'refuse' });
    expect(refused).toMatchObject({ status: 404, body: { field: 'likes.0' } });
    const some = await ask('/v1/recommend', { likes: ['nothing', items.ids.at(3)], n: 5 });
    const known = await ask('/v1/recommend', { likes: [items.ids.at(3)], n: 5 });
    expect(some.body).toMatchObject({ basis: 'few', unknown: ['nothing'], items: known.body.items });
    expect(nobody.body).toMatchObject({ basis: 'popular', unknown: ['nothing'] });
    expect(nobody.body.items.map(({ item }: Listed) => item)).toEqual(
      popular.body.items.map(({ item }: Listed) => item),
    );
    const many = await ask('/v1/recommend', { likes: Array.from({ length: 8 }, (_, i) => items.ids.at(i)) });
    expect(many.body.basis).toBe('personal');
    const unknown = await ask('/v1/recommend', { user: 'nobody' });
    expect(unknown.status).toBe(404);
    expect(unknown.body).toMatchObject({ field: 'user', type: '/docs#not-found' });
  });

  it('states its confidence, the same each time', async () => {
    const { items } = await loadModel(path);
    const asking = { likes: [items.ids.at(2), items.ids.at(5)], n: 5, confidence: true };
    const { body } = await ask('/v1/recommend', asking);
    const { overlap, text } = body.confidence;
    expect(overlap).toBeGreaterThan(0);
    expect(overlap).toBeLessThanOrEqual(1);
    expect(text).toMatch(/ would get about \d of these 5\. .*not how good\.$/);
    for (const { low, high, score } of body.items as { low: number; high: number; score: number }[]) {
      expect(low).toBeLessThan(score);
      expect(high).toBeGreaterThan(score);
    }
    const again = await ask('/v1/recommend', asking);
    expect(again.body.confidence).toEqual(body.confidence);
    // The confidence counts the items that may be listed, not all items of the model.
    const few = [items.ids.at(7), items.ids.at(8), items.ids.at(9)];
    const all = await ask('/v1/recommend', { ...asking, n: 3, include: few });
    expect(all.body.confidence.text).toMatch(/^The list holds every item that is left/);
    const rest = Array.from({ length: items.count }, (_, i) => items.ids.at(i)).filter(
      (id) => !few.includes(id),
    );
    const left = await ask('/v1/recommend', { ...asking, n: 3, exclude: rest.slice(0, 1000) });
    expect(left.body.confidence).toEqual(all.body.confidence);
    // The caller chose these items, so the answer has intervals of scores but no confidence of the list.
    const ranked = await ask('/v1/rank', { likes: asking.likes, candidates: few, confidence: true });
    expect(ranked.body.items[0].low).toBeLessThan(ranked.body.items[0].score);
    expect(ranked.body.confidence).toBeUndefined();
  });

  it('explains, finds similar items and describes features', async () => {
    const { items, users } = await loadModel(path);
    const item = items.ids.at(4);
    const { body } = await ask('/v1/explain', { user: users.ids.at(0), item });
    expect(body).toMatchObject({ item });
    const similar = await ask(`/v1/items/${encodeURIComponent(item)}/similar?n=3`);
    expect(similar.body.items).toHaveLength(3);
    const features = await ask('/v1/features?n=2');
    const list = features.body.features as { share: number; feature: number }[];
    expect(list).toHaveLength(4);
    expect(list.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(1, 6);
    const one = await ask(`/v1/features/${list[0].feature}?n=2`);
    expect(one.body.feature).toEqual(list[0]);
    expect((await ask('/v1/features/999')).status).toBe(404);
  });

  it('swaps models under load without one failed or mixed answer', async () => {
    const before = (await ask('/v1/models')).body.current;
    const { items } = await loadModel(path);
    const likes = [items.ids.at(1), items.ids.at(6)];
    const seen = new Map<string, Set<string>>();
    let failed = 0;
    let stop = false;
    const load = Array.from({ length: 8 }, async () => {
      while (!stop) {
        const { status, body } = await ask('/v1/recommend', { likes, n: 5 });
        if (status !== 200) failed++;
        const hash = String(body.model);
        seen.set(hash, (seen.get(hash) ?? new Set()).add(JSON.stringify(body.items)));
      }
    });
    const swapped = await ask('/v1/models/current', { file: 'second.safetensors' }, 'PUT');
    expect(swapped.status).toBe(200);
    await ask('/v1/recommend', { likes, n: 5 });
    stop = true;
    await Promise.all(load);
    expect(failed).toBe(0);
    expect(seen.size).toBe(2);
    for (const lists of seen.values()) expect(lists.size).toBe(1);
    expect(swapped.body.hash).not.toBe(before.hash);
    expect(swapped.body.file).toBe('second.safetensors');
    const again = await ask('/v1/models/current', {}, 'PUT');
    expect(again.body).toMatchObject({ file: 'second.safetensors', hash: swapped.body.hash });
    const back = await ask('/v1/models/current', { file: 'first.safetensors' }, 'PUT');
    expect(back.body).toMatchObject({ file: 'first.safetensors', hash: before.hash });
  });

  it('names the file that it has loaded, also while the file is replaced', async () => {
    const live = join(folder, 'live.safetensors');
    const copies = ['first', 'second'].map((name) => join(folder, `${name}.safetensors`));
    const replace = async (i: number) => {
      await copyFile(copies[i % 2], `${live}.new`);
      await rename(`${live}.new`, live);
    };
    const sha256 = async (file: string) =>
      createHash('sha256')
        .update(await readFile(file))
        .digest('hex')
        .slice(0, 32);
    const lists = new Map<string, string>();
    const { items } = await loadModel(path);
    const likes = [items.ids.at(1), items.ids.at(6)];
    for (const file of copies) {
      const recommender = createRecommender(await loadModel(file));
      lists.set(await sha256(file), JSON.stringify(await recommender.recommend({ likes }, { n: 5 })));
      await recommender.close();
    }
    await replace(0);
    const other = await serve(live, { port: 0, threads: 1 });
    try {
      let replaced = 0;
      const timer = setInterval(() => void replace(++replaced).catch(() => {}), 15);
      const headers = { 'content-type': 'application/json' };
      for (let i = 0; i < 4; i++) {
        const swap = { method: 'PUT', headers, body: '{}' };
        const { status } = await fetch(`${other.url}/v1/models/current`, swap);
        // A file that is replaced at every attempt is refused.
        expect([200, 422]).toContain(status);
        const body = JSON.stringify({ likes, n: 5 });
        const answer = await fetch(`${other.url}/v1/recommend`, { method: 'POST', headers, body });
        const { model, items: listed } = (await answer.json()) as { model: string; items: Listed[] };
        expect(JSON.stringify(listed.map(({ item, score }) => ({ item, score })))).toBe(lists.get(model));
      }
      clearInterval(timer);
    } finally {
      await other.close();
    }
  });

  it('lets an operator wait for a load that takes longer than a client may be silent', async () => {
    const other = await startServer(path, { port: 0, threads: 1 }, { ...LIMITS, silence: 50, look: 20 });
    try {
      const headers = { 'content-type': 'application/json' };
      const swap = await fetch(`${other.url}/v1/models/current`, { method: 'PUT', headers, body: '{}' });
      expect(swap.status).toBe(200);
    } finally {
      await other.close();
    }
  });

  it('keeps its model if the file is gone when it is read again', async () => {
    const live = join(folder, 'removed.safetensors');
    await copyFile(path, live);
    const other = await serve(live, { port: 0, threads: 1 });
    try {
      await rm(live);
      const headers = { 'content-type': 'application/json' };
      const swap = await fetch(`${other.url}/v1/models/current`, { method: 'PUT', headers, body: '{}' });
      expect(swap.status).toBe(422);
      expect(((await swap.json()) as { detail: string }).detail).toMatch(/there is no such file/);
      expect((await fetch(`${other.url}/v1/popular`)).status).toBe(200);
    } finally {
      await other.close();
    }
  });

  it('lists users of features only with an admin key', async () => {
    expect((await ask('/v1/features?n=1')).body.features[0].users).toBeUndefined();
    await writeFile(join(folder, 'roles.txt'), 'shop 0123456789abcdef\nops fedcba9876543210 admin\n');
    const other = await serve(path, { port: 0, threads: 1, keyFile: join(folder, 'roles.txt') });
    try {
      const usersFor = async (key: string) => {
        const headers = { authorization: `Bearer ${key}` };
        const answer = await fetch(`${other.url}/v1/features/1?n=2`, { headers });
        return ((await answer.json()) as { feature: { users?: unknown[] } }).feature.users;
      };
      expect(await usersFor('0123456789abcdef')).toBeUndefined();
      expect(await usersFor('fedcba9876543210')).toHaveLength(2);
    } finally {
      await other.close();
    }
  });

  it.each([
    '../secret.txt',
    '/etc/passwd',
    'link.safetensors',
    'titles.csv',
    '..%2fsecret',
    'nothing.safetensors',
  ])('loads nothing but the models of its folder: %s', async (file) => {
    expect((await ask('/v1/models/current', { file }, 'PUT')).status).toBe(404);
    expect((await ask('/health/ready')).status).toBe(200);
  });

  it.skipIf(process.platform !== 'linux')('computes in threads of lower priority than HTTP', () => {
    const nice = (stat: string) => Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16]);
    const tasks = readdirSync('/proc/self/task').map((id) =>
      readFileSync(`/proc/self/task/${id}/stat`, 'utf8'),
    );
    const own = nice(readFileSync(`/proc/self/task/${process.pid}/stat`, 'utf8'));
    expect(tasks.filter((stat) => nice(stat) === Math.min(19, own + NICER)).length).toBeGreaterThanOrEqual(2);
    expect(getPriority(process.pid)).toBe(own);
  });

  it('drains: answers open requests, then ends', async () => {
    const other = await serve(path, { port: 0, threads: 1 });
    const { items } = await loadModel(path);
    const agent = new Agent({ keepAlive: true, maxSockets: 4 });
    const askFour = () =>
      Array.from({ length: 4 }, (_, i) => {
        const body = JSON.stringify({ likes: [items.ids.at(i)] });
        const headers = { 'content-type': 'application/json', 'content-length': body.length };
        return new Promise<number | undefined>((resolve, reject) => {
          request(`${other.url}/v1/recommend`, { method: 'POST', agent, headers }, (response) => {
            response.resume().on('end', () => resolve(response.statusCode));
          })
            .on('error', reject)
            .end(body);
        });
      });
    // Asks once before, so that every connection is open: a connection that is not accepted yet would be lost.
    await Promise.all(askFour());
    const asked = askFour();
    const answered = Promise.all(asked);
    await Promise.race(asked);
    await other.close();
    expect(await answered).toEqual(asked.map(() => 200));
    await expect(fetch(`${other.url}/health/live`)).rejects.toThrow();
  });

  it('ends a worker that replaces a failed one while the model is released', async () => {
    const workers = () => process.getActiveResourcesInfo().filter((one) => one === 'MessagePort').length;
    const before = workers();
    const generation = await loadGeneration(path, { threads: 1, queue: 8 });
    expect(workers()).toBe(before + 1);
    const query = { endpoint: 'nonsense', request: {} } as never;
    await expect(generation.queue.ask([{ query, weight: 1 }], { deadline: 1000 })).rejects.toThrow();
    await generation.close();
    expect(workers()).toBe(before);
  });

  it('warns of tables about the items as the command line does: several titles of one item, items without a row', async () => {
    const { items } = await loadModel(path);
    const titles = join(folder, 'several.csv');
    const id = items.ids.at(0);
    await writeFile(titles, `id,title\n${id},One\n${id},Another\n${items.ids.at(1)},Two\n`);
    const logs: unknown[] = [];
    const other = await serve(path, {
      ...{ port: 0, threads: 1, titles },
      onLog: (record) => logs.push(record),
    });
    await other.close();
    const warning = (detail: RegExp) => ({
      ...{ time: expect.any(String), event: 'warning', detail: expect.stringMatching(detail) },
    });
    const several =
      /several\.csv: 1 of 2 items has several different titles in column title, and the first is used/;
    expect(logs).toEqual(expect.arrayContaining([warning(several)]));
    // A table about the items is used for their titles, too.
    const third = await serve(path, {
      ...{ port: 0, threads: 1, itemInfo: titles },
      onLog: (record) => logs.push(record),
    });
    await third.close();
    const lacks = new RegExp(
      `several\\.csv has 2 items of the data and lacks ${items.count - 2}, for instance`,
    );
    expect(logs).toEqual(expect.arrayContaining([warning(lacks)]));
  });

  it('ends the workers that have started if another one cannot', async () => {
    const workers = () => process.getActiveResourcesInfo().filter((one) => one === 'MessagePort').length;
    const before = workers();
    const fs = process.getBuiltinModule('node:fs');
    const { readFileSync } = fs;
    let asked = 0;
    // The addresses of the process have room for one worker.
    fs.readFileSync = ((file: string, ...rest: [BufferEncoding]) => {
      if (file === '/proc/self/limits') return 'Max address space 4000000000 4000000000 bytes';
      if (file === '/proc/self/status') return `VmSize: ${1_000_000 + 3_000_000 * asked++} kB`;
      return readFileSync(file, ...rest);
    }) as typeof readFileSync;
    try {
      await expect(loadGeneration(path, { threads: 2, queue: 8 })).rejects.toThrow(/not enough memory/);
    } finally {
      fs.readFileSync = readFileSync;
    }
    expect(workers()).toBe(before);
  });

  it('a taken port, a file that is not a model and invalid keys give a sentence', async () => {
    const { port } = new URL(server.url);
    const store = join(folder, 'port.duckdb');
    await expect(serve(path, { port: Number(port), threads: 1, store })).rejects.toThrow(
      /port \d+ is in use/,
    );
    // A store that is made begins with the histories of this model.
    expect(existsSync(store)).toBe(false);
    await expect(serve(join(folder, 'titles.csv'), { port: 0, threads: 1 })).rejects.toThrow(/titles.csv/);
    for (const wrong of [join(folder, 'missing.safetensors'), folder]) {
      await expect(serve(wrong, { port: 0, threads: 1 })).rejects.toBeInstanceOf(InputError);
    }
    await expect(serve(path, { port: 0, keyFile: join(folder, 'no-keys') })).rejects.toThrow(
      /there is no such file/,
    );
  });
});
