import { mkdir, readdir, utimes, writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { fit } from '../../src/fit/fit.js';
import type { Ranker } from '../../src/fit/model.js';
import { graphOfPairs } from '../../src/graph/pairs.js';
import { simulate } from '../../src/process/poisson-model.js';
import { compareModels, isClearlyWorse } from '../../src/refit/compare-models.js';
import { type GenerationRecord, openGenerations } from '../../src/refit/generations.js';
import { holdBackLast } from '../../src/refit/hold-back-last.js';
import { refit } from '../../src/refit/refit.js';
import { createSchedule, parseTimes } from '../../src/refit/schedule.js';
import { loadModel, saveModel } from '../../src/store/model-file.js';
import { parseDuration } from '../../src/text/durations.js';
import { scratchFolder } from '../ingest/scratch.js';

const scratch = scratchFolder();
const HOUR = 3_600_000;

describe('held-back items', () => {
  it('are the last ones that the present model has not seen of the user', async () => {
    const old = graphOfPairs([
      ['ann', 'a'],
      ['ann', 'b'],
      ['bob', 'a'],
      ['cleo', 'b'],
    ]);
    const { model } = await fit(old, { features: 1, iterations: 2, threads: 1 });
    const rows: [string, string, number][] = [
      ['ann', 'a', 9],
      ['ann', 'b', 8],
      ['ann', 'c', 5],
      ['ann', 'd', 6],
      ['bob', 'a', 9],
      ['dora', 'd', 3],
      ['dora', 'a', 2],
      ...Array.from({ length: 40 }, (_, i): [string, string, number] => ['bulk', `x${i}`, i]),
    ];
    const graph = graphOfPairs(rows.map(([user, item]) => [user, item]));
    const { users, items } = graph;
    const times = new Float64Array(graph.edges);
    for (const [user, item, time] of rows) {
      const u = users.ids.find(user);
      const at = users.neighbors.indexOf(items.ids.find(item), users.offsets[u]);
      times[at] = time;
    }
    const { labels, users: held } = holdBackLast(graph, times, model, 1);
    const sorted = held.map((one) => ({ likes: [...one.likes].sort(), held: one.held }));
    // bob has nothing new, cleo is not in the data; five of the forty are the most, or five percent of all edges.
    for (const one of sorted) {
      if (one.likes.includes('b')) expect(one).toEqual({ likes: ['a', 'b', 'c'], held: ['d'] });
      else if (one.likes.length === 1) expect(one).toEqual({ likes: ['a'], held: ['d'] });
      else expect(one.held).toEqual(['x39', 'x38', 'x37', 'x36', 'x35']);
    }
    expect(held.length).toBeGreaterThan(0);
    expect(labels.reduce((sum, label) => sum + label, 0)).toBe(held.flatMap((one) => one.held).length);
    expect(holdBackLast(graph, times, { ...model, seen: undefined }, 1).users).toEqual([]);
  });
});

describe('a comparison', () => {
  it('detects a worse model, and does not compare on few users', async () => {
    const side = { sigma: 0.2, tau: 1, shape: 0.1, rate: 0.1, size: 60 };
    const { graph } = await simulate({ users: side, items: side, features: 4, seed: 3 });
    const good = (await fit(graph, { features: 8, iterations: 60, threads: 1 })).model;
    const { users, items } = graph;
    // A model of other data with the same items: every user has random items.
    const shuffled = graphOfPairs(
      Array.from(
        { length: graph.edges },
        (_, e) => [`u${e % 200}`, items.ids.at((e * 7919) % items.count)] as const,
      ),
    );
    const bad = (await fit(shuffled, { features: 8, iterations: 5, threads: 1 })).model;
    const held = Array.from({ length: Math.min(200, users.count) }, (_, u) => {
      const own = Array.from(users.neighbors.subarray(users.offsets[u], users.offsets[u + 1]), (i) =>
        items.ids.at(i),
      );
      return { likes: own.slice(1), held: own.slice(0, 1) };
    }).filter(({ likes }) => likes.length > 0);
    const task = { threads: 1, signal: undefined };
    const worse = await compareModels(good, bad, held, task);
    expect(worse?.difference).toBeCloseTo((worse?.candidate ?? 0) - (worse?.present ?? 0), 10);
    expect(isClearlyWorse(worse)).toBe(true);
    expect(isClearlyWorse(await compareModels(bad, good, held, task))).toBe(false);
    expect((await compareModels(good, good, held, task))?.difference).toBe(0);
    expect(await compareModels(good, bad, held.slice(0, 5), task)).toBeUndefined();
    expect(isClearlyWorse(undefined)).toBe(false);
  });
});

describe('a refit', () => {
  it('reads tables, leaves out what is old, and starts from the present model', async () => {
    const present = scratch.path('present.safetensors');
    const { model } = await fit(
      graphOfPairs([
        ['ann', 'a'],
        ['ann', 'b'],
        ['bob', 'a'],
      ]),
      { features: 2, iterations: 2, threads: 1 },
    );
    await saveModel(present, model);
    await writeFile(
      scratch.path('new.csv'),
      'who,what,at\nann,a,2026-01-01\nann,c,2026-01-02\nbob,a,2026-01-02\nbob,d,2020-01-01\n',
    );
    await writeFile(scratch.path('more.csv'), 'user,item\nzoe,a\n');
    const output = scratch.path('refitted.safetensors');
    const data = [
      { sources: [scratch.path('new.csv')], read: { users: 'who', items: 'what' }, time: 'at' },
      { sources: [scratch.path('more.csv')], read: {}, time: undefined },
    ];
    const result = await refit({ data, present, output, since: Date.UTC(2025, 0), seed: 1, threads: 1 });
    // c of ann or a of zoe may be held back.
    expect(result.comparison).toBeUndefined();
    const made = await loadModel(output);
    expect(made.items.ids.find('d')).toBe(-1);
    expect(made.users.ids.find('bob')).toBeGreaterThanOrEqual(0);
    expect(made.provenance.options.features).toBe(2);
  });

  it('weighs edges by the latest times of all tables, with the half-life of the present model', async () => {
    const days = (count: number) => Array.from({ length: count }, (_, day) => Date.UTC(2026, 0, 1 + day));
    const rows = days(40).map((time, n) => [`u${n % 8}`, `i${(n * 7) % 10}`, time] as const);
    const graph = graphOfPairs(rows.map(([user, item]) => [user, item]));
    const times = new Float64Array(graph.edges).fill(rows[0][2]);
    const options = {
      method: 'ranking',
      features: 2,
      iterations: 2,
      threads: 1,
      halfLife: '5d',
      times,
    } as const;
    const present = scratch.path('timed.safetensors');
    await saveModel(
      present,
      (await fit(graph, { ...options, times: times.map((t, e) => t + e * HOUR) })).model,
    );
    const table = rows.map(([user, item, time]) => `${user},${item},${new Date(time).toISOString()}`);
    await writeFile(scratch.path('timed.csv'), `user,item,at\n${table.join('\n')}\n`);
    await writeFile(scratch.path('untimed.csv'), 'user,item\nzoe,i0\nzoe,i1\nu0,i9\n');
    const data = [
      { sources: [scratch.path('timed.csv')], read: {}, time: 'at' },
      { sources: [scratch.path('untimed.csv')], read: {}, time: undefined },
    ];
    const plan = { present, since: undefined, seed: 1, threads: 1 };
    const output = scratch.path('timed-again.safetensors');
    await refit({ ...plan, data, output });
    const made = (await loadModel(output)) as Ranker;
    expect(made.recency?.halfLife).toBe(5 * 24 * HOUR);
    // The last items of some users are held back, so the latest time may be some days earlier.
    expect(made.recency!.latest).toBeGreaterThan(Date.UTC(2026, 0, 30));
    const zoe = made.users.ids.find('zoe');
    expect(
      Math.min(...made.seen!.ages!.subarray(...made.seen!.offsets.subarray(zoe, zoe + 2))),
    ).toBeGreaterThan(5);
    await refit({ ...plan, data: [{ ...data[0], time: undefined }], output });
    expect(((await loadModel(output)) as Ranker).recency).toBeUndefined();
  });
});

describe('a schedule', () => {
  it('takes spans and times of day', () => {
    expect([parseDuration('90s'), parseDuration('1.5h'), parseDuration('2w')]).toEqual([
      90_000,
      1.5 * HOUR,
      14 * 24 * HOUR,
    ]);
    expect(['', '5', '-1h', '1y', '0s', '1h30'].map(parseDuration)).toEqual(Array(6).fill(undefined));
    expect([parseTimes('1h'), parseTimes('03:00'), parseTimes('23:59')]).toEqual([
      { every: HOUR },
      { minute: 180 },
      { minute: 1439 },
    ]);
    for (const wrong of ['24:00', '3', '1s', 'daily'])
      expect(() => parseTimes(wrong)).toThrow(/refit .*: expected a span/);
  });

  it('keeps its span when the clock jumps', () => {
    let [wall, steady] = [Date.UTC(2026, 0, 1), 0];
    const schedule = createSchedule({ every: HOUR }, { wall: () => wall, steady: () => steady });
    wall += 1000 * HOUR;
    expect(schedule.isDue()).toBe(false);
    expect(schedule.next()).toBe(wall + HOUR);
    steady += HOUR;
    wall -= 5000 * HOUR;
    expect([schedule.isDue(), schedule.isDue()]).toEqual([true, false]);
  });

  it('is due once a day at its time, also after the clock went back', () => {
    let wall = new Date(2026, 4, 5, 2, 0).getTime();
    const schedule = createSchedule({ minute: 180 }, { wall: () => wall, steady: () => 0 });
    expect(schedule.next()).toBe(new Date(2026, 4, 5, 3, 0).getTime());
    expect(schedule.isDue()).toBe(false);
    wall += 1.5 * HOUR;
    expect([schedule.isDue(), schedule.isDue()]).toEqual([true, false]);
    expect(schedule.next()).toBe(new Date(2026, 4, 6, 3, 0).getTime());
    wall = new Date(2026, 1, 1, 2, 0).getTime();
    expect(schedule.isDue()).toBe(false);
    wall += 2 * HOUR;
    expect(schedule.isDue()).toBe(true);
  });
});

describe('the record of models', () => {
  const record = (name: string): GenerationRecord => ({
    name,
    time: '2026-01-01T00:00:00.000Z',
    seconds: 1,
    users: 1,
    items: 1,
    edges: 1,
    accepted: true,
    against: 'first.safetensors',
  });

  it('outlives the server, names in order though the clock goes back, and keeps the newest and the one in use', async () => {
    const folder = scratch.path('models');
    await mkdir(folder);
    const told: string[] = [];
    const open = () => openGenerations(folder, (message) => told.push(message));
    const first = await open();
    const given = scratch.path('given.safetensors');
    await writeFile(given, 'x');
    expect(await first.resume(given)).toBeUndefined();
    const names: string[] = [];
    for (const now of [Date.UTC(2026, 0, 2), Date.UTC(2026, 0, 2), Date.UTC(2020, 0), Date.UTC(2026, 0, 3)]) {
      const name = await first.newName(now);
      names.push(name);
      await writeFile(`${folder}/${name}`, 'x');
      await first.add(record(name));
    }
    expect(names[0]).toBe('model-20260102T000000Z.safetensors');
    expect([...names].sort()).toEqual(names);
    await first.activate(names[0], Date.now() + 1000);
    expect(await first.prune(2, names[0])).toEqual([names[1]]);
    expect((await readdir(folder)).sort()).toEqual([names[0], names[2], names[3], 'refits.json']);
    const again = await open();
    expect(again.list().map(({ name }) => name)).toEqual([...names].reverse());
    expect(await again.resume(given)).toBe(`${folder}/${names[0]}`);
    // A file that was given later is meant.
    await utimes(given, new Date(), new Date(Date.now() + HOUR));
    expect(await again.resume(given)).toBeUndefined();
    await writeFile(`${folder}/refits.json`, '{"generations": 7');
    expect((await open()).list()).toEqual([]);
    expect(told).toEqual([expect.stringMatching(/record of refits cannot be read/)]);
  });
});
