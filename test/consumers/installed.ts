// A project that has installed the package: what `npm pack` packs, and only the packages that it depends on.

import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll } from 'vitest';

export const root = join(import.meta.dirname, '../..');

/** The paths of what `npm pack` packs; npm is asked once for all projects of a test file. */
const packed = (() => {
  let paths: readonly string[] | undefined;
  return () => {
    if (paths) return paths;
    const listing = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
      cwd: root,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const [{ files }]: [{ files: { path: string }[] }] = JSON.parse(listing);
    paths = files.map(({ path }) => path);
    return paths;
  };
})();

/** A folder that is removed at the end of the test file. */
function temporary(): string {
  const folder = mkdtempSync(join(tmpdir(), 'graphex-consumer-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

/** The `node_modules` of projects, by the packages that they have besides: copied once for a test file. */
const copies = new Map<string, string>();

function modulesWith(beside: readonly string[]): string {
  const copied = copies.get(beside.join());
  if (copied !== undefined) return copied;
  const modules = join(temporary(), 'node_modules');
  for (const path of packed()) {
    const target = join(modules, 'graphex', path);
    mkdirSync(dirname(target), { recursive: true });
    cpSync(join(root, path), target);
  }
  const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  for (const name of [...Object.keys(dependencies), ...beside]) {
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(join(root, 'node_modules', name), join(modules, name));
  }
  copies.set(beside.join(), modules);
  return modules;
}

/** Makes the project in a folder of its own, removed at the end of the test file. */
export function installed(files: Readonly<Record<string, string>>, beside: readonly string[] = []): string {
  const folder = temporary();
  symlinkSync(modulesWith(beside), join(folder, 'node_modules'), 'dir');
  const all = { 'package.json': '{ "type": "module", "private": true }', ...files };
  for (const [name, text] of Object.entries(all)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}
