// Batched operations of the cpu engine on several shards have the bits of single ones. So a fit has the same bits on
// any number of ranks, and if shards are read in turn. Units, windows and tiles are small here, so that rows are
// counted whole, by tiles and in pieces.

import { afterAll, describe, expect, test } from 'vitest';
import { createCpuEngine } from '../../src/engine/cpu/cpu-engine.js';
import type { TileLimits } from '../../src/engine/cpu/tiles.js';
import { cutGroups, UNIT_FIELDS } from '../../src/engine/cpu/units.js';
import type { CountingEngine } from '../../src/engine/engine.js';
import { createReferenceEngine } from '../../src/engine/reference/reference-engine.js';
import {
  edgesByNeighbor,
  edgesWithin,
  partOf,
  strengths,
  valuesWithin,
} from '../../src/engine/sharded/tables.js';
import { type Problem, randomProblem } from './random-problem.js';
import { SHARDS, shardBounds } from './ranks.js';

const LIMITS = { edges: 96, rows: 24 };
const TILES: TileLimits = { near: 0, few: 0, cache: 1024, tile: 2048, least: 4, sums: 20_000 };
const NO_TILES: TileLimits = { ...TILES, cache: Infinity };
const SHAPE = { users: 700, items: 300, edges: 20_000, features: 13 };

const engines: CountingEngine[] = [];
async function opened(threads: number, tiles: TileLimits): Promise<CountingEngine> {
  const engine = await createCpuEngine({ threads, limits: LIMITS, tiles });
  engines.push(engine);
  return engine;
}
afterAll(async () => {
  for (const engine of engines) await engine.close();
});

async function shardsOn(engine: CountingEngine, { graph, features, start }: Problem) {
  const bounds = shardBounds(graph.users.count);
  const byItem = edgesByNeighbor(graph.items, bounds);
  return Promise.all(
    byItem.map(async (rows, p) => ({
      own: await engine.createTable(
        features,
        valuesWithin(start.users, features, partOf(bounds, p)),
        'geometric',
      ),
      byUser: await engine.createIndex(edgesWithin(graph.users, partOf(bounds, p))),
      byItem: await engine.createIndex(rows),
    })),
  );
}

/** Three iterations over the shards, with operations batched (`isBatched`) or not; returns the results. */
async function play(engine: CountingEngine, problem: Problem, isBatched: boolean) {
  const { graph, hyper, features, start } = problem;
  const shards = await shardsOn(engine, problem);
  const items = await engine.createTable(features, start.items, 'geometric');
  const work = strengths(graph.items);
  const counts = await engine.createCounts(items, Math.max(...work), work);
  const otherMass = new Float64Array(features).fill(3);
  const ofUsers = { hyper: hyper.users, activity: 'geometric', edgeTerm: true, relaxation: 0.4 } as const;
  const ofItems = { hyper: hyper.items, activity: 'geometric', otherMass } as const;
  const from = shards.map(({ own, byItem }) => ({ index: byItem, other: own }));
  const told: unknown[] = [];
  for (let t = 0; t < 3; t++) {
    // The last round updates only some rows of each.
    const rows = t < 2 ? undefined : { first: 20, last: 130 };
    if (isBatched) {
      const all = shards.map(({ own, byUser }) => ({ own, index: byUser, rows }));
      told.push(await engine.batched!.update(all, items, ofUsers));
      told.push(
        await engine.batched!.count(items, from, counts, {
          ...{ clear: true, edgeTerm: true, rows, finish: { ...ofItems, rows } },
        }),
      );
    } else {
      const updated = shards.map(({ own, byUser }) =>
        engine.update(own, byUser, items, { ...ofUsers, rows }),
      );
      told.push(await Promise.all(updated));
      if (t < 2) await engine.clearCounts(counts);
      else await engine.writeCounts(counts, new BigInt64Array(110 * features), 20);
      const terms = [];
      // Integer sums: from the last to the first.
      for (const { index, other } of from.slice().reverse()) {
        terms.unshift(await engine.count(items, index, other, counts, { rows, edgeTerm: true }));
      }
      told.push(terms);
      await engine.finish(items, counts, { ...ofItems, rows });
    }
    told.push(await engine.readCounts(counts), await engine.totals(items), await engine.read(items));
    for (const { own } of shards) told.push(await engine.read(own), await engine.totals(own));
  }
  return told;
}

