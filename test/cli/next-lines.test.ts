// The last line of an answer is a command that can be copied: it reads the same data in the same way.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { randomStream } from '../../src/math/random.js';
import { graphex, scratch } from './run.js';

const folder = scratch();
const at = (name: string) => join(folder, name);
const random = randomStream(5);
const pairs = new Set(
  Array.from({ length: 1200 }, () => {
    const user = Math.floor(60 * random.uniform() ** 1.5);
    return `u${user};b${Math.floor(80 * random.uniform() ** 2)}`;
  }),
);
const rows = [...pairs].map((pair, at) => `${pair};${Math.floor(10 * random.uniform())};${1.6e9 + at}`);
const table = (name: string, part: readonly string[]) =>
  writeFileSync(at(name), `person;book;stars;at\n${part.join('\n')}\n`);
table('data.csv', rows);
table('train.csv', rows.slice(0, 500));
table('test.csv', rows.slice(500));
const reading = ['--users', '2', '--items', '1', '--where', 'stars >= 7', '--sep', ';', '--multi'];
const said = "--users 2 --items 1 --where 'stars >= 7' --sep ';' --multi --names books,people";

const nextOf = (stdout: string) => stdout.match(/^Next: (.*)$/m)?.[1];

it('names the options that decide which data are read', async () => {
  const named = [...reading, '--names', 'books,people'];
  const checked = await graphex('check', at('data.csv'), ...named, '--quiet');
  const fit = `npx graphex fit ${at('data.csv')} ${said} -o model.safetensors`;
  expect(nextOf(checked.stdout), checked.stderr).toBe(fit);
  const out = at('forecast');
  const forecast = await graphex('forecast', at('data.csv'), ...named, '--draws', '0', '-o', out, '--quiet');
  expect(nextOf(forecast.stdout), forecast.stderr).toBe(fit);
});

it('names them for both tables of a split', async () => {
  const tables = ['--train', at('train.csv'), '--test', at('test.csv')];
  const reader = ['--where', 'stars >= 3', '--sep', ';'];
  const { stdout } = await graphex(
    ...['audit', ...tables, ...reader, '--time', 'at', '--no-control', '-o', at('audit')],
  );
  expect(nextOf(stdout), stdout).toBe(
    `npx graphex evaluate ${tables.join(' ')} --where 'stars >= 3' --sep ';'`,
  );
});

it('writes a path as a shell takes it', async () => {
  table("my data's.csv", rows);
  const { stdout } = await graphex('check', at("my data's.csv"), '--sep', ';', '--quiet');
  expect(nextOf(stdout)).toContain(`fit '${at("my data'\\''s.csv")}' --sep ';' -o`);
});
