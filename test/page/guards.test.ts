// What the page promises besides correct numbers: it is small, works offline, is safe and accessible, and never freezes.

import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  built,
  canVisit,
  complaints,
  focused,
  give,
  type Host,
  host,
  idle,
  button as main,
  nav,
  openBrowser,
  whyNot,
} from './visitor.js';

let browser: Browser;
let site: Host;
beforeAll(async () => {
  if (canVisit) [browser, site] = await Promise.all([openBrowser(), host()]);
});
afterAll(async () => {
  await browser?.close();
  await site?.close();
});

async function visit(context?: BrowserContext): Promise<{ page: Page; heard: string[] }> {
  const page = await (context ?? (await browser.newContext({ serviceWorkers: 'block' }))).newPage();
  const heard = complaints(page);
  await page.goto(site.address);
  return { page, heard };
}

describe.skipIf(!canVisit)('the built page', () => {
  test('shows its first screen from less than 60 kB, with no engine and no chart', async () => {
    const { page } = await visit();
    const asked: string[] = [];
    page.on('response', (response) => asked.push(new URL(response.url()).pathname));
    await page.reload({ waitUntil: 'networkidle' });
    await page.getByRole('heading', { name: /Drop a table/ }).waitFor();
    const size = asked
      .map((path) => readFileSync(join(built, path === '/' ? 'index.html' : path)))
      .reduce((sum, bytes) => sum + gzipSync(bytes).length, 0);
    expect(size).toBeLessThan(60_000);
    expect(asked.filter((path) => /session|kernels|predictive/.test(path))).toEqual([]);
    await page.context().close();
  });

  test('has no inline script or style, and all its files are its own', () => {
    const html = readFileSync(join(built, 'index.html'), 'utf8');
    expect(html).not.toMatch(/<script(?![^>]*\ssrc=)|<style|\sstyle=|\son\w+=|https?:\/\//);
    expect(html).toContain("script-src 'self' 'wasm-unsafe-eval'; style-src 'self'");
    const worker = readFileSync(join(built, 'service-worker.js'), 'utf8');
    const files = readdirSync(built, { recursive: true, withFileTypes: true }).filter(
      (entry) =>
        entry.isFile() &&
        entry.name !== 'service-worker.js' &&
        // The manual is read with a network.
        !entry.parentPath.startsWith(join(built, 'manual')),
    );
    for (const { name } of files) expect(worker, name).toContain(name);
    expect(brotliCompressSync(worker).length).toBeLessThan(4000);
  });

  test('becomes isolated on a host without headers by one reload, and works offline', async () => {
    const plain = await host({ isolated: false, path: '/some/folder/' });
    const context = await browser.newContext();
    const page = await context.newPage();
    let loads = 0;
    page.on('load', () => loads++);
    await page.goto(plain.address);
    await expect
      .poll(() => page.evaluate(() => crossOriginIsolated).catch(() => false), { timeout: 20_000 })
      .toBe(true);
    expect(loads).toBeLessThanOrEqual(2);
    await plain.close();
    // The host has stopped: everything from here on comes from the cache of the first load.
    await page.goto(`${plain.address}#start?features=3&iterations=20&engine=cpu`);
    await page.reload();
    await page.getByText('Simulated, small').click();
    await page.locator('.card strong').first().waitFor({ timeout: 30_000 });
    await idle(page);
    await main(page, 'Fit a model').click();
    await main(page, 'Fit to understand').click();
    await page.getByText(/contain .* of the hidden/).waitFor({ timeout: 60_000 });
    await main(page, 'Fit to recommend').click();
    await page.getByText(/Recommend therefore uses/).waitFor({ timeout: 60_000 });
    await nav(page, 'Explore').click();
    await page.locator('.map canvas').first().waitFor({ timeout: 60_000 });
    await nav(page, 'Recommend').click();
    await page.locator('.recommend .chips button').first().click();
    await page.locator('.stability b').first().waitFor({ timeout: 30_000 });
    const saves = main(page, 'Save all lists as Parquet');
    const [lists] = await Promise.all([page.waitForEvent('download'), saves.click()]);
    expect(lists.suggestedFilename()).toBe('recommendations.parquet');
    await nav(page, 'Growth').click();
    await main(page, 'Forecast').click();
    await page.locator('figure img').first().waitFor({ timeout: 60_000 });
    await nav(page, 'Is a split fair?').click();
    for (const at of [0, 1]) {
      const rows = Array.from({ length: 300 }, (_, e) => `u${(e * e) % 97},i${(e * 7 + at) % 83}`);
      await page
        .locator('.drop input')
        .nth(at)
        .setInputFiles({
          ...{
            name: `${at}.csv`,
            mimeType: 'text/csv',
            buffer: Buffer.from(`user,item\n${rows.join('\n')}\n`),
          },
        });
    }
    await main(page, 'Check the split').click();
    await main(page, 'Save the audit').waitFor({ timeout: 60_000 });
    await nav(page, 'Save').click();
    const [report] = await Promise.all([page.waitForEvent('download'), main(page, 'Save the check').click()]);
    expect(report.suggestedFilename()).toBe('check.html');
    await context.close();
  });
});

/** Ids with markup, a script, a bidi override, control characters or a formula, and an id of one megabyte. */
const EVIL = [
  '<img src=x onerror="window.harmed=1">',
  '</script><script>window.harmed=1</script>',
  '\u202egnp.exe',
  'a\u0000b\u001b[2J',
  '=HYPERLINK("http://evil")',
  'x'.repeat(1 << 20),
  '{{constructor.constructor("window.harmed=1")()}}',
];

describe.skipIf(!canVisit)('a hostile table', () => {
  test('is shown as text, in every step', async () => {
    const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;
    const evil = EVIL.filter((text) => !text.includes('\u0000'));
    const rows = Array.from({ length: 400 }, (_, e) => {
      const item = e % 9 === 0 ? evil[(e / 9) % evil.length] : `plain ${e % 23}`;
      return `${quoted(`u${(e * e) % 37}`)},${quoted(item)}`;
    });
    const header = `${quoted('<b onclick=window.harmed=1>user</b>')},${quoted('<script>window.harmed=1</script>')}`;
    const { page, heard } = await visit();
    await page.evaluate(() => {
      location.hash = '#start?features=2&iterations=20&engine=cpu&holdOut=false&setAside=true';
    });
    await page.reload();
    await give(page, '<img src=x onerror=window.harmed=1>.csv', [header, ...rows].join('\n'));
    await main(page, 'Is it sparse?').click();
    await page.locator('.card strong').first().waitFor({ timeout: 60_000 });
    await idle(page);
    await main(page, 'Fit a model').click();
    await main(page, 'Fit to understand').click();
    await page.getByRole('heading', { name: /converged/ }).waitFor({ timeout: 60_000 });
    await nav(page, 'Explore').click();
    await page.locator('.map canvas').first().waitFor({ timeout: 60_000 });
    await nav(page, 'Recommend').click();
    await main(page, 'Somebody new').click();
    await page.locator('.chips button').first().click();
    await page.locator('.list li').first().waitFor();
    await nav(page, 'Save').click();
    await page.locator('pre').first().waitFor();
    expect(await page.evaluate(() => (window as { harmed?: number }).harmed)).toBeUndefined();
    expect(await page.locator('main img[src=x], main script, main b[onclick]').count()).toBe(0);
    expect((await page.locator('main').innerText()).length).toBeLessThan(60_000);
    expect(heard).toEqual([]);
    await page.context().close();
  });

  test('a binary file and zero bytes are refused with a sentence', async () => {
    const { page } = await visit();
    await give(page, 'zero.csv', 'user,item\na,b\u0000c\n');
    await expect.poll(() => page.getByRole('alert').innerText()).toContain('contains zero bytes');
    await page.context().close();
  });
});

describe.skipIf(!canVisit)('everyone', () => {
  const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

  test('can use every step: no violation by axe, light and dark, and no remark without words', async () => {
    const { page } = await visit();
    const wrong: string[] = [];
    const look = async (step: string) => {
      await idle(page);
      const empty = await page.locator('main small:empty').count();
      if (empty > 0) wrong.push(`${step}: a remark without words`);
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
        const violations = await page.evaluate(
          async (rules) => {
            const { axe: checker } = window as unknown as {
              axe: {
                run(options: object): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }>;
              };
            };
            return (await checker.run(rules ? { runOnly: rules } : {})).violations.map(
              ({ id, nodes }) => `${id}: ${nodes[0].html.slice(0, 200)}`,
            );
            // The dark page differs in its colours alone.
          },
          colorScheme === 'dark' ? ['color-contrast'] : undefined,
        );
        wrong.push(...violations.map((violation) => `${step}, ${colorScheme}: ${violation}`));
      }
    };
    await page.evaluate(() => {
      location.hash = '#start?features=3&iterations=40&engine=cpu&draws=19';
    });
    await page.reload();
    await page.evaluate(readFileSync(axe, 'utf8'));
    await look('start');
    await give(
      page,
      'r.csv',
      `user,item,time\n${Array.from({ length: 2000 }, (_, e) => `u${(e * e) % 97},i${(e * 7) % 83},${1.6e9 + 9000 * e}`).join('\n')}\n`,
    );
    await page.getByRole('heading', { name: 'Which column is what?' }).waitFor();
    await look('columns');
    await main(page, 'Is it sparse?').click();
    await page.locator('figure img').nth(1).waitFor({ timeout: 60_000 });
    await look('verdict');
    await main(page, 'Fit a model').click();
    await main(page, 'Fit to understand').click();
    await page.getByRole('heading', { name: /converged/ }).waitFor({ timeout: 60_000 });
    await idle(page);
    await page.getByLabel('Recent rows count more').selectOption('auto');
    await main(page, 'Fit to recommend').click();
    await page.getByText(/Recommend therefore uses/).waitFor({ timeout: 60_000 });
    await look('fit');
    await main(page, 'Does it predict?').click();
    await page.getByRole('heading', { name: /How good are the lists/ }).waitFor({ timeout: 60_000 });
    await look('predict');
    await nav(page, 'Explore').click();
    await page.locator('.map canvas').first().waitFor({ timeout: 60_000 });
    await page.locator('tbody button').first().click();
    await look('explore');
    await nav(page, 'Recommend').click();
    await main(page, 'Somebody new').click();
    await page.locator('.chips button').first().click();
    await page.locator('.list button').first().click();
    await look('recommend');
    await main(page, 'A user').click();
    await page.locator('.chips button').first().click();
    await page.locator('.list .hide').first().click();
    await page.locator('.hidden-items').waitFor();
    await page.getByRole('button', { name: /^and \d+ more$/ }).click();
    await page.locator('.stability b').first().waitFor();
    await look('recommend for a user, with a hidden item');
    const about = Array.from({ length: 83 }, (_, i) => `i${i},${i % 2 ? 'red' : 'blue'},${i}`).join('\n');
    await page.locator('.titles input').setInputFiles({
      ...{ name: 'about.csv', mimeType: 'text/csv', buffer: Buffer.from(`item,colour,price\n${about}\n`) },
    });
    await page.getByRole('searchbox', { name: /^Filter/ }).fill("shape = 'round'");
    await page.keyboard.press('Enter');
    await page.getByRole('alert').waitFor();
    await look('recommend for a user, with a filter that is refused');
    await nav(page, 'Growth').click();
    await main(page, 'Forecast').click();
    await page.locator('figure img').first().waitFor({ timeout: 60_000 });
    await look('forecast');
    await nav(page, 'Is a split fair?').click();
    const half = (at: number) => ({
      ...{ name: `${at}.csv`, mimeType: 'text/csv' },
      buffer: Buffer.from(
        `user,item\n${Array.from({ length: 600 }, (_, e) => `u${(e * e) % 97},i${(e * 7 + at) % 83}`).join('\n')}\n`,
      ),
    });
    for (const at of [0, 1]) await page.locator('.drop input').nth(at).setInputFiles(half(at));
    await main(page, 'Check the split').click();
    await main(page, 'Save the audit').waitFor({ timeout: 60_000 });
    await look('audit');
    await nav(page, 'Save').click();
    await look('report');
    expect(wrong).toEqual([]);
    await page.context().close();
  });

  test('gets from a table to a list with its reasons by keyboard alone', async () => {
    const { page } = await visit();
    await page.evaluate(() => {
      location.hash = '#start?features=3&iterations=20&engine=cpu&n=5';
    });
    await page.reload();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    expect(await focused(page)).toBe('main');
    expect(page.url()).toMatch(/#start\?/);
    /** Presses Tab until something with this text has the focus, then a key. */
    const press = async (text: RegExp, key = 'Enter') => {
      for (let tabs = 0; tabs < 60; tabs++) {
        await page.keyboard.press('Tab');
        const focused = await page.evaluate(() => {
          const { activeElement } = document;
          const [label] = (activeElement instanceof HTMLInputElement && activeElement.labels) || [];
          return (label ?? activeElement)?.textContent ?? '';
        });
        if (text.test(focused)) return page.keyboard.press(key);
      }
      throw new Error(`Tab does not reach ${text}`);
    };
    await press(/^Simulated, small/);
    await page.locator('.card strong').first().waitFor({ timeout: 30_000 });
    // The keyboard focus moves to the new step, and the tab shows its title.
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('main');
    expect(await page.title()).toBe('Is it sparse? · graphex');
    await idle(page);
    await press(/^Fit a model$/);
    await press(/^Fit to understand$/);
    await page.getByText(/contain .* of the hidden/).waitFor({ timeout: 60_000 });
    await idle(page);
    // The focus is where it was when work ends, and at the work while it lasts.
    await expect.poll(() => focused(page)).toBe('Fit again to understand');
    await press(/^Fit to recommend$/);
    await expect.poll(() => focused(page)).toMatch(/^(Work in progress|Fit again to recommend)$/);
    await page.getByText(/Recommend therefore uses/).waitFor({ timeout: 60_000 });
    await idle(page);
    await expect.poll(() => focused(page)).toBe('Fit again to recommend');
    await press(/^Recommend$/);
    await page.locator('.recommend .chips button').first().waitFor();
    const [user] = (await page.locator('.recommend .chips button').nth(3).innerText()).split(/\s/);
    await press(/^Find a/, user[0]);
    await page.keyboard.type(`${user.slice(1)}`);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: new RegExp(` ${user}$`) }).waitFor({ timeout: 30_000 });
    await page.locator('.list b').nth(4).waitFor({ timeout: 30_000 });
    const listed = () => page.locator('.list b').allInnerTexts();
    const [best, second] = await listed();
    await press(new RegExp(`^${best}`));
    expect(await page.locator('.reasons').innerText()).toContain('the sum of these parts');
    await press(/^Hide$/);
    await expect.poll(async () => (await listed())[0]).toBe(second);
    await expect.poll(() => focused(page)).toBe(`Hide ${second} from all lists`);
    const taken = page.waitForEvent('download');
    await press(/^Save all lists as CSV$/);
    expect(readFileSync(await (await taken).path(), 'utf8')).not.toContain(`,${best},`);
    await press(/^Growth$/);
    await press(/^Forecast$/);
    await page.locator('figure img').first().waitFor({ timeout: 60_000 });
    await page.context().close();
  });
});

test.runIf(!canVisit)(whyNot, () => {});
