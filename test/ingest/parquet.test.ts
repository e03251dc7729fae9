import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import { readGraph } from '../../src/ingest/read.js';
import { literal, withDuckDB } from './duckdb.js';
import { edgesOf, scratchFolder } from './scratch.js';

const scratch = scratchFolder();

/** A Parquet file made by DuckDB from a VALUES list or any other query. */
async function parquet(name: string, query: string): Promise<string> {
  const path = scratch.path(name);
  await withDuckDB(1, async (connection) => {
    await connection.run(`COPY (${query}) TO ${literal(path)} (FORMAT parquet)`);
  });
  return path;
}

describe('Parquet', () => {
  let plain: string;
  beforeAll(async () => {
    plain = await parquet(
      'plain.parquet',
      `SELECT * FROM (VALUES ('ann', 3, 2), ('bob', 12, 1)) t(who, what, n)`,
    );
  });

  it('names the file that was given in its messages, not a temporary one', async () => {
    const packed = scratch.write('packed.parquet.gz', gzipSync(readFileSync(plain)));
    await expect(readGraph(packed, { users: 'nobody' })).rejects.toThrow(
      `${packed}: no column "nobody" for users`,
    );
    const whole = readFileSync(plain);
    const damaged = scratch.write('cut.parquet.gz', gzipSync(whole.fill(255, 20, whole.length - 8)));
    await expect(readGraph(damaged)).rejects.toThrow(`${damaged}: the Parquet file is damaged or cut short`);
  });

  it('reads columns by name and number, also gzipped and under odd names', async () => {
    const expected = ['["ann","3",2]', '["bob","12",1]'];
    const result = await readGraph(plain, { users: 'who', items: 2, count: 'n', multigraph: true });
    expect(edgesOf(result.graph)).toEqual(expected);
    expect(result.guess).toEqual({
      kind: 'table',
      format: 'parquet',
      columns: { users: 'who', items: 'what', count: 'n' },
    });
    for (const [name, data] of [
      ["it's [a] *.parquet", readFileSync(plain)],
      ['z.parquet.gz', gzipSync(readFileSync(plain))],
    ] as const) {
      const again = await readGraph(scratch.write(name, data), { count: 3, multigraph: true });
      expect(edgesOf(again.graph)).toEqual(expected);
    }
  });

  it.each([
    ['small whole numbers', `SELECT 1::UTINYINT a, -5::BIGINT b`, '["1","-5",1]', 'integer'],
    [
      'whole numbers beyond 2^53',
      `SELECT 1 a, 9007199254740993::BIGINT b`,
      '["1","9007199254740993",1]',
      'text',
    ],
    ['numbers with a point', `SELECT 1 a, 12346.0::DOUBLE b`, '["1","12346.0",1]', 'text'],
    ['texts of digits', `SELECT 1 a, '17' b`, '["1","17",1]', 'integer'],
    ['texts with leading zeros', `SELECT 1 a, '0017' b`, '["1","0017",1]', 'text'],
    ['dates', `SELECT 1 a, DATE '2020-02-29' b`, '["1","2020-02-29",1]', 'text'],
  ])('keeps ids exact: %s', async (_, query, edge, kind) => {
    const { graph } = await readGraph(await parquet('types.parquet', query));
    expect(edgesOf(graph)).toEqual([edge]);
    expect(graph.items.ids.kind).toBe(kind);
  });

  it.each([
    ['an empty id', `SELECT 'a' a, 1 b UNION ALL SELECT NULL, 2`, {}, /row 2: column "a": the id is empty/],
    ['an empty text', `SELECT '' a, 1 b`, {}, /row 1: column "a": the id is empty/],
    ['a negative count', `SELECT 1 a, 1 b, -2 n`, { count: 'n' }, /row 1: column "n": the count is "-2"/],
    ['a fractional count', `SELECT 1 a, 1 b, 0.5 n`, { count: 'n' }, /the count is "0.5"/],
    [
      'a count that is not a number',
      `SELECT 1 a, 1 b, 'NaN'::DOUBLE n`,
      { count: 'n' },
      /the count is "nan"/,
    ],
    ['an empty count', `SELECT 1 a, 1 b, NULL::INT n`, { count: 'n' }, /the count is empty/],
    ['lists for ids', `SELECT [1] a, 1 b`, {}, /column "a" holds lists or structs, which cannot be ids/],
    ['one column', `SELECT 1 a`, {}, /it has one column/],
    ['no such column', `SELECT 1 a, 2 b`, { items: 'c' }, /no column "c" for items.*"a", "b"/],
    ['no rows', `SELECT 1 a, 2 b WHERE false`, {}, /no row of data/],
  ])('refuses %s', async (_, query, options, message) => {
    const file = await parquet('bad.parquet', query);
    await expect(readGraph(file, options)).rejects.toMatchObject({
      name: 'InputError',
      message: expect.stringMatching(message),
    });
  });

  it('refuses a file cut short anywhere, and one that is not Parquet', async () => {
    const bytes = readFileSync(plain);
    for (const length of [4, 20, bytes.length >> 1, bytes.length - 1]) {
      const cut = scratch.write('cut.parquet', bytes.subarray(0, length));
      await expect(readGraph(cut)).rejects.toMatchObject({
        name: 'InputError',
        message: expect.stringMatching(/cut\.parquet: the Parquet file is damaged or cut short/),
      });
    }
    await expect(readGraph(scratch.write('not.parquet', 'a,b\n'))).rejects.toThrow(
      /not a Parquet file although/,
    );
  });

  it('sets bad rows aside', async () => {
    const file = await parquet(
      'mixed.parquet',
      `SELECT * FROM (VALUES ('a', 1), (NULL, 2), ('c', 3)) t(u, i)`,
    );
    const rejects = scratch.path('bad-rows.csv');
    const { read } = await readGraph(file, { rejects });
    expect(read).toEqual({ rows: 3, kept: 2, merged: 0, rejected: 1 });
    expect(readFileSync(rejects, 'utf8')).toContain('2,"column ""u"": the id is empty",",2"');
  });
});
