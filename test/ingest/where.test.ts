import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readGraph } from '../../src/ingest/read.js';
import { rowFilter } from '../../src/ingest/where/row-filter.js';
import { literal, withDuckDB } from './duckdb.js';
import { edgesOf, scratchFolder } from './scratch.js';

const scratch = scratchFolder();

/** Ids of the rows that stay. */
async function kept(source: string, where: string, more: object = {}): Promise<string[]> {
  const { graph } = await readGraph(source, { where, ...more });
  return edgesOf(graph).map((edge) => (JSON.parse(edge) as string[])[0]);
}

/** Whether one row stays; cells by the order in which the condition names them. */
function keeps(where: string, ...cells: (string | undefined)[]): boolean | string {
  return rowFilter(where).keeps({
    text: (slot) => cells[slot],
    number: (slot) => (cells[slot] === undefined ? Number.NaN : Number(cells[slot])),
  });
}

const RATINGS = [
  'user,item,rating,time,note',
  'a,1,7,1362062307,fine',
  'b,2,6.5,1388534400,',
  'c,3,10,1388534399,"so, so"',
  'd,4,,1500000000,null',
  'e,5,8,1356998400,Fine',
];
const csv = scratch.write('ratings.csv', `${RATINGS.join('\n')}\n`);

describe('a condition on rows', () => {
  it.each([
    ['rating >= 7', ['a', 'c', 'e']],
    ["rating >= 7 and time > '2013-01-01'", ['a', 'c']],
    ["rating >= 7 and time >= '2013-01-01'", ['a', 'c', 'e']],
    ["time < '2014-01-01T00:00:00Z' and time >= '2013-12-31'", ['c']],
    ["time between '2013-12-31' and '2014-01-01 00:00:00+00'", ['b', 'c']],
    ['rating is null', ['d']],
    ['rating is not null and not rating = 7.0', ['b', 'c', 'e']],
    ['not (rating >= 7)', ['b']],
    ["note = 'fine'", ['a']],
    ["note like '_ine'", ['a', 'e']],
    ["note like '%so%, %'", ['c']],
    ["note not like 'f%'", ['c', 'd', 'e']],
    ["user in ('a', 'e', 'x')", ['a', 'e']],
    ['rating not in (7, 8)', ['b', 'c']],
    ['7 < rating', ['c', 'e']],
    ["#3 = 10 or #1 = 'b'", ['b', 'c']],
    ['"rating" <= 6.5e0', ['b']],
    ['RATING > item', ['a', 'b', 'c', 'e']],
    ['rating > -1 AND (note is null OR item = 1)', ['a', 'b']],
  ])('%s', async (where, ids) => {
    expect(await kept(csv, where)).toEqual(ids);
  });

  it('means the same in every format, and says how many rows it left out', async () => {
    const where = "rating >= 7 and time > '2013-01-01'";
    const rows = RATINGS.slice(1).map((row) => row.replace('"so, so"', 'soso').split(','));
    const tsv = scratch.write(
      'r.tsv',
      `${[RATINGS[0].split(','), ...rows].map((r) => r.join('\t')).join('\n')}\n`,
    );
    const json = scratch.write(
      'r.jsonl',
      rows
        .map(([user, item, rating, time, note]) =>
          JSON.stringify({
            user,
            item,
            ...(rating ? { rating: Number(rating) } : { rating: null }),
            time: Number(time),
            note,
          }),
        )
        .join('\n'),
    );
    const parquet = scratch.path('r.parquet');
    const stamped = scratch.path('s.parquet');
    await withDuckDB(1, async (connection) => {
      const select = `SELECT "user", item, rating, time, note FROM read_csv(${literal(tsv)}, delim='\t')`;
      await connection.run(`COPY (${select}) TO ${literal(parquet)}`);
      await connection.run(
        `COPY (${select.replace(', time,', ', to_timestamp(time) AS time,')}) TO ${literal(stamped)}`,
      );
    });
    const gz = scratch.write('r.csv.gz', gzipSync(`${RATINGS.join('\n')}\n`));
    for (const source of [csv, tsv, json, parquet, stamped, gz]) {
      const { graph, read } = await readGraph(source, { where });
      expect(edgesOf(graph).map((edge) => JSON.parse(edge)[0])).toEqual(['a', 'c']);
      expect(read).toEqual({ rows: 5, kept: 2, merged: 0, rejected: 0, leftOut: { where: 3 } });
    }
  });

  it('agrees with DuckDB on random conditions over numbers, texts and missing values', async () => {
    const cells = Array.from({ length: 40 }, (_, i) => ({
      u: `u${i}`,
      i: `i${i}`,
      n: i % 5 === 0 ? '' : String((i * 7) % 11),
      t: i % 7 === 0 ? '' : ['x', 'y', 'xy', 'x_y', '%'][i % 5],
    }));
    const file = scratch.write(
      'random.csv',
      `u,i,n,t\n${cells.map((c) => `${c.u},${c.i},${c.n},${c.t}`).join('\n')}\n`,
    );
    const number = fc.integer({ min: -1, max: 11 }).map(String);
    const word = fc.constantFrom("'x'", "'y'", "'xy'", "'zz'");
    const sign = fc.constantFrom('=', '!=', '<>', '<', '<=', '>', '>=');
    const { condition } = fc.letrec<{ condition: string }>((tie) => ({
      condition: fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        fc.tuple(sign, number).map(([s, v]) => `n ${s} ${v}`),
        fc.tuple(sign, word).map(([s, v]) => `t ${s} ${v}`),
        fc.constantFrom('n is null', 't is not null', "t like 'x%'", "t not like '_'", 'n between 2 and 6'),
        fc
          .tuple(fc.constantFrom('in', 'not in'), fc.array(number, { minLength: 1, maxLength: 3 }))
          .map(([w, v]) => `n ${w} (${v})`),
        fc
          .tuple(tie('condition'), fc.constantFrom('and', 'or'), tie('condition'))
          .map(([a, w, b]) => `(${a}) ${w} (${b})`),
        tie('condition').map((c) => `not (${c})`),
      ),
    }));
    await withDuckDB(1, async (connection) => {
      await connection.run(
        `CREATE TABLE r AS SELECT * FROM read_csv(${literal(file)}, header=true, columns={u:'VARCHAR',i:'VARCHAR',n:'DOUBLE',t:'VARCHAR'}, nullstr='')`,
      );
      await fc.assert(
        fc.asyncProperty(condition, async (where) => {
          const rows = (
            await connection.runAndReadAll(`SELECT u FROM r WHERE ${where} ORDER BY u`)
          ).getRowsJson();
          const found = await kept(file, where).catch((error: Error) => {
            if (/leaves out all 40 rows/.test(error.message)) return [];
            throw error;
          });
          expect(found).toEqual((rows as string[][]).map(([u]) => u));
        }),
        { numRuns: 120, seed: 5 },
      );
    });
  });

  it('leaves rows out before their other cells are checked', async () => {
    const file = scratch.write('holes.csv', 'user,item,n\na,1,2\n,2,3\nc,3,x\n');
    const { read } = await readGraph(file, {
      where: "user is not null and n != 'x'",
      count: 'n',
      multigraph: true,
    });
    expect(read).toMatchObject({ rows: 3, kept: 1, leftOut: { where: 2 } });
  });

  it('treats a row with a cell that cannot be compared as bad', async () => {
    const file = scratch.write('mixed.csv', 'user,item,rating\na,1,7\nb,2,good\nc,3,8\n');
    await expect(readGraph(file, { where: 'rating > 7' })).rejects.toThrow(
      /mixed\.csv, line 3: column "rating": "good" is no number, so it cannot be compared by >/,
    );
    const { read } = await readGraph(file, { where: 'rating > 7', rejects: scratch.path('bad.csv') });
    expect(read).toMatchObject({ kept: 1, rejected: 1, leftOut: { where: 1 } });
    expect(await kept(file, 'rating = 7')).toEqual(['a']);
    expect(await kept(file, 'rating != 7')).toEqual(['b', 'c']);
  });
});

