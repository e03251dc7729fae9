import { describe, expect, it } from 'vitest';
import { fit } from '../../src/fit/fit.js';
import { buildGraph } from '../../src/graph/build.js';
import { VertexIds } from '../../src/graph/ids.js';
import { sideTable } from '../../src/ingest/side-table.js';
import { titlesOf } from '../../src/ingest/title-table.js';
import { randomStream } from '../../src/math/random.js';
import { hasNames, topics } from '../../src/study/topics.js';

const parseTitles = (text: string, ids: Parameters<typeof titlesOf>[1], name: string) =>
  titlesOf(sideTable(new TextEncoder().encode(text), name), ids, name);

const integers = (...values: number[]) => VertexIds.integers(Float64Array.from(values));

describe('titles', () => {
  it('finds id and title in a table with several id-like columns, quotes and line breaks', () => {
    const csv =
      'id,book_id,year,title,image\n1,7,2,"The ""First"", a\nnovel",http://a\n2,8,1,Second,http://b\n3,9,1,Third,x\n';
    const titles = parseTitles(csv, integers(1, 2, 3), 'books.csv');
    expect(titles.columns).toEqual({ id: 'id', title: 'title' });
    expect(titles.find('1')).toBe('The "First", a\nnovel');
    expect(titles.find('2')).toBe('Second');
    expect(titles.matched).toBe(3);
  });

  it('reads :: tables without a header, and ids with leading zeros', () => {
    const text =
      '0000008::Edison &amp; Sons, &x27;Thomas&#39; (1894)::Short|Film\n0000010::Exit (1895)::Short\n0000012::Train (1896)::Short\n';
    const titles = parseTitles(text, integers(8, 10), 'movies.dat');
    expect(titles.columns).toEqual({ id: '1', title: '2' });
    expect(titles.find('8')).toBe("Edison & Sons, 'Thomas' (1894)");
    expect(titles.find('12')).toBeUndefined();
    expect(titles.matched).toBe(2);
  });

  it('reads tabs, a byte-order mark and text ids', () => {
    const titles = parseTitles(
      '\uFEFFcode\tname\nA1\tAnvil, large\nB2\tBell\n',
      VertexIds.texts(['A1', 'B2']),
      'f',
    );
    expect(titles.find('A1')).toBe('Anvil, large');
    expect(titles.columns).toEqual({ id: 'code', title: 'name' });
  });

  it('recognises a title column by its values if there is no header', () => {
    const titles = parseTitles('5,1999,Alpha\n6,1999,Beta\n', integers(5, 6), 'f');
    expect(titles.find('6')).toBe('Beta');
  });

  it('says so when the titles belong to something else', () => {
    expect(() => parseTitles('a,b\nc,d\n', integers(5), 'other.csv')).toThrow(
      /other.csv: none of its 2 columns/,
    );
    expect(() => parseTitles('nothing\n', integers(5), 'other.csv')).toThrow(/no row has an id and a title/);
  });
});

describe('topics', () => {
  it('show planted groups of items, each in a feature of its own', async () => {
    // Users of group g have most of the items of group g and a common item.
    const random = randomStream(5);
    const users: number[] = [];
    const items: number[] = [];
    for (let u = 0; u < 120; u++) {
      users.push(u);
      items.push(20);
      for (let j = 0; j < 10; j++) {
        if (random.uniform() < 0.8) {
          users.push(u);
          items.push((u % 2) * 10 + j);
        }
      }
    }
    const names = Array.from({ length: 20 }, (_, j) => `${j < 10 ? 'left' : 'right'}${j}`);
    const graph = buildGraph({
      users,
      items,
      userCount: 120,
      itemCount: 21,
      itemIds: VertexIds.texts([...names, 'zcommon']),
    });
    const { model } = await fit(graph, { features: 2, engine: 'reference', iterations: 100 });
    const found = topics(model, 5);
    expect(found).toHaveLength(2);
    const groups = found.map((topic) => {
      const sides = new Set(topic.items.map((item) => item.id.replace(/\d+/, '')));
      sides.delete('zcommon');
      expect(sides.size).toBe(1);
      return [...sides][0];
    });
    expect(groups.sort()).toEqual(['left', 'right']);
    expect(found[0].share + found[1].share).toBeCloseTo(1, 5);
    expect(found[0].users).toEqual([]); // users are numbers
    expect(hasNames(graph.items.ids, undefined)).toBe(true);
    expect(hasNames(graph.users.ids, undefined)).toBe(false);
    expect(hasNames(VertexIds.texts(['85123A', '71053']), undefined)).toBe(false);
  });
});
