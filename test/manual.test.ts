// The tests run the blocks of the manual unchanged, in the order of their page, in one folder for each page.

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { commandShell } from './cli/shell.js';

const root = join(import.meta.dirname, '..');

const python = (() => {
  try {
    execFileSync('python3', ['-c', 'import numpy'], { stdio: 'ignore' });
    return true;
  } catch {
    process.stderr.write('python3 with numpy is not here: the Python blocks of the manual are left out\n');
    return false;
  }
})();

describe.each(['docs/tour.md', 'docs/cookbook.md', 'docs/formats.md'])('%s', (page) => {
  const text = readFileSync(join(root, page), 'utf8');
  const blocks = [...text.matchAll(/```(\w*)\n([\s\S]*?)```/g)].map(([, kind, code]) => ({
    kind,
    code,
    line: code.split('\n')[0].slice(0, 60),
  }));
  const folder = mkdtempSync(join(tmpdir(), 'graphex-manual-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  // The package as after an install: its command on the path, its name for programs.
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(root, join(folder, 'node_modules/graphex'));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  const shell = commandShell(folder);
  const run = async (program: string, args: readonly string[]) => (await shell.run(program, args)).stdout;

  it('has only blocks that the tests run', () => {
    expect(blocks.length).toBeGreaterThan(1);
    expect(blocks.map(({ kind }) => kind).filter((kind) => !['sh', 'js', 'python'].includes(kind))).toEqual(
      [],
    );
  });

  for (const { kind, code, line } of blocks) {
    it.runIf(kind !== 'python' || python)(`${kind}: ${line}`, { timeout: 120_000 }, async () => {
      switch (kind) {
        case 'sh':
          await run('bash', ['-euo', 'pipefail', '-c', code]);
          return;
        case 'js': {
          writeFileSync(join(folder, 'program.js'), code);
          const printed = await run(process.execPath, ['program.js']);
          expect(printed).not.toBe('');
          // A field that is not there prints undefined: the block would show what the library does not have.
          expect(printed).not.toMatch(/\b(undefined|NaN)\b/);
          return;
        }
        case 'python':
          expect((await run('python3', ['-c', code])).length).toBeGreaterThan(0);
      }
    });
  }
});
