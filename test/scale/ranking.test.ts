// Ranking fits over shards, and models by shard: the same bits on any number of ranks, the same answers as in one
// piece.

import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { ALONE } from '../../src/comm/communicator.js';
import { fit } from '../../src/fit/fit.js';
import type { Model, Ranker } from '../../src/fit/model.js';
import type { BipartiteGraph } from '../../src/graph/graph.js';
import { simulate } from '../../src/process/poisson-model.js';
import type { FittedShards } from '../../src/shard/fitted-shards.js';
import { gatherModel } from '../../src/shard/gather-model.js';
import {
  mergeModel,
  openModelShards,
  readModelShard,
  saveModelShards,
  shardOfUser,
} from '../../src/shard/model-folder.js';
import { fitAscentShards } from '../../src/shard/partition-ascent.js';
import { openPartition, type PartitionedData } from '../../src/shard/partition-folder.js';
import { partitionGraph } from '../../src/shard/partition-graph.js';
import { fitRankingShards, type ShardedRankingOptions } from '../../src/shard/partition-ranking.js';
import { modelState } from '../../src/store/model-state.js';
import { createLocalRanks } from '../engine/local-ranks.js';
import { scratchFolder } from '../ingest/scratch.js';

const { path } = scratchFolder();
const prior = { sigma: 0.2, tau: 1, size: 14, shape: 0.3, rate: 0.3 };
const OPTIONS = {
  features: 4,
  folds: 3,
  iterations: 20,
  tolerance: 1e-12,
  seed: 4,
  threads: 1,
  average: 2,
} as const;

let graph: BipartiteGraph;
let parts: PartitionedData;
beforeAll(async () => {
  ({ graph } = await simulate({ users: prior, items: prior, features: 3, seed: 6, threads: 1 }));
  await partitionGraph(graph, path('parts'), { shards: 5 });
  parts = await openPartition(path('parts'));
});

function onRanks(size: number, options: ShardedRankingOptions): Promise<FittedShards[]> {
  const ranks = size === 1 ? [ALONE] : createLocalRanks(size);
  return Promise.all(ranks.map((communicator) => fitRankingShards(parts, communicator, options)));
}

const membersOf = (model: Model) => {
  const { scores } = model as Ranker;
  return scores.kind === 'factors' ? scores.members : [];
};

describe('a ranking fit over shards', () => {
  test('has the same bits on any number of ranks, and the numbers of a fit in one piece', async () => {
    const [alone] = await onRanks(1, { ...OPTIONS, engine: 'cpu' });
    for (const size of [2, 5]) {
      for (const { stateHash: hash } of await onRanks(size, { ...OPTIONS, engine: 'cpu' })) {
        expect(hash).toBe(alone.stateHash);
      }
    }
    const { model } = await fit(graph, {
      ...OPTIONS,
      method: 'ranking',
      engine: 'reference',
      blend: false,
    });
    const [reference] = await onRanks(1, { ...OPTIONS, engine: 'reference' });
    const { model: gathered } = (await gatherModel(parts, ALONE, reference))!;
    expect(gathered.users.ids.values).toEqual(model.users.ids.values);
    expect(membersOf(gathered)).toHaveLength(2);
    for (const [m, member] of membersOf(model).entries()) {
      const own = membersOf(gathered)[m];
      expect(own).toMatchObject({ iterations: member.iterations, seed: member.seed, fold: member.fold });
      for (const side of ['users', 'items', 'userMass'] as const) {
        const [found, expected] = [own[side]!, member[side]!];
        expect(found.length).toBe(expected.length);
        for (let i = 0; i < expected.length; i++) expect(found[i] / expected[i]).toBeCloseTo(1, 4);
      }
    }
  });

  test('resumes from a saved state with another number of ranks to the same bits', async () => {
    const [whole] = await onRanks(1, { ...OPTIONS, engine: 'cpu' });
    const folder = path('ranking state');
    const stop = new AbortController();
    let sweeps = 0;
    const stopped = await Promise.allSettled(
      createLocalRanks(3).map((communicator) =>
        fitRankingShards(parts, communicator, {
          ...OPTIONS,
          engine: 'cpu',
          checkpoint: { folder },
          signal: stop.signal,
          // In the second of two fits.
          ...(communicator.rank === 1 && { onProgress: () => ++sweeps >= 27 && stop.abort() }),
        }),
      ),
    );
    expect(stopped.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    expect(readdirSync(folder).filter((name) => name.endsWith('safetensors'))).toEqual([
      'ranking.safetensors',
    ]);
    for (const size of [1, 2]) {
      const [more] = await onRanks(size, { resumeFolder: folder, threads: 1 });
      expect(more.stateHash).toBe(whole.stateHash);
    }
    await expect(fitRankingShards(parts, ALONE, { resumeFolder: folder, features: 5 })).rejects.toThrow(
      'resume: the saved fit was started with features 4 (not 5)',
    );
  });
});

describe.each(['posterior', 'ranker'])('a %s by shard', (kind) => {
  const folder = path(kind);
  let whole: Model;
  let hash: string;
  beforeAll(async () => {
    const fitted = await Promise.all(
      createLocalRanks(2).map(async (communicator) => {
        const options = { features: 3, iterations: 15, threads: 1, seed: 2 } as const;
        const one =
          kind === 'ranker'
            ? await fitRankingShards(parts, communicator, { ...options, folds: 2 })
            : await fitAscentShards(parts, communicator, options);
        await saveModelShards(folder, parts, communicator, one, false);
        return { result: await gatherModel(parts, communicator, one), one };
      }),
    );
    whole = fitted[0].result!.model;
    hash = fitted[0].one.stateHash;
  });

  test('equals the model in one piece when it is merged, with the same state hash', async () => {
    const opened = await openModelShards(folder);
    const merged = await mergeModel(opened);
    expect(merged).toEqual(whole);
    expect(modelState(merged)).toBe(hash);
    expect(opened.users).toBe(whole.users.count);
  });

  test('a shard of it is a model of the users that it has', async () => {
    const opened = await openModelShards(folder);
    let users = 0;
    for (let s = 0; s < opened.shards.length; s++) {
      const model = await readModelShard(opened, s);
      users += model.users.count;
      for (let u = 0; u < model.users.count; u++) {
        const id = model.users.ids.at(u);
        expect(shardOfUser(opened, id)).toBe(s);
        const row = whole.users.ids.find(id);
        expect(model.users.degree[u]).toBe(whole.users.degree[row]);
        const items = (of: Model, at: number) =>
          Array.from(of.seen!.neighbors.subarray(of.seen!.offsets[at], of.seen!.offsets[at + 1]));
        expect(items(model, u)).toEqual(items(whole, row));
      }
    }
    expect(users).toBe(whole.users.count);
  });

  test('files of another model and a missing file have different errors', async () => {
    const [first, second] = ['users-0000.safetensors', 'users-0001.safetensors'];
    const kept = readFileSync(join(folder, first));
    writeFileSync(join(folder, first), readFileSync(join(folder, second)));
    const opened = await openModelShards(folder);
    await expect(readModelShard(opened, 0)).rejects.toThrow('it belongs to another model');
    writeFileSync(join(folder, first), kept);
    expect((await readModelShard(opened, 0)).users.count).toBe(opened.shards[0].users);
    expect(existsSync(join(folder, 'users-0005.safetensors'))).toBe(false);
  });
});
