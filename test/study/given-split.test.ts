// A study of a split that is given, with lists made elsewhere in its leaderboard.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fitBaseline } from '../../src/evaluate/baselines/fit-baseline.js';
import { evaluateModel } from '../../src/evaluate/evaluate.js';
import { evaluateTables } from '../../src/evaluate/evaluate-tables.js';
import { modelLists } from '../../src/evaluate/make-lists.js';
import { tableTask } from '../../src/evaluate/table-task.js';
import { fingerprint } from '../../src/graph/fingerprint.js';
import { BipartiteGraph } from '../../src/graph/public.js';
import { joinRankings } from '../../src/metrics/ranking-metrics.js';
import { simulate } from '../../src/process/poisson-model.js';
import { split, splitFolds } from '../../src/sample/split.js';
import { splitOfTables, wholeGraph } from '../../src/sample/whole-graph.js';
import { saveFolds } from '../../src/store/fold-folder.js';
import { writeEdges } from '../../src/store/write-table.js';
import { study } from '../../src/study/study.js';
import { graphex } from '../cli/run.js';

const folder = mkdtempSync(join(tmpdir(), 'graphex-given-'));
afterAll(() => rmSync(folder, { recursive: true }));
const at = (name: string) => join(folder, name);
const SIDE = { sigma: 0.2, tau: 1, shape: 0.3, rate: 0.3, size: 45 };
const QUICK = { features: 2, model: 'auto', draws: 0, iterations: 15, ranker: false, threads: 1 } as const;
let graph: BipartiteGraph;

beforeAll(async () => {
  graph = (await simulate({ users: SIDE, items: SIDE, features: 3, seed: 3 })).graph;
  const { train, test } = split(graph, { method: 'edges', seed: 2 });
  await writeEdges(at('train.csv'), train);
  await writeEdges(at('test.csv'), test);
  const { model } = await fitBaseline(train, 'popularity', { threads: 1 });
  const task = tableTask({ train, test });
  const { lists } = await modelLists(model, task, 20, { threads: 1 });
  const rows = lists.flatMap((list, u) =>
    [...list].map((item, place) => `${task.users.at(u)},${task.items.at(item)},${place + 1}`),
  );
  writeFileSync(at('popular.csv'), `user,item,rank\n${rows.join('\n')}\n`);
});

describe('the parts of a split', () => {
  it('are the whole graph again, for every method and for tables', () => {
    const whole = fingerprint(graph);
    for (const method of ['pq', 'edges'] as const)
      expect(fingerprint(wholeGraph(split(graph, { method, seed: 5 })))).toBe(whole);
    const { train, test } = split(graph, { method: 'edges', seed: 5 });
    expect(splitOfTables({ train, test }).fingerprint).toBe(whole);
  });
});

describe('users without a history', () => {
  it.each(['split', 'all-items'] as const)('get popular items from every model, %s', async (protocol) => {
    const parts = split(graph, { testUsers: 0.5, testItems: 0.6, seed: 4 });
    const judged = await Promise.all(
      (['popularity', 'knn'] as const).map(async (name) => {
        const { model } = await fitBaseline(parts.train, name, { threads: 1, setting: {} });
        return evaluateModel(model, parts, { draws: 0, threads: 1, n: 5, depth: 5 }, protocol);
      }),
    );
    const [popularity, knn] = judged;
    expect(popularity.withoutHistory!.all.users).toBe(popularity.task.left.usersWithoutHistory);
    expect(popularity.withoutHistory!.all.users).toBeGreaterThan(2);
    expect(knn.withoutHistory).toEqual(popularity.withoutHistory);
    const { all } = joinRankings(knn.ranking, knn.withoutHistory);
    const users = knn.ranking.all.users + knn.withoutHistory!.all.users;
    expect(all.users).toBe(users);
    const sum =
      knn.ranking.all.mean.recall * knn.ranking.all.users +
      knn.withoutHistory!.all.mean.recall * knn.withoutHistory!.all.users;
    expect(all.mean.recall).toBeCloseTo(sum / users, 12);
    if (protocol === 'split') return;
    // Lists and full rankings give the same figures.
    const { model } = await fitBaseline(parts.train, 'popularity', { threads: 1 });
    const tables = await evaluateTables(parts, { model, n: [5], metrics: ['recall', 'ndcg'], threads: 1 });
    const { recall, ndcg } = tables.leaderboard[1].scores[0].mean;
    const joined = joinRankings(popularity.ranking, popularity.withoutHistory).all;
    expect(joined.users).toBe(tables.users);
    expect(joined.mean.recall).toBeCloseTo(recall!, 12);
    expect(joined.mean.ndcg).toBeCloseTo(ndcg!, 12);
  });
});

