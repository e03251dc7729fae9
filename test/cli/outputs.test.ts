import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { checkOutputs } from '../../src/cli/outputs.js';
import { graphex, scratch, writeTable } from './run.js';

const folder = scratch();
const data = join(folder, 's.csv');
const missing = join(folder, 'no', 'dir');

beforeEach(() => writeTable(data, 300));

const SAME = /the output is the input file; choose another path/;

describe('an output that is an input', () => {
  it.each([
    ['fit -o', ['fit', data, '-o', data]],
    ['fit -o by another spelling', ['fit', data, '-o', join(folder, 'x', '..', '.', 's.csv')]],
    ['fit --rejects', ['fit', data, '-o', join(folder, 'm'), '--rejects', data]],
    ['check --rejects', ['check', data, '--rejects', data]],
    ['split --rejects', ['split', data, '-o', join(folder, 'parts'), '--rejects', data]],
    ['study --rejects', ['study', data, '-o', join(folder, 'report'), '--rejects', data]],
  ])('%s is refused, and the data stay', async (_name, args) => {
    const before = readFileSync(data);
    const { status, stdout, stderr } = await graphex(...args);
    expect([status, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(SAME);
    expect(readFileSync(data)).toEqual(before);
    expect(readdirSync(folder).filter((name) => name !== 's.csv')).toEqual([]);
  });

  it('is found through links, in folders and in recipes; other files in the folder do not matter', async () => {
    const home = join(folder, 'links');
    mkdirSync(join(home, 'texts'), { recursive: true });
    const at = (...names: string[]) => join(home, ...names);
    for (const name of ['a.csv', 'train.parquet', 'split.json', 'results.json', 'model', 'texts/a.txt']) {
      writeFileSync(at(name), 'text');
    }
    symlinkSync(at('a.csv'), at('soft.csv'));
    linkSync(at('a.csv'), at('hard.csv'));
    const refused: [string, string][] = [
      [at('a.csv'), at('soft.csv')],
      [at('soft.csv'), at('a.csv')],
      [at('a.csv'), at('hard.csv')],
      [`echonest:${at('a.csv')}`, at('a.csv')],
      [`text:${at('texts')}`, at('texts', 'a.txt')],
      [home, at('train.parquet')],
      [home, at('split.json')],
    ];
    for (const [input, output] of refused) {
      await expect(checkOutputs({ files: [output], inputs: [input] })).rejects.toThrow(SAME);
    }
    for (const [input, output] of [
      [home, at('model')],
      [at('a.csv'), at('model')],
      [at('a.csv'), at('new')],
      ['@sotu', at('model')],
    ] as const) {
      await expect(checkOutputs({ files: [output], inputs: [input], force: true })).resolves.toBeUndefined();
    }
    const report = { path: home, names: ['results.json'] };
    await expect(checkOutputs({ folder: report, inputs: [at('results.json')] })).rejects.toThrow(SAME);
    await expect(
      checkOutputs({ folder: report, inputs: [at('a.csv')], force: true }),
    ).resolves.toBeUndefined();
    await expect(checkOutputs({ files: [at('new'), at('new')], inputs: [] })).rejects.toThrow(/two outputs/);
  });
});

describe('an output that cannot be written', () => {
  it.each([
    // A simulation of this size would take days: it must be refused before it starts.
    ['simulate', ['simulate', '--size-users', '1e5', '--size-items', '1e5', '-o', join(missing, 'x.csv')]],
    ['fit', ['fit', '-', '-o', join(missing, 'm')]],
    ['check --rejects', ['check', '-', '--rejects', join(missing, 'bad.csv')]],
  ])('%s says before its work that the folder is missing', async (_name, args) => {
    const { status, stderr } = await graphex(...args);
    expect(status).toBe(2);
    expect(stderr).toMatch(/its folder does not exist; create the folder/);
    expect(existsSync(missing)).toBe(false);
  });

  it.each(['m', join('below', 'm')])(
    'fit names a file that is where the folder of its output should be: %s',
    async (name) => {
      const { status, stderr } = await graphex('fit', '-', '-o', join(data, name));
      expect(status).toBe(2);
      expect(stderr).toContain(`a file is in the way, ${data}; choose another path or remove the file`);
    },
  );

  it.each(['study', 'split', 'check'])('%s names a file that is where its folder should be', async (name) => {
    for (const path of [data, join(data, 'below')]) {
      const { status, stderr } = await graphex(name, '@simulated', '-o', path);
      expect(status).toBe(2);
      expect(stderr).toMatch(/a file is in the way/);
    }
    expect(statSync(data).isFile()).toBe(true);
  });

  it('names a folder or a device where a file should be, and the reverse within a folder', async () => {
    const home = join(folder, 'kinds');
    mkdirSync(join(home, 'report.html'), { recursive: true });
    writeFileSync(join(home, 'figures'), 'text');
    await expect(checkOutputs({ files: [home], inputs: [] })).rejects.toThrow(/this is a folder/);
    await expect(checkOutputs({ files: [join(home, 'new/')], inputs: [] })).rejects.toThrow(
      /this is a folder/,
    );
    if (existsSync('/dev/null')) {
      await expect(checkOutputs({ files: ['/dev/null'], inputs: [] })).rejects.toThrow(/not a plain file/);
    }
    const within = (name: string) => checkOutputs({ folder: { path: home, names: [name] }, inputs: [] });
    await expect(within('report.html')).rejects.toThrow(/report.html: a folder is in the way/);
    await expect(within('figures/')).rejects.toThrow(/figures.: a file is in the way/);
    await expect(within('results.json')).resolves.toBeUndefined();
  });
});

describe('fit on a split', () => {
  it('refuses the options of the reader rather than ignoring them', async () => {
    const parts = join(folder, 'parts');
    expect((await graphex('split', data, '-o', parts)).status).toBe(0);
    const { status, stderr } = await graphex('fit', parts, '-o', join(folder, 'm'), '--sep', ';');
    expect(status).toBe(2);
    expect(stderr).toMatch(/--sep: .*parts is a split, which was read when it was made/);
    const two = await graphex('fit', data, parts, '-o', join(folder, 'm'));
    expect([two.status, two.stderr]).toEqual([
      2,
      expect.stringMatching(/parts: this is a split, .* give no other data with it/),
    ]);
    const over = await graphex('fit', parts, '-o', join(parts, 'train.parquet'));
    expect([over.status, over.stderr]).toEqual([2, expect.stringMatching(SAME)]);
  });
});
