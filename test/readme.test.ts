// The README's code blocks are run, in order, in one folder: what a newcomer types is what is tested.

import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { commandShell } from './cli/shell.js';

const root = join(import.meta.dirname, '..');
const readme = readFileSync(join(root, 'README.md'), 'utf8');
const folder = mkdtempSync(join(tmpdir(), 'graphex-readme-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
// The package under its own name, as after an install.
writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
const shell = commandShell(folder);

const blocks = [...readme.matchAll(/```(sh|js)\n([\s\S]*?)```/g)].map((m) => ({ kind: m[1], text: m[2] }));
const commands = blocks
  .filter((b) => b.kind === 'sh')
  .flatMap((b) => b.text.replaceAll('\\\n', ' ').split('\n'))
  .map((line) => line.replace(/\s+#.*$/, '').trim())
  .filter((line) => line.startsWith('npx graphex '));

describe('README', () => {
  test('shows commands and a program', () => {
    expect(commands.length).toBeGreaterThan(5);
    expect(blocks.some((b) => b.kind === 'js')).toBe(true);
  });

  test.each(commands)('%s', { timeout: 180_000 }, async (line) => {
    const { stdout } = await shell.run('bash', ['-c', `${line} --quiet`]);
    expect(stdout.length).toBeGreaterThan(0);
  });

  test.each(blocks.filter((b) => b.kind === 'js'))('the program', { timeout: 180_000 }, async ({ text }) => {
    const file = join(folder, 'program.js');
    writeFileSync(file, text.replaceAll("'graphex'", `'${join(root, 'dist/index.js')}'`));
    const { stdout: output } = await shell.run(process.execPath, [file]);
    expect(output).toMatch(/sparse|dense/);
    expect(output).not.toMatch(/undefined|NaN/);
  });
});
