import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { timeColumn } from '../../src/ingest/intake/value-column.js';
import type { ReadOptions } from '../../src/ingest/options.js';
import { readGraph, readWithValues } from '../../src/ingest/read.js';
import { readingCautions } from '../../src/report/words/reading.js';
import { edgesOf, scratchFolder } from './scratch.js';

const scratch = scratchFolder();
const csv = scratch.write(
  'shop.csv',
  'user,item,n,time\na,1,2,10\na,2,1,20\nb,1,3,30\nb,2,1,40\nbot,1,9,50\nbot,3,9,60\nc,3,0.4,70\n',
);

const pairs = async (options: ReadOptions) =>
  edgesOf((await readGraph(csv, options)).graph).map((edge) => JSON.parse(edge).join(' '));

describe('vertices left out', () => {
  it('by id, with the vertices that only they met', async () => {
    expect(await pairs({ dropUsers: ['bot'] })).toEqual(['a 1 1', 'a 2 1', 'b 1 1', 'b 2 1', 'c 3 1']);
    expect(await pairs({ dropUsers: ['bot', 'c'], dropItems: ['2'] })).toEqual(['a 1 1', 'b 1 1']);
    const { read, graph } = await readGraph(csv, { dropUsers: ['bot', 'c', 'nobody'] });
    expect(read).toEqual({
      rows: 7,
      kept: 4,
      merged: 0,
      rejected: 0,
      leftOut: { dropped: { users: 2, items: 1, edges: 3, unknown: ['nobody'] } },
    });
    expect(graph.items.count).toBe(2);
  });

  it('by degree, until all that remain have enough; values are kept', async () => {
    const { graph, values, read } = await readWithValues(csv, { minDegree: 2 }, timeColumn('time'));
    expect(edgesOf(graph).map((edge) => JSON.parse(edge).join(' '))).toEqual([
      'a 1 1',
      'a 2 1',
      'b 1 1',
      'b 2 1',
    ]);
    expect([...values]).toEqual([10_000, 20_000, 30_000, 40_000]);
    // First c is removed, then item 3. The bot then has one item and is removed too.
    expect(read.leftOut?.core).toEqual({
      users: 2,
      items: 1,
      edges: 3,
      least: { users: 2, items: 2 },
      passes: 3,
    });
    expect((await readGraph(csv, { minDegree: [2, 1] })).read.leftOut?.core).toMatchObject({
      users: 1,
      items: 0,
      passes: 1,
    });
  });

  it('leave exactly the largest subgraph in which all have enough', async () => {
    const edge = fc.tuple(fc.integer({ min: 0, max: 12 }), fc.integer({ min: 0, max: 9 }));
    await fc.assert(
      fc.asyncProperty(
        fc.array(edge, { minLength: 1, maxLength: 60 }),
        fc.integer({ min: 1, max: 4 }),
        async (list, least) => {
          const file = scratch.write('core.csv', list.map(([u, i]) => `u${u},i${i}\n`).join(''));
          let left = [...new Set(list.map(([u, i]) => `u${u} i${i}`))];
          for (;;) {
            const count = (at: number, id: string) =>
              left.filter((pair) => pair.split(' ')[at] === id).length;
            const next = left.filter((pair) => pair.split(' ').every((id, at) => count(at, id) >= least));
            if (next.length === left.length) break;
            left = next;
          }
          const found = await readGraph(file, { minDegree: least, header: false }).catch((error: Error) => {
            expect(error.message).toMatch(/no edge is left with minDegree/);
            return undefined;
          });
          const edges = found ? edgesOf(found.graph).map((e) => JSON.parse(e).slice(0, 2).join(' ')) : [];
          expect(edges).toEqual(left.sort());
        },
      ),
      { numRuns: 60 },
    );
  });

  it('are reported, with the effect on the verdict', async () => {
    const cautions = readingCautions(await readGraph(csv, { minDegree: 2, dropItems: ['7'] }));
    expect(cautions.join('\n')).toMatch(/1 id to drop is not in the data: 7/);
    expect(cautions.join('\n')).toMatch(
      /the option minDegree 2 left out 2 users and 1 item .* in 3 passes\. The verdict, the tail index, sizes and forecasts depend on low degrees/,
    );
    await expect(readGraph(csv, { dropUsers: ['a', 'b', 'c', 'bot'] })).rejects.toThrow(
      /every edge belongs to a vertex that is dropped/,
    );
    await expect(readGraph(csv, { minDegree: [1, 2, 3] })).rejects.toThrow(
      /one number for both sides, or two/,
    );
    expect(readingCautions(await readGraph(csv))).toEqual([]);
  });
});