describe('study --train --test --lists', () => {
  const given = () => ['--train', at('train.csv'), '--test', at('test.csv')];
  const quick = ['-k', '2', '--model', 'auto', '--iterations', '15', '--no-ranker', '--quiet'];

  it('names the columns of the tables', async () => {
    for (const name of ['train.csv', 'test.csv']) {
      const text = readFileSync(at(name), 'utf8');
      writeFileSync(at(`named-${name}`), text.replace(/^.*/, 'customer,product'));
    }
    const tables = ['--train', at('named-train.csv'), '--test', at('named-test.csv')];
    const options = ['--baselines', 'none', ...quick.slice(0, -1), '-o', at('named')];
    const { stdout, stderr } = await graphex('study', ...tables, ...options);
    expect(stdout, stderr).toMatch(/the parts of a\s+split;\s+users\s+customer;\s+items\s+product/);
  });

  it('has models, baselines and lists in one leaderboard with paired intervals', async () => {
    const lists = ['--lists', `mine=${at('popular.csv')}`];
    const options = [...quick, '--baselines', 'popularity,knn', '-o', at('report')];
    const made = await graphex('study', ...given(), ...lists, ...options, '--json');
    expect([made.status, made.stderr]).toEqual([0, '']);
    const { leaderboard, recommendation } = JSON.parse(made.stdout);
    const byName = Object.fromEntries(leaderboard.map((row: { name: string }) => [row.name, row]));
    expect(byName.mine.kind).toBe('lists');
    // The lists are those of popularity.
    for (const metric of ['recall', 'recallCapped', 'ndcg', 'mrr', 'users', 'coverage'])
      expect(byName.mine[metric]).toBeCloseTo(byName.popularity[metric], 12);
    expect(recommendation.mine.recall).toBe(byName.mine.recall);
    for (const [place, row] of leaderboard.entries()) {
      const next = leaderboard[place + 1];
      expect(row.difference?.to).toBe(next?.name);
      if (!next) continue;
      const { mean, low, high } = row.difference.recall;
      expect(mean).toBeCloseTo(row.recall - next.recall, 12);
      expect(low <= mean && mean <= high && mean >= 0).toBe(true);
    }
    const page = readFileSync(join(at('report'), 'report.html'), 'utf8');
    expect(page).toContain('The lists mine have recall@20');
    expect(page).toContain('--lists');
    expect(JSON.parse(readFileSync(join(at('report'), 'results.json'), 'utf8')).leaderboard).toEqual(
      leaderboard,
    );
    const again = await graphex('study', '--from', join(at('report'), 'results.json'), '-o', at('again'));
    expect([again.status, again.stderr]).toEqual([2, expect.stringMatching(/was given its split/)]);
  });

  it('refuses what cannot be compared, in a sentence', async () => {
    writeFileSync(at('strangers.csv'), 'user,item,rank\nnobody,nothing,1\n');
    writeFileSync(
      at('unknown.csv'),
      readFileSync(at('popular.csv'), 'utf8').replaceAll(/,(\w+),(\d+)\n/g, ',x$1,$2\n'),
    );
    const table = (name: string, file: string) => ['--lists', `${name}=${at(file)}`];
    for (const [args, says] of [
      [
        [...given(), ...table('mine', 'strangers.csv')],
        /lists mine: none of the 1 users of the recommendations/,
      ],
      [
        [...given(), ...table('mine', 'unknown.csv')],
        /lists mine: none of the \d+ items of the recommendations/,
      ],
      [[...given(), ...table('knn', 'popular.csv')], /the name knn is taken/],
      [[...given(), ...table('a', 'popular.csv'), ...table('a', 'popular.csv')], /the name a is taken/],
      [[...given(), '--lists', at('popular.csv')], /give a name and a file, as in mine=lists.csv/],
      [[...given(), '--lists', `mine=${at('absent.csv')}`], /absent.csv/],
      [[...given(), '--protocol', 'split', ...table('mine', 'popular.csv')], /--protocol all-items/],
      [[...given(), '--repeats', '2'], /--repeats has no meaning with a split that is given/],
      [['--train', at('train.csv')], /--train is given alone/],
      [[at('train.csv'), ...table('mine', 'popular.csv')], /--lists needs a split that is given/],
    ] as const) {
      const { status, stderr } = await graphex('study', ...args, ...quick, '-o', at('no'));
      expect([status, stderr]).toEqual([2, expect.stringMatching(says)]);
    }
  });

  it('refuses lists that do not match before it fits anything', async () => {
    const stages = new Set<string>();
    const { train, test } = split(graph, { method: 'edges', seed: 2 });
    const splits = [splitOfTables({ train, test })];
    const strangers = BipartiteGraph.fromPairs([['nobody', 'nothing']]);
    const recommendations = { graph: strangers, values: Float64Array.of(1), first: 'least' } as const;
    const onProgress = ({ stage }: { readonly stage: string }) => stages.add(stage);
    const asked = { ...QUICK, splits, protocol: 'all-items', baselines: ['popularity'], onProgress } as const;
    const lists = [{ name: 'mine', recommendations }];
    await expect(study(graph, { ...asked, lists })).rejects.toThrow(/^lists mine: none of the 1 users/);
    const before = [...stages];
    await study(graph, asked);
    expect(before.length).toBeGreaterThan(0);
    expect(stages.size).toBeGreaterThan(before.length);
    expect(before.join()).not.toMatch(/fit|baseline/);
  });
});

