// What every format says about a row and its columns: one intake, so the same sentence in all of them.

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { timeColumn } from '../../src/ingest/intake/value-column.js';
import { readGraph, readWithValues } from '../../src/ingest/read.js';
import { literal, withDuckDB } from './duckdb.js';
import { edgesOf, scratchFolder } from './scratch.js';

const scratch = scratchFolder();

type Row = readonly [user: string, item: string, n: string, year: number];
const ROWS: readonly Row[] = [
  ['a', 'x', '1', 2011],
  ['b', 'y', '2', 2013],
  ['c', 'x', '3', 2015],
];

/** The same rows in every format. */
async function inEveryFormat(rows: readonly Row[] = ROWS): Promise<string[]> {
  const csv = scratch.write('t.csv', `user,item,n,year\n${rows.map((row) => row.join(',')).join('\n')}\n`);
  const json = rows.map(([user, item, n, year]) => JSON.stringify({ user, item, n, year })).join('\n');
  const parquet = scratch.path('t.parquet');
  const database = scratch.path(`t${Math.random()}.duckdb`);
  await withDuckDB(1, async (connection) => {
    const select = `SELECT * FROM read_csv(${literal(csv)}, header=true, columns={user:'VARCHAR',item:'VARCHAR',n:'VARCHAR',year:'INTEGER'})`;
    await connection.run(`COPY (${select}) TO ${literal(parquet)}`);
    await connection.run(`ATTACH ${literal(database)} AS made`);
    await connection.run(`CREATE TABLE made.t AS ${select}`);
    await connection.run('DETACH made');
  });
  return [csv, scratch.write('t.jsonl', json), parquet, database];
}

describe('the intake of rows, in every format', () => {
  it('refuses a column of ids as the time or the weight, and one column for both sides', async () => {
    for (const file of await inEveryFormat()) {
      await expect(readWithValues(file, {}, timeColumn('item')), file).rejects.toThrow(
        /column "item" holds ids and cannot be time too; name another column/,
      );
      await expect(readGraph(file, { weight: 'user', multigraph: true }), file).rejects.toThrow(
        /column "user" holds ids and cannot be weight too; name another column/,
      );
      await expect(readGraph(file, { items: 'user' }), file).rejects.toThrow(
        /users and items are both column "user"; name two different columns with users and items/,
      );
      await expect(readGraph(file, { count: 'm' }), file).rejects.toThrow(/no column "m" for count/);
    }
  });

  it('reports a bad count, a bad time, an empty id, a long id and a zero byte with the same sentence', async () => {
    const bad: [Row, object, RegExp][] = [
      [['d', 'z', '1.5', 2011], { count: 'n' }, /column "n": the count is "1\.5"; a count must be/],
      [['d', 'z', 'soon', 2011], { time: true }, /column "n": the time is "soon"; a time is/],
      [['', 'z', '1', 2011], {}, /column "user": the id is (empty|null)/],
      [['d', 'z'.repeat(70_000), '1', 2011], {}, /column "item": the id is longer than 65536 bytes/],
    ];
    for (const [row, { time, ...options }, says] of bad as [Row, { time?: true; count?: string }, RegExp][]) {
      for (const file of await inEveryFormat([...ROWS, row])) {
        const reading = time ? readWithValues(file, options, timeColumn('n')) : readGraph(file, options);
        await expect(reading, file).rejects.toThrow(says);
      }
    }
  });

  it('refuses zero bytes anywhere in an id', async () => {
    const many = Array.from({ length: 20_000 }, (_, i) => `u${i},x`).join('\n');
    const files = [
      scratch.write('zero.csv', `user,item\n${many}\nbad\0id,x\n`),
      scratch.write('zero.jsonl', '{"user":"bad\\u0000id","item":"x"}\n'),
    ];
    for (const file of files) {
      await expect(readGraph(file), file).rejects.toThrow(
        /column "user": the id holds a zero byte; take it out of the id: "bad\\u0000id"/,
      );
    }
  });

  it('reads whole numbers from 1000 to 2999 as years, compared with dates and as times', async () => {
    for (const file of await inEveryFormat()) {
      const { graph } = await readGraph(file, { where: "year < '2013-06-01'" });
      expect(edgesOf(graph), file).toEqual(['["a","x",1]', '["b","y",1]']);
      const { values } = await readWithValues(file, {}, timeColumn('year'));
      expect([...values], file).toEqual([2011, 2013, 2015].map((year) => Date.UTC(year, 0)));
    }
  });

  it('reads such numbers among others as seconds', async () => {
    for (const file of await inEveryFormat([...ROWS, ['d', 'z', '1', 3000]])) {
      const { values } = await readWithValues(file, {}, timeColumn('year'));
      expect(
        [...values].sort((a, b) => a - b),
        file,
      ).toEqual([2011e3, 2013e3, 2015e3, 3000e3]);
    }
  });
});

