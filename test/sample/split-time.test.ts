import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { auditSplit } from '../../src/audit/audit.js';
import { evaluateModel } from '../../src/evaluate/evaluate.js';
import { fit } from '../../src/fit/fit.js';
import { timeColumn } from '../../src/ingest/intake/value-column.js';
import { readWithValues } from '../../src/ingest/read.js';
import { randomStream } from '../../src/math/random.js';
import { split } from '../../src/sample/split.js';
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
  it('holds out the latest edges, those of one moment together', async () => {
    const { graph, values } = await read();
    const { train, test, foldIn, byTime, method } = split(graph, {
      method: 'time',
      testUsers: 0.25,
      times: values,
    });
    expect([method, foldIn.edges, train.edges + test.edges]).toEqual(['time', 0, graph.edges]);
    expect(Math.max(...byTime!.train)).toBeLessThan(byTime!.cut!);
    expect(Math.min(...byTime!.test)).toBe(byTime!.cut);
    expect([byTime!.train.length, byTime!.test.length]).toEqual([train.edges, test.edges]);
    expect(test.edges / graph.edges).toBeGreaterThanOrEqual(0.25);
    expect(test.edges / graph.edges).toBeLessThan(0.3);
    expect(split(graph, { method: 'time', testUsers: 0.25, times: values, seed: 9 }).test.edges).toBe(
      test.edges,
    );
  });

  it('comes back from its folder, for evaluations and audits', async () => {
    const { graph, values } = await read();
    const made = split(graph, { method: 'time', times: values });
    await saveSplit(at('parts'), made);
    const loaded = await loadSplit(at('parts'));
    expect(loaded.byTime).toEqual(made.byTime);
    const { model } = await fit(loaded.train, { features: 2, iterations: 10, threads: 1, model: 'sparse' });
    const { ranking, predictiveReason } = await evaluateModel(model, loaded, { threads: 1 });
    expect(ranking.all.users).toBeGreaterThan(0);
    expect(predictiveReason).toBe('edges-held-out');
    const { train, test } = loaded.byTime!;
    const { checks } = await auditSplit(loaded, { times: { train, test }, control: false });
    expect(checks.find(({ name }) => /time/i.test(name))).toMatchObject({ verdict: 'fine' });
  });

  it('by the last edges of each user tests on these alone, and comes back from its folder', async () => {
    const { graph, values } = await read();
    const made = split(graph, { method: 'last', last: 3, times: values });
    const { train, test, byTime } = made;
    const timesOf = (part: typeof graph, times: Float64Array, id: string) => {
      const u = part.users.ids.find(id);
      return u < 0 ? [] : [...times.subarray(part.users.offsets[u], part.users.offsets[u + 1])];
    };
    for (let u = 0; u < graph.users.count; u++) {
      const id = graph.users.ids.at(u);
      const all = timesOf(graph, values!, id).sort((a, b) => a - b);
      const tested = timesOf(test, byTime!.test, id).sort((a, b) => a - b);
      expect(tested).toEqual(all.length > 3 ? all.slice(-3) : []);
      expect(timesOf(train, byTime!.train, id)).toHaveLength(all.length - tested.length);
    }
    await saveSplit(at('last'), made);
    expect((await loadSplit(at('last'))).byTime).toEqual(byTime);
    const { test: one } = split(graph, { method: 'last', times: values });
    expect(one.edges).toBeLessThan(test.edges / 2);
    expect(() => split(graph, { method: 'last' })).toThrow(/method last needs the time of each edge/);
    expect(() => split(graph, { last: 2 })).toThrow(/last is for method last/);
    expect(() => split(graph, { method: 'last', testUsers: 0.1, times: values })).toThrow(
      /testUsers has no meaning with method last/,
    );
  });

  it('wants a finite time for each edge, and takes no fraction of items', async () => {
    const { graph, values } = await read();
    expect(() => split(graph, { method: 'time' })).toThrow(
      /method time needs the time of each edge: give times/,
    );
    expect(() => split(graph, { times: values })).toThrow(/times are for method time and last/);
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

  it('is a command whose folder the others take', async () => {
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
      [['--time', 'when'], /--time when: only --method time and last use times/],
      [['--method', 'time', '--time', 'item'], /"item" holds ids and cannot be --time too/],
    ] as const) {
      const { status, stderr } = await graphex('split', table, ...args, '-o', at('no'));
      expect([status, stderr]).toEqual([2, expect.stringMatching(says)]);
    }
  });
});
