import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { commandPages } from '../../scripts/command-pages.js';
import { COMMANDS } from '../../src/options/commands.js';
import { flag } from '../../src/options/declare.js';
import { listOptions, offText } from '../../src/options/option-list.js';

const folder = join(import.meta.dirname, '../../docs/commands');

it('docs/commands is what `npm run docs:options` writes', async () => {
  const pages = await commandPages();
  expect(readdirSync(folder).sort()).toEqual(Object.keys(pages).sort());
  for (const [name, text] of Object.entries(pages)) {
    expect(readFileSync(join(folder, name), 'utf8'), `${name}: run npm run docs:options`).toBe(text);
  }
});

it('a flag that turns an option off is explained on the page as in the help', async () => {
  const pages = await commandPages();
  const fitPage = pages['fit.md'];
  const offs = Object.values(COMMANDS.fit)
    .flatMap((declared) => listOptions(declared))
    .filter(({ off }) => off);
  expect(offs.map(({ off }) => off)).toEqual(
    expect.arrayContaining(['--no-blend', '--no-evidence', '--no-header']),
  );
  for (const leaf of offs) {
    const row = fitPage.split('\n').find((line) => line.includes(`\`${leaf.off}\``));
    expect(row, leaf.off).toContain(offText(leaf));
    if (leaf.flag === undefined) expect(row).not.toContain(`| ${leaf.option.meaning} |`);
  }
  const [bare] = listOptions({ shout: flag({ default: true, meaning: 'say it loud' }) });
  expect(offText(bare)).toBe('do not say it loud');
});
