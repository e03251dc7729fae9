// Files of earlier versions can always be read: test/fixtures/formats-VERSION holds one small file of every format that
// the version wrote (scripts/format-fixtures.js) and what reading them gave. A newer version is refused by its number.

import { cpSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readReceipt } from '../../src/cli/read-receipt.js';
import { ALONE } from '../../src/comm/communicator.js';
import { fit } from '../../src/fit/fit.js';
import { readGraph } from '../../src/ingest/read.js';
import { recommendMany } from '../../src/predict/recommend.js';
import { splitFolds } from '../../src/sample/split.js';
import { fitShards } from '../../src/shard/fit-partition.js';
import { mergeModel, openModelShards, readModelShard } from '../../src/shard/model-folder.js';
import { openPartition, readShard } from '../../src/shard/partition-folder.js';
import { openPartitionedSplit } from '../../src/shard/split-partition.js';
import { loadFolds, saveFolds } from '../../src/store/fold-folder.js';
import { loadCheckpoint, loadModel } from '../../src/store/model-file.js';
import { loadSplit } from '../../src/store/split-folder.js';
import { scratchFolder } from '../ingest/scratch.js';

const FIXTURES = join(import.meta.dirname, '../fixtures');
const scratch = scratchFolder();

const versions = readdirSync(FIXTURES).filter((name) => name.startsWith('formats-'));
/** Enough for every format; more would make every checkout larger. */
const MOST_BYTES = 300_000;

async function resumeShards(partition: string, resumeFolder: string) {
  const options = { resumeFolder, iterations: 20, threads: 1 };
  const fitted = await fitShards(await openPartition(partition), ALONE, options);
  await fitted.close();
  return fitted;
}

describe.each(versions)('%s', (name) => {
  const at = (file: string) => join(FIXTURES, name, file);
  const expected = JSON.parse(readFileSync(at('expected.json'), 'utf8'));

  it('is small', () => {
    const files = readdirSync(at('.'), { recursive: true, encoding: 'utf8' });
    const bytes = files.reduce((sum, file) => sum + statSync(at(file)).size, 0);
    expect(bytes).toBeLessThan(MOST_BYTES);
  });

  it.each(Object.keys(expected.lists))('a model recommends the same: %s', async (kind) => {
    const model = await loadModel(at(`${kind}.safetensors`));
    expect(model.provenance.fingerprint).toMatch(/^[0-9a-f]{16}$/);
    const lists = await recommendMany(model, [{ user: 'Zoë0' }, { user: 'u1' }], { n: 5 });
    for (const [n, list] of lists.entries()) {
      const before: { item: string; score: number }[] = expected.lists[kind][n];
      expect(list.map(({ item }) => item)).toEqual(before.map(({ item }) => item));
      for (const [i, { score }] of list.entries()) expect(score / before[i].score).toBeCloseTo(1, 5);
    }
  });

  it('a stopped fit continues to the bound of a whole fit, or is refused by its schedule', async () => {
    const { graph } = await readGraph(at('pairs.csv'), { threads: 1 });
    const resumed = async (file: string) =>
      fit(graph, { resume: await loadCheckpoint(at(file)), iterations: 20, threads: 1 });
    const sharded = (folder: string) => resumeShards(at('partition'), at(folder));
    // Version 0.2 did not write its schedule down.
    if (name === 'formats-0.2') {
      const refused = /an earlier version kept this state.*(fit|start) again/;
      await expect(resumed('stopped.partial')).rejects.toThrow(refused);
      await expect(resumed('stopped-ranker.partial')).rejects.toThrow(refused);
      await expect(sharded('stopped-shards.partial')).rejects.toThrow(refused);
      await expect(sharded('stopped-ranking-shards.partial')).rejects.toThrow(refused);
      return;
    }
    const { model } = await resumed('stopped.partial');
    expect(model.bound! / expected.bound).toBeCloseTo(1, 6);
    expect((await resumed('stopped-ranker.partial')).model.provenance.iterations).toBeGreaterThan(10);
    for (const folder of ['stopped-shards.partial', 'stopped-ranking-shards.partial']) {
      expect((await sharded(folder)).itemsModel.provenance.iterations).toBe(20);
    }
  });

  it('splits, partitions and models by shard are opened', async () => {
    const { train, foldIn, test } = await loadSplit(at('split'));
    const { graph } = await readGraph(at('pairs.csv'), { threads: 1 });
    const partition = await openPartition(at('partition'));
    expect([partition.users, partition.edges]).toEqual([graph.users.count, graph.edges]);
    expect(partition.fingerprint).toBe(expected.fingerprint);
    const parts = await openPartitionedSplit(at('split-in-shards'));
    expect([parts.train.edges, parts.foldIn?.edges, parts.test.edges]).toEqual([
      train.edges,
      foldIn.edges,
      test.edges,
    ]);
    const shards = await openModelShards(at('by-shard'));
    const merged = await mergeModel(shards);
    expect(merged.users.count).toBe(graph.users.count);
  });

  it('the results of a study are checked', async () => {
    const { results, fingerprint } = await readReceipt(at('study/results.json'));
    expect(fingerprint).toBe(expected.fingerprint);
    expect(results.runs.length).toBeGreaterThan(0);
  });
});

