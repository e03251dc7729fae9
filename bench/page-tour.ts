// A walk through the built page in Chromium, with a picture of every step.
//   node scripts/run-ts.js bench/page-tour.ts FOLDER [WIDTH,…]   whole pages, light and dark, to look at
//   node scripts/run-ts.js bench/page-tour.ts docs/figures       the pictures of the manual, small

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fit, saveModel, serve, simulate } from '../src/index.js';
import { button, complaints, host, idle, nav, openBrowser } from '../test/page/visitor.js';

const [folder = 'shots', widths = '390,1100,1800'] = process.argv.slice(2);
const forManual = folder.endsWith('docs/figures');
mkdirSync(folder, { recursive: true });
const site = await host();
const browser = await openBrowser('--use-angle=swiftshader', '--enable-unsafe-swiftshader');
const page = await browser.newPage({ reducedMotion: 'reduce' });
const screen = await page.context().newCDPSession(page);
const heard = complaints(page);

/** The part of a step that a screen shows, compressed by the browser. */
async function small(name: string): Promise<void> {
  await page.evaluate(() => window.scrollTo(0, 0));
  const { data } = await screen.send('Page.captureScreenshot', { format: 'webp', quality: 72 });
  writeFileSync(join(folder, `page-${name}.webp`), Buffer.from(data, 'base64'));
}

async function shot(step: number, name: string): Promise<void> {
  if (forManual) {
    await page.waitForTimeout(2500);
    return small(name);
  }
  for (const width of widths.split(',').map(Number)) {
    await page.setViewportSize({ width, height: width < 500 ? 844 : 1000 });
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      // A worker draws the map, and draws it again if the colours change.
      await page.waitForTimeout((await page.locator('.map canvas').count()) > 0 ? 2500 : 600);
      const path = join(folder, `${step}-${name}-${width}-${colorScheme}.png`);
      await page.screenshot({ path, fullPage: true });
    }
  }
  return undefined;
}

const SIDE = { sigma: 0.3, tau: 1, shape: 0.3, rate: 0.3, size: 60 };
const ROWS = Array.from({ length: 400 }, (_, e) =>
  [`u${(e * e) % 97}`, 1 + (e % 5), `"Film no. ${(e * 7) % 83}"`, 1.6e9 + e * 1000].join(','),
);
const CSV = `user_id,rating,movie,timestamp\n${ROWS.join('\n')}\n`;

/** A device that gives a tab less memory than the table needs. */
async function tooLarge(): Promise<void> {
  await page.addInitScript(() => Object.defineProperty(navigator, 'deviceMemory', { value: 2e-5 }));
  await page.goto(site.address);
  await page.reload();
  await page.setInputFiles('input[type=file]', {
    ...{ name: 'ratings.csv', mimeType: 'text/csv', buffer: Buffer.from(CSV) },
  });
  await page.getByRole('heading', { name: 'This table is probably too large' }).waitFor();
  await shot(10, 'too-large');
}

/** The model of a server, and one for which it asks a key. */
async function served(): Promise<void> {
  const models = mkdtempSync(join(tmpdir(), 'graphex-tour-'));
  const path = join(models, 'm.safetensors');
  const { graph } = await simulate({ ...{ users: SIDE, items: SIDE }, features: 6, seed: 1 });
  await saveModel(path, (await fit(graph, { features: 6, iterations: 40, seed: 1 })).model);
  writeFileSync(join(models, 'keys'), 'someone 0123456789abcdef0123\n');
  const open = await serve(path, { port: 0, threads: 1 });
  const locked = await serve(path, { port: 0, threads: 1, keyFile: join(models, 'keys') });
  await page.goto(locked.url);
  await page.getByLabel('Key').fill('0123456789');
  await page.keyboard.press('Enter');
  await page.getByRole('alert').waitFor();
  await shot(11, 'locked');
  await page.goto(open.url);
  await page.getByText('This server has a model').waitFor();
  await shot(12, 'served-start');
  await button(page, 'Explore it').click();
  await page.locator('tbody button').nth(1).click();
  await page.locator('.chosen li').first().waitFor();
  await shot(13, 'served-explore');
  await button(page, 'Recommend for somebody who has it').click();
  await page.locator('.list button').first().click();
  await page.locator('.stability').filter({ hasText: 'not how good' }).waitFor();
  await shot(14, 'served-recommend');
  await Promise.all([open.close(), locked.close()]);
  rmSync(models, { recursive: true });
}

