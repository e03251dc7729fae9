// If threads cannot share memory, as in a page that is not isolated, all work runs in the caller's thread and gives the same
// numbers.

import { afterEach, describe, expect, test, vi } from 'vitest';
import { foldHeldOut } from '../../src/evaluate/held-out.js';
import { fit } from '../../src/fit/fit.js';
import { foldIn } from '../../src/fit/fold-in/fold-in.js';
import { gibbsPosterior } from '../../src/fit/gibbs/gibbs.js';
import type { FactorScores } from '../../src/fit/model.js';
import type { FitOptions } from '../../src/fit/options.js';
import { allocate, canShareMemory, inSharedMemory } from '../../src/math/memory.js';
import { threadCount } from '../../src/parallel/pool.js';
import { list } from '../../src/predict/batch/batch-tasks.js';
import { createBatchWorkers } from '../../src/predict/batch/batch-workers.js';
import { drawPredictive } from '../../src/predict/draw/draw.js';
import { ownItems } from '../../src/predict/user-query.js';
import { simulate } from '../../src/process/poisson-model.js';
import { split } from '../../src/sample/split.js';
import { alternatingLeastSquares } from '../../src/solvers/least-squares.js';
import { rankByFactors } from '../../src/topn/cpu.js';

const side = { sigma: 0.2, tau: 1, shape: 0.3, rate: 0.3, size: 60 };
const sample = () => simulate({ users: side, items: side, features: 3, seed: 7 });

afterEach(() => vi.unstubAllGlobals());

/** The results of `work` with shared memory and without. */
async function bothWays<T>(work: () => Promise<T>): Promise<{ shared: T; plain: T }> {
  expect(canShareMemory()).toBe(true);
  const shared = await work();
  vi.stubGlobal('SharedArrayBuffer', undefined);
  expect([canShareMemory(), threadCount(4)]).toEqual([false, 1]);
  return { shared, plain: await work() };
}

test('arrays are shared if possible, else plain, and copied only if needed', async () => {
  const { shared, plain } = await bothWays(async () => {
    const made = allocate(Float64Array, 3);
    const own = Uint32Array.of(1, 2);
    return { made, own, given: inSharedMemory(own), again: inSharedMemory(made) === made };
  });
  expect(shared.made.buffer.constructor.name).toBe('SharedArrayBuffer');
  expect(plain.made.buffer).toBeInstanceOf(ArrayBuffer);
  expect([shared.given === shared.own, plain.given === plain.own]).toEqual([false, true]);
  expect(Array.from(shared.given)).toEqual([1, 2]);
  expect([shared.again, plain.again]).toEqual([true, true]);
});

test('without shared memory a closed batch of lists leaves no model in the thread', async () => {
  vi.stubGlobal('SharedArrayBuffer', undefined);
  const { graph } = await sample();
  const { model } = await fit(graph, { features: 2, iterations: 3 });
  const workers = createBatchWorkers(model);
  const users = [{ row: 0, own: ownItems(model, 0), exclude: [] }];
  const settings = { n: 3, includeSeen: true };
  expect((await workers.lists(users, settings, {}))[0].items.length).toBe(3);
  const piece = { batch: 0, users: [{ user: 0, exclude: [] }], ...settings };
  expect((await list(piece))[0].items.length).toBe(3);
  await workers.close();
  await expect(list(piece)).rejects.toThrow('no model was adopted');
});

describe('without shared memory the bits are the same for', () => {
  test.each(['ascent', 'ranking'] as const)('a fit by %s and a fold-in', async (method) => {
    const { shared, plain } = await bothWays(async () => {
      const { graph } = await sample();
      const parts = split(graph, { seed: 2, testUsers: 0.3, testItems: 0.3 });
      const { model, threads } = await fit(parts.train, {
        features: 3,
        iterations: 30,
        method,
        threads: 2,
      } as FitOptions);
      if (model.type === 'ranker') {
        const [{ users, items, userMass: folded }] = (model.scores as FactorScores).members;
        return { threads, users: users!, items, folded };
      }
      const folded = await foldIn(model, parts.train, { threads: 2 });
      return {
        threads,
        users: model.users.featureShape,
        items: model.items.featureRate,
        folded: folded.weightShape,
      };
    });
    expect([shared.threads, plain.threads]).toEqual([2, 1]);
    expect(plain.users.buffer).toBeInstanceOf(ArrayBuffer);
    for (const name of ['users', 'items', 'folded'] as const) expect(plain[name]).toEqual(shared[name]);
  });

  test('two concurrent fits', async () => {
    const both = async () => {
      const { graph } = await sample();
      const fits = [2, 3].map((features) => fit(graph, { features, iterations: 15, engine: 'cpu' }));
      return (await Promise.all(fits)).map(({ model }) => model.items.featureShape);
    };
    const { shared, plain } = await bothWays(both);
    expect(plain).toEqual(shared);
  });

  test('draws, the exact sampler, rankings and least squares', async () => {
    const { shared, plain } = await bothWays(async () => {
      const { graph } = await sample();
      const parts = split(graph, { seed: 2, testUsers: 0.3, testItems: 0.3 });
      const { model } = await fit(parts.train, { features: 2, iterations: 20 });
      const { folded } = await foldHeldOut(model, parts);
      const draws = await drawPredictive(model, folded!, parts, { draws: 3 });
      const start = { users: model.users, items: model.items };
      const hyper = { users: model.users.hyper, items: model.items.hyper };
      const exact = await gibbsPosterior(parts.train, { features: 2, hyper, start, warmup: 5, draws: 8 });
      const lists = (rows: typeof graph.users) => ({ offsets: rows.offsets, values: rows.neighbors });
      const tables = await alternatingLeastSquares(
        { users: lists(graph.users), items: lists(graph.items) },
        { features: 4, lambda: 0.1, alpha: 0.1, iterations: 3, seed: 1 },
      );
      const candidates = Uint32Array.from({ length: graph.items.count }, (_, item) => item);
      const query = {
        ...{ candidates: candidates.length, excluded: undefined, depth: 20, top: 5 },
        views: [{ without: new Uint32Array(0), relevant: lists(graph.users) }],
      };
      const { ranks } = await rankByFactors({ ...tables, features: 4 }, candidates, query);
      return { draws, exact: exact.users.weightMean, tables, ranks };
    });
    expect(plain).toEqual(shared);
  });
});
