import { describe, expect, it } from 'vitest';
import { fitBaseline } from '../../src/evaluate/baselines/fit-baseline.js';
import { meanTable } from '../../src/fit/model.js';
import { VertexIds } from '../../src/graph/ids.js';
import { BipartiteGraph } from '../../src/graph/public.js';
import { describeFeatures } from '../../src/predict/features.js';
import { nearestId } from '../../src/predict/nearest-id.js';
import { recommend, recommendMany } from '../../src/predict/recommend.js';
import { createRecommender } from '../../src/predict/recommender.js';
import { similarItems } from '../../src/predict/similar.js';
import { smallModel, smallRanker } from './recommend-model.js';

const kinds = {
  posterior: () => smallModel(),
  ranker: () => smallRanker([smallModel({ seed: 1 }), smallModel({ seed: 2, features: 3 })]),
  'ranker without users’ tables': () => smallRanker([smallModel({ seed: 1 })], { users: undefined }),
};

describe.each(Object.entries(kinds))('a recommender of a %s', (_, make) => {
  it('answers like the functions, concurrently and one by one', async () => {
    const model = make();
    const recommender = createRecommender(model);
    const queries = [
      ...Array.from({ length: 12 }, (_, u) => ({ user: `user ${u}` })),
      { likes: ['item 3', 'item 9'] },
    ];
    const want = await recommendMany(model, queries, { n: 4 });
    const answers = await Promise.all(queries.map((query) => recommender.recommend(query, { n: 4 })));
    expect(answers).toEqual(want);
    expect(await recommender.recommendMany(queries, { n: 4 })).toEqual(want);
    const streamed: unknown[] = [];
    for await (const list of recommender.recommendEach(stream(queries), { n: 4 })) streamed.push(list);
    expect(streamed).toEqual(want);
    await recommender.close();
    await expect(recommender.recommend(queries[0])).rejects.toThrow(/closed/);
  });

  it('draws the taste of a user once for all items of a list: the interval of an item does not depend on the others', async () => {
    const recommender = createRecommender(make());
    const query = { user: 'user 2' };
    const together = await recommender.confidence(query, ['item 5', 'item 1', 'item 28']);
    for (const [i, item] of ['item 5', 'item 1', 'item 28'].entries()) {
      const alone = await recommender.confidence(query, [item]);
      expect(alone.intervals).toEqual([together.intervals[i]]);
      expect(alone.intervals[0].low).toBeLessThan(alone.intervals[0].high);
    }
    await recommender.close();
  });

  it('ranks the caller’s candidates by the scores of the lists, seen or not', async () => {
    const recommender = createRecommender(make());
    const all = await recommender.recommend({ user: 'user 2' }, { n: 30, includeSeen: true });
    const chosen = ['item 5', 'item 1', 'item 28', 'item 5'];
    const ranked = recommender.rank({ user: 'user 2' }, chosen);
    expect(ranked).toEqual(all.filter(({ item }) => chosen.includes(item)));
    expect(() => recommender.rank({ user: 'user 2' }, ['item 5', 'itm 5'])).toThrow(/did you mean item 5\?/);
    const unknown: unknown[] = [];
    recommender.rank({ user: 'user 2' }, ['x'], { onUnknownCandidates: (ids) => unknown.push(...ids) });
    expect(unknown).toEqual(['x']);
    await recommender.close();
  });

  it('explains one item as the list does', async () => {
    const recommender = createRecommender(make());
    for (const query of [{ user: 'user 2' }, { likes: ['item 3', 'item 9'] }]) {
      const [first] = await recommender.recommend(query, { n: 1, explain: true });
      expect(recommender.explain(query, first.item)).toEqual(first);
      const { items, prior, features } = first.explanation!;
      expect(items.reduce((sum, { contribution }) => sum + contribution, prior)).toBeCloseTo(first.score, 10);
      for (const { contribution, fraction } of items) expect(fraction).toBe(contribution / first.score);
      expect(features.reduce((sum, part) => sum + part, 0)).toBeCloseTo(first.score, 10);
    }
    await recommender.close();
  });

  it('compares a score with the user’s average item: usual contributions are those to the sum of all scores', async () => {
    const model = make();
    const recommender = createRecommender(model);
    const query = { user: 'user 2' };
    const ids = Array.from({ length: model.items.count }, (_, item) => model.items.ids.at(item));
    const every = ids.map((id) => recommender.explain(query, id));
    const total = every.reduce((sum, { score }) => sum + score, 0);
    const own = new Map<string, number>();
    for (const { explanation } of every) {
      for (const { item, contribution } of explanation!.items)
        own.set(item, (own.get(item) ?? 0) + contribution);
    }
    const { score, explanation } = every[0];
    for (const { item, usual } of explanation!.items) {
      expect(usual / score).toBeCloseTo(own.get(item)! / total, 6);
    }
    const { items, usualPrior, usualFeatures } = explanation!;
    expect(items.reduce((sum, { usual }) => sum + usual, usualPrior)).toBeCloseTo(score, 10);
    expect(usualFeatures.reduce((sum, part) => sum + part, 0)).toBeCloseTo(score, 10);
    const contrast = items.map(({ contribution, usual }) => contribution - usual);
    expect(contrast).toEqual([...contrast].sort((a, b) => b - a));
    await recommender.close();
  });

  it('gives short reasons whose contributions add up to the score, and names features by their items', async () => {
    const model = make();
    const recommender = createRecommender(model);
    const likes = Array.from({ length: 12 }, (_, item) => model.items.ids.at(item));
    for (const query of [{ user: 'user 2' }, { likes }]) {
      const [first] = await recommender.recommend(query, { n: 1, explain: true });
      const { items, others, features, otherFeatures, direct, rest } = recommender.reasons(first)!;
      expect(items.length + others.count).toBe(first.explanation!.items.length);
      expect(items.length).toBeLessThanOrEqual(5);
      expect(
        items.reduce((sum, { contribution }) => sum + contribution, others.contribution + rest),
      ).toBeCloseTo(first.score, 10);
      expect(features.length).toBeGreaterThan(0);
      expect(features.length + otherFeatures.count).toBe(first.explanation!.features.length);
      expect(
        features.reduce((sum, { contribution }) => sum + contribution, otherFeatures.contribution),
      ).toBeCloseTo(first.score, 10);
      expect(direct).toEqual({ contribution: 0, fraction: 0, usual: 0 });
      const described = recommender.features({ n: 3 });
      for (const { feature, about, contribution } of features) {
        expect(about).toEqual(
          described.find((one) => one.feature === feature)!.items.map(({ item }) => item),
        );
        expect(contribution).toBe(first.explanation!.features[feature - 1]);
      }
    }
    expect(recommender.reasons({ item: 'item 1', score: 1 })).toBeUndefined();
    await recommender.close();
  });
});

