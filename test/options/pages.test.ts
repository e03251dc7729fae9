import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { commandPages } from '../../src/cli/pages.js';

const folder = join(import.meta.dirname, '../../docs/commands');

it('docs/commands is what `npm run docs:options` writes', async () => {
  const pages = await commandPages();
  expect(readdirSync(folder).sort()).toEqual(Object.keys(pages).sort());
  for (const [name, text] of Object.entries(pages)) {
    expect(readFileSync(join(folder, name), 'utf8'), `${name}: run npm run docs:options`).toBe(text);
  }
});
