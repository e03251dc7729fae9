import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readSideInfo } from '../../src/attributes/side-info.js';
import { fitBaseline } from '../../src/evaluate/baselines/fit-baseline.js';
import { fit } from '../../src/fit/fit.js';
import type { Model } from '../../src/fit/model.js';
import { BipartiteGraph } from '../../src/graph/public.js';
import { sideTable } from '../../src/ingest/side-table.js';
import { fitContent } from '../../src/predict/content/fit-content.js';
import { createRecommender, type Recommender } from '../../src/predict/recommender.js';
import { modelFromBytes, modelToBytes } from '../../src/store/model-bytes.js';

// Two tastes: users of each have items of one genre. The table has two more items of each genre.
const pairs: [string, string][] = [];
for (let u = 0; u < 60; u++) {
  for (let i = 0; i < 6; i++) pairs.push([`u${u}`, `${u % 2 === 0 ? 'a' : 'b'}${(u * 7 + i * 3) % 15}`]);
}
const graph = BipartiteGraph.fromPairs(pairs);
const rows = ['id,genre,author'];
for (const genre of ['a', 'b']) {
  for (let i = 0; i < 15; i++)
    rows.push(`${genre}${i},${genre === 'a' ? 'Action' : 'Romance'},${genre}${i % 4}`);
  for (let i = 0; i < 2; i++)
    rows.push(`new-${genre}${i},${genre === 'a' ? 'Action' : 'Romance'},${genre}${i}`);
}
const table = sideTable(new TextEncoder().encode(rows.join('\n')), 'items');

async function described(model: Model): Promise<Model> {
  const { info } = readSideInfo(graph.items, { name: 'items', rows: table });
  return { ...model, info: { items: await fitContent(model, info, { seed: 1, threads: 1 }) } };
}

describe.each([
  ['a posterior', async () => (await fit(graph, { features: 2, iterations: 50, threads: 1 })).model],
  ['a ranker', async () => (await fit(graph, { method: 'ranking', features: 2, threads: 1 })).model],
  [
    'item weights',
    async () => (await fitBaseline(graph, 'ease', { setting: { lambda: 10 }, threads: 1 })).model,
  ],
])('new items with %s', (_name, make) => {
  let plain: Recommender;
  let recommender: Recommender;
  beforeAll(async () => {
    const model = await make();
    plain = createRecommender(model);
    recommender = createRecommender(await modelFromBytes(modelToBytes(await described(model))));
  }, 60_000);
  afterAll(async () => {
    await Promise.all([plain.close(), recommender.close()]);
  });
  const isNew = (item: string) => item.startsWith('new-');

  it('are listed for those who have similar ones', async () => {
    const list = await recommender.recommend({ user: 'u0' }, { n: 34 });
    const added = list.filter(({ item }) => isNew(item)).map(({ item }) => item);
    expect(added.slice(0, 2).sort()).toEqual(['new-a0', 'new-a1']);
    expect(added).toHaveLength(4);
  });

  it('leave the scores of items with many edges as they were', async () => {
    const query = { likes: ['a1', 'a3'] };
    const without = await plain.recommend(query, { n: 40 });
    const list = (await recommender.recommend(query, { n: 40 })).filter(({ item }) => !isNew(item));
    expect(list.map(({ item }) => item)).toEqual(without.map(({ item }) => item));
    for (const [i, { score }] of list.entries()) expect(score).toBeCloseTo(without[i].score, 5);
  });

  it('are explained: contributions add up to the score, and attributes are named', () => {
    const { score, explanation } = recommender.explain({ user: 'u0' }, 'new-a0');
    const items = explanation!.items.reduce(
      (sum, { contribution }) => sum + contribution,
      explanation!.prior,
    );
    expect(items).toBeCloseTo(score, 4);
    expect(explanation!.attributes?.map(({ value }) => value)).toContain('Action');
  });

  it('are listed if they fit a filter, as all others', async () => {
    const list = await recommender.recommend(
      { user: 'u0' },
      { n: 40, filter: "genre = 'Romance' and author != 'b1'" },
    );
    expect(list.length).toBeGreaterThan(5);
    expect(list.every(({ item }) => /b/.test(item) && item !== 'b1' && item !== 'b5')).toBe(true);
    await expect(recommender.recommend({ user: 'u0' }, { filter: 'colour = 1' })).rejects.toThrow(
      /filter, character 1: the model has no attribute colour; it has id, genre, author/,
    );
    await expect(plain.recommend({ user: 'u0' }, { filter: 'genre = 1' })).rejects.toThrow(
      /stores no attributes/,
    );
  });

  it('may be liked, and have similar items', async () => {
    const [first] = await recommender.recommend({ likes: ['new-b0'] }, { n: 3 });
    expect(first.item).toMatch(/b\d/);
    const similar = recommender.similar('new-a0', { n: 5 });
    expect(similar[0].item).toMatch(/^(new-)?a/);
    expect(similar).toHaveLength(5);
  });
});

it('the same table gives the same scores', async () => {
  const { model } = await fit(graph, { features: 2, iterations: 20, threads: 1 });
  const [one, other] = [await described(model), await described(model)];
  expect(one.info).toEqual(other.info);
});
