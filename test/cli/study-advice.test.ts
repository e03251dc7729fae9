import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { randomStream } from '../../src/math/random.js';
import type { NextStep } from '../../src/report/words/study.js';
import { scratch } from './run.js';
import { commandShell } from './shell.js';

const folder = scratch();
const { run, env } = commandShell(folder);

/** Two tastes, with ids that a shell would split. */
function writeRatings(path: string): void {
  const random = randomStream(5);
  const lines = ["who's it;thing"];
  for (let u = 0; u < 400; u++) {
    for (let e = 0; e < 3 + (u % 7); e++) {
      const item = (u % 2) * 30 + Math.floor(30 * random.uniform() ** 2);
      lines.push(`${u === 6 ? '-$(touch owned) "x"' : `u ${u}`};i${item}`);
    }
  }
  writeFileSync(path, lines.join('\n'));
}

describe('what a study advises', () => {
  it('can be run as printed: the method that ranks best is fitted, used and served', async () => {
    writeRatings(join(folder, "my data's.csv"));
    const shell = (line: string) => run('sh', ['-c', line]);
    const quick = '-k 3 --draws 0 --iterations 20 --trials 2 --baselines popularity,knn --no-ranker --quiet';
    const { stdout } = await shell(
      `npx graphex study "my data's.csv" --sep ';' --model sparse ${quick} -o out`,
    );
    const { verdicts, example } = JSON.parse(readFileSync(join(folder, 'out/results.json'), 'utf8'));
    const steps: NextStep[] = verdicts.next;
    const first = steps.findIndex(({ text }) => text.startsWith('To recommend'));
    const [fit, ask, serve] = steps.slice(first, first + 3).map(({ command }) => command!);
    for (const line of [fit, ask, serve]) expect(stdout).toContain(line);
    // On these data, a model that was fitted to explain does not win.
    expect(verdicts.ranking.winner).toMatch(/baseline|tie/);
    expect(fit).toContain(` --method ${verdicts.ranking.rival} `);
    const file = /-o (\S+\.safetensors)$/.exec(fit)![1];
    await shell(fit);
    expect(existsSync(join(folder, file))).toBe(true);
    expect((await shell(ask)).stdout).toMatch(/1\.\s+i\d+/);
    expect(example.user).toMatch(/^u \d+$|touch owned/);
    // The same for the user whose id needs quotes.
    await shell(ask.replace(/--user '[^']*'/, `--user='-$(touch owned) "x"'`));
    expect(existsSync(join(folder, 'owned'))).toBe(false);
    const server = spawn('sh', ['-c', `exec ${serve} --port 0`], { cwd: folder, env: await env() });
    try {
      const said = await new Promise<string>((resolve, reject) => {
        server.stdout.setEncoding('utf8').on('data', resolve);
        server.on('close', () => reject(new Error('the server ended')));
      });
      expect(said).toMatch(/http:\/\/127\.0\.0\.1:\d+/);
    } finally {
      server.kill('SIGTERM');
      await new Promise((resolve) => server.once('close', resolve));
    }
  }, 120_000);
});
