// The commands after a fit to shards: a model by shard answers like the merged one, and only the needed shards are
// read.

import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { evaluateModel } from '../../src/evaluate/evaluate.js';
import { evaluateShards } from '../../src/evaluate/evaluate-shards.js';
import type { PosteriorModel } from '../../src/fit/model.js';
import { describeSides, type SidesReport } from '../../src/fit/sides/side-prior.js';
import type { BipartiteGraph } from '../../src/graph/graph.js';
import { simulate } from '../../src/process/poisson-model.js';
import { split } from '../../src/sample/split.js';
import { openModelShards, shardOfUser } from '../../src/shard/model-folder.js';
import { openPartition } from '../../src/shard/partition-folder.js';
import { partitionGraph } from '../../src/shard/partition-graph.js';
import {
  frameOfPartition,
  frameOfSplit,
  heldOutPieces,
  openPartitionedSplit,
  splitPartition,
} from '../../src/shard/split-partition.js';
import { loadModel } from '../../src/store/model-file.js';
import { graphex } from '../cli/run.js';
import { scratchFolder } from '../ingest/scratch.js';

const { path } = scratchFolder();
const prior = { sigma: 0.2, tau: 1, size: 20, shape: 0.3, rate: 0.3 };
const CUT = { testUsers: 0.3, testItems: 0.3, seed: 9 };
let graph: BipartiteGraph;
/** What fits by shard reported about both sides. */
const sideReports: Record<string, SidesReport | null> = {};

async function done(...args: string[]): Promise<string> {
  const { status, stdout, stderr } = await graphex(...args);
  expect(status, stderr).toBe(0);
  return stdout;
}

const FITS = {
  posterior: [],
  ranker: ['--method', 'ranking', '--average', '2', '--folds', '2'],
} as const;

beforeAll(async () => {
  ({ graph } = await simulate({ users: prior, items: prior, features: 3, seed: 6, threads: 1 }));
  await partitionGraph(graph, path('parts'), { shards: 4 });
  await splitPartition(await openPartition(path('parts')), path('split'), CUT);
  await Promise.all(
    Object.entries(FITS).map(async ([kind, flags]) => {
      const how = ['-k', '3', '--iterations', '20', '--threads', '1', '--json', ...flags];
      const fitted = JSON.parse(await done('fit', path('split'), '--by-shard', ...how, '-o', path(kind)));
      const merged = JSON.parse(await done('merge', path(kind), '--json', '-o', path(`${kind}.file`)));
      expect(merged).toMatchObject({ state: fitted.state, shards: 4 });
      sideReports[kind] = fitted.sides;
    }),
  );
}, 60_000);

test('a fit by shard reports the sides of the merged model', async () => {
  const merged = describeSides((await loadModel(path('posterior.file'))) as PosteriorModel);
  expect(sideReports.ranker).toBeNull();
  for (const side of ['users', 'items'] as const) {
    const own = sideReports.posterior![side];
    expect(own).toMatchObject({ kind: merged[side].kind, sigma: merged[side].sigma });
    for (const [found, expected] of [
      [own.size, merged[side].size],
      [own.sizeInterval?.low, merged[side].sizeInterval?.low],
      [own.sizeInterval?.high, merged[side].sizeInterval?.high],
      [own.unseen?.mean, merged[side].unseen?.mean],
    ]) {
      if (expected === undefined) expect(found).toBeUndefined();
      else expect(found! / expected).toBeCloseTo(1, 6);
    }
  }
});

