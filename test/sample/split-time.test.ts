import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { auditSplit } from '../../src/audit/audit.js';
import { evaluateModel } from '../../src/evaluate/evaluate.js';
import { fit } from '../../src/fit/fit.js';
import { timeColumn } from '../../src/ingest/intake/value-column.js';
import { readGraph, readWithValues } from '../../src/ingest/read.js';
import { randomStream } from '../../src/math/random.js';
import { split, splitFolds } from '../../src/sample/split.js';
import { loadFolds, saveFolds } from '../../src/store/fold-folder.js';
import { loadSplit, saveSplit } from '../../src/store/split-folder.js';
import { graphex } from '../cli/run.js';

const folder = mkdtempSync(join(tmpdir(), 'graphex-time-'));
afterAll(() => rmSync(folder, { recursive: true }));
const at = (name: string) => join(folder, name);

const random = randomStream(4);
const START = Date.UTC(2013, 0, 1);
const rows = Array.from({ length: 900 }, (_, i) => {
  const user = Math.floor(60 * random.uniform() ** 1.4);
  // Several rows share each day.
  return `u${user},i${Math.floor(40 * random.uniform() ** 2)},${new Date(START + 86_400_000 * Math.floor(i / 9)).toISOString()}`;
});
const table = at('log.csv');
writeFileSync(table, `user,item,when\n${rows.join('\n')}\n`);
const read = () => readWithValues(table, {}, timeColumn('when'));

describe('a split by time', () => {
  it('holds out the latest edges; edges of one moment stay in one part', async () => {
    const { graph, values } = await read();
    const { train, test, foldIn, times, method } = split(graph, {
      method: 'time',
      testUsers: 0.25,
      times: values,
    });
    expect([method, foldIn.edges, train.edges + test.edges]).toEqual(['time', 0, graph.edges]);
    expect(Math.max(...times!.train)).toBeLessThan(times!.cut!);
    expect(Math.min(...times!.test)).toBe(times!.cut);
    expect([times!.train.length, times!.test.length]).toEqual([train.edges, test.edges]);
    expect(test.edges / graph.edges).toBeGreaterThanOrEqual(0.25);
    expect(test.edges / graph.edges).toBeLessThan(0.3);
    expect(split(graph, { method: 'time', testUsers: 0.25, times: values, seed: 9 }).test.edges).toBe(
      test.edges,
    );
  });

  it('loads again from its folder, for evaluations and audits', async () => {
    const { graph, values } = await read();
    const made = split(graph, { method: 'time', times: values });
    await saveSplit(at('parts'), made);
    const loaded = await loadSplit(at('parts'));
    expect(loaded.times).toEqual(made.times);
    const { model } = await fit(loaded.train, { features: 2, iterations: 10, threads: 1, model: 'sparse' });
    const { ranking, predictiveReason } = await evaluateModel(model, loaded, { threads: 1 });
    expect(ranking.all.users).toBeGreaterThan(0);
    expect(predictiveReason).toBe('edges-held-out');
    const { train, test } = loaded.times!;
    const { checks } = await auditSplit(loaded, { times: { train, test }, control: false });
    expect(checks.find(({ name }) => /time/i.test(name))).toMatchObject({ verdict: 'fine' });
  });

  it('by the last edges of each user tests only on these, and loads again from its folder', async () => {
    const { graph, values } = await read();
    const made = split(graph, { method: 'last', last: 3, times: values });
    const { train, test, times } = made;
    const timesOf = (part: typeof graph, times: Float64Array, id: string) => {
      const u = part.users.ids.find(id);
      return u < 0 ? [] : [...times.subarray(part.users.offsets[u], part.users.offsets[u + 1])];
    };
    for (let u = 0; u < graph.users.count; u++) {
      const id = graph.users.ids.at(u);
      const all = timesOf(graph, values!, id).sort((a, b) => a - b);
      const tested = timesOf(test, times!.test, id).sort((a, b) => a - b);
      expect(tested).toEqual(all.length > 3 ? all.slice(-3) : []);
      expect(timesOf(train, times!.train, id)).toHaveLength(all.length - tested.length);
    }
    await saveSplit(at('last'), made);
    expect((await loadSplit(at('last'))).times).toEqual(times);
    const { test: one } = split(graph, { method: 'last', times: values });
    expect(one.edges).toBeLessThan(test.edges / 2);
    expect(() => split(graph, { method: 'last' })).toThrow(/method last needs the time of each edge/);
    expect(() => split(graph, { last: 2 })).toThrow(/last is for method last/);
    expect(() => split(graph, { method: 'last', testUsers: 0.1, times: values })).toThrow(
      /testUsers has no meaning with method last/,
    );
  });

  it('needs a finite time for each edge, and takes no fraction of items', async () => {
    const { graph, values } = await read();
    expect(() => split(graph, { method: 'time' })).toThrow(
      /method time needs the time of each edge: give times/,
    );
    expect(() => split(graph, { method: 'time', times: values.subarray(1) })).toThrow(
      /times for \d+ edges; give one for each/,
    );
    expect(() =>
      split(graph, { method: 'time', times: values.map((t, e) => (e === 3 ? Number.NaN : t)) }),
    ).toThrow(/the time of edge 3 is NaN/);
    expect(() => split(graph, { method: 'time', times: values, testItems: 0.2 })).toThrow(
      /testItems has no meaning with method time/,
    );
    expect(() => split(graph, { method: 'time', times: values.fill(5) })).toThrow(
      /the train part of the split has no edges/,
    );
  });

  it('is a command whose folder other commands read', async () => {
    const made = await graphex(
      'split',
      table,
      '--method',
      'time',
      '--time',
      'when',
      '--test-users',
      '0.2',
      '-o',
      at('cut'),
    );
    expect(made.status).toBe(0);
    expect(made.stdout.replaceAll(/\s+/g, ' ')).toMatch(
      /Edges from 2013-03-\d\dT00:00:00Z on are the test part, earlier edges are for training/,
    );
    const audit = JSON.parse((await graphex('audit', at('cut'), '--no-control', '--json')).stdout);
    expect(audit.checks.some(({ name }: { name: string }) => /time/i.test(name))).toBe(true);
    for (const [args, says] of [
      [['--method', 'time'], /--method time: it needs the column of the times, as in --time timestamp/],
      [['--folds', '3', '--method', 'edges'], /--folds cuts the users: it needs --method pq, not edges/],
      [['--folds', '3', '--test-users', '0.3'], /--test-users has no meaning with --folds/],
      [['--folds', '100'], /--folds 100: the data have only \d+ users/],
      [['--method', 'time', '--time', 'item'], /"item" holds ids and cannot be --time too/],
    ] as const) {
      const { status, stderr } = await graphex('split', table, ...args, '-o', at('no'));
      expect([status, stderr]).toEqual([2, expect.stringMatching(says)]);
    }
  });
});

