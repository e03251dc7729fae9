// A receipt may come from anyone: a bad one gives status 2 and a sentence, and changes no file.

import { spawn, spawnSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { graphex, scratch, writeTable } from '../cli/run.js';

const folder = scratch();
const data = join(folder, 'data.csv');
const first = join(folder, 'first');
const results = join(first, 'results.json');
const quick = ['-k', '2', '--model', 'dense', '--draws', '0', '--iterations', '5', '--baselines', 'none'];
// biome-ignore lint/suspicious/noExplicitAny: what is damaged here has no type
type Document = Record<string, any>;
let good: Document;

beforeAll(async () => {
  writeTable(data, 1500);
  writeFileSync(data, `${readFileSync(data, 'utf8')}a row without an item\n`);
  const rejects = join(folder, 'rejects.csv');
  const done = await graphex(
    'study',
    data,
    '-o',
    first,
    ...quick,
    '--no-ranker',
    '--rejects',
    rejects,
    '--quiet',
  );
  expect([done.status, done.stderr]).toEqual([0, '']);
  good = JSON.parse(readFileSync(results, 'utf8'));
}, 120_000);

let number = 0;
function receipt(change: (document: Document) => unknown): string {
  const document = structuredClone(good);
  const path = join(folder, `receipt-${number++}.json`);
  writeFileSync(path, JSON.stringify(change(document) ?? document));
  return path;
}

/** Refused in a sentence, with no stack and nothing written. */
async function refused(path: string, says: RegExp, ...more: string[]): Promise<void> {
  const out = join(folder, `out-${number++}`);
  const { status, stdout, stderr } = await graphex('study', '--from', path, '-o', out, '--quiet', ...more);
  expect([status, stdout], stderr).toEqual([2, '']);
  expect(stderr).toMatch(says);
  expect(stderr).not.toMatch(/\n\s+at /);
  expect(existsSync(out)).toBe(false);
}

describe('study --from', () => {
  it('never writes to a path from a receipt: rejects must be named again on the command line', async () => {
    const precious = join(folder, 'precious');
    writeFileSync(precious, 'mine');
    const path = receipt((d) => {
      d.receipt.origin.read.rejects = precious;
    });
    await refused(path, /name a file for them now with --rejects/);
    expect(readFileSync(precious, 'utf8')).toBe('mine');
    const elsewhere = join(folder, 'elsewhere.csv');
    const again = join(folder, 'again');
    const done = await graphex(
      'study',
      '--from',
      path,
      '-o',
      again,
      '--rejects',
      elsewhere,
      '--json',
      '--quiet',
    );
    expect(done.stderr).toBe('');
    expect(JSON.parse(done.stdout).repeated).toEqual({ same: true, differences: [] });
    expect(readFileSync(elsewhere, 'utf8')).toContain('a row without an item');
    expect(readFileSync(precious, 'utf8')).toBe('mine');
  }, 120_000);

  it('checks the fingerprint before it writes anything, rejects included', async () => {
    const elsewhere = join(folder, 'not-written.csv');
    const path = receipt((d) => {
      d.receipt.fingerprint = `${d.receipt.fingerprint.slice(0, -1)}x`;
    });
    await refused(path, /these are not the data of/, '--rejects', elsewhere);
    expect(existsSync(elsewhere)).toBe(false);
  }, 60_000);

  it('refuses an option of the wrong type instead of looping forever: sep 5', async () => {
    const sep = receipt((d) => {
      d.receipt.origin.read.sep = 5;
    });
    await refused(sep, /receipt\.origin\.read: sep 5: expected a text/);
  }, 60_000);

  it('refuses wrong types and missing parts, each in a sentence', async () => {
    const wrong: [string, (d: Document) => unknown, RegExp][] = [
      ['null', () => null as never, /not the results\.json of a study/],
      ['a list', () => [], /not the results\.json/],
      ['no receipt', (d) => void delete d.receipt, /not the results\.json.*receipt/],
      ['no runs', (d) => void delete d.runs, /runs/],
      ['no settings', (d) => void delete d.receipt.settings, /receipt\.settings/],
      ['no origin', (d) => void (d.receipt.origin = null), /receipt\.origin/],
      ['a source that is a number', (d) => void (d.receipt.origin.source = 7), /origin\.source/],
      ['a huge K', (d) => void (d.receipt.settings.features = [1e9]), /features 1000000000/],
      ['another version', (d) => void (d.version = 99), /version 99/],
      ['the first version', (d) => void (d.version = 1), /earlier graphex/],
    ];
    for (const [name, change, says] of wrong) {
      const path = join(folder, `wrong-${number++}.json`);
      const document = structuredClone(good);
      const changed = change(document);
      writeFileSync(path, JSON.stringify(changed === undefined ? document : changed));
      await refused(path, says).catch((error) => {
        throw new Error(`${name}: ${error.message}`);
      });
    }
    const keys = join(folder, 'keys.json');
    writeFileSync(keys, JSON.stringify(good).replace('"settings":{', '"settings":{"__proto__":{"draws":1},'));
    await refused(keys, /__proto__.*no such option/);
    const deep = join(folder, 'deep.json');
    writeFileSync(deep, `${'['.repeat(500_000)}${']'.repeat(500_000)}`);
    await refused(deep, /nested more than/);
    const text = join(folder, 'text.json');
    writeFileSync(text, 'x');
    await refused(text, /not valid JSON/);
  }, 180_000);

  it('refuses a folder, a FIFO, a socket and a file of 3 GiB without reading them', async () => {
    const directory = join(folder, 'directory');
    mkdirSync(directory);
    await refused(directory, /not a plain file/);
    const large = join(folder, 'large.json');
    const handle = openSync(large, 'w');
    ftruncateSync(handle, 3 * 2 ** 30);
    closeSync(handle);
    await refused(large, /has 3221225472 bytes/);
    if (process.platform === 'win32') return;
    const fifo = join(folder, 'fifo');
    expect(spawnSync('mkfifo', [fifo]).status).toBe(0);
    await refused(fifo, /not a plain file/);
    const path = join(folder, 's');
    const server = createServer().listen(path);
    await new Promise((resolve) => server.once('listening', resolve));
    try {
      await refused(path, /not a plain file/);
    } finally {
      server.close();
    }
  }, 60_000);

  it('leaves the folder of the receipts as it was', () => {
    expect(readdirSync(folder).filter((name) => name.startsWith('out-'))).toEqual([]);
  });
});

describe('values at the edge of what numbers can be', () => {
  it.each([
    ['fit', '--rate-items', '1e-100'],
    ['fit', '--tau-items', '1e-200'],
    ['fit', '--sigma-users', '-1e9'],
    ['fit', '--size-users', '1e300'],
    ['simulate', '--rate-items', '1e-100'],
    ['simulate', '--tau-items', '1e-200'],
    ['simulate', '--sigma-users', '-1e9'],
    ['study', '--shape-users', '1e-300'],
  ])(
    '%s %s %s is refused with what is allowed',
    async (verb, flag, value) => {
      const out = join(folder, `edge-${number++}${verb === 'simulate' ? '.csv' : ''}`);
      const source = verb === 'simulate' ? [] : [data];
      const { status, stderr } = await graphex(verb, ...source, '-o', out, flag, value, '--quiet');
      expect(status).toBe(2);
      expect(stderr).toMatch(new RegExp(`${flag} ${value}: expected a number, at least `));
      expect(existsSync(out)).toBe(false);
    },
    30_000,
  );

  it('a signal stops a fit with extreme but allowed values', async () => {
    const out = join(folder, 'extreme.safetensors');
    const { bin } = await import('../cli/run.js');
    const clean = join(folder, 'clean.csv');
    writeTable(clean, 1500);
    const extremes = [
      '--sigma-users',
      '-1000',
      '--tau-items',
      '1e-9',
      '--rate-items',
      '1e-9',
      '--size-users',
      '1e12',
    ];
    const args = [
      'fit',
      clean,
      '-o',
      out,
      '-k',
      '4',
      '--iterations',
      '1000000000',
      '--tolerance',
      '0',
      '--checkpoint',
      '1e-6',
      ...extremes,
    ];
    const child = spawn(process.execPath, [bin, ...args], { stdio: 'ignore' });
    const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
    // Stops it once it sweeps, which its first state shows, or after five seconds without a state.
    const state = `${out}.partial`;
    for (let waited = 0; waited < 5000 && child.exitCode === null && !existsSync(state); waited += 20)
      await new Promise((resolve) => setTimeout(resolve, 20));
    const began = performance.now();
    child.kill('SIGINT');
    // Stopped, or refused with a sentence before the signal came: a signal is never ignored.
    expect([130, 2]).toContain(await ended);
    expect(performance.now() - began).toBeLessThan(15_000);
  }, 60_000);
});
