// A study with a table about the items: the ranker with attributes is a row of its leaderboard.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readSideInfo } from '../../src/attributes/side-info.js';
import { evaluateModel } from '../../src/evaluate/evaluate.js';
import { fit } from '../../src/fit/fit.js';
import type { BipartiteGraph } from '../../src/graph/graph.js';
import { readSideTable } from '../../src/ingest/side-file.js';
import { withTables } from '../../src/predict/content/fit-content.js';
import { simulate } from '../../src/process/poisson-model.js';
import { split } from '../../src/sample/split.js';
import { writeEdges } from '../../src/store/write-table.js';
import { study } from '../../src/study/study.js';
import { graphex } from '../cli/run.js';

const folder = mkdtempSync(join(tmpdir(), 'graphex-item-info-'));
afterAll(() => rmSync(folder, { recursive: true }));
const at = (name: string) => join(folder, name);
const SIDE = { sigma: 0.2, tau: 1, shape: 0.3, rate: 0.3, size: 30 };
const QUICK = '-k 2 --model auto --draws 0 --iterations 15 --baselines popularity --threads 1'.split(' ');
let graph: BipartiteGraph;

beforeAll(async () => {
  graph = (await simulate({ users: SIDE, items: SIDE, features: 3, seed: 3 })).graph;
  await writeEdges(at('ratings.csv'), graph);
  const { ids, count } = graph.items;
  const rows = Array.from({ length: count }, (_, i) => `${ids.at(i)},kind${i % 4},${1990 + (i % 30)}`);
  writeFileSync(at('items.csv'), `item,genre,year\n${rows.join('\n')}\n`);
});

describe('study --item-info', () => {
  it('ranks with the attributes, too, and is repeated from its results', async () => {
    const about = ['--item-info', at('items.csv'), '--info-columns', 'genre,year:number'];
    const first = await graphex('study', at('ratings.csv'), ...about, ...QUICK, '-o', at('report'));
    expect(first.status, first.stderr).toBe(0);
    expect(first.stdout).toContain('ranker with attributes');
    const { leaderboard, receipt } = JSON.parse(readFileSync(at('report/results.json'), 'utf8'));
    const rankers = leaderboard.filter(({ kind }: { kind: string }) => kind === 'ranker');
    expect(rankers.map(({ name }: { name: string }) => name).sort()).toEqual(['ranking', 'ranking-info']);
    expect(rankers[0].users).toBe(rankers[1].users);
    expect(receipt.origin.itemInfo).toMatchObject({ columns: ['genre', 'year:number'] });
    const again = await graphex('study', '--from', at('report/results.json'), '-o', at('again'));
    expect(again.status, again.stderr).toBe(0);
    expect(again.stdout).toContain('Repeated: every number is the same.');
  });

  it('evaluates the ranker of the training part with what the table says', async () => {
    const itemInfo = { name: 'items.csv', rows: await readSideTable(at('items.csv')) };
    const parts = split(graph, { seed: 2 });
    const quick = {
      features: 2,
      model: 'auto',
      draws: 0,
      iterations: 15,
      baselines: [],
      threads: 1,
    } as const;
    const { runs } = await study(graph, { ...quick, splits: [parts], itemInfo });
    const { model } = await fit(parts.train, { method: 'ranking', average: 1, seed: 1, threads: 1 });
    const { info } = readSideInfo(parts.train.items, itemInfo);
    const described = await withTables(model, { items: info }, { seed: 1, threads: 1 });
    const { ranking } = await evaluateModel(described, parts, { draws: 0, threads: 1 });
    const row = runs[0].leaderboard.rows.find(({ id }) => id === 'ranking-info');
    expect(row?.all.recall.mean).toBe(ranking.all.mean.recall);
  });

  it('ranks the held-out items of a split by new items, with baselines by attributes', async () => {
    const made = [
      'split',
      at('ratings.csv'),
      '--method',
      'new-items',
      '--test-items',
      '0.3',
      '-o',
      at('new'),
    ];
    const parted = await graphex(...made);
    expect(parted.stdout).toContain(`Next: npx graphex study ${at('new')} --item-info TABLE -o report`);
    const about = ['--item-info', at('items.csv')];
    const studied = await graphex('study', at('new'), ...about, ...QUICK, '-o', at('newly'), '--json');
    expect(studied.status, studied.stderr).toBe(0);
    const results = JSON.parse(studied.stdout);
    const names = results.leaderboard.map(({ name }: { name: string }) => name).sort();
    expect(names).toEqual(['attributePopularity', 'auto-2', 'profile', 'ranking-info']);
    expect(results.verdicts.next.at(-3).command).toContain(`--item-info ${at('items.csv')}`);
    // The same figures as `evaluate` of a ranker of the same training part.
    const ranker = at('ranker.safetensors');
    await graphex('fit', at('new'), ...about, '--method', 'ranking', '--threads', '1', '-o', ranker);
    const evaluated = JSON.parse((await graphex('evaluate', ranker, at('new'), '--json')).stdout);
    const recallOf = (id: string) =>
      results.leaderboard.find(({ name }: { name: string }) => name === id).recall;
    expect(recallOf('ranking-info')).toBe(evaluated.recommendation.recall);
    expect(recallOf('profile')).toBe(evaluated.attributes.profile.recall);
    expect(recallOf('attributePopularity')).toBe(evaluated.attributes.attributePopularity.recall);
    const all = await graphex('evaluate', ranker, at('new'), '--protocol', 'all-items');
    expect([all.status, all.stderr]).toEqual([2, expect.stringContaining('this split holds out items')]);
    const report = readFileSync(at('newly/report.html'), 'utf8');
    expect(report).toContain('tf-idf profile');
    expect(report).toContain('every method ranks them by their attributes');
    for (const [more, said] of [
      [[], /only their attributes can rank: give --item-info/],
      [[...about, '--protocol', 'all-items'], /--protocol all-items: this split holds out items/],
      [[...about, '--lists', `mine=${at('ratings.csv')}`], /--lists are lists of all items/],
    ] as const) {
      const refused = await graphex('study', at('new'), ...QUICK, ...more, '-o', at('refused'));
      expect([refused.status, refused.stderr.replace(/\s+/g, ' ')]).toEqual([2, expect.stringMatching(said)]);
    }
  });

  it('refuses what it cannot use, in a sentence', async () => {
    const study = (...more: string[]) =>
      graphex('study', at('ratings.csv'), ...QUICK, ...more, '-o', at('refused'));
    const withoutRanker = await study('--item-info', at('items.csv'), '--no-ranker');
    expect([withoutRanker.status, withoutRanker.stderr]).toEqual([
      2,
      expect.stringContaining('needs a ranker'),
    ]);
    const columnsAlone = await study('--info-columns', 'genre');
    expect([columnsAlone.status, columnsAlone.stderr]).toEqual([2, expect.stringContaining('--item-info')]);
    writeFileSync(at('others.csv'), 'item,genre\nnobody,a\nknows,b\n');
    const strangers = await study('--item-info', at('others.csv'));
    expect([strangers.status, strangers.stderr]).toEqual([2, expect.stringContaining('others.csv')]);
  });
});
