import { beforeAll, describe, expect, it } from 'vitest';
import { evaluateTables } from '../../src/evaluate/evaluate-tables.js';
import { fittedTestPairs } from '../../src/evaluate/fitted-to-test.js';
import { givenLists, modelLists, popularityLists } from '../../src/evaluate/make-lists.js';
import { tableTask } from '../../src/evaluate/table-task.js';
import { fit } from '../../src/fit/fit.js';
import { buildGraph } from '../../src/graph/build.js';
import type { BipartiteGraph } from '../../src/graph/graph.js';
import { VertexIds } from '../../src/graph/ids.js';
import { randomStream } from '../../src/math/random.js';
import { scoreLists } from '../../src/metrics/list-metrics.js';
import { LIST_METRICS } from '../../src/options/names.js';
import { simulate } from '../../src/process/poisson-model.js';
import { tableEvaluationWords } from '../../src/report/words/table-evaluation.js';
import { split } from '../../src/sample/split.js';
import { USERS_AND_ITEMS } from '../../src/text/sides.js';

/** A graph of named pairs, vertices in the order of their names. */
function graphOf(pairs: readonly (readonly [string, string])[]): BipartiteGraph {
  const names = (side: 0 | 1) => [...new Set(pairs.map((p) => p[side]))].sort();
  const [users, items] = [names(0), names(1)];
  return buildGraph({
    users: pairs.map((p) => users.indexOf(p[0])),
    items: pairs.map((p) => items.indexOf(p[1])),
    userCount: users.length,
    itemCount: items.length,
    userIds: VertexIds.texts(users),
    itemIds: VertexIds.texts(items),
  });
}
const pairs = (text: string) => text.split(' ').map((pair) => [pair[0], pair[1]] as const);
// Training degrees: w 3, x 2, y 2, z 1; v in test alone.
const train = graphOf(pairs('aw ax bw by cw cx cy cz'));
const test = graphOf(pairs('ay az bx bv dz'));
const lists = (made: { lists: readonly Int32Array[] }, ids: VertexIds) =>
  made.lists.map((list) => [...list].map((at) => (at < 0 ? '?' : ids.at(at))).join(''));

describe('the ranking task of two tables', () => {
  const task = tableTask({ train, test });
  it('ranks every item of both parts that the user does not have, for every user of the test part', () => {
    expect(task.items.values).toEqual(['v', 'w', 'x', 'y', 'z']);
    expect(task.users.values).toEqual(['a', 'b', 'd']);
    expect(task.left).toEqual({
      repeated: 0,
      usersOfRepeated: 0,
      withoutHistory: 1,
      unseenItems: 1,
      unseenPairs: 1,
    });
  });

  it('popularity orders by training degree, ties by id', () => {
    expect(lists(popularityLists(task, 3), task.items)).toEqual(['yzv', 'xzv', 'wxy']);
  });

  it('pairs in both parts are left out of the task, and counted', () => {
    const { left, users } = tableTask({ train, test: graphOf(pairs('aw ay bw')) });
    expect(left).toMatchObject({ repeated: 2, usersOfRepeated: 1 });
    expect(users.values).toEqual(['a']);
    expect(() => tableTask({ train, test: graphOf(pairs('aw bw')) })).toThrow(
      /every pair of the test part is also in training/,
    );
  });

  it('items of the validation part are not ranked', () => {
    const { excluded, items } = tableTask({ train, test, validation: graphOf(pairs('av')) });
    expect([...excluded[0]].map((at) => items.at(at))).toEqual(['v', 'w', 'x']);
  });

  it('an empty part is refused, and one of other data', () => {
    const empty = buildGraph({ users: [], items: [], userCount: 0, itemCount: 0 });
    expect(() => tableTask({ train: empty, test })).toThrow('the train part is empty');
    expect(() => tableTask({ train, test: empty })).toThrow('the test part is empty');
    expect(() => tableTask({ train, test: graphOf(pairs('a1 b2')) })).toThrow(
      'none of the 2 items of the test part is in training',
    );
  });

  it('ids are the same whether they were read as numbers or as texts', () => {
    const numbers = buildGraph({
      users: [0, 1],
      items: [0, 1],
      userCount: 2,
      itemCount: 2,
      userIds: VertexIds.integers(Float64Array.of(1, 2)),
      itemIds: VertexIds.integers(Float64Array.of(7, 30)),
    });
    const { items, left } = tableTask({
      train: numbers,
      test: graphOf([
        ['1', '30'],
        ['2', 'k'],
      ]),
    });
    expect(items.values).toEqual(['30', '7', 'k']);
    expect(left.withoutHistory).toBe(0);
  });
});

