// The story of the owner of a table, on real data: titles, two models, the better lists, a user, lists for all.

import { existsSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { auditSplit } from '../../src/audit/audit.js';
import { evaluateModel, modelFromBytes, recommend, split } from '../../src/browser.js';
import { forecastGrowth } from '../../src/forecast/forecast.js';
import { readBlob, readBlobWithValues } from '../../src/ingest/blob.js';
import { timeColumn } from '../../src/ingest/intake/value-column.js';
import { modelFeatures } from '../../src/predict/features.js';
import { auditAnswer } from '../../src/report/words/audit.js';
import { forecastAnswer, nextWords } from '../../src/report/words/forecast.js';
import { grouped } from '../../src/text/numbers.js';
import { USERS_AND_ITEMS } from '../../src/text/sides.js';
import { shown } from '../../src/text/untrusted.js';
import {
  button,
  canVisit,
  complaints,
  download,
  give,
  type Host,
  host,
  idle,
  nav,
  openBrowser,
  whyNot,
} from './visitor.js';

const FOLDER = '../shared/data/movietweetings';
const RETAIL = '../shared/data/online-retail/customer_product_qty.tsv.gz';
const hasData = existsSync(`${FOLDER}/ratings.dat.gz`) && existsSync(RETAIL);
const ready = canVisit && hasData;

let browser: Browser;
let site: Host;
beforeAll(async () => {
  if (ready) [browser, site] = await Promise.all([openBrowser(), host()]);
});
afterAll(async () => {
  await browser?.close();
  await site?.close();
});

/** The first ratings: users, films, ratings and times. */
function ratingsOf(count: number): string[] {
  return gunzipSync(readFileSync(`${FOLDER}/ratings.dat.gz`))
    .toString()
    .split('\n')
    .slice(0, count);
}

describe.skipIf(!ready)('the owner of a table', () => {
  test('gets the better lists, with titles, for one user and for all', async () => {
    const ratings = `${ratingsOf(5000).join('\n')}\n`;
    // The films of these ratings, and some that nobody rated.
    const rated = new Set(ratings.split('\n').map((line) => Number(line.split('::')[1])));
    const films = gunzipSync(readFileSync(`${FOLDER}/movies.dat.gz`))
      .toString()
      .split('\n');
    const isRated = (line: string) => rated.has(Number(line.split('::')[0]));
    const movies = [...films.filter(isRated), ...films.filter((line) => !isRated(line)).slice(0, 200)];
    const context = await browser.newContext({ serviceWorkers: 'block', acceptDownloads: true });
    const page = await context.newPage();
    const heard = complaints(page);
    await page.goto(`${site.address}#start?features=4&iterations=40&engine=cpu&n=10`);
    await give(page, 'ratings.dat', ratings);
    // A rating is no count.
    await page.getByRole('heading', { name: 'Which column is what?' }).waitFor();
    expect(await page.getByLabel(/^Count/).inputValue()).toBe('');
    await button(page, 'Is it sparse?').click();
    await page.locator('.card strong').first().waitFor();
    await idle(page);
    await page.locator('.titles input').setInputFiles({
      ...{ name: 'movies.dat', mimeType: 'text/plain', buffer: Buffer.from(movies.join('\n')) },
    });
    await page
      .getByText(
        /items have a title, from column 2 of movies\.dat\. Lists can be filtered by column 3 and year/,
      )
      .waitFor();

    await button(page, 'Fit a model').click();
    for (const name of ['Fit to understand', 'Fit to recommend']) await button(page, name).click();
    await page.getByText(/Recommend therefore uses/).waitFor({ timeout: 120_000 });
    const graph = (await readBlob({ name: 'ratings.dat', blob: new Blob([ratings]) }, {})).graph;
    const parts = split(graph, { testUsers: 0.2, testItems: 0.2, seed: 1 });
    await nav(page, 'Save').click();
    const saved = async (name: string) =>
      modelFromBytes(new Uint8Array(await download(page, () => button(page, `Save ${name}`).click())));
    const described = await saved('model.safetensors');
    const ranker = await saved('ranker.safetensors');
    expect([described.type, ranker.type]).toEqual(['posterior', 'ranker']);
    const recall = async (model: typeof ranker) =>
      (await evaluateModel(model, parts, { draws: 0, n: 10, seed: 1 })).ranking.all.mean.recall;
    const better = (await recall(ranker)) >= (await recall(described)) ? ranker : described;

    // The feature of an item is the one that explains most of its expected edges, in the table as on the map.
    await nav(page, 'Explore').click();
    await page.locator('.map canvas').first().waitFor({ timeout: 60_000 });
    const features = modelFeatures(described);
    const { ids, degree } = described.items;
    const common = [...degree.keys()].sort((a, b) => degree[b] - degree[a]).slice(0, 10);
    const inTable = await page.locator('tbody tr td:last-child').allInnerTexts();
    expect(inTable.slice(0, 10)).toEqual(
      common.map((item) => String(features.main('items', item).feature + 1)),
    );
    const titles = new Map(
      movies.map((line) => line.split('::')).map(([id, title]) => [String(Number(id)), title]),
    );
    const title = (item: string) => titles.get(String(Number(item)));
    expect(await page.locator('tbody button').first().innerText()).toBe(title(ids.at(common[0])));

    // Titles are found, also with a misspelling.
    await page.getByLabel('Search the items').fill('gravty');
    await expect.poll(() => page.locator('tbody button').first().innerText()).toBe('Gravity (2013)');

    // A user that the models saw, by id.
    await nav(page, 'Recommend').click();
    const user = parts.train.users.ids.at(7);
    await page.getByLabel('Find a user').fill(user);
    await page.locator('.recommend .chips button').first().click();
    await page.getByRole('heading', { name: new RegExp(`^User ${user} has`) }).waitFor();
    const expected = await recommend(better, { user }, { n: 10 });
    await expect
      .poll(() => page.locator('.list b').allInnerTexts(), { timeout: 20_000 })
      .toEqual(expected.map(({ item }) => shown(title(item) ?? item, 60)));
    await page.locator('.sure').filter({ hasText: 'confidence:' }).waitFor();

    // A condition on unknown attributes is refused with the known ones; each attribute offers a condition.
    const filter = page.getByRole('searchbox', { name: /^Filter/ });
    const titlesShown = () => page.locator('.list b').allInnerTexts();
    await filter.fill("colour = 'red'");
    await filter.press('Enter');
    await page
      .getByRole('alert')
      .filter({ hasText: 'no attribute colour; it has id, title, 3, year' })
      .waitFor();
    await filter.fill('');
    await page.getByRole('button', { name: /^\+ column 3/ }).click();
    const condition = await filter.inputValue();
    expect(condition).toBe(`"3" = 'Drama'`);
    const dramas = await recommend(better, { user }, { n: 10, filter: condition });
    expect(dramas).not.toEqual(expected);
    await expect.poll(titlesShown).toEqual(dramas.map(({ item }) => shown(title(item) ?? item, 60)));

    const csv = (await download(page, () => button(page, 'Save all lists as CSV').click())).toString();
    const lines = csv.trimEnd().split('\n');
    expect(lines[0]).toBe('user,item,rank,score,title');
    expect(lines.length).toBe(1 + 10 * graph.users.count);
    const own = lines.filter((line) => line.startsWith(`${user},`)).map((line) => line.split(',')[1]);
    expect(own).toEqual(dramas.map(({ item }) => item));

    // A film that nobody has is listed by its attributes.
    const [unseen, unseenTitle] = movies.at(-1)!.split('::');
    await filter.fill(`id = '${unseen}'`);
    await filter.press('Enter');
    await expect.poll(titlesShown).toEqual([shown(unseenTitle, 60)]);
    expect(await page.locator('.list .tag').allInnerTexts()).toEqual(['new']);
    await filter.fill("id = 'nothing'");
    await filter.press('Enter');
    await page.getByText('No items fit this filter.').waitFor();

    // The commands use the table and the filter, too.
    await nav(page, 'Save').click();
    expect(await page.locator('pre').first().innerText()).toContain(
      'fit parts --engine cpu --method ranking --item-info movies.dat -o ranker',
    );
    expect(heard).toEqual([]);
    await context.close();
  });

  test('of a shop keeps counts, fits both models, and gets lists for one customer and for all', async () => {
    // The first customers of the shop.
    const rows = gunzipSync(readFileSync(RETAIL)).toString().split('\n').slice(0, 9000);
    const table = `${rows.join('\n')}\n`;
    const context = await browser.newContext({ serviceWorkers: 'block', acceptDownloads: true });
    const page = await context.newPage();
    const heard = complaints(page);
    await page.goto(`${site.address}#start?features=4&iterations=40&engine=cpu&n=5`);
    await give(page, 'shop.tsv', table);
    await page.getByRole('heading', { name: 'Which column is what?' }).waitFor();
    const chosen = (label: string) => page.getByLabel(new RegExp(`^${label}`)).inputValue();
    expect(await Promise.all(['Users', 'Items', 'Count'].map(chosen))).toEqual(['1', '2', '3']);
    await page.getByLabel(/^Keep counts: use column 3/).check();
    await button(page, 'Is it sparse?').click();
    await page.locator('.card strong').first().waitFor();
    await idle(page);
    const options = { users: '1', items: '2', count: '3', multigraph: true };
    const { graph } = await readBlob({ name: 'shop.tsv', blob: new Blob([table]) }, options);
    const sum = rows.reduce((total, row) => total + Number(row.split('\t')[2]), 0);
    expect(await page.locator('.facts dd').allInnerTexts()).toContain(grouped(sum));

    await button(page, 'Fit a model').click();
    for (const name of ['Fit to understand', 'Fit to recommend']) await button(page, name).click();
    await page.getByText(/Recommend therefore uses/).waitFor({ timeout: 120_000 });
    const parts = split(graph, { testUsers: 0.2, testItems: 0.2, seed: 1 });
    await nav(page, 'Save').click();
    const recalls: number[] = [];
    for (const name of ['model', 'ranker']) {
      const bytes = await download(page, () => button(page, `Save ${name}.safetensors`).click());
      const model = await modelFromBytes(new Uint8Array(bytes));
      const { ranking } = await evaluateModel(model, parts, { draws: 0, n: 5, seed: 1 });
      recalls.push(ranking.all.mean.recall);
    }
    await nav(page, 'Fit').click();
    const shown = await page
      .locator('section[aria-label^="The lists"] tbody td:nth-child(2)')
      .allInnerTexts();
    for (const recall of recalls) expect(shown).toContain(recall.toFixed(4));

    await button(page, 'Recommend').click();
    const user = parts.train.users.ids.at(3);
    await page.getByLabel('Find a user').fill(user.slice(0, -2));
    await page.locator('.recommend .chips button').first().click();
    await page.getByRole('heading', { name: new RegExp(`^User ${user} has`) }).waitFor();
    await page.locator('.sure').filter({ hasText: 'confidence:' }).waitFor();
    const listed = await page.locator('.list b').allInnerTexts();
    const saved = (format: string) =>
      download(page, () => button(page, `Save all lists as ${format}`).click());
    const csv = (await saved('CSV')).toString().trimEnd().split('\n');
    expect(csv.length).toBe(1 + 5 * graph.users.count);
    const own = csv.filter((line) => line.startsWith(`${user},`)).map((line) => line.split(',')[1]);
    expect(own).toEqual(listed);
    const parquet = new Blob([new Uint8Array(await saved('Parquet'))]);
    const lists = await readBlob({ name: 'l.parquet', blob: parquet }, { users: 'user', items: 'item' });
    expect(lists.graph.edges).toBe(5 * graph.users.count);
    expect(heard).toEqual([]);
    await context.close();
  });

  test('sees how the next month grows, and whether the split of two tables is fair', async () => {
    const rows = ratingsOf(5000);
    const context = await browser.newContext({ serviceWorkers: 'block', acceptDownloads: true });
    const page = await context.newPage();
    const heard = complaints(page);
    await page.goto(site.address);
    // The audit needs no table before it.
    await nav(page, 'Is a split fair?').click();
    const part = (name: string, test: boolean) => ({
      ...{ name, mimeType: 'text/plain' },
      buffer: Buffer.from(rows.filter((_, at) => (at % 5 === 0) === test).join('\n')),
    });
    await page.locator('.drop input').nth(0).setInputFiles(part('a.dat', false));
    await page.locator('.drop input').nth(1).setInputFiles(part('b.dat', true));
    await button(page, 'Check the split').click();
    await page.getByRole('button', { name: 'Save the audit' }).waitFor({ timeout: 60_000 });
    const table = (test: boolean) => new Blob([rows.filter((_, at) => (at % 5 === 0) === test).join('\n')]);
    const read = (test: boolean) =>
      readBlobWithValues({ name: 't.dat', blob: table(test) }, { users: '1', items: '2' }, timeColumn('4'));
    const [train, held] = [await read(false), await read(true)];
    const times = { train: train.values, test: held.values };
    const audit = await auditSplit({ train: train.graph, test: held.graph }, { times, seed: 1 });
    expect(await page.locator('.lead').innerText()).toBe(auditAnswer(audit));
    expect(await page.locator('tbody b').allInnerTexts()).toEqual(audit.checks.map(({ verdict }) => verdict));

    await nav(page, 'Data').click();
    await give(page, 'ratings.dat', `${rows.join('\n')}\n`);
    await button(page, 'Is it sparse?').click();
    await page.locator('.card strong').first().waitFor();
    await idle(page);
    await nav(page, 'Growth').click();
    expect(await page.getByLabel(/^Time/).inputValue()).toBe('4');
    await page.getByLabel(/^Growth/).selectOption('month');
    await button(page, 'Forecast').click();
    await page.getByText(/^In the month after \d{4}-\d\d-\d\d, about/).waitFor({ timeout: 60_000 });
    const all = await readBlobWithValues(
      { name: 'ratings.dat', blob: new Blob([`${rows.join('\n')}\n`]) },
      { users: '1', items: '2' },
      timeColumn('4'),
    );
    const found = await forecastGrowth(all.graph, { next: 'month', times: all.values, draws: 0, seed: 1 });
    expect(await page.locator('.lead').innerText()).toBe(
      [...nextWords(found, USERS_AND_ITEMS), forecastAnswer(found, USERS_AND_ITEMS)].join(' '),
    );
    const report = await download(page, () => button(page, 'Save the forecast').click());
    expect(report.toString()).toContain('How will ratings.dat grow?');
    expect(heard).toEqual([]);
    await context.close();
  });
});

test.runIf(!ready)(hasData ? whyNot : `there are no data in ${FOLDER}`, () => {});