it('a study of folds has means and intervals over the folds', async () => {
  const folds = splitFolds(graph, 3, { testItems: 0.4, seed: 2 });
  const results = await study(graph, {
    ...QUICK,
    splits: folds,
    baselines: ['popularity', 'knn'],
    trials: 3,
  });
  expect(results.runs).toHaveLength(3);
  const { mean, low, high } = results.summary.ranking.popularity.recall!;
  const each = results.runs.map(
    ({ leaderboard }) => leaderboard.rows.find(({ id }) => id === 'popularity')!.all.recall.mean,
  );
  expect(mean).toBeCloseTo((each[0] + each[1] + each[2]) / 3, 12);
  expect(low!).toBeLessThan(mean);
  expect(high!).toBeGreaterThan(mean);
  for (const figures of Object.values(results.summary.ranking)) {
    for (const { low, high } of Object.values(figures)) {
      expect(low!).toBeGreaterThanOrEqual(0);
      expect(high!).toBeLessThanOrEqual(1);
    }
  }
  const [first, second] = results.leaderboard;
  expect(first.difference!.recall.mean).toBeCloseTo(first.recall - second.recall, 12);

  await saveFolds(at('folds'), folds);
  const quick = [
    '-k',
    '2',
    '--model',
    'auto',
    '--iterations',
    '5',
    '--no-ranker',
    '--baselines',
    'popularity',
    '--draws',
    '0',
  ];
  const made = await graphex('study', at('folds'), ...quick, '--quiet', '-o', at('folded'));
  expect([made.status, made.stderr]).toEqual([0, '']);
  expect(made.stdout).toContain('mean (95 % interval) over 3 splits');
  // The command that the study advises takes one fold, because a fit refuses the folder of all.
  const [, args] = /^ {2}npx graphex (fit .+)$/m.exec(made.stdout)!;
  expect(args).toContain(`fit ${at('folds')}/fold-1 `);
  const advised = await graphex(...args.replace(/ -o \S+$/, '').split(' '), '-o', at('advised.safetensors'));
  expect([advised.status, advised.stderr]).toEqual([0, '']);
});
