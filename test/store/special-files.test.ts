// Sockets, pipes, folders and devices where a command expects a file: status 2 and a sentence, quickly, and nothing is
// written.

import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { fit } from '../../src/fit/fit.js';
import { readGraph } from '../../src/ingest/read.js';
import { split } from '../../src/sample/split.js';
import { saveModel } from '../../src/store/model-file.js';
import { saveSplit } from '../../src/store/split-folder.js';
import { graphex, writeTable } from '../cli/run.js';
import { graphex as command } from '../faults/command.js';
import { scratchFolder } from '../ingest/scratch.js';

vi.setConfig({ testTimeout: 240_000 });
const scratch = scratchFolder();
const table = scratch.path('pairs.csv');
writeTable(table, 2000);
const STOPPED = 'interrupted: nothing was left half-written\n';

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
      // Lists may come through a pipe: the command waits for its writer.
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

describe.skipIf(process.platform !== 'linux')('files that would block forever', () => {
  const MODEL = join(import.meta.dirname, '../fixtures/formats-0.2/posterior.safetensors');
  const ONE = ['recommend', MODEL, '--user', 'u1'];

  /** Sends SIGTERM once the process has the path open. */
  const terminated = (args: readonly string[], path: string) =>
    command(args, {
      onStart(child) {
        const watch = setInterval(() => {
          if (!isOpen(child.pid!, path)) return;
          clearInterval(watch);
          child.kill('SIGTERM');
        }, 20);
        child.on('exit', () => clearInterval(watch));
      },
    });

  it('a pipe without a writer is released at the first signal', async () => {
    const pipe = scratch.path('nobody-writes');
    execFileSync('mkfifo', [pipe]);
    const ended = await Promise.all(
      [
        ['check', pipe],
        ['check', `text:${pipe}`],
        [...ONE, '--titles', pipe],
        [...ONE, '--exclude', pipe],
        ['recommend', MODEL, '--batch', pipe],
      ].map((args) => terminated(args, pipe)),
    );
    for (const { status, stderr } of ended) expect([status, stderr]).toEqual([143, STOPPED]);
  });

  it('silent standard input is released too, with 128 + n', async () => {
    const bin = join(import.meta.dirname, '../../bin/graphex.js');
    const child = spawn(process.execPath, [bin, 'recommend', MODEL, '--batch', '-'], { stdio: 'pipe' });
    let stderr = '';
    child.stderr.on('data', (text) => (stderr += text));
    await idle(child.pid!);
    child.kill('SIGTERM');
    const status = await new Promise((done) => child.on('close', done));
    expect([status, stderr]).toEqual([143, STOPPED]);
  });

  it('a file of the system that waits for events is refused, and so are pipes that a server would read again', async () => {
    const pipe = scratch.path('not-for-servers');
    execFileSync('mkfifo', [pipe]);
    // Only root may open it; for others the test expects the refusal.
    const waits = '/proc/kmsg';
    const ended = await Promise.all(
      [
        ['check', waits],
        [...ONE, '--exclude', waits],
        ['study', '--from', waits, '-o', scratch.path('no-study')],
        ['serve', MODEL, '--port', '0', '--key-file', waits],
        ['serve', MODEL, '--port', '0', '--titles', pipe],
        ['serve', pipe, '--port', '0'],
      ].map((args) => command(args)),
    );
    for (const { status, stderr } of ended) {
      expect(stderr).toMatch(/^error: \S+: [^\n]+\n$/);
      expect(status).toBe(2);
    }
  });
});

/** Whether the process has opened the path. */
/** Resolves once the process has slept for half a second after its start: it waits for something. */
async function idle(pid: number): Promise<void> {
  let before = '';
  for (let quiet = 0; quiet < 5; ) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    // After the name: the state, then numbers of which the 12th and 13th are the times of the processor.
    const [state, ...rest] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
    const spent = `${rest[10]} ${rest[11]}`;
    quiet = state === 'S' && spent === before && Number(rest[10]) > 20 ? quiet + 1 : 0;
    before = spent;
  }
}

function isOpen(pid: number, path: string): boolean {
  const folder = `/proc/${pid}/fd`;
  try {
    return readdirSync(folder).some((fd) => readlinkSync(join(folder, fd)) === path);
  } catch {
    return false;
  }
}

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
