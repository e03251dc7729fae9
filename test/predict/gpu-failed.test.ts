// A GPU that fails while it makes lists: `gpu` gives its error, every time, and never lists of the CPU.

import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { DeviceError } from '../../src/errors.js';
import { fit } from '../../src/fit/fit.js';
import { BipartiteGraph } from '../../src/graph/public.js';
import { createRecommender, type Recommender } from '../../src/predict/recommender.js';
import { createReferenceTopN } from '../../src/topn/reference.js';

/** A GPU that can be made to fail. */
const gpu = vi.hoisted(() => ({ fails: true, opened: 0, closed: 0 }));
vi.mock('../../src/topn/webgpu.js', () => ({
  createWebgpuTopN: () => {
    gpu.opened++;
    const reference = createReferenceTopN();
    return {
      ...reference,
      name: 'gpu',
      async top(...asked: Parameters<typeof reference.top>) {
        if (gpu.fails) throw new DeviceError('the GPU was lost');
        return reference.top(...asked);
      },
      async close() {
        gpu.closed++;
      },
    };
  },
}));

let recommender: Recommender;
const queries = [{ user: 'u1' }, { user: 'u2' }];
const lists = () => recommender.recommendMany(queries, { n: 2, engine: 'gpu' });

beforeAll(async () => {
  const pairs = Array.from({ length: 120 }, (_, e) => [`u${e % 12}`, `i${(e * 7) % 11}`] as const);
  const { model } = await fit(BipartiteGraph.fromPairs(pairs), { features: 2, iterations: 5, threads: 1 });
  recommender = createRecommender(model);
});
afterAll(() => recommender.close());

it('fails again if the GPU fails again, and lists on the GPU that is opened again', async () => {
  await expect(lists()).rejects.toThrow('the GPU was lost');
  await expect(lists()).rejects.toThrow('the GPU was lost');
  expect(gpu).toMatchObject({ opened: 2, closed: 2 });
  gpu.fails = false;
  const [first, second] = await Promise.all([lists(), lists()]);
  expect(first).toHaveLength(queries.length);
  expect(second).toEqual(first);
  // One GPU serves both.
  expect(gpu).toMatchObject({ opened: 3, closed: 2 });
});
