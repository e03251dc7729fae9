import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { columnValues } from '../../src/attributes/attribute-values.js';
import { askedColumns } from '../../src/attributes/columns.js';
import { catalogueOf } from '../../src/attributes/info.js';
import { readSideInfo } from '../../src/attributes/side-info.js';
import { VertexIds } from '../../src/graph/ids.js';
import { readSideTable } from '../../src/ingest/side-file.js';
import { sideTable } from '../../src/ingest/side-table.js';
import { textColumns, WIDTH_ROWS } from '../../src/ingest/text-columns.js';
import { infoWords } from '../../src/report/words/info.js';
import { USERS_AND_ITEMS } from '../../src/text/sides.js';
import { literal, withDuckDB } from '../ingest/duckdb.js';

const ids = (texts: readonly string[]) => ({ count: texts.length, ids: VertexIds.texts(texts) });
const read = (side: ReturnType<typeof ids>, text: string, columns?: readonly string[]) =>
  readSideInfo(side, {
    name: 'films.csv',
    rows: sideTable(new TextEncoder().encode(text), 'films.csv'),
    columns: askedColumns(columns),
  });

const FILMS = [
  'id,title,genre,released,link,price',
  'a,The Matrix (1999),Action|Sci-Fi,1999,http://x/1,10',
  'b,Heat (1995),Action|Crime,1995,http://x/2,12.5',
  'c,Matrix Reloaded (2003),Action|Sci-Fi,2003,http://x/3,',
  'd,Alien (1979),Horror|Sci-Fi,1979,http://x/4,8',
].join('\n');

function attributesOf({ info }: ReturnType<typeof read>, row: number) {
  const { rows, names, columns } = info;
  return Array.from(rows.targets.subarray(rows.offsets[row], rows.offsets[row + 1]), (a) => {
    const column = columns.find(({ first, count }) => a >= first && a < first + count)!;
    return `${column.name}: ${names[a]}`;
  });
}

