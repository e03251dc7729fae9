import { beforeAll, describe, expect, test } from 'vitest';
import { type Evaluation, evaluateModel } from '../../src/evaluate/evaluate.js';
import { evaluateRanking } from '../../src/evaluate/evaluate-ranking.js';
import { splitRankingTask } from '../../src/evaluate/split-task.js';
import { fit } from '../../src/fit/fit.js';
import { type FactorScores, meanTable, type PosteriorModel } from '../../src/fit/model.js';
import type { BipartiteGraph } from '../../src/graph/graph.js';
import { VertexIds } from '../../src/graph/ids.js';
import { factorScorer } from '../../src/predict/scoring/scorer.js';
import { simulate } from '../../src/process/poisson-model.js';
import { split, unseenByTraining } from '../../src/sample/split.js';
import type { Split } from '../../src/sample/split-types.js';

const side = { sigma: 0.5, tau: 1, shape: 0.3, rate: 0.3, size: 150 };
const features = 4;
let graph: BipartiteGraph;
let parts: Split;
let model: PosteriorModel;
let dense: PosteriorModel;
let result: Evaluation;

beforeAll(async () => {
  ({ graph } = await simulate({ users: side, items: side, features, seed: 2, threads: 1 }));
  parts = split(graph, { seed: 2 });
  const run = (kind: 'sparse' | 'dense') =>
    fit(parts.train, { features, model: kind, iterations: 120, engine: 'cpu', threads: 2 });
  model = (await run('sparse')).model;
  dense = (await run('dense')).model;
  result = await evaluateModel(model, parts, { threads: 2 });
});

