// The fuzz of bench/fuzz.ts over readers, models, splits, receipts, command lines and library options together, for about
// four seconds; GRAPHEX_FUZZ_SECONDS says how long. `npm run fuzz -- --minutes 60` is the same for an hour.

import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const SECONDS = Number(process.env.GRAPHEX_FUZZ_SECONDS ?? 4);

it(
  'whatever it is given, graphex ends well or refuses in words, soon, in little memory, and touches nothing else',
  async () => {
    const root = join(import.meta.dirname, '../..');
    const args = [
      'scripts/run-ts.js',
      'bench/fuzz.ts',
      '--minutes',
      String(SECONDS / 60),
      '--inputs',
      '4',
      '--seed',
      '5',
    ];
    const child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] });
    let said = '';
    child.stdout.on('data', (text) => (said += text));
    const status = await new Promise((resolve) => child.on('close', resolve));
    expect(said).toMatch(/^csv: \d+, \d+, \d+/m);
    expect(status, said).toBe(0);
  },
  1000 * (SECONDS + 240),
);
