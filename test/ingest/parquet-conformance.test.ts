// The Parquet reader and writer compared with DuckDB's: every type of id, codec, encoding and page version, both ways.

import { mkdirSync, readFileSync } from 'node:fs';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BipartiteGraph } from '../../src/index.js';
import { readGraph } from '../../src/ingest/read.js';
import { decimalPoint } from '../../src/parquet/render.js';
import { unpackPage } from '../../src/parquet/unpack.js';
import { writeEdges } from '../../src/store/write-table.js';
import { literal, withDuckDB } from './duckdb.js';
import { edgesOf, scratchFolder } from './scratch.js';

const scratch = scratchFolder();

/** Rows as DuckDB shows them, sorted like those of `edgesOf`. */
async function rowsOf(connection: Parameters<Parameters<typeof withDuckDB>[1]>[0], query: string) {
  const found = await connection.runAndReadAll(query);
  return found
    .getRows()
    .map(([user, item, count]) => JSON.stringify([user, item, Number(count ?? 1)]))
    .sort();
}

const TYPES: Readonly<Record<string, string>> = {
  TINYINT: '(i % 100)::TINYINT',
  'negative BIGINT': '-i::BIGINT',
  UINTEGER: '(4294967295 - i)::UINTEGER',
  UBIGINT: '(18446744073709551615 - i)::UBIGINT',
  HUGEINT: 'i::HUGEINT',
  BOOLEAN: 'i % 2 = 0',
  DOUBLE: '(i / 7)::DOUBLE',
  'large DOUBLE': '(i * 1e15 / 3)::DOUBLE',
  'small DOUBLE': '(i * 1e-6)::DOUBLE',
  FLOAT: '(i / 7)::FLOAT',
  'small DECIMAL': '(i / 4 - 10)::DECIMAL(6, 2)',
  'wide DECIMAL': '(i / 4 - 10)::DECIMAL(36, 12)',
  DATE: "DATE '1969-12-30' + (i * 37)::INT",
  'DATE before Christ': "DATE '0001-01-01' - (i * 37)::INT",
  TIMESTAMP: "TIMESTAMP '1969-12-31 23:59:59.5' + to_microseconds(i * 1234567)",
  TIMESTAMP_MS: "(TIMESTAMP '2020-02-29' + to_milliseconds(i * 1234567))::TIMESTAMP_MS",
  TIMESTAMP_NS: 'make_timestamp_ns(i * 1234567891)',
  TIMESTAMPTZ: "TIMESTAMPTZ '2024-03-31 01:30:00+00' + to_seconds(i * 600)",
  UUID: 'md5(i::VARCHAR)::UUID',
  VARCHAR: "'Ünï ' || i || chr(10) || '\"'",
  BLOB: "('\\x00\\xFF\\x27ab' || i)::BLOB",
};

