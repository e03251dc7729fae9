// A fit over shards, on ranks in one process: what any number of them must agree on.

import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { ALONE } from '../../src/comm/communicator.js';
import * as select from '../../src/engine/select.js';
import { FitError } from '../../src/errors.js';
import { fit } from '../../src/fit/fit.js';
import type { PosteriorModel } from '../../src/fit/model.js';
import type { BipartiteGraph } from '../../src/graph/graph.js';
import { simulate } from '../../src/process/poisson-model.js';
import { gatherModel } from '../../src/shard/gather-model.js';
import {
  fitAscentShards,
  type ShardedFit,
  type ShardedFitOptions,
} from '../../src/shard/partition-ascent.js';
import { openPartition, type PartitionedData } from '../../src/shard/partition-folder.js';
import { partitionGraph } from '../../src/shard/partition-graph.js';
import * as probing from '../../src/shard/rank-agreement.js';
import { createLocalRanks } from '../engine/local-ranks.js';
import { scratchFolder } from '../ingest/scratch.js';

const { path } = scratchFolder();
// Enough iterations to explore, merge features and have rounds.
const OPTIONS = { features: 3, iterations: 130, tolerance: 1e-12, seed: 4, threads: 1 } as const;
const prior = { sigma: 0.2, tau: 1, size: 14, shape: 0.3, rate: 0.3 };

/** The fit of every rank. */
function onRanks(parts: PartitionedData, size: number, options: ShardedFitOptions): Promise<ShardedFit[]> {
  const ranks = size === 1 ? [ALONE] : createLocalRanks(size);
  return Promise.all(ranks.map((communicator) => fitAscentShards(parts, communicator, options)));
}

async function modelOnRanks(parts: PartitionedData, size: number, options: ShardedFitOptions) {
  const ranks = createLocalRanks(size);
  const results = await Promise.all(
    ranks.map(async (communicator) =>
      gatherModel(parts, communicator, await fitAscentShards(parts, communicator, options)),
    ),
  );
  expect(results.slice(1).every((result) => result === undefined)).toBe(true);
  return results[0]!.model as PosteriorModel;
}

