// The API reference: every export has a description, the pages match the sources, and the examples run.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { apiPages, apiReport, documentation, examples, publicNames } from '../scripts/api-pages.js';

const root = join(import.meta.dirname, '..');
const library = (await import(join(root, 'dist/index.js'))) as Readonly<Record<string, unknown>>;
const names = publicNames();
const folder = mkdtempSync(join(tmpdir(), 'graphex-api-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));

describe('the API', () => {
  test('says of each export in a few lines what it is', () => {
    expect(names.length).toBeGreaterThan(200);
    expect(names.filter((entry) => documentation(entry) === '').map(({ name }) => name)).toEqual([]);
    const long = names.filter((entry) => documentation(entry).length > 600);
    expect(long.map(({ name }) => name)).toEqual([]);
  });

  test('says of each field of an options object what it is', () => {
    const pages = Object.entries(apiPages()).filter(([, text]) => text.includes('/**  */'));
    expect(pages.map(([name]) => name)).toEqual([]);
  });

  test('docs/api is what `npm run docs:api` writes', () => {
    const pages = apiPages();
    const files = { ...pages, 'api-report.txt': apiReport() };
    expect(readdirSync(join(root, 'docs/api')).sort()).toEqual(Object.keys(files).sort());
    for (const [name, text] of Object.entries(files))
      expect(readFileSync(join(root, 'docs/api', name), 'utf8') === text, `docs/api/${name}`).toBe(true);
  });

  const programs = names.flatMap((entry) => examples(entry).map((text) => [entry.name, text] as const));

  test('has an example for each function of graphex', () => {
    const functions = names.filter(({ name }) => /^[a-z]/.test(name) && typeof library[name] === 'function');
    expect(functions.length).toBeGreaterThan(40);
    const shown = new Set(programs.map(([name]) => name));
    expect(functions.map(({ name }) => name).filter((name) => !shown.has(name))).toEqual([]);
  });

  // One process runs all examples: starting one takes longer than most examples.
  const output = () => {
    for (const [at, [name, text]] of programs.entries())
      writeFileSync(
        join(folder, `${at}-${name}.mjs`),
        text
          .replaceAll("'graphex'", `'${join(root, 'dist/index.js')}'`)
          .replaceAll("'graphex/report'", `'${join(root, 'dist/report-node.js')}'`),
      );
    const files = programs.map(([name], at) => `./${at}-${name}.mjs`);
    writeFileSync(
      join(folder, 'all.mjs'),
      `import { format } from 'node:util';
const said = {};
for (const file of ${JSON.stringify(files)}) {
  said[file] = '';
  console.log = (...values) => { said[file] += format(...values) + '\\n'; };
  await import(file).catch((error) => { said[file] += 'FAILED ' + error.stack; });
}
process.stdout.write(JSON.stringify(said), () => process.exit());`,
    );
    const text = execFileSync(process.execPath, ['all.mjs'], {
      cwd: folder,
      encoding: 'utf8',
      timeout: 300_000,
    });
    return Object.entries(JSON.parse(text) as Record<string, string>);
  };

  test('its examples run and print what they promise', { timeout: 300_000 }, () => {
    const wrong = output().filter(([, said]) => said === '' || /undefined|NaN|FAILED/.test(said));
    expect(wrong).toEqual([]);
  });
});
