import { describe, expect, it } from 'vitest';
import { readSideInfo } from '../../src/attributes/side-info.js';
import { fitBaseline } from '../../src/evaluate/baselines/fit-baseline.js';
import { evaluateModel } from '../../src/evaluate/evaluate.js';
import type { Model } from '../../src/fit/model.js';
import { BipartiteGraph } from '../../src/graph/public.js';
import { sideTable } from '../../src/ingest/side-table.js';
import { randomStream } from '../../src/math/random.js';
import { withTables } from '../../src/predict/content/fit-content.js';
import { createRecommender } from '../../src/predict/recommender.js';
import { basisOf } from '../../src/predict/user-query.js';
import { reasonWords } from '../../src/report/words/reasons.js';
import { split } from '../../src/sample/split.js';
import { createLiveView } from '../../src/serve/live/live-view.js';
import { answerQueries } from '../../src/serve/queries.js';
import { modelFromBytes, modelToBytes } from '../../src/store/model-bytes.js';
import { USERS_AND_ITEMS } from '../../src/text/sides.js';

const GROUPS = ['DE', 'FR', 'JP'];
const ITEMS = 150;

/** Users of three countries; `taste` is the part of their items that come from a third of the items of their own. */
function planted(taste: number, seed: number) {
  const random = randomStream(seed, 99);
  const pairs: [string, string][] = [];
  const rows = ['user,country,plan'];
  for (let u = 0; u < 700; u++) {
    const group = Math.floor(3 * random.uniform());
    rows.push(`u${u},${GROUPS[group]},${random.uniform() < 0.5 ? 'free' : 'paid'}`);
    for (let e = 0; e < 8; e++) {
      // Popular items have small numbers.
      const rank = Math.floor((ITEMS / 3) * random.uniform() ** 2);
      const owner = random.uniform() < taste ? group : Math.floor(3 * random.uniform());
      pairs.push([`u${u}`, `i${3 * rank + owner}`]);
    }
  }
  rows.push('new-jp,JP,free', 'strange,XX,other');
  return {
    graph: BipartiteGraph.fromPairs(pairs),
    table: sideTable(new TextEncoder().encode(rows.join('\n')), 'users'),
  };
}

async function modelOf(graph: BipartiteGraph, table: ReturnType<typeof sideTable>): Promise<Model> {
  const { model } = await fitBaseline(graph, 'popularity', { threads: 1 });
  const { info } = readSideInfo(graph.users, { name: 'users', rows: table });
  return withTables(model, { users: info }, { seed: 1, threads: 1 });
}

describe('attributes of users', () => {
  it('that say something about their items give new users lists of their own', async () => {
    const { graph, table } = planted(0.8, 1);
    const model = await modelFromBytes(modelToBytes(await modelOf(graph, table)));
    const { tastes } = model.info!.users!;
    expect(tastes!.columns.country).toBeGreaterThan(0);
    expect(tastes!.columns.plan ?? 0).toBe(0);
    const recommender = createRecommender(model);
    const list = await recommender.recommend({ user: 'new-jp' }, { n: 15, explain: true });
    const ofJapan = list.filter(({ item }) => Number(item.slice(1)) % 3 === 2).length;
    expect(ofJapan).toBeGreaterThan(10);
    expect(basisOf(0, model, { user: 'new-jp' })).toBe('attributes');
    expect(basisOf(8, model, { user: 'u1' })).toBe('personal');
    const [{ explanation, item, score }] = list;
    expect(explanation!.attributes).toMatchObject([{ column: 'country', value: 'JP', fraction: 1 }]);
    expect(explanation!.attributes![0].times).toBeGreaterThan(1.5);
    expect(explanation!.prior).toBe(score);
    const { lines } = reasonWords(recommender.reasons(list[0])!, score, USERS_AND_ITEMS, (id) => id);
    expect(lines.join('\n')).toMatch(
      /by the attributes of this user, not by items\nusers with country JP have it \d\.\d times as often as all users/,
    );
    expect(recommender.explain({ user: 'new-jp' }, item)).toEqual(list[0]);
    expect(recommender.rank({ user: 'new-jp' }, ['i0', 'i2'])[0].item).toBe('i2');
    const many = await recommender.explainMany([{ user: 'u3' }, { user: 'new-jp' }], { n: 15 });
    expect(many[1].items.map((one) => one.item)).toEqual(list.map((one) => one.item));
    // A user whose attributes nobody has gets the popular items.
    const popular = recommender.popular({ n: 5 }).map((one) => one.item);
    const strange = await recommender.recommend({ user: 'strange' }, { n: 5 });
    expect(strange.map((one) => one.item)).toEqual(popular);
    expect(basisOf(0, model, { user: 'strange' })).toBe('popular');
    await expect(recommender.recommend({ user: 'nobody' })).rejects.toThrow(/nobody is not in the model/);
    const { ids, degree } = model.items;
    const [served, unknown] = await answerQueries(
      { recommender, live: createLiveView({ ids, degree }, []) },
      [
        { endpoint: 'recommend', request: { user: 'new-jp', n: 15, confidence: true } },
        { endpoint: 'recommend', request: { user: 'nobody', n: 5 } },
      ],
      () => false,
    );
    expect(served).toMatchObject({ value: { basis: 'attributes', unknown: [] } });
    expect(unknown).toMatchObject({ problem: 'not-found' });
    await recommender.close();
  });

  it('recall more items of users without a history than popularity', async () => {
    const { graph, table } = planted(0.8, 2);
    const parts = split(graph, { testUsers: 0.3, testItems: 0.9, seed: 3 });
    const model = await modelOf(parts.train, table);
    const [found, plain] = await Promise.all(
      [model, { ...model, info: undefined }].map((one) => evaluateModel(one, parts, { n: 10, draws: 0 })),
    );
    expect(found.withoutHistory!.all.mean.recall).toBeGreaterThan(
      1.3 * plain.withoutHistory!.all.mean.recall,
    );
    expect(found.ranking.all.mean.recall).toBe(plain.ranking.all.mean.recall);
  });

  it('that say nothing leave new users the popular items', async () => {
    for (const seed of [1, 2, 3, 4]) {
      const { graph, table } = planted(0, seed);
      const { tastes } = (await modelOf(graph, table)).info!.users!;
      expect(tastes).toMatchObject({ columns: {} });
      expect(tastes!.heldBack).toBeGreaterThan(50);
    }
  });
});