describe('a split of a table with times', () => {
  it.each(['parquet', 'csv'] as const)('keeps times and counts in every part, as %s', async (format) => {
    const { graph, values } = await readWithValues(
      table,
      { multigraph: true, users: 'user', items: 'item' },
      timeColumn('when'),
    );
    const whole = new Map<string, string>();
    const { users, items } = graph;
    for (let u = 0; u < users.count; u++) {
      for (let e = users.offsets[u]; e < users.offsets[u + 1]; e++)
        whole.set(
          `${users.ids.at(u)} ${items.ids.at(users.neighbors[e])}`,
          `${users.counts![e]} ${values[e]}`,
        );
    }
    for (const method of ['pq', 'edges', 'last'] as const) {
      const made = split(graph, { method, times: values });
      await saveSplit(at(`${method}-${format}`), made, {}, { format });
      const loaded = await loadSplit(at(`${method}-${format}`));
      expect(loaded.times).toEqual(made.times);
      let edges = 0;
      for (const part of ['train', 'foldIn', 'test'] as const) {
        const own = loaded[part].users;
        for (let u = 0; u < own.count; u++) {
          for (let e = own.offsets[u]; e < own.offsets[u + 1]; e++, edges++) {
            const pair = `${own.ids.at(u)} ${loaded[part].items.ids.at(own.neighbors[e])}`;
            expect(`${own.counts![e]} ${loaded.times![part][e]}`).toBe(whole.get(pair));
          }
        }
      }
      expect(edges).toBe(graph.edges);
    }
  });

  it('as CSV keeps ids that are texts of digits in one part', async () => {
    const odd = at('odd.csv');
    const pairs = Array.from({ length: 200 }, (_, i) => `${i % 20 === 0 ? 'x' : i % 20},${(i * 7) % 13}`);
    writeFileSync(odd, `user,item\n${pairs.join('\n')}\n`);
    const { graph } = await readGraph(odd);
    const made = split(graph, { seed: 3 });
    await saveSplit(at('odd'), made, {}, { format: 'csv' });
    const loaded = await loadSplit(at('odd'));
    expect(loaded.train.users.ids.kind).toBe('text');
    expect(readFileSync(join(at('odd'), 'train.csv'), 'utf8').split('\n')[0]).toBe('user,item');
    expect([loaded.train.edges, loaded.test.edges]).toEqual([made.train.edges, made.test.edges]);
  });
});

describe('folds of users', () => {
  it('hold out each user once, and load again from their folder', async () => {
    const { graph, values } = await read();
    const folds = splitFolds(graph, 4, { testItems: 0.3, times: values });
    const held = new Uint8Array(graph.users.count);
    for (const { assignment } of folds)
      assignment.users.drawn.forEach((one, u) => {
        held[u] += one;
      });
    expect([...held].every((times) => times === 1)).toBe(true);
    const sizes = folds.map(({ assignment }) => assignment.users.drawn.reduce((sum, one) => sum + one, 0));
    expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
    await saveFolds(at('folds'), folds);
    const loaded = await loadFolds(at('folds'));
    expect(loaded.map(({ test }) => test.edges)).toEqual(folds.map(({ test }) => test.edges));
    expect(loaded[2].times).toEqual(folds[2].times);
    await expect(loadSplit(at('folds'))).rejects.toThrow(/this is a folder of folds; give one of them/);
  });

  it('are a command, also as CSV', async () => {
    const made = await graphex(
      'split',
      table,
      '--folds',
      '3',
      '--format',
      'csv',
      '--time',
      'when',
      '-o',
      at('three'),
      '--json',
    );
    expect(made.status).toBe(0);
    const { folds } = JSON.parse(made.stdout);
    expect(folds).toHaveLength(3);
    expect(readFileSync(join(at('three'), 'fold-2', 'train.csv'), 'utf8')).toMatch(
      /^user,item,time\nu\d+,i\d+,\d+\n/,
    );
    const fitted = await graphex('fit', at('three'), '-o', at('m.safetensors'));
    expect([fitted.status, fitted.stderr]).toEqual([2, expect.stringMatching(/a folder of folds/)]);
  });
});
