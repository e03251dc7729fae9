// The page on a table of a million rows: the time to a verdict, the time of a fit compared with the command line, and the longest
// task that blocked the interface. Also a frame of the map with 100,000 points, by WebGL on the CPU and by plain drawing.
//   node scripts/run-ts.js bench/page.ts [ROWS]

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import type { Page } from 'playwright-core';
import { watchTasks } from '../test/page/tasks.js';
import { button, host, idle, nav, openBrowser } from '../test/page/visitor.js';

const POINTS = 100_000;
const FRAMES = 30;

/** Milliseconds of a frame while the map is zoomed: in our own code, and until all pixels are drawn. */
async function frameOfMap(
  page: Page,
  kind: 'webgl2' | '2d',
): Promise<{ readonly paint: number; readonly wait: number }> {
  const { outputFiles } = await build({
    stdin: {
      contents: `import { pointPainter } from './points.ts'; import { zoomAt, WHOLE } from './view.ts';
        Object.assign(window, { pointPainter, zoomAt, WHOLE });`,
      resolveDir: 'src/page/map',
    },
    bundle: true,
    format: 'iife',
    write: false,
  });
  await page.goto('about:blank');
  await page.evaluate(outputFiles[0].text);
  return page.evaluate(
    ([points, frames, wanted]) => {
      const { pointPainter, zoomAt, WHOLE } =
        window as unknown as typeof import('../src/page/map/points.js') &
          typeof import('../src/page/map/view.js');
      const size = { width: 900, height: 680 };
      const canvas = new OffscreenCanvas(size.width, size.height);
      // A canvas with a 2D context has no WebGL.
      if (wanted === '2d') canvas.getContext('2d');
      const place = () =>
        Float32Array.from({ length: points }, () => (Math.random() + Math.random() - 1) * 0.9);
      const paint = pointPainter(canvas, {
        x: place(),
        y: place(),
        colour: Uint8Array.from({ length: 3 * points }, () => 255 * Math.random()),
        radius: new Float32Array(points).fill(2),
      });
      const gl = wanted === '2d' ? undefined : canvas.getContext('webgl2')!;
      let view = WHOLE;
      let ours = 0;
      const frame = () => {
        view = zoomAt(view, size, 450, 340, 1.05);
        const began = performance.now();
        paint(view, size, 1, undefined, points);
        ours += performance.now() - began;
        if (gl) gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4));
        else canvas.getContext('2d')!.getImageData(0, 0, 1, 1);
      };
      frame();
      ours = 0;
      const began = performance.now();
      for (let f = 0; f < frames; f++) frame();
      const ownTime = ours / frames;
      return { paint: ownTime, wait: (performance.now() - began) / frames - ownTime };
    },
    [POINTS, FRAMES, kind] as const,
  );
}

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

const browser = await openBrowser('--use-angle=swiftshader', '--enable-unsafe-swiftshader');
try {
  const map = await browser.newPage();
  for (const kind of ['webgl2', '2d'] as const) {
    const { paint, wait } = await frameOfMap(map, kind);
    console.log(
      `map of ${POINTS} points, ${kind === '2d' ? 'plain drawing' : 'WebGL by the CPU'}: ${(paint + wait).toFixed(0)} ms a frame, of which ${paint.toFixed(2)} ms are ours and the rest the drawing of pixels`,
    );
  }
  await map.close();
  for (const isolated of [true, false]) {
    const site = await host({ isolated });
    const context = await browser.newContext({ serviceWorkers: 'block' });
    const page = await context.newPage();
    const watched = await watchTasks(browser, page);
    await page.goto(`${site.address}#start?iterations=20&engine=cpu&holdOut=false`);
    await page.setInputFiles('input[type=file]', file);
    const begin = button(page, 'Is it sparse?');
    await begin.waitFor();
    const began = performance.now();
    await begin.click();
    await page.getByRole('heading', { name: /^Is .* sparse\?$/ }).waitFor({ timeout: 120_000 });
    const read = (performance.now() - began) / 1000;
    await page.locator('.card strong').first().waitFor({ timeout: 120_000 });
    const verdict = (performance.now() - began) / 1000;
    await idle(page);
    await button(page, 'Fit a model').click();
    const fitting = performance.now();
    await button(page, 'Fit to understand').click();
    await page.getByRole('heading', { name: /converged/ }).waitFor({ timeout: 240_000 });
    const fit = (performance.now() - fitting) / 1000;
    await nav(page, 'Explore').click();
    await page.locator('.map canvas').first().waitFor({ timeout: 240_000 });
    await idle(page);
    await page.locator('.map .frame').hover();
    for (let turn = 0; turn < 10; turn++) await page.mouse.wheel(0, -60);
    await page.getByLabel('Search the').fill('12');
    await page.locator('tbody button').nth(3).click();
    await page.locator('.chosen li').first().waitFor();
    const tasks = await watched();
    const threads = isolated ? cpus().length : 1;
    console.log(
      `compare with the guesses in src/page/estimate.ts: ${Math.round(rows / verdict)} rows a second, ${((rows * 30 * 20) / fit / threads / 1e6).toFixed(0)} million edges × features × sweeps a second and thread`,
    );
    const longest = tasks.reduce((most, { lasted }) => Math.max(most, lasted), 0);
    console.log(
      `${isolated ? 'threads' : 'one thread'}: verdict ${verdict.toFixed(2)} s (of it reading ${read.toFixed(2)} s), fit ${fit.toFixed(2)} s; the page's busiest task ${tasks[0].busy.toFixed(0)} ms of the processor (${tasks[0].pieces.join(', ')}), the longest ${longest.toFixed(0)} ms on the clock`,
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
