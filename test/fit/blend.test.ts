// The blend of a ranker: weights between items and least-squares factors.

import { beforeAll, describe, expect, it } from 'vitest';
import { evaluateModel } from '../../src/evaluate/evaluate.js';
import { fit } from '../../src/fit/fit.js';
import type { FactorScores, Ranker } from '../../src/fit/model.js';
import { fitBlend, mayBlend } from '../../src/fit/ranking/blend/blend.js';
import { holdUsersBack } from '../../src/fit/ranking/blend/held-back-users.js';
import { DEFAULT_WEIGHTS, searchWeights } from '../../src/fit/ranking/blend/item-weights.js';
import { searchPenalties } from '../../src/fit/ranking/blend/least-squares.js';
import { unfinishedFit } from '../../src/fit/unfinished.js';
import { buildGraph } from '../../src/graph/build.js';
import type { BipartiteGraph } from '../../src/graph/graph.js';
import { randomStream } from '../../src/math/random.js';
import { createRecommender } from '../../src/predict/recommender.js';
import { split } from '../../src/sample/split.js';
import { modelFromBytes, modelToBytes } from '../../src/store/model-bytes.js';
import { modelState } from '../../src/store/model-state.js';
import { createReferenceTopN } from '../../src/topn/reference.js';

/** Users who like one of a few groups of items, and some of everything. */
function groups(users: number, items: number, degree: number, multigraph = false): BipartiteGraph {
  const random = randomStream(5);
  const seen = new Map<number, number>();
  for (let u = 0; u < users; u++) {
    for (let e = 0; e < degree; e++) {
      const group = Math.floor((items / 5) * random.uniform() ** 2);
      const item = random.uniform() < 0.7 ? 5 * Math.floor(group) + (u % 5) : random.below(items);
      const key = u * items + item;
      seen.set(key, (seen.get(key) ?? 0) + 1);
    }
  }
  for (let item = 0; item < items; item++) seen.set((item % users) * items + item, 1);
  const keys = [...seen.keys()];
  return buildGraph({
    users: keys.map((key) => Math.floor(key / items)),
    items: keys.map((key) => key % items),
    counts: multigraph ? keys.map((key) => seen.get(key) ?? 1) : undefined,
    userCount: users,
    itemCount: items,
    multigraph,
  });
}

const lists = ({ users, items }: BipartiteGraph) => ({
  users: { offsets: users.offsets, values: users.neighbors },
  items: { offsets: items.offsets, values: items.neighbors },
});

/** Users who have pairs of matching items; each item occurs without its partner once in `alone` times. */
function pairs(users: number, items: number, degree: number, alone: number): BipartiteGraph {
  const random = randomStream(8);
  const seen = new Set<number>();
  for (let u = 0; u < users; u++) {
    for (let e = 0; e < degree; e++) {
      const item = random.below(items);
      seen.add(u * items + item);
      if (random.uniform() > alone) seen.add(u * items + (item ^ 1));
    }
  }
  for (let item = 0; item < items; item++) seen.add((item % users) * items + item);
  const keys = [...seen];
  return buildGraph({
    users: keys.map((key) => Math.floor(key / items)),
    items: keys.map((key) => key % items),
    userCount: users,
    itemCount: items,
  });
}

describe('settings of the blend', () => {
  it('are defaults if there are too few users to hold any back', async () => {
    const edges = lists(groups(30, 20, 4));
    expect(holdUsersBack(edges, 1)).toBeUndefined();
    const { found } = await fitBlend(groups(30, 20, 4), { seed: 1 });
    expect(found).toEqual({
      edges: edges.users.values.length,
      heldBack: 0,
      weights: DEFAULT_WEIGHTS,
      leastSquares: { lambda: 0.016, alpha: 120 / Math.sqrt(600) },
    });
  });

  it('rank held-back users no worse than the defaults', async () => {
    const edges = lists(groups(400, 100, 8));
    const trial = holdUsersBack(edges, 1)!;
    expect(trial.users).toBe(80);
    const { penalties, tables } = await searchPenalties(edges, trial, { seed: 1 });
    expect([0.012, 0.024]).toContain(penalties.lambda);
    expect([60, 120, 240].map((alpha) => alpha / 200)).toContain(penalties.alpha);
    const { setting, score, trials } = await searchWeights(trial, tables, {});
    expect(trials[0].setting).toEqual(DEFAULT_WEIGHTS);
    expect(score).toBeGreaterThanOrEqual(trials[0].score);
    expect(trials.find((one) => one.score === score)!.setting).toEqual(setting);
    // No neighbouring setting gains enough for a step.
    expect(Math.max(...trials.map((one) => one.score))).toBeLessThan(1.01 * score);
  });

  it('have a large penalty if items say little about each other, and a small one if they occur together', async () => {
    const held = async (graph: BipartiteGraph) => {
      const edges = lists(graph);
      const trial = holdUsersBack(edges, 1)!;
      const { tables } = await searchPenalties(edges, trial, { seed: 1 });
      const { lambda, dropout } = (await searchWeights(trial, tables, {})).setting;
      return lambda * (1 + dropout);
    };
    const together = await held(pairs(600, 120, 6, 0.1));
    expect(await held(groups(600, 120, 6))).toBeGreaterThan(2 * together);
  });
});

