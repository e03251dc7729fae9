import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { filesOf, matches } from '../../src/files/glob.js';
import { fingerprint } from '../../src/graph/fingerprint.js';
import { timeColumn } from '../../src/ingest/intake/value-column.js';
import { readGraph, readWithValues } from '../../src/ingest/read.js';
import { literal, withDuckDB } from './duckdb.js';
import { edgesOf, scratchFolder } from './scratch.js';

const scratch = scratchFolder();
const HEADER = 'user,item,n,time\n';
const parts = ['b,1,2,10\na,2,1,20\n', 'a,2,3,5\nc,1,1,30\n', 'x-1,9,4,1\n'];
const whole = scratch.write('whole.csv', HEADER + parts.join(''));
mkdirSync(scratch.path('logs/deep/er'), { recursive: true });
const files = parts.map((rows, i) => scratch.write(`logs/2024-${i}.csv`, HEADER + rows));
const options = { count: 'n', multigraph: true } as const;

describe('several files', () => {
  it('give the same bits as one concatenated file', async () => {
    const one = await readWithValues(whole, options, timeColumn('time'));
    for (const source of [
      files,
      [...files].reverse(),
      [scratch.path('logs/2024-*.csv')],
      scratch.path('logs/2024-?.csv'),
    ]) {
      const several = await readWithValues(source, options, timeColumn('time'));
      expect(fingerprint(several.graph)).toBe(fingerprint(one.graph));
      expect(several.graph.users.neighbors).toEqual(one.graph.users.neighbors);
      expect(several.values).toEqual(one.values);
      expect(several.read).toEqual(one.read);
      expect(several.guess.files).toBe(3);
    }
  });

  it('report progress as one: it never falls back to that of a single file', async () => {
    const rows = Array.from({ length: 200_000 }, (_, i) => `u${i % 500},i${i % 321}`).join('\n');
    const large = [1, 2, 3].map((n) => scratch.write(`large-${n}.csv`, `user,item\n${rows}\n`));
    const done: number[] = [];
    await readGraph(large, { onProgress: (progress) => done.push(progress.done) });
    expect(done.length).toBeGreaterThan(2);
    expect(done).toEqual([...done].sort((a, b) => a - b));
    expect(done.at(-1)).toBeGreaterThan(2 * rows.length);
  });

  it('may be of different formats, with columns by name in any order', async () => {
    const json = scratch.write(
      'more.jsonl',
      '{"n":3,"item":2,"user":"a","time":5}\n{"n":1,"item":"1","user":"c","time":30}\n',
    );
    const parquet = scratch.path('more.parquet');
    await withDuckDB(1, (connection) =>
      connection.run(`COPY (SELECT * FROM read_csv(${literal(files[0])})) TO ${literal(parquet)}`),
    );
    const gz = scratch.write('more.csv.gz', gzipSync(HEADER + parts[2]));
    const expected = edgesOf((await readGraph(whole, options)).graph);
    const named = { ...options, users: 'user', items: 'item' };
    for (const order of [
      [parquet, json, gz],
      [gz, parquet, json],
      [json, gz, parquet],
    ]) {
      expect(edgesOf((await readGraph(order, named)).graph)).toEqual(expected);
    }
  });

  it('must agree in their header, and the one that differs is named', async () => {
    const other = scratch.write('other.csv', 'user,thing,n,time\na,1,2,3\n');
    await expect(readGraph([whole, other])).rejects.toThrow(
      /other\.csv: its first row, "user, thing, n, time", is not the header of .*whole\.csv, "user, item, n, time"/,
    );
    const bare = scratch.write('bare.csv', 'q,1,2,3\n');
    await expect(readGraph([whole, bare])).rejects.toThrow(
      /bare\.csv: its first row, "q, 1, 2, 3", is not the header/,
    );
    const narrow = scratch.write('narrow.csv', 'q,1\n');
    await expect(readGraph([bare, narrow], { header: false })).rejects.toThrow(
      /narrow\.csv: it has 2 columns and .*bare\.csv has 4/,
    );
    expect(
      (await readGraph([bare, scratch.write('bare2.csv', 'r,1,2,3\n')], { header: false })).graph.edges,
    ).toBe(2);
  });

  it('name the file of a bad row', async () => {
    const bad = scratch.write('bad.csv', `${HEADER}a,1\n`);
    await expect(readGraph([whole, bad])).rejects.toThrow(/bad\.csv, line 2: the row has 2 columns/);
    const rejects = scratch.path('rejects.csv');
    expect((await readGraph([whole, bad], { rejects })).read.rejected).toBe(1);
    expect(readFileSync(rejects, 'utf8')).toMatch(/2,".*bad\.csv: the row has 2 columns/);
  });

  it('are not replaced by their own bad rows', async () => {
    mkdirSync(scratch.path('own'));
    const own = scratch.write('own/bad.csv', `${HEADER}a,1\n`);
    for (const source of [own, scratch.path('own/*.csv')]) {
      await expect(readGraph(source, { rejects: own })).rejects.toThrow(/the output is the input file/);
    }
    expect(readFileSync(own, 'utf8')).toBe(`${HEADER}a,1\n`);
  });

  it('are refused if given twice, combined with a non-file, or if none matches', async () => {
    await expect(readGraph([files[0], files[0]])).rejects.toThrow(/2024-0\.csv: it is given twice/);
    await expect(readGraph([files[0], scratch.path('logs/*.csv')])).rejects.toThrow(/it is given twice/);
    await expect(readGraph([files[0], '@sotu'])).rejects.toThrow(
      /@sotu: this is not a file, so it cannot be combined/,
    );
    await expect(readGraph(scratch.path('logs/2025-*.csv'))).rejects.toThrow(
      /2025-\*\.csv: no file has such a name/,
    );
    await expect(readGraph(scratch.path('nowhere/*.csv'))).rejects.toThrow(/no file has such a name/);
    await expect(readGraph([])).rejects.toThrow(/nothing to read/);
    await expect(readGraph([files[0], scratch.path('lost.csv')])).rejects.toThrow(
      /lost\.csv: there is no such file/,
    );
  });
});

describe('patterns', () => {
  it('match names by *, ? and [ ], and names with a leading dot only if they have one', () => {
    expect(matches('2024-05.csv', '2024-*.csv')).toBe(true);
    expect(matches('2024-05.csv', '*-0[1-5].???')).toBe(true);
    expect(matches('2024-06.csv', '*-0[!6].csv')).toBe(false);
    expect(matches('.hidden', '*')).toBe(false);
    expect(matches('.hidden', '.h*')).toBe(true);
    expect(matches('a[b', 'a[b')).toBe(true);
    expect(matches('a'.repeat(5000), `${'*a'.repeat(500)}b`)).toBe(false);
  });

  it('are searched in order, through folders by **, and never in cycles', async () => {
    writeFileSync(scratch.path('logs/deep/er/2024-9.csv'), `${HEADER}z,1,1,1\n`);
    symlinkSync(scratch.path('logs'), scratch.path('logs/deep/again'));
    expect(await filesOf(scratch.path('logs/**/*.csv'))).toEqual([
      scratch.path('logs/2024-0.csv'),
      scratch.path('logs/2024-1.csv'),
      scratch.path('logs/2024-2.csv'),
      scratch.path('logs/deep/er/2024-9.csv'),
    ]);
    expect(await filesOf(scratch.path('l*/deep/*/*.csv'))).toContain(scratch.path('logs/deep/er/2024-9.csv'));
  });

  it('yield to a file of that exact name', async () => {
    const odd = scratch.write('odd[1]*.csv', `${HEADER}q,1,1,1\n`);
    expect(await filesOf(odd)).toEqual([odd]);
    expect((await readGraph(odd)).graph.edges).toBe(1);
  });

  it('refuse too many files', async () => {
    const { MOST_FILES } = await import('../../src/files/glob.js');
    const many = Array.from({ length: MOST_FILES + 1 }, (_, i) => `no-such-${i}.csv`);
    await expect(readGraph(many)).rejects.toThrow(/more than 100000 files to read as one/);
  });
});
