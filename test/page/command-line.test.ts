// The page compared with the command line: one file, one seed, the same numbers, on threads and on WebGPU. Also the
// other ways to open a table: dropping a file, and fetching one.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { modelFromBytes, readGraph } from '../../src/index.js';
import { edgeText } from '../../src/store/edge-rows.js';
import { grouped } from '../../src/text/numbers.js';
import { SOFTWARE_GPU } from '../browser/chromium.js';
import { tooLong, watchTasks } from './tasks.js';
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

const CSV = `reader,book\n${Array.from({ length: 1600 }, (_, e) => {
  const reader = (e * e + 7 * e) % 149;
  return `r${reader},book ${(reader % 3) * 40 + ((e * 31) % 71)}`;
}).join('\n')}\n`;
const SETTINGS = '#start?features=3&iterations=40&engine=cpu&draws=19&seed=5';
const folder = mkdtempSync(join(tmpdir(), 'graphex-page-cli-'));
const at = (name: string) => join(folder, name);
const graphex = (...args: string[]) =>
  JSON.parse(
    execFileSync(process.execPath, ['bin/graphex.js', ...args, '--json', '--quiet'], { encoding: 'utf8' }),
  );

let browser: Browser;
let site: Host;
let fitted: { readonly bound: number };
beforeAll(async () => {
  if (!canVisit) return;
  writeFileSync(at('readers.csv'), CSV);
  graphex('split', at('readers.csv'), '--seed', '5', '-o', at('parts'));
  const options = ['-k', '3', '--iterations', '40', '--seed', '5', '--engine', 'cpu'];
  fitted = graphex('fit', at('parts'), ...options, '-o', at('m.safetensors'));
  [browser, site] = await Promise.all([openBrowser(...SOFTWARE_GPU), host()]);
});
afterAll(async () => {
  await browser?.close();
  await site?.close();
  rmSync(folder, { recursive: true });
});

async function visit(hash: string): Promise<{ page: Page; heard: string[] }> {
  const context = await browser.newContext({ serviceWorkers: 'block', acceptDownloads: true });
  const page = await context.newPage();
  const heard = complaints(page);
  await page.goto(site.address + hash);
  return { page, heard };
}

/** From the columns to a fit that has ended. */
async function toFit(page: Page): Promise<void> {
  await button(page, 'Is it sparse?').click();
  await page.locator('.card strong').first().waitFor();
  await idle(page);
  await button(page, 'Fit a model').click();
  await button(page, 'Fit to understand').click();
  await page.getByRole('heading', { name: /converged/ }).waitFor({ timeout: 60_000 });
}

async function savedModel(page: Page) {
  await nav(page, 'Save').click();
  const bytes = await download(page, () => button(page, 'Save model.safetensors').click());
  const model = await modelFromBytes(new Uint8Array(bytes));
  if (model.type !== 'posterior') throw new Error(`a fit was saved as a ${model.type}`);
  return model;
}

describe.skipIf(!canVisit)('the page and the command line', () => {
  test('agree on check, split, bound and lists; charts and lists are saved as files', async () => {
    const check = graphex('check', at('readers.csv'), '--seed', '5');
    const { page, heard } = await visit(SETTINGS);
    await give(page, 'readers.csv', CSV);
    await toFit(page);
    await nav(page, 'Is it sparse?').click();
    expect(await page.locator('.card strong').allInnerTexts()).toEqual([
      check.verdict.users,
      check.verdict.items,
    ]);
    expect(await page.locator('.facts dd').allInnerTexts()).toEqual(
      expect.arrayContaining([check.users, check.items, check.edges].map((count) => grouped(count))),
    );
    await page.locator('figure img').nth(1).waitFor();
    for (const figure of await page.locator('figure').all()) {
      await figure.getByText('Table and files of this chart').click();
      const file = (name: string) => download(page, () => figure.getByRole('button', { name }).click());
      expect((await file('Save SVG')).toString()).toMatch(/^<svg.*<\/svg>\s*$/s);
      expect((await file('Save PNG')).subarray(1, 4).toString()).toBe('PNG');
    }
    const { bound, items } = await savedModel(page);
    expect(Math.abs(bound! / fitted.bound - 1)).toBeLessThan(1e-9);
    const test = await download(page, () => button(page, 'Save test part as CSV').click());
    const { graph } = await readGraph(at('parts/test.parquet'));
    expect(test.toString().split('\n').sort()).toEqual([...edgeText(graph, ',')].join('').split('\n').sort());

    await nav(page, 'Recommend').click();
    await button(page, 'Somebody new').click();
    for (const n of [1, 3]) await page.locator('.chips button').nth(n).click();
    await page.locator('.chips .on').nth(1).waitFor();
    const likes = (await page.locator('.chips .on').allInnerTexts()).map((text) => text.replace(/ ×$/, ''));
    expect(likes.every((id) => items.ids.find(id) >= 0)).toBe(true);
    const list = graphex(
      'recommend',
      at('m.safetensors'),
      ...likes.flatMap((id) => ['--likes', id]),
      '-n',
      '20',
    );
    await expect.poll(() => page.locator('.list b').allInnerTexts()).toEqual(names(list));
    const saved = JSON.parse(
      (await download(page, () => button(page, 'Save this list as JSON lines').click())).toString(),
    );
    expect(names(saved.items)).toEqual(names(list));
    for (const [place, { score }] of saved.items.entries())
      expect(Math.abs(score / list[place].score - 1)).toBeLessThan(1e-6);
    const csv = await download(page, () => button(page, 'Save this list as CSV').click());
    expect(csv.toString().split('\n').slice(0, 2).join()).toMatch(
      new RegExp(`^user,item,rank,score,new reader,${list[0].item},1,`),
    );
    const parquet = await download(page, () => button(page, 'Save this list as Parquet').click());
    expect(parquet.subarray(0, 4).toString() + parquet.subarray(-4).toString()).toBe('PAR1PAR1');
    expect(heard).toEqual([]);
    await page.context().close();
  });

  test('agree on WebGPU, to its tolerance', async () => {
    const { page, heard } = await visit(SETTINGS.replace('engine=cpu', 'engine=gpu'));
    await give(page, 'readers.csv', CSV);
    await toFit(page);
    await page.getByText('Computed by the engine webgpu').waitFor();
    const { bound } = await savedModel(page);
    expect(Math.abs(bound! / fitted.bound - 1)).toBeLessThan(1e-4);
    expect(heard).toEqual([]);
    await page.context().close();
  });
});

