import { spawn } from 'node:child_process';
import { mkdir, readdir, utimes, writeFile } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { readSideInfo } from '../../src/attributes/side-info.js';
import { fit } from '../../src/fit/fit.js';
import type { Model, Ranker } from '../../src/fit/model.js';
import type { BipartiteGraph } from '../../src/graph/graph.js';
import { graphOfPairs } from '../../src/graph/pairs.js';
import { readGraph } from '../../src/ingest/read.js';
import { randomStream } from '../../src/math/random.js';
import { simulate } from '../../src/process/poisson-model.js';
import { compareModels, isClearlyWorse } from '../../src/refit/compare-models.js';
import { type GenerationRecord, openGenerations, recordFile } from '../../src/refit/generations.js';
import { holdBackLast } from '../../src/refit/hold-back-last.js';
import { type RefitSource, refit } from '../../src/refit/refit.js';
import { createSchedule, parseTimes } from '../../src/refit/refit-times.js';
import { loadModel, saveModel } from '../../src/store/model-file.js';
import { parseDuration } from '../../src/text/durations.js';
import { scratchFolder } from '../ingest/scratch.js';

const scratch = scratchFolder();
const HOUR = 3_600_000;

/** The times of edges in the order of graph.users, by pair. */
function timesOf(graph: BipartiteGraph, time: (user: string, item: string) => number): Float64Array {
  const { users, items } = graph;
  return Float64Array.from({ length: graph.edges }, (_, edge) => {
    const user = users.offsets.findIndex((offset, u) => offset <= edge && edge < users.offsets[u + 1]);
    return time(users.ids.at(user), items.ids.at(users.neighbors[edge]));
  });
}

describe('held-back items', () => {
  const NEW = 200;
  const pairs = Array.from({ length: NEW }, (_, u) => u).flatMap((u) =>
    ['a', 'b', 'c', 'd', 'e'].map((item): [string, string] => [`u${u}`, item]),
  );
  /** The present model knows two items of each user, and both items of bob. */
  const known = async () => {
    const old = pairs
      .filter(([, item]) => item < 'c')
      .concat([
        ['bob', 'a'],
        ['bob', 'b'],
      ]);
    return (await fit(graphOfPairs(old), { features: 1, iterations: 2, threads: 1 })).model;
  };
  const all = () => graphOfPairs([...pairs, ['bob', 'a'], ['bob', 'b'], ['one', 'a']]);

  it('are the last ones that the present model has not seen, of a quarter of the users who have some', async () => {
    const [graph, model] = [all(), await known()];
    // a and b are the latest items, but the present model knows them.
    const times = timesOf(graph, (_, item) => 100 - item.charCodeAt(0));
    const { labels, users } = holdBackLast(graph, times, model, 1);
    expect(users.length).toBe(NEW / 4);
    expect(labels.reduce((sum, label) => sum + label, 0)).toBe(NEW / 4);
    for (const { likes, times: when, held } of users) {
      expect([[...likes].sort(), held]).toEqual([['a', 'b', 'd', 'e'], ['c']]);
      expect(when?.length).toBe(4);
    }
    expect(holdBackLast(graph, times, { ...model, seen: undefined }, 1).users).toEqual([]);
  });

  it('are random items if none is the last one: no item is held back more than others', async () => {
    const [graph, model] = [all(), await known()];
    for (const times of [undefined, new Float64Array(graph.edges)]) {
      const held = holdBackLast(graph, times, model, 1).users.flatMap((one) => one.held);
      for (const item of ['c', 'd', 'e']) {
        expect(held.filter((one) => one === item).length).toBeGreaterThan(NEW / 4 / 6);
      }
    }
  });

  it('are none if fewer than 20 users have new items, and at most 5 % of all', async () => {
    const model = await known();
    const few = graphOfPairs([...pairs.filter(([, item]) => item < 'c'), ...pairs.slice(0, 19 * 5)]);
    const { labels, users } = holdBackLast(few, undefined, model, 1);
    expect([users, labels.every((label) => label === 0)]).toEqual([[], true]);
    const wide = Array.from({ length: 400 }, (_, u) =>
      Array.from({ length: 30 }, (_, i): [string, string] => [`w${u}`, `x${i}`]),
    ).flat();
    const graph = graphOfPairs(wide);
    const held = holdBackLast(graph, undefined, model, 1).users.flatMap((one) => one.held);
    expect(held.length).toBeLessThanOrEqual(0.05 * graph.edges + 5);
  });
});

