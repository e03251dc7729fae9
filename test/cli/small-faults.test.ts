// What the command line says of data that are too small, of values that are missing and of values that are too large.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { graphex, scratch } from './run.js';

const folder = scratch();
const at = (name: string) => join(folder, name);
const folded = (text: string) => text.replaceAll(/\s+/g, ' ');
const model = at('popularity.model');

beforeAll(async () => {
  writeFileSync(at('one.csv'), 'user,item\na,x\n');
  const four = ['a', 'b', 'c', 'd'].flatMap((user) => ['w', 'x', 'y', 'z'].map((item) => `${user},${item}`));
  writeFileSync(at('four.csv'), `user,item\n${four.join('\n')}\n`);
  const { status, stderr } = await graphex('fit', at('four.csv'), '--method', 'popularity', '-o', model);
  expect(status, stderr).toBe(0);
});

describe('one edge', () => {
  it('has too few items for a ranking fit, and too few users to tune on', async () => {
    const fit = ['fit', at('one.csv'), '-o', at('none.model'), '--method'];
    const ranking = await graphex(...fit, 'ranking');
    expect([ranking.status, ranking.stderr]).toEqual([
      2,
      expect.stringContaining(
        'the data have 1 item, too few for a ranking fit, which cuts the items into folds; use more data, or another method',
      ),
    ]);
    expect((await graphex(...fit, 'knn')).stderr).toContain('1 training user leaves nothing to tune on');
  });

  it('is named in the singular by check', async () => {
    expect(folded((await graphex('check', at('one.csv'))).stdout)).toContain('there is only 1 user');
  });

  it.each(['one.csv', 'four.csv'])('a forecast that is refused says nothing else: %s', async (name) => {
    const { stdout } = await graphex('forecast', at(name), '--draws', '0');
    expect(stdout).toContain('No forecast for twice as many users');
    expect(stdout).not.toMatch(/next edges|The forecast is for|Back-test:|if the items grow|--all shows/);
  });
});

describe('options', () => {
  it.each([
    [
      ['--user', '-n', '5'],
      '--user needs a value, and -n is another option; if -n is the value, write --user=-n',
    ],
    [['--user', '--json'], '--user needs a value, and --json is another option'],
    [['--likes', 'x', '-n', '--explain'], '-n needs a value, and --explain is another option'],
  ])('%j lacks a value', async (args, says) => {
    const { status, stderr } = await graphex('recommend', model, ...args);
    expect([status, stderr]).toEqual([2, expect.stringContaining(says)]);
  });

  it('a value may look like an option if it is written with =, and a number may be negative', async () => {
    const { stderr } = await graphex('recommend', model, '--user=--json');
    expect(stderr).not.toContain('needs a value');
    const drawn = await graphex(
      'simulate',
      '--sigma-users',
      '-0.5',
      '--features',
      '2',
      '-o',
      at('drawn.csv'),
    );
    expect(drawn.status, drawn.stderr).toBe(0);
  });

  it('a number that is too large: the largest is named', async () => {
    const seed = ['check', at('four.csv'), '--seed'];
    expect((await graphex(...seed, '99999999999999999999')).stderr).toContain(
      'expected a whole number, at least 0 and at most 9,007,199,254,739,991',
    );
    expect((await graphex(...seed, '-1')).stderr).toMatch(/expected a whole number, at least 0\n/);
  });

  it('an empty text to search for is refused', async () => {
    const { status, stderr } = await graphex('search', model, ' ');
    expect([status, stderr]).toEqual([2, expect.stringContaining('the text to search for is empty')]);
  });
});

it('an empty file is replaced, as mktemp makes one; a file with text is not without --force', async () => {
  const mine = at('mine.csv');
  writeFileSync(mine, 'a note');
  const fit = ['fit', at('four.csv'), '--method', 'popularity', '-o', mine];
  const { status, stderr } = await graphex(...fit);
  expect([status, stderr]).toEqual([2, expect.stringContaining('graphex has not written it')]);
  expect(readFileSync(mine, 'utf8')).toBe('a note');
  writeFileSync(mine, '');
  expect((await graphex(...fit)).status).toBe(0);
});
