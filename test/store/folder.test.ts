// Folders of results among other people's files: what is not graphex's own is never moved, replaced or removed.

import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { writePieces } from '../../src/files/atomic.js';
import { writeFolder } from '../../src/files/folder.js';
import { fit } from '../../src/fit/fit.js';
import { featureCount, type Model } from '../../src/fit/model.js';
import { buildGraph } from '../../src/graph/build.js';
import { split } from '../../src/sample/split.js';
import { loadModel, saveModel } from '../../src/store/model-file.js';
import { loadSplit, saveSplit, splitFiles } from '../../src/store/split-folder.js';
import { graphex, writeTable } from '../cli/run.js';
import { tree } from '../faults/tree.js';
import { scratchFolder } from '../ingest/scratch.js';

const scratch = scratchFolder();
const table = scratch.path('pairs.csv');
writeTable(table, 2000);
const pairs = Array.from({ length: 400 }, (_, r) => [(r + Math.floor(r / 5)) % 41, (r * 7) % 37] as const);
const graph = buildGraph({
  users: pairs.map(([u]) => u),
  items: pairs.map(([, i]) => i),
  userCount: 41,
  itemCount: 37,
});
const splitOf = (seed: number) => split(graph, { seed, testUsers: 0.5, testItems: 0.5 });

const text = (words: string) => (beside: string) => writePieces(beside, [words]);

describe('a folder whose .graphex-written somebody else made', () => {
  const victim = () => {
    const place = scratch.path(`victim-${Math.random()}`);
    mkdirSync(place);
    for (const name of [...splitFiles(), 'diary.txt']) writeFileSync(join(place, name), `my ${name}`);
    return place;
  };

  it('as a link to another folder: reading and writing move nothing, and say so', async () => {
    const folder = scratch.path('linked');
    await saveSplit(folder, splitOf(1));
    const other = victim();
    symlinkSync(other, join(folder, '.graphex-written'));
    const before = [tree(folder), tree(other)];
    await expect(loadSplit(folder)).rejects.toThrow(/\.graphex-written: this does not belong to a result/);
    await expect(saveSplit(folder, splitOf(2))).rejects.toThrow(/does not belong/);
    await expect(saveSplit(folder, splitOf(2), {}, { force: true })).rejects.toThrow(/does not belong/);
    const { status, stderr } = await graphex('fit', folder, '-o', scratch.path('m.safetensors'));
    expect([status, stderr]).toEqual([2, expect.stringMatching(/does not belong/)]);
    expect([tree(folder), tree(other)]).toEqual(before);
  });

  it.each([
    [
      'a link among its files',
      (place: string, other: string) => symlinkSync(join(other, 'diary.txt'), join(place, 'train.parquet')),
    ],
    ['a file of another name', (place: string) => writeFileSync(join(place, 'notes.txt'), 'x')],
    ['a folder of another name', (place: string) => mkdirSync(join(place, 'figures'))],
    ['a folder in the place of a file', (place: string) => mkdirSync(join(place, 'split.json'))],
  ])('with %s: nothing is moved, not even the rest', async (_name, spoil) => {
    const folder = scratch.path(`spoilt-${Math.random()}`);
    await saveSplit(folder, splitOf(1));
    const other = victim();
    const place = join(folder, '.graphex-written');
    mkdirSync(place);
    writeFileSync(join(place, 'coins-users.parquet'), 'x');
    spoil(place, other);
    const before = [tree(folder), tree(other)];
    await expect(loadSplit(folder)).rejects.toThrow(/does not belong to a result of this kind; remove it/);
    expect([tree(folder), tree(other)]).toEqual(before);
  });

  it('as a plain file is refused, too', async () => {
    const folder = scratch.path('plain');
    await saveSplit(folder, splitOf(1));
    writeFileSync(join(folder, '.graphex-written'), 'x');
    await expect(loadSplit(folder)).rejects.toThrow(/does not belong/);
  });
});