describe('JSON lines', () => {
  it('have their columns in the order of the text, also keys made of digits', async () => {
    const file = scratch.write('digits.jsonl', '{"who":"a","7":"x","1":"p"}\n{"1":"q","who":"b","7":"y"}\n');
    const { graph, guess } = await readGraph(file);
    expect(guess.columns).toEqual({ users: 'who', items: '7' });
    expect(edgesOf(graph)).toEqual(['["a","x",1]', '["b","y",1]']);
  });

  it('never take a value that every object inherits', async () => {
    const file = scratch.write(
      'inherited.jsonl',
      '{"user":"a","item":"x","constructor":5}\n{"user":"b","item":"y"}\n',
    );
    await expect(readWithValues(file, {}, timeColumn('constructor'))).rejects.toThrow(
      /line 2: column "constructor": the time is empty/,
    );
    await expect(readGraph(file, { count: 'constructor' })).rejects.toThrow(/line 2: .* the count is empty/);
  });

  it.each([
    ['0.12345678901234567', '0.12345678901234567'],
    ['12345678901234567890', '12345678901234567890'],
    ['9007199254740991.4', '9007199254740991.4'],
  ])('refuse the id %s, which a number does not hold', async (written, shown) => {
    const file = scratch.write('long.jsonl', `{"user":${written},"item":1}\n`);
    await expect(readGraph(file)).rejects.toThrow(
      `line 1: column "user": the id ${shown} is not exact as a number; write it as a string`,
    );
  });

  it('may hold texts of megabytes and numbers of 100,000 digits: time and stack are bounded', async () => {
    const note = (text: string) => `"note":"${text.repeat(6_000_000)}"`;
    const lines = [
      `{"user":"a","item":"x",${note('n')},"user":"b"}`,
      `{"user":1${'0'.repeat(100_000)}1e-100000,"item":"x",${note('\\n')}}`,
      `{"user":"a","item":"x",${note('m')}}`,
    ];
    const file = scratch.write('megabytes.jsonl', lines.join('\n'));
    const rejects = scratch.path('megabytes.rejects');
    const { graph, read } = await readGraph(file, { rejects });
    expect(edgesOf(graph)).toEqual(['["a","x",1]']);
    expect(read.rejected).toBe(2);
    expect(readFileSync(rejects, 'utf8')).toMatch(/occurs twice.*is not exact as a number/s);
  });

  it('accept numbers that are exact, however they are written', async () => {
    const file = scratch.write(
      'exact.jsonl',
      '{"user":1.0,"item":1e2}\n{"user":0.5000000000000000000,"item":9007199254740991}\n',
    );
    expect(edgesOf((await readGraph(file)).graph)).toEqual(['["0.5","9007199254740991",1]', '["1","100",1]']);
  });
});

it('a cell of 60,000 digits and a letter is refused quickly as a number', async () => {
  const digits = `${'1'.repeat(60_000)}x`;
  const file = scratch.write('digits.csv', `user,item,n\na,x,${digits}\n`);
  const began = performance.now();
  await expect(readGraph(file, { where: 'n >= 2' })).rejects.toThrow(/is no number/);
  await expect(readGraph(file, { where: "n >= '2013-01-01'" })).rejects.toThrow(/is no time/);
  await expect(readWithValues(file, {}, timeColumn('n'))).rejects.toThrow(/the time is/);
  await expect(readGraph(file, { weight: 'n', multigraph: true })).rejects.toThrow(/the weight is/);
  expect(performance.now() - began).toBeLessThan(5000);
});
