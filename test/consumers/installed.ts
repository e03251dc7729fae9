// A project that has installed the package: what `npm pack` packs, and only the packages that it depends on.

import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll } from 'vitest';

export const root = join(import.meta.dirname, '../..');

const { dependencies, files } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

/** The paths of what `npm pack` packs, without npm, which takes seconds; install.test.ts compares them with npm's. */
export function packed(): string[] {
  const all = (path: string): string[] =>
    statSync(join(root, path)).isFile()
      ? [path]
      : readdirSync(join(root, path)).flatMap((name) => all(`${path}/${name}`));
  return ['package.json', ...files.flatMap(all)];
}

/** A folder that is removed at the end of the test file. */
function temporary(): string {
  const folder = mkdtempSync(join(tmpdir(), 'graphex-consumer-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

/** The `node_modules` of projects by their additional packages, copied once for each test file. */
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
