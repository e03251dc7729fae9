// The page in Chromium: the walk from a table to a list, with the numbers of the command line.

import { readFileSync } from 'node:fs';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import {
  checkSparsity,
  describeFeatures,
  evaluateModel,
  fit,
  modelFromBytes,
  modelToBytes,
  recommend,
  split,
} from '../../src/browser.js';
import { readBlob } from '../../src/ingest/blob.js';
import { sparsityWords } from '../../src/report/words/sparsity.js';
import { thin } from '../../src/sample/thin.js';
import { fixed, grouped, unbroken } from '../../src/text/numbers.js';
import { tooLong, watchTasks } from './tasks.js';
import {
  button,
  canVisit,
  complaints,
  download,
  focused,
  give,
  type Host,
  host,
  idle,
  nav,
  openBrowser,
  whyNot,
} from './visitor.js';

const CSV = `user_id,rating,movie\n${Array.from({ length: 3000 }, (_, e) => {
  const user = (e * e + 7 * e) % 211;
  return `u${user},${1 + (e % 5)},film ${(user % 3) * 60 + ((e * 31) % 97)}`;
}).join('\n')}\n`;
const COLUMNS = { users: 'user_id', items: 'movie' };
const read = async () => (await readBlob({ name: 'r.csv', blob: new Blob([CSV]) }, COLUMNS)).graph;

let browser: Browser;
let site: Host;
let open: Host;
beforeAll(async () => {
  if (!canVisit) return;
  [browser, site, open] = await Promise.all([openBrowser(), host(), host({ isolated: false })]);
});
afterAll(async () => {
  await browser?.close();
  await Promise.all([site?.close(), open?.close()]);
});

async function visit(address: string, hash = ''): Promise<{ page: Page; heard: string[] }> {
  // Without a service worker, so that what the host sends is what counts.
  const context = await browser.newContext({ serviceWorkers: 'block', acceptDownloads: true });
  const page = await context.newPage();
  const heard = complaints(page);
  await page.goto(address + hash);
  return { page, heard };
}

async function toVerdict(page: Page, table = CSV): Promise<void> {
  await give(page, 'ratings.csv', table);
  await button(page, 'Is it sparse?').click();
  await page.locator('.card strong').first().waitFor();
  await idle(page);
}