describe('Parquet files of DuckDB', () => {
  it.each(Object.entries(TYPES))('give the ids that DuckDB shows: %s', async (name, value) => {
    const file = scratch.path('types.parquet');
    const table = `SELECT ${value} AS a, 'item' || (i % 7) AS b FROM range(1, 300) t(i)`;
    const expected = await withDuckDB(1, async (connection) => {
      await connection.run(`COPY (${table}) TO ${literal(file)} (FORMAT parquet)`);
      const from = `read_parquet(${literal(file)}, hive_partitioning = false)`;
      return rowsOf(connection, `SELECT DISTINCT a::VARCHAR, b::VARCHAR FROM ${from}`);
    });
    expect(expected.length, name).toBeGreaterThan(10);
    expect(edgesOf((await readGraph(file)).graph)).toEqual(expected);
  });

  const codecs = ['uncompressed', 'snappy', 'gzip', 'zstd', 'brotli', 'lz4_raw'];
  it.each(codecs.flatMap((codec) => ['V1', 'V2'].map((version) => [codec, version])))(
    'are read whatever the codec and the encodings: %s, %s',
    async (codec, version) => {
      const file = scratch.path('codec.parquet');
      const table = `SELECT CASE WHEN i % 11 = 0 THEN NULL ELSE 'user ' || (i * 7919 % 3001) END AS u,
        (i * 104729 % 5003)::BIGINT AS n, (i % 40 + 1)::INT AS c, i::DOUBLE AS d, i % 3 = 0 AS e
        FROM range(13000) t(i)`;
      const { strings, numbers } = await withDuckDB(1, async (connection) => {
        const options = `FORMAT parquet, COMPRESSION ${codec}, PARQUET_VERSION ${version}, ROW_GROUP_SIZE 4096`;
        await connection.run(`COPY (${table}) TO ${literal(file)} (${options})`);
        return {
          strings: await rowsOf(
            connection,
            `SELECT u, n::VARCHAR, sum(c) FROM read_parquet(${literal(file)}) WHERE u IS NOT NULL GROUP BY ALL`,
          ),
          numbers: await rowsOf(
            connection,
            `SELECT DISTINCT d::VARCHAR, e::VARCHAR FROM read_parquet(${literal(file)})`,
          ),
        };
      });
      const rejects = scratch.path('rejects.csv');
      const counted = await readGraph(file, {
        users: 'u',
        items: 'n',
        count: 'c',
        multigraph: true,
        rejects,
      });
      expect(counted.read.rejected).toBe(1182);
      expect(edgesOf(counted.graph)).toEqual(strings);
      expect(edgesOf((await readGraph(file, { users: 'd', items: 'e' })).graph)).toEqual(numbers);
    },
  );

  it('are read the same whatever the shape of the column', async () => {
    const shape = fc.record({
      rows: fc.integer({ min: 1, max: 3000 }),
      distinct: fc.integer({ min: 1, max: 3000 }),
      run: fc.integer({ min: 1, max: 50 }),
      nulls: fc.constantFrom(0, 2, 17),
      group: fc.constantFrom(2048, 100_000),
      type: fc.constantFrom('VARCHAR', 'INTEGER', 'BIGINT', 'DATE', 'DOUBLE'),
      version: fc.constantFrom('V1', 'V2'),
    });
    await fc.assert(
      fc.asyncProperty(shape, async ({ rows, distinct, run, nulls, group, type, version }) => {
        const file = scratch.path('shape.parquet');
        const number = `((i // ${run}) * 7919 % ${distinct})`;
        const value =
          type === 'VARCHAR'
            ? `'id ' || ${number}`
            : type === 'DATE'
              ? `DATE '2000-01-01' + ${number}::INT`
              : `${number}::${type}`;
        const expected = await withDuckDB(1, async (connection) => {
          const cell = nulls === 0 ? value : `CASE WHEN i % ${nulls} = 1 THEN NULL ELSE ${value} END`;
          await connection.run(
            `COPY (SELECT ${cell} AS a, i % 10 AS b FROM range(${rows}) t(i)) TO ${literal(file)} (FORMAT parquet, PARQUET_VERSION ${version}, ROW_GROUP_SIZE ${group})`,
          );
          return rowsOf(
            connection,
            `SELECT DISTINCT a::VARCHAR, b::VARCHAR FROM read_parquet(${literal(file)}) WHERE a IS NOT NULL`,
          );
        });
        const { graph } = await readGraph(file, { rejects: scratch.path('rejects.csv') });
        expect(edgesOf(graph)).toEqual(expected);
      }),
      { numRuns: 40, seed: 7 },
    );
  });

  it('keep a byte order mark at the beginning of an id', async () => {
    const file = scratch.path('mark.parquet');
    await withDuckDB(1, async (connection) => {
      await connection.run(
        `COPY (SELECT chr(65279) || 'a' AS a, 'a' AS b) TO ${literal(file)} (FORMAT parquet)`,
      );
    });
    expect(edgesOf((await readGraph(file)).graph)).toEqual(['["\uFEFFa","a",1]']);
  });

  it('give the same ids in every time zone', async () => {
    const file = scratch.path('zone.parquet');
    await withDuckDB(1, async (connection) => {
      const rows = "SELECT TIMESTAMPTZ '2024-03-31 01:30:00+00' AS a, TIMESTAMP '2024-03-31 02:30:00' AS b";
      await connection.run(`COPY (${rows}) TO ${literal(file)} (FORMAT parquet)`);
    });
    const zone = process.env.TZ;
    try {
      for (const other of ['UTC', 'America/New_York', 'Asia/Kolkata']) {
        process.env.TZ = other;
        const { graph } = await readGraph(file);
        expect(edgesOf(graph), other).toEqual(['["2024-03-31 01:30:00+00","2024-03-31 02:30:00",1]']);
      }
    } finally {
      if (zone === undefined) delete process.env.TZ;
      else process.env.TZ = zone;
    }
  });

  it('below a folder that looks like a partition keep their columns', async () => {
    mkdirSync(scratch.path('user=alice'));
    const file = scratch.path('user=alice/part.parquet');
    await withDuckDB(1, async (connection) => {
      await connection.run(
        `COPY (SELECT 'u' || i AS "user", i % 3 AS item FROM range(164) t(i)) TO ${literal(file)} (FORMAT parquet)`,
      );
    });
    const { graph } = await readGraph(file, { users: 'user', items: 'item' });
    expect([graph.users.count, graph.edges]).toEqual([164, 164]);
  });
});

