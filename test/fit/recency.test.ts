// Weights by age: an edge weighs 2^(−age / half-life).

import { describe, expect, test } from 'vitest';
import { evaluateModel } from '../../src/evaluate/evaluate.js';
import { fit } from '../../src/fit/fit.js';
import type { Ranker } from '../../src/fit/model.js';
import type { RankingFitOptions } from '../../src/fit/options.js';
import { agesOf, asHistory, historyWeights, parseHalfLife } from '../../src/fit/ranking/recency.js';
import { unfinishedFit } from '../../src/fit/unfinished.js';
import { buildGraph } from '../../src/graph/build.js';
import type { BipartiteGraph } from '../../src/graph/graph.js';
import { randomStream } from '../../src/math/random.js';
import { createRecommender } from '../../src/predict/recommender.js';
import { createModelScorer } from '../../src/predict/scoring/model-scorer.js';
import { ownItems } from '../../src/predict/user-query.js';
import type { Progress } from '../../src/progress.js';
import { split } from '../../src/sample/split.js';
import { modelFileFromBytes, modelFromBytes, modelToBytes } from '../../src/store/model-bytes.js';

const DAY = 86_400_000;
const NOW = Date.UTC(2024, 0);
const GROUPS = 6;

/** Users who like one group of items, and with `drift` another group after half of their items. */
function drifting(drift: boolean, users = 500, items = 240) {
  const random = randomStream(7, drift ? 1 : 0);
  const pairs = new Map<string, { user: number; item: number; time: number }>();
  for (let user = 0; user < users; user++) {
    const [before, after] = [random.below(GROUPS), random.below(GROUPS)];
    const count = 16 + random.below(8);
    for (let n = 0; n < count; n++) {
      const group = drift && n >= count / 2 ? after : before;
      const noise = random.uniform() < 0.1;
      const item = noise ? random.below(items) : group + GROUPS * random.below(items / GROUPS);
      pairs.set(`${user} ${item}`, { user, item, time: NOW - 300 * DAY * (1 - n / count) });
    }
  }
  return timedGraph([...pairs.values()], users, items);
}

function timedGraph(
  edges: readonly { readonly user: number; readonly item: number; readonly time: number }[],
  userCount: number,
  itemCount: number,
): { readonly graph: BipartiteGraph; readonly times: Float64Array } {
  const graph = buildGraph({
    ...{ users: edges.map((e) => e.user), items: edges.map((e) => e.item) },
    ...{ userCount, itemCount, multigraph: false },
  });
  const timeOf = new Map(edges.map((e) => [e.user * itemCount + e.item, e.time]));
  const times = new Float64Array(graph.edges);
  for (let u = 0; u < userCount; u++) {
    for (let e = graph.users.offsets[u]; e < graph.users.offsets[u + 1]; e++) {
      times[e] = timeOf.get(u * itemCount + graph.users.neighbors[e])!;
    }
  }
  return { graph, times };
}

const QUICK = { method: 'ranking', features: 8, iterations: 6, threads: 1 } as const;
const scoresOf = ({ scores, seen }: Ranker) => ({ scores, ages: seen?.ages });

describe('the half-life', () => {
  test('is a span, auto or never; everything else is refused', () => {
    expect(parseHalfLife('90d')).toBe(90 * DAY);
    expect(parseHalfLife(' auto ')).toBe('auto');
    for (const bad of ['0', '0d', '-1d', 'NaN', '1e400d', '90', 'd', 'Infinity', '']) {
      expect(() => parseHalfLife(bad), bad).toThrow('expected a span above 0 such as 12h');
    }
  });

  test('needs one finite time for each edge', async () => {
    const { graph, times } = drifting(false, 30, 60);
    const options = { ...QUICK, blend: false, halfLife: '90d' } as const;
    await expect(fit(graph, options)).rejects.toThrow('need the time of each edge');
    await expect(fit(graph, { ...options, times: times.subarray(1) })).rejects.toThrow('give one for each');
    const bad = times.slice();
    bad[3] = Number.NaN;
    await expect(fit(graph, { ...options, times: bad })).rejects.toThrow('the time of edge 3 is NaN');
    await expect(fit(graph, { method: 'ascent', halfLife: '90d' } as never)).rejects.toThrow(
      'it belongs to ranking',
    );
  });

  test('weighs a history by its latest item, and no item below 1/16', () => {
    const ages = agesOf([NOW - 4 * DAY, NOW - 3 * DAY, NOW - 90 * DAY], { halfLife: DAY, latest: NOW });
    expect(Array.from(historyWeights(ages))).toEqual([0.5, 1, 1 / 16]);
    const lists = { offsets: Uint32Array.of(0, 2, 3), values: Uint32Array.of(0, 1, 0) };
    const weighed = asHistory({ ...lists, weights: Float32Array.of(0.25, 0.125, 0.01) });
    expect(Array.from(weighed.weights!)).toEqual([1, 0.5, 1]);
  });
});

