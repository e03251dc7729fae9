// Small files that unpack to gigabytes: refused within seconds, in bounded memory, which is measured.

import { execFile } from 'node:child_process';
import { statSync } from 'node:fs';
import { promisify } from 'node:util';
import { describe, expect, it, vi } from 'vitest';
import { readGraph } from '../../src/index.js';
import { literal, withDuckDB } from '../ingest/duckdb.js';
import { edgesOf, scratchFolder } from '../ingest/scratch.js';
import { allPage, CODECS, idsPage, parquetBomb, runPage } from './bomb.js';

vi.setConfig({ testTimeout: 120_000 });
const scratch = scratchFolder();
const LIBRARY = new URL('../../dist/index.js', import.meta.url).href;

/** Reads the file in a process of its own; returns its output, its largest memory and its processor time. */
async function reading(path: string): Promise<{ message: string; megabytes: number; seconds: number }> {
  const program = `
    const { readGraph } = await import(${JSON.stringify(LIBRARY)});
    const message = await readGraph(${JSON.stringify(path)}).then(() => 'read', (error) => error.name + ': ' + error.message);
    const { maxRSS, userCPUTime, systemCPUTime } = process.resourceUsage();
    console.log(JSON.stringify({ message, megabytes: maxRSS / 1024, seconds: (userCPUTime + systemCPUTime) / 1e6 }));`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program]);
  return JSON.parse(stdout);
}

const ID_BYTES = 60_000;
const IDS = 2_000;
const long = (id: number) =>
  String(id)
    .padStart(8, '0')
    .repeat(ID_BYTES / 8);
const items = idsPage(['i'], true);
/** The number of groups that make 20 GB, if each has `ids` long ids. */
const groupsOf = (ids: number) => Math.ceil(20e9 / (ID_BYTES * ids));

describe('a Parquet file of 20 GB of ids in some hundred kilobytes is refused within 10 s and 600 MB', () => {
  async function expectBounded(file: string, says: RegExp): Promise<void> {
    const { message, megabytes, seconds } = await reading(file);
    expect(message).toMatch(says);
    expect(megabytes).toBeLessThan(600);
    expect(seconds).toBeLessThan(10);
  }

  it('with long, different ids in dictionaries', async () => {
    const part = (from: number) =>
      [
        [
          idsPage(
            Array.from({ length: IDS }, (_, id) => long(from + id)),
            true,
          ),
          allPage(IDS),
        ],
        [items, runPage(IDS)],
      ] as const;
    const file = scratch.write('different.parquet', parquetBomb([part(0), part(IDS)], groupsOf(IDS)));
    expect(statSync(file).size).toBeLessThan(600_000);
    await expectBounded(file, /InputError: the ids are too long: \d+ different ones take 60000 bytes each/);
  });

  it.each(['gzip', 'Brotli'] as const)('with one long id repeated in pages of %s', async (codec) => {
    const ids = 500;
    const same = idsPage(new Array(ids).fill(long(1)), false);
    const file = scratch.write(
      'same.parquet',
      parquetBomb([[[same], [items, runPage(ids)]]], groupsOf(ids), CODECS[codec]),
    );
    expect(statSync(file).size).toBeLessThan(300_000);
    await expectBounded(file, /InputError: .*same\.parquet: its \d+ bytes unpack to more than 536870912/);
  });

  it('with ids longer than the limit, as DuckDB writes them with Zstandard', async () => {
    const file = scratch.path('longest.parquet');
    await withDuckDB(1, async (connection) => {
      await connection.run(
        `COPY (SELECT repeat('x', 2000000) AS a, i AS b FROM range(60) t(i)) TO ${literal(file)} (FORMAT parquet, COMPRESSION zstd)`,
      );
    });
    expect(statSync(file).size).toBeLessThan(1_000_000);
    await expectBounded(file, /InputError: .* the id is longer than 65536 bytes/);
  });

  it('with runs of one value: 10^10 rows', async () => {
    const run = [items, runPage(1 << 24)] as const;
    const file = scratch.write('runs.parquet', parquetBomb([[run, run]], Math.ceil(1e10 / 2 ** 24)));
    expect(statSync(file).size).toBeLessThan(100_000);
    await expectBounded(file, /InputError: .*runs\.parquet: its \d+ rows in \d+ bytes/);
  });
});

describe('a Parquet file that points to the same pages twice', () => {
  it('is read if it is small: the files above are refused only for their size', async () => {
    const part = [
      [idsPage(['u', 'v'], true), allPage(2)],
      [items, runPage(2)],
    ] as const;
    const { graph, read } = await readGraph(scratch.write('small.parquet', parquetBomb([part], 3)));
    expect(edgesOf(graph)).toEqual(['["u","i",1]', '["v","i",1]']);
    expect(read.rows).toBe(6);
  });
});