describe.skipIf(!canVisit)('the walk', () => {
  test.each([
    ['with threads', () => site.address, '2 threads'],
    ['in one thread', () => open.address, 'one thread'],
  ])('%s gives the numbers of the library: verdict, split, bound, lists', async (_, address, badge) => {
    const { page, heard } = await visit(address(), '#start?features=4&iterations=60&engine=cpu&draws=30');
    const watched = await watchTasks(browser, page);
    // A walk that fails must stop its trace: only one trace can run.
    onTestFinished(() => watched().then(undefined, () => {}) as Promise<void>);
    await page.reload();
    expect(await page.locator('.badge summary').innerText()).toMatch(
      badge === 'one thread' ? /^one thread$/ : /^\d+ threads?$/,
    );
    await give(page, 'ratings.csv', CSV);
    // The columns are guessed by their names: the middle one is no item.
    await page.getByRole('heading', { name: 'Which column is what?' }).waitFor();
    expect(await page.getByLabel(/^Users/).inputValue()).toBe('user_id');
    expect(await page.getByLabel(/^Items/).inputValue()).toBe('movie');
    await button(page, 'Is it sparse?').click();
    await page.locator('.card strong').first().waitFor();
    await idle(page);

    const graph = await read();
    const check = await checkSparsity(graph, { seed: 1 });
    expect(await page.locator('.lead').innerText()).toBe(unbroken(sparsityWords(check).answer));
    expect(await page.locator('.card strong').allInnerTexts()).toEqual([
      check.verdict.users,
      check.verdict.items,
    ]);
    expect(await page.locator('.facts dd').allInnerTexts()).toEqual(
      expect.arrayContaining([grouped(graph.users.count), grouped(graph.items.count), grouped(graph.edges)]),
    );

    await button(page, 'Fit a model').click();
    await button(page, 'Fit to understand').click();
    await page.getByRole('heading', { name: /converged/ }).waitFor({ timeout: 60_000 });
    const parts = split(graph, { testUsers: 0.2, testItems: 0.2, seed: 1 });
    expect(await page.getByRole('row', { name: /^test/ }).innerText()).toMatch(
      new RegExp(
        `${grouped(parts.test.users.count)}\\s+${grouped(parts.test.items.count)}\\s+${grouped(parts.test.edges)}$`,
      ),
    );
    const { model } = await fit(parts.train, { features: 4, iterations: 60, engine: 'cpu', seed: 1 });
    const shownBound = Number(
      (await page.locator('.facts dd').first().innerText()).replace('−', '-').replaceAll(',', ''),
    );
    // It is shown without decimals.
    expect(Math.abs(shownBound - model.bound!)).toBeLessThan(0.51 + 1e-6 * Math.abs(model.bound!));

    await button(page, 'Does it predict?').click();
    await page.getByRole('heading', { name: 'How good are the lists?' }).waitFor({ timeout: 60_000 });
    const evaluation = await evaluateModel(model, parts, { draws: 30, n: 20, seed: 1 });
    expect(await page.getByRole('row', { name: /^The model that describes the data/ }).innerText()).toContain(
      fixed(evaluation.ranking.all.mean.recall, 4),
    );

    await nav(page, 'Recommend').click();
    await button(page, 'Somebody new').click();
    for (const n of [1, 3]) await page.locator('.chips button').nth(n).click();
    await page.locator('.chips .on').nth(1).waitFor();
    const likes = (await page.locator('.chips .on').allInnerTexts()).map((text) => text.replace(/ ×$/, ''));
    const expected = await recommend(model, { likes }, { n: 20 });
    await expect
      .poll(() => page.locator('.list b').allInnerTexts())
      .toEqual(expected.map(({ item }) => item));
    expect(await page.locator('.stability').innerText()).toMatch(
      / decides? the list\. Another .* not how good\.$/,
    );
    if (badge === 'one thread') {
      // What follows is the same with and without threads.
      expect(tooLong(await watched())).toEqual([]);
      expect(heard).toEqual([]);
      await page.context().close();
      return;
    }

    // The model is saved, and opens in the library and in the page.
    await nav(page, 'Save').click();
    expect(await page.locator('pre').first().innerText()).toContain(
      'npx graphex fit parts -k 4 --iterations 60 --engine cpu',
    );
    for (const format of ['CSV', 'Parquet']) {
      const table = await download(page, () => button(page, `Save test part as ${format}`).click());
      const name = `test.${format.toLowerCase()}`;
      const back = await readBlob(
        { name, blob: new Blob([new Uint8Array(table)]) },
        { users: 'user', items: 'item' },
      );
      expect(back.graph.edges).toBe(parts.test.edges);
    }
    const report = await download(page, () => button(page, 'Save the check').click());
    expect(report.toString()).toContain(sparsityWords(check).answer);
    const bytes = await download(page, () => button(page, 'Save model.safetensors').click());
    expect((await modelFromBytes(new Uint8Array(bytes))).items.count).toBe(model.items.count);
    await nav(page, 'Data').click();
    await give(page, 'model.safetensors', bytes);
    await page.getByRole('heading', { name: 'What is in it?' }).waitFor();
    await page.locator('.map canvas').first().waitFor();
    await page.mouse.wheel(0, -300);
    const tasks = await watched();
    expect(tasks.length).toBeGreaterThan(500);
    expect(tooLong(tasks)).toEqual([]);

    // The worker that draws the map saves it as a picture.
    const svg = (await download(page, () => button(page, 'Save the map as SVG').click())).toString();
    expect(svg.match(/<circle/g)?.length).toBe(model.items.count);
    expect(svg).toMatch(/<text[^>]*>film \d+<\/text>/);
    const png = await download(page, () => button(page, 'Save the map as PNG').click());
    expect(png.subarray(1, 4).toString()).toBe('PNG');
    expect(png.length).toBeGreaterThan(5000);
    // Both at the same time: each file has its own content.
    const saved = new Map<string, Buffer>();
    page.on('download', async (file) => saved.set(file.suggestedFilename(), readFileSync(await file.path())));
    await page.evaluate(() => {
      for (const save of document.querySelectorAll<HTMLElement>('.take button')) save.click();
    });
    await expect.poll(() => [...saved.keys()].sort()).toEqual(['map.png', 'map.svg']);
    expect(saved.get('map.png')!.subarray(1, 4).toString()).toBe('PNG');
    expect(saved.get('map.svg')!.toString()).toMatch(/^<svg/);
    expect(heard).toEqual([]);
    await page.context().close();
  });
});