describe('a comparison', () => {
  it('detects a worse model', async () => {
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
    expect(worse.difference).toBeCloseTo(worse.candidate - worse.present, 10);
    expect(isClearlyWorse(worse)).toBe(true);
    expect(isClearlyWorse(await compareModels(bad, good, held, task))).toBe(false);
    expect((await compareModels(good, good, held, task)).difference).toBe(0);
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
    // There are too few users for a comparison, so nothing is held back.
    expect(result.edges).toBe(4);
    expect(result.comparison).toBeUndefined();
    const made = await loadModel(output);
    expect(made.items.ids.find('d')).toBe(-1);
    expect(made.users.ids.find('bob')).toBeGreaterThanOrEqual(0);
    expect(made.provenance.options.features).toBe(2);
  });

  it('waits until another process closes the database that it reads', async () => {
    const pairs = [
      ['ann', 'a'],
      ['ann', 'b'],
      ['bob', 'a'],
    ] as const;
    const { model } = await fit(graphOfPairs(pairs), { features: 2, iterations: 2, threads: 1 });
    const present = scratch.path('locked.safetensors');
    const output = scratch.path('locked-next.safetensors');
    await saveModel(present, model);
    const database = scratch.path('shop.duckdb');
    const rows = pairs.map(([user, item]) => `('${user}', '${item}')`).join(', ');
    const script = `
      const { DuckDBInstance } = await import('@duckdb/node-api');
      const connection = await (await DuckDBInstance.create(${JSON.stringify(database)})).connect();
      await connection.run("CREATE TABLE sold AS SELECT * FROM (VALUES ${rows}) AS t(user_id, item_id)");
      await connection.run('CHECKPOINT');
      process.stdout.write('open');
      setTimeout(() => process.exit(), 2500);`;
    const other = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await new Promise((resolve) => other.stdout.once('data', resolve));
    await expect(readGraph(database, {})).rejects.toThrow(
      /shop\.duckdb: another process has this database open; close it there, or read a copy/,
    );
    const stages = new Set<string>();
    const data: RefitSource[] = [{ sources: [database], read: {}, time: undefined }];
    const plan = { data, present, output, since: undefined, seed: 1, threads: 1 };
    const { edges } = await refit(plan, { onProgress: ({ stage }) => stages.add(stage) });
    expect(edges).toBe(pairs.length);
    expect([...stages].join()).toMatch(/waiting until another process closes a database/);
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
    expect(made.recency!.latest).toBe(rows.at(-1)![2]);
    const zoe = made.users.ids.find('zoe');
    expect(
      Math.min(...made.seen!.ages!.subarray(...made.seen!.offsets.subarray(zoe, zoe + 2))),
    ).toBeGreaterThan(5);
    await refit({ ...plan, data: [{ ...data[0], time: undefined }], output });
    expect(((await loadModel(output)) as Ranker).recency).toBeUndefined();
    // A time in the future becomes the present. The same data have the same hash, although the present has moved on.
    const began = Date.now();
    await writeFile(
      scratch.path('ahead.csv'),
      `user,item,at\n${table.join('\n')}\nu0,i1,2099-01-01T00:00:00Z\n`,
    );
    const ahead = [{ ...data[0], sources: [scratch.path('ahead.csv')] }];
    const { data: hash } = await refit({ ...plan, data: ahead, output });
    const { latest } = ((await loadModel(output)) as Ranker).recency!;
    expect(latest).toBeGreaterThanOrEqual(began);
    expect(latest).toBeLessThanOrEqual(Date.now());
    expect((await refit({ ...plan, data: ahead, output, presentData: hash })).made).toBe(false);
  });
});

