// What the sharded engine promises beyond an engine: the same bits on any number of ranks, and no rank that waits for one
// that failed.

import { afterAll, describe, expect, test } from 'vitest';
import { createCpuEngine } from '../../src/engine/cpu/cpu-engine.js';
import type { Engine } from '../../src/engine/engine.js';
import { createReferenceEngine } from '../../src/engine/reference/reference-engine.js';
import { createExchange } from '../../src/engine/sharded/exchange.js';
import { createShardedEngine } from '../../src/engine/sharded/sharded-engine.js';
import { createLocalRanks } from './local-ranks.js';
import { randomProblem } from './random-problem.js';
import { createAlone, createRanks, SHARDS, shardBounds } from './ranks.js';

const SHAPE = { users: 60, items: 23, edges: 900, features: 7, multigraph: true };

async function play(engine: Engine) {
  const problem = randomProblem(SHAPE, 31);
  const { graph, hyper, features, start } = problem;
  const rows = graph.users.count;
  const users = await engine.createTable(features, start.users, 'mean', true);
  const items = await engine.createTable(features, start.items, 'mean');
  const byUser = await engine.createIndex(graph.users, { side: 'own', rows });
  const byItem = await engine.createIndex(graph.items, { side: 'other', rows });
  const terms: unknown[] = [];
  for (const activity of ['mean', 'geometric', 'geometric'] as const) {
    const asked = { activity, relaxation: 0.5, edgeTerm: true };
    terms.push(await engine.update(users, byUser, items, { ...asked, hyper: hyper.users }));
    terms.push(await engine.update(items, byItem, users, { ...asked, hyper: hyper.items }));
    await engine.scale(users, 1.25, activity);
    terms.push(await engine.rowTerms(users, hyper.users), await engine.weightSum(users));
  }
  return {
    terms,
    values: [await engine.read(users), await engine.read(items)],
    totals: [await engine.totals(users), await engine.totals(items)],
  };
}

describe('the same bits', () => {
  const engines: Promise<Engine>[] = [];
  const open = (engine: Promise<Engine>) => {
    engines.push(engine);
    return engine;
  };
  afterAll(async () => {
    for (const engine of engines) await (await engine).close();
  });
  const reference = async () => createReferenceEngine();

  test.each([1, 2, 3, 5])('on %i ranks of the reference', async (size) => {
    const alone = await play(await open(createAlone(createReferenceEngine())));
    expect(await play(await open(createRanks(size, reference)))).toEqual(alone);
  });

  test('on 2 ranks of one thread each and on one of two', async () => {
    const alone = await play(await open(createCpuEngine({ threads: 2 }).then(createAlone)));
    const ranks = await play(await open(createRanks(2, () => createCpuEngine({ threads: 1 }))));
    expect(ranks).toEqual(alone);
  });
});

test('if one rank fails, the others fail too', async () => {
  const { graph, hyper, features, start } = randomProblem({ ...SHAPE, multigraph: false }, 33);
  const bounds = shardBounds(graph.users.count);
  const half = bounds[2];
  const failures = await Promise.all(
    createLocalRanks(2).map(async (communicator, rank) => {
      const [first, last] = rank === 0 ? [0, half] : [half, graph.users.count];
      const engine = createShardedEngine(createReferenceEngine(), communicator, () => ({
        shards: SHARDS,
        first: rank === 0 ? 0 : 2,
        bounds: (rank === 0 ? bounds.slice(0, 3) : bounds.slice(2)).map((at) => at - first),
      }));
      const rows = last - first;
      const cut = (values: ArrayLike<number>, width: number) =>
        Float64Array.from(values).subarray(first * width, last * width);
      const weightRate = cut(start.users.weightRate, 1);
      // The rows of the other rank are valid.
      if (rank === 1) weightRate.fill(Number.NaN);
      const users = await engine.createTable(
        features,
        {
          weightRate,
          weightShape: cut(start.users.weightShape, 1),
          featureShape: cut(start.users.featureShape, features),
          featureRate: cut(start.users.featureRate, features).fill(rank === 1 ? Number.NaN : 1),
        },
        'geometric',
        true,
      );
      const items = await engine.createTable(features, start.items, 'geometric');
      const from = graph.users.offsets[first];
      const index = await engine.createIndex(
        {
          offsets: graph.users.offsets.slice(first, last + 1).map((at) => at - from),
          neighbors: graph.users.neighbors.slice(from, graph.users.offsets[last]),
          counts: undefined,
        },
        { side: 'own', rows },
      );
      return engine
        .update(users, index, items, { hyper: hyper.users, activity: 'geometric' })
        .catch((error: Error) => error.message);
    }),
  );
  expect(failures).toEqual([
    'rank 1 could not go on',
    expect.stringMatching(/^shard 2, row 0: the weight became Gamma/),
  ]);
});

test('if one rank fails before its first step, the others fail too', async () => {
  const failures = await Promise.all(
    createLocalRanks(2).map((communicator, rank) => {
      const { onAllRanks } = createExchange(communicator);
      const work = (): Promise<string> => {
        if (rank === 1) throw new RangeError('memory is short');
        return Promise.resolve('done');
      };
      return onAllRanks(work).catch((error: Error) => error.message);
    }),
  );
  expect(failures).toEqual(['rank 1 could not go on', 'memory is short']);
}, 5000);

test('tables and indexes that do not match are refused', async () => {
  const engine = await createAlone(createReferenceEngine());
  const { graph, hyper, features, start } = randomProblem(SHAPE, 34);
  const users = await engine.createTable(features, start.users, 'geometric', true);
  const items = await engine.createTable(features, start.items, 'geometric');
  const index = await engine.createIndex(graph.users);
  await expect(
    engine.update(users, index, items, { hyper: hyper.users, activity: 'geometric' }),
  ).rejects.toThrow('a split table and a whole table cannot use an index that is whole');
});