describe.each([
  ['tiles', TILES],
  ['no tiles', NO_TILES],
] as const)('%s', (_, tiles) => {
  test.each([false, true])(
    'multigraph %s: at once or one after the other, on 1 or 3 threads',
    async (multigraph) => {
      const problem = randomProblem({ ...SHAPE, multigraph }, 51);
      const apart = await play(await opened(1, tiles), problem, false);
      expect(await play(await opened(1, tiles), problem, true)).toEqual(apart);
      expect(await play(await opened(3, tiles), problem, true)).toEqual(apart);
    },
  );
});

test('counts that are large in fixed point are those of the reference', async () => {
  const problem = randomProblem({ features: 6, multigraph: true, users: 40, items: 12, edges: 300 }, 52);
  const { graph, features, start } = problem;
  // The first item's go beyond 2⁵¹, and the others' do not.
  const counts = Uint32Array.from(graph.items.counts!, (n, e) => (e < graph.items.offsets[1] ? 3e6 * n : n));
  const edges = { ...graph.items, counts };
  const counted = async (engine: CountingEngine) => {
    const users = await engine.createTable(features, start.users, 'geometric');
    const items = await engine.createTable(features, start.items, 'geometric');
    const into = await engine.createCounts(items, Math.max(...strengths(edges)));
    await engine.count(items, await engine.createIndex(edges), users, into);
    return Float64Array.from(await engine.readCounts(into), (n) => Number(n) / into.scale);
  };
  const [cpu, reference] = [await counted(await opened(1, TILES)), await counted(createReferenceEngine())];
  expect(Math.max(...reference)).toBeGreaterThan(1e6);
  for (let i = 0; i < cpu.length; i++) {
    expect(Math.abs(cpu[i] - reference[i])).toBeLessThan(2e-5 * (1e-6 + reference[i]));
  }
});

test('a failure names its table, and counts that are too large are reported first', async () => {
  const problem = randomProblem({ features: 3, multigraph: true, users: 20, items: 8, edges: 60 }, 53);
  const { hyper, features, start } = problem;
  const engine = await opened(2, NO_TILES);
  const shards = await shardsOn(engine, problem);
  const items = await engine.createTable(features, start.items, 'geometric');
  await engine.write(
    shards[3].own,
    { weightShape: 1, weightRate: 1, featureShape: NaN, featureRate: 1 },
    'geometric',
  );
  const all = shards.map(({ own, byUser }, p) => ({ own, index: byUser, place: `shard ${p}` }));
  const asked = { hyper: hyper.users, activity: 'geometric' } as const;
  await expect(engine.batched!.update(all, items, asked)).rejects.toThrow(
    /^shard 3, row 0: the weight became/,
  );
  const edges = { offsets: Uint32Array.from([0, 0, 0, 1, 1, 1, 1, 1, 1]), neighbors: Uint32Array.of(1) };
  const index = await engine.createIndex({ ...edges, counts: Uint32Array.of(4e9) });
  const counts = await engine.createCounts(items, 1);
  const from = Array.from({ length: SHARDS }, () => ({ index, other: shards[0].own }));
  const finish = {
    hyper: hyper.items,
    activity: 'geometric',
    otherMass: new Float64Array(3).fill(1),
  } as const;
  await expect(engine.batched!.count(items, from, counts, { clear: true, finish })).rejects.toThrow(
    /^row 2: its expected counts are not finite or above/,
  );
});

test('groups of rows depend on the work of all rows, and contain each row once', () => {
  const work = Float64Array.from({ length: 500 }, (_, i) => (i * 37) % 61);
  work[77] = 1e5;
  const groups = cutGroups(work, LIMITS, 8 * 16);
  let row = 0;
  for (let at = 0; at < groups.length; at += UNIT_FIELDS) {
    expect(groups[at + 1]).toBe(row);
    expect(groups[at + 2] - row).toBeLessThanOrEqual(LIMITS.rows);
    row = groups[at + 2];
  }
  expect(row).toBe(500);
  expect(Array.from(groups)).toContain(77);
  expect(Array.from(groups)).toContain(78);
});
