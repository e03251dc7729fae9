// The time that the page estimates before a fit, compared with the time that the fit takes, on real tables in Chromium.
//   node scripts/run-ts.js bench/page-estimates.ts [SET,…]

import { existsSync, readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { button, give, host, idle, openBrowser } from '../test/page/visitor.js';

const DATA = '../shared/data';
const SETS: Readonly<Record<string, { readonly table: string; readonly about?: string }>> = {
  'online-retail': { table: 'customer_product_qty.tsv' },
  'julia-general': { table: 'package_depends.tsv' },
  citeulike: { table: 'user_article.tsv' },
  movietweetings: { table: 'ratings.dat' },
  goodbooks: { table: 'to_read.csv' },
  'acl-abstracts': { table: 'paper_abstract_words.tsv' },
  'movietweetings with movies.dat': { table: 'ratings.dat', about: 'movies.dat' },
  'goodbooks with books.csv': { table: 'to_read.csv', about: 'books.csv' },
};
const wanted = process.argv[2]?.split(',') ?? Object.keys(SETS);
const folder = (set: string) => `${DATA}/${set.split(' ')[0]}`;
const packed = (set: string, file: string) => readFileSync(`${folder(set)}/${file}.gz`);

/** 'about 12 seconds', 'about 2 minutes' → seconds. */
function secondsOf(words: string): number {
  const [, number, unit] = /about (a|\d+) (second|minute)/.exec(words) ?? [];
  return (number === 'a' ? 1 : Number(number)) * (unit === 'minute' ? 60 : 1);
}

async function measure(page: Page, set: string): Promise<void> {
  const { table, about } = SETS[set];
  await give(page, `${table}.gz`, packed(set, table));
  await button(page, 'Is it sparse?').click();
  await page.locator('.card strong').first().waitFor({ timeout: 60_000 });
  await idle(page);
  if (about) {
    const file = { name: `${about}.gz`, mimeType: 'application/gzip', buffer: packed(set, about) };
    await page.locator('.titles input').setInputFiles(file);
    await page.getByText(/have a title/).waitFor({ timeout: 60_000 });
    await idle(page);
  }
  const [users, items, edges] = await page.locator('.facts dd').allInnerTexts();
  await button(page, 'Fit a model').click();
  await page.locator('.choice > p.quiet').nth(1).waitFor();
  // Estimates change when the speed of this machine is known.
  await page.waitForTimeout(1500);
  const said = (await page.locator('.choice > p.quiet').allInnerTexts()).map(secondsOf);
  const took: number[] = [];
  for (const [name, heading] of [
    ['Fit to understand', /^The model that describes the data (has|stopped)/],
    ['Fit to recommend', /^The ranker (has|stopped)/],
  ] as const) {
    const began = performance.now();
    await button(page, name).click();
    await page.getByRole('heading', { name: heading }).waitFor({ timeout: 600_000 });
    took.push((performance.now() - began) / 1000);
    // Wait until the comparison of the lists has ended, so that it does not run during the next fit.
    await page.getByRole('heading', { name: 'Which lists are better?' }).waitFor({ timeout: 120_000 });
  }
  const pair = (at: number) =>
    `${said[at]} s | ${took[at].toFixed(1)} s | ${(said[at] / took[at]).toFixed(2)}`;
  console.log(`| ${set} | ${users} | ${items} | ${edges} | ${pair(0)} | ${pair(1)} |`);
}

console.log(
  '| set | users | items | edges | understand: said | took | ratio | recommend: said | took | ratio |',
);
console.log(`|---|${'---:|'.repeat(9)}`);
const browser = await openBrowser();
const site = await host();
for (const set of wanted) {
  if (!SETS[set] || !existsSync(folder(set))) {
    console.log(`${set}: there are no data in ${folder(set)}`);
    continue;
  }
  const context = await browser.newContext({ serviceWorkers: 'block' });
  const page = await context.newPage();
  await page.goto(site.address);
  await measure(page, set);
  await context.close();
}
await browser.close();
await site.close();