describe('a table about items', () => {
  it('has its columns recognised, and its vertices without edges added', () => {
    const found = read(ids(['a', 'b', 'x']), FILMS);
    const { info, report } = found;
    expect(report).toMatchObject({
      rows: 4,
      matched: 2,
      missing: { count: 1, examples: ['x'] },
      added: { count: 2, examples: ['c', 'd'] },
      id: 'id',
      title: 'title',
      ignored: [{ name: 'link', because: 'addresses' }],
    });
    expect(report.columns.map(({ name, kind }) => `${name}: ${kind}`)).toEqual([
      'title: text',
      'genre: category',
      'released: number',
      'price: number',
      'year: number',
    ]);
    expect(info.titles).toEqual([
      'The Matrix (1999)',
      'Heat (1995)',
      '',
      'Matrix Reloaded (2003)',
      'Alien (1979)',
    ]);
    // A word that only one row has says nothing about the similarity of two rows.
    expect(attributesOf(found, 0)).toEqual([
      'title: matrix',
      'genre: Action',
      'genre: Sci-Fi',
      'released: 1999',
      'price: 10',
      'year: 1999',
    ]);
    expect(attributesOf(found, 2)).toEqual([]);
    const model = {
      items: { ...ids(['a', 'b', 'x']), degree: Uint32Array.of(3, 2, 1) },
      info: { items: info },
    };
    // Without scores by attributes they cannot be listed.
    expect(catalogueOf(model).ids.find('d')).toBe(-1);
    const content = {} as NonNullable<typeof info.content>;
    model.info = { items: { ...info, content } };
    expect(catalogueOf(model).ids.find('d')).toBe(4);
    expect([...catalogueOf(model).degree]).toEqual([3, 2, 1, 0, 0]);
  });

  it('may have a row for each attribute, with counts', () => {
    const found = read(
      ids(['1', '2']),
      'item,word,count\n1,graph,2\n1,sparse,1\n2,graph,1\n3,graph,4\n3,edge,1',
    );
    expect(attributesOf(found, 0)).toEqual(['word: graph', 'word: sparse']);
    expect([...found.info.rows.weights]).toEqual([2, 1, 1, 1, 4]);
    expect(found.report).toMatchObject({ matched: 2, added: { count: 1 }, title: null });
  });

  it('has titles in the first column in which nearly every row has its own value', () => {
    const all = Array.from({ length: 60 }, (_, i) => `i${i}`);
    const rows = (of: (i: number) => string) => all.map((id, i) => `${id},${of(i)}`).join('\n');
    const title = (text: string) => read(ids(all), text).info.titles.slice(0, 2);
    // A longer description comes later, and a remake repeats a title.
    expect(
      title(rows((i) => `${i % 4 ? 'A' : 'The'} film ${i % 55},Plot ${i} is long and never repeats`)),
    ).toEqual(['The film 0', 'A film 1']);
    // Short names, also after codes without letters.
    expect(title(rows((i) => `${1e9 + 7919 * i}-${i},Name${i},${i % 3 ? 'x' : 'y'}`))).toEqual([
      'Name0',
      'Name1',
    ]);
    expect(title(rows((i) => `${i % 3 ? 'x' : 'y'},${i}`))).toEqual([]);
  });

  it('of more columns than are read is said to be cut', () => {
    const wide = (columns: number) =>
      Array.from({ length: 3 }, (_, r) => [`i${r}`, ...Array(columns - 1).fill('x')].join(',')).join('\n');
    const words = (columns: number) =>
      infoWords(
        { ...read(ids(['i0', 'i1', 'i2']), wide(columns)).report, source: 'T' },
        USERS_AND_ITEMS.items,
      );
    expect(words(300)).toContain('Only the first 200 columns are read.');
    expect(words(199)).not.toContain('Only');
  });

  it('is the same in any order of its rows', () => {
    const [header, ...rows] = FILMS.split('\n');
    fc.assert(
      fc.property(fc.shuffledSubarray(rows, { minLength: rows.length }), (mixed) => {
        expect(read(ids(['a', 'b']), [header, ...mixed].join('\n')).info).toEqual(
          read(ids(['a', 'b']), FILMS).info,
        );
      }),
      { numRuns: 10 },
    );
  });

  it('uses the columns that are asked for, as the kinds that are asked for', () => {
    const { report } = read(ids(['a', 'b']), FILMS, ['genre', 'released:category']);
    expect(report.columns).toEqual([
      { name: 'genre', kind: 'category', attributes: 4 },
      { name: 'released', kind: 'category', attributes: 4 },
    ]);
    expect(() => read(ids(['a']), FILMS, ['gnre'])).toThrow(
      /infoColumns.*no column gnre; it has id, title, genre/,
    );
    expect(() => askedColumns(['genre:colour'])).toThrow(/colour is not a kind of column/);
  });

  it('of many more rows than the data have vertices is joined by its ids, not by numbers that repeat', () => {
    const known = ids(Array.from({ length: 500 }, (_, v) => String(v + 1)));
    const rows = Array.from({ length: 60_000 }, (_, r) => `${r + 1},${(r % 97) + 1}`);
    expect(read(known, ['id,stars', ...rows].join('\n')).report).toMatchObject({ id: 'id', matched: 500 });
  });

  it('is refused if it belongs to other data', () => {
    expect(() => read(ids(['p', 'q']), FILMS)).toThrow(
      /none of its 6 columns holds ids of the data: the data have ids such as p, q, and its first column holds id, a, b/,
    );
  });

  it('may hold names such as __proto__ that every object has', () => {
    const text = 'id,__proto__\na,__proto__|constructor\nb,__proto__|toString\nc,constructor';
    const found = read(ids(['a', 'b', 'c']), text);
    expect(attributesOf(found, 1)).toEqual(['__proto__: __proto__', '__proto__: toString']);
  });

  it('loses words that are too rare or too common, and says how many', () => {
    const rows = Array.from({ length: 40 }, (_, i) => `${i},same words item${i} pair${i >> 1}`);
    const { report } = read(
      ids(Array.from({ length: 40 }, (_, i) => String(i))),
      ['id,notes', ...rows].join('\n'),
      ['notes:text'],
    );
    expect(report).toMatchObject({ kept: 20, dropped: { rare: 40, common: 1, beyond: 0 } });
  });
});

