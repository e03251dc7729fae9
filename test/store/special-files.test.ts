// Sockets, pipes, folders and devices where a command expects a file: status 2 in words, soon, and nothing is written.

import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { fit } from '../../src/fit/fit.js';
import { readGraph } from '../../src/ingest/read.js';
import { split } from '../../src/sample/split.js';
import { saveModel } from '../../src/store/model-file.js';
import { saveSplit } from '../../src/store/split-folder.js';
import { graphex, writeTable } from '../cli/run.js';
import { scratchFolder } from '../ingest/scratch.js';

vi.setConfig({ testTimeout: 240_000 });
const scratch = scratchFolder();
const table = scratch.path('pairs.csv');
writeTable(table, 2000);

describe.skipIf(process.platform === 'win32')('in the place of a file', () => {
  it.each(['a pipe', 'a socket', 'a folder'])('%s is refused for every path that is read', async (kind) => {
    const home = scratch.path(kind.replace(' ', '-'));
    mkdirSync(home);
    const { graph } = await readGraph(table, { threads: 1 });
    const parts = join(home, 'split');
    const cut = split(graph, { seed: 1 });
    await saveSplit(parts, cut);
    const model = join(home, 'model');
    await saveModel(model, (await fit(cut.train, { features: 2, iterations: 2, threads: 1 })).model);
    const odd = join(home, 'odd');
    const make = async (path: string) => {
      if (kind === 'a pipe') execFileSync('mkfifo', [path]);
      else if (kind === 'a folder') mkdirSync(path);
      else await new Promise<void>((done) => void createServer().listen(path, done).unref());
    };
    await make(odd);
    const broken = join(home, 'broken');
    await saveSplit(broken, cut);
    rmSync(join(broken, 'split.json'));
    await make(join(broken, 'split.json'));
    const out = join(home, 'out');
    mkdirSync(out);
    for (const args of [
      ['evaluate', odd, parts],
      ['evaluate', model, odd],
      ['evaluate', model, broken],
      ['recommend', odd, '--user', '1'],
      // Lists may come through a pipe, whose writer is waited for.
      ...(kind === 'a pipe'
        ? []
        : [
            ['recommend', model, '--batch', odd],
            ['recommend', model, '--user', '1', '--exclude', odd],
          ]),
      ['fit', table, '--resume', odd, '-o', join(out, 'm')],
      ['check', table, '--replicates', '0', '--model', odd],
      ['study', '--from', odd, '-o', join(out, 'r')],
      ['fit', table, '-o', odd],
      ['check', table, '--rejects', odd],
    ]) {
      const ended = await Promise.race([
        graphex(...args),
        new Promise<never>((_, fail) =>
          setTimeout(() => fail(new Error(`${args.join(' ')} hangs`)), 60_000).unref(),
        ),
      ]);
      expect(ended.stderr, args.join(' ')).toMatch(/^error: [^\n]+\n$/m);
      expect([ended.status, ended.stdout], args.join(' ')).toEqual([2, '']);
    }
    expect(readdirSync(out)).toEqual([]);
  });
});

describe('a model with a size that no fit finds', () => {
  it('is refused by evaluate before its work', async () => {
    const { graph } = await readGraph(table, { threads: 1 });
    const cut = split(graph, { seed: 1 });
    const parts = scratch.path('sized');
    await saveSplit(parts, cut);
    const { model } = await fit(cut.train, { features: 3, iterations: 5, threads: 1 });
    const users = { ...model.users, hyper: { ...model.users.hyper, sigma: 0.5, size: 1e9 } };
    const path = scratch.path('sized.safetensors');
    await saveModel(path, { ...model, users });
    const { status, stderr, stdout } = await graphex('evaluate', path, parts, '--draws', '2');
    expect(stderr).toMatch(/error: the model's size of the users is .* more than fit in memory/);
    expect([status, stdout]).toEqual([2, '']);
  });
});
