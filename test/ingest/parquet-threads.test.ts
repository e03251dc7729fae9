import { renameSync } from 'node:fs';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { fingerprint } from '../../src/graph/fingerprint.js';
import { fillParquet } from '../../src/ingest/formats/parquet.js';
import { readColumn } from '../../src/ingest/formats/parquet-tasks.js';
import { readWithThreads } from '../../src/ingest/formats/parquet-threads.js';
import type { RowSpill } from '../../src/ingest/intake/collect.js';
import { TableTarget } from '../../src/ingest/intake/target.js';
import type { ReaderOptions, ReadResult } from '../../src/ingest/options.js';
import { readGraph } from '../../src/ingest/read.js';
import { sourceTitle } from '../../src/ingest/sources.js';
import { withParquet } from '../../src/parquet/rows.js';
import { writeParquet } from '../../src/parquet/write.js';
import { expectSameGraph } from '../graph/same.js';
import { literal, withDuckDB } from './duckdb.js';
import { scratchFolder } from './scratch.js';

const scratch = scratchFolder();

/** Parquet files made by DuckDB of queries. */
async function parquet(name: string, queries: readonly string[], how = ''): Promise<string[]> {
  const paths = queries.map((_, i) => scratch.path(`${name}-${i}.parquet`));
  await withDuckDB(1, async (connection) => {
    for (const [i, query] of queries.entries())
      await connection.run(`COPY (${query}) TO ${literal(paths[i])} (FORMAT parquet${how})`);
  });
  return paths;
}

/** The graph that the row reader reads from the files. */
async function rowByRow(paths: readonly string[], options: ReaderOptions): Promise<ReadResult> {
  const target = new TableTarget(options, undefined, paths.length > 1);
  for (const path of paths) await fillParquet(path, { ...options, ...target.sameColumns() }, target);
  return target.finish(sourceTitle(paths));
}

function expectSame(found: ReadResult | undefined, expected: ReadResult): void {
  if (!found) throw new Error('left to the other reader');
  expectSameGraph(found.graph, expected.graph);
  expect(fingerprint(found.graph)).toBe(fingerprint(expected.graph));
  expect({ ...found, graph: 0 }).toEqual({ ...expected, graph: 0 });
}

const rows = (n: number, user = 'CAST(i * 7919 % 997 AS INTEGER)', item = 'CAST(i * 31 % 211 AS INTEGER)') =>
  `SELECT ${user} u, ${item} v, CAST(1 + i % 5 AS INTEGER) n FROM range(${n}) t(i)`;

afterEach(() => vi.unstubAllGlobals());

