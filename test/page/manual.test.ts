// The manual within the page's site: every link leads somewhere, and the search finds what it should.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TERMS } from '../../src/page/components/glossary-terms.js';
import { built, canVisit, complaints, host, openBrowser, whyNot } from './visitor.js';

const manual = join(built, 'manual');

describe.skipIf(!existsSync(manual))('the manual of the site', () => {
  // This also runs if the tests are skipped.
  const pages = (existsSync(manual) ? readdirSync(manual, { recursive: true }) : [])
    .map(String)
    .filter((path) => path.endsWith('.html'));
  const text = (path: string) => readFileSync(join(manual, path), 'utf8');
  const attributes = (html: string, name: string) =>
    [...html.matchAll(new RegExp(`\\s${name}="([^"]*)"`, 'g'))].map(([, value]) =>
      value.replaceAll('&amp;', '&'),
    );

  it('has a page for each of docs/', () => {
    const docs = join(process.cwd(), 'docs');
    for (const path of readdirSync(docs, { recursive: true }).map(String)) {
      if (!path.endsWith('.md')) continue;
      expect(pages).toContain(path.replace(/README\.md$/, 'index.html').replace(/\.md$/, '.html'));
    }
  });

  it('has no broken link, headings and pictures included', () => {
    for (const page of pages) {
      const html = text(page);
      for (const to of [...attributes(html, 'href'), ...attributes(html, 'src')]) {
        if (/^https?:/.test(to)) continue;
        const [file, anchor] = to.split('#');
        const target = file === '' ? join(manual, page) : join(manual, dirname(page), file);
        expect(existsSync(target), `${page} leads to ${to}`).toBe(true);
        if (anchor && target.endsWith('.html')) {
          expect(attributes(readFileSync(target, 'utf8'), 'id'), `${page} leads to ${to}`).toContain(anchor);
        }
      }
    }
  });

  it('has an anchor for every term that the page links to', () => {
    for (const anchor of Object.values(TERMS))
      expect(text('index.html')).toContain(`<tr id="term-${anchor}">`);
  });

  it('has no script or style of its own in a page', () => {
    for (const page of pages) expect(text(page)).not.toMatch(/<script>|<style|\son[a-z]+="|\sstyle="/);
  });
});

describe.skipIf(!canVisit)(canVisit ? 'search in the manual' : `skipped: ${whyNot}`, () => {
  let site: Awaited<ReturnType<typeof host>>;
  let browser: Awaited<ReturnType<typeof openBrowser>>;
  beforeAll(async () => {
    site = await host();
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await site?.close();
  });

  it('finds headings first, leads to them, and says when nothing is found', async () => {
    const page = await browser.newPage();
    const heard = complaints(page);
    await page.goto(`${site.address}manual/commands/index.html`);
    await page.keyboard.press('/');
    await page.keyboard.type('which option');
    await page.waitForSelector('#found li a');
    expect(await page.textContent('#found li a')).toContain('Which option to use');
    await page.click('#found li a');
    await page.waitForURL(/manual\/sides\.html/);
    await page.fill('#search', 'no such word in it qqq');
    await page.waitForSelector('#found p');
    expect(await page.textContent('#found p')).toBe('Nothing has all of these words.');
    await page.keyboard.press('Escape');
    expect(await page.isVisible('#found')).toBe(false);
    expect(heard).toEqual([]);
  });

  it('is linked from the page', async () => {
    const page = await browser.newPage();
    await page.goto(site.address);
    await page.click('footer a');
    await page.waitForURL(/manual\/index\.html/);
    expect(await page.textContent('h1')).toBe('The manual');
  });
});