describe.skipIf(!canVisit)('on the way', () => {
  test('a wrong file is refused in the words of the command line, and another can be given', async () => {
    const { page } = await visit(site.address);
    await give(page, 'archive.csv', 'PK\x03\x04 not a table');
    await expect
      .poll(() => page.getByRole('alert').innerText())
      .toBe('archive.csv: this is a zip archive; unpack it and give the file inside');
    await give(page, 'bad.csv', 'user,item\nann,tea\nbob\n');
    await button(page, 'Is it sparse?').click();
    await expect
      .poll(() => page.getByRole('alert').innerText())
      .toMatch(
        /^bad\.csv, line 3: the row has 1 column where the first row has 2.*aside with “Set bad rows aside”$/,
      );
    // The problem belongs to this step.
    await page.goBack();
    await page.getByRole('heading', { name: /Drop a table/ }).waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
    await page.goForward();
    // Set aside, the rest is read.
    await page.getByLabel(/Set bad rows aside/).check();
    await button(page, 'Is it sparse?').click();
    await page.getByText('1 bad rows were set aside').waitFor();
    await page.context().close();
  });

  test('choices for a table are not those of the next one', async () => {
    const { page } = await visit(site.address);
    const bought = Array.from({ length: 60 }, (_, e) => `${e % 7}\t${e % 11}\t${1 + 3 * e}`).join('\n');
    await give(page, 'bought.tsv', `${bought}\n`);
    await page.getByLabel(/^Keep counts: use column 3/).check();
    await nav(page, 'Data').click();
    const rated = Array.from({ length: 60 }, (_, e) => `${e % 7}::${e % 11}::${e % 6}::${1.38e9 + e}`);
    await give(page, 'rated.dat', `${rated.join('\n')}\n`);
    await page.getByText('rated.dat: text table').waitFor();
    const chosen = (label: RegExp) => page.getByLabel(label).inputValue();
    expect(await Promise.all([/^Users/, /^Items/, /^Count/, /^Time/].map(chosen))).toEqual([
      '1',
      '2',
      '',
      '4',
    ]);
    expect(await page.getByLabel(/^Keep counts/).isChecked()).toBe(false);
    await page.context().close();
  });

  test('a ranker is explored without a map and without an error', async () => {
    const { page, heard } = await visit(site.address);
    const options = { method: 'ranking', features: 4, iterations: 5, blend: false, seed: 1 } as const;
    const { model } = await fit(await read(), options);
    await give(page, 'ranker.safetensors', Buffer.from(modelToBytes(model)));
    await page.getByText('This model has no map of the movies').waitFor();
    await page.locator('.features li').first().waitFor();
    await idle(page);
    expect(await page.getByRole('alert').count()).toBe(0);
    expect(await button(page, 'Draw the map').count()).toBe(0);
    const [first] = await describeFeatures(model);
    expect(await page.locator('.features li').first().innerText()).toMatch(
      new RegExp(`^Feature ${first.feature} \\d`),
    );
    expect(heard).toEqual([]);
    await page.context().close();
  });

  test('a small screen has the narrow charts of the reports, with the name of the model', async () => {
    const { page } = await visit(site.address, '#start?features=3&iterations=20&engine=cpu&draws=19');
    await page.setViewportSize({ width: 360, height: 800 });
    await toVerdict(page);
    await button(page, 'Fit a model').click();
    await button(page, 'Fit to understand').click();
    await page.getByRole('heading', { name: /converged/ }).waitFor({ timeout: 60_000 });
    await button(page, 'Does it predict?').click();
    await page.locator('figure img').nth(1).waitFor({ timeout: 60_000 });
    const images = page.locator('figure img');
    const width = (n: number) => images.nth(n).evaluate((image: HTMLImageElement) => image.naturalWidth);
    for (const n of [0, 1]) {
      expect(await width(n)).toBe(400);
      expect(await images.nth(n).getAttribute('alt')).toContain('sparse or dense, chosen for each side: ');
    }
    await page.getByText(/^Dots: the test graph; hollow where it leaves the band/).waitFor();
    await page.setViewportSize({ width: 1000, height: 800 });
    await expect.poll(() => width(1)).toBeGreaterThan(580);
    expect(await page.getByText(/^Dots: the test graph/).count()).toBe(0);
    await page.context().close();
  });

  test('back and forward walk through the steps, and a reload keeps settings but no data', async () => {
    const { page } = await visit(site.address, '#start?seed=7&features=3');
    await page.getByText('The settings in this address are restored').waitFor();
    await toVerdict(page);
    expect(page.url()).toContain('#verdict?');
    expect(decodeURIComponent(page.url())).toContain('seed=7');
    expect(page.url()).not.toContain('ratings');
    await button(page, 'Fit a model').click();
    await page.goBack();
    await page.getByRole('heading', { name: 'Is ratings.csv sparse?' }).waitFor();
    await page.goForward();
    await page.getByRole('heading', { name: 'Fit a model' }).waitFor();
    expect(await page.getByLabel('Features').inputValue()).toBe('3');
    await page.reload();
    await page.getByRole('heading', { name: /Drop a table/ }).waitFor();
    expect(page.url()).toContain('seed=7');
    await page.context().close();
  });

  test('work can be cancelled, and the page stays usable', async () => {
    // A fit of half a minute, so that it is still under way when the button is found, however slow the machine.
    const { page } = await visit(site.address, '#start?features=512&iterations=100000&engine=cpu');
    const rows = Array.from(
      { length: 30_000 },
      (_, e) => `u${(e * e + 7 * e) % 2003},film ${(e * 31) % 997}`,
    );
    await toVerdict(page, `user_id,movie\n${rows.join('\n')}\n`);
    await button(page, 'Fit a model').click();
    // By keyboard: the focus goes to the work, and from Cancel back to the button.
    await button(page, 'Fit to understand').press('Enter');
    await expect.poll(() => focused(page)).toBe('Work in progress');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await idle(page);
    await expect.poll(() => focused(page)).toBe('Fit to understand');
    expect(await page.getByRole('alert').count()).toBe(0);
    await nav(page, 'Data').click();
    await toVerdict(page);
    await page.context().close();
  });

  test('a table that is too large for the tab is thinned while it is read, to a part that fits', async () => {
    const { page } = await visit(site.address);
    // A device that gives a tab less than the table needs.
    await page.addInitScript(() => Object.defineProperty(navigator, 'deviceMemory', { value: 1e-4 }));
    await page.reload();
    await give(page, 'ratings.csv', CSV);
    await page.getByRole('heading', { name: 'This table is probably too large for a tab' }).waitFor();
    await page.getByText('more than this browser is likely to give a tab').waitFor();
    await page.getByRole('button', { name: /^Keep 30 % of both: about 1\d kB$/ }).click();
    expect(await page.locator('.note.warn').count()).toBe(0);
    await button(page, 'Is it sparse?').click();
    await page.getByText(/rows were left out while the table was read/).waitFor();
    await idle(page);
    const part = thin(await read(), { users: 0.3, items: 0.3, seed: 1 });
    expect(await page.locator('.facts dd').allInnerTexts()).toEqual(
      expect.arrayContaining([part.users.count, part.items.count, part.edges].map((n) => grouped(n))),
    );
    await nav(page, 'Save').click();
    expect(await page.locator('pre').nth(1).innerText()).toContain(
      'const part = thin(graph, { users: 0.3, items: 0.3, seed: 1 });',
    );
    await page.context().close();
  });

  test('a chart that cannot be loaded is a problem of its step', async () => {
    const { page } = await visit(site.address);
    await page.route(/assets\/charts-/, (route) => route.abort());
    await give(page, 'ratings.csv', CSV);
    await button(page, 'Is it sparse?').click();
    await page.getByText(/^This did not work: .*charts-.* Check the connection/).waitFor();
    await page.context().close();
  });

  test('pasted rows and a thinned table are checked too', async () => {
    const { page } = await visit(site.address);
    await page.getByLabel('Paste rows').fill('ann,tea\nbob,milk');
    await button(page, 'Use these rows').click();
    await expect.poll(() => page.locator('.preview tbody tr').count()).toBe(2);
    await nav(page, 'Data').click();
    // Many pasted rows are not shown in the field.
    await page.getByLabel('Paste rows').evaluate(
      (field, text) => {
        const clipboardData = new DataTransfer();
        clipboardData.setData('text', text);
        field.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
      },
      CSV.replaceAll(',', '\t'),
    );
    await button(page, 'Is it sparse?').click();
    await page.locator('.card strong').first().waitFor();
    await idle(page);
    const titles = [...new Set(CSV.split('\n').map((row) => row.split(',')[2]))].slice(1, -1);
    await give(
      page,
      'titles.csv',
      `movie,title\n${titles.map((film) => `${film},The ${film}`).join('\n')}\n`,
    );
    await page.getByText(/ have a title/).waitFor();
    // Charts that arrive may move the line away from a click.
    const share = page.getByLabel(/Share of users to keep/);
    await expect
      .poll(async () => {
        if (!(await share.isVisible())) await page.getByText('Use a part of the data').click();
        return share.isVisible();
      })
      .toBe(true);
    await share.selectOption('0.5');
    await page.getByLabel(/Share of movies to keep/).selectOption('0.5');
    await button(page, 'Keep this part and check again').click();
    await page.getByText(/Thinned: 50\s% of the/).waitFor();
    await idle(page);
    const users = Number(await page.locator('.facts dd').first().innerText());
    const whole = (await read()).users.count;
    expect(users).toBeGreaterThan(0.3 * whole);
    expect(users).toBeLessThan(0.7 * whole);
    // The titles are counted among the items that are left.
    const items = await page.locator('.facts dd').nth(1).innerText();
    await expect.poll(() => page.locator('.titles').innerText()).toContain(`of ${items} movies have a title`);
    await page.context().close();
  });
});

test.runIf(!canVisit)(whyNot, () => {});