describe('Parquet files of graphex', () => {
  it('are read by DuckDB: texts, whole numbers, counts, many rows', async () => {
    const pairs = Array.from(
      { length: 5000 },
      (_, i) => [`Ü ${i % 997}\n"`, String((i * 31) % 1201), 1 + (i % 5)] as const,
    );
    for (const rows of [pairs, pairs.slice(0, 1)]) {
      const csv = rows.map(([user, item, n]) => `"${user.replaceAll('"', '""')}",${item},${n}\n`).join('');
      const { graph } = await readGraph(scratch.write('pairs.csv', csv), {
        count: 3,
        multigraph: true,
        header: false,
      });
      const file = scratch.path('written.parquet');
      await writeEdges(file, graph);
      const found = await withDuckDB(1, async (connection) => {
        const types = await connection.runAndReadAll(`DESCRIBE SELECT * FROM read_parquet(${literal(file)})`);
        return {
          types: types.getRows().map(([name, type]) => `${name} ${type}`),
          rows: await rowsOf(
            connection,
            `SELECT "user", item::VARCHAR, "count" FROM read_parquet(${literal(file)})`,
          ),
        };
      });
      expect(found.types).toEqual(['user VARCHAR', 'item BIGINT', 'count UINTEGER']);
      expect(found.rows).toEqual(edgesOf(graph));
      expect(
        BipartiteGraph.fingerprint((await readGraph(file, { count: 'count', multigraph: true })).graph),
      ).toBe(BipartiteGraph.fingerprint(graph));
    }
  });
});

describe('numbers with a point', () => {
  it('are written as DuckDB writes them', async () => {
    const numbers = fc.sample(fc.double({ noDefaultInfinity: true, noNaN: true }), { numRuns: 300, seed: 3 });
    numbers.push(0, -0, 1, 1e15, 1e16, 123456789012345680, 1e-4, 9.9e-5, 5e-324, Number.MAX_VALUE);
    await withDuckDB(1, async (connection) => {
      for (const number of numbers.filter((n) => !Object.is(n, -0))) {
        const found = await connection.runAndReadAll(`SELECT ('${number}'::DOUBLE)::VARCHAR`);
        expect(decimalPoint(number)).toBe(found.getRows()[0][0]);
      }
    });
  });
});

describe('packed pages', () => {
  const page = new Uint8Array(readFileSync(import.meta.filename));
  it.each([
    [2, gzipSync(page)],
    [4, brotliCompressSync(page)],
  ])('of codec %i never unpack to more or less than they say', async (codec, packed) => {
    expect(await unpackPage(codec, packed, page.length)).toEqual(page);
    for (const size of [0, page.length - 1, page.length + 1]) {
      await expect(unpackPage(codec, packed, size)).rejects.toThrow(/page/);
    }
  });
});