describe('a ranker with weights by age', () => {
  const { graph, times } = drifting(true);
  const few = drifting(true, 150, 120);

  test('of an endless half-life, or of none, is the ranker without weights', async () => {
    const plain = (await fit(few.graph, QUICK)).model;
    for (const halfLife of ['never', '999999999w']) {
      const { model } = await fit(few.graph, { ...QUICK, halfLife, times: few.times });
      expect(model.recency).toBeUndefined();
      expect(scoresOf(model)).toEqual(scoresOf(plain));
    }
  });

  test('stays the same if all times move by a constant, and its file has the same bytes for the same fit', async () => {
    const options = { ...QUICK, halfLife: '60d', times: few.times };
    const { model } = await fit(few.graph, options);
    const later = await fit(few.graph, { ...options, times: few.times.map((time) => time + 1000 * DAY) });
    expect(scoresOf(later.model)).toEqual(scoresOf(model));
    const bytes = modelToBytes(model);
    expect(modelToBytes((await fit(few.graph, options)).model)).toEqual(bytes);
    const loaded = (await modelFromBytes(bytes)) as Ranker;
    expect(loaded.recency).toEqual(model.recency);
    expect(loaded.seen).toEqual(model.seen);
    expect(loaded.scores).toEqual(model.scores);
  });

  test('gains on users whose taste changes, and auto finds it', async () => {
    const parts = split(graph, { method: 'last', last: 3, times });
    const options = { ...QUICK, iterations: 20, times: parts.times!.train };
    const recall = async (model: Ranker) =>
      (await evaluateModel(model, parts, { draws: 0, threads: 1 })).ranking.all.mean.ndcg;
    const plain = await fit(parts.train, { ...options, halfLife: 'never' });
    const weighed = await fit(parts.train, { ...options, halfLife: 'auto' });
    expect(weighed.recency!.halfLife).toBeGreaterThan(5 * DAY);
    expect(weighed.recency!.halfLife).toBeLessThan(300 * DAY);
    expect(weighed.model.recency!.halfLife).toBe(weighed.recency!.halfLife);
    expect(await recall(weighed.model)).toBeGreaterThan(1.05 * (await recall(plain.model)));
  });

  test('has no weights if auto finds that tastes do not change', async () => {
    const steady = drifting(false);
    const totals = new Set<number>();
    const onProgress = ({ stage, done, total = 0 }: Progress) => {
      if (stage !== 'half-life on last interactions') return;
      totals.add(total);
      expect(done).toBeLessThanOrEqual(total);
    };
    const options = { ...QUICK, times: steady.times, halfLife: 'auto', onProgress };
    const { model, recency } = await fit(steady.graph, options);
    expect([...totals]).toEqual([8]);
    expect(recency!.heldBack).toBe(100);
    expect(recency!.halfLife).toBeUndefined();
    expect(model.recency).toBeUndefined();
  });

  test('says the same of a stored user, of the user folded in, and of likes with times', async () => {
    const { model } = await fit(graph, { ...QUICK, halfLife: '30d', times });
    const scorer = createModelScorer(model);
    for (const user of [0, 17, 203]) {
      const own = ownItems(model, user);
      const [stored, folded] = [scorer.userScorer(user, own), scorer.userScorer(undefined, own)];
      for (const item of [3, 50, 111]) expect(folded.score(item)).toBeCloseTo(stored.score(item), 4);
      for (const item of [3, 50]) {
        const { score, items, prior } = stored.explainer()(item);
        expect(items.reduce((a, b) => a + b, prior)).toBeCloseTo(score, 6);
        expect(score).toBeCloseTo(stored.score(item), 6);
      }
    }
    await scorer.close();
    const recommender = createRecommender(model);
    const id = graph.users.ids.at(17);
    const [first, last] = [graph.users.offsets[17], graph.users.offsets[18]];
    const likes = Array.from(graph.users.neighbors.subarray(first, last), (item) => graph.items.ids.at(item));
    const own = Array.from(times.subarray(first, last));
    const lists = await recommender.recommendMany(
      [{ user: id }, { likes, times: own }, { likes, times: own.map((time) => time + 50 * DAY) }, { likes }],
      { n: 10, threads: 1 },
    );
    await recommender.close();
    const items = lists.map((list) => list.map(({ item }) => item));
    expect(items[1]).toEqual(items[0]);
    expect(items[2]).toEqual(items[0]);
    expect(items[3]).not.toEqual(items[0]);
  });

  test('weighs the histories of held-out users by the times of a split', async () => {
    const parts = split(graph, { seed: 2, times });
    const { model } = await fit(parts.train, { ...QUICK, halfLife: '30d', times: parts.times!.train });
    const withTimes = await evaluateModel(model, parts, { draws: 0, threads: 1 });
    const without = await evaluateModel(model, { ...parts, times: undefined }, { draws: 0, threads: 1 });
    expect(withTimes.ranking.all.mean.ndcg).not.toBe(without.ranking.all.mean.ndcg);
  });

  test('keeps its half-life in a refit', async () => {
    const first = (await fit(graph, { ...QUICK, halfLife: '30d', times })).model;
    const again = (await fit(graph, { from: first, times, threads: 1 })).model;
    expect(again.recency).toEqual(first.recency);
    await expect(fit(graph, { from: first, threads: 1 })).rejects.toThrow('need the time of each edge');
  });

  test('keeps a half-life that was searched for the previous model, also in a refit that is resumed', async () => {
    const { model } = await fit(graph, { ...QUICK, halfLife: 'auto', times });
    // No search on these data finds this one.
    const recency = { ...model.provenance.recency!, halfLife: 33 * DAY };
    const from = { ...model, provenance: { ...model.provenance, recency } };
    const controller = new AbortController();
    const stopped = await fit(graph, {
      ...{ from, times, threads: 1, signal: controller.signal },
      onProgress: ({ stage }) => stage.startsWith('fitting') && controller.abort(),
    }).catch((error) => error);
    const left = unfinishedFit(stopped)!;
    const { checkpoint } = await modelFileFromBytes(
      modelToBytes(left.model, { checkpoint: left.checkpoint }),
    );
    const resumed = await fit(graph, { resume: checkpoint!, times, threads: 1 } as RankingFitOptions);
    expect(resumed.model.recency!.halfLife).toBe(33 * DAY);
    const whole = await fit(graph, { from, times, threads: 1 });
    expect(scoresOf(resumed.model)).toEqual(scoresOf(whole.model));
    expect(resumed.model.provenance).toEqual(whole.model.provenance);
  });
});
