import { afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import type * as baselineRun from '../../src/evaluate/baselines/baseline-run.js';
import type { BipartiteGraph } from '../../src/graph/graph.js';
import type * as pools from '../../src/parallel/pool.js';
import type * as spawn from '../../src/parallel/spawn.js';
import { simulate } from '../../src/process/poisson-model.js';
import { compareStudies } from '../../src/study/compare.js';
import type { StudyOptions } from '../../src/study/options.js';
import type { StudyResults } from '../../src/study/results.js';
import { StageTimes } from '../../src/study/stage-times.js';
import { study } from '../../src/study/study.js';

/** The threads of the steps of a study's jobs: of each step, and the most at one time. */
const seen = vi.hoisted(() => {
  const underWay = new Set<{ readonly threads: number }>();
  return {
    given: new Map<string, number[]>(),
    most: 0,
    async step<T>(part: string, threads = Number.POSITIVE_INFINITY, work: () => Promise<T>): Promise<T> {
      const step = { threads };
      underWay.add(step);
      this.most = Math.max(
        this.most,
        [...underWay].reduce((sum, one) => sum + one.threads, 0),
      );
      this.given.set(part, [...(this.given.get(part) ?? []), threads]);
      try {
        return await work();
      } finally {
        underWay.delete(step);
      }
    },
  };
});

vi.mock('../../src/parallel/spawn.js', async (original) => ({
  ...(await original<typeof spawn>()),
  cores: () => 16,
}));

// Baselines in workers.
vi.mock('../../src/parallel/pool.js', async (original) => {
  const all = await original<typeof pools>();
  const createPool: typeof all.createPool = async (module, threads) => {
    const pool = await all.createPool(module, threads);
    if (module.name !== 'baseline-run') return pool;
    return {
      ...pool,
      run<Input, Output>(...args: Parameters<typeof pool.run<Input, Output>>) {
        const { name, options } = args[1] as baselineRun.TuneJob;
        return seen.step(name, options.threads, () => pool.run<Input, Output>(...args));
      },
    };
  };
  return { ...all, createPool };
});

// Baselines in this thread.
vi.mock('../../src/evaluate/baselines/baseline-run.js', async (original) => {
  const { tuneOnSplit, evaluateOnSplit } = await original<typeof baselineRun>();
  const counted: Pick<typeof baselineRun, 'tuneOnSplit' | 'evaluateOnSplit'> = {
    tuneOnSplit: (name, problem, options) =>
      seen.step(name, options.threads, () => tuneOnSplit(name, problem, options)),
    evaluateOnSplit: (name, problem, tuned, options) =>
      seen.step(name, options.threads, () => evaluateOnSplit(name, problem, tuned, options)),
  };
  return counted;
});

// Few users and items with many edges: the number of edges decides whether jobs run in parallel, the numbers of users
// and items decide the time.
const SIDE = { sigma: -1, tau: 1, shape: 0.3, rate: 0.1, size: 185 };
const OPTIONS: StudyOptions = {
  ...{ model: 'sparse', features: 3, draws: 2, iterations: 4, ranker: true, engine: 'cpu' },
  ...{ baselines: ['popularity', 'knn', 'ease'], trials: 1, testUsers: 0.1 },
};
let graph: BipartiteGraph;

beforeAll(async () => {
  ({ graph } = await simulate({ users: SIDE, items: SIDE, features: 3, seed: 3, threads: 1 }));
});

beforeEach(() => {
  const { stage } = StageTimes.prototype;
  // Models and the ranker.
  vi.spyOn(StageTimes.prototype, 'stage').mockImplementation(function (this: StageTimes, about, work) {
    return stage.call(this, about, (task, waited) =>
      about.model ? seen.step(about.model, task.threads, () => work(task, waited)) : work(task, waited),
    ) as never;
  });
});

afterEach(() => {
  vi.restoreAllMocks();
});

const stages = ({ receipt }: StudyResults) => receipt.timings.map(({ stage, model }) => [stage, model]);

/** A study with `threads` threads: the most that its jobs had at one time, and those of each job's steps. */
async function withThreads(threads: number, options: StudyOptions = {}) {
  Object.assign(seen, { most: 0, given: new Map() });
  const results = await study(graph, { ...OPTIONS, ...options, threads });
  // The least number of threads for concurrent jobs.
  expect(results.runs[0].split.train.edges).toBeGreaterThan(20_000);
  return { results, most: seen.most, given: Object.fromEntries(seen.given) };
}

it('the concurrent work of a study stays within its threads, and gives the same numbers', async () => {
  const one = await withThreads(1);
  expect(one.most).toBe(1);
  for (const threads of [2, 8]) {
    const { results, most, given } = await withThreads(threads);
    expect(most).toBe(threads);
    expect(Object.keys(given).sort()).toEqual(Object.keys(one.given).sort());
    // An equal share of all threads for the first step of each job.
    const first = Object.values(given).map(([threads]) => threads);
    expect(first.sort()).toEqual(threads === 2 ? [1, 1, 1, 1, 1] : [1, 1, 2, 2, 2]);
    expect(compareStudies(one.results, results)).toEqual([]);
    expect(stages(results)).toEqual(stages(one.results));
  }
});

it('a baseline requests threads again after tuning, and a single one gets no more than its share', async () => {
  const { most, given } = await withThreads(2, { baselines: ['ease'], ranker: false });
  expect(most).toBe(2);
  expect(given.sparse[0]).toBe(1);
  expect(given.ease).toHaveLength(2);
  expect(given.ease[0]).toBe(1);
});
