// Shards that are read in turn: the same bits as with all in memory, and few in memory at once.

import { readdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { ALONE } from '../../src/comm/communicator.js';
import { createReferenceEngine } from '../../src/engine/reference/reference-engine.js';
import { buildGraph } from '../../src/graph/build.js';
import { simulate } from '../../src/process/poisson-model.js';
import { gatherModel } from '../../src/shard/gather-model.js';
import * as plans from '../../src/shard/memory-plan.js';
import { memoryText } from '../../src/shard/memory-plan.js';
import { fitAscentShards, type ShardedFitOptions } from '../../src/shard/partition-ascent.js';
import { openPartition, type PartitionedData } from '../../src/shard/partition-folder.js';
import { partitionGraph } from '../../src/shard/partition-graph.js';
import { streamShards } from '../../src/shard/rank-shards.js';
import { openScratchFile } from '../../src/shard/scratch-file.js';
import { createLocalRanks } from '../engine/local-ranks.js';
import { scratchFolder } from '../ingest/scratch.js';
import { start } from './launchers.js';
import { peakIn, SAY_PEAK, SAYS_PEAK } from './peak.js';

const { path } = scratchFolder();
// Enough iterations to explore, merge features and have rounds.
const OPTIONS = { features: 3, iterations: 130, tolerance: 1e-12, seed: 4, threads: 1 } as const;
const prior = { sigma: 0.2, tau: 1, size: 14, shape: 0.3, rate: 0.3 };
const SHARDS = 5;
/** Megabytes. */
const LIMIT = 340;

/** As if this number of shards fitted in memory, whatever else the process holds. */
function holding(held: number) {
  return vi.spyOn(plans, 'planMemory').mockImplementation((parts) => ({
    residentShards: held,
    indexWords: Math.max(
      ...parts.shards.map(({ users, edges }) => Math.max(users, parts.items) + 1 + 2 * edges),
    ),
    diskBytes: 1,
  }));
}

const left = () => readdirSync(dirname(path('x'))).filter((name) => name.endsWith('.part'));

describe.each([{ multigraph: false }, { multigraph: true }])('shards one at a time: %o', ({ multigraph }) => {
  let parts: PartitionedData;
  const within = { memory: '1G', path: path(`model ${multigraph}`) };
  const fitHolding = async (held: number, options: ShardedFitOptions) => {
    const room = holding(held);
    try {
      return await fitAscentShards(parts, ALONE, { ...options, within });
    } finally {
      room.mockRestore();
    }
  };
  beforeAll(async () => {
    const { graph } = await simulate({
      users: prior,
      items: prior,
      features: 3,
      multigraph,
      seed: 6,
      threads: 1,
    });
    await partitionGraph(graph, path(`parts ${multigraph}`), { shards: SHARDS });
    parts = await openPartition(path(`parts ${multigraph}`));
  });

  test.each(multigraph ? (['cpu'] as const) : (['cpu', 'reference'] as const))(
    'have the bits and the model of all in memory: %s',
    async (engine) => {
      const options = { ...OPTIONS, engine, learn: ['sigma', 'shape'] } as ShardedFitOptions;
      const whole = await fitAscentShards(parts, ALONE, options);
      const model = await gatherModel(parts, ALONE, whole);
      for (const held of [0, 2, SHARDS - 1]) {
        const streamed = await fitHolding(held, options);
        expect(streamed.streamedShards).toBe(SHARDS - held);
        expect(streamed.stateHash).toBe(whole.stateHash);
        expect(streamed.bound).toBe(whole.bound);
        expect(streamed.state).toEqual(whole.state);
        const own = await gatherModel(parts, ALONE, streamed);
        expect(own!.model.users).toEqual(model!.model.users);
        expect(own!.model.seen).toEqual(model!.model.seen);
        await streamed.close();
      }
      expect(left()).toEqual([]);
    },
  );

  test('resume from a saved state to the same bits, streamed or not', async () => {
    const whole = await fitAscentShards(parts, ALONE, { ...OPTIONS, engine: 'cpu' });
    const folder = path(`state ${multigraph}`);
    const stop = new AbortController();
    await expect(
      fitHolding(1, {
        ...OPTIONS,
        engine: 'cpu',
        checkpoint: { folder },
        signal: stop.signal,
        onProgress: ({ done, unit }) => unit === 'iterations' && done >= 20 && stop.abort(),
      }),
    ).rejects.toThrow();
    const more = { resumeFolder: folder, tolerance: 1e-12 };
    const streamed = await fitHolding(0, more);
    expect(streamed.stateHash).toBe(whole.stateHash);
    expect((await fitAscentShards(parts, ALONE, more)).stateHash).toBe(whole.stateHash);
    await streamed.close();
    expect(left()).toEqual([]);
  });
});

describe('memory', () => {
  let parts: PartitionedData;
  beforeAll(async () => {
    const { graph } = await simulate({ users: prior, items: prior, features: 3, seed: 6, threads: 1 });
    await partitionGraph(graph, path('parts'), { shards: SHARDS });
    parts = await openPartition(path('parts'));
  });

  test('holds one streamed table and one streamed index at a time', async () => {
    const local = createReferenceEngine();
    const now = { tables: 0, indexes: 0 };
    const most = { tables: 0, indexes: 0 };
    const kinds = new Map<object, keyof typeof now>();
    const made = <H extends object>(kind: keyof typeof now, handle: H): H => {
      kinds.set(handle, kind);
      now[kind]++;
      most[kind] = Math.max(most[kind], now[kind]);
      return handle;
    };
    const counting = {
      ...local,
      createTable: async (...given: Parameters<typeof local.createTable>) =>
        made('tables', await local.createTable(...given)),
      createIndex: async (...given: Parameters<typeof local.createIndex>) =>
        made('indexes', await local.createIndex(...given)),
      free: async (handle: Parameters<typeof local.free>[0]) => {
        now[kinds.get(handle)!]--;
        await local.free(handle);
      },
    };
    const words = Math.max(
      ...parts.shards.map(({ users, edges }) => Math.max(users, parts.items) + 1 + edges),
    );
    const room = { residentShards: 1, indexWords: words, diskBytes: 1 };
    const values = (rows: number) => ({
      weightShape: new Float64Array(rows).fill(1),
      weightRate: new Float64Array(rows).fill(1),
      featureShape: Float64Array.from({ length: 2 * rows }, (_, i) => 1 + (i % 3)),
      featureRate: new Float64Array(2 * rows).fill(2),
    });
    const held = await streamShards(
      parts,
      ALONE,
      counting,
      { plan: room, path: path('m') },
      { features: 2, users: 'geometric' },
      async (_, { count }) => values(count),
      {},
    );
    const { engine, edges } = held;
    const users = await engine.createTable(2, held.values, 'geometric', true);
    const items = await engine.createTable(2, values(parts.items), 'geometric');
    const byUser = await engine.createIndex(edges.users, { side: 'own', rows: 0 });
    const byItem = await engine.createIndex(edges.items, { side: 'other', rows: 0 });
    const hyper = { sigma: 0.2, tau: 1, shape: 0.3, rate: 0.3, size: 10 };
    for (let t = 0; t < 3; t++) {
      await engine.update(users, byUser, items, { hyper, activity: 'geometric' });
      await engine.update(items, byItem, users, { hyper, activity: 'geometric' });
    }
    // The tables of the shard that stays in memory, of the items, and of one shard that is read in turn.
    expect(most).toEqual({ tables: 3, indexes: 3 });
    expect(left()).toEqual([]); // the file has no name, so nothing can stay behind
    await held.close();
  });

  test('a limit below one shard is refused with the memory or the number of shards that is needed', () => {
    const { rss } = process.memoryUsage();
    const large = {
      ...parts,
      users: 4e6,
      edges: 4e7,
      shards: Array.from({ length: 2 }, () => ({ ...parts.shards[0], users: 2e6, edges: 2e7 })),
    };
    const limit = rss + 2 ** 31 + 2 ** 29;
    expect(() => plans.planMemory(large, 30, 1, limit)).toThrow(
      /takes [\d.]+G with one of its 2 shards in memory at a time; give at least that, or partition into \d+ shards or more/,
    );
    const said = /into (\d+) shards/.exec(
      (() => {
        try {
          plans.planMemory(large, 30, 1, limit);
        } catch (error) {
          return (error as Error).message;
        }
        return '';
      })(),
    );
    const enough = Number(said?.[1]);
    const more = {
      ...large,
      shards: Array.from({ length: enough }, () => ({
        ...parts.shards[0],
        users: 4e6 / enough,
        edges: 4e7 / enough,
      })),
    };
    const room = plans.planMemory(more, 30, 1, limit);
    expect(room!.residentShards).toBeLessThan(enough);
    expect(() => plans.planMemory(large, 30, 1, rss + 2 ** 30)).toThrow('more shards would not help');
    expect(plans.planMemory(large, 30, 1, 2 ** 40)).toBeUndefined();
  });

  test('a full disk and several ranks are refused', async () => {
    await expect(openScratchFile(path('m'), 2 ** 60)).rejects.toThrow(
      /takes \d+G of disk, and [\d.]+[GM] are free/,
    );
    const room = holding(0);
    const within = { memory: '1G', path: path('m') };
    const outcomes = await Promise.allSettled(
      createLocalRanks(2).map((one) => fitAscentShards(parts, one, { ...OPTIONS, within })),
    );
    room.mockRestore();
    for (const outcome of outcomes) {
      expect(String((outcome as PromiseRejectedResult).reason)).toContain('memory is for one process');
    }
    await expect(
      fitAscentShards(parts, ALONE, { ...OPTIONS, within: { memory: 'much', path: path('m') } }),
    ).rejects.toThrow('memory much: expected an amount');
  });

  test('a missing shard ends the fit, and leaves nothing', async () => {
    const other = { ...parts, folder: path('copy') };
    const room = holding(0);
    await expect(
      fitAscentShards(other, ALONE, { ...OPTIONS, within: { memory: '1G', path: path('m') } }),
    ).rejects.toThrow('there is no such file');
    room.mockRestore();
    expect(left()).toEqual([]);
  });

  // 60,000 users × 128 features take 200 MB in tables and their starting values, in addition to the program itself.
  test.runIf(SAYS_PEAK)('the process stays below the limit although all shards would exceed it', async () => {
    const [users, items, each] = [60_000, 500, 2];
    const graph = buildGraph({
      users: Uint32Array.from({ length: users * each }, (_, e) => Math.floor(e / each)),
      items: Uint32Array.from({ length: users * each }, (_, e) => (e * 7919) % items),
      userCount: users,
      itemCount: items,
    });
    await partitionGraph(graph, path('wide'), { shards: 12 });
    const run = async (...more: string[]) => {
      const { ended } = start(
        undefined,
        [
          ...['fit', path('wide'), '-k', '128', '--iterations', '1', '--tolerance', '0', '--threads', '1'],
          ...[
            '--start',
            'cold',
            '--engine',
            'cpu',
            '--json',
            '--force',
            '-o',
            path('wide.safetensors'),
            ...more,
          ],
        ],
        SAY_PEAK,
      );
      const { status, stdout, stderr } = await ended;
      expect(status, stderr).toBe(0);
      const { state, inTurn } = JSON.parse(stdout);
      return { state, inTurn, megabytes: peakIn(stderr) };
    };
    const whole = await run();
    const streamed = await run('--memory', `${LIMIT}M`);
    expect(streamed.state).toBe(whole.state);
    expect(streamed.inTurn).toBeGreaterThan(0);
    expect(streamed.megabytes).toBeLessThan(LIMIT);
    expect(whole.megabytes).toBeGreaterThan(LIMIT);
  });

  test('sizes are written as they are read', () => {
    expect([memoryText(2 ** 20), memoryText(2 ** 30 - 1), memoryText(1.01 * 2 ** 30)]).toEqual([
      '1M',
      '1024M',
      '1.1G',
    ]);
  });
});
