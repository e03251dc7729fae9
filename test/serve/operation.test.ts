// What operators see: the page /admin in a browser, and alert rules and a dashboard that name metrics which exist.

import { mkdtemp, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, chromium as playwright } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { parse } from 'yaml';
import { fit } from '../../src/fit/fit.js';
import { graphOfPairs } from '../../src/graph/pairs.js';
import { createActivity } from '../../src/serve/live/recent-traffic.js';
import { type RunningServer, serve } from '../../src/serve/serve.js';
import { saveModel } from '../../src/store/model-file.js';
import { chromium } from '../browser/chromium.js';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });
const root = join(import.meta.dirname, '../..');
const ADMIN = 'an-admin-key-of-some-length';
const OTHER = 'another-key-of-some-length';
let folder: string;
let server: RunningServer;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'graphex-admin-'));
  const pairs = Array.from({ length: 1200 }, (_, e) => [`u${e % 120}`, `i${(e * e) % 97}`] as const);
  const path = join(folder, 'model.safetensors');
  await saveModel(path, (await fit(graphOfPairs(pairs), { features: 2, iterations: 5, threads: 1 })).model);
  const threeDaysAgo = Date.now() / 1000 - 3 * 86_400;
  await utimes(path, threeDaysAgo, threeDaysAgo);
  await writeFile(join(folder, 'keys.txt'), `boss ${ADMIN} admin\nshop ${OTHER}\n`);
  server = await serve(path, {
    port: 0,
    threads: 1,
    keyFile: join(folder, 'keys.txt'),
    store: join(folder, 'events.duckdb'),
    refit: '03:00',
  });
});
afterAll(async () => {
  await server?.close();
  await rm(folder, { recursive: true, force: true });
});

const ask = (path: string, key: string, body?: unknown) =>
  fetch(`${server.url}${path}`, {
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
  });

it('the age of the model is that of its file, so a restart does not make it young', async () => {
  const metrics = await (await ask('/metrics', ADMIN)).text();
  const [, age] = /^graphex_model_age_seconds (\S+)$/m.exec(metrics) ?? [];
  expect(Number(age) / 86_400).toBeCloseTo(3, 1);
});

describe('keys', () => {
  it('any key may post events and ask; only an admin key may see users, hide items, refit and go back', async () => {
    expect((await ask('/v1/events', OTHER, { user: 'u1', item: 'i3' })).status).toBe(202);
    expect((await ask('/v1/recommend', OTHER, { user: 'u1' })).status).toBe(200);
    for (const path of ['/v1/users/u1/events', '/v1/status']) {
      expect([(await ask(path, OTHER)).status, (await ask(path, ADMIN)).status]).toEqual([403, 200]);
    }
    for (const path of ['/v1/refit', '/v1/items', '/v1/models/x.safetensors/activate']) {
      expect((await ask(path, OTHER, {})).status).toBe(403);
    }
  });
});

describe('activity', () => {
  it('counts by minute, forgets what is older than an hour, and has recent answer times', () => {
    let now = 0;
    const activity = createActivity(() => now);
    activity.stored(5);
    activity.answered(10);
    now = 2 * 60_000;
    activity.stored(7);
    for (let i = 1; i <= 100; i++) activity.answered(i);
    const { eventsPerMinute, answersPerMinute, p50, p99 } = activity.report();
    expect(eventsPerMinute.slice(-3)).toEqual([5, 0, 7]);
    expect(answersPerMinute.at(-1)).toBe(100);
    expect([p50, p99]).toEqual([50, 99]);
    now += 59 * 60_000;
    expect(activity.report().eventsPerMinute).toEqual([7, ...Array(59).fill(0)]);
    now += 1000 * 60_000;
    expect(activity.report()).toEqual({
      eventsPerMinute: Array(60).fill(0),
      answersPerMinute: Array(60).fill(0),
    });
  });
});

describe.skipIf(!chromium)('/admin in a browser', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await playwright.launch({ executablePath: chromium as string, args: ['--no-sandbox'] });
  });
  afterAll(() => browser?.close());

  it('asks for the key, shows the state, refits and goes back', async () => {
    const page = await browser.newPage();
    const errors: string[] = [];
    page.on('pageerror', (error) => errors.push(error.message));
    await page.goto(`${server.url}/admin`);
    await page.getByText('Enter an admin key.').waitFor();
    expect(await page.locator('#panel').isVisible()).toBe(false);
    await page.fill('#key', OTHER);
    await page.click('text=Show');
    await page.getByText('This key is not marked admin.').waitFor();
    await page.fill('#key', ADMIN);
    await page.click('text=Show');
    await page.locator('#panel').waitFor({ state: 'visible' });
    expect(await page.textContent('#model')).toMatch(/^model\.safetensors \(/);
    expect(await page.textContent('#refit')).toMatch(/^next /);
    expect(await page.locator('#events rect').count()).toBe(60);
    const events = Array.from({ length: 600 }, (_, e) => ({
      user: `u${e % 120}`,
      item: `i${(13 * e + Math.floor(e / 120)) % 97}`,
    }));
    await ask('/v1/events', ADMIN, events);
    await page.click('#refit-now');
    await page.locator('#last', { hasText: 'model-' }).waitFor({ timeout: 60_000 });
    await page.locator('#comparisons line[stroke-width="9"]').first().waitFor({ state: 'attached' });
    await page.locator('td', { hasText: 'model.safetensors' }).first().waitFor();
    await page.click('text=Use this one');
    await page.locator('#message', { hasText: 'answers now' }).waitFor();
    expect(errors).toEqual([]);
    if (process.env.GRAPHEX_SHOTS)
      await page.screenshot({ path: join(process.env.GRAPHEX_SHOTS, 'admin.png'), fullPage: true });
  });
});

describe('deploy/', () => {
  it('names metrics that the server has', async () => {
    await ask('/v1/recommend', ADMIN, { user: 'u1' });
    const metrics = await (await ask('/metrics', ADMIN)).text();
    const known = new Set([...metrics.matchAll(/^# TYPE (\w+)/gm)].map(([, name]) => name));
    const rules = parse(await readFile(join(root, 'deploy/prometheus-alerts.yaml'), 'utf8'));
    const dashboard = JSON.parse(await readFile(join(root, 'deploy/grafana-dashboard.json'), 'utf8'));
    const expressions: string[] = [
      ...rules.groups.flatMap((group: { rules: { expr: string }[] }) => group.rules.map(({ expr }) => expr)),
      ...dashboard.panels.flatMap((panel: { targets: { expr: string }[] }) =>
        panel.targets.map(({ expr }) => expr),
      ),
    ];
    const used = new Set(expressions.flatMap((expr) => expr.match(/\b(graphex|process)_\w+/g) ?? []));
    expect(used.size).toBeGreaterThan(12);
    expect([...used].map((name) => name.replace(/_bucket$/, '')).filter((name) => !known.has(name))).toEqual(
      [],
    );
  });
});
