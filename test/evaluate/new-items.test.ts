import { describe, expect, it } from 'vitest';
import { readSideInfo } from '../../src/attributes/side-info.js';
import { againstAttributes, againstPopularity } from '../../src/evaluate/compare-rankings.js';
import { evaluateModel } from '../../src/evaluate/evaluate.js';
import { fit } from '../../src/fit/fit.js';
import { BipartiteGraph } from '../../src/graph/public.js';
import { sideTable } from '../../src/ingest/side-table.js';
import { fitContent } from '../../src/predict/content/fit-content.js';
import { split, unseenByTraining } from '../../src/sample/split.js';

// Users of four tastes have items of one genre each; authors say nothing.
const pairs: [string, string][] = [];
for (let u = 0; u < 120; u++) {
  for (let i = 0; i < 9; i++) pairs.push([`u${u}`, `${'abcd'[u % 4]}${(u * 7 + i * i * 3 + i) % 23}`]);
}
const graph = BipartiteGraph.fromPairs(pairs);
const edgesOf = ({ users, items }: BipartiteGraph) =>
  Array.from({ length: users.count }, (_, u) =>
    [...users.neighbors.subarray(users.offsets[u], users.offsets[u + 1])].map((item) => [
      users.ids.at(u),
      items.ids.at(item),
    ]),
  ).flat();
const rows = ['id,genre,author'];
for (let j = 0; j < graph.items.count; j++) {
  const id = graph.items.ids.at(j);
  rows.push(`${id},${id[0]},w${j % 5}`);
}
const table = sideTable(new TextEncoder().encode(rows.join('\n')), 'items');
const parts = split(graph, { method: 'new-items', testItems: 0.3, seed: 2 });

describe('a split by new items', () => {
  it('leaves no edge of a held-out item in training, and loses no edge', () => {
    const { train, foldIn, test, assignment } = parts;
    expect(train.edges + test.edges).toBe(graph.edges);
    expect(foldIn.edges).toBe(0);
    for (let j = 0; j < graph.items.count; j++) {
      const id = graph.items.ids.at(j);
      const isNew = assignment.items.drawn[j] === 1;
      expect([train.items.ids.find(id) >= 0, test.items.ids.find(id) >= 0]).toEqual([!isNew, isNew]);
    }
    expect(test.items.count / graph.items.count).toBeCloseTo(0.3, 1);
    expect(unseenByTraining(parts).test.items).toBe(0);
    expect(split(graph, { method: 'new-items', testItems: 0.3, seed: 2 }).test).toEqual(test);
  });

  it('refuses options that it does not use', () => {
    expect(() => split(graph, { method: 'new-items', testUsers: 0.2 })).toThrow(/testUsers has no meaning/);
    expect(() => split(graph, { method: 'edges', testItems: 0.2 })).toThrow(
      /only the methods pq and new-items/,
    );
  });
});

describe('a model on a split by new items', async () => {
  const { model } = await fit(parts.train, { method: 'ranking', features: 4, threads: 1 });

  it('ranks the held-out items by their attributes, and is compared with simpler ways', async () => {
    const { info } = readSideInfo(parts.train.items, { name: 'items', rows: table });
    const items = await fitContent(model, info, { seed: 1, threads: 1 });
    const known = { ...model, info: { items } };
    const found = await evaluateModel(known, parts, { n: 5, draws: 0, threads: 1 });
    expect(found.ranking.all.candidates).toBe(parts.test.items.count);
    expect(found.dropped).toMatchObject({ ranking: { edges: 0 } });
    expect(found.ranking.all.mean.recall).toBeGreaterThan(0.4);
    expect(await againstPopularity(known, found, { seed: 1 })).toBeUndefined();
    const { profile, attributePopularity } = (await againstAttributes(known, found, { seed: 1 }))!;
    // The profile knows the genre of the user's items, popularity does not.
    expect(profile.other.mean.recall).toBeGreaterThan(0.4);
    expect(attributePopularity.other.mean.recall).toBeLessThan(0.4);
    expect(attributePopularity.difference.recall.low).toBeGreaterThan(0);
  });

  it('is not evaluated on users without a history: nothing ranks items for them that nobody has', async () => {
    const { info } = readSideInfo(parts.train.items, { name: 'items', rows: table });
    const items = await fitContent(model, info, { seed: 1, threads: 1 });
    const more = [...edgesOf(parts.test), ['stranger', parts.test.items.ids.at(0)]] as [string, string][];
    const withStranger = { ...parts, test: BipartiteGraph.fromPairs(more) };
    const found = await evaluateModel({ ...model, info: { items } }, withStranger, { n: 5, draws: 0 });
    expect(found.withoutHistory).toBeUndefined();
    expect(found.dropped.ranking.users).toBe(1);
    const before = await evaluateModel({ ...model, info: { items } }, parts, { n: 5, draws: 0 });
    expect(found.ranking.all.mean).toEqual(before.ranking.all.mean);
  });

  it('is refused if it knows nothing about them', async () => {
    await expect(evaluateModel(model, parts, { draws: 0 })).rejects.toThrow(
      /cannot score any held-out item: fit the training part with a table about the items/,
    );
  });
});