describe('posted items in a refit', () => {
  it('keep what the present model knows of items, and do not need anybody who took them', async () => {
    const pairs = Array.from({ length: 60 }, (_, u) => u).flatMap((u) =>
      Array.from({ length: 6 }, (_, i) => `u${u},${u % 2 === 0 ? 'a' : 'b'}${(u * 7 + i * 3) % 15}`),
    );
    await writeFile(scratch.path('taken.csv'), `user,item\n${pairs.join('\n')}\n`);
    const { graph } = await readGraph(scratch.path('taken.csv'));
    const { model } = await fit(graph, { features: 2, iterations: 20, threads: 1 });
    const lines = (...items: object[]) => `${items.map((one) => JSON.stringify(one)).join('\n')}\n`;
    const [present, output] = [scratch.path('plain.safetensors'), scratch.path('with-posted.safetensors')];
    const posted = scratch.path('posted.jsonl');
    const data = [{ sources: [scratch.path('taken.csv')], read: {}, time: undefined }];
    const infoOf = async (...items: object[]) => {
      await writeFile(posted, lines(...items));
      await refit({ data, present, output, posted, since: undefined, seed: 1, threads: 1 });
      return (await loadModel(output)).info?.items;
    };
    const fresh = { genre: 'Action', id: 'new' };
    await saveModel(present, model);
    expect(await infoOf(fresh)).toBeUndefined();
    const learned = await infoOf(
      fresh,
      ...Array.from({ length: 15 }, (_, i) => [
        { id: `a${i}`, genre: 'Action' },
        { id: `b${i}`, genre: 'Romance' },
      ]).flat(),
    );
    expect(learned?.names).toEqual(['Action', 'Romance']);
    expect(learned?.added.find('new')).toBe(0);
    await saveModel(present, await loadModel(output));
    const kept = await infoOf({ genre: 'Romance', id: 'newer' });
    expect(kept?.names).toEqual(['Action', 'Romance']);
    expect(kept?.rows.targets.length).toBe(32);
    expect([kept!.added.find('new'), kept!.added.find('newer')].sort()).toEqual([0, 1]);
  });

  it('replace the rows of the same ids, also with values and columns that no row had', async () => {
    const items = Array.from({ length: 16 }, (_, i) => `i${i}`);
    const pairs = Array.from({ length: 40 }, (_, u) => u).flatMap((u) =>
      Array.from({ length: 2 + (u % 7) }, (_, i): [string, string] => [`u${u}`, items[(u * u + i * i) % 15]]),
    );
    const graph = graphOfPairs(pairs);
    const { model } = await fit(graph, { features: 2, iterations: 20, threads: 1 });
    const rows = items.map((item, i) => ({
      line: i + 1,
      fields: [item, `Film ${item}`, i % 2 === 0 ? 'Action|War' : 'Romance', String(2000 + i)],
    }));
    const table = [{ line: 0, fields: ['id', 'title', 'genre', 'length'] }, ...rows];
    const { info: about } = readSideInfo(model.items, { name: 'items', rows: table });
    const [present, output] = [scratch.path('described.safetensors'), scratch.path('corrected.safetensors')];
    const [posted, taken] = [scratch.path('corrections.jsonl'), scratch.path('corrected.csv')];
    await saveModel(present, { ...model, info: { items: about } });
    const plan = { present, output, posted, since: undefined, seed: 1, threads: 1 };
    /** Refits from the model of the refit before; everything that was posted is read again. */
    const refitWith = async (events: readonly [string, string][], ...lines: object[]) => {
      await writeFile(taken, `user,item\n${events.map((pair) => pair.join()).join('\n')}\n`);
      await writeFile(posted, `${lines.map((one) => JSON.stringify(one)).join('\n')}\n`);
      await refit({ ...plan, data: [{ sources: [taken], read: {}, time: undefined }] });
      const refitted = await loadModel(output);
      await saveModel(present, refitted);
      return refitted;
    };
    const valuesOf = ({ items: side, info }: Model, item: string) => {
      const { added, columns, names, rows: all, numbers, titles } = info!.items!;
      const known = side.ids.find(item);
      const row = known >= 0 ? known : side.count + added.find(item);
      const own = all.targets.subarray(all.offsets[row], all.offsets[row + 1]);
      const valuesIn = (name: string) => {
        const column = columns.find((one) => one.name === name);
        return column
          ? [...own].filter((a) => a >= column.first && a < column.first + column.count).map((a) => names[a])
          : [];
      };
      const length = numbers.find(({ column }) => column === 'length')?.values[row];
      return { title: titles[row], genre: valuesIn('genre'), mood: valuesIn('mood'), length };
    };

    // A new item; then it has events and is known, and is posted again with another genre.
    const first = await refitWith(pairs, { id: 'new', title: 'New', genre: 'Romance' });
    expect(first.items.ids.find('new')).toBe(-1);
    expect(valuesOf(first, 'new').genre).toEqual(['Romance']);
    const more = [...pairs, ...['u1', 'u2', 'u3'].map((user): [string, string] => [user, 'new'])];
    const lines = [
      { id: 'new', title: 'New', genre: ['War', 'Western'], length: 1990, mood: 'dark' },
      { id: 'i0', genre: 'Romance|Noir', length: 2000, mood: 'light' },
    ];
    const second = await refitWith(more, ...lines);
    expect(second.items.ids.find('new')).toBeGreaterThanOrEqual(0);
    const wanted = { title: 'New', genre: ['War', 'Western'], mood: ['dark'], length: 1990 };
    expect(valuesOf(second, 'new')).toEqual(wanted);
    expect(valuesOf(second, 'i0')).toEqual({
      title: 'Film i0',
      genre: ['Noir', 'Romance'],
      mood: ['light'],
      length: 2000,
    });
    // Items that were not posted keep everything; i15 is in the table alone.
    for (const item of items.slice(1)) {
      expect(valuesOf(second, item), item).toEqual({
        title: `Film ${item}`,
        genre: Number(item.slice(1)) % 2 === 0 ? ['Action', 'War'] : ['Romance'],
        mood: [],
        length: 2000 + Number(item.slice(1)),
      });
    }
    expect(second.info?.items?.content).toBeDefined();

    // A correction; values that no row has any more are gone.
    const third = await refitWith(more, { ...lines[0], genre: 'Musical' }, lines[1]);
    expect(valuesOf(third, 'new')).toEqual({ ...wanted, genre: ['Musical'] });
    expect(third.info?.items?.names).not.toContain('Western');
    expect(valuesOf(third, 'i2')).toEqual(valuesOf(second, 'i2'));
    // Posting the same again changes nothing.
    const fourth = await refitWith(more, { ...lines[0], genre: 'Musical' }, lines[1]);
    expect(fourth.info?.items?.names).toEqual(third.info?.items?.names);
    expect(fourth.info?.items?.rows).toEqual(third.info?.items?.rows);
  });
});

