// Bundled pages: bundlers emit kernels and workers, and a fit converges in the built page, with and without shared memory. The
// settings are those of docs/bundling.md.

import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { BipartiteGraph, fit } from '../../src/browser.js';
import { chromium, ISOLATED } from '../browser/chromium.js';
import { esbuildRecipe, page, visitFolder } from './bundled.js';
import { installed, root } from './installed.js';

const OPTIONS = { features: 3, iterations: 20, seed: 2, threads: 2 };
const PAIRS = Array.from({ length: 400 }, (_, e) => [`u${(e * e) % 41}`, `i${(e * 7) % 29}`] as const);

const PAGE = `
  import { BipartiteGraph, fit } from 'graphex/browser';
  const answer = (body) => fetch('/answer', { method: 'POST', body: JSON.stringify(body) });
  try {
    const graph = BipartiteGraph.fromPairs(${JSON.stringify(PAIRS)});
    const { model, engine, threads } = await fit(graph, ${JSON.stringify({ ...OPTIONS, engine: 'cpu' })});
    await answer({ isolated: crossOriginIsolated, bound: model.bound, engine, threads });
  } catch (error) {
    await answer({ error: String(error.stack ?? error) });
  }
`;

interface Answer {
  readonly error?: string;
  readonly isolated: boolean;
  readonly bound: number;
  readonly engine: string;
  readonly threads: number;
}

const BUNDLERS = {
  vite: {
    files: { 'index.html': page('./page.js'), 'page.js': PAGE },
    command: [join(root, 'node_modules/vite/bin/vite.js'), 'build', '--logLevel', 'warn'],
  },
  esbuild: {
    files: { 'dist/index.html': page('./page.js'), 'page.js': PAGE, 'esbuild.js': esbuildRecipe },
    command: ['esbuild.js'],
  },
};

describe.each(Object.entries(BUNDLERS))('a page built by %s', (_, { files, command }) => {
  const folder = installed(files, ['esbuild']);
  const out = join(folder, 'dist');
  execFileSync(process.execPath, command, { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] });
  const emitted = readdirSync(out, { recursive: true, encoding: 'utf8' });

  test('emits both kernels and the workers of a fit, and inlines none of them', () => {
    for (const name of ['kernels', 'kernels-relaxed'])
      expect(
        emitted.filter((file) => new RegExp(`(^|/)${name}(-[\\w-]{8})?\\.wasm$`).test(file)),
      ).toHaveLength(1);
    for (const name of ['half-steps', 'topn-tasks', 'chain-tasks'])
      expect(
        emitted.some((file) => new RegExp(`(^|/)${name}(-[\\w-]{8})?\\.js$`).test(file)),
        name,
      ).toBe(true);
    for (const file of emitted.filter((name) => name.endsWith('.js')))
      expect(readFileSync(join(out, file), 'utf8')).not.toMatch(/data:(text\/javascript|application\/wasm)/);
  });

  test('stays small: half a megabyte of script', () => {
    const scripts = emitted
      .filter((name) => name.endsWith('.js'))
      .map((name) => statSync(join(out, name)).size);
    expect(scripts.reduce((sum, size) => sum + size, 0)).toBeLessThan(500_000);
  });

  test.skipIf(!chromium).each([
    ['with shared memory', ISOLATED, 2],
    ['without', {}, 1],
  ])('fits in the browser %s', async (_, headers, threads) => {
    const answer = await visitFolder<Answer>(out, headers);
    expect(answer.error).toBeUndefined();
    expect(answer).toMatchObject({ isolated: threads > 1, threads });
    const here = await fit(BipartiteGraph.fromPairs(PAIRS), { ...OPTIONS, engine: 'cpu' });
    expect(Math.abs(answer.bound / here.model.bound! - 1)).toBeLessThan(1e-9);
  });
});

test.runIf(!chromium)('no Chromium to open the pages in: install chromium', () => {});