describe('Parquet tables of whole numbers, read by threads', () => {
  it.each<[string, string[], string, ReaderOptions]>([
    ['several groups of rows', [rows(20_000)], ', ROW_GROUP_SIZE 2048', {}],
    ['several files', [rows(5000), rows(3000, '1000 + i'), rows(1, '7')], '', {}],
    ['64 bits', [rows(5000, 'CAST(i % 300 AS BIGINT)', 'CAST(i AS UBIGINT)')], '', {}],
    ['small numbers', [rows(5000, 'CAST(i % 200 AS UTINYINT)', 'CAST(i % 99 AS SMALLINT)')], '', {}],
    ['up to 2³² − 2', [rows(5000, 'CAST(4294967294 - i % 50 AS UINTEGER)')], '', {}],
    ['spread thinly', [rows(5000, 'CAST((i % 700) * 6000000 AS UINTEGER)')], '', {}],
    ['zstd', [rows(5000)], ', CODEC zstd', {}],
    ['gzip', [rows(5000)], ', CODEC gzip', {}],
    ['lz4', [rows(5000)], ', CODEC lz4_raw', {}],
    ['uncompressed', [rows(5000)], ', CODEC uncompressed', {}],
    ['pages of the second version', [rows(9000, 'i', 'i % 77')], ', PARQUET_VERSION v2', {}],
    ['counts', [rows(5000), rows(200)], '', { count: 'n', multigraph: true }],
    ['counts that are not kept', [rows(5000)], '', { count: 'n' }],
    ['weights', [rows(5000)], '', { weight: 'n', multigraph: true }],
    ['counts by repeated rows', [rows(50_000)], '', { multigraph: true }],
    ['columns by name', [rows(500), 'SELECT 5 n, 6 v, 4 u'], '', { users: 'v', items: 'u' }],
    ['columns by place', [rows(500), 'SELECT 5 n, 6 v, 4 u'], '', { users: 3, items: 1 }],
    ['bad rows to be set aside, of which there is none', [rows(500)], '', { rejects: scratch.path('r.csv') }],
  ])('are the graph of the reader that goes row by row: %s', async (name, queries, how, options) => {
    const paths = await parquet(name.replaceAll(' ', '-'), queries, how);
    const expected = await rowByRow(paths, options);
    for (const threads of [1, 2]) {
      expectSame(await readWithThreads(paths, { ...options, threads }, 1), expected);
    }
    vi.stubGlobal('SharedArrayBuffer', undefined);
    expectSame(await readWithThreads(paths, options, 1), expected);
  });

  it('may be those that graphex writes', async () => {
    const path = scratch.path('own.parquet');
    // As many rows as threads are started for.
    const users = Uint32Array.from({ length: 1 << 20 }, (_, row) => (row * 7919) % 100_003);
    const items = Uint32Array.from({ length: 1 << 20 }, (_, row) => (row * 31) % 1009);
    await writeParquet(path, users.length, [
      { name: 'user', numbers: users },
      { name: 'item', numbers: items },
    ]);
    const done: number[] = [];
    const found = await readWithThreads([path], { onProgress: (progress) => done.push(progress.done) });
    expectSame(found, await rowByRow([path], {}));
    expect(done.at(-1)).toBe(users.length);
    expect(done).toEqual([...done].sort((a, b) => a - b));
  });

  it.each<[string, string, ReaderOptions, RegExp | number]>([
    ['an empty cell', 'SELECT NULL::INTEGER u, 2 v', {}, /row 2001: column "u": the id is empty/],
    ['a negative id', 'SELECT -1 u, 2 v', {}, 2001],
    ['an id beyond 2³²', 'SELECT 5000000000 u, 2 v', {}, 2001],
    ['an id of 2³² − 1', 'SELECT 4294967295::BIGINT u, 2 v', {}, 2001],
    ['a count of 0', 'SELECT 1 u, 2 v, 0 n', { count: 3 }, /the count is 0/],
    ['a condition on rows', 'SELECT 1 u, 2 v', { where: 'v < 7' }, 8],
  ])('are left to the other reader where there is %s', async (name, query, options, expected) => {
    const count = options.count ? ', 1::BIGINT n' : '';
    const all = `SELECT i::BIGINT u, i v${count} FROM range(2000) t(i) UNION ALL ${query}`;
    const paths = await parquet(name.replaceAll(' ', '-'), [all]);
    if (!options.where) expect(await readWithThreads(paths, options, 1)).toBeUndefined();
    if (expected instanceof RegExp) await expect(readGraph(paths, options)).rejects.toThrow(expected);
    else expect((await readGraph(paths, options)).graph.edges).toBe(expected);
  });

  it('are left to the row reader if they are texts, few, damaged, or not files', async () => {
    const [texts] = await parquet('texts', ["SELECT 'a' || i u, i v FROM range(2000) t(i)"]);
    const [few] = await parquet('few', [rows(100)]);
    const cut = scratch.write('cut.parquet', 'PAR1 and nothing else');
    const missing = scratch.path('missing.parquet');
    for (const paths of [[texts], [few, texts], [cut], [few, missing], ['-']])
      expect(await readWithThreads(paths, {}, 1)).toBeUndefined();
    expect(await readWithThreads([few], {})).toBeUndefined();
    expect((await readWithThreads([few], {}, 100))?.read.rows).toBe(100);
    await expect(readGraph(cut)).rejects.toThrow(/damaged or cut short/);
    await expect(readGraph([few, missing])).rejects.toThrow(/missing\.parquet: there is no such file/);
  });

  it('are never mixed from two files: a file that is replaced while it is read is left to the row reader', async () => {
    const [path, other] = await parquet('replaced', [rows(3000), rows(3000, '5000 + i')]);
    let identity = '';
    const task = await withParquet(path, async (file) => {
      identity = file.identity;
      const [column] = file.columns;
      const chunk = file.groups[0].chunk(column);
      const limits = { least: 0, most: 10_000, spent: new Int32Array(1), mostSpent: 1000, at: 0 };
      return { path, column, chunk, rows: 3000, into: new Uint32Array(3000), ...limits };
    });
    expect(await readColumn({ ...task, identity })).toBeLessThan(997);
    renameSync(other, path);
    await expect(readColumn({ ...task, identity })).rejects.toThrow(
      /the file was replaced while it was read/,
    );
  });

  it('spill by row groups if memory is short, with the rows and counts of the row reader', async () => {
    const all = [rows(9000), rows(3000, '1000 + i')];
    const paths = await parquet('spilled', all, ', ROW_GROUP_SIZE 2048');
    const takenFrom = async (read: (options: ReaderOptions) => Promise<ReadResult | undefined>) => {
      const taken = { users: [] as number[], items: [] as number[], counts: [] as number[], finished: 0 };
      const spill: RowSpill = {
        batch: 5000,
        take(users, items, counts, columns) {
          expect([columns.users.isNumeric, columns.items.isNumeric]).toEqual([true, true]);
          taken.users.push(...users);
          taken.items.push(...items);
          taken.counts.push(...(counts ?? []));
        },
        async takeColumns(groups, counted, { onRows }) {
          expect(counted).toBe(true);
          for (const group of groups) {
            for (const [side, source] of [
              ['users', group.users],
              ['items', group.items],
              ['counts', group.count!],
            ] as const) {
              const into = new Uint32Array(group.rows);
              await readColumn({ ...source, into, at: 0 });
              taken[side].push(...into);
            }
            onRows(group.rows);
          }
        },
        restart: () => expect.unreachable(),
        finish: () => taken.finished++,
      };
      const result = await read({ spill, count: 'n', multigraph: true });
      return { ...taken, read: result?.read, guess: result?.guess };
    };
    const found = await takenFrom((options) => readWithThreads(paths, { ...options, threads: 2 }, 1));
    const expected = await takenFrom((options) => rowByRow(paths, options));
    expect(found).toEqual(expected);
    expect(found.read?.rows).toBe(12_000);
  });

  it('are read again from the first row if spilled rows turn out not to be plain', async () => {
    const paths = await parquet('late', [rows(9000)], ', ROW_GROUP_SIZE 2048');
    const told: string[] = [];
    const spill: RowSpill = {
      batch: 2048,
      take: () => told.push('rows'),
      async takeColumns() {
        told.push('columns');
        throw new Error('one is not plain');
      },
      restart: () => told.push('restart'),
      finish: () => told.push('finish'),
    };
    expect(await readWithThreads(paths, { spill }, 1)).toBeUndefined();
    expect(told).toEqual(['columns', 'restart']);
  });

  it('stop on request', async () => {
    const [path] = await parquet('long', [rows(1_100_000, 'i % 50000')]);
    const controller = new AbortController();
    const stopped = new Error('enough');
    const reading = readGraph(path, {
      threads: 2,
      signal: controller.signal,
      onProgress: () => controller.abort(stopped),
    });
    await expect(reading).rejects.toBe(stopped);
  });
});