await page.setViewportSize({ width: 980, height: 760 });
await page.goto(site.address);
await shot(1, 'start');
await page.goto('about:blank');
await page.goto(`${site.address}#start?features=12&draws=60`);
await page.setInputFiles('input[type=file]', {
  name: 'ratings.csv',
  mimeType: 'text/csv',
  buffer: Buffer.from(CSV),
});
await page.getByRole('heading', { name: 'Which column is what?' }).waitFor();
await shot(2, 'columns');
await nav(page, 'Data').click();
await page.getByText('State of the Union').click();
await page.locator('.card strong').first().waitFor({ timeout: 60_000 });
await idle(page);
await shot(3, 'verdict');
await button(page, 'Fit a model').click();
if (!forManual) await shot(4, 'fit-before');
await button(page, 'Fit to understand').click();
await page.locator('figure img').first().waitFor({ timeout: 60_000 });
if (!forManual) await page.screenshot({ path: join(folder, '4-fit-under-way.png') });
await page.getByRole('heading', { name: /converged/ }).waitFor({ timeout: 120_000 });
await shot(4, 'fit');
await button(page, 'Does it predict?').click();
await page.getByRole('heading', { name: 'How good are the lists?' }).waitFor({ timeout: 120_000 });
await idle(page);
await shot(5, 'predict');
await nav(page, 'Explore').click();
await page.locator('.map canvas').first().waitFor({ timeout: 120_000 });
await idle(page);
await page.locator('tbody button').nth(3).click();
await page.locator('.chosen li').first().waitFor();
await shot(6, 'explore');
await nav(page, 'Recommend').click();
await button(page, 'Somebody new').click();
if (!forManual) await shot(7, 'recommend-empty');
for (const word of ['soviet', 'missil']) {
  await page.getByLabel('Find words').fill(word);
  await page.locator('.chips button:not(.on)').filter({ hasText: word }).first().click();
}
await page.locator('.list button').first().click();
await page.locator('.stability').filter({ hasText: 'not how good' }).waitFor();
await shot(7, 'recommend');
await nav(page, 'Save').click();
await shot(8, 'report');
if (!forManual) {
  await nav(page, 'Recommend').click();
  await button(page, 'A speech').click();
  await page.locator('.chips button').first().click();
  await page.locator('.stability').filter({ hasText: 'not how good' }).waitFor();
  await shot(7, 'recommend-user');
  await nav(page, 'Growth').click();
  await button(page, 'Forecast').click();
  await page.locator('figure img').nth(1).waitFor({ timeout: 60_000 });
  await shot(8, 'growth');
  await nav(page, 'Is a split fair?').click();
  for (const part of [0, 1]) {
    const rows = ROWS.filter((_, at) => (at % 4 === 0) === (part === 1));
    const buffer = Buffer.from(`user_id,rating,movie,timestamp\n${rows.join('\n')}\n`);
    const file = { name: part === 0 ? 'train.csv' : 'test.csv', mimeType: 'text/csv', buffer };
    await page.locator('.drop input').nth(part).setInputFiles(file);
  }
  await button(page, 'Check the split').click();
  await button(page, 'Save the audit').waitFor({ timeout: 60_000 });
  await shot(8, 'audit');
  await nav(page, 'Data').click();
  await page.setInputFiles('input[type=file]', {
    name: 'archive.csv',
    mimeType: 'text/csv',
    buffer: Buffer.from('PK\x03\x04 no table'),
  });
  await page.getByRole('alert').waitFor();
  await shot(9, 'refused');
  await tooLarge();
  await served();
}
console.log(heard.length === 0 ? 'no complaint' : heard);
await browser.close();
await site.close();
