// Refits of a running server: real processes, the real DuckDB, real sockets.

import { execFileSync, spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, rmdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { fit } from '../../src/fit/fit.js';
import type { Ranker } from '../../src/fit/model.js';
import { ownItems } from '../../src/predict/user-query.js';
import { simulate } from '../../src/process/poisson-model.js';
import type { LogRecord } from '../../src/serve/request-log.js';
import { type RunningServer, serve } from '../../src/serve/serve.js';
import { loadModel, saveModel } from '../../src/store/model-file.js';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });
const side = { sigma: 0.2, tau: 1, shape: 0.2, rate: 0.2, size: 50 };
let folder: string;
let path: string;
let users: string[];
let items: string[];
let pairs: string[];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'graphex-refits-'));
  const { graph } = await simulate({ users: side, items: side, features: 4, seed: 5 });
  path = join(folder, 'first.safetensors');
  await saveModel(path, (await fit(graph, { features: 4, iterations: 10, threads: 1 })).model);
  const model = await loadModel(path);
  users = Array.from({ length: model.users.count }, (_, u) => model.users.ids.at(u));
  items = Array.from({ length: model.items.count }, (_, i) => model.items.ids.at(i));
  pairs = users.flatMap((user, u) =>
    Array.from(ownItems(model, u).items, (item) => `${user},${items[item]}`),
  );
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const logs: LogRecord[] = [];
let server: RunningServer;
const start = async (options: object) => {
  server = await serve(path, { port: 0, threads: 1, onLog: (record) => logs.push(record), ...options });
};
async function ask(where: string, body?: unknown, method = body === undefined ? 'GET' : 'POST') {
  const response = await fetch(`${server.url}${where}`, {
    method,
    ...(body !== undefined && {
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json' },
    }),
  });
  // biome-ignore lint/suspicious/noExplicitAny: what a client gets is whatever the server sends
  return { status: response.status, body: (await response.json()) as any };
}
/** Starts a refit and waits for its end. */
async function refitted() {
  expect(await ask('/v1/refit', {})).toMatchObject({ status: 202, body: { started: true } });
  return ended();
}
async function ended() {
  for (;;) {
    const { body } = await ask('/v1/models');
    if (!body.refit.running && body.refit.last) return body;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

describe('refits from the store', () => {
  const store = () => join(folder, 'events.duckdb');
  afterAll(() => server?.close());

  it('fit posted events, compare, swap, and know a new user and a new item', async () => {
    const itemInfo = join(folder, 'items.csv');
    const rows = items.map((item, i) => `${item},Title of ${item},${i % 2 === 0 ? 'even' : 'odd'}`);
    await writeFile(itemInfo, `id,title,kind\n${rows.join('\n')}\n`);
    await start({ store: store(), keep: 2, itemInfo });
    const before = (await ask('/v1/models')).body;
    // The titles show before the first refit.
    const [popular] = (await ask('/v1/popular?n=1')).body.items;
    expect(popular.title).toBe(`Title of ${popular.item}`);
    expect(before).toMatchObject({
      current: { file: 'first.safetensors' },
      refit: { running: false },
      generations: [],
    });
    const events: object[] = users
      .slice(0, 60)
      .flatMap((user, u) => [0, 1, 2].map((k) => ({ user, item: items[(7 * u + 31 * k) % items.length] })));
    for (let i = 0; i < 6; i++)
      events.push({ user: 'zoe', item: items[i] }, { user: users[i], item: 'brand new', time: '2020-01-01' });
    expect((await ask('/v1/events', events)).status).toBe(202);
    const after = await refitted();
    expect(after.refit.last.outcome, after.refit.last.detail).toBe('swapped');
    const [generation] = after.generations;
    expect(after.current.file).toBe(generation.name);
    expect(generation.name).toMatch(/^model-\d{8}T\d{6}Z\.safetensors$/);
    expect(generation).toMatchObject({ accepted: true, against: 'first.safetensors' });
    expect(generation.comparison.users).toBeGreaterThanOrEqual(20);
    const made = await loadModel(join(folder, generation.name));
    expect(made.users.ids.find('zoe')).toBeGreaterThanOrEqual(0);
    expect(made.items.ids.find('brand new')).toBeGreaterThanOrEqual(0);
    expect(made.info?.items?.names).toEqual(expect.arrayContaining(['even', 'odd']));
    expect((await ask('/v1/recommend', { user: 'zoe' })).body.model).toBe(after.current.hash);
    expect((await readdir(folder)).filter((name) => name.includes('.refit.'))).toEqual([]);
  });

  it('a killed refit leaves the current model, and the next one works', async () => {
    const current = (await ask('/v1/models')).body.current.hash;
    const left = ['', '.rejects', '.items.jsonl'].map(
      (file) => `${store()}.refit.parquet${file}.0123456789abcdef.part`,
    );
    for (const file of left) await writeFile(file, 'as a killed process leaves it');
    await ask('/v1/refit', {});
    expect((await ask('/v1/refit', {})).body.started).toBe(false);
    let pid: number | undefined;
    while (pid === undefined) pid = (await ask('/v1/models')).body.refit.process;
    process.kill(pid, 'SIGKILL');
    const { refit, current: still } = await ended();
    expect(refit.last).toMatchObject({
      outcome: 'failed',
      detail: expect.stringMatching(/ended by SIGKILL/),
    });
    expect(still.hash).toBe(current);
    expect((await readdir(folder)).filter((name) => name.includes('.refit.'))).toEqual([]);
    await ask('/v1/events', { user: 'zoe', item: items[7] });
    expect((await refitted()).refit.last.outcome).not.toBe('failed');
    const metrics = await (await fetch(`${server.url}/metrics`)).text();
    expect(metrics).toMatch(/^graphex_refits_total\{outcome="failed"\} 1$/m);
  });

  it('keeps the model if the data have not changed since it was fitted', async () => {
    const before = (await ask('/v1/models')).body;
    for (const restart of [false, true]) {
      if (restart) {
        await server.close();
        await start({ store: store(), keep: 2, itemInfo: join(folder, 'items.csv') });
      }
      const after = await refitted();
      expect(after.refit.last).toMatchObject({
        outcome: 'unchanged',
        detail: `${before.current.file} stays: the data have not changed since it was fitted`,
      });
      expect(after.generations).toEqual(before.generations);
      expect(after.files).toEqual(before.files);
    }
    expect(await (await fetch(`${server.url}/metrics`)).text()).toMatch(
      /^graphex_refits_total\{outcome="unchanged"\} 1$/m,
    );
  });

  it('goes back to an earlier model, and serves that one after a restart', async () => {
    // What is known of an item is data too.
    await writeFile(join(folder, 'items.csv'), `id,title,kind\n${items[0]},Another title,odd\n`);
    await refitted();
    const { generations, files, current } = (await ask('/v1/models')).body;
    const kept = files.filter((name: string) => name.startsWith('model-'));
    expect(kept.length).toBe(2);
    expect(generations.length).toBe(3);
    const back = kept.find((name: string) => name !== current.file);
    expect(await ask(`/v1/models/${back}/activate`, {})).toMatchObject({ status: 200, body: { file: back } });
    expect((await ask('/v1/models/none.safetensors/activate', {})).status).toBe(404);
    await server.close();
    await start({ store: store(), keep: 2 });
    expect((await ask('/v1/models')).body.current.file).toBe(back);
    // A file that was loaded by name counts as activated, and may be loaded again.
    const chosen = async (body: object) => (await ask('/v1/models/current', body, 'PUT')).body.file;
    expect(await chosen({ file: 'first.safetensors' })).toBe('first.safetensors');
    expect(await chosen({})).toBe('first.safetensors');
    await server.close();
    await start({ store: store(), keep: 2 });
    expect((await ask('/v1/models')).body.current.file).toBe('first.safetensors');
    expect(await chosen({ file: back })).toBe(back);
    // A damaged file is not served: the given model is.
    await server.close();
    await writeFile(join(folder, back), 'damaged');
    await start({ store: store(), keep: 2 });
    expect((await ask('/v1/models')).body.current.file).toBe('first.safetensors');
    expect(logs.some((one) => 'event' in one && one.event === 'load-failed')).toBe(true);
    // A model whose record cannot be written does not take over: after a restart another one would answer.
    const record = join(folder, 'first.refits.json');
    await rm(record);
    await mkdir(record);
    expect((await ask(`/v1/models/${current.file}/activate`, {})).status).toBe(422);
    expect((await ask('/v1/models')).body.current.file).toBe('first.safetensors');
    await rmdir(record);
    expect((await ask(`/v1/models/${current.file}/activate`, {})).status).toBe(200);
    // The damaged one is not recorded either.
    expect((await ask(`/v1/models/${back}/activate`, {})).status).toBe(422);
    expect(JSON.parse(await readFile(record, 'utf8')).active).toBe(current.file);
  });
});

describe('refits from a store with times', () => {
  afterAll(() => server?.close());

  it('read the time of an old event as it was posted', async () => {
    const own = await mkdtemp(join(folder, 'old-'));
    const { graph } = await simulate({ users: side, items: side, features: 4, seed: 5 });
    const times = new Float64Array(graph.edges).fill(Date.now() - 86_400_000);
    const timed = join(own, 'timed.safetensors');
    const options = { method: 'ranking', features: 2, iterations: 2, threads: 1, halfLife: '90d' } as const;
    await saveModel(timed, (await fit(graph, { ...options, times })).model);
    server = await serve(timed, { port: 0, threads: 1, store: join(own, 'events.duckdb') });
    const event = { user: 'zoe', item: 'old', time: '1972-06-01' };
    expect((await ask('/v1/events', event)).status).toBe(202);
    const { refit, current } = await refitted();
    expect(refit.last.outcome, refit.last.detail).toBe('swapped');
    const made = (await loadModel(join(own, current.file))) as Ranker;
    expect(made.recency!.latest).toBeLessThanOrEqual(Date.now());
  });
});

describe('refits from data that others write', () => {
  afterAll(() => server?.close());

  it('run on schedule, and a locked or missing source gives a sentence', async () => {
    const models = await mkdtemp(join(folder, 'models-'));
    const data = join(folder, 'data.csv');
    await writeFile(data, `user,item\n${pairs.join('\n')}\n`);
    // A store without events does not hide the other data from a refit.
    await start({ models, data: [data], store: join(folder, 'empty.duckdb') });
    expect((await refitted()).refit.last.detail).toMatch(/took over/);
    await server.close();
    await writeFile(data, `user,item\n${pairs.join('\n')}\nzoe,${items[0]}\n`);
    await start({ models, data: [data], refit: '10s' });
    expect(Date.parse((await ask('/v1/models')).body.refit.next)).toBeGreaterThan(Date.now());
    expect((await ask('/v1/events', { user: 'a', item: 'b' })).status).toBe(404);
    const after = await ended();
    expect(after.refit.last.detail).toMatch(/took over/);
    await rm(data);
    const failed = await refitted();
    expect(failed.refit.last).toMatchObject({
      outcome: 'failed',
      detail: expect.stringMatching(/data\.csv/),
    });
    expect(failed.current.file).toBe(after.current.file);
    await server.close();
    // A model that was fitted to the new rows alone lacks all other users. So it does not take over, and the outcome says why.
    await writeFile(data, `user,item\n${pairs.slice(0, 20).join('\n')}\n`);
    await start({ models, data: [data] });
    const kept = await refitted();
    expect(kept.refit.last).toMatchObject({
      outcome: 'kept-aside',
      detail: expect.stringMatching(
        /was kept aside until you activate it: .*\. \d+ of \d+ users of the previous model are not in these data$/,
      ),
    });
    expect(kept.current.hash).toBe(after.current.hash);
    const { name } = kept.generations[0];
    expect(await ask(`/v1/models/${name}/activate`, {})).toMatchObject({ status: 200, body: { file: name } });
  });

  it('need data and a model', () => {
    const run = (...args: string[]) =>
      spawnSync(process.execPath, ['bin/graphex.js', 'serve', ...args], { encoding: 'utf8' });
    expect(run(path, '--refit', '1h').stderr).toMatch(/--refit needs data to read: give --store or --data/);
    expect(run(path, '--refit', 'often', '--data', 'x').stderr).toMatch(/--refit often: expected a span/);
    expect(
      execFileSync(process.execPath, ['bin/graphex.js', 'serve', '--help'], { encoding: 'utf8' }),
    ).toMatch(/--refit/);
  });
});
