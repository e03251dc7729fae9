// A split of shards, shard by shard, has the parts of a split of the data in one piece.

import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { BipartiteGraph } from '../../src/browser.js';
import { fingerprint } from '../../src/graph/fingerprint.js';
import { simulate } from '../../src/process/poisson-model.js';
import { split, unseenByTraining } from '../../src/sample/split.js';
import { openPartition, type PartitionedData, readShard } from '../../src/shard/partition-folder.js';
import { partitionGraph } from '../../src/shard/partition-graph.js';
import { openPartitionedSplit, splitPartition } from '../../src/shard/split-partition.js';
import { compareSplit } from '../../src/sparsity/split-bias.js';
import { loadSplit } from '../../src/store/split-folder.js';
import { graphex } from '../cli/run.js';
import { scratchFolder } from '../ingest/scratch.js';

const { path } = scratchFolder();
const prior = { sigma: 0.2, tau: 1, size: 14, shape: 0.3, rate: 0.3 };
const CUT = { testUsers: 0.3, testItems: 0.25, seed: 9 };

describe.each(['integer ids', 'text ids', 'counts'])('%s', (kind) => {
  let graph: BipartiteGraph;
  let parts: PartitionedData;
  beforeAll(async () => {
    const multigraph = kind === 'counts';
    ({ graph } = await simulate({
      users: prior,
      items: prior,
      features: 3,
      multigraph,
      seed: 6,
      threads: 1,
    }));
    if (kind === 'text ids') graph = named(graph);
    await partitionGraph(graph, path(kind), { shards: 5 });
    parts = await openPartition(path(kind));
  });

  test('the same edges go to the same parts, by the same assignment', async () => {
    const folder = path(`${kind} split`);
    const made = await splitPartition(parts, folder, CUT);
    const expected = split(graph, CUT);
    const opened = await openPartitionedSplit(folder);
    for (const name of ['train', 'foldIn', 'test'] as const) {
      // Of ids, counts and edges: equal for equal contents alone.
      expect(opened[name]!.fingerprint).toBe(fingerprint(expected[name]));
      expect(made.parts[name]).toMatchObject({
        users: expected[name].users.count,
        items: expected[name].items.count,
        edges: expected[name].edges,
        total: expected[name].total,
      });
    }
    expect(made.assignment.users.ids.values).toEqual(expected.assignment.users.ids.values);
    expect(opened.userDrawn).toEqual(expected.assignment.users.drawn);
    expect(opened.itemAssignment.drawn).toEqual(expected.assignment.items.drawn);
    expect(made.unseen).toEqual(unseenByTraining(expected));
    expect(made.bias).toEqual(compareSplit(graph, expected));
    // A held-out user is in the shard that it was in.
    for (let s = 0; s < 5; s++) {
      const whole = new Set<string | number>((await readShard(parts, s)).ids.values);
      const held = await readShard(opened.test, s);
      for (const id of held.ids.values) expect(whole.has(id)).toBe(true);
    }
  });
});

/** The same graph with ids that are no numbers. */
function named({ users, items }: BipartiteGraph): BipartiteGraph {
  const pairs: [string, string][] = [];
  for (let u = 0; u < users.count; u++) {
    for (let e = users.offsets[u]; e < users.offsets[u + 1]; e++)
      pairs.push([`ü${u}`, `item ${items.ids.at(users.neighbors[e])}`]);
  }
  return BipartiteGraph.fromPairs(pairs);
}

test('methods that shards cannot be split by are refused, and nothing is written', async () => {
  const parts = await openPartition(path('counts'));
  await expect(splitPartition(parts, path('none'), { method: 'edges' })).rejects.toThrow(
    'method edges needs the data in one piece',
  );
  await expect(splitPartition(parts, path('none'), { testUsers: 1e-9 })).rejects.toThrow(
    'the test part of the split has no edges',
  );
  const aborted = AbortSignal.abort();
  await expect(splitPartition(parts, path('none'), {}, { signal: aborted })).rejects.toThrow();
  expect(existsSync(path('none'))).toBe(false);
  expect(readdirSync(path('.')).filter((name) => name.includes('.part'))).toEqual([]);
});

test('on the command line: split, then fit its training part; other commands say what they read', async () => {
  const output = path('by command');
  const made = await graphex('split', path('integer ids'), '-o', output, '--seed', '9', '--json');
  expect(made.status, made.stderr).toBe(0);
  const json = JSON.parse(made.stdout);
  const { train } = await openPartitionedSplit(output);
  expect(json).toMatchObject({ shards: 5, method: 'pq', train: { edges: train.edges } });
  const fitted = await graphex('fit', output, '-k', '2', '--iterations', '5', '--json', '-o', path('m'));
  expect(fitted.status, fitted.stderr).toBe(0);
  expect(JSON.parse(fitted.stdout)).toMatchObject({ shards: 5, ranks: 1 });
  await expect(loadSplit(output)).rejects.toThrow(
    'this split is in shards, which only fit and evaluate read',
  );
  const refused = await graphex('split', path('integer ids'), '-o', path('x'), '--multi');
  expect(refused).toMatchObject({ status: 2 });
  expect(refused.stderr).toContain('was read when it was partitioned');
  expect(existsSync(join(output, 'train', 'parts.json'))).toBe(true);
});