describe('a newer version', () => {
  const NEWER = /version 9\b.*reads .*; update graphex$/;
  const latest = versions.at(-1)!;
  const at = (file: string) => join(FIXTURES, latest, file);
  /** A copy of the file with the next version in its header or document. */
  const raised = (file: string, folder?: string) => {
    const home = scratch.path(`${file.replaceAll('/', '-')}-raised`);
    cpSync(at(folder ?? file), home, { recursive: true });
    raise(folder === undefined ? home : join(home, file.slice(folder.length + 1)));
    return home;
  };
  const raise = (path: string) => {
    const bytes = readFileSync(path, 'latin1');
    const newer = bytes.replace(/("(?:format_)?version":\s*"?)(\d)(?="?[,}\s])/, '$19');
    expect(newer).not.toBe(bytes);
    writeFileSync(path, newer, 'latin1');
  };

  const resumed = (path: string) => resumeShards(at('partition'), path);

  it.each<[string, string | undefined, (path: string) => Promise<unknown>]>([
    ['posterior.safetensors', undefined, loadModel],
    ['ranker.safetensors', undefined, loadModel],
    ['stopped.partial', undefined, loadCheckpoint],
    ['split/split.json', 'split', loadSplit],
    ['split-in-shards/split.json', 'split-in-shards', openPartitionedSplit],
    ['partition/parts.json', 'partition', openPartition],
    ['partition/items.safetensors', 'partition', openPartition],
    [
      'partition/shard-0001.safetensors',
      'partition',
      async (path) => readShard(await openPartition(path), 1),
    ],
    ['by-shard/head.safetensors', 'by-shard', openModelShards],
    [
      'by-shard/users-0001.safetensors',
      'by-shard',
      async (path) => readModelShard(await openModelShards(path), 1),
    ],
    ['stopped-shards.partial/state.safetensors', 'stopped-shards.partial', resumed],
    ['stopped-ranking-shards.partial/ranking.safetensors', 'stopped-ranking-shards.partial', resumed],
    ['study/results.json', 'study', (path) => readReceipt(join(path, 'results.json'))],
  ])('%s is refused with its number', async (file, folder, read) => {
    await expect(read(raised(file, folder))).rejects.toThrow(NEWER);
  });

  // Version 0.2 had no folds, and its states of fits are refused before their users are read.
  it('folds and the users of a state are refused with their number, too', async () => {
    const folds = scratch.path('folds-raised');
    const { graph } = await readGraph(at('pairs.csv'), { threads: 1 });
    await saveFolds(folds, splitFolds(graph, 2, { seed: 1 }));
    raise(join(folds, 'folds.json'));
    await expect(loadFolds(folds)).rejects.toThrow(NEWER);

    const folder = scratch.path('state-raised');
    const stop = new AbortController();
    const stopped = fitShards(await openPartition(at('partition')), ALONE, {
      ...{ features: 3, iterations: 20, threads: 1, checkpoint: { folder }, signal: stop.signal },
      onProgress: () => stop.abort(),
    });
    await expect(stopped).rejects.toThrow();
    raise(join(folder, 'users-0001.safetensors'));
    await expect(resumed(folder)).rejects.toThrow(NEWER);
  });
});
