import { describe, expect, it } from 'vitest';
import type { BipartiteGraph } from '../../src/graph/graph.js';
import { VertexIds } from '../../src/graph/ids.js';
import { parseNumber, parseTime, timeColumn } from '../../src/ingest/intake/value-column.js';
import { readWithValues } from '../../src/ingest/read.js';
import { writeParquet } from '../../src/parquet/write.js';
import { scratchFolder } from './scratch.js';

const { path: place, write: file } = scratchFolder();
const byPair = (graph: BipartiteGraph, values: Float64Array) => {
  const found: Record<string, number> = {};
  const { ids, offsets, neighbors, count } = graph.users;
  for (let u = 0; u < count; u++) {
    for (let e = offsets[u]; e < offsets[u + 1]; e++) {
      found[`${ids.at(u)} ${graph.items.ids.at(neighbors[e])}`] = values[e];
    }
  }
  return found;
};

describe('parseTime', () => {
  it.each([
    ['1714588200', Date.UTC(2024, 4, 1, 18, 30)],
    ['1714588200000', Date.UTC(2024, 4, 1, 18, 30)],
    ['1714588200000000', Date.UTC(2024, 4, 1, 18, 30)],
    ['1714588200000000000', Date.UTC(2024, 4, 1, 18, 30)],
    ['1714588200.5', Date.UTC(2024, 4, 1, 18, 30, 0, 500)],
    ['1.7145882e9', Date.UTC(2024, 4, 1, 18, 30)],
    ['-86400', -86_400_000],
    ['0', 0],
    ['2024-05-01', Date.UTC(2024, 4, 1)],
    ['20240501', Date.UTC(2024, 4, 1)],
    ['2024/5/1', Date.UTC(2024, 4, 1)],
    ['2024-05-01T18:30:00Z', Date.UTC(2024, 4, 1, 18, 30)],
    ['2024-05-01 18:30', Date.UTC(2024, 4, 1, 18, 30)],
    ['2024-05-01T20:30:00+02:00', Date.UTC(2024, 4, 1, 18, 30)],
    ['2024-05-01T13:30:00.250-0500', Date.UTC(2024, 4, 1, 18, 30, 0, 250)],
    ['2024-05-01 18:30:00 UTC', Date.UTC(2024, 4, 1, 18, 30)],
  ])('%s', (text, expected) => {
    expect(parseTime(text)).toBeCloseTo(expected, 3);
  });

  it.each(['', 'yesterday', '2024-13-01', '2023-02-29', '12:30', '2024-05-01T25:00', 'NaN', '1,5'])(
    '%s is no time, and the message says what one is',
    (text) => {
      expect(parseTime(text)).toMatch(
        /the time is .*; a time is a number of seconds or milliseconds since 1970, or a date/,
      );
    },
  );
});

describe('a table with a further column', () => {
  it('keeps the first time of a pair, whatever the order of the rows', async () => {
    const path = file('t.csv', 'when,user,item\n30,b,x\n20,a,y\n10,b,x\n2024-05-01,a,x\n');
    const { graph, values, read } = await readWithValues(
      path,
      { users: 'user', items: 'item' },
      timeColumn('when'),
    );
    expect(byPair(graph, values)).toEqual({
      'a x': Date.UTC(2024, 4, 1),
      'a y': 20_000,
      'b x': 10_000,
    });
    expect(read.merged).toBe(1);
  });

  it('keeps the largest score on request, and the position of the row if there is no column', async () => {
    const path = file('s.tsv', 'a\tx\t-1.5\na\ty\t3\na\tx\t2\n');
    const score = { column: 3, role: 'score', parse: parseNumber('score'), keep: 'largest' as const };
    const scored = await readWithValues(path, {}, score);
    expect(byPair(scored.graph, scored.values)).toEqual({ 'a x': 2, 'a y': 3 });
    const order = { column: undefined, role: 'rank', parse: parseNumber('rank'), keep: 'least' as const };
    const ordered = await readWithValues(path, {}, order);
    expect(byPair(ordered.graph, ordered.values)).toEqual({ 'a x': 0, 'a y': 1 });
  });

  it('reads JSON lines too', async () => {
    const path = file('t.jsonl', '{"u":1,"i":2,"t":"2024-05-01T00:00:00+01:00"}\n{"u":1,"i":3,"t":86400}\n');
    const { graph, values } = await readWithValues(path, {}, timeColumn('t'));
    expect(byPair(graph, values)).toEqual({ '1 2': Date.UTC(2024, 3, 30, 23), '1 3': 86_400_000 });
  });

  it('an invalid time stops with line and column, or goes to the rejects', async () => {
    const path = file('bad.csv', 'user,item,time\na,x,1\nb,y,soon\n');
    await expect(readWithValues(path, {}, timeColumn('time'))).rejects.toThrow(
      /line 3: column "time": the time is "soon"/,
    );
    const rejects = place('r.csv');
    const { read } = await readWithValues(path, { rejects }, timeColumn('time'));
    expect(read).toMatchObject({ kept: 1, rejected: 1 });
  });

  it('refuses a column of ids, one that is not there, and data without columns', async () => {
    const path = file('t.csv', 'user,item,time\na,x,1\n');
    await expect(readWithValues(path, {}, timeColumn('item'))).rejects.toThrow(
      /holds ids and cannot be time/,
    );
    await expect(readWithValues(path, {}, timeColumn('when'))).rejects.toThrow(/no column "when" for time/);
    await expect(readWithValues('@simulated-small', {}, timeColumn(3))).rejects.toThrow(/it is not a table/);
  });
});

describe('a Parquet table with a further column', () => {
  it('is read like any other, and an invalid value is refused with its row', async () => {
    const path = place('t.parquet');
    await writeParquet(path, 3, [
      { name: 'user', ids: VertexIds.texts(['a', 'b']), vertices: [1, 0, 1] },
      { name: 'item', ids: VertexIds.texts(['x', 'y']), vertices: [0, 1, 0] },
      { name: 'count', numbers: [2, 3, 4] },
      { name: 'time', ids: VertexIds.texts(['2024-05-01', 'soon']), vertices: [0, 0, 0] },
      { name: 'seconds', numbers: [30, 20, 10] },
    ]);
    const { graph, values } = await readWithValues(
      path,
      { count: 'count', multigraph: true },
      timeColumn('seconds'),
    );
    expect(byPair(graph, values)).toEqual({ 'a y': 20_000, 'b x': 10_000 });
    expect(graph.total).toBe(9);
    const dated = await readWithValues(path, {}, timeColumn('time'));
    expect(dated.values).toEqual(Float64Array.of(Date.UTC(2024, 4, 1), Date.UTC(2024, 4, 1)));
    const score = { column: 'time', role: 'score', parse: parseNumber('score'), keep: 'least' as const };
    await expect(readWithValues(path, {}, score)).rejects.toThrow(
      /row 1: column "time": the score is "2024-05-01"/,
    );
  });
});