describe.skipIf(!canVisit)('a table is opened', () => {
  test('dropped anywhere on the page', async () => {
    const { page } = await visit('');
    const data = await page.evaluateHandle((text) => {
      const transfer = new DataTransfer();
      transfer.items.add(new File([text], 'dropped.csv'));
      return transfer;
    }, CSV);
    await page.dispatchEvent('footer', 'drop', { dataTransfer: data });
    await page.getByText(/dropped\.csv: text table/).waitFor();
    expect(await page.getByLabel(/^Users/).inputValue()).toBe('reader');
    await page.context().close();
  });

  test('fetched from a server that allows it; one that does not, or has none, is named', async () => {
    const { page } = await visit('');
    const headers = { 'access-control-allow-origin': '*' };
    await page.route('https://tables.example/**', (route) => {
      const { pathname } = new URL(route.request().url());
      if (pathname === '/none.csv') return route.fulfill({ status: 404, headers, body: '' });
      if (pathname === '/closed.csv') return route.abort();
      return route.fulfill({ headers, contentType: 'text/csv', body: CSV });
    });
    const ask = async (address: string) => {
      await page.getByLabel('Fetch from an address').fill(address);
      await button(page, 'Fetch').click();
    };
    await ask('https://tables.example/none.csv');
    await expect.poll(() => page.getByRole('alert').innerText()).toContain('status 404');
    await ask('https://tables.example/closed.csv');
    await expect
      .poll(() => page.getByRole('alert').innerText())
      .toContain('Download the file and drop it here');
    await ask('https://tables.example/some/readers.csv?x=1');
    await page.getByText(/^readers\.csv: text table/).waitFor();
    await page.context().close();
  });
});

describe.skipIf(!canVisit)('the study', () => {
  test('is saved as one self-contained page and as numbers', async () => {
    const { page, heard } = await visit('#start?features=2');
    await page.getByLabel('Paste rows').fill(CSV.split('\n').slice(0, 150).join('\n'));
    await button(page, 'Use these rows').click();
    await button(page, 'Is it sparse?').click();
    await page.locator('.card strong').first().waitFor();
    await idle(page);
    const ids = [
      ...new Set(
        CSV.split('\n')
          .slice(1, 150)
          .map((row) => row.split(',')[1]),
      ),
    ];
    const titles = ['id,title', ...ids.map((id) => `${id},A long title of ${id}`)].join('\n');
    await page.locator('.titles input').setInputFiles({
      ...{ name: 'titles.csv', mimeType: 'text/csv', buffer: Buffer.from(titles) },
    });
    await page.getByText(/have a title, from column title of titles\.csv/).waitFor();
    await nav(page, 'Save').click();
    const files = new Map<string, string>();
    page.on('download', async (file) =>
      files.set(file.suggestedFilename(), readFileSync(await file.path(), 'utf8')),
    );
    const watched = await watchTasks(browser, page);
    await button(page, 'Make and save the study').click();
    await expect.poll(() => files.size, { timeout: 60_000 }).toBe(2);
    expect(tooLong(await watched())).toEqual([]);
    const results = JSON.parse(files.get('results.json')!);
    expect(results.receipt.origin.source).toBe('pasted.txt');
    const report = files.get('report.html')!;
    expect(report).toContain('<svg');
    // The items of the features have the titles of the second table.
    expect(report).toContain(`A long title of ${ids[0]}`);
    expect(results.receipt.origin.titles).toMatchObject({ source: 'titles.csv', columns: 'id → title' });
    expect(report).not.toMatch(/(src|href)="https?:/);
    expect(heard).toEqual([]);
    await page.context().close();
  });
});

function names(list: readonly { readonly item: string }[]): string[] {
  return list.map(({ item }) => item);
}

test.runIf(!canVisit)(whyNot, () => {});
