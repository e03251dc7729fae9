// The story of the owner of a table, on real data: titles, two models, the better lists, a user, lists for all.

import { existsSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { auditSplit } from '../../src/audit/audit.js';
import { evaluateModel, fit, type Model, modelFromBytes, recommend, split } from '../../src/browser.js';
import { splitRankingTask } from '../../src/evaluate/split-task.js';
import { forecastGrowth } from '../../src/forecast/forecast.js';
import { readBlob, readBlobWithValues } from '../../src/ingest/blob.js';
import { timeColumn } from '../../src/ingest/intake/value-column.js';
import { clearlyBetter } from '../../src/page/session/session-evaluate.js';
import { modelFeatures } from '../../src/predict/features.js';
import { auditWords } from '../../src/report/words/audit.js';
import { forecastAnswer, nextWords } from '../../src/report/words/forecast.js';
import { grouped, unbroken } from '../../src/text/numbers.js';
import { shortTitle } from '../../src/text/phrases.js';
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

function rankerOf(model: Model) {
  if (model.type !== 'ranker') throw new Error(model.type);
  return model;
}

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
    await page.goto(`${site.address}#start?features=4&iterations=40&engine=cpu&n=10&halfLife=auto`);
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
    const { graph, values: times } = await readBlobWithValues(
      { name: 'ratings.dat', blob: new Blob([ratings]) },
      {},
      timeColumn('4'),
    );
    const parts = split(graph, { testUsers: 0.2, testItems: 0.2, seed: 1, times });
    await nav(page, 'Save').click();
    const saved = async (name: string) =>
      modelFromBytes(new Uint8Array(await download(page, () => button(page, `Save ${name}`).click())));
    const described = await saved('model.safetensors');
    const ranker = await saved('ranker.safetensors');
    expect([described.type, ranker.type]).toEqual(['posterior', 'ranker']);
    // Recent ratings count more if that improves the lists of held-back users.
    const searched = await fit(parts.train, {
      ...{ method: 'ranking', engine: 'cpu', seed: 1, halfLife: 'auto' },
      times: parts.times!.train,
    });
    expect(ranker.provenance.recency?.tried.length).toBeGreaterThan(0);
    expect(ranker.provenance.recency).toEqual(searched.model.provenance.recency);
    expect(rankerOf(ranker).recency).toEqual(rankerOf(searched.model).recency);
    const ranking = async (model: typeof ranker) =>
      (await evaluateModel(model, parts, { draws: 0, n: 10, seed: 1 })).ranking.all;
    // A difference that may be chance leaves the lists to the ranker.
    const clear = clearlyBetter(await ranking(described), await ranking(ranker), 1);
    const better = clear === 'understand' ? described : ranker;

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
    // Another text says whose list is shown; a text of one user and Enter choose this user.
    const search = page.getByLabel('Find a user');
    const userIds = Array.from({ length: parts.train.users.count }, (_, u) => parts.train.users.ids.at(u));
    const other = userIds.find(
      (id) => id !== user && userIds.filter((one) => one.includes(id)).length === 1,
    )!;
    await search.fill('nobody');
    await page.getByText(`The list is still that of user ${user}.`).waitFor();
    await search.fill(other);
    await expect.poll(() => page.locator('.recommend .chips button').count()).toBe(1);
    await search.press('Enter');
    await page.getByRole('heading', { name: new RegExp(`^User ${other} has`) }).waitFor();
    // So do a whole id and Enter, also if other ids contain it.
    await search.fill(user);
    const chips = page.locator('.recommend .chips.offered button');
    await expect.poll(() => chips.count()).toBeGreaterThan(1);
    await expect.poll(() => chips.first().innerText()).toMatch(new RegExp(`^${user}\\b`));
    await search.press('Enter');
    await page.getByRole('heading', { name: new RegExp(`^User ${user} has`) }).waitFor();
    const expected = await recommend(better, { user }, { n: 10 });
    await expect
      .poll(() => page.locator('.list b').allInnerTexts(), { timeout: 20_000 })
      .toEqual(expected.map(({ item }) => shortTitle(shown(title(item) ?? item), 60)));
    await page
      .locator('.stability')
      .filter({ hasText: /decides? the list/ })
      .waitFor();

    // A condition on unknown attributes is refused with the known ones; each attribute offers a condition.
    const filter = page.getByRole('searchbox', { name: /^Filter/ });
    const titlesShown = () => page.locator('.list b').allInnerTexts();
    await filter.fill("colour = 'red'");
    await filter.press('Enter');
    await page
      .getByRole('alert')
      .filter({ hasText: 'no attribute colour; it has id, title, #3, year' })
      .waitFor();
    expect(await button(page, 'Save all lists as CSV').isDisabled()).toBe(true);
    await filter.fill('');
    await page.getByRole('button', { name: /^\+ column 3/ }).click();
    const condition = await filter.inputValue();
    expect(condition).toBe(`"3" = 'Drama'`);
    const dramas = await recommend(better, { user }, { n: 10, filter: condition });
    expect(dramas).not.toEqual(expected);
    await expect
      .poll(titlesShown)
      .toEqual(dramas.map(({ item }) => shortTitle(shown(title(item) ?? item), 60)));

    const csv = (await download(page, () => button(page, 'Save all lists as CSV').click())).toString();
    const lines = csv.trimEnd().split('\n');
    expect(lines[0]).toBe('user,item,rank,score,title');
    expect(lines.length).toBe(1 + 10 * graph.users.count);
    const own = lines.filter((line) => line.startsWith(`${user},`)).map((line) => line.split(',')[1]);
    expect(own).toEqual(dramas.map(({ item }) => item));
    await page
      .getByText(`recommendations.csv has 10 items for each of ${grouped(graph.users.count)} users.`)
      .waitFor();

    // A film that nobody has is listed by its attributes.
    const [unseen, unseenTitle] = movies.at(-1)!.split('::');
    await filter.fill(`id = '${unseen}'`);
    await filter.press('Enter');
    await expect.poll(titlesShown).toEqual([shortTitle(shown(unseenTitle), 60)]);
    expect(await page.locator('.list .tag').allInnerTexts()).toEqual(['new']);
    await filter.fill("id = 'nothing'");
    await filter.press('Enter');
    await page.getByText('No items fit this filter.').waitFor();
    expect(await button(page, 'Save this list as CSV').isDisabled()).toBe(true);

    // The commands use the table and the filter, too.
    await nav(page, 'Save').click();
    expect(await page.locator('pre').first().innerText()).toContain(
      'fit parts --engine cpu --half-life auto --method ranking --item-info movies.dat -o ranker',
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
    const heldOut = graph.users.count - parts.train.users.count;
    await page.getByText(`Saved without the ${grouped(heldOut)} held-out users.`).waitFor();
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
    for (const recall of recalls)
      expect(shown.map((cell) => cell.split(/\s/)[0])).toContain(recall.toFixed(4));
    const ranked = splitRankingTask(parts).candidates.length;
    await page.getByText(`The lists are ranked among ${grouped(ranked)} test items.`).waitFor();
    // The first sentence is about what is chosen now.
    expect(await page.locator('.lead').innerText()).toMatch(/^A part of the data is kept/);
    await page.getByText('Settings', { exact: true }).click();
    const keep = page.getByLabel('Keep a test part from the models');
    await keep.uncheck();
    expect(await page.locator('.lead').innerText()).toMatch(/^The models learn from all data/);
    await keep.check();

    await button(page, 'Recommend').click();
    const user = parts.train.users.ids.at(3);
    await page.getByLabel('Find a user').fill(user.slice(0, -2));
    await page.locator('.recommend .chips button').first().click();
    await page.getByRole('heading', { name: new RegExp(`^User ${user} has`) }).waitFor();
    await page
      .locator('.stability')
      .filter({ hasText: /decides? the list/ })
      .waitFor();
    const listed = await page.locator('.list b').allInnerTexts();
    // An item that is hidden is in no list and in no file, until it is shown again.
    const [first, second] = listed;
    await page.getByRole('button', { name: `Hide ${first} from all lists` }).click();
    await expect.poll(async () => (await page.locator('.list b').allInnerTexts())[0]).toBe(second);
    const without = (await download(page, () => button(page, 'Save all lists as CSV').click())).toString();
    expect(without.split('\n').some((line) => line.split(',')[1] === first)).toBe(false);
    await page.getByRole('button', { name: `Show ${first} again` }).click();
    await expect.poll(() => page.locator('.list b').allInnerTexts()).toEqual(listed);
    await expect.poll(() => page.locator('.legend').innerText()).toMatch(/score\s+its 90\s%\sinterval/);

    // All items of a user can be opened, with the keyboard, too.
    const { ids, offsets } = graph.users;
    const has = ids.find(user);
    const owned = offsets[has + 1] - offsets[has];
    expect(owned).toBeGreaterThan(16);
    const more = page.getByRole('button', { name: `and ${owned - 16} more` });
    await more.press('Enter');
    expect(await page.locator('.chip').count()).toBe(owned);
    await button(page, 'Show fewer').press('Enter');
    expect(await page.locator('.chip').count()).toBe(16);

    // On a phone the list comes into view, and the focus stays.
    await page.emulateMedia({ reducedMotion: 'reduce' });
    await page.setViewportSize({ width: 390, height: 700 });
    await page.evaluate(() => window.scrollTo(0, 0));
    const other = page.locator('.offered button:not(.on)').first();
    await page.getByLabel('Find a user').fill('');
    await other.click();
    const top = () =>
      page.locator('.list').evaluate((list) => list.getBoundingClientRect().top / window.innerHeight);
    await expect.poll(top).toBeLessThan(0.6);
    expect(await page.evaluate(() => document.activeElement?.closest('.offered') !== null)).toBe(true);
    await page.setViewportSize({ width: 1200, height: 900 });

    // The commands have the settings of the fits, whatever is chosen for the next ones.
    await nav(page, 'Fit').click();
    await page.getByText('Settings', { exact: true }).click();
    for (const [label, value] of [
      ['Features', '9'],
      ['Seed', '77'],
      ['Held-out users', '0.4'],
    ]) {
      await page.getByLabel(new RegExp(`^${label}`)).fill(value);
      await page.keyboard.press('Tab');
    }
    await nav(page, 'Save').click();
    const commands = await page.locator('pre').first().innerText();
    expect(commands).toContain('fit parts -k 4 --iterations 40 --engine cpu -o model.safetensors');
    expect(commands).not.toMatch(/--seed|--test-users/);
    await nav(page, 'Recommend').click();
    await page.getByLabel('Find a user').fill(user);
    await page.locator('.recommend .offered button').first().click();

    // A wrong number stays with its error, and nothing is written.
    const length = page.getByLabel('Items in a list');
    const all = button(page, 'Save all lists as CSV');
    let files = 0;
    page.on('download', () => files++);
    for (const wrong of ['0', '2.5', '99999']) {
      await length.fill(wrong);
      await all.click();
      await page
        .getByRole('alert')
        .filter({ hasText: `Items in a list ${wrong}: expected a whole number, at least 1 and at most 200` })
        .waitFor();
      expect(await length.inputValue()).toBe(wrong);
    }
    expect(files).toBe(0);
    await length.fill('5');
    await length.press('Tab');
    expect(await page.getByRole('alert').count()).toBe(0);

    const saved = (format: string) =>
      download(page, () => button(page, `Save all lists as ${format}`).click());
    const csv = (await saved('CSV')).toString().trimEnd().split('\n');
    expect(csv.length).toBe(1 + 5 * graph.users.count);
    const own = csv.filter((line) => line.startsWith(`${user},`)).map((line) => line.split(',')[1]);
    expect(own).toEqual(listed);
    const parquet = new Blob([new Uint8Array(await saved('Parquet'))]);
    const lists = await readBlob({ name: 'l.parquet', blob: parquet }, { users: 'user', items: 'item' });
    expect(lists.graph.edges).toBe(5 * graph.users.count);

    // The users of an item are counted in the training part.
    await button(page, 'Somebody new').click();
    const learned = grouped(parts.train.users.count);
    await page.getByText(`says how many of the ${learned} users in the training part have it.`).waitFor();
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
    expect(await page.locator('.lead').innerText()).toBe(unbroken(auditWords(audit, USERS_AND_ITEMS).answer));
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
      unbroken([...nextWords(found, USERS_AND_ITEMS), forecastAnswer(found, USERS_AND_ITEMS)].join(' ')),
    );
    // Numbers and units stay on one line.
    expect(await page.locator('.lead').innerText()).toMatch(/\d\u00a0% more than now/);
    const report = await download(page, () => button(page, 'Save the forecast').click());
    expect(report.toString()).toContain('How will ratings.dat grow?');
    // After an error, the forecast of other choices is gone.
    await page.getByLabel(/^Time/).selectOption('2');
    await button(page, 'Forecast again').click();
    await page.getByRole('alert').waitFor({ timeout: 60_000 });
    expect(await button(page, 'Save the forecast').count()).toBe(0);
    expect(heard).toEqual([]);
    await context.close();
  });
});

test.runIf(!ready)(hasData ? whyNot : `there are no data in ${FOLDER}`, () => {});