async function* stream<T>(values: readonly T[]): AsyncGenerator<T> {
  for (const value of values) yield value;
}

describe('similar', () => {
  it('is the cosine of the mean activities, by brute force, if the model stores no histories', async () => {
    const model = { ...smallModel(), seen: undefined };
    const table = meanTable(model.items, 4);
    const row = (item: number) => Array.from(table.subarray(item * 4, item * 4 + 4));
    const dot = (a: number[], b: number[]) => a.reduce((sum, x, k) => sum + x * b[k], 0);
    const cosine = (a: number, b: number) =>
      dot(row(a), row(b)) / Math.sqrt(dot(row(a), row(a)) * dot(row(b), row(b)));
    const want = Array.from({ length: 30 }, (_, item) => item)
      .filter((item) => item !== 7)
      .sort((a, b) => cosine(7, b) - cosine(7, a))
      .slice(0, 6);
    const got = await similarItems(model, 'item 7', { n: 6 });
    expect(got.map(({ item }) => item)).toEqual(want.map((item) => `item ${item}`));
    for (const [i, { similarity }] of got.entries()) expect(similarity).toBeCloseTo(cosine(7, want[i]), 12);
    await expect(similarItems(model, 'tem 7')).rejects.toThrow(/did you mean item 7\?/);
  });

  it('counts common users if the model stores histories, by brute force', async () => {
    const owners = [[0, 1, 2], [0, 1], [1, 2], [0, 3], [3], [0, 1]];
    const graph = BipartiteGraph.fromPairs(
      owners.flatMap((items, user) => items.map((item) => [`u${user}`, `i${item}`] as const)),
    );
    const { model } = await fitBaseline(graph, 'popularity', { threads: 1 });
    const has = (item: number) => new Set(owners.flatMap((items, u) => (items.includes(item) ? [u] : [])));
    const alike = (a: number, b: number) => {
      const common = [...has(a)].filter((user) => has(b).has(user)).length;
      return common / Math.sqrt((has(a).size + 30) * (has(b).size + 30));
    };
    const want = [1, 2, 3]
      .map((item) => ({ item: `i${item}`, similarity: alike(0, item) }))
      .sort((a, b) => b.similarity - a.similarity);
    expect(await similarItems(model, 'i0')).toEqual(
      want.map((one) => ({ ...one, similarity: expect.closeTo(one.similarity, 12) })),
    );
    // Nobody has both.
    expect((await similarItems(model, 'i3')).map(({ item }) => item)).toEqual(['i0']);
    await expect(similarItems({ ...model, seen: undefined }, 'i0')).rejects.toThrow(/without its users/);
  });
});

