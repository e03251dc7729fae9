// The pictures of docs/page.md: node scripts/run-ts.js bench/page-figures.ts docs/figures

import { join } from 'node:path';
import { host, openBrowser } from '../test/page/visitor.js';

const [folder = 'docs/figures'] = process.argv.slice(2);
const site = await host();
const browser = await openBrowser('--use-angle=swiftshader', '--enable-unsafe-swiftshader');
const page = await browser.newPage({ viewport: { width: 980, height: 860 } });
const shot = async (file: string, quality?: number) => {
  await page.evaluate(() => window.scrollTo(0, 0));
  await page.waitForTimeout(1000);
  await page.screenshot({ path: join(folder, `page-${file}`), ...(quality ? { quality } : {}) });
};
await page.goto(`${site.address}#start?features=12`);
await page.getByText('State of the Union').click();
await page.locator('figure img').first().waitFor({ timeout: 60_000 });
await page.locator('.working').waitFor({ state: 'detached', timeout: 60_000 });
await shot('verdict.png');
await page.getByRole('button', { name: 'Split and fit' }).click();
await page.locator('main').getByRole('button', { name: 'Fit', exact: true }).click();
await page.getByRole('heading', { name: /settled/ }).waitFor({ timeout: 120_000 });
await page.locator('nav').getByRole('button', { name: 'Explore' }).click();
await page.locator('.map canvas').first().waitFor({ timeout: 120_000 });
await page.locator('tbody button').nth(3).click();
await page.locator('.chosen li').first().waitFor();
await shot('explore.jpg', 70);
await page.locator('nav').getByRole('button', { name: 'Recommend' }).click();
for (const word of ['soviet', 'missil']) {
  await page.getByLabel('Find words').fill(word);
  await page.locator('.chips button:not(.on)').filter({ hasText: word }).first().click();
}
await page.locator('.list button').first().click();
await page.locator('.sure').filter({ hasText: ':' }).waitFor();
await shot('recommend.png');
await browser.close();
await site.close();