describe('a text that is not a condition', () => {
  it.each([
    ['rating >= and', /character 11: expected a value after >=, not and.*rating >= ▸and/],
    ['rating', /character 7: expected a comparison .* not the end/],
    ['(rating > 1', /character 12: expected \) to close this, not the end/],
    ['rating > 1)', /expected and, or or the end, not \)/],
    ['rating > 1 and', /expected a column, as in rating >= 7, not the end/],
    ["rating > '7'", /'7' in quotes is a text.*write 7 without quotes/],
    ['rating = null', /nothing equals null; write is null/],
    ["note = ''", /an empty cell holds no value; write is null/],
    ["note = 'x", /this quote is never closed/],
    ['rating > 1 && note is null', /"&" means nothing here: write and/],
    ['rating > 1; drop table x', /";" means nothing here/],
    ['rating > 99999999999999999999', /too large to be exact/],
    ["time > '2013-13-01'", /there is no such date as '2013-13-01'/],
    ['1 = 1', /neither side is a column/],
    ['rating in (1, user)', /expected a value, not the column user/],
    ["'x' like 'y'", /is a value; like needs a column on its left/],
    ['and > 1', /a column of that name goes in double quotes/],
    ['', /expected a column, as in rating >= 7, not the end/],
  ])('%s', async (where, message) => {
    await expect(readGraph(csv, { where })).rejects.toThrow(message);
    await expect(readGraph(csv, { where })).rejects.toMatchObject({ name: 'InputError' });
  });

  it('names missing columns, with the nearest or all existing ones', async () => {
    await expect(readGraph(csv, { where: 'ratnig > 7' })).rejects.toThrow(
      /has no column "ratnig"; did you mean "rating"\?/,
    );
    await expect(readGraph(csv, { where: 'zzzzzz > 7' })).rejects.toThrow(
      /its columns are "user", "item", "rating", "time", "note"; if its first row is no header, write #1 to #5 instead/,
    );
    const twice = scratch.write('twice.csv', 'user,item,item\nann,x,1\nbob,y,2\n');
    await expect(readGraph(twice, { where: 'item > 1' })).rejects.toThrow(
      /has two columns "item", #2 and #3; write one of these/,
    );
    await expect(readGraph(csv, { where: '#6 > 7' })).rejects.toThrow(/has 5 columns, from #1 to #5/);
    await expect(readGraph(csv, { where: 'rating > 7', header: false })).rejects.toThrow(
      /has no header, so its columns have no names; write #1 to #5/,
    );
    await expect(readGraph('@sotu', { where: 'rating > 7' })).rejects.toThrow(/@sotu has a fixed layout/);
  });

  it('is bounded in depth and length, and never runs anything', async () => {
    const deep = (n: number) => `${'('.repeat(n)}rating > 1${')'.repeat(n)}`;
    expect(await kept(csv, deep(100))).toHaveLength(4);
    expect(() => rowFilter(deep(101))).toThrow(/more than 100 nested parentheses and nots/);
    expect(() => rowFilter('('.repeat(60_000))).toThrow(/more than 100/);
    expect(() => rowFilter('not '.repeat(15_000))).toThrow(/more than 100/);
    await expect(readGraph(csv, { where: `user = '${'x'.repeat(1 << 20)}'` })).rejects.toThrow(
      /where.*expected a text/,
    );
    const long = Array.from({ length: 5000 }, (_, i) => `item=${i}`).join(' or ');
    expect(await kept(csv, long)).toHaveLength(5);
    expect(() => rowFilter(`note like '${'%a'.repeat(600)}'`)).toThrow(/more than 1000 characters/);
    expect(keeps("x like '%a%a%a%a%a%a%a%a%b'", 'a'.repeat(20_000))).toBe(false);
    for (const where of ['constructor = 1', '__proto__ is null', 'toString is null']) {
      await expect(readGraph(csv, { where })).rejects.toThrow(/has no column/);
    }
    expect(keeps("x = 'a'' or 1=1 --'", "a' or 1=1 --")).toBe(true);
  });

  it('finds columns of any name', async () => {
    const file = scratch.write('odd.csv', 'user,item,"say ""hi""",a b,#1,and\na,1,x,2,3,4\nb,2,y,3,4,5\n');
    expect(await kept(file, '"say ""hi""" = \'x\'')).toEqual(['a']);
    expect(await kept(file, '"a b" > 2')).toEqual(['b']);
    expect(await kept(file, '"#1" = 4')).toEqual(['b']);
    expect(await kept(file, '"and" = 4')).toEqual(['a']);
    const lines = scratch.write(
      'odd.jsonl',
      '{"user":"a","item":1,"__proto__":2}\n{"user":"b","item":2,"__proto__":3}\n',
    );
    expect(await kept(lines, '"__proto__" > 2')).toEqual(['b']);
  });
});