describe('features', () => {
  it('are those of the model: shares add up, weights are shares of a feature and fall', async () => {
    const model = smallRanker([smallModel({ seed: 1 }), smallModel({ seed: 2, features: 3 })]);
    const found = await describeFeatures(model, { n: 30 });
    expect(found.map(({ feature }) => feature).sort()).toEqual([1, 2, 3, 4, 5, 6, 7]);
    expect(found.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(1, 10);
    for (const { items, users } of found) {
      for (const list of [items, users]) {
        expect(list.reduce((sum, { weight }) => sum + weight, 0)).toBeCloseTo(1, 5);
        for (let i = 1; i < list.length; i++) expect(list[i].weight).toBeLessThanOrEqual(list[i - 1].weight);
      }
      expect(users).toHaveLength(12);
    }
    const without = smallRanker([smallModel({ seed: 1 })], { users: undefined });
    expect((await describeFeatures(without))[0].users).toEqual([]);
  });
});

describe('popular', () => {
  it('lists items by their users, ties by id, without what is excluded', async () => {
    const model = smallModel();
    const degree = Uint32Array.from({ length: 30 }, (_, item) => (item % 3) + 1);
    const recommender = createRecommender({ ...model, items: { ...model.items, degree } });
    expect(recommender.popular({ n: 3, exclude: ['item 5'] })).toEqual([
      { item: 'item 2', users: 3 },
      { item: 'item 8', users: 3 },
      { item: 'item 11', users: 3 },
    ]);
    await recommender.close();
  });
});

describe('hints for unknown ids', () => {
  it.each([
    ['scipi', 'scipy'],
    ['133093', '0133093'],
    ['12347', '12347.0'],
    ['NumPy', 'numpy'],
    ['pandsa', 'pandas'],
    [' lead', 'lead'],
    ['x', undefined],
    ['99', undefined],
    ['entirely other', undefined],
  ])('%s: %s', (wanted, near) => {
    const ids = VertexIds.texts(['0133093', '12347.0', 'lead', 'numpy', 'pandas', 'scipy', 'y']);
    expect(nearestId(wanted, ids)).toBe(near);
  });

  it('say what to do if no id is similar', async () => {
    await expect(recommend(smallModel(), { user: 'usr 3' })).rejects.toThrow(
      /did you mean user 3\? If not, for a new user/,
    );
  });
});
