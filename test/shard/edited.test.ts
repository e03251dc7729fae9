// Folders of shards, splits of them and states that somebody has edited, damaged or mixed up: refused in a sentence
// that says where and what to do, without the checker's own messages. Removing a used state removes nothing else.

import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { ALONE } from '../../src/comm/communicator.js';
import { AbortError } from '../../src/errors.js';
import { fitAscentShards } from '../../src/shard/partition-ascent.js';
import { openPartition, type PartitionedData } from '../../src/shard/partition-folder.js';
import { partitionGraph } from '../../src/shard/partition-graph.js';
import { openPartitionedSplit, splitPartition } from '../../src/shard/split-partition.js';
import { graphex, writeTable } from '../cli/run.js';
import { scratchFolder } from '../ingest/scratch.js';

const { path, write } = scratchFolder();
const FIT = ['-k', '2', '--iterations', '5', '--threads', '1', '--engine', 'cpu'];
let parts: PartitionedData;

// biome-ignore lint/suspicious/noExplicitAny: what is edited here has no type
type Document = Record<string, any>;
let copies = 0;

/** A copy of a folder whose JSON file is another. */
function edited(folder: string, file: string, change: (document: Document) => unknown): string {
  const copy = path(`copy ${copies++}`);
  cpSync(folder, copy, { recursive: true });
  const document = JSON.parse(readFileSync(join(copy, file), 'utf8'));
  writeFileSync(join(copy, file), JSON.stringify(change(document) ?? document));
  return copy;
}

beforeAll(async () => {
  writeTable(path('rows.csv'), 3000);
  await partitionGraph(path('rows.csv'), path('parts'), { shards: 3 });
  parts = await openPartition(path('parts'));
});

describe('parts.json', () => {
  test.each<[string, (d: Document) => unknown, RegExp]>([
    ['a text for a number', (d) => void (d.users = 'many'), /\(users should be a number\)/],
    ['no edges', (d) => void (d.edges = 0), /\(edges should be at least 1\)/],
    ['no hash', (d) => void delete d.fingerprint, /\(fingerprint should be a text\)/],
    ['a hash of another form', (d) => void (d.itemsHash = 'x'), /itemsHash is not of the right form/],
    ['another format', (d) => void (d.format = 'mine'), /\(format should be "graphex-parts"\)/],
    ['no shards', (d) => void (d.shards = []), /shards should have at least 1 entry/],
    ['a list of nothing', () => [], /\(the document should be an object\)/],
    [
      'a shard that is none',
      (d) => void (d.shards[1].users = null),
      /\(shards\.1\.users should be a number\)/,
    ],
  ])('with %s', async (_name, change, says) => {
    const refused = openPartition(edited(path('parts'), 'parts.json', change));
    await expect(refused).rejects.toThrow(says);
    await expect(refused).rejects.toThrow(
      /this is not the description of a partition .*; partition the data again$/,
    );
    await expect(refused).rejects.not.toThrow(/Invalid|✖|expected|→/);
  });

  test('with other degrees of users that add up', async () => {
    const changed = edited(path('parts'), 'parts.json', (document) => {
      // One user has one more edge and another has one less, so the numbers of users and edges stay the same.
      const counts = new Map<number, number>(document.degrees.users);
      const add = (degree: number, users: number) => {
        const now = (counts.get(degree) ?? 0) + users;
        if (now > 0) counts.set(degree, now);
        else counts.delete(degree);
      };
      const [[low], [high]] = document.degrees.users.slice(1, 3);
      for (const [degree, users] of [
        [low, -1],
        [low - 1 || 1, 1],
        [high, -1],
        [high + 1, 1],
      ])
        add(degree, users);
      document.degrees.users = [...counts].sort(([a], [b]) => a - b);
    });
    await expect(openPartition(changed)).rejects.toThrow(/degrees of (its )?users/);
    const { status, stderr } = await graphex('check', changed);
    expect([status, stderr]).toEqual([
      2,
      expect.stringMatching(/^error: .*parts\.json: .*partition the data again/),
    ]);
  });
});

test('a split.json that is not of a split in shards', async () => {
  await splitPartition(parts, path('split'), { testUsers: 0.4, testItems: 0.4, seed: 1 });
  const changed = edited(path('split'), 'split.json', (document) => void (document.shards = 'three'));
  await expect(openPartitionedSplit(changed)).rejects.toThrow(
    /split\.json: this is not the description of a split in shards \(shards should be a number\); split the partition again/,
  );
});

