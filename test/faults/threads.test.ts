// With a thousand threads and little work, no more workers start than there are pieces of work.

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { BipartiteGraph, fit, readGraph, simulate } from '../../src/index.js';
import { threadCount } from '../../src/parallel/pool.js';
import { alternatingLeastSquares } from '../../src/solvers/least-squares.js';
import { ridge } from '../../src/solvers/ridge.js';
import { createListMaker } from '../../src/topn/list-maker.js';

vi.setConfig({ testTimeout: 120_000 });

let started = 0;
const count = () => started++;
beforeEach(() => {
  started = 0;
  process.on('worker', count);
});
afterEach(() => {
  process.off('worker', count);
});

/** `rows` rows, each with the same values. */
function lists(rows: number, each: number) {
  return {
    offsets: Uint32Array.from({ length: rows + 1 }, (_, row) => each * row),
    values: Uint32Array.from({ length: rows * each }, (_, at) => at % each),
  };
}

describe('with 1000 threads', () => {
  const threads = 1000;
  const small = async (): Promise<BipartiteGraph> => (await readGraph('@simulated-small')).graph;

  it('a fit of 970 edges starts one worker per block of rows, with the result of one thread', async () => {
    const graph = await small();
    const options = { features: 4, iterations: 5, engine: 'cpu' } as const;
    started = 0;
    const many = await fit(graph, { ...options, threads });
    expect(started).toBeLessThanOrEqual(Math.ceil(Math.max(graph.users.count, graph.items.count) / 64));
    expect(started).toBeLessThan(10);
    const one = await fit(graph, { ...options, threads: 1 });
    expect(many.model).toMatchObject({ bound: one.model.bound });
  });

  it('a short fit begins in the thread of its caller, and has one worker less than threads', async () => {
    const graph = await small();
    const options = { features: 4, iterations: 5, engine: 'cpu' } as const;
    for (const [given, workers] of [
      [1, 0],
      [2, 1],
    ]) {
      started = 0;
      await fit(graph, { ...options, threads: given });
      expect(started).toBe(workers);
    }
  });

  it('a fit with more units than its first job starts further workers, but no more than units', async () => {
    const pairs = Array.from(
      { length: 60_000 },
      (_, e) => [`u${e % 200}`, `i${Math.floor(e / 200)}`] as const,
    );
    const graph = BipartiteGraph.fromPairs(pairs);
    await fit(graph, { features: 2, iterations: 2, engine: 'cpu', threads });
    expect(started).toBeGreaterThan(1);
    expect(started).toBeLessThanOrEqual(Math.ceil(graph.edges / 4096));
  });

  it('the exact sampler starts one worker per chain, and none for its short start', async () => {
    const graph = BipartiteGraph.fromPairs(Array.from({ length: 12 }, (_, e) => [`u${e % 4}`, `i${e % 3}`]));
    await fit(graph, { method: 'gibbs', features: 1, iterations: 20, threads });
    expect(started).toBe(4);
  });

  it('a simulation starts as many as it has pieces', async () => {
    const side = { sigma: 0, size: 900, rate: 0.5, shape: 0.5 };
    await simulate({ users: side, items: side, features: 8, threads });
    expect(started).toBeGreaterThan(0);
    expect(started).toBeLessThan(100);
  });

  it('a ranking of 100 rows starts seven', async () => {
    const [items, features, rows] = [20_000, 128, 100];
    const maker = createListMaker(new Float32Array(items * features).fill(0.5), items, features);
    try {
      const empty = { offsets: new Uint32Array(rows + 1), values: new Uint32Array(0) };
      const users = new Float32Array(rows * features).fill(0.5);
      await maker.byFactors(users, { n: 5, excluded: empty }, { threads });
    } finally {
      await maker.close();
    }
    expect(started).toBe(7);
  });

  it('least squares and ridge regression start one worker per block of rows', async () => {
    const edges = { users: lists(300, 300), items: lists(300, 300) };
    const options = { features: 32, lambda: 1, alpha: 0.1, iterations: 40, seed: 1, threads };
    await alternatingLeastSquares(edges, options);
    expect(started).toBe(3);
    started = 0;
    const targets = lists(400, 300);
    await ridge({ inputs: lists(1000, 300), columns: 300, targets, lambda: 1 }, { threads });
    expect(started).toBe(13);
  });
});

describe('threadCount', () => {
  it('is the requested one, at most the number of pieces, and at least one', () => {
    expect([threadCount(8), threadCount(8, 3), threadCount(8, 0), threadCount(2.9, 100)]).toEqual([
      8, 3, 1, 2,
    ]);
  });
});
