// Folders of shards, splits and models: each holds one kind of result, and no file of an earlier result. Warnings name what a
// fit to shards does differently, and a state that will be replaced.

import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { randomStream } from '../../src/math/random.js';
import { partitionGraph } from '../../src/shard/partition-graph.js';
import { graphex } from '../cli/run.js';
import { scratchFolder } from '../ingest/scratch.js';
import { start } from './launchers.js';

const { path } = scratchFolder();
const FIT = ['-k', '2', '--iterations', '2', '--threads', '1', '--quiet'];

beforeAll(async () => {
  const random = randomStream(3, 9);
  const rows = Array.from({ length: 900 }, () => `u${random.below(90)},i${random.below(30)}`);
  writeFileSync(path('rows.csv'), rows.join('\n'));
  for (const shards of [2, 4]) await partitionGraph(path('rows.csv'), path(`parts${shards}`), { shards });
  await partitionGraph(path('rows.csv'), path('counted'), { shards: 2, multigraph: true });
});

test('a folder that has another kind of result is refused', async () => {
  const split = await graphex('split', path('parts4'), '-o', path('parts4'));
  expect([split.status, split.stderr]).toEqual([
    2,
    expect.stringContaining('a folder of shards is in this folder (parts.json); choose another one'),
  ]);
  const fitted = await graphex('fit', path('parts4'), '--by-shard', ...FIT, '-o', path('parts4'));
  expect(fitted.status).toBe(2);
  expect(existsSync(join(path('parts4'), 'split.json'))).toBe(false);
  expect(existsSync(join(path('parts4'), 'head.safetensors'))).toBe(false);
});

test('a result of fewer shards leaves none of the one before it', async () => {
  for (const shards of [4, 2]) {
    const parts = path(`parts${shards}`);
    expect(await graphex('split', parts, '-o', path('split'))).toMatchObject({ status: 0 });
    expect(await graphex('fit', parts, '--by-shard', ...FIT, '-o', path('model'))).toMatchObject({
      status: 0,
    });
  }
  const shards = (folder: string) =>
    readdirSync(folder).filter((name) => /^(shard|users)-/.test(name)).length;
  expect([shards(path('model')), shards(path('split/train')), shards(path('split/test'))]).toEqual([2, 2, 2]);
  expect(await graphex('split', path('rows.csv'), '-o', path('split'))).toMatchObject({ status: 0 });
  expect(shards(path('split/train'))).toBe(0);
  expect(await graphex('fit', path('split'), ...FIT, '-o', path('m.st'))).toMatchObject({ status: 0 });
  const wrong = await graphex('check', path('model'));
  expect([wrong.status, wrong.stderr]).toEqual([2, expect.stringContaining('this is a model by shard')]);
});

test('a launcher of several processes may only start fits of shards', async () => {
  const launched = { OMPI_COMM_WORLD_SIZE: '2' };
  const { status, stderr } = await start(
    undefined,
    ['partition', path('rows.csv'), '-o', path('twice')],
    launched,
  ).ended;
  expect([status, stderr]).toEqual([2, expect.stringContaining('run it once, without the launcher')]);
  expect(existsSync(path('twice'))).toBe(false);
});

// test/shard/edited.test.ts tests the messages about a state.
test('a warning says that counts are fitted as Poisson; an empty folder is not a state', async () => {
  const aloud = FIT.filter((flag) => flag !== '--quiet');
  const counted = await graphex('fit', path('counted'), ...aloud, '-o', path('c.st'));
  expect(counted.stderr).toContain('warning: counts are fitted as Poisson counts');
  mkdirSync(path('p.st.partial'));
  const plain = await graphex('fit', path('parts2'), ...aloud, '-o', path('p.st'));
  expect(plain.stderr).not.toContain('Poisson');
  expect(plain.stderr).not.toContain('begins anew');
  expect(existsSync(path('p.st.partial'))).toBe(true);
});

test('repeated pairs are not counts of 1', async () => {
  writeFileSync(path('twice.csv'), 'a,x\na,x\nb,x\n');
  const { stdout } = await graphex(
    'partition',
    path('twice.csv'),
    '--multi',
    '--shards',
    '2',
    '-o',
    path('t'),
  );
  expect(stdout).toContain('1 repeated an earlier pair');
  expect(stdout).not.toContain('every count is 1');
  expect(stdout).toContain('2 edges in 2 shards');
});
