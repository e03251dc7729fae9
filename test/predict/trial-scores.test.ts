// Recall of held-back items, and the scores of all items that settings by attributes are found with.

import { expect, test } from 'vitest';
import { fitBaseline } from '../../src/evaluate/baselines/fit-baseline.js';
import { fit } from '../../src/fit/fit.js';
import type { Model } from '../../src/fit/model.js';
import { BipartiteGraph } from '../../src/graph/public.js';
import { randomStream } from '../../src/math/random.js';
import { createRecall, sumAt } from '../../src/predict/content/trial-scores.js';
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
  const recall = await createRecall(popularity);
  for (const exponent of [0, 0.5]) {
    let expected = 0;
    for (const [u, own] of wanted.entries()) {
      const row = Float32Array.from(popularity, (one, p) => scores[u * items + p] * Math.exp(exponent * one));
      const sorted = row.slice().sort().reverse();
      for (const n of [20, 100]) {
        for (const p of own) {
          const first = sorted.indexOf(row[p]);
          const tied = sorted.filter((one) => one === row[p]).length;
          expected += Math.max(0, Math.min(1, (n - first) / tied)) / (2 * own.length * users);
        }
      }
    }
    expect(recall(scores, exponent, { wanted })).toBeCloseTo(expected, 12);
  }
});

test('a sum of some values', () => {
  const values = Float32Array.of(1, 2, 4, 8);
  const places = Uint32Array.of(3, 0, 2, 1);
  const weights = Float32Array.of(1, 0.5, 0.25, 2);
  expect(sumAt(values, places, weights, 0, 4)).toBe(8 + 0.5 + 1 + 4);
  expect(sumAt(values, places, weights, 1, 4)).toBe(0.5 + 1 + 4);
  expect(sumAt(values, places, weights, 2, 2)).toBe(0);
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
