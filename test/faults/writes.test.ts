// kill -9, a full disk, too little memory: the old result or the new one is there, whole, and the command says why.
// GRAPHEX_LONG=1 kills twenty times as often.

import { execFileSync, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { fit, loadModel, loadSplit, readGraph, saveModel, saveSplit, split } from '../../src/index.js';
import { randomStream } from '../../src/math/random.js';
import { Heap } from '../../src/wasm/heap.js';
import { graphex as command, writeTable } from '../cli/run.js';
import { scratchFolder } from '../ingest/scratch.js';
import { graphex } from './command.js';

vi.setConfig({ testTimeout: 600_000 });
const scratch = scratchFolder();
const random = randomStream(3, 0x9);
const WRITER = fileURLToPath(new URL('./write-forever.js', import.meta.url));
const KILLS = process.env.GRAPHEX_LONG ? 60 : 3;

/** Starts the writer and kills it after a random time. */
function killedWriting(args: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [WRITER, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
    child.stdout.once('data', () => setTimeout(() => child.kill('SIGKILL'), 250 * random.uniform()));
    child.on('close', (status, signal) => {
      if (signal === 'SIGKILL') resolve();
      else reject(new Error(`the writer ended with ${status}`));
    });
  });
}

describe('kill -9 while writing', () => {
  // The content of a split does not matter here. The smaller it is, the more often it is written before the kill.
  const pairs = scratch.path('pairs.csv');
  writeTable(pairs, 20_000, 2000, 1000);
  const FIT = [
    'fit',
    '@simulated-small',
    '--iterations',
    '5',
    '--no-evidence',
    '--engine',
    'cpu',
    '--threads',
    '1',
  ];

  it('leaves the old model or the new one', async () => {
    const { graph } = await readGraph('@simulated-small', { threads: 1 });
    const files = [scratch.path('a.safetensors'), scratch.path('b.safetensors')];
    for (const [seed, file] of files.entries()) {
      const options = { features: 30, iterations: 2, engine: 'cpu', threads: 1, seed } as const;
      await saveModel(file, (await fit(graph, options)).model);
      // The writer writes a model that was read, so this does the same.
      await saveModel(file, await loadModel(file));
    }
    mkdirSync(scratch.path('models'));
    const output = scratch.path('models/model.safetensors');
    cpSync(files[0], output);
    const whole = files.map((file) => readFileSync(file));
    for (let kill = 0; kill < KILLS; kill++) {
      await killedWriting(['model', output, ...files]);
      await loadModel(output);
      const found = readFileSync(output);
      expect(whole.some((bytes) => bytes.equals(found))).toBe(true);
    }
  });

  it('leaves the old split or the new one, though it is six files', async () => {
    const { graph } = await readGraph(pairs, { threads: 1 });
    const folders = [scratch.path('split-a'), scratch.path('split-b')];
    for (const [n, folder] of folders.entries()) await saveSplit(folder, split(graph, { seed: n }));
    const output = scratch.path('split-over');
    cpSync(folders[0], output, { recursive: true });
    let between = 0;
    for (let kill = 0; kill < KILLS; kill++) {
      await killedWriting(['split', output, ...folders]);
      if (existsSync(join(output, '.graphex-written'))) between++;
      expect([0, 1]).toContain((await loadSplit(output)).seed);
      for (const name of readdirSync(output))
        if (name.endsWith('.part')) rmSync(join(output, name), { recursive: true });
    }
    process.stdout.write(`${between} of ${KILLS} kills fell between the renames of a split\n`);
  });

  it('between any two renames of a split leaves the new one', async () => {
    const { graph } = await readGraph(pairs, { threads: 1 });
    const [before, after] = [scratch.path('before'), scratch.path('after')];
    await saveSplit(before, split(graph, { seed: 11 }));
    await saveSplit(after, split(graph, { seed: 12 }));
    const names = readdirSync(after);
    expect(names).toHaveLength(7); // six parts, and what graphex has written there
    for (let moved = 0; moved <= names.length; moved++) {
      const folder = scratch.path(`between-${moved}`);
      cpSync(before, folder, { recursive: true });
      cpSync(after, join(folder, '.graphex-written'), { recursive: true });
      for (const name of names.slice(0, moved)) {
        renameSync(join(folder, '.graphex-written', name), join(folder, name));
      }
      expect((await loadSplit(folder)).seed).toBe(12);
      expect(readdirSync(folder)).toEqual(names);
    }
  });

  it.each(['csv', 'csv.gz', 'parquet'])(
    'leaves the old table or the new one: .%s',
    async (ending) => {
      const sources: string[] = [];
      for (const size of ['60', '61']) {
        const file = scratch.path(`${size}.${ending}`);
        sources.push(file);
        const sizes = ['--size-users', size, '--size-items', size];
        expect((await command('simulate', ...sizes, '-o', file)).status).toBe(0);
      }
      const output = scratch.path(`edges.${ending}`);
      cpSync(sources[0], output);
      const edges = await Promise.all(sources.map(async (file) => (await readGraph(file)).graph.edges));
      for (let kill = 0; kill < KILLS / 3; kill++) {
        await killedWriting(['edges', output, ...sources]);
        expect(edges).toContain((await readGraph(output)).graph.edges);
      }
    },
    600_000,
  );

  it('by the command line too, when the temporary file appears', async () => {
    const folder = scratch.path('command');
    mkdirSync(folder);
    const output = join(folder, 'model.safetensors');
    expect((await command(...FIT, '-k', '50', '-o', output)).status).toBe(0);
    for (let kill = 0; kill < KILLS / 3; kill++) {
      const left = new Set(readdirSync(folder));
      const ended = await graphex([...FIT, '-k', '50', '--seed', '2', '-o', output], {
        onStart(child) {
          const watch = setInterval(() => {
            if (!readdirSync(folder).some((name) => name.endsWith('.part') && !left.has(name))) return;
            clearInterval(watch);
            child.kill('SIGKILL');
          }, 1);
          child.on('exit', () => clearInterval(watch));
        },
      });
      expect([0, 'SIGKILL']).toContain(ended.status ?? ended.signal);
      expect([1, 2]).toContain((await loadModel(output)).provenance.seed);
    }
  });
});