it('there is no blend if it would not fit in WebAssembly', () => {
  const of = (users: number, items: number, edges: number) =>
    mayBlend({ users: { count: users }, items: { count: items }, edges } as BipartiteGraph);
  expect([of(480_189, 17_770, 1e8), of(480_189, 17_770, 1e9), of(4e6, 1e5, 1e7)]).toEqual([
    true,
    false,
    false,
  ]);
});

describe('a blended ranker', () => {
  const graph = groups(400, 100, 9);
  const options = { method: 'ranking', features: 4, iterations: 6, average: 2, threads: 1 } as const;
  let model: Ranker;
  let scores: FactorScores;
  beforeAll(async () => {
    model = (await fit(graph, options)).model;
    scores = model.scores as FactorScores;
  });

  /** The score of a known user, computed from the definition. */
  function scoreOf(ranker: Ranker, user: number, item: number): number {
    const { members, itemWeights } = ranker.scores as FactorScores;
    let sum = 0;
    for (const { features, users, items, share = 1 } of members) {
      for (let k = 0; k < features; k++)
        sum += share * users![user * features + k] * items[item * features + k];
    }
    const { offsets, neighbors } = ranker.seen!;
    for (let h = offsets[user]; h < offsets[user + 1]; h++) {
      const from = neighbors[h];
      for (let e = itemWeights!.offsets[from]; e < itemWeights!.offsets[from + 1]; e++) {
        if (itemWeights!.targets[e] === item) sum += itemWeights!.weights[e];
      }
    }
    return sum;
  }

  it('has the members of a fit without a blend, to the last bit, and two more parts', async () => {
    const plain = (await fit(graph, { ...options, blend: false })).model.scores as FactorScores;
    expect(plain.itemWeights).toBeUndefined();
    expect(plain.members).toHaveLength(2);
    expect(scores.members.slice(0, 2)).toEqual(plain.members);
    expect(scores.members[2]).toMatchObject({ fold: { kind: 'least-squares' }, share: 1.2 });
    expect(scores.itemWeights!.weights.some((w) => w !== 0)).toBe(true);
  });

  it('is the same on two threads', async () => {
    const again = (await fit(graph, { ...options, threads: 2 })).model;
    expect(modelState(again)).toBe(modelState(model));
  });

  it('scales the blend to the counts of a multigraph', async () => {
    const counted = groups(200, 60, 12, true);
    const { members, itemWeights } = (await fit(counted, { ...options, average: 1 })).model
      .scores as FactorScores;
    expect(counted.total / counted.edges).toBeGreaterThan(1.05);
    expect(members[1].share).toBeCloseTo((0.6 * counted.total) / counted.edges, 10);
    expect(itemWeights!.weights.length).toBeGreaterThan(0);
  });

  it('lists, scores and explains by the sum of all parts, and contributions add up', async () => {
    const recommender = createRecommender(model);
    try {
      const ids = model.items.ids;
      const user = 7;
      const listed = await recommender.recommend(
        { user: model.users.ids.at(user) },
        { n: 10, explain: true },
      );
      const own = new Set(
        model.seen!.neighbors.subarray(model.seen!.offsets[user], model.seen!.offsets[user + 1]),
      );
      const best = Array.from({ length: 100 }, (_, item) => ({ item, score: scoreOf(model, user, item) }))
        .filter(({ item }) => !own.has(item))
        .sort((a, b) => b.score - a.score)
        .slice(0, 10);
      expect(listed.map(({ item }) => item)).toEqual(best.map(({ item }) => ids.at(item)));
      const plain = await recommender.recommend({ user: model.users.ids.at(user) }, { n: 10 });
      for (const [i, { score, explanation }] of listed.entries()) {
        expect(score).toBeCloseTo(best[i].score, 6);
        expect(plain[i].score).toBe(score);
        const { items, prior, features, direct, usualFeatures, usualDirect } = explanation!;
        const parts = items.reduce((sum, { contribution }) => sum + contribution, prior);
        expect(parts).toBeCloseTo(score, 6);
        const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
        expect(direct).not.toBe(0);
        expect(sum(features) + direct).toBeCloseTo(score, 6);
        expect(sum(usualFeatures) + usualDirect).toBeCloseTo(score, 6);
        const told = recommender.reasons(listed[i])!;
        expect(told.direct.contribution).toBe(direct);
        const named = sum(told.features.map(({ contribution }) => contribution));
        expect(named + told.otherFeatures.contribution + direct).toBeCloseTo(score, 6);
        for (const { contribution } of told.features)
          expect(contribution).toBeGreaterThanOrEqual(0.005 * score);
      }
      expect(recommender.features({ n: 2 })).toHaveLength(8);
      const { overlap, intervals } = await recommender.confidence(
        { user: model.users.ids.at(user) },
        listed.map(({ item }) => item),
      );
      expect(overlap).toBeGreaterThan(0);
      for (const [i, { low, high }] of intervals.entries()) {
        expect(low).toBeLessThan(listed[i].score * 1.2);
        expect(high).toBeGreaterThan(low);
      }
    } finally {
      await recommender.close();
    }
  });

  it('gives new users with the same items the same lists, one by one and in a batch', async () => {
    const recommender = createRecommender(model);
    try {
      const rows = Array.from({ length: 260 }, (_, u) => u);
      const likes = rows.map((u) => {
        const own = model.seen!.neighbors.subarray(model.seen!.offsets[u], model.seen!.offsets[u + 1]);
        return { likes: Array.from(own, (item) => model.items.ids.at(item)) };
      });
      const many = await recommender.recommendMany(likes, { n: 5, threads: 2 });
      const known = await recommender.recommendMany(
        rows.map((u) => ({ user: model.users.ids.at(u) })),
        { n: 5, threads: 1 },
      );
      let same = 0;
      for (const [u, list] of many.entries()) {
        expect(await recommender.recommend(likes[u], { n: 5 })).toEqual(list);
        expect(list[0].score).toBeCloseTo(known[u][0].score, 3);
        if (list[0].item === known[u][0].item) same++;
      }
      expect(same).toBeGreaterThan(255);
    } finally {
      await recommender.close();
    }
  });

  it('is saved and loaded whole', async () => {
    for (const way of [{}, { users: 'folded' }, { precision: 'float16' }] as const) {
      const loaded = (await modelFromBytes(modelToBytes(model, way))) as Ranker;
      const { itemWeights, members } = loaded.scores as FactorScores;
      expect(itemWeights!.offsets).toEqual(scores.itemWeights!.offsets);
      expect(itemWeights!.targets).toEqual(scores.itemWeights!.targets);
      expect(members[2].share).toBe(scores.members[2].share);
      if (way !== undefined && !('precision' in way)) expect(itemWeights).toEqual(scores.itemWeights);
    }
    const text = (ranker: Ranker) => Buffer.from(modelToBytes(ranker)).subarray(0, 4000).toString('latin1');
    expect(text(model)).toContain('"format_version":"4"');
  });

  it('is evaluated by the same sums, on the cpu whatever engine is asked for', async () => {
    const parts = split(graph, { testUsers: 0.3, testItems: 0.3, seed: 2 });
    const { model: ranker } = await fit(parts.train, { ...options, average: 1 });
    const found = await evaluateModel(ranker, parts, { draws: 0, threads: 1 });
    const again = await evaluateModel(ranker, parts, { draws: 0, engine: 'reference', threads: 2 });
    expect(again.ranking.all.mean).toEqual(found.ranking.all.mean);
    const without = { ...ranker, scores: { ...ranker.scores, itemWeights: undefined } as FactorScores };
    const other = await evaluateModel(without, parts, { draws: 0, threads: 1 });
    expect(other.ranking.all.mean).not.toEqual(found.ranking.all.mean);
  });

  it('resumes to the same numbers after a stop before its first sweep', async () => {
    const controller = new AbortController();
    const stopped = fit(graph, {
      ...options,
      signal: controller.signal,
      onProgress: ({ stage }) => stage.startsWith('least squares') && controller.abort(),
    });
    const left = unfinishedFit(
      await stopped.then(
        () => undefined,
        (error) => error,
      ),
    )!;
    expect((left.model as Ranker).scores).not.toHaveProperty('itemWeights');
    const whole = await fit(graph, { ...options, resume: left.checkpoint });
    expect(modelState(whole.model)).toBe(modelState(model));
  });

  it('starts from a ranker with a blend, member by member', async () => {
    const { model: refitted } = await fit(graph, { from: model, threads: 1 });
    const { members, itemWeights } = refitted.scores as FactorScores;
    expect(members).toHaveLength(3);
    expect(itemWeights!.weights).toEqual(scores.itemWeights!.weights);
  });
});

it('the reference adds item weights to products', async () => {
  const topN = createReferenceTopN();
  const tables = {
    users: Float32Array.of(1, 1),
    items: Float32Array.of(1, 2, 3, 4),
    features: 1,
    itemWeights: {
      history: { offsets: Uint32Array.of(0, 1, 1), values: Uint32Array.of(3) },
      offsets: Uint32Array.of(0, 0, 0, 0, 2),
      targets: Uint32Array.of(0, 1),
      weights: Float32Array.of(5, -5),
    },
  };
  const candidates = Uint32Array.of(0, 1, 2);
  const { positions } = await topN.top(tables, candidates, Uint32Array.of(0, 1), 3, undefined);
  expect([...positions]).toEqual([0, 2, 1, 2, 1, 0]);
});
