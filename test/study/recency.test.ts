// A study whose ranker weighs edges by age.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { evaluateModel } from '../../src/evaluate/evaluate.js';
import { fit } from '../../src/fit/fit.js';
import { timeColumn } from '../../src/ingest/intake/value-column.js';
import { readGraph, readWithValues } from '../../src/ingest/read.js';
import { randomStream } from '../../src/math/random.js';
import { split } from '../../src/sample/split.js';
import { splitOfTables } from '../../src/sample/whole-graph.js';
import { study } from '../../src/study/study.js';
import { graphex } from '../cli/run.js';

const folder = mkdtempSync(join(tmpdir(), 'graphex-study-recency-'));
afterAll(() => rmSync(folder, { recursive: true }));
const at = (name: string) => join(folder, name);
const QUICK = '-k 2 --model auto --draws 0 --iterations 15 --baselines popularity --threads 1'.split(' ');
const OPTIONS = { features: 2, model: 'auto', draws: 0, iterations: 15, baselines: [], threads: 1 } as const;

/** Users whose taste changes after half of their items. */
beforeAll(() => {
  const random = randomStream(3, 1);
  const rows: string[] = [];
  for (let user = 0; user < 300; user++) {
    const [before, after] = [random.below(4), random.below(4)];
    for (let n = 0; n < 12; n++) {
      const item = (n < 6 ? before : after) + 4 * random.below(30);
      rows.push(`u${user},i${item},2024-${String(n + 1).padStart(2, '0')}-01`);
    }
  }
  writeFileSync(at('ratings.csv'), `user,item,day\n${rows.join('\n')}\n`);
  writeFileSync(at('train.csv'), `user,item,day\n${rows.filter((_, r) => r % 12 < 9).join('\n')}\n`);
  writeFileSync(at('test.csv'), `user,item,day\n${rows.filter((_, r) => r % 12 >= 9).join('\n')}\n`);
});

describe('study --half-life', () => {
  it('fits the ranker with weights by age, says so, and is repeated from its results', async () => {
    const ages = ['--time', 'day', '--half-life', '60d'];
    const first = await graphex('study', at('ratings.csv'), ...ages, ...QUICK, '-o', at('report'));
    expect(first.status, first.stderr).toBe(0);
    const words = first.stdout.replace(/\s+/g, ' ');
    expect(words).toContain('For the ranker, edges are weighed by age: after 60d an edge');
    expect(first.stdout).toMatch(/fit \S+ratings.csv --time day --method ranking --half-life 60d/);
    const { receipt, runs } = JSON.parse(readFileSync(at('report/results.json'), 'utf8'));
    expect(receipt.settings.halfLife).toBe('60d');
    expect(runs[0].ranker.recency.halfLife).toBe(60 * 86_400_000);
    const again = await graphex('study', '--from', at('report/results.json'), '-o', at('again'));
    expect(again.status, again.stderr).toBe(0);
    expect(again.stdout).toContain('Repeated: every number is the same.');
  });

  it('evaluates the ranker of the training part by the times of the split', async () => {
    const { graph, values: times } = await readWithValues(at('ratings.csv'), {}, timeColumn('day'));
    const parts = split(graph, { seed: 1, times });
    const { runs } = await study(graph, { ...OPTIONS, times, halfLife: '60d' });
    const asked = {
      method: 'ranking',
      seed: 1,
      threads: 1,
      halfLife: '60d',
      times: parts.times!.train,
    } as const;
    const { ranking } = await evaluateModel((await fit(parts.train, asked)).model, parts, {
      draws: 0,
      threads: 1,
    });
    const plain = await study(graph, OPTIONS);
    const recall = (run: typeof runs) =>
      run[0].leaderboard.rows.find(({ id }) => id === 'ranking')!.all.recall.mean;
    expect(recall(runs)).toBe(ranking.all.mean.recall);
    expect(recall(runs)).not.toBe(recall(plain.runs));
  });

  it('takes the times of a training table, also if its ids are numbers and others are not', async () => {
    const tables = ['--train', at('train.csv'), '--test', at('test.csv'), '--time', 'day'];
    const given = await graphex('study', ...tables, '--half-life', 'auto', ...QUICK, '-o', at('tables'));
    expect(given.status, given.stderr).toBe(0);
    expect(given.stdout.replace(/\s+/g, ' ')).toContain('on the last interactions of 60 users');
    writeFileSync(at('numbers.csv'), 'user,item,day\n2,30,2024-01-01\n10,4,2024-02-01\n10,30,2024-03-01\n');
    writeFileSync(at('texts.csv'), 'user,item\n2,x\n10,x\n');
    const { graph: train, values } = await readWithValues(at('numbers.csv'), {}, timeColumn('day'));
    const parts = splitOfTables({ train, times: values, test: (await readGraph(at('texts.csv'))).graph });
    const { users, items } = parts.train;
    const dated = Array.from(parts.times!.train, (time, e) => {
      const user = users.offsets.findLastIndex((first) => first <= e);
      const day = new Date(time).toISOString().slice(0, 10);
      return `${users.ids.at(user)},${items.ids.at(users.neighbors[e])},${day}`;
    });
    expect(dated).toEqual(['2,30,2024-01-01', '10,30,2024-03-01', '10,4,2024-02-01']);
  });

  it('refuses what it cannot use, in a sentence', async () => {
    const refused = async (...more: string[]) => {
      const { status, stderr } = await graphex('study', ...more, ...QUICK, '-o', at('refused'));
      expect(status).toBe(2);
      return stderr;
    };
    const data = at('ratings.csv');
    expect(await refused(data, '--half-life', 'auto')).toContain('name their column with --time');
    expect(await refused(data, '--time', 'day')).toContain('add --half-life auto');
    expect(await refused(data, '--time', 'day', '--half-life', 'soon')).toContain('expected a span above 0');
    expect(await refused(data, '--time', 'day', '--half-life', '60d', '--no-ranker')).toContain(
      'only a ranker',
    );
    expect((await graphex('split', data, '-o', at('split'))).status).toBe(0);
    expect(await refused(at('split'), '--half-life', 'auto')).toContain('this split has no times');
    expect(await refused(at('split'), '--time', 'day', '--half-life', 'auto')).toContain('keeps the times');
    const { graph } = await readGraph(data);
    await expect(study(graph, { ...OPTIONS, halfLife: 'auto' })).rejects.toThrow(
      'need the time of each edge',
    );
  });
});