describe('a folder that cannot be', () => {
  it('is reported: a file is in the way, or its parent is one', async () => {
    const file = scratch.write('in-the-way', 'mine');
    const data = scratch.write('few.csv', 'a,b\n1,2\n1,3\n2,3\n');
    for (const [output, says] of [
      [file, /in-the-way: a file is in the way/],
      [join(file, 'below'), /error: .*in-the-way/],
    ] as const) {
      const ended = await command('check', data, '--replicates', '1', '-o', output);
      expect(ended.stderr).toMatch(says);
      expect(ended.status).toBe(2);
      expect(readFileSync(file, 'utf8')).toBe('mine');
    }
  });
});

/** A disk of 64 kB, if this process may mount one. */
const disk = scratch.path('disk');
const mounted = (() => {
  mkdirSync(disk);
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', disk], { stdio: 'ignore' });
    return true;
  } catch {
    process.stdout.write('skipped: tests of a full disk, which need the right to mount one\n');
    return false;
  }
})();
afterAll(() => {
  if (mounted) execFileSync('umount', [disk]);
});

describe.skipIf(!mounted)('a full disk', () => {
  const sizes = ['--size-users', '150', '--size-items', '150'];
  it.each([
    ['simulate', ['simulate', ...sizes, '-o', 'DISK/graph.csv']],
    ['simulate', ['simulate', ...sizes, '-o', 'DISK/graph.tsv.gz']],
    ['simulate', ['simulate', ...sizes, '-o', 'DISK/graph.parquet']],
    ['split', ['split', '@simulated-small', '-o', 'DISK/new/split']],
    ['check', ['check', '@simulated-small', '-o', 'DISK/check']],
    [
      'fit',
      ['fit', '@simulated-small', '-k', '20', '--iterations', '5', '--engine', 'cpu', '-o', 'DISK/model'],
    ],
    ['check', ['check', 'BAD', '--rejects', 'DISK/rejects.csv']],
  ])('ends %s with a sentence and nothing written', async (_, template) => {
    const bad = scratch.write('bad.csv', `a,b\n1,2\n${',x\n'.repeat(20_000)}`);
    const ended = await graphex(template.map((part) => part.replace('DISK', disk).replace('BAD', bad)));
    expect(ended.stderr).toMatch(/error: .*the disk is full; nothing was written/);
    expect(ended.status).toBe(2);
    expect(ended.stdout).toBe('');
    expect(readdirSync(disk)).toEqual([]);
  });

  it('for temporary files ends the reading of a compressed Parquet file', async () => {
    const file = scratch.path('large.parquet');
    expect((await command('simulate', ...sizes, '-o', file)).status).toBe(0);
    execFileSync('gzip', [file]);
    const ended = await graphex(['check', `${file}.gz`], { env: { TMPDIR: disk } });
    expect(ended.stderr).toMatch(/error: .*the disk is full/);
    expect(ended.status).toBe(2);
    expect(readdirSync(disk)).toEqual([]);
  });

  it('behind stdout is reported', () => {
    const run = (to: string) =>
      execFileSync(
        'sh',
        ['-c', `"$0" "$@" ${to}`, process.execPath, join(BIN), 'check', '@simulated-small'],
        {
          stdio: 'pipe',
        },
      );
    expect(() => run('> /dev/full')).toThrow(/the disk is full/);
    // Without a reader of the progress, the work continues.
    expect(String(run('2> /dev/full'))).toMatch(/verdict/);
  });
});

