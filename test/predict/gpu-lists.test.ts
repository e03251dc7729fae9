// Lists for many users on a GPU equal those of the threads.

import { describe, expect, test } from 'vitest';
import { fit } from '../../src/fit/fit.js';
import type { Model } from '../../src/fit/model.js';
import { BipartiteGraph } from '../../src/graph/public.js';
import { randomStream } from '../../src/math/random.js';
import { createRecommender } from '../../src/predict/recommender.js';
import { findTestGpu, skipReason } from '../engine/swiftshader.js';

const gpu = await findTestGpu();
test.runIf(!gpu.available)(skipReason(gpu), () => {});

const random = randomStream(11);
const pairs: [string, string][] = Array.from({ length: 1500 }, () => [
  `u${Math.floor(300 * random.uniform() ** 1.3)}`,
  `i${Math.floor(80 * random.uniform() ** 2)}`,
]);
const graph = BipartiteGraph.fromPairs(pairs);
const asking = (count: number) =>
  Array.from({ length: count }, (_, a) =>
    a % 3 === 0
      ? { likes: [pairs[a][1], pairs[a + 1][1]] }
      : { user: pairs[a][0], ...(a % 3 === 1 && { exclude: ['i0', 'i1'] }) },
  );
const queries = asking(100);
/** More than one transfer takes. */
const MANY = 1025;

async function sameAsThreads(model: Model): Promise<void> {
  const recommender = createRecommender(model);
  try {
    for (const includeSeen of [false, true]) {
      const ask = (engine: 'gpu' | 'cpu') =>
        recommender.recommendMany(queries, { n: 7, exclude: ['i2'], includeSeen, threads: 2, engine });
      expect(await ask('gpu')).toEqual(await ask('cpu'));
    }
  } finally {
    await recommender.close();
  }
}

describe.skipIf(!gpu.available)('lists on the GPU are those of the threads', () => {
  test('of a posterior', async () => {
    const { model } = await fit(graph, { features: 3, iterations: 15, threads: 1, model: 'sparse' });
    await sameAsThreads(model);
    const recommender = createRecommender(model);
    try {
      const ask = (engine: 'gpu' | 'cpu') => recommender.recommendMany(asking(MANY), { n: 2, engine });
      expect(await ask('gpu')).toEqual(await ask('cpu'));
    } finally {
      await recommender.close();
    }
  }, 60_000);

  test('of a ranker of several members', async () => {
    const options = { method: 'ranking', features: 3, iterations: 5, average: 2, threads: 1 } as const;
    const { model } = await fit(graph, options);
    // Weights between items are added to the products.
    expect(
      model.type === 'ranker' && model.scores.kind === 'factors' && model.scores.itemWeights,
    ).toBeTruthy();
    await sameAsThreads(model);
  });

  test('an aborted request ends, and the next is answered', async () => {
    const { model } = await fit(graph, { features: 3, iterations: 5, threads: 1, model: 'sparse' });
    const recommender = createRecommender(model);
    try {
      const stop = new AbortController();
      const asked = recommender.recommendMany(queries, { engine: 'gpu', signal: stop.signal });
      stop.abort();
      await expect(asked).rejects.toMatchObject({ name: 'AbortError' });
      expect(await recommender.recommendMany(queries, { engine: 'gpu', n: 1 })).toHaveLength(queries.length);
    } finally {
      await recommender.close();
    }
  });
});