describe.each([{ multigraph: false }, { multigraph: true }])('a fit over shards: %o', ({ multigraph }) => {
  let graph: BipartiteGraph;
  let parts: PartitionedData;
  beforeAll(async () => {
    ({ graph } = await simulate({
      users: prior,
      items: prior,
      features: 3,
      multigraph,
      seed: 6,
      threads: 1,
    }));
    const folder = path(`parts ${multigraph}`);
    await partitionGraph(graph, folder, { shards: 5 });
    parts = await openPartition(folder);
  });

  test('has the same bits on any number of ranks, and the numbers of one in one piece', async () => {
    const [alone] = await onRanks(parts, 1, { ...OPTIONS, engine: 'cpu' });
    for (const size of [2, 3, 5]) {
      for (const { stateHash: hash, bound, state } of await onRanks(parts, size, {
        ...OPTIONS,
        engine: 'cpu',
      })) {
        expect({ hash, bound, state }).toEqual({
          hash: alone.stateHash,
          bound: alone.bound,
          state: alone.state,
        });
      }
    }
    const plain = await fit(graph, { ...OPTIONS, engine: 'reference' });
    const [reference] = await onRanks(parts, 1, { ...OPTIONS, engine: 'reference' });
    expect(reference.bound! / (plain.model as { bound: number }).bound).toBeCloseTo(1, 9);
  });

  test('gives the model of the data in one piece, users in the order of their ids', async () => {
    const options = { ...OPTIONS, engine: 'reference', iterations: 10 } as const;
    const { model } = await fit(graph, options);
    const gathered = await modelOnRanks(parts, 3, options);
    expect(gathered.users.ids.values).toEqual(model.users.ids.values);
    expect(Array.from(gathered.users.degree)).toEqual(Array.from(model.users.degree));
    expect(Array.from(gathered.items.degree)).toEqual(Array.from(model.items.degree));
    expect(Array.from(gathered.seen!.neighbors)).toEqual(Array.from(model.seen!.neighbors));
    expect(gathered.seen!.counts && Array.from(gathered.seen!.counts)).toEqual(
      model.seen!.counts && Array.from(model.seen!.counts),
    );
    expect(gathered.provenance.fingerprint).toBe(model.provenance.fingerprint);
    const expected = model as unknown as typeof gathered;
    for (const side of ['users', 'items'] as const) {
      for (const field of ['weightShape', 'featureShape', 'featureRate'] as const) {
        for (let i = 0; i < expected[side][field].length; i++) {
          expect(gathered[side][field][i] / expected[side][field][i]).toBeCloseTo(1, 5);
        }
      }
    }
  });

  // While it explores, and after features were merged.
  test.each([20, 58])(
    'stopped at %i sweeps, goes on with another number of ranks to the same bits',
    async (at) => {
      const [whole] = await onRanks(parts, 1, { ...OPTIONS, engine: 'cpu' });
      const folder = path(`state ${multigraph} ${at}`);
      const stop = new AbortController();
      const stopped = await Promise.allSettled(
        createLocalRanks(3).map((communicator) =>
          fitAscentShards(parts, communicator, {
            ...OPTIONS,
            engine: 'cpu',
            checkpoint: { folder },
            signal: stop.signal,
            // One rank gets the signal, and all stop.
            ...(communicator.rank === 1 && {
              onProgress: ({ done }: { done: number }) => done >= at && stop.abort(),
            }),
          }),
        ),
      );
      expect(stopped.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
      expect(readdirSync(folder).filter((name) => name.startsWith('users-'))).toHaveLength(5);
      for (const size of [1, 2, 5]) {
        const [more] = await onRanks(parts, size, { resumeFolder: folder, tolerance: 1e-12 });
        expect(more.stateHash).toBe(whole.stateHash);
        expect(more.state).toEqual(whole.state);
      }
      await expect(fitAscentShards(parts, ALONE, { resumeFolder: folder, features: 4 })).rejects.toThrow(
        'resume: the saved fit was started with features 3 (not 4)',
      );
    },
  );
});

describe('options that shards cannot serve are refused', () => {
  let parts: PartitionedData;
  beforeAll(async () => {
    writeFileSync(path('few.csv'), 'a,b\na,c\nd,b\ne,c\nf,b\n');
    await partitionGraph(path('few.csv'), path('few'), { shards: 2 });
    parts = await openPartition(path('few'));
  });

  test.each<[object, string]>([
    [{ method: 'gibbs' }, 'method gibbs needs the data in one piece'],
    [{ features: 'auto' }, 'features auto needs the data in one piece'],
    [{ restarts: 3 }, 'restarts 3 needs the data in one piece, since a fit to shards starts once'],
  ])('%o', async (options, message) => {
    await expect(fitAscentShards(parts, ALONE, options)).rejects.toThrow(message);
  });

  test('ranks with other options or other shards are refused', async () => {
    await partitionGraph(path('few.csv'), path('other'), { shards: 3 });
    const other = await openPartition(path('other'));
    const play = (change: (rank: number) => [PartitionedData, object]) =>
      Promise.allSettled(
        createLocalRanks(2).map((communicator) =>
          fitAscentShards(change(communicator.rank)[0], communicator, change(communicator.rank)[1]),
        ),
      );
    const options = { features: 2, iterations: 5, threads: 1 };
    const seeds = await play((rank) => [parts, { ...options, seed: rank }]);
    for (const outcome of seeds) {
      expect(String((outcome as PromiseRejectedResult).reason)).toContain(
        'rank 1 has other options than rank 0',
      );
    }
    const mixed = await play((rank) => [rank === 0 ? parts : other, options]);
    for (const outcome of mixed) {
      expect(String((outcome as PromiseRejectedResult).reason)).toContain(
        'rank 1 has other shards than rank 0',
      );
    }
  });

  test('a rank that computes other numbers, as another Node or processor would, is refused', async () => {
    const real = probing.arithmeticHash;
    let asked = 0;
    const arithmeticHash = vi
      .spyOn(probing, 'arithmeticHash')
      .mockImplementation(async (engine) => `${await real(engine)}${asked++ === 0 ? ' otherwise' : ''}`);
    const outcomes = await Promise.allSettled(
      createLocalRanks(2).map((one) =>
        fitAscentShards(parts, one, { features: 2, iterations: 5, threads: 1 }),
      ),
    );
    arithmeticHash.mockRestore();
    expect(asked).toBe(2);
    for (const outcome of outcomes) {
      expect(String((outcome as PromiseRejectedResult).reason)).toContain(
        'rank 1 computes other numbers than rank 0',
      );
    }
  });

  test('if one rank lacks memory, all ranks end', async () => {
    const full = new FitError('the tables need 9999 MiB');
    const real = select.onEngine;
    let ranks = 0;
    const onEngine = vi.spyOn(select, 'onEngine').mockImplementation((name, work, threads, task) =>
      real(name, work, threads, ({ engine, reason }) => {
        if (ranks++ === 0) return task({ engine, reason });
        let tables = 0;
        // After the two tables of the comparison.
        const createTable: typeof engine.createTable = (...given) =>
          ++tables > 2 ? Promise.reject(full) : engine.createTable(...given);
        return task({ engine: { ...engine, createTable }, reason });
      }),
    );
    const outcomes = await Promise.allSettled(
      createLocalRanks(2).map((one) =>
        fitAscentShards(parts, one, { features: 2, iterations: 5, threads: 1 }),
      ),
    );
    onEngine.mockRestore();
    const reasons = outcomes.map((outcome) => String((outcome as PromiseRejectedResult).reason)).sort();
    expect(reasons[0]).toMatch(/rank [01] could not go on/);
    expect(reasons[1]).toContain('the tables need 9999 MiB');
  });

  test('a state that cannot be saved does not end the fit, and leaves nothing half-written', async () => {
    writeFileSync(path('in the way'), '');
    const told: string[] = [];
    const options = { features: 2, iterations: 30, tolerance: 1e-12, threads: 1 };
    const [done] = await Promise.all(
      createLocalRanks(2).map((communicator) =>
        fitAscentShards(parts, communicator, {
          ...options,
          checkpoint: { folder: path('in the way'), minutes: 1e-9 },
          onCheckpointError: ({ message }) => told.push(message),
        }),
      ),
    );
    expect(done.state.iteration).toBe(30);
    expect(told.length).toBeGreaterThan(1);
    expect(told[0]).toContain('a file is in the way of the folder');
  });

  test('a state whose files have changed, or whose shard is missing, is refused', async () => {
    const keep = { folder: path('mixed'), minutes: 1e-9 };
    const options = { features: 2, tolerance: 1e-12, threads: 1, checkpoint: keep };
    await fitAscentShards(parts, ALONE, { ...options, iterations: 20 });
    // The same folder with other data in it, as after another run of partition.
    writeFileSync(path('changed.csv'), 'a,b\na,c\nd,b\ne,c\nf,c\n');
    await partitionGraph(path('changed.csv'), path('changed'), { shards: 2 });
    const changed = await openPartition(path('changed'));
    await expect(
      fitAscentShards(changed, ALONE, { resumeFolder: path('mixed'), iterations: 30 }),
    ).rejects.toThrow('it is the state of other data; resume with the data of its start');
    rmSync(join(path('mixed'), 'users-0001.safetensors'));
    await expect(
      fitAscentShards(parts, ALONE, { resumeFolder: path('mixed'), iterations: 30 }),
    ).rejects.toThrow('there is no such file');
    expect(existsSync(path('mixed'))).toBe(true);
  });
});
