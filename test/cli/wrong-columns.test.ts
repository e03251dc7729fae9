// A column or a table that holds something else than it is taken for is named in a warning.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { randomStream } from '../../src/math/random.js';
import { graphex, scratch } from './run.js';

const folder = scratch();
const at = (name: string) => join(folder, name);
const random = randomStream(7);
const pairs = new Set(
  Array.from({ length: 900 }, () => {
    const user = Math.floor(50 * random.uniform() ** 1.3);
    return `c${user},p${Math.floor(40 * random.uniform() ** 2)}`;
  }),
);
const rows = [...pairs].map((pair, row) => `${pair},${1 + (row % 24)},${1.6e9 + row * 1000}`);
writeFileSync(at('data.csv'), `customer,product,quantity,at\n${rows.join('\n')}\n`);
const folded = (text: string) => text.replaceAll(/\s+/g, ' ');

it('small numbers read as times: split, fit and forecast', async () => {
  const warning =
    'all times of column quantity lie within 10 days of 1970-01-01, because its numbers are read as seconds since 1970: if they are not times, name another column with --time';
  const of = (column: string) => ['--time', column];
  const split = ['split', at('data.csv'), '--method', 'time', '-o', at('split')];
  expect(folded((await graphex(...split, ...of('quantity'))).stderr)).toContain(warning);
  expect((await graphex(...split, ...of('at'))).stderr).not.toContain('1970');
  const ranker = ['fit', at('data.csv'), '--method', 'ranking', '-k', '2', '--iterations', '2'];
  const fit = [...ranker, '--half-life', '10d', '-o', at('m.model'), ...of('quantity')];
  expect(folded((await graphex(...fit)).stderr)).toContain(warning);
  const forecast = ['forecast', at('data.csv'), '--draws', '0', '--next', '1d', ...of('quantity')];
  expect(folded((await graphex(...forecast)).stderr)).toContain(warning);
});

it('a table whose items have several titles', async () => {
  const model = at('knn.model');
  const fitted = await graphex('fit', at('data.csv'), '--method', 'popularity', '-o', model, '--quiet');
  expect(fitted.status, fitted.stderr).toBe(0);
  const recommend = ['recommend', model, '--likes', 'p1', '-n', '3'];
  const wrong = await graphex(...recommend, '--titles', at('data.csv'));
  expect(wrong.stderr).toMatch(
    /\d+ of \d+ products have several different titles in column customer, and the first is used; check that this is a table of titles, with the ids in column product/,
  );
  const titles = Array.from({ length: 40 }, (_, item) => `p${item},Product ${item}`);
  writeFileSync(at('titles.csv'), `product,title\n${titles.join('\n')}\n${titles.join('\n')}\n`);
  expect((await graphex(...recommend, '--titles', at('titles.csv'))).stderr).not.toContain('several');
});
