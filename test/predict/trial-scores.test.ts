// Recall of held-back items, and the scores of all items that settings by attributes are found with.

import { expect, test } from 'vitest';
import { fitBaseline } from '../../src/evaluate/baselines/fit-baseline.js';
import { fit } from '../../src/fit/fit.js';
import type { Model } from '../../src/fit/model.js';
import { BipartiteGraph } from '../../src/graph/public.js';
import { randomStream } from '../../src/math/random.js';
import { createRowProducts, createScoreTables } from '../../src/predict/content/score-tables.js';
import { createModelScorer } from '../../src/predict/scoring/model-scorer.js';
import { ownItems } from '../../src/predict/user-query.js';
import { addWeights } from '../../src/topn/query.js';

const random = randomStream(7, 2);

test('recall of lists of 20 and 100: items that share the last score share the places', async () => {
  const [users, items] = [9, 301];
  const popularity = Float64Array.from({ length: items }, () => random.uniform() - 0.5);
  const scores = Float32Array.from({ length: users * items }, () => random.below(40) - 2);
  const wanted = Array.from({ length: users }, (_, u) =>
    [...Array(items).keys()].filter((p) => p % 30 === u),
  );
  const tables = await createScoreTables(items, wanted);
  const [table, half] = [tables.create(), tables.create()];
  for (let u = 0; u < users; u++) {
    tables.row(table, u).set(scores.subarray(u * items, (u + 1) * items));
    tables.row(half, u).set(scores.subarray(u * items, (u + 1) * items).map((score) => score / 2));
  }
  for (const exponent of [0, 0.5]) {
    const factors = Float32Array.from(popularity, (one) => Math.exp(exponent * one));
    let expected = 0;
    for (const [u, own] of wanted.entries()) {
      const row = Float32Array.from(factors, (one, p) => scores[u * items + p] * one);
      const sorted = row.slice().sort().reverse();
      for (const n of [20, 100]) {
        for (const p of own) {
          const first = sorted.indexOf(row[p]);
          const tied = sorted.filter((one) => one === row[p]).length;
          expected += Math.max(0, Math.min(1, (n - first) / tied)) / (2 * own.length * users);
        }
      }
    }
    expect(tables.recall(table, factors)).toBeCloseTo(expected, 12);
    expect(tables.recall(half, factors, { table: half, part: 1 })).toBeCloseTo(expected, 12);
  }
});

test('tables of products of sparse rows with dense ones, and their sums', async () => {
  const sparse = {
    offsets: Uint32Array.of(0, 4, 4, 7),
    targets: Uint32Array.of(0, 1, 2, 3, 1, 2, 3),
    weights: Float32Array.of(1, 0.5, 0.25, 2, 4, 1, 0.5),
  };
  const dense = Array.from({ length: 6 }, (_, u) => Float32Array.of(1, u, 3, 2));
  const expected = dense.map(([a, b, c, d]) => [a + b / 2 + c / 4 + 2 * d, 0, 4 * b + c + d / 2]);
  const tables = await createScoreTables(
    3,
    dense.map(() => []),
  );
  const table = tables.products(sparse, 4, (u, row) => row.set(dense[u]));
  expect(dense.map((_, u) => [...tables.row(table, u)])).toEqual(expected);
  const sum = tables.copy(table);
  tables.add(sum, 0.5, table);
  expect(dense.map((_, u) => [...tables.row(sum, u)])).toEqual(
    expected.map((row) => row.map((one) => 1.5 * one)),
  );
  const products = await createRowProducts(sparse, 4);
  const found: number[][] = [];
  for (const row of dense) products.add(row, (one) => found.push([...one]));
  expect(found).toEqual(expected.slice(0, 4));
  products.end();
  expect(found).toEqual(expected);
});

const graph = BipartiteGraph.fromPairs(
  Array.from({ length: 400 }, (_, e): [string, string] => [`u${e % 37}`, `i${(e * e) % 53}`]),
);

test.each<[string, () => Promise<Model>]>([
  ['a ranker', async () => (await fit(graph, { method: 'ranking', features: 2, threads: 1 })).model],
  [
    'item weights',
    async () => (await fitBaseline(graph, 'ease', { setting: { lambda: 10 }, threads: 1 })).model,
  ],
])('rows of all scores of %s are its scores, item by item', async (_name, make) => {
  const model = await make();
  const scorer = createModelScorer(model);
  const rows = [...Array(20).keys()];
  const own = rows.map((row) => ownItems(model, row));
  const users = rows.map((row, u) => scorer.userScorer(row, own[u]));
  const weights = scorer.factors?.itemWeights();
  const seen: number[] = [];
  await scorer.eachRow(
    users,
    (u, scores) => {
      seen.push(u);
      for (const item of own[u].items) if (weights) addWeights(weights, item, scores);
      for (const [item, score] of scores.entries()) expect(score).toBeCloseTo(users[u].score(item), 4);
    },
    {},
  );
  expect(seen).toEqual(rows);
  await scorer.close();
});