describe('the guard of a refit', () => {
  const [USERS, GROUPS, ITEMS] = [600, 6, 240];
  const random = randomStream(5, 0x6a);
  /** Users of a group take items of their group, the first ones more often; `shift` moves every user to another group. */
  const taken = (user: number, shift: number) => {
    const rank = Math.floor((ITEMS / GROUPS) * random.uniform() ** 2);
    return [`u${user}`, `i${((user + shift) % GROUPS) + GROUPS * rank}`] as [string, string];
  };
  const events = (perUser: number, shift: number) =>
    Array.from({ length: USERS }, (_, user) =>
      Array.from({ length: perUser }, () => taken(user, shift)),
    ).flat();
  const table = async (name: string, rows: readonly (readonly [string, string])[], day: number) => {
    const lines = rows.map(([user, item]) => `${user},${item},2026-01-${String(day).padStart(2, '0')}`);
    await writeFile(scratch.path(name), `user,item,at\n${lines.join('\n')}\n`);
    return { sources: [scratch.path(name)], read: {}, time: 'at' };
  };
  const old = events(12, 0);
  const present = scratch.path('guarded.safetensors');
  const run = async (data: RefitSource[], seed: number) => {
    const output = scratch.path(`guard-${seed}.safetensors`);
    const result = await refit({ data, present, output, since: undefined, seed, threads: 1 });
    return { ...result, model: await loadModel(output) };
  };
  beforeAll(async () => {
    await saveModel(present, (await fit(graphOfPairs(old), { features: GROUPS, seed: 1, threads: 1 })).model);
  });

  it('lets a model take over that knows what users take since their taste has changed', async () => {
    const data = [await table('old.csv', old, 1), await table('drift.csv', events(4, 3), 2)];
    const { comparison, model, edges } = await run(data, 1);
    expect(comparison!.low).toBeGreaterThan(0);
    // It has learned what the comparison held back, too.
    expect(model.seen!.neighbors.length).toBe(edges);
    expect(holdBackLast((await readGraph(data[1].sources)).graph, undefined, model, 1).users).toEqual([]);
  });

  it('keeps a model aside whose data are damaged', async () => {
    // A crawler opens the pages of all unpopular items, each time as another user.
    const crawled = Array.from({ length: 12_000 }, (_, n) => {
      const rank = ITEMS / GROUPS / 2 + (Math.floor(n / GROUPS) % (ITEMS / GROUPS / 2));
      return [`crawler${n}`, `i${(n % GROUPS) + GROUPS * rank}`] as const;
    });
    const real = [await table('old.csv', old, 1), await table('more.csv', events(2, 0), 2)];
    const { comparison } = await run([...real, await table('crawled.csv', crawled, 1)], 2);
    expect(isClearlyWorse(comparison), JSON.stringify(comparison)).toBe(true);
    expect(isClearlyWorse((await run(real, 3)).comparison)).toBe(false);
  });

  it('lets models take over if nothing has changed', async () => {
    const rows = [...old];
    const outcomes: boolean[] = [];
    for (let seed = 10; seed < 16; seed++) {
      rows.push(...events(1, 0));
      outcomes.push(isClearlyWorse((await run([await table('same.csv', rows, 1)], seed)).comparison));
    }
    // By chance, one model in forty does not take over.
    expect(outcomes.filter(Boolean).length).toBeLessThanOrEqual(1);
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
    const given = scratch.path('given.safetensors');
    const open = (model = given) => openGenerations(folder, model, (message) => told.push(message));
    const first = await open();
    await writeFile(given, 'x');
    expect(await first.resume()).toBeUndefined();
    // A file that somebody else wrote, by the name of a refit.
    const others = 'model-20250101T000000Z.safetensors';
    await writeFile(`${folder}/${others}`, 'x');
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
    expect((await readdir(folder)).sort()).toEqual([
      'given.refits.json',
      ...[others, names[0], names[2], names[3]],
    ]);
    const again = await open();
    expect(again.list().map(({ name }) => name)).toEqual([...names].reverse());
    expect(await again.resume()).toBe(`${folder}/${names[0]}`);
    // A service that began with another model in this folder has a record of its own.
    const other = scratch.path('other.safetensors');
    await writeFile(other, 'x');
    expect(await (await open(other)).resume()).toBeUndefined();
    expect(await (await open(other)).prune(0, other)).toEqual([]);
    // Going back to the first model serves it, and nothing instead of it.
    const own = `${folder}/own.safetensors`;
    await writeFile(own, 'x');
    const back = await open(own);
    await back.activate('own.safetensors', Date.now() + 1000);
    expect(await back.resume()).toBeUndefined();
    // The file that was written later is the one to serve.
    await utimes(given, new Date(), new Date(Date.now() + HOUR));
    expect(await again.resume()).toBeUndefined();
    await writeFile(recordFile(folder, given), '{"generations": 7');
    expect((await open()).list()).toEqual([]);
    expect(told).toEqual([expect.stringMatching(/record of refits cannot be read/)]);
    // It names files of its own folder alone.
    await writeFile(recordFile(folder, given), '{"generations": [], "active": "../other.safetensors"}');
    await utimes(given, new Date(), new Date(0));
    expect(await (await open()).resume()).toBeUndefined();
    expect(told.length).toBe(2);
  });

  it('loses no change of several that are made concurrently', async () => {
    const folder = scratch.path('concurrent');
    await mkdir(folder);
    const models = await openGenerations(folder, scratch.path('given.safetensors'), () => {});
    const [a, b] = ['model-20260101T000000Z.safetensors', 'model-20260102T000000Z.safetensors'];
    for (const name of [a, b]) await writeFile(`${folder}/${name}`, 'x');
    const later = Date.now() + HOUR;
    const [, undo] = await Promise.all([
      models.add(record(a)),
      models.activate(a, later),
      models.add(record(b)),
    ]);
    const again = await openGenerations(folder, scratch.path('given.safetensors'), () => {});
    expect(again.list().map(({ name }) => name)).toEqual([b, a]);
    expect(await again.resume()).toBe(`${folder}/${a}`);
    // Another model was activated meanwhile, so there is nothing to take back.
    await models.activate(b, later);
    await undo();
    expect(await models.resume()).toBe(`${folder}/${b}`);
  });
});
