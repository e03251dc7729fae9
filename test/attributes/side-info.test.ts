import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { askedColumns } from '../../src/attributes/columns.js';
import { catalogueOf } from '../../src/attributes/info.js';
import { readSideInfo } from '../../src/attributes/side-info.js';
import { VertexIds } from '../../src/graph/ids.js';
import { sideTable } from '../../src/ingest/side-table.js';

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
    // Words of one row alone say nothing about two.
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
    expect(() => askedColumns(['genre:colour'])).toThrow(/colour is no kind of column/);
  });

  it('is refused if it belongs to other data', () => {
    expect(() => read(ids(['p', 'q']), FILMS)).toThrow(
      /none of its 6 columns holds ids of the data: the data have ids such as p, q, and its first column holds id, a, b/,
    );
  });

  it('may hold names that objects have of their own', () => {
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
