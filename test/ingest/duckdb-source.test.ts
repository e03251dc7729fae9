import { existsSync, readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { DuckDBInstance } from '@duckdb/node-api';
import { beforeAll, describe, expect, it } from 'vitest';
import { timeColumn } from '../../src/ingest/intake/value-column.js';
import { readGraph, readWithValues } from '../../src/ingest/read.js';
import { edgesOf, scratchFolder } from './scratch.js';

const scratch = scratchFolder();
const csv = scratch.write(
  'shop.csv',
  'user,item,n,time\na,1,2,2013-01-01\nb,2,1,2014-05-01\nb,2,3,2015-05-01\nc,3,1,\n',
);
scratch.write('shop2.csv', 'user,item,n,time\nz,9,2,2013-01-01\n');
const secret = scratch.write('secret.csv', 'user,item\nme,password\n');
const one = scratch.path('one.duckdb');
const two = scratch.path('two.duckdb');

async function database(path: string, ...statements: string[]): Promise<void> {
  const instance = await DuckDBInstance.create(path);
  const connection = await instance.connect();
  for (const statement of statements) await connection.run(statement);
  connection.closeSync();
  instance.closeSync();
}

beforeAll(async () => {
  await database(one, `CREATE TABLE "odd ""table""" AS SELECT * FROM read_csv('${csv}')`);
  await database(
    two,
    `CREATE TABLE sales AS SELECT * FROM read_csv('${csv}')`,
    'CREATE SCHEMA old',
    "CREATE TABLE old.sales AS SELECT 'q' AS u, 5 AS i",
    `CREATE VIEW leak AS SELECT * FROM read_csv('${secret}')`,
  );
});

it('names a compressed database, not the temporary file that is made of it', async () => {
  const packed = scratch.write('packed.duckdb.gz', gzipSync(readFileSync(two)));
  await expect(readGraph(packed)).rejects.toThrow(`${packed}: it has 3 tables; name one with table: `);
});

describe('a table name with a point', () => {
  it('that may be a table or a schema and its table is refused with both', async () => {
    const path = scratch.path('points.duckdb');
    await database(
      path,
      `CREATE TABLE "x.y" AS SELECT 'a' AS u, 1 AS i`,
      'CREATE SCHEMA x',
      `CREATE TABLE x.y AS SELECT 'b' AS u, 2 AS i`,
    );
    await expect(readGraph(path, { table: 'x.y' })).rejects.toThrow(
      /table x\.y: it may be "main"\."x\.y" or "x"\."y"; name one in a query with database .*, as in sql:SELECT \* FROM "x"\."y"/,
    );
    const { graph } = await readGraph('sql:SELECT * FROM "main"."x.y"', { database: path });
    expect(edgesOf(graph)).toEqual(['["a","1",1]']);
  });
});

const sql = (query: string) => `sql:${query}`;

describe('rejects', () => {
  it('never replace an input: a file, files of a query or of its pattern, or a database', async () => {
    const before = [csv, two].map((path) => readFileSync(path).toString('latin1'));
    const pattern = scratch.path('shop*.csv');
    for (const [source, options] of [
      [csv, { rejects: csv }],
      [sql(`SELECT * FROM '${csv}'`), { rejects: csv }],
      [sql(`SELECT * FROM '${pattern}'`), { rejects: csv }],
      [sql('SELECT * FROM sales'), { database: two, rejects: two }],
    ] as const) {
      await expect(readGraph(source, options)).rejects.toThrow(
        /the output is the input file; choose another/,
      );
    }
    expect([csv, two].map((path) => readFileSync(path).toString('latin1'))).toEqual(before);
  });
});

describe('a query', () => {
  it('gives a table with the ids of the file', async () => {
    const plain = await readGraph(csv, { count: 'n', multigraph: true });
    const asked = await readGraph(sql(`SELECT * FROM '${csv}'`), { count: 'n', multigraph: true });
    expect(edgesOf(asked.graph)).toEqual(edgesOf(plain.graph));
    expect(asked.guess).toMatchObject({
      format: 'sql',
      columns: { users: 'user', items: 'item', count: 'n' },
    });
  });

  it('takes columns by name, conditions, times and filters like any table', async () => {
    const query = sql(`SELECT n, item, "user", CAST(time AS TIMESTAMP) AS at FROM '${csv}';`);
    const { graph, values, read } = await readWithValues(
      query,
      { users: 'user', items: 'item', where: "at > '2014-01-01'" },
      timeColumn('at'),
    );
    expect(edgesOf(graph)).toEqual(['["b","2",1]']);
    expect([...values]).toEqual([Date.UTC(2014, 4, 1)]);
    expect(read).toMatchObject({ rows: 4, kept: 1, merged: 1, leftOut: { where: 2 } });
  });

  it('reads patterns, and the database that is named', async () => {
    const pattern = await readGraph(sql(`FROM '${scratch.path('shop*.csv')}'`));
    expect(pattern.graph.users.count).toBe(4);
    const joined = await readGraph(sql("SELECT u, i FROM old.sales UNION ALL SELECT 'x', 7 -- the rest"), {
      database: two,
    });
    expect(edgesOf(joined.graph)).toEqual(['["q","5",1]', '["x","7",1]']);
  });

  it('reads only what it names, and writes nothing', async () => {
    const path = scratch.path('out.csv');
    for (const [query, says] of [
      [`COPY (SELECT 1) TO '${path}'`, /DuckDB refuses it|expected one SELECT/],
      [`SELECT 1 AS a, 2 AS b; COPY (SELECT 1) TO '${path}'`, /expected one SELECT/],
      [`SELECT * FROM (SELECT 1) t); COPY (SELECT 1) TO '${path}'; SELECT (1`, /DuckDB refuses it/],
      [`CREATE TABLE t AS SELECT 1`, /expected one SELECT/],
      [`ATTACH '${path}'`, /expected one SELECT|refuses/],
      ['INSTALL httpfs', /expected one SELECT|refuses/],
      ['SET enable_external_access = true', /expected one SELECT|refuses/],
      [
        `SELECT * FROM read_csv('${scratch.path('')}' || 'secret.csv')`,
        /reads only files that it names in full/,
      ],
      ["SELECT * FROM 'https://localhost:1/x.csv'", /reads only files that it names in full/],
      ["SELECT * FROM glob('/et' || 'c/*') a, glob('/et' || 'c/*') b", /reads only files|DuckDB refuses it/],
      ['SELECT 1 AS a', /it has one column, "a"; a table needs/],
      ["SELECT us, item FROM 'no such.csv'", /DuckDB refuses it/],
      ['not a query', /DuckDB refuses it/],
    ] as const) {
      await expect(readGraph(sql(query)), query).rejects.toThrow(says);
      await expect(readGraph(sql(query)), query).rejects.toMatchObject({ name: 'InputError' });
    }
    expect(existsSync(path)).toBe(false);
  });

  it('is refused as a whole if it fails after many rows', async () => {
    const query =
      "SELECT range AS u, CAST(CASE WHEN range = 90000 THEN 'x' ELSE '1' END AS INTEGER) AS i FROM range(100000)";
    await expect(readGraph(sql(query))).rejects.toThrow(/DuckDB refuses it \(Conversion Error/);
  });

  it('stops on its signal', async () => {
    const query = sql('SELECT a.range % 1000003 AS u, b.range AS i FROM range(100000000) a, range(1000) b');
    const stop = new AbortController();
    setTimeout(() => stop.abort(), 300);
    await expect(readGraph(query, { signal: stop.signal })).rejects.toMatchObject({ name: 'AbortError' });
  });
});

describe('a database', () => {
  it('is recognised by its bytes; its only table needs no name', async () => {
    const renamed = scratch.path('one.db');
    const { copyFileSync } = await import('node:fs');
    copyFileSync(one, renamed);
    for (const path of [one, renamed]) {
      const { graph, guess } = await readGraph(path, { count: 'n', multigraph: true });
      expect(edgesOf(graph)).toEqual(edgesOf((await readGraph(csv, { count: 'n', multigraph: true })).graph));
      expect(guess.format).toBe('duckdb');
    }
  });

  it('says which tables there are, and takes one by name alone', async () => {
    await expect(readGraph(two)).rejects.toThrow(
      /it has 3 tables; name one with table: leak, sales, old\.sales/,
    );
    expect((await readGraph(two, { table: 'old.sales' })).graph.edges).toBe(1);
    expect((await readGraph(two, { table: 'sales', where: 'n > 1' })).graph.edges).toBe(2);
    for (const table of ['nobody', 'sales; DROP TABLE sales', "sales') --", '"sales"']) {
      await expect(readGraph(two, { table })).rejects.toThrow(
        /has no such table; it has leak, sales, old\.sales/,
      );
    }
    expect((await readGraph(two, { table: 'sales' })).graph.edges).toBe(3);
  });

  it('does not read other files through its views', async () => {
    await expect(readGraph(two, { table: 'leak' })).rejects.toThrow(/file system operations are disabled/);
  });

  it('is refused with a sentence if it is damaged', async () => {
    const broken = scratch.write(
      'broken.duckdb',
      Buffer.concat([Buffer.alloc(8), Buffer.from('DUCK'), Buffer.alloc(400, 7)]),
    );
    await expect(readGraph(broken)).rejects.toMatchObject({ name: 'InputError' });
    await expect(readGraph(csv, { table: 'sales' })).rejects.toThrow(/shop\.csv is not a DuckDB database/);
    await expect(readGraph(csv, { database: one })).rejects.toThrow(/this is for sql:/);
    await expect(readGraph('sql:SELECT 1, 2', { database: scratch.path('none.duckdb') })).rejects.toThrow(
      /there is no such file/,
    );
    await expect(readGraph('sql:SELECT 1, 2', { sep: ',' })).rejects.toThrow(/sql: has a fixed layout/);
  });
});