describe('a hostile table', () => {
  const many = ids(Array.from({ length: 60 }, (_, i) => `i${i}`));

  it('keeps a bounded number of attributes, those of the most rows, and says how many it drops', () => {
    const cells = Array.from({ length: 60 }, (_, row) => ({
      ...{ row, count: 1, separator: '|' },
      text: ['zz', ...Array.from({ length: 1990 }, (__, v) => `v${row * 1990 + v}`)].join('|'),
    }));
    const { names, dropped } = columnValues('tags', 'category', cells, 60);
    expect([names.length, names.at(-1)]).toEqual([100_000, 'zz']);
    expect(dropped).toEqual({ rare: 0, common: 0, beyond: 60 * 1990 + 1 - 100_000 });
  });

  it('is read with invalid values in a column, and refused if it is not a table', () => {
    const rubbish = Array.from(
      { length: 60 },
      (_, i) => `i${i},\u0001\u001b[31m${'x'.repeat(i)}\u202e|\ufffd`,
    );
    const { report } = read(many, ['id,note', ...rubbish].join('\n'));
    expect(report.matched).toBe(60);
    const bytes = Uint8Array.from({ length: 5000 }, (_, i) => (i * 7919) % 256);
    expect(() => sideTable(bytes, 'items.bin')).toThrow(/items.bin: .*(not a table|UTF-16)/);
  });

  it('has the texts of the file, also if more short ones come again than are kept', () => {
    const words = ['', 'a', 'b', 'aa', 'x'.repeat(24), 'x'.repeat(25), 'Lumière', 'say ""so""'];
    const lines = Array.from({ length: 50_000 }, (_, r) => [
      `i${r % 25_000}`,
      words[(r * 7) % 8],
      String(r % 9),
    ]);
    const text = lines.map(([id, word, n]) => `${id},${/"/.test(word) ? `"${word}"` : word},${n}`).join('\n');
    const rows = sideTable(new TextEncoder().encode(text), 'items.csv');
    expect(rows.map(({ fields }) => fields)).toEqual(
      lines.map(([id, word, n]) => [id, word.replaceAll('""', '"'), n]),
    );
  });

  it('by columns: short rows are filled, rows of one column are left out, and the first rows say how many there are', () => {
    const rows = Array.from({ length: WIDTH_ROWS + 3 }, (_, r) => ({
      line: r + 1,
      fields: ['a', String(r)],
    }));
    rows[0] = { line: 1, fields: ['alone'] };
    rows[5] = { line: 6, fields: ['b', 'c', 'd'] };
    rows[WIDTH_ROWS + 2] = { line: WIDTH_ROWS + 3, fields: ['e', 'f', 'g', 'h'] };
    const { named, first, columns } = textColumns(rows);
    expect([named, first]).toEqual([false, ['a', '1']]);
    const kept = rows.filter(({ fields }) => fields.length > 1);
    expect(columns).toEqual([0, 1, 2].map((c) => kept.map(({ fields }) => fields[c] ?? '')));
    expect(textColumns([])).toEqual({ named: false, first: [], columns: [] });
  });

  it('with an id twice and cells of any length is read', () => {
    const { report } = read(
      many,
      ['id,note', `i1,${'word '.repeat(50_000)}`, 'i1,other', 'i2,word other'].join('\n'),
      ['note:text'],
    );
    expect(report.matched).toBe(2);
  });
});

describe('a table of a database', () => {
  const folder = mkdtempSync(join(tmpdir(), 'graphex-info-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('is read like the same table in a file, also by a query', async () => {
    const csv = join(folder, 'films.csv');
    writeFileSync(csv, FILMS);
    const [one, two] = ['one', 'two'].map((name) => join(folder, `${name}.duckdb`));
    await withDuckDB(1, async (connection) => {
      for (const path of [one, two])
        await connection.run(`ATTACH ${literal(path)} AS ${path === one ? 'a' : 'b'}`);
      for (const table of ['a.films', 'b.films', 'b.others']) {
        await connection.run(
          `CREATE TABLE ${table} AS SELECT * FROM read_csv(${literal(csv)}, all_varchar = true)`,
        );
      }
    });
    const texts = (rows: readonly { fields: readonly string[] }[]) => rows.map(({ fields }) => fields);
    const expected = FILMS.split('\n').map((line) => line.split(','));
    expect(texts(await readSideTable(one))).toEqual(expected);
    expect(texts(await readSideTable(`sql:SELECT * FROM ${literal(csv)}`))).toHaveLength(5);
    const chosen = await readSideTable('sql:SELECT id, genre FROM films', { database: two });
    expect(texts(chosen)).toEqual(expected.map(([id, , genre]) => [id, genre]));
    await expect(readSideTable(two)).rejects.toThrow(/it has 2 tables, films, others; give a query/);
    await expect(readSideTable('sql:DROP TABLE films', { database: two })).rejects.toThrow(
      /expected one SELECT/,
    );
  });
});