const BIN = fileURLToPath(new URL('../../bin/graphex.js', import.meta.url));

describe.skipIf(process.platform !== 'linux')('a limit', () => {
  const limited = (limit: string, ...args: string[]) => {
    try {
      execFileSync('sh', ['-c', `ulimit ${limit}; exec "$0" "$@"`, process.execPath, BIN, ...args], {
        stdio: 'pipe',
      });
      return { status: 0, stderr: '' };
    } catch (error) {
      const { status, stderr } = error as { status: number; stderr: Buffer };
      return { status, stderr: String(stderr) };
    }
  };
  const folder = scratch.path('limits');
  beforeAll(() => {
    mkdirSync(folder);
  });

  it.each(['csv', 'parquet'])(
    'of file size ends simulate with a sentence and nothing written: .%s',
    (ending) => {
      const sizes = ['--size-users', '150', '--size-items', '150'];
      const { status, stderr } = limited(
        '-f 40',
        'simulate',
        ...sizes,
        '-o',
        join(folder, `graph.${ending}`),
      );
      expect(stderr).toMatch(/error: .*larger than the file system or a limit/);
      expect(status).toBe(2);
      expect(readdirSync(folder)).toEqual([]);
    },
  );

  it('of memory ends a fit with a sentence', () => {
    const fit = ['fit', '@simulated-small', '-k', '5', '--engine', 'cpu', '-o', join(folder, 'model')];
    const { status, stderr } = limited('-v 4000000', ...fit);
    expect(stderr).toMatch(/error: not enough memory/);
    expect(status).toBe(2);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('of V8’s heap ends the reading of many ids with a sentence', async () => {
    const rows = Array.from({ length: 500_000 }, (_, r) => `user number ${r},item ${r % 1000}\n`);
    const file = scratch.write('many.csv', rows.join(''));
    const ended = await graphex(['check', file], { node: ['--max-old-space-size=40'] });
    expect(ended.stderr).toMatch(/error: .*not enough memory for \d+ different ids.*--max-old-space-size/);
    expect(ended.status).toBe(2);
  });

  it('of WebAssembly memory is a sentence', () => {
    const heap = new Heap();
    expect(() => heap.allocate(5 * 2 ** 30)).toThrow(/WebAssembly memory ends at 4096 MiB/);
    expect(heap.allocate(1000)).toBeGreaterThan(0);
  });
});
