// The page on a table of a million rows: how long to a verdict, how long a fit takes beside the command line's, and the
// longest time that the interface was busy.   node scripts/run-ts.js bench/page.ts [ROWS]

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { host, openBrowser } from '../test/page/visitor.js';

const rows = Number(process.argv[2] ?? 1e6);
const folder = mkdtempSync(join(tmpdir(), 'graphex-page-'));
const file = join(folder, 'rows.csv');
let state = 1;
const uniform = () => {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return state / 2 ** 32;
};
const lines = ['user,item'];
for (let row = 0; row < rows; row++) {
  lines.push(`u${Math.floor(60_000 * uniform() ** 2)},i${Math.floor(20_000 * uniform() ** 3)}`);
}
writeFileSync(file, `${lines.join('\n')}\n`);

const browser = await openBrowser();
try {
  for (const isolated of [true, false]) {
    const site = await host({ isolated });
    const context = await browser.newContext({ serviceWorkers: 'block' });
    const page = await context.newPage();
    await page.addInitScript(() => {
      const seen = { longest: 0 };
      Object.assign(window, { seen });
      new PerformanceObserver((list) => {
        for (const { duration } of list.getEntries()) seen.longest = Math.max(seen.longest, duration);
      }).observe({ entryTypes: ['longtask'] });
    });
    await page.goto(`${site.address}#start?iterations=20&engine=cpu&holdOut=false`);
    await page.setInputFiles('input[type=file]', file);
    const begin = page.locator('main').getByRole('button', { name: 'Is it sparse?', exact: true });
    await begin.waitFor();
    const began = performance.now();
    await begin.click();
    await page.locator('.card strong').first().waitFor({ timeout: 120_000 });
    const verdict = (performance.now() - began) / 1000;
    await page.locator('.working').waitFor({ state: 'detached', timeout: 120_000 });
    await page.getByRole('button', { name: 'Split and fit' }).click();
    const fitting = performance.now();
    await page.locator('main').getByRole('button', { name: 'Fit', exact: true }).click();
    await page.getByRole('heading', { name: /settled/ }).waitFor({ timeout: 240_000 });
    const fit = (performance.now() - fitting) / 1000;
    const longest = await page.evaluate(
      () => (window as unknown as { seen: { longest: number } }).seen.longest,
    );
    const threads = isolated ? cpus().length : 1;
    console.log(
      `beside the guesses in src/page/estimate.ts: ${Math.round(rows / verdict)} rows a second, ${((rows * 30 * 20) / fit / threads / 1e6).toFixed(0)} million edges × features × sweeps a second and thread`,
    );
    console.log(
      `${isolated ? 'threads' : 'one thread'}: verdict ${verdict.toFixed(2)} s, fit ${fit.toFixed(2)} s, longest task ${longest.toFixed(0)} ms`,
    );
    await context.close();
    await site.close();
  }
  const options = ['--iterations', '20', '--engine', 'cpu', '--no-evidence', '--json', '--quiet'];
  const answer = execFileSync(
    process.execPath,
    ['bin/graphex.js', 'fit', file, ...options, '-o', join(folder, 'm.safetensors')],
    { encoding: 'utf8' },
  );
  console.log(`command line: fit ${JSON.parse(answer).seconds.toFixed(2)} s`);
} finally {
  await browser.close();
  rmSync(folder, { recursive: true });
}
