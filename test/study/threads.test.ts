import { beforeEach, expect, it, vi } from 'vitest';
import type * as contender from '../../src/evaluate/baselines/contender.js';
import type { BipartiteGraph } from '../../src/graph/graph.js';
import type * as budget from '../../src/parallel/budget.js';
import type * as spawn from '../../src/parallel/spawn.js';
import { simulate } from '../../src/process/poisson-model.js';
import { compareStudies } from '../../src/study/compare.js';
import type { StudyOptions } from '../../src/study/options.js';
import { study } from '../../src/study/study.js';

/** What the parts of a study have: threads of each that is under way, and the most of them together. */
const seen = vi.hoisted(() => {
  const threads = new Map<object, number>();
  return {
    threads,
    most: 0,
    parts: 0,
    now(part: object, has: number) {
      threads.set(part, has);
      this.most = Math.max(
        this.most,
        [...threads.values()].reduce((sum, one) => sum + one, 0),
      );
    },
  };
});

vi.mock('../../src/parallel/spawn.js', async (original) => ({
  ...(await original<typeof spawn>()),
  cores: () => 16,
}));

vi.mock('../../src/parallel/budget.js', async (original) => {
  const { shareThreads } = await original<typeof budget>();
  return {
    shareThreads: (threads: number | undefined, parts: number) =>
      shareThreads(threads, parts).map((share) => ({
        async begin() {
          await share.begin();
          seen.parts++;
          seen.now(share, 1);
        },
        take() {
          const taken = share.take();
          seen.now(share, taken ?? Number.POSITIVE_INFINITY);
          return taken;
        },
        end() {
          seen.threads.delete(share);
          share.end();
        },
      })),
  };
});

vi.mock('../../src/evaluate/baselines/contender.js', async (original) => {
  const { fitContender } = await original<typeof contender>();
  return {
    async fitContender(...args: Parameters<typeof fitContender>) {
      const part = {};
      seen.parts++;
      seen.now(part, 1);
      try {
        return await fitContender(...args);
      } finally {
        seen.threads.delete(part);
      }
    },
  };
});

const SIDE = { sigma: 0.2, tau: 1, shape: 0.3, rate: 0.3, size: 190 };
const OPTIONS: StudyOptions = {
  ...{ model: 'sparse', features: 3, draws: 2, iterations: 4, ranker: true, engine: 'cpu' },
  ...{ baselines: ['popularity', 'knn', 'ease'], trials: 1 },
};
let graph: BipartiteGraph;

beforeEach(async () => {
  graph ??= (await simulate({ users: SIDE, items: SIDE, features: 3, seed: 3 })).graph;
  // As many as parts that go on beside each other have at least, and not many more.
  expect(graph.edges).toBeGreaterThan(32_000);
  Object.assign(seen, { most: 0, parts: 0 });
  seen.threads.clear();
});

it('the parts of a study together have the threads that it was given, and come to the same numbers', async () => {
  const results = [];
  for (const threads of [1, 2]) {
    Object.assign(seen, { most: 0, parts: 0 });
    results.push(await study(graph, { ...OPTIONS, threads }));
    expect(seen.most).toBe(threads);
    // Models, the fit for ranking and each baseline; in turn, only the baselines are parts of something.
    expect(seen.parts).toBe(threads === 1 ? 3 : 5);
  }
  for (const one of results) expect(compareStudies(results[0], one)).toEqual([]);
});
