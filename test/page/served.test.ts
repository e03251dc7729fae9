// The page as `graphex serve MODEL` serves it: the server answers, and the model never reaches the tab.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readSideInfo } from '../../src/attributes/side-info.js';
import { fit } from '../../src/fit/fit.js';
import { readSideBlob } from '../../src/ingest/side-table.js';
import { createRecommender, type Recommender } from '../../src/predict/recommender.js';
import { simulate } from '../../src/process/poisson-model.js';
import { type RunningServer, serve } from '../../src/serve/serve.js';
import { saveModel } from '../../src/store/model-file.js';
import { button, canVisit, complaints, download, nav, openBrowser, whyNot } from './visitor.js';

const side = { sigma: 0.3, tau: 1, shape: 0.3, rate: 0.3, size: 40 };
const folder = mkdtempSync(join(tmpdir(), 'graphex-served-'));
let browser: Browser;
let server: RunningServer;
let recommender: Recommender;
const title = (item: string) => `<i>The ${item}`;

beforeAll(async () => {
  if (!canVisit) return;
  const { graph } = await simulate({ users: side, items: side, features: 4, seed: 1 });
  const fitted = await fit(graph, { features: 4, iterations: 10, seed: 1, threads: 1 });
  const colours = Array.from(
    { length: graph.items.count },
    (_, j) => `${graph.items.ids.at(j)},${['red', 'green', 'red', 'blue'][j % 4]}`,
  );
  const blob = new Blob([`id,colour\n${colours.join('\n')}\n`]);
  const rows = await readSideBlob({ name: 'items.csv', blob });
  const { info } = readSideInfo(graph.items, { name: 'items.csv', rows });
  const model = { ...fitted.model, info: { items: info } };
  recommender = createRecommender(model);
  await saveModel(join(folder, 'm.safetensors'), model);
  const { ids, count } = model.items;
  const titles = Array.from({ length: count }, (_, j) => `${ids.at(j)},${title(ids.at(j))}`);
  writeFileSync(join(folder, 'titles.csv'), `id,title\n${titles.join('\n')}\n`);
  const path = join(folder, 'm.safetensors');
  server = await serve(path, { port: 0, threads: 1, titles: join(folder, 'titles.csv') });
  browser = await openBrowser();
});
afterAll(async () => {
  await browser?.close();
  await recommender?.close();
  await server?.close();
  rmSync(folder, { recursive: true });
});

describe.skipIf(!canVisit)('a server with a model', () => {
  test('is explored in the page, with the answers of the library and the titles of the server', async () => {
    const page = await (await browser.newContext({ serviceWorkers: 'block' })).newPage();
    const heard = complaints(page);
    const loaded: string[] = [];
    page.on('request', (request) => loaded.push(request.url()));
    await page.goto(server.url);
    await page.getByText('This server has a model').waitFor();
    await button(page, 'Explore it').click();
    const [first] = recommender.features({ n: 10 });
    await page.getByText(first.items.map(({ item }) => title(item)).join(', ')).waitFor();
    const [common] = recommender.popular({ n: 1 });
    await button(page, title(common.item)).click();
    await expect
      .poll(() => page.locator('.chosen li button').allInnerTexts())
      .toEqual(recommender.similar(common.item, { n: 8 }).map(({ item }) => title(item)));

    await button(page, 'Recommend for somebody who has it').click();
    const list = await recommender.recommend({ likes: [common.item] }, { n: 20 });
    await expect
      .poll(() => page.locator('.list b').allInnerTexts())
      .toEqual(list.map(({ item }) => title(item)));
    expect(await page.locator('.stability').innerText()).toMatch(
      / decides? the list\. Another .* not how good\.$/,
    );
    expect(await page.locator('footer').innerText()).toContain(
      'your clicks are sent there, and nowhere else',
    );
    const saved = await download(page, () => button(page, 'Save this list as JSON lines').click());
    expect(JSON.parse(saved.toString()).items).toEqual(
      list.map(({ item, score }) => ({ item, score, title: title(item) })),
    );
    // Its attributes are offered as filters; the server answers with what the filter keeps.
    await page.getByRole('button', { name: /^\+ colour/ }).click();
    const filter = page.getByRole('searchbox', { name: /^Filter/ });
    const condition = await filter.inputValue();
    expect(condition).toBe("colour = 'red'");
    const red = await recommender.recommend({ likes: [common.item] }, { n: 20, filter: condition });
    await expect
      .poll(() => page.locator('.list b').allInnerTexts())
      .toEqual(red.map(({ item }) => title(item)));
    await filter.fill('');
    // Only the list can be saved: the model stays on the server.
    expect(await nav(page, 'Save').isDisabled()).toBe(true);
    expect(loaded.filter((url) => url.includes('.safetensors'))).toEqual([]);
    expect(heard).toEqual([]);

    // A filter that is refused; the browser notes the status 400.
    await filter.fill('shape = 1');
    await filter.press('Enter');
    await page.getByRole('alert').filter({ hasText: 'no attribute shape' }).waitFor();
    await filter.fill('');

    // Without the server the page says so.
    await server.close();
    await page.getByLabel('Find items').fill('x');
    await expect.poll(() => page.getByRole('alert').innerText()).toContain('The server does not answer');
    await page.context().close();
  });

  test('that asks for a key opens only with it, and the key is not stored', async () => {
    const key = '0123456789abcdef0123';
    writeFileSync(join(folder, 'keys'), `someone ${key}\n`);
    const locked = await serve(join(folder, 'm.safetensors'), {
      port: 0,
      threads: 1,
      keyFile: join(folder, 'keys'),
    });
    const page = await (await browser.newContext({ serviceWorkers: 'block' })).newPage();
    await page.goto(locked.url);
    await page.getByText('This server has a model and asks for a key').waitFor();
    const give = async (text: string) => {
      await page.getByLabel('Key').fill(text);
      await page.keyboard.press('Enter');
    };
    for (const wrong of ['0123456789abcdef9999', 'schlüssel und mehr']) {
      await give(wrong);
      await expect.poll(() => page.getByRole('alert').innerText()).toContain('does not know this key');
      await nav(page, 'Data').click();
    }
    await give(key);
    await page.getByRole('heading', { name: 'What is in it?' }).waitFor();
    const [common] = recommender.popular({ n: 1 });
    await button(page, common.item).click();
    await expect
      .poll(() => page.locator('.chosen li button').allInnerTexts())
      .toEqual(recommender.similar(common.item, { n: 8 }).map(({ item }) => item));
    await button(page, 'Recommend for somebody who has it').click();
    await page.locator('.list b').first().waitFor();
    const kept = await page.evaluate(() =>
      JSON.stringify([location.href, { ...localStorage }, { ...sessionStorage }, document.cookie]),
    );
    expect(kept).not.toContain(key);
    await page.context().close();
    await locked.close();
  });
});

test.runIf(!canVisit)(whyNot, () => {});