describe('evaluateModel on a split by users and items', () => {
  test('counts edges that the model has no parameters for', () => {
    const unseen = unseenByTraining(parts);
    expect(unseen.foldIn.edges).toBeGreaterThan(0); // else the test would show nothing
    expect(result.dropped.foldIn.edges).toBe(unseen.foldIn.edges);
    expect(result.dropped.ranking.edges).toBe(unseen.test.edges);
    expect(result.folded!.degree.filter((d) => d === 0).length).toBe(result.dropped.foldIn.users);
    expect(result.folded!.count).toBe(parts.foldIn.users.count);
  });

  test('ranks with the folded-in users, better than chance and with the lists asked for', async () => {
    const task = splitRankingTask(parts, model.items.ids);
    const [users, items] = [meanTable(result.folded!, features), meanTable(model.items, features)];
    const scorer = factorScorer(users, items, features);
    const direct = await evaluateRanking(task, scorer, { n: 5, depth: 50, threads: 1 });
    const { ranking } = await evaluateModel(model, parts, { n: 5, depth: 50, draws: 0, threads: 1 });
    expect(ranking).toEqual(direct);
    const chance = ranking.n / ranking.all.candidates;
    expect(ranking.all.mean.recall).toBeGreaterThan(2 * chance);
  });

  test('the sparse model predicts the vertices of a sparse test graph, the dense one too few', async () => {
    const { draws, observed } = result.predictive!;
    expect(result.predictive!.count).toBe(100);
    expect(observed).toMatchObject({
      users: parts.test.users.count,
      items: parts.test.items.count,
      edges: parts.test.edges,
    });
    for (const name of ['users', 'items', 'edges'] as const) {
      expect(Math.abs(draws[name]!.mean / observed[name]! - 1), name).toBeLessThan(0.12);
    }
    const other = await evaluateModel(dense, parts, { draws: 40, threads: 2 });
    for (const name of ['users', 'items'] as const) {
      const miss = observed[name]! - other.predictive!.draws[name]!.mean;
      expect(miss, name).toBeGreaterThan(2 * Math.abs(observed[name]! - draws[name]!.mean));
    }
  });

  test('drawsGiven: paper and the seed reach the draws; no draws, no check', async () => {
    const paper = await evaluateModel(model, parts, { draws: 10, drawsGiven: 'paper', threads: 1 });
    expect(paper.drawsGiven).toBe('paper');
    expect(paper.predictive!.draws.users!.mean).toBeLessThan(result.predictive!.draws.users!.mean);
    // The paper's protocol also removes vertices without a posterior from the test set.
    expect(paper.predictive!.observed.edges).toBeLessThan(
      parts.test.edges - result.dropped.ranking.edges + 1,
    );
    expect(paper.predictive!.observed.users).toBe(result.ranking.all.users);
    expect(paper.predictive!.observed.items).toBeLessThanOrEqual(result.ranking.all.candidates);
    const seeded = await evaluateModel(model, parts, { draws: 10, seed: 9, threads: 1 });
    const again = await evaluateModel(model, parts, { draws: 10, seed: 9, threads: 2 });
    expect(again.predictive).toEqual(seeded.predictive);
    expect(seeded.draws).not.toEqual(result.draws.slice(0, 10));
    const none = await evaluateModel(model, parts, { draws: 0, threads: 1 });
    expect(none.predictive).toBeUndefined();
    expect(none.predictiveReason).toBe('no-draws');
  });

  test('scores of a ranker’s members are added', async () => {
    const options = {
      features,
      method: 'ranking',
      average: 2,
      iterations: 20,
      threads: 2,
      blend: false,
    } as const;
    const { model: two } = await fit(parts.train, options);
    const { members } = two.scores as FactorScores;
    const evaluate = async (chosen: FactorScores['members']) => {
      const ranker = { ...two, scores: { kind: 'factors', members: chosen } } as const;
      return (await evaluateModel(ranker, parts, { threads: 1 })).ranking.all;
    };
    const [first] = members;
    const once = await evaluate([first]);
    expect((await evaluate([first, first])).mean.recall).toBeCloseTo(once.mean.recall, 6);
    expect((await evaluate(members)).mean.ndcg).not.toBe(once.mean.ndcg);
    // Users who are not stored are folded in, as held-out users always are.
    expect((await evaluate([{ ...first, users: undefined }])).mean).toEqual(once.mean);
  });

  test('knows whether the model was fitted to the training part', async () => {
    expect(result.fittedToTrain).toBe(true);
    const other = { ...model, provenance: { ...model.provenance, fingerprint: 'other' } };
    expect((await evaluateModel(other, parts, { draws: 0, threads: 1 })).fittedToTrain).toBe(false);
  });

  test('refuses a model that saw held-out users, and makes no predictive check of a ranker', async () => {
    const { model: leaked } = await fit(graph, { features, iterations: 2, engine: 'cpu', threads: 1 });
    await expect(evaluateModel(leaked, parts)).rejects.toThrow(/held out by the split.*training part/);
    const { model: ranker } = await fit(parts.train, {
      features,
      method: 'ranking',
      iterations: 2,
      blend: false,
    });
    const ranking = await evaluateModel(ranker, parts, { threads: 1 });
    expect(ranking.predictive).toBeUndefined();
    expect(ranking.predictiveReason).toBe('ranking-model');
    await expect(evaluateModel(ranker, parts, { calibrate: 5 })).rejects.toThrow(/no intervals.*ranker/);
    expect(ranking.ranking.all.users).toBe(result.ranking.all.users);
  });
});

describe('evaluateModel on held-out edges', () => {
  test('ranks the items that known users do not have, and says why there is no predictive check', async () => {
    const held = split(graph, { method: 'edges', seed: 3 });
    const { model: known } = await fit(held.train, { features, iterations: 60, engine: 'cpu', threads: 2 });
    const evaluation = await evaluateModel(known, held, { threads: 2 });
    expect(evaluation.folded).toBeUndefined();
    expect(evaluation.task.rows).toBe(held.train.users.count);
    expect(evaluation.predictive).toBeUndefined();
    expect(evaluation.predictiveReason).toBe('edges-held-out');
    expect(evaluation.ranking.all.mean.recall).toBeGreaterThan(
      2 * (evaluation.ranking.n / evaluation.ranking.all.candidates),
    );
    expect(evaluation.dropped.foldIn).toEqual({ edges: 0, users: 0 });
    await expect(evaluateModel(model, held)).rejects.toThrow(/not those of the split/);
  });
});

test('a model of other data is named as such', async () => {
  const other = await simulate({ users: side, items: side, features, seed: 9, threads: 1 });
  const renamed = {
    ...other.graph.items,
    ids: VertexIds.texts(Array.from({ length: other.graph.items.count }, (_, j) => `other ${j}`)),
  };
  const foreign = (await fit({ ...other.graph, items: renamed }, { features, iterations: 3, threads: 1 }))
    .model;
  await expect(evaluateModel(foreign, parts)).rejects.toThrow("knows none of the split's items");
});