describe.each(Object.keys(FITS))('a %s by shard', (kind) => {
  const both = (...args: string[]) =>
    Promise.all([path(kind), path(`${kind}.file`)].map((model) => done('recommend', model, ...args)));

  test('recommends as the merged one does: to a user, to a new one, to a file of users', async () => {
    const { users, items } = await loadModel(path(`${kind}.file`));
    const some = [0, 7, 3, users.count - 1, 5].map((u) => users.ids.at(u));
    writeFileSync(path(`${kind} batch.csv`), some.join('\n'));
    const [known, fresh, batch] = await Promise.all([
      // The names of features come from all users, not from the users of one shard.
      both('--user', some[1], '-n', '7', '--explain', '--json'),
      both('--likes', `${items.ids.at(1)},${items.ids.at(4)}`, '--explain', '--json'),
      both('--batch', path(`${kind} batch.csv`), '-n', '4', '--json'),
    ]);
    for (const [byShard, merged] of [known, fresh, batch]) expect(byShard).toBe(merged);
    expect(JSON.parse(batch[0]).map(({ user }: { user: string }) => user)).toEqual(some);
  }, 60_000);

  test('lists for all users, shard by shard, are those of the merged one', async () => {
    const lists = [path(`${kind}1.csv`), path(`${kind}2.csv`)];
    const [byShard, merged] = await Promise.all(
      [path(kind), path(`${kind}.file`)].map((model, at) =>
        done('recommend', model, '--all-users', '-n', '3', '-o', lists[at], '--json'),
      ),
    );
    expect({ ...JSON.parse(byShard), output: '' }).toEqual({ ...JSON.parse(merged), output: '' });
    const [found, expected] = lists.map((file) => readFileSync(file, 'utf8').split('\n'));
    expect(found.length).toBeGreaterThan(3);
    expect(found[0]).toBe(expected[0]);
    expect(found.toSorted()).toEqual(expected.toSorted());
  }, 60_000);

  test('is evaluated shard by shard to the figures of the whole', async () => {
    const model = await loadModel(path(`${kind}.file`));
    const opened = await openPartitionedSplit(path('split'));
    const { itemsModel: head } = await openModelShards(path(kind));
    const options = { threads: 1, draws: 0, n: 5 };
    const whole = split(graph, CUT);
    const expected = await evaluateModel(model, whole, options);
    const inTurn = await evaluateShards(head, frameOfPartition(opened), heldOutPieces(opened), options);
    async function* once() {
      yield whole;
    }
    for (const found of [inTurn, await evaluateShards(head, frameOfSplit(whole), once(), options)]) {
      expect(found.fittedToTrain).toBe(true);
      expect(found.dropped).toEqual(expected.dropped);
      for (const view of ['all', 'unpopular'] as const) {
        const [own, all] = [found.ranking[view]!, expected.ranking[view]!];
        expect(own).toMatchObject({ users: all.users, candidates: all.candidates });
        // New users of a posterior are folded in until all of them have converged, some sooner than others.
        const digits = kind === 'ranker' ? 12 : 3;
        for (const name of ['recall', 'ndcg', 'map'] as const) {
          expect(own.mean[name]).toBeCloseTo(all.mean[name], digits);
          expect(own.standardError[name]).toBeCloseTo(all.standardError[name], digits);
        }
      }
    }
  });

  test('on the command line its evaluation says why nothing is drawn', async () => {
    const [byShard, merged] = await Promise.all(
      [path(kind), path(`${kind}.file`)].map((model) => done('evaluate', model, path('split'), '--json')),
    );
    const [found, expected] = [JSON.parse(byShard), JSON.parse(merged)];
    expect(found.recommendation).toEqual(expected.recommendation);
    expect(found.recommendation.popularity.difference.recall).toBeDefined();
    expect(found.predictiveReason).toContain(kind === 'ranker' ? 'a ranker cannot draw' : 'in shards');
  }, 60_000);
});

test('only the shard of the user who is asked about is read', async () => {
  const opened = await openModelShards(path('ranker'));
  const { users } = await loadModel(path('ranker.file'));
  const user = users.ids.at(2);
  const own = shardOfUser(opened, user);
  for (let s = 0; s < 4; s++) {
    if (s !== own) rmSync(join(path('ranker'), `users-000${s}.safetensors`));
  }
  const list = JSON.parse(await done('recommend', path('ranker'), '--user', user, '--json'));
  expect(list.length).toBeGreaterThan(0);
  const other = Array.from({ length: users.count }, (_, u) => users.ids.at(u)).find(
    (id) => shardOfUser(opened, id) !== own,
  )!;
  const gone = await graphex('recommend', path('ranker'), '--user', other);
  expect(gone.status).toBe(2);
  expect(gone.stderr).toContain('there is no such file');
  const strange = await graphex('recommend', path('posterior'), '--user', 'nobody');
  expect(strange.status).toBe(2);
  expect(strange.stderr).toContain('user nobody is not in the model');
}, 60_000);
