// The reference of the API: every export has its words, the pages say what the sources say, and the examples run.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { apiPages, apiReport, documentation, examples, publicNames } from '../scripts/api-pages.js';

const root = join(import.meta.dirname, '..');
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

  test('docs/api is what `npm run docs:api` writes', () => {
    const pages = apiPages();
    const files = { ...pages, 'api-report.txt': apiReport() };
    expect(readdirSync(join(root, 'docs/api')).sort()).toEqual(Object.keys(files).sort());
    for (const [name, text] of Object.entries(files))
      expect(readFileSync(join(root, 'docs/api', name), 'utf8') === text, `docs/api/${name}`).toBe(true);
  });

  const programs = names.flatMap((entry) => examples(entry).map((text) => [entry.name, text] as const));
  test('has examples', () => {
    expect(programs.length).toBeGreaterThan(4);
  });
  test.each(programs)('the example of %s runs', (name, text) => {
    const file = join(folder, `${name}.js`);
    writeFileSync(
      file,
      text
        .replaceAll("'graphex'", `'${join(root, 'dist/index.js')}'`)
        .replaceAll("'graphex/report'", `'${join(root, 'dist/report-node.js')}'`),
    );
    const output = execFileSync(process.execPath, [file], {
      cwd: folder,
      encoding: 'utf8',
      timeout: 100_000,
    });
    expect(output.length).toBeGreaterThan(0);
  });
});
