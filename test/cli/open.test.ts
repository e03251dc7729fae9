import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { openFile } from '../../src/cli/open.js';
import { scratch } from './run.js';

const folder = scratch();
const path = process.env.PATH;
afterEach(() => {
  process.env.PATH = path;
});

/** Puts a program of this name first on the path. It records its arguments and ends. */
function program(name: string, status: number): string {
  const home = join(folder, `${name}-${status}`);
  mkdirSync(home, { recursive: true });
  const noted = join(home, 'arguments');
  writeFileSync(join(home, name), `#!/bin/sh\nprintf '%s\\n' "$#" "$@" > '${noted}'\nexit ${status}\n`);
  chmodSync(join(home, name), 0o755);
  process.env.PATH = `${home}:${path}`;
  return noted;
}

describe.skipIf(process.platform === 'win32')('--open', () => {
  it.each([
    ['linux', 'xdg-open'],
    ['darwin', 'open'],
    ['freebsd', 'xdg-open'],
  ] as const)('on %s hands the path to %s as one argument, whatever it holds', async (platform, name) => {
    const noted = program(name, 0);
    const report = join(folder, '-a $(touch owned); "report".html');
    expect(await openFile(report, platform)).toBeUndefined();
    expect(readFileSync(noted, 'utf8')).toBe(`1\n${report}\n`);
  });

  it('says in a sentence that nothing opened it', async () => {
    program('xdg-open', 3);
    expect(await openFile('out/report.html', 'linux')).toBe(
      'the report is not opened: xdg-open found no program for it; open out/report.html yourself',
    );
    process.env.PATH = join(folder, 'nowhere');
    expect(await openFile('out/report.html', 'linux')).toBe(
      'the report is not opened: xdg-open is not installed; open out/report.html yourself',
    );
  });
});