describe('times', () => {
  it('that all lie near 1970 are reported as perhaps none', async () => {
    const read = await readWithValues(csv, {}, timeColumn('time'));
    expect(read.guess.unlikelyTimes).toBe('time');
    expect(readingCautions(read)).toEqual([
      expect.stringMatching(/all times of column time lie within 10 days of 1970-01-01/),
    ]);
    const dated = scratch.write('dated.csv', 'user,item,time\na,1,5\nb,2,2024-05-01\n');
    const { guess } = await readWithValues(dated, {}, timeColumn('time'));
    expect(guess.unlikelyTimes).toBeUndefined();
  });
});

describe('counts and weights', () => {
  it('that are named but not kept are reported as unused', async () => {
    const whole = { where: 'n >= 1', count: 'n' } as const;
    const unused = await readGraph(csv, whole);
    expect(unused.guess.countUnused).toBe(true);
    expect(readingCautions(unused)[0]).toMatch(
      /the counts of column n are not used.*multigraph keeps the counts/,
    );
    expect((await readGraph(csv, { ...whole, multigraph: false })).guess.countUnused).toBeUndefined();
    expect((await readGraph(csv, { ...whole, multigraph: true })).guess.countUnused).toBeUndefined();
  });

  it('that are kept but not in the data are reported as all 1', async () => {
    const caution = /every count is 1; name the column with count/;
    const once = scratch.write('once.tsv', 'a\tx\t3\nb\ty\t4\n');
    expect(readingCautions(await readGraph(once, { multigraph: true }))).toEqual([
      expect.stringMatching(caution),
    ]);
    expect(readingCautions(await readGraph(once, { multigraph: true, count: 3 }))).toEqual([]);
    const twice = scratch.write('twice.tsv', 'a\tx\na\tx\nb\ty\n');
    expect(readingCautions(await readGraph(twice, { multigraph: true }))).toEqual([]);
  });

  it('are rounded, halves up, and what rounds to nothing is left out and counted', async () => {
    const file = scratch.write('stars.csv', 'user,item,stars\na,1,4.5\na,2,0.4\nb,1,0.5\nb,1,2\nc,2,1e0\n');
    const read = await readGraph(file, { weight: 'stars', multigraph: true });
    expect(edgesOf(read.graph)).toEqual(['["a","1",5]', '["b","1",3]', '["c","2",1]']);
    expect(read.read).toEqual({ rows: 5, kept: 3, merged: 1, rejected: 0, leftOut: { weight: 1 } });
    expect(read.guess.columns).toEqual({ users: 'user', items: 'item', weight: 'stars' });
    expect(readingCautions(read)[0]).toMatch(
      /weights of column stars are rounded to counts.*ratings are not.*with where instead/,
    );
    for (const [cell, says] of [
      ['-1', /the weight is "-1"; a weight must be a number from 0/],
      ['x', /the weight is "x"/],
      ['', /the weight is empty/],
      ['1e300', /the weight is "1e300"/],
    ] as const) {
      const bad = scratch.write('bad.csv', `user,item,stars\na,1,${cell}\n`);
      await expect(readGraph(bad, { weight: 'stars', multigraph: true })).rejects.toThrow(says);
    }
  });

  it('weights need --multi, a column of their own and no counts', async () => {
    await expect(readGraph(csv, { weight: 'n' })).rejects.toThrow(
      /weights become counts, which only multigraph keeps/,
    );
    await expect(readGraph(csv, { weight: 'n', count: 'n', multigraph: true })).rejects.toThrow(
      /both say how often/,
    );
    await expect(readGraph(csv, { weight: 'item', multigraph: true })).rejects.toThrow(
      /"item" holds ids and cannot be weight too/,
    );
  });
});
