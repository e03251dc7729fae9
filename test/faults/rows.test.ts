// Hostile tables: odd line ends, endless repeats, endless errors.

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readGraph } from '../../src/index.js';
import { linesOf } from '../../src/ingest/formats/lines.js';
import { EdgeCollector, MAX_REJECTED_TEXT, MAX_REJECTS } from '../../src/ingest/intake/collect.js';
import { FEW_ROWS } from '../../src/ingest/intake/merge-pairs.js';
import { edgesOf, scratchFolder } from '../ingest/scratch.js';

const scratch = scratchFolder();

describe('line ends', () => {
  it.each([
    ['CR alone', '\r'],
    ['CR LF', '\r\n'],
    ['LF', '\n'],
  ])('of %s are read right in tables, JSON lines and texts', async (_, end) => {
    const rows = ['user,item', 'a,x', '"b ""1""",y', 'c,"z\rz"', ''].join(end);
    const { graph, guess } = await readGraph(scratch.write('ends.csv', rows));
    expect(guess.header).toBe(true);
    expect(edgesOf(graph)).toEqual(['["a","x",1]', '["b \\"1\\"","y",1]', '["c","z\\rz",1]']);
    const json = ['{"u":1,"i":2}', '{"u":3,"i":4}'].join(end);
    expect(edgesOf((await readGraph(scratch.write('ends.jsonl', json))).graph)).toEqual([
      '["1","2",1]',
      '["3","4",1]',
    ]);
    const text = await readGraph(`text:${scratch.write('ends.txt', ['summer', 'winter'].join(end))}`);
    expect([text.graph.users.count, text.graph.items.count]).toEqual([2, 2]);
    const films = await readGraph(
      `netflix:${scratch.write('films.txt', ['7:', '11,5,2005-01-01', '12,3'].join(end))}`,
    );
    expect(films.graph.edges).toBe(2);
  });

  it('may be mixed, also where chunks are cut between CR and LF', async () => {
    const { graph } = await readGraph(scratch.write('mixed.csv', 'a,1\rb,2\r\nc,3\nd,4\r\r\ne,5'));
    expect(graph.users.count).toBe(5);
    const text = new TextEncoder().encode('\uFEFFab\r\ncd\re\n\r\nf\r');
    for (let cut = 0; cut <= text.length; cut++) {
      const lines: string[] = [];
      const chunks = (async function* () {
        yield text.subarray(0, cut);
        yield text.subarray(cut);
      })();
      for await (const batch of linesOf(chunks))
        for (const line of batch) lines.push(new TextDecoder().decode(line));
      expect(lines, `cut at ${cut}`).toEqual(['ab', 'cd', 'e', '', 'f']);
    }
  });

  it('of bad rows are skipped whole, so that the next line is read and counted', async () => {
    const rejects = scratch.path('rejects.csv');
    const file = scratch.write('bad.csv', 'a,1\r\n"b"x,2\r\nc,3\r\nd\r\ne,5\r\n');
    const { graph, read } = await readGraph(file, { rejects, header: false });
    expect([graph.edges, read.rejected]).toEqual([3, 2]);
    expect(readFileSync(rejects, 'utf8')).toMatch(/^2,.*"""b""x,2"\n4,.*"d"\n/ms);
  });
});

describe('rows that repeat', () => {
  /** Memory of the lists, in bytes, while `rows` rows are added. */
  function most(rows: number, pair: (row: number) => [number, number], multigraph: boolean) {
    const collector = new EdgeCollector('rows', { multigraph });
    let longest = 0;
    for (let row = 0; row < rows; row++) {
      collector.push(...pair(row), 1);
      if (row % 4096 === 0) longest = Math.max(longest, collector.users.codes.length);
    }
    return { longest, ...collector.finish() };
  }

  it.each([false, true])(
    'take the memory of the different pairs, not of the rows (counts: %s)',
    (multigraph) => {
      const rows = Math.round(1.2 * FEW_ROWS);
      const one = most(rows, () => [0, 0], multigraph);
      expect(one.longest).toBeLessThan(1.1 * FEW_ROWS);
      expect(one.read).toEqual({ rows, kept: 1, merged: rows - 1, rejected: 0 });
      expect(one.graph.total).toBe(multigraph ? rows : 1);
      if (!multigraph) return;
      // Pairs repeat with a period longer than the sample of rows.
      const many = most(rows, (row) => [row % 300_000, row % 7], multigraph);
      expect(many.longest).toBeLessThan(2.5 * Math.max(FEW_ROWS, many.read.kept));
      expect(many.read).toEqual({ rows, kept: 2_100_000, merged: rows - 2_100_000, rejected: 0 });
      expect(many.graph.total).toBe(rows);
    },
  );

  it('give the same graph as without merging, also if ids change from numbers to texts in between', async () => {
    const collector = new EdgeCollector('rows', { multigraph: true });
    const numbers = ['0', '1', '2', '3', '4'];
    const texts = ['u0', 'u1', 'u2'];
    const users = [...numbers, ...texts];
    // Millions of rows with few distinct pairs. Bytes and expected counts are kept by the number of the user.
    const bytes = users.map((user) => new TextEncoder().encode(user));
    const counts = new Uint32Array(2 * users.length);
    for (let row = 0; row < 1.3 * FEW_ROWS; row++) {
      const user = row < 1.1 * FEW_ROWS ? row % numbers.length : numbers.length + (row % texts.length);
      collector.push(collector.users.encode(bytes[user], 0, bytes[user].length), row % 2, 1);
      counts[2 * user + (row % 2)]++;
    }
    const { graph } = collector.finish();
    const expected = users.flatMap((user, u) =>
      ['0', '1'].map((item, i) => JSON.stringify([user, item, counts[2 * u + i]])),
    );
    expect(edgesOf(graph)).toEqual(expected.sort());
  });
});

describe('rows that are bad', () => {
  it('without end stop the reading with a sentence', () => {
    const fill = (text: string) => {
      let kept = 0;
      const collector = new EdgeCollector('t.csv', {}, { add: () => kept++ });
      expect(() => {
        for (let line = 1; ; line++) collector.reject(line, 'the id is empty', text);
      }).toThrow(/^t\.csv, line \d+: the id is empty\. So far more than \d+ .*bad, so reading stops/);
      return kept;
    };
    expect(fill(',')).toBe(MAX_REJECTS);
    expect(fill('x'.repeat(1 << 20))).toBe(MAX_REJECTED_TEXT >> 20);
  });
});
