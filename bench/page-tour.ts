// A walk through the built page in Chromium, with a picture of every step:
//   node scripts/run-ts.js bench/page-tour.ts FOLDER [WIDTH,…] [light,dark]

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { complaints, host, openBrowser } from '../test/page/visitor.js';

const [folder = 'shots', widths = '1100', schemes = 'light'] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
const site = await host();
const browser = await openBrowser('--use-angle=swiftshader', '--enable-unsafe-swiftshader');
for (const width of widths.split(',').map(Number)) {
  for (const scheme of schemes.split(',') as ('light' | 'dark')[]) {
    const page = await browser.newPage({
      viewport: { width, height: width < 500 ? 844 : 1000 },
      colorScheme: scheme,
      reducedMotion: 'reduce',
    });
    const heard = complaints(page);
    const shot = async (name: string) => {
      await page.waitForTimeout(400);
      await page.screenshot({ path: join(folder, `${name}-${width}-${scheme}.png`), fullPage: true });
    };
    const idle = () => page.locator('.working').waitFor({ state: 'detached', timeout: 120_000 });
    const button = (name: string, inside = 'main') =>
      page.locator(inside).getByRole('button', { name, exact: true });
    await page.goto(`${site.address}#start?features=12&draws=30`);
    await shot('1-start');
    await page.setInputFiles('input[type=file]', {
      name: 'ratings.csv',
      mimeType: 'text/csv',
      buffer: Buffer.from(
        `user_id,rating,movie,timestamp\n${Array.from({ length: 400 }, (_, e) => `u${(e * e) % 97},${1 + (e % 5)},"Film no. ${(e * 7) % 83}",${1.6e9 + e * 1000}`).join('\n')}\n`,
      ),
    });
    await page.getByRole('heading', { name: 'Which column is what?' }).waitFor();
    await shot('2-columns');
    await button('Data', 'nav').click();
    await page.getByText('State of the Union').click();
    await page.locator('.card strong').first().waitFor({ timeout: 60_000 });
    await idle();
    await shot('3-verdict');
    await button('Split and fit').click();
    await shot('4-fit-before');
    await button('Fit').click();
    await page.getByRole('heading', { name: /settled/ }).waitFor({ timeout: 120_000 });
    await shot('4-fit');
    await button('Does it predict?').click();
    await page.getByRole('heading', { name: 'Would its lists be any good?' }).waitFor({ timeout: 120_000 });
    await shot('5-predict');
    await button('Explore', 'nav').click();
    await page.locator('.map canvas').first().waitFor({ timeout: 120_000 });
    await page.locator('tbody button').nth(3).click();
    await page.waitForTimeout(800);
    await shot('6-explore');
    await button('Recommend', 'nav').click();
    for (const n of [2, 5]) await page.locator('.chips button').nth(n).click();
    await page.locator('.list button').first().click();
    await page.waitForTimeout(500);
    await shot('7-recommend');
    await button('Take it with you', 'nav').click();
    await shot('8-report');
    console.log(width, scheme, heard.length === 0 ? 'no complaint' : heard);
    await page.close();
  }
}
await browser.close();
await site.close();
