import { spawn } from 'node:child_process';
import { copyFile, readFile, symlink, truncate, writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { closeQuietly, openDatabase } from '../../src/events/database.js';
import { openEventStore } from '../../src/events/event-store.js';
import { insertEvents } from '../../src/events/insert.js';
import type { StoredEvent } from '../../src/events/stored.js';
import { readGraph } from '../../src/index.js';
import { loadDuckDb } from '../../src/ingest/formats/duckdb-package.js';
import { scratchFolder } from '../ingest/scratch.js';

const scratch = scratchFolder();
const DAY = 86_400_000;
const NOW = Date.UTC(2026, 5, 1);
const event = (user: string, item: string, more: Partial<StoredEvent> = {}): StoredEvent => ({
  user,
  item,
  time: NOW,
  weight: 1,
  ...more,
});

/** Runs statements on a database file, as another program would. */
async function withSql(path: string, ...statements: string[]): Promise<unknown> {
  const { DuckDBInstance } = await loadDuckDb('a test');
  const instance = await DuckDBInstance.create(path, {});
  const connection = await instance.connect();
  let rows: unknown;
  for (const sql of statements) rows = (await connection.runAndReadAll(sql)).getRowsJson();
  connection.closeSync();
  instance.closeSync();
  return rows;
}

describe('a store of events', () => {
  it('stores events, each id once, and returns them after it is opened again', async () => {
    const path = scratch.path('events.duckdb');
    const store = await openEventStore(path);
    await Promise.all([
      store.add([
        event('ann', 'tea', { id: 'a' }),
        event('ann', 'milk', { time: NOW + 1 }),
        event("o'neil\0\u{1f600}", 'tea"'),
      ]),
      store.add([event('ann', 'tea', { id: 'a' }), event('bob', 'rum', { id: 'b', weight: 2.5 })]),
    ]);
    await store.add([event('bob', 'rum', { id: 'b' }), event('bob', 'tea')]);
    expect(await store.eventsOf('ann', 10)).toEqual([
      event('ann', 'milk', { time: NOW + 1 }),
      event('ann', 'tea', { id: 'a' }),
    ]);
    await store.close();
    const again = await openEventStore(path);
    expect(await again.count()).toBe(5);
    const users = ["o'neil\0\u{1f600}", 'bob', 'nobody'];
    const one = (weight: number, time = NOW) => ({ weight, time });
    const histories = [
      new Map([['tea"', one(1)]]),
      new Map(Object.entries({ rum: one(2.5), tea: one(1) })),
      new Map(),
    ];
    expect(await again.historiesOf(users)).toEqual(histories);
    // Enough users that one pass finds them.
    const many = await again.historiesOf([...users, ...Array.from({ length: 50 }, (_, i) => `x${i}`)]);
    expect(many.slice(0, 4)).toEqual([...histories, new Map()]);
    expect(await again.erase('bob')).toBe(2);
    expect(await again.erase('bob')).toBe(0);
    // The id of an erased event is free again.
    await again.add([event('cleo', 'rum', { id: 'b' })]);
    expect(await again.count()).toBe(4);
    await again.close();
    expect(await withSql(path, 'SELECT "user", weight FROM events WHERE id = \'b\'')).toEqual([['cleo', 1]]);
  });

  it('keeps no copy of its events in memory', async () => {
    const { writer, parts } = await openDatabase(scratch.path('copies.duckdb'));
    for (let group = 0; group < 50; group++) {
      await writer.run('BEGIN');
      await insertEvents(
        writer,
        Array.from({ length: 2000 }, (_, i) => event(`u${i}`, `i${group}`)),
      );
      await writer.run('COMMIT');
    }
    await writer.run('CHECKPOINT');
    const memory = await writer.runAndReadAll(
      "SELECT memory_usage_bytes FROM duckdb_memory() WHERE tag = 'IN_MEMORY_TABLE'",
    );
    // Copies would take 54 bytes an event.
    expect(Number((memory.getRowsJson() as string[][])[0][0])).toBeLessThan(1e6);
    closeQuietly(parts);
  });

  it('stores items, the last state of each', async () => {
    const path = scratch.path('items.duckdb');
    const store = await openEventStore(path);
    const items = Array.from({ length: 3000 }, (_, i) => ({ item: `i${i}`, hidden: i % 2 === 0 }));
    await store.putItems(items);
    await store.putItems([
      { item: 'i1', hidden: false },
      { item: 'i1', hidden: true, title: 'One', attributes: '{"year":1990}' },
    ]);
    await store.close();
    const again = await openEventStore(path);
    const found = await again.items();
    expect(found.length).toBe(3000);
    expect(found.filter(({ hidden }) => hidden).length).toBe(1501);
    expect(found.find(({ item }) => item === 'i1')).toEqual({
      item: 'i1',
      hidden: true,
      title: 'One',
      attributes: '{"year":1990}',
    });
    // Fields that are left out keep their values.
    await again.putItems([{ item: 'i1', hidden: false }, { item: 'new' }]);
    const known = await again.items();
    expect(known.find(({ item }) => item === 'i1')).toEqual({
      item: 'i1',
      hidden: false,
      title: 'One',
      attributes: '{"year":1990}',
    });
    expect(known.find(({ item }) => item === 'new')).toEqual({ item: 'new', hidden: false });
    await again.close();
  });

  it('are read in turns with other work', async () => {
    const store = await openEventStore(scratch.path('many-items.duckdb'));
    const attributes = JSON.stringify({ about: 'words '.repeat(10) });
    await store.putItems(Array.from({ length: 60_000 }, (_, i) => ({ item: `i${i}`, attributes })));
    const began = performance.now();
    let [last, longest] = [began, 0];
    const look = () => {
      longest = Math.max(longest, performance.now() - last);
      last = performance.now();
    };
    const timer = setInterval(look, 1);
    expect(await store.items()).toHaveLength(60_000);
    look();
    clearInterval(timer);
    // All rows in one step took nearly the whole time.
    expect(longest).toBeLessThan((performance.now() - began) / 2);
    await store.close();
  });

  it('halves the weight of an event for every half-life of its age, also if the clock went back', async () => {
    const store = await openEventStore(scratch.path('popular.duckdb'));
    await store.add([
      event('ann', 'old', { time: NOW - 14 * DAY, weight: 4 }),
      event('bob', 'old', { time: NOW - 14 * DAY }),
      event('ann', 'new', { time: NOW - DAY / 2 }),
      event('bob', 'new', { time: NOW + 9 * DAY }),
      event('bob', 'ancient', { time: NOW - 100 * DAY, weight: 1e9 }),
    ]);
    const list = await store.popular({ n: 2, now: NOW, window: 30 * DAY, halfLife: 7 * DAY });
    expect(list.map(({ item, users }) => [item, users])).toEqual([
      ['new', 2],
      ['old', 2],
    ]);
    expect(list[0].score).toBeCloseTo(1 + 2 ** (-0.5 / 7), 10);
    expect(list[1].score).toBeCloseTo(2 / 4, 10);
    await store.close();
  });

  it('counts a user once for an item, whatever the weights and the number of events', async () => {
    const store = await openEventStore(scratch.path('spam.duckdb'));
    await store.add([
      event('spam', 'pushed', { weight: 1e9 }),
      ...Array.from({ length: 50 }, (_, i) => event('spam', 'pushed', { time: NOW - i * DAY })),
      event('ann', 'liked'),
      event('bob', 'liked', { time: NOW - DAY }),
      event('ann', 'glanced at', { weight: 0.5 }),
    ]);
    const list = await store.popular({ n: 9, now: NOW, window: undefined, halfLife: DAY });
    expect(list).toEqual([
      { item: 'liked', score: 1.5, users: 2 },
      { item: 'pushed', score: 1, users: 1 },
      { item: 'glanced at', score: 0.5, users: 1 },
    ]);
    await store.close();
  });

  it('returns histories while it counts popular items', async () => {
    const path = scratch.path('counted.duckdb');
    await (await openEventStore(path)).close();
    await withSql(
      path,
      `INSERT INTO events SELECT 'u' || hash(r) % 9000, 'i' || hash(-r) % 900, '2026-01-01', 1, NULL FROM range(1000000) t(r)`,
    );
    const store = await openEventStore(path);
    await store.historiesOf(['u2']);
    const began = performance.now();
    const timed = (work: Promise<unknown>) => work.then(() => performance.now() - began);
    const [counted, read] = await Promise.all([
      timed(store.popular({ n: 9, now: NOW, window: undefined, halfLife: DAY })),
      timed(store.historiesOf(['u1'])),
    ]);
    expect(read).toBeLessThan(counted / 2);
    await store.close();
  });

  it('begins with the given events, once, and exports pairs for a fit', async () => {
    const path = scratch.path('seeded.duckdb');
    const seed = async function* () {
      yield [event('ann', 'tea'), event('ann', 'milk', { time: NOW - 9 * DAY })];
      yield [event('bob', 'tea')];
    };
    for (let time = 0; time < 2; time++) {
      const store = await openEventStore(path, seed);
      await store.add([event('bob', 'tea', { weight: 2 })]);
      const file = scratch.path(`export-${time}.parquet`);
      await store.exportTo(file, undefined);
      const all = await readGraph(file, { users: 'user', items: 'item', count: 'weight', multigraph: true });
      expect([all.graph.users.count, all.graph.items.count, all.graph.edges]).toEqual([2, 2, 3]);
      await store.exportTo(file, NOW - DAY);
      expect((await readGraph(file, { users: 'user', items: 'item' })).graph.edges).toBe(2);
      expect(await store.count()).toBe(4 + time);
      await store.close();
    }
  });

  it('uses existing tables with the same columns and refuses others', async () => {
    const own = scratch.path('own.duckdb');
    await withSql(
      own,
      'CREATE TABLE events (id VARCHAR, "user" VARCHAR, item VARCHAR, weight DOUBLE, time TIMESTAMP)',
      "INSERT INTO events VALUES ('x', 'ann', 'tea', 3, '2026-01-01')",
    );
    const store = await openEventStore(own, async function* () {
      yield [event('nobody', 'tea')];
    });
    await store.add([event('ann', 'tea', { id: 'x' }), event('bob', 'rum', { id: 'y' })]);
    expect(await store.count()).toBe(2);
    expect(await store.historiesOf(['ann'])).toEqual([
      new Map([['tea', { weight: 3, time: Date.UTC(2026, 0) }]]),
    ]);
    await store.close();

    const other = scratch.path('other.duckdb');
    await withSql(other, 'CREATE TABLE events (u INTEGER, item VARCHAR)');
    await expect(openEventStore(other)).rejects.toThrow(
      /its table events has the columns u INTEGER and item VARCHAR; a store needs user VARCHAR, .*rename the table/,
    );
    const twice = scratch.path('twice.duckdb');
    await withSql(
      twice,
      'CREATE TABLE items (item VARCHAR, title VARCHAR, hidden BOOLEAN, attributes VARCHAR, time TIMESTAMP)',
      "INSERT INTO items (item) VALUES ('a'), ('a')",
    );
    await expect(openEventStore(twice)).rejects.toThrow(/column item of the table items occurs twice/);
    await expect(openEventStore(scratch.path('.'))).rejects.toThrow(/must be a plain file/);
  });

  it('reads rows of other tools that lack times or have impossible weights', async () => {
    const path = scratch.path('foreign.duckdb');
    await (await openEventStore(path)).close();
    await withSql(
      path,
      `INSERT INTO events VALUES ('ann', 'tea', '2026-01-01', 'inf', NULL), ('bob', 'tea', NULL, 1, NULL),
       ('bob', 'rum', '2026-01-01', 'nan', NULL), ('cid', 'tea', '2026-01-01', 1e300, NULL),
       ('cid', 'rum', 'infinity', NULL, NULL), ('dan', 'gin', '2026-01-01', 2, NULL)`,
    );
    const store = await openEventStore(path);
    const file = scratch.path('foreign.parquet');
    expect(await store.exportTo(file, undefined)).toBe(6);
    const { graph } = await readGraph(file, {
      users: 'user',
      items: 'item',
      count: 'weight',
      multigraph: true,
    });
    expect([...graph.users.counts!].sort((a, b) => a - b)).toEqual([1, 1, 1, 1, 2, 2 ** 32 - 1]);
    const [ann] = await store.historiesOf(['ann']);
    expect(ann.get('tea')?.weight).toBe(0);
    const list = await store.popular({ n: 9, now: NOW, window: undefined, halfLife: DAY });
    expect(list.map(({ item, users }) => [item, users])).toEqual([
      ['gin', 1],
      ['tea', 1],
    ]);
    await store.close();
    await withSql(path, "INSERT INTO items (item, attributes) VALUES ('tea', '[1]')");
    const again = await openEventStore(path);
    await expect(again.items()).rejects.toThrow(
      /the attributes of .?tea.? in the table items are .*; write a JSON object/,
    );
    await again.close();
  });

  it('refuses a damaged file, and replays a log that was cut', async () => {
    const noDatabase = scratch.write(
      'none.duckdb',
      'this is no database, though as long as one '.repeat(500),
    );
    await expect(openEventStore(noDatabase)).rejects.toThrow(/damaged, or is not a DuckDB database/);
    const path = scratch.path('whole.duckdb');
    const many = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, i) => event(`u${i % 50}`, `i${i % 300}`, { id: `${from + i}` }));
    const first = await openEventStore(path);
    await first.add(many(0, 20_000));
    await first.close();
    const store = await openEventStore(path);
    for (let at = 0; at < 5; at++) await store.add(many(20_000 + 100 * at, 20_100 + 100 * at));
    const [database, log] = await Promise.all([readFile(path), readFile(`${path}.wal`)]);
    await store.close();
    const flipped = (bytes: Buffer, at: number) => {
      const copy = Buffer.from(bytes);
      copy[at] ^= 4;
      return copy;
    };
    const damaged = [
      [database.subarray(0, 0.6 * database.length), log],
      [database.subarray(0, 9000), log],
      [flipped(database, 12_288 + 300), log],
      [database, flipped(log, Math.floor(log.length / 2))],
    ];
    for (const [at, [main, wal]] of damaged.entries()) {
      const copy = scratch.write(`damaged-${at}.duckdb`, main);
      scratch.write(`damaged-${at}.duckdb.wal`, wal);
      await expect(openEventStore(copy)).rejects.toThrow(
        /damaged, or is not a DuckDB database; restore a copy/,
      );
    }
    // The file after a power failure in the last write.
    const cut = scratch.write('cut.duckdb', database);
    scratch.write('cut.duckdb.wal', log.subarray(0, log.length - 10));
    const again = await openEventStore(cut);
    expect(await again.count()).toBe(20_400);
    await again.close();
  });

  it('says what failed until the same succeeds', async () => {
    const path = scratch.path('cut-later.duckdb');
    const first = await openEventStore(path);
    await first.add(Array.from({ length: 10_000 }, (_, i) => event(`u${i}`, `i${i}`, { id: `${i}` })));
    await first.close();
    const store = await openEventStore(path);
    const all = await readFile(path);
    const file = scratch.path('cut-later.parquet');
    const reads = [
      () => store.popular({ n: 9, now: NOW, window: undefined, halfLife: DAY }),
      () => store.exportTo(file, undefined),
      () => store.eventsOf('u7', 9),
    ];
    await truncate(path, 12_288);
    for (const read of reads) {
      await expect(read()).rejects.toThrow(/damaged/);
      expect(store.failure).toMatch(/damaged/);
    }
    await writeFile(path, all);
    for (const read of reads) {
      expect(store.failure).toMatch(/damaged/);
      await read();
    }
    expect(store.failure).toBeUndefined();
    await store.close();
  });

  it('waits a moment for the lock of another process, and says what takes long', async () => {
    const path = scratch.path('adopted.duckdb');
    const script = `
      const { DuckDBInstance } = await import('@duckdb/node-api');
      const connection = await (await DuckDBInstance.create(${JSON.stringify(path)})).connect();
      await connection.run('CREATE TABLE events ("user" VARCHAR, item VARCHAR, time TIMESTAMP, weight DOUBLE, id VARCHAR)');
      await connection.run("INSERT INTO events SELECT 'u' || r % 99, 'i', '2026-01-01', 1, NULL FROM range(100000) t(r)");
      await connection.run('CHECKPOINT');
      process.stdout.write('open');
      setTimeout(() => process.exit(), 1500);`;
    const other = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await new Promise((resolve) => other.stdout.once('data', resolve));
    const said: string[] = [];
    for (let time = 0; time < 2; time++) {
      const store = await openEventStore(path, undefined, (text) => said.push(text));
      expect(await store.count()).toBe(100_000);
      await store.close();
    }
    expect(said).toEqual(
      ['id', 'user'].map(
        (column) => `${path}: makes an index of 100,000 rows of the table events by ${column}, once`,
      ),
    );
  });

  it('can be open once in a process, and has one log under all its names', async () => {
    const path = scratch.path('once.duckdb');
    const link = scratch.path('link.duckdb');
    await withSql(path, 'SELECT 1');
    await symlink(path, link);
    const store = await openEventStore(link);
    await store.add([event('ann', 'tea', { id: 'a' })]);
    await expect(openEventStore(path)).rejects.toThrow(/this process has the store open already/);
    // The store as a killed process leaves it: the log is found under the other name too.
    for (const end of ['', '.wal']) await copyFile(`${path}${end}`, scratch.path(`copy.duckdb${end}`));
    const copy = await openEventStore(scratch.path('copy.duckdb'));
    expect(await copy.count()).toBe(1);
    await copy.close();
    await store.close();
  });

  it('refuses a post with an id of another user or item, and stores the posts of the same transaction', async () => {
    const store = await openEventStore(scratch.path('taken.duckdb'));
    expect(await store.add([event('ann', 'tea', { id: 'a' })])).toBe(1);
    const posts = [
      [event('bob', 'gin'), event('bob', 'gin', { id: 'new' }), event('bob', 'tea', { id: 'a' })],
      [
        event('ann', 'tea', { id: 'a', time: NOW + 1 }),
        event('ann', 'gin', { id: 'b' }),
        event('ann', 'rum'),
      ],
      // The first post is refused, so its id is free; the id of the second is not.
      [event('cleo', 'rum', { id: 'new' })],
      [event('cleo', 'rum', { id: 'free' }), event('cleo', 'gin', { id: 'b' })],
      [event('dan', 'rum', { id: 'free' }), event('dan', 'rum', { id: 'free' })],
      [event('ann', 'rum', { id: 'a' })],
    ];
    const refused = (id: string, at: number) => ({
      status: 'rejected',
      reason: expect.objectContaining({ name: 'TakenIdError', id, at }),
    });
    const stored = (value: number) => ({ status: 'fulfilled', value });
    expect(await Promise.allSettled(posts.map((post) => store.add(post)))).toEqual([
      refused('a', 2),
      stored(2),
      stored(1),
      refused('b', 1),
      stored(1),
      refused('a', 0),
    ]);
    const counts = ['ann', 'bob', 'cleo', 'dan'].map((user) => store.count(user));
    expect(await Promise.all([...counts, store.count()])).toEqual([3, 0, 1, 1, 5]);
    expect(store.failure).toBeUndefined();
    await store.close();
  });

  it('says how many events are new, and remembers erased users', async () => {
    const path = scratch.path('erased.duckdb');
    const store = await openEventStore(path);
    expect(await store.add([event('ann', 'tea', { id: 'a' }), event('ann', 'rum')])).toBe(2);
    expect(await store.add([event('ann', 'tea', { id: 'a' })])).toBe(0);
    expect(await store.add([event('bob', 'tea', { id: 'b' }), event('bob', 'tea', { id: 'b' })])).toBe(1);
    expect([await store.erase('ann'), await store.erase('ann')]).toEqual([2, 0]);
    await store.close();
    const again = await openEventStore(path);
    expect(await again.erased()).toEqual(['ann']);
    await again.close();
  });
});
