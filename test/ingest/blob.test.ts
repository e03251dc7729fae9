import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32, gzipSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import { fingerprint } from '../../src/graph/fingerprint.js';
import { readBlob } from '../../src/ingest/blob.js';
import { guessColumns, previewBlob } from '../../src/ingest/preview.js';
import { readGraph } from '../../src/ingest/read.js';
import { crc32ByTable } from '../../src/parquet/crc32.js';
import { gunzipHere } from '../../src/parquet/unpack.js';
import { writeEdges } from '../../src/store/write-table.js';
import { literal, withDuckDB } from './duckdb.js';

const folder = mkdtempSync(join(tmpdir(), 'graphex-blob-'));
afterAll(() => rmSync(folder, { recursive: true }));

const csv = `user_id,rating,movie,plays\n${Array.from({ length: 300 }, (_, e) => `u${(e * e) % 41},4.5,"film, ${(e * 7) % 29}",${1 + (e % 3)}`).join('\n')}\n`;
const columns = { users: 'user_id', items: 'movie' };
const jsonl = Array.from({ length: 50 }, (_, e) =>
  JSON.stringify({ user: `u${e % 7}`, item: e % 11, n: 1 + (e % 2) }),
).join('\n');

async function written(name: string, body: string | Uint8Array) {
  const path = join(folder, name);
  writeFileSync(path, body);
  return { path, source: { name, blob: new Blob([readFileSync(path)]) } };
}

describe('a table in a Blob', () => {
  it.each([
    ['a.csv', csv, columns],
    ['a.csv.gz', gzipSync(csv), columns],
    ['a.jsonl', jsonl, {}],
  ])('%s is the graph that the file is', async (name, body, options) => {
    const { path, source } = await written(name, body);
    const [here, there] = [await readBlob(source, options), await readGraph(path, options)];
    expect(fingerprint(here.graph)).toBe(fingerprint(there.graph));
    expect(here.guess).toEqual(there.guess);
    expect(here.read).toEqual(there.read);
    expect(here.graph.names).toEqual(there.graph.names);
  });

  it('Parquet is read at any position, also if it is gzipped', async () => {
    const { path } = await written('b.csv', csv);
    const { graph } = await readGraph(path, columns);
    const file = join(folder, 'b.parquet');
    await writeEdges(file, graph);
    const bytes = readFileSync(file);
    for (const [name, blob] of [
      ['b.parquet', new Blob([bytes])],
      ['b.parquet.gz', new Blob([gzipSync(bytes)])],
    ] as const) {
      const read = await readBlob({ name, blob });
      expect(fingerprint(read.graph)).toBe(fingerprint(graph));
      const preview = await previewBlob({ name, blob });
      expect(preview).toMatchObject({ format: 'parquet', names: ['user', 'item'] });
      expect(preview.rows).toHaveLength(8);
    }
  });

  it.each([
    ['empty.csv', ''],
    ['not.csv.gz', 'a,b\n'],
    ['not.parquet', 'a,b\n'],
    ['zip.csv', 'PK\x03\x04zip'],
    ['bad.csv', 'user,item,count\nann,tea,1\nbob,,2\n'],
    ['one.csv', 'onlyonecolumn\nx\n'],
  ])('%s is refused in the words of the command line', async (name, body) => {
    const { path, source } = await written(name, body);
    const [here, there] = await Promise.all(
      [() => readBlob(source), () => readGraph(path)].map((read) =>
        read().then(
          () => 'it was read',
          (error) => error.message as string,
        ),
      ),
    );
    expect(here).toBe(there.replaceAll(path, name));
    expect(here).not.toBe('it was read');
  });

  it('gzip that is cut short is reported as such', async () => {
    const blob = new Blob([gzipSync(csv).subarray(0, 300)]);
    await expect(readBlob({ name: 'cut.csv.gz', blob }, columns)).rejects.toThrow(
      /cut\.csv\.gz: the gzip data is damaged or cut short/,
    );
  });
});

