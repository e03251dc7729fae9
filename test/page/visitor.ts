// A visitor of the built page: a static host with or without the isolating headers, and Debian's Chromium.

import { existsSync, readFileSync, statSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import { type Browser, chromium as driver, type Page } from 'playwright-core';
import { chromium, ISOLATED } from '../browser/chromium.js';

export const built = join(process.cwd(), 'page/dist');
export const canVisit = chromium !== undefined && existsSync(join(built, 'index.html'));
export const whyNot = chromium
  ? 'the page is not built: npm run page'
  : 'no Chromium to open the page in: install chromium';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.webp': 'image/webp',
  '.wasm': 'application/wasm',
  '.json': 'application/json',
};

export interface Host {
  readonly address: string;
  close(): Promise<void>;
}

/** Serves page/dist, at a path as some hosts do. */
export async function host({ isolated = true, path = '/' } = {}): Promise<Host> {
  const server: Server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://host');
    const file = join(built, pathname.startsWith(path) ? pathname.slice(path.length) || 'index.html' : '..');
    if (!file.startsWith(built) || !existsSync(file) || !statSync(file).isFile()) {
      response.writeHead(404).end();
      return;
    }
    response
      .writeHead(200, {
        'Content-Type': TYPES[extname(file)] ?? 'application/octet-stream',
        'Cache-Control': 'no-cache',
        ...(isolated ? ISOLATED : {}),
      })
      .end(readFileSync(file));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

export function openBrowser(...flags: string[]): Promise<Browser> {
  return driver.launch({ executablePath: chromium!, args: ['--no-sandbox', ...flags] });
}

/** What the page complained of: errors of scripts and breaches of its security policy. */
export function complaints(page: Page): string[] {
  const heard: string[] = [];
  page.on('pageerror', (error) => heard.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error') heard.push(message.text());
  });
  return heard;
}

/** Gives a file to the page as the file picker does. */
export function give(page: Page, name: string, content: string | Buffer): Promise<void> {
  const buffer = typeof content === 'string' ? Buffer.from(content) : content;
  return page.setInputFiles('input[type=file]', { name, mimeType: 'application/octet-stream', buffer });
}

/** A step of the way, by its name at the top. */
export const nav = (page: Page, name: string) =>
  page.locator('nav').getByRole('button', { name, exact: true });
export const button = (page: Page, name: string) =>
  page.locator('main').getByRole('button', { name, exact: true });
/** What has the keyboard focus: its label, id or text. */
export const focused = (page: Page) =>
  page.evaluate(() => {
    const { activeElement: element } = document;
    return element?.getAttribute('aria-label') || element?.id || element?.textContent;
  });
/** Nothing is under way. */
export const idle = (page: Page) => page.locator('.working').waitFor({ state: 'detached', timeout: 60_000 });

export async function download(page: Page, click: () => Promise<void>): Promise<Buffer> {
  const [file] = await Promise.all([page.waitForEvent('download'), click()]);
  return readFileSync(await file.path());
}