describe('metrics of lists', () => {
  // User 0: R = 3, hits at ranks 1 and 3. User 1: R = 1, no hit. User 2: no list.
  const task = {
    candidates: 6,
    relevant: [Uint32Array.of(0, 2, 5), Uint32Array.of(4), Uint32Array.of(1)],
    degree: Uint32Array.of(8, 4, 2, 1, 0, 16),
    trainUsers: 32,
  };
  const made = [Int32Array.of(0, 1, 2), Int32Array.of(0, -1, 3), new Int32Array(0)];
  const { mean, perUser, standardError } = scoreLists(made, task, 2, LIST_METRICS);
  const three = scoreLists(made, task, 3, LIST_METRICS);

  it('are what docs/metrics.md says, by hand', () => {
    const log = Math.log2;
    expect([...perUser.recall!]).toEqual([1 / 3, 0, 0]);
    expect([...three.perUser.recall!]).toEqual([2 / 3, 0, 0]);
    expect([...perUser.recallCapped!]).toEqual([1 / 2, 0, 0]);
    expect([...three.perUser.precision!]).toEqual([2 / 3, 0, 0]);
    expect(three.perUser.ndcg![0]).toBeCloseTo((1 + 1 / log(4)) / (1 + 1 / log(3) + 1 / log(4)), 12);
    expect(perUser.ndcg![0]).toBeCloseTo(1 / (1 + 1 / log(3)), 12);
    expect(three.perUser.map![0]).toBeCloseTo((1 / 1 + 2 / 3) / 3, 12);
    expect([...perUser.mrr!]).toEqual([1, 0, 0]);
    expect([...perUser.hitRate!]).toEqual([1, 0, 0]);
    expect(mean.recall).toBeCloseTo(1 / 9, 12);
    expect(standardError.hitRate).toBeCloseTo(Math.sqrt(1 / 3) / Math.sqrt(3), 12);
    // Recommended at 3: item 0 twice, items 1, 2 and 3 once.
    expect(three.mean.coverage).toBeCloseTo(4 / 6, 12);
    expect(three.mean.gini).toBeCloseTo((-5 * 0 - 3 * 0 - 1 * 1 + 1 * 1 + 3 * 1 + 5 * 2) / (6 * 5), 12);
    expect(three.mean.novelty).toBeCloseTo(((2 + 3 + 4) / 3 + (2 + 5) / 2) / 2, 12);
  });

  it('lists that name no candidate have no Gini and no novelty', () => {
    const nothing = [Int32Array.of(-1), new Int32Array(0), new Int32Array(0)];
    const { mean: found } = scoreLists(nothing, task, 2, ['coverage', 'gini', 'novelty']);
    expect(found).toEqual({ coverage: 0 });
  });

  it('Gini is 0 if every candidate is recommended equally often, and near 1 if only one is', () => {
    const gini = (list: readonly number[][]) =>
      scoreLists(
        list.map((l) => Int32Array.from(l)),
        task,
        2,
        ['gini'],
      ).mean.gini;
    expect(
      gini([
        [0, 1],
        [2, 3],
        [4, 5],
      ]),
    ).toBeCloseTo(0, 12);
    expect(gini([[0], [0], [0]])).toBeCloseTo(5 / 6, 12);
  });
});