describe('a preview', () => {
  it('shows the first rows and guesses columns by their names', async () => {
    const { source } = await written('c.csv', csv);
    const preview = await previewBlob(source);
    expect(preview).toMatchObject({
      ...{ format: 'text table', separator: ',', header: true },
      names: ['user_id', 'rating', 'movie', 'plays'],
      guess: { users: 'user_id', items: 'movie', count: 'plays' },
    });
    expect(preview.rows[0]).toEqual(['u0', '4.5', 'film, 0', '1']);
    expect((await previewBlob(source, { header: false })).names).toEqual(['1', '2', '3', '4']);
  });

  it('names columns of equal names by their numbers, by which they are read', async () => {
    const { source } = await written('twice.csv', 'user,item,item\nann,x,p\nbob,y,q\n');
    const preview = await previewBlob(source);
    expect(preview).toMatchObject({
      header: true,
      names: ['user', '2', '3'],
      guess: { users: 'user', items: '2' },
    });
    const { graph } = await readBlob(source, { users: 'user', items: '3' });
    expect([graph.items.ids.at(0), graph.items.ids.at(1)]).toEqual(['p', 'q']);
  });

  it('of Parquet leaves out columns that no reader reads, such as lists', async () => {
    const path = join(folder, 'lists.parquet');
    await withDuckDB(1, (connection) =>
      connection.run(
        `COPY (SELECT 'u' || i AS u, [i, 2] AS tags, i AS item FROM range(3) t(i)) TO ${literal(path)}`,
      ),
    );
    const preview = await previewBlob({ name: 'lists.parquet', blob: new Blob([readFileSync(path)]) });
    expect(preview).toMatchObject({ names: ['u', 'item'], guess: { users: 'u', items: 'item' } });
    expect(preview.rows[1]).toEqual(['u1', '1']);
  });

  it('reads JSON lines, and takes the first two columns if names say nothing', async () => {
    const { source } = await written('d.jsonl', jsonl);
    expect(await previewBlob(source)).toMatchObject({
      format: 'json lines',
      guess: { users: 'user', items: 'item', count: 'n' },
    });
    expect(guessColumns(['a', 'b', 'c'], [['1', '2', '3']])).toEqual({ users: 'a', items: 'b' });
    expect(guessColumns(['timestamp', 'item', 'who'], [])).toEqual({ users: 'who', items: 'item' });
  });

  it('finds times by the name of their column, or by numbers of seconds since 1970', () => {
    const rows = [['ann', 'tea', '2024-05-01', '5']];
    expect(guessColumns(['user', 'item', 'ordered_at', 'stars'], rows).time).toBe('ordered_at');
    expect(
      guessColumns(['user', 'item', 'date', 'stars'], [['ann', 'tea', 'May', '5']]).time,
    ).toBeUndefined();
    expect(guessColumns(['1', '2', '3', '4'], [['1', '0054890', '9', '1381945744']]).time).toBe('4');
    expect(guessColumns(['1', '2', '3'], [['1', '2', '9']]).time).toBeUndefined();
  });

  it('finds counts in a third column without a name, and takes no rating for one', () => {
    const guess = (...values: string[]) =>
      guessColumns(
        ['1', '2', '3'],
        values.map((value, at) => [`u${at}`, `i${at}`, value]),
      ).count;
    expect(guess('24', '1', '36')).toBe('3');
    expect(guess('1', '1', '2')).toBe('3');
    expect(guess('4', '5', '1', '3')).toBeUndefined();
    expect(guess('1', '0.5', '24')).toBeUndefined();
  });

  it('shows rows without a separator, so that one can be chosen', async () => {
    const { source } = await written('one.csv', 'ann~tea\nbob~milk\n');
    expect(await previewBlob(source)).toMatchObject({
      ...{ separator: ',', header: false, names: ['1'] },
      rows: [['ann~tea'], ['bob~milk']],
    });
    expect((await previewBlob(source, { sep: '~' })).rows).toEqual([
      ['ann', 'tea'],
      ['bob', 'milk'],
    ]);
  });

  it('cuts long cells', async () => {
    const { source } = await written('e.csv', `user,item\n${'x'.repeat(5000)},y\n`);
    expect((await previewBlob(source)).rows[0][0]).toHaveLength(80);
  });
});

describe('functions that browsers lack are replaced', () => {
  const bytes = Uint8Array.from({ length: 10_000 }, (_, i) => (i * i) & 255);

  it('checksums by a table are the native ones', () => {
    expect(crc32ByTable(bytes)).toBe(crc32(bytes));
    expect(crc32ByTable(new Uint8Array(0))).toBe(crc32(new Uint8Array(0)));
  });

  it('pages are unpacked by a stream, never to more than they state', async () => {
    expect(await gunzipHere(gzipSync(bytes), bytes.length)).toEqual(bytes);
    await expect(gunzipHere(gzipSync(bytes), bytes.length - 1)).rejects.toThrow('cannot be unpacked');
  });
});
