// Files that change, are reached by links, or never end a line; JSON deeper than any stack; huge numbers of columns.

import { spawn } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, symlinkSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { loadSplit, readGraph, saveSplit, split } from '../../src/index.js';
import { MAX_LINE_BYTES } from '../../src/ingest/formats/lines.js';
import { edgesOf, scratchFolder } from '../ingest/scratch.js';

vi.setConfig({ testTimeout: 120_000 });
const scratch = scratchFolder();
const BIN = join(import.meta.dirname, '../../bin/graphex.js');
/** This Node, and the one that GRAPHEX_NODE names, if it is set. */
const NODES = [process.execPath, process.env.GRAPHEX_NODE ?? ''].filter((path) => existsSync(path));

/** Runs `graphex ARGS`, with `bytes` bytes of "a" on standard input; stops writing when the command has ended. */
function graphexFed(node: string, args: readonly string[], bytes = 0, begin = '') {
  const child = spawn(node, [BIN, ...args], { stdio: ['pipe', 'ignore', 'pipe'] });
  let stderr = '';
  let written = 0;
  child.stderr.on('data', (text) => (stderr += text));
  child.stdin.on('error', () => {});
  const chunk = Buffer.alloc(1 << 20, 'a');
  const write = () => {
    while (written < bytes && child.exitCode === null) {
      written += chunk.length;
      if (!child.stdin.write(chunk)) {
        child.stdin.once('drain', write);
        return;
      }
    }
    child.stdin.end();
  };
  child.stdin.write(begin);
  write();
  return new Promise<{ status: number | null; stderr: string; written: number }>((resolve) => {
    child.on('close', (status) => resolve({ status, stderr, written }));
  });
}

describe('a line of 2 GB', () => {
  it.each([
    ['of a table', 'a,b\n'],
    ['of JSON lines', '{"u":1,"i":2}\n'],
  ])('%s stops the reading soon after the limit, in words', async (_, begin) => {
    const { status, stderr, written } = await graphexFed(process.execPath, ['check', '-'], 2 ** 31, begin);
    expect(status).toBe(2);
    expect(stderr).toMatch(new RegExp(`longer than ${MAX_LINE_BYTES} bytes`));
    expect(written).toBeLessThan(10 * MAX_LINE_BYTES);
  });

  it('in a sparse file of a terabyte is refused without reading it', async () => {
    const file = scratch.write('sparse.csv', 'a,b\nc,d\n');
    truncateSync(file, 2 ** 40);
    await expect(readGraph(file, { header: false })).rejects.toMatchObject({ name: 'InputError' });
  });
});

describe('JSON of 100,000 levels ends with status 2 and a sentence', () => {
  const deep = '['.repeat(100_000) + ']'.repeat(100_000);
  it.each(NODES)('in JSON lines, receipts, model headers and split.json (%s)', async (node) => {
    const header = Buffer.from(`{"__metadata__":${deep}}`);
    const length = Buffer.alloc(8);
    length.writeUInt32LE(header.length);
    const folder = scratch.path('deep-split');
    if (!existsSync(folder)) await saveSplit(folder, split((await readGraph('@simulated-small')).graph));
    scratch.write('deep-split/split.json', `{"format":"graphex-split","version":${deep}}`);
    const model = scratch.write('deep.safetensors', Buffer.concat([length, header]));
    const commands = [
      ['check', scratch.write('deep.jsonl', `{"u":1,"i":2}\n{"u":${deep},"i":2}\n`)],
      ['study', '--from', scratch.write('results.json', deep), '-o', scratch.path('study')],
      ['recommend', model, '--user', '1'],
      ['fit', folder, '-o', scratch.path('none.safetensors')],
    ];
    for (const command of commands) {
      const { status, stderr } = await graphexFed(node, command);
      expect(status, `${command[0]}: ${stderr}`).toBe(2);
      expect(stderr, command[0]).toMatch(/^error: \S.{10,}/m);
      expect(stderr, command[0]).not.toMatch(/\n {4}at |bug in graphex/);
    }
  });
});

describe.skipIf(process.platform === 'win32')('a folder that is reached through a link', () => {
  it('is read, and a split is loaded from it as from the folder itself', async () => {
    mkdirSync(scratch.path('real'));
    scratch.write('real/a.csv', 'u,x\nv,y\n');
    symlinkSync(scratch.path('real'), scratch.path('link'));
    const { graph } = await readGraph(scratch.path('link/a.csv'), { header: false });
    expect(edgesOf(graph)).toEqual(['["u","x",1]', '["v","y",1]']);
    const parts = split((await readGraph('@simulated-small')).graph);
    await saveSplit(scratch.path('real/split'), parts);
    expect(edgesOf((await loadSplit(scratch.path('link/split'))).train)).toEqual(edgesOf(parts.train));
    symlinkSync(scratch.path('round'), scratch.path('round'));
    await expect(readGraph(scratch.path('round/a.csv'))).rejects.toMatchObject({ name: 'InputError' });
  });
});

describe('a file that grows while it is read', () => {
  it('gives whole rows, those from before and perhaps some from after', async () => {
    const row = (n: number) => `u${n},i${n}\n`;
    const many = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, n) => row(from + n)).join('');
    const file = scratch.write('growing.csv', many(0, 200_000));
    let grown = 200_000;
    const { graph } = await readGraph(file, {
      header: false,
      onProgress: () => {
        if (grown < 300_000) appendFileSync(file, many(grown, (grown += 20_000)));
      },
    });
    expect(grown).toBeGreaterThan(200_000);
    expect(graph.edges).toBeGreaterThanOrEqual(200_000);
    expect(graph.edges).toBeLessThanOrEqual(grown);
    expect(graph.users.count).toBe(graph.edges);
  });
});

describe('a table of a million columns', () => {
  const wide = `${'a,'.repeat(999_999)}b\n`;
  it('is read if columns are named by number, including the last', async () => {
    const file = scratch.write('wide.csv', wide + wide);
    const { graph } = await readGraph(file, { header: false, users: 1, items: 1_000_000 });
    expect(edgesOf(graph)).toEqual(['["a","b",1]']);
  });

  it.each([1_000_001, 2 ** 32 + 1, 2 ** 53, '18446744073709551617', '1e400', '-1', '0x1'])(
    'has no column %s',
    async (users) => {
      const file = scratch.write('narrow.csv', 'a,b\nc,d\n');
      await expect(readGraph(file, { header: false, users })).rejects.toMatchObject({
        name: 'InputError',
        message: expect.stringMatching(/users|column/),
      });
    },
  );
});