describe('recommendations made elsewhere', () => {
  const task = tableTask({ train, test });
  const given = (text: string, values: number[], first: 'least' | 'largest' = 'least') => {
    const graph = graphOf(pairs(text));
    // The values are given in the order of the text; a graph has its own.
    const place = new Map(text.split(' ').map((pair, at) => [pair, values[at]]));
    const own: number[] = [];
    for (let u = 0; u < graph.users.count; u++) {
      for (let e = graph.users.offsets[u]; e < graph.users.offsets[u + 1]; e++) {
        own.push(place.get(graph.users.ids.at(u) + graph.items.ids.at(graph.users.neighbors[e]))!);
      }
    }
    return { graph, values: Float64Array.from(own), first };
  };

  it('are sorted; items that the user has are skipped, unknown items keep their rank', () => {
    const made = givenLists(given('az aw ay aq bx ex', [3, 1, 2, 4, 1, 1]), task, 3);
    expect(lists(made, task.items)).toEqual(['yz?', 'x', 'wxy']);
    expect(made).toMatchObject({ missing: 0, otherUsers: 1, seenPairs: 1, unknownPairs: 1, shortLists: 1 });
  });

  it('of which a user had every item already are no list, and nobody is left to compare', async () => {
    const parts = { train, test: graphOf(pairs('ay az bx')) };
    const recommendations = given('aw ax', [1, 2]);
    const found = await evaluateTables(parts, { recommendations, n: [3], metrics: ['recall'] });
    expect(found.leaderboard[1].missing).toBe(2);
    expect(found.given).toMatchObject({ seenPairs: 2, shortLists: 0 });
    expect(found.comparisonsOfListed).toEqual([]);
  });

  it('are sorted by descending score', () => {
    expect(lists(givenLists(given('az ay', [0.5, -1], 'largest'), task, 3), task.items)[0]).toBe('zy');
  });

  it('for other users are refused, with an example of both', () => {
    expect(() => givenLists(given('ez', [1]), task, 3)).toThrow(
      /none of the 1 users .* \(for instance e; the test part has a\)/,
    );
  });

  it('join the leaderboard with paired intervals against every other row', async () => {
    const found = await evaluateTables(
      { train, test },
      { recommendations: given('ay az bx dz', [1, 2, 1, 1]), n: [1, 3], metrics: ['recall', 'coverage'] },
    );
    expect(found.leaderboard.map(({ source }) => source)).toEqual(['popularity', 'recommendations']);
    expect(found.users).toBe(3);
    expect(found.leaderboard[1].scores[1].mean.recall).toBeCloseTo((1 + 1 / 2 + 1) / 3, 12);
    expect(found.comparisons.map(({ metric, n, against }) => `${metric} ${n} ${against}`)).toEqual([
      'recall 1 popularity',
      'recall 3 popularity',
    ]);
    const [, at3] = found.comparisons;
    const difference =
      found.leaderboard[1].scores[1].mean.recall! - found.leaderboard[0].scores[1].mean.recall!;
    expect(at3.interval.difference).toBeCloseTo(difference, 12);
    expect(found.comparisonsOfListed).toEqual([]);
  });

  it('are not called worse than popularity only because of users without a list', async () => {
    const judge = (text: string) =>
      evaluateTables(
        { train, test },
        { recommendations: given(text, [1, 2, 3, 1, 2, 3]), n: [4], metrics: ['recall'] },
      );
    const same = await judge('bx bz bv dw dx dz');
    expect(same.comparisons[0].interval.high).toBeLessThanOrEqual(0);
    expect(same.comparisonsOfListed[0].interval.difference).toBe(0);
    expect(tableEvaluationWords(same, USERS_AND_ITEMS).join(' ')).toContain(
      'The given lists rank below popularity only because 1 user of 3 had no list; for the others they do not. Give users without a list the most popular items.',
    );
    const worse = await judge('bz b2 b3 d1 d2 d3');
    expect(worse.comparisonsOfListed[0].interval.difference).toBeLessThan(0);
    expect(tableEvaluationWords(worse, USERS_AND_ITEMS)[0]).toContain('do not recommend with them');
  });
});

