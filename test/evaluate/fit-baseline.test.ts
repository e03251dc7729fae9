import { beforeAll, describe, expect, it } from 'vitest';
import { baselineOf } from '../../src/evaluate/baselines/all-baselines.js';
import { fitBaseline } from '../../src/evaluate/baselines/fit-baseline.js';
import { evaluateModel } from '../../src/evaluate/evaluate.js';
import type { FactorScores, ItemScores, Ranker } from '../../src/fit/model.js';
import type { BipartiteGraph } from '../../src/graph/graph.js';
import { BASELINES, type BaselineName } from '../../src/options/names.js';
import { createRecommender } from '../../src/predict/recommender.js';
import { simulate } from '../../src/process/poisson-model.js';
import { split } from '../../src/sample/split.js';
import { foldInLeastSquares } from '../../src/solvers/least-squares.js';
import { modelFromBytes, modelToBytes } from '../../src/store/model-bytes.js';

const SIDE = { sigma: 0.2, tau: 1, shape: 0.3, rate: 0.3, size: 60 };
let graph: BipartiteGraph;
const models = {} as Record<BaselineName, Ranker>;
beforeAll(async () => {
  ({ graph } = await simulate({ users: SIDE, items: SIDE, features: 4, seed: 5 }));
  for (const name of BASELINES) models[name] = (await fitBaseline(graph, name, { trials: 4 })).model;
});

const ownOf = (user: number) =>
  graph.users.neighbors.subarray(graph.users.offsets[user], graph.users.offsets[user + 1]);

describe.each(BASELINES)('the baseline %s', (name) => {
  it('is saved and served like any model: the same lists from the file, nothing that the user has', async () => {
    const model = models[name];
    expect(model).toMatchObject({ type: 'ranker', method: name });
    const loaded = await modelFromBytes(modelToBytes(model));
    const [before, after] = [createRecommender(model), createRecommender(loaded)];
    for (const user of [0, 1, 2]) {
      const query = { user: graph.users.ids.at(user) };
      const list = await before.recommend(query, { n: 5 });
      expect(await after.recommend(query, { n: 5 })).toEqual(list);
      const own = Array.from(ownOf(user), (item) => graph.items.ids.at(item));
      for (const { item } of list) expect(own).not.toContain(item);
      // A new user with the same items gets the same list, and so does a user whose row is not stored.
      const fresh = await before.recommend({ likes: own }, { n: 5 });
      expect(fresh.map(({ item }) => item)).toEqual(list.map(({ item }) => item));
    }
    await Promise.all([before.close(), after.close()]);
  });

  it('explains scores by contributions that add up to them', async () => {
    const recommender = createRecommender(models[name]);
    const [{ score, explanation }] = await recommender.recommend(
      { user: graph.users.ids.at(1) },
      { n: 1, explain: true },
    );
    const parts = explanation!.items.reduce(
      (sum, { contribution }) => sum + contribution,
      explanation!.prior,
    );
    expect(parts / score).toBeCloseTo(1, 6);
    const { items, usualPrior } = explanation!;
    expect(items.reduce((sum, { usual }) => sum + usual, usualPrior) / score).toBeCloseTo(1, 6);
    await recommender.close();
  });

  it('is evaluated as in a study', async () => {
    const parts = split(graph, { testUsers: 0.3, testItems: 0.3, seed: 3 });
    const { model } = await fitBaseline(parts.train, name, { trials: 2 });
    const { ranking, predictiveReason } = await evaluateModel(model, parts, { threads: 1 });
    expect(ranking.all.mean.recall).toBeGreaterThan(0);
    expect(predictiveReason).toBe('ranking-model');
  });
});

it('EASE has the weights of the closed form without a diagonal', async () => {
  const lambda = 7;
  const { scores } = (await fitBaseline(graph, 'ease', { setting: { lambda } })).model;
  const { weights } = scores as ItemScores;
  const n = graph.items.count;
  const inverse = invert(gram(n, lambda), n);
  let worst = 0;
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < n; j++) {
      const want = i === j ? 0 : -inverse[i * n + j] / inverse[j * n + j];
      worst = Math.max(worst, Math.abs(weights[i * n + j] - want));
    }
  }
  expect(worst).toBeLessThan(1e-3);
});

function gram(n: number, lambda: number): Float64Array {
  const G = new Float64Array(n * n);
  for (let u = 0; u < graph.users.count; u++) {
    for (const i of ownOf(u)) for (const j of ownOf(u)) G[i * n + j]++;
  }
  for (let i = 0; i < n; i++) G[i * n + i] += lambda;
  return G;
}

/** Gauss and Jordan, with pivots on the diagonal: the matrix is positive definite. */
function invert(A: Float64Array, n: number): Float64Array {
  const B = new Float64Array(n * n);
  for (let i = 0; i < n; i++) B[i * n + i] = 1;
  for (let p = 0; p < n; p++) {
    const pivot = A[p * n + p];
    for (let k = 0; k < n; k++) {
      A[p * n + k] /= pivot;
      B[p * n + k] /= pivot;
    }
    for (let i = 0; i < n; i++) {
      const factor = i === p ? 0 : A[i * n + p];
      if (factor === 0) continue;
      for (let k = 0; k < n; k++) {
        A[i * n + k] -= factor * A[p * n + k];
        B[i * n + k] -= factor * B[p * n + k];
      }
    }
  }
  return B;
}

it('iALS folds one user in as its batches do', async () => {
  const [{ items, features, fold }] = (models.ials.scores as FactorScores).members;
  if (fold.kind !== 'least-squares') throw new Error('not by least squares');
  const own = ownOf(2);
  const history = { offsets: Uint32Array.of(0, own.length), values: own };
  const shown = new Uint8Array(graph.items.count).fill(1);
  const row = await foldInLeastSquares(items, history, shown, { ...fold, features });
  const recommender = createRecommender(models.ials);
  const ids = Array.from({ length: graph.items.count }, (_, item) => graph.items.ids.at(item));
  const ranked = recommender.rank({ likes: Array.from(own, (item) => ids[item]) }, ids);
  for (const { item, score } of ranked) {
    const at = graph.items.ids.find(item) * features;
    let want = 0;
    for (let k = 0; k < features; k++) want += row[k] * items[at + k];
    expect(score).toBeCloseTo(want, 4);
  }
  await recommender.close();
});

it('has one value for each baseline, with a title and a meaning', () => {
  for (const name of BASELINES) {
    const baseline = baselineOf(name);
    expect(baseline.name).toBe(name);
    expect(baseline.title.length).toBeGreaterThan(0);
    expect(baseline.meaning.length).toBeGreaterThan(10);
  }
});

it('says what is wrong', async () => {
  await expect(fitBaseline(graph, 'fame' as never)).rejects.toThrow(
    /baseline fame: expected one of popularity/,
  );
  // Without its users' items, similarity cannot be computed.
  const recommender = createRecommender({ ...models.popularity, seen: undefined });
  expect(() => recommender.similar(graph.items.ids.at(0))).toThrow(/by popularity/);
  expect(() => recommender.features()).toThrow(/fitted by popularity has no features/);
  await recommender.close();
});