describe('--resume', () => {
  beforeAll(async () => {
    const stop = new AbortController();
    const fit = fitAscentShards(parts, ALONE, {
      ...{ features: 2, iterations: 60, tolerance: 1e-300, engine: 'cpu', threads: 1, signal: stop.signal },
      checkpoint: { folder: path('state') },
      onProgress: ({ done, unit }) => unit === 'iterations' && done >= 10 && stop.abort(),
    });
    await expect(fit).rejects.toThrow(AbortError);
  });

  const state = (change: (folder: string) => unknown) => () => {
    const copy = path(`copy ${copies++}`);
    cpSync(path('state'), copy, { recursive: true });
    change(copy);
    return copy;
  };
  const CASES: [string, () => string, RegExp, string?][] = [
    [
      'nothing',
      () => path('nowhere'),
      /nowhere: there is no such folder; check the path, or start again without --resume/,
    ],
    [
      'a folder without a state',
      () => path('parts'),
      /parts: this folder holds no state of a fit; check the path/,
    ],
    [
      'a file where a folder is expected',
      () => write('a file', 'x'),
      /a file: this is a file, and a fit to shards saves its state in a folder; .*, or start again without --resume/,
    ],
    [
      'a folder where a file is expected',
      () => path('parts'),
      /parts: this is a folder, but the state of this fit is a file; check the path, or start again without --resume/,
      'rows.csv',
    ],
    [
      'the state of a fit of parts, for a table',
      () => path('state'),
      /state: this is the state of a fit to shards; fit the folder of these shards, or start again without --resume/,
      'rows.csv',
    ],
    [
      'a state with a file missing',
      state((folder) => rmSync(join(folder, 'users-0001.safetensors'))),
      /users-0001\.safetensors: there is no such file; copy the state again, or start again without --resume/,
    ],
    [
      'a state that is cut short',
      state((folder) => truncateSync(join(folder, 'state.safetensors'), 200)),
      /state\.safetensors: .*cut short; copy the state again, or start again without --resume/,
    ],
    [
      'a state of other shards of the same data',
      () => path('state'),
      /state: it is the state of these data in 3 shards, and .*two has 2; resume with the shards of its start, or start again without --resume/,
      'two',
    ],
  ];
  test.each(CASES)('with %s', async (_name, make, says, data = 'parts') => {
    if (data === 'two') await partitionGraph(path('rows.csv'), path('two'), { shards: 2 });
    const { status, stdout, stderr } = await graphex(
      'fit',
      path(data),
      '--resume',
      make(),
      '-o',
      path('out'),
      '--quiet',
    );
    expect(stderr).toMatch(says);
    expect(stderr.trim().split('\n')).toHaveLength(1);
    expect([status, stdout, existsSync(path('out'))]).toEqual([2, '', false]);
  });
});

describe('MODEL.partial', () => {
  const WARNS = /begins anew|--resume/;
  const fitted = async (data: string, output: string) => {
    const ended = await graphex('fit', path(data), ...FIT, '--no-evidence', '-o', path(output), '--force');
    expect(ended.status, ended.stderr).toBe(0);
    return ended.stderr;
  };

  test('that is another folder is not a state: no warning, and nothing in it is removed', async () => {
    mkdirSync(path('mine.partial'));
    writeFileSync(path('mine.partial/diary.txt'), 'mine');
    expect(await fitted('parts', 'mine')).not.toMatch(WARNS);
    expect(readdirSync(path('mine.partial'))).toEqual(['diary.txt']);
  });

  test('that is a state is warned about before it is replaced, and removed when the model is written; other files stay', async () => {
    cpSync(path('state'), path('kept.partial'), { recursive: true });
    writeFileSync(path('kept.partial/diary.txt'), 'mine');
    expect(await fitted('parts', 'kept')).toMatch(
      /kept\.partial holds the state of a stopped fit; this fit starts again and replaces it/,
    );
    expect(readdirSync(path('kept.partial'))).toEqual(['diary.txt']);
    cpSync(path('state'), path('gone.partial'), { recursive: true });
    await fitted('parts', 'gone');
    expect(existsSync(path('gone.partial'))).toBe(false);
  });

  test('that is a file but not a state is not called one', async () => {
    writeFileSync(path('table.partial'), 'mine');
    expect(await fitted('rows.csv', 'table')).not.toMatch(WARNS);
    expect(readFileSync(path('table.partial'), 'utf8')).toBe('mine');
  });

  test('that is a folder although a file is needed is refused with a remedy', async () => {
    mkdirSync(path('folder.partial'));
    const { status, stderr } = await graphex('fit', path('rows.csv'), ...FIT, '-o', path('folder'));
    expect([status, stderr]).toEqual([
      2,
      expect.stringMatching(
        /folder\.partial: this is a folder, .*; move it away, or choose another name for the model/,
      ),
    ]);
  });
});