describe('a model on any pair of tables', () => {
  let graph: BipartiteGraph;
  beforeAll(async () => {
    const side = { sigma: 0.2, tau: 1, shape: 0.2, rate: 0.2, size: 40 };
    graph = (await simulate({ users: side, items: side, features: 5, seed: 4 })).graph;
  });

  it('ranks by its scores if edges were held out', async () => {
    const parts = split(graph, { method: 'edges', testUsers: 0.2, seed: 2 });
    const { model } = await fit(parts.train, { features: 5, threads: 1 });
    const found = await evaluateTables(parts, { model, n: [10], threads: 1, metrics: ['recall', 'ndcg'] });
    expect(found.fittedToTrain).toBe(true);
    expect(found.leaderboard[1].missing).toBe(0);
    expect(found.hasHistory.filter((has) => has === 0)).toHaveLength(found.left.withoutHistory);
    const { recall, ndcg } = found.leaderboard[1].scores[0].mean;
    expect(recall).toBeGreaterThan(0.3);
    expect(ndcg).toBeGreaterThan(0.2);

    const task = tableTask(parts);
    const { lists: made } = await modelLists(model, task, 5, { threads: 1 });
    const user = 3;
    const row = model.users.ids.find(task.users.at(user));
    const score = (place: number) => {
      const item = model.items.ids.find(task.items.at(place));
      if (item < 0) return Number.NEGATIVE_INFINITY;
      let sum = 0;
      for (let k = 0; k < model.features; k++) {
        sum +=
          ((model.users.featureShape[row * 5 + k] / model.users.featureRate[row * 5 + k]) *
            model.items.featureShape[item * 5 + k]) /
          model.items.featureRate[item * 5 + k];
      }
      return (sum * model.items.weightShape[item]) / model.items.weightRate[item];
    };
    const had = new Set(task.excluded[user]);
    const best = Array.from({ length: task.candidates }, (_, place) => place)
      .filter((place) => !had.has(place))
      .sort((a, b) => score(b) - score(a))
      .slice(0, 5);
    expect([...made[user]]).toEqual(best);
  });

  it('is refused if it can make no list, even if it knows an item', async () => {
    const { model } = await fit(graphOf(pairs('aw ax bw bx')), { features: 1, threads: 1 });
    const strangers = { train: graphOf(pairs('cy cz dy')), test: graphOf(pairs('cw dz')) };
    await expect(evaluateTables(strangers, { model, threads: 1 })).rejects.toThrow(
      /knows none of the 2 users of the test part, nor any item that one of them has in training/,
    );
    const known = { train: graphOf(pairs('cx cz dy')), test: graphOf(pairs('cw dz')) };
    const found = await evaluateTables(known, { model, threads: 1 });
    expect(found.leaderboard[1].missing).toBe(0);
  });

  it('folds in users that it does not know, by their history', async () => {
    const parts = split(graph, { testUsers: 0.3, testItems: 0.3, seed: 1 });
    const { model } = await fit(parts.train, { features: 5, threads: 1 });
    const found = await evaluateTables(parts, { model, n: [10], threads: 1, metrics: ['recall'] });
    expect(found.leaderboard[1].scores[0].mean.recall).toBeGreaterThan(0);
  });

  it('that was fitted to test users whom training does not have is refused, as a model or as a rival', async () => {
    const parts = split(graph, { testUsers: 0.3, testItems: 0.3, seed: 1 });
    const { model } = await fit(graph, { features: 2, iterations: 5, threads: 1 });
    const tables = { train: parts.train, test: parts.test };
    const refused =
      /was fitted to \d+ users of the test part that training does not have, such as .*: every figure/;
    await expect(evaluateTables(tables, { model })).rejects.toThrow(refused);
    await expect(evaluateTables(parts, { rivals: [{ name: 'other', model }] })).rejects.toThrow(refused);
    // Users whom training has: their test pairs are counted.
    const edges = split(graph, { method: 'edges', testUsers: 0.2, seed: 2 });
    const both = { pairs: edges.test.edges, users: edges.test.users.count };
    expect(fittedTestPairs(model, tableTask(edges))).toEqual(both);
  });

  it('of other data is refused', async () => {
    const other = graphOf(pairs('ap aq bp bq cp'));
    const { model } = await fit(other, { features: 1, threads: 1, iterations: 5 });
    await expect(evaluateTables({ train, test }, { model })).rejects.toThrow(/knows none of the items/);
  });
});

it('refuses empty metrics and lengths', async () => {
  const ask = (options: object) => evaluateTables({ train, test }, options);
  await expect(ask({ metrics: ['recal'] })).rejects.toThrow(/metrics "recal": expected one of recall/);
  await expect(ask({ n: [0] })).rejects.toThrow(/n 0: expected a whole number, at least 1/);
  await expect(ask({ n: [] })).rejects.toThrow(/n/);
});

it('popularity at random agrees with a brute-force evaluation', () => {
  const random = randomStream(8);
  const draw = (rows: number) =>
    graphOf(
      Array.from({ length: rows }, () => [String(random.below(30)), String(random.below(50))] as const),
    );
  const [a, b] = [draw(300), draw(150)];
  const task = tableTask({ train: a, test: b });
  const degree = (item: string) => {
    const j = a.items.ids.find(item);
    return j < 0 ? 0 : a.items.offsets[j + 1] - a.items.offsets[j];
  };
  const has = (graph: BipartiteGraph, user: string, item: string) => {
    const u = graph.users.ids.find(user);
    const j = graph.items.ids.find(item);
    if (u < 0 || j < 0) return false;
    return graph.users.neighbors.subarray(graph.users.offsets[u], graph.users.offsets[u + 1]).includes(j);
  };
  const all = [...task.items.values].map(String);
  let sum = 0;
  for (let u = 0; u < task.users.length; u++) {
    const user = task.users.at(u);
    const list = all
      .filter((item) => !has(a, user, item))
      .sort((x, y) => degree(y) - degree(x) || (x < y ? -1 : 1))
      .slice(0, 7);
    const wanted = all.filter((item) => has(b, user, item) && !has(a, user, item));
    sum += list.filter((item) => wanted.includes(item)).length / wanted.length;
  }
  const { mean } = scoreLists(popularityLists(task, 7).lists, task, 7, ['recall']);
  expect(mean.recall).toBeCloseTo(sum / task.users.length, 12);
});