describe('files of others in the output folder', () => {
  it.each(splitFiles())('saveSplit refuses %s, and force replaces it', async (name) => {
    const folder = scratch.path(`own-${name}`);
    mkdirSync(folder);
    writeFileSync(join(folder, name), 'mine');
    writeFileSync(join(folder, 'diary.txt'), 'mine');
    const before = tree(folder);
    await expect(saveSplit(folder, splitOf(1))).rejects.toThrow(
      `${name}: it is there already, and graphex has not written it`,
    );
    expect(tree(folder)).toEqual(before);
    await saveSplit(folder, splitOf(1), {}, { force: true });
    expect((await loadSplit(folder)).seed).toBe(1);
    expect(readFileSync(join(folder, 'diary.txt'), 'utf8')).toBe('mine');
  });

  it('what graphex wrote is replaced; what was changed since, or became a link, is not', async () => {
    const folder = scratch.path('again');
    await saveSplit(folder, splitOf(1));
    await saveSplit(folder, splitOf(2));
    expect((await loadSplit(folder)).seed).toBe(2);
    const changed = scratch.path('changed');
    cpSync(folder, changed, { recursive: true });
    writeFileSync(join(changed, 'train.parquet'), 'edited');
    await expect(saveSplit(changed, splitOf(3))).rejects.toThrow(
      /train\.parquet: it was changed since graphex wrote it/,
    );
    const linked = scratch.path('became-a-link');
    cpSync(folder, linked, { recursive: true, filter: (name) => !name.endsWith('train.parquet') });
    symlinkSync(join(folder, 'train.parquet'), join(linked, 'train.parquet'));
    await expect(saveSplit(linked, splitOf(3))).rejects.toThrow(/train\.parquet/);
    expect((await loadSplit(folder)).seed).toBe(2);
  });

  it('a file with the name of the manifest that is not a manifest is refused', async () => {
    const folder = scratch.path('list');
    mkdirSync(folder);
    writeFileSync(join(folder, '.graphex.json'), '{"mine": true}');
    await expect(saveSplit(folder, splitOf(1))).rejects.toThrow(/\.graphex\.json/);
    expect(readFileSync(join(folder, '.graphex.json'), 'utf8')).toBe('{"mine": true}');
  });

  it('nothing is written through a folder that is a link', async () => {
    const folder = scratch.path('through');
    const other = scratch.path('elsewhere');
    mkdirSync(folder);
    mkdirSync(other);
    symlinkSync(other, join(folder, 'figures'));
    for (const force of [false, true]) {
      await expect(writeFolder(folder, { 'figures/a.svg': text('x') }, { force })).rejects.toThrow(
        /figures: this is a link to another place/,
      );
    }
    expect(readdirSync(other)).toEqual([]);
  });

  it('of files that a new result lacks, only those of graphex are removed', async () => {
    const folder = scratch.path('obsolete');
    await writeFolder(folder, { 'a.txt': text('a'), 'figures/b.svg': text('b'), 'figures/c.svg': text('c') });
    writeFileSync(join(folder, 'figures/c.svg'), 'mine now');
    await writeFolder(folder, { 'a.txt': text('A') }, { obsolete: ['figures/b.svg', 'figures/c.svg'] });
    expect(readdirSync(join(folder, 'figures'))).toEqual(['c.svg']);
    expect(readFileSync(join(folder, 'a.txt'), 'utf8')).toBe('A');
  });

  it.each([
    ['split', 'train.parquet', ['split', table]],
    ['check', 'check.html', ['check', table, '--replicates', '1']],
    ['study', 'report.html', ['study', table]],
    ['study', 'figures/density.svg', ['study', table]],
    ['fit', 'model.safetensors', ['fit', table]],
    ['fit', 'model.safetensors.partial', ['fit', table]],
    ['simulate', 'graph.csv', ['simulate', '--size-users', '1e5', '--size-items', '1e5']],
    ['check --rejects', 'bad.csv', ['check', table]],
  ])('%s refuses before its work to replace somebody’s %s', async (name, file, args) => {
    const folder = scratch.path(`cli-${name}-${file.replaceAll('/', '-')}`);
    mkdirSync(join(folder, 'figures'), { recursive: true });
    writeFileSync(join(folder, file), 'mine');
    const output = name.endsWith('rejects')
      ? ['--rejects', join(folder, file)]
      : [
          '-o',
          file.startsWith('model')
            ? join(folder, 'model.safetensors')
            : file === 'graph.csv'
              ? join(folder, file)
              : folder,
        ];
    const before = tree(folder);
    const { status, stdout, stderr } = await graphex(...args, ...output);
    expect(stderr).toMatch(
      new RegExp(`${file}: it is there already, and graphex has not written it.*--force`),
    );
    expect([status, stdout]).toEqual([2, '']);
    expect(tree(folder)).toEqual(before);
  });

  it('--force replaces them; models and rejects of graphex are replaced without', async () => {
    const folder = scratch.path('force');
    mkdirSync(folder);
    writeFileSync(join(folder, 'check.html'), 'mine');
    const check = ['check', table, '--replicates', '1', '-o', folder];
    expect((await graphex(...check, '--force')).status).toBe(0);
    expect((await graphex(...check)).status).toBe(0);
    const bad = scratch.write('some-bad.csv', 'a,b\n1,2\n,3\n4,5\n');
    const rejects = ['check', bad, '--rejects', join(folder, 'rejects.csv')];
    for (let turn = 0; turn < 2; turn++) expect((await graphex(...rejects)).stderr).toBe('');
    const model = join(folder, 'model.safetensors');
    for (let turn = 0; turn < 2; turn++) {
      const fit = ['fit', table, '-k', '2', '--iterations', '2', '--no-evidence', '-o', model];
      expect((await graphex(...fit, '--quiet')).stderr).toBe('');
    }
  });
});

describe('two concurrent writers', () => {
  it('of one model: the last wins, whole, and both saves resolve correctly', async () => {
    const path = scratch.path('raced.safetensors');
    const models: Model[] = [];
    for (const features of [1, 2, 3, 4, 5, 6]) {
      models.push((await fit(graph, { features, iterations: 1, engine: 'reference' })).model);
    }
    for (let turn = 0; turn < 5; turn++) {
      await Promise.all(models.map((model) => saveModel(path, model)));
      expect([1, 2, 3, 4, 5, 6]).toContain(featureCount(await loadModel(path)));
    }
    expect(readdirSync(scratch.path('')).filter((name) => name.endsWith('.part'))).toEqual([]);
  });

  it('of one split: the last wins, whole, whether the folder was there or not', async () => {
    for (const name of ['race-new', 'race-old']) {
      const folder = scratch.path(name);
      if (name === 'race-old') await saveSplit(folder, splitOf(99));
      const seeds = Array.from({ length: 12 }, (_, n) => n);
      await Promise.all(seeds.map((seed) => saveSplit(folder, splitOf(seed))));
      expect(seeds).toContain((await loadSplit(folder)).seed);
      expect(readdirSync(folder).sort()).toEqual([...splitFiles(), '.graphex.json'].sort());
      // What is there is recognised afterwards.
      await saveSplit(folder, splitOf(50));
      expect((await loadSplit(folder)).seed).toBe(50);
      expect(existsSync(join(folder, '.graphex-written'))).toBe(false);
    }
  });
});
