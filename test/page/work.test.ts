// What is under way on the page: what waits for it, what ends it, and what stays if it is cancelled.

import { beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { openBlob } from '../../src/page/actions.js';
import { runFit } from '../../src/page/fit-actions.js';
import type { ModelSummary, Opened, Purpose } from '../../src/page/protocol.js';
import { forget, models, opened, preview, source } from '../../src/page/state.js';
import { perform, stopWork, work } from '../../src/page/work.js';
import { answer, cancelled, fakeSession, isCancelled, refuse } from './fake-session.js';

beforeAll(() => {
  fakeSession();
  vi.stubGlobal('location', { hash: '', href: 'http://host/' });
  vi.stubGlobal('history', { pushState: () => {}, replaceState: () => {} });
  vi.stubGlobal('scrollTo', () => {});
  Object.assign(document, { documentElement: { dataset: {} } });
  Object.assign(window, { scrollTo: () => {} });
});
beforeEach(async () => {
  await cancelled(stopWork);
  forget('data');
  opened.value = { users: 10, items: 10, edges: 50 } as Opened;
});

const fitted = (purpose: Purpose, more: Partial<ModelSummary> = {}) =>
  ({ purpose, converged: true, seconds: 1, bounds: [], iterations: 9, ...more }) as ModelSummary;

test('a map that is asked for during a fit waits for it, and both arrive', async () => {
  void runFit('recommend');
  const map = perform('Drawing the map.', 'map', { seed: 1 }, { of: 'explore', replaces: 'same' });
  expect(isCancelled('fit')).toBe(false);
  expect(work.value!.title).toBe('Fitting.');
  await answer('fit', fitted('recommend'));
  expect(models.value.recommend).toBeDefined();
  expect(work.value!.title).toBe('Drawing the map.');
  await answer('map', { degree: new Uint32Array(3) });
  expect((await map)!.degree.length).toBe(3);
  expect(work.value).toBeUndefined();
});

test('Cancel ends the work that is shown, and what waits begins', async () => {
  void runFit('recommend');
  const saved = perform('Writing.', 'export', { what: 'features' });
  await cancelled(work.value!.cancel);
  expect([isCancelled('fit'), isCancelled('export'), work.value!.title]).toEqual([true, false, 'Writing.']);
  await answer('export', { name: 'features.csv' });
  expect((await saved)!.name).toBe('features.csv');
});

test('a file that cannot be read does not end a fit; another table does', async () => {
  void runFit('recommend');
  void openBlob('wrong.csv', new Blob());
  await refuse('preview', 'this is a zip archive');
  expect([isCancelled('fit'), work.value!.title]).toEqual([false, 'Fitting.']);
  void openBlob('other.csv', new Blob());
  await answer('preview', { names: ['a', 'b'], guess: { users: 'a', items: 'b' } });
  expect(isCancelled('fit')).toBe(true);
  expect([source.value?.name, preview.value?.names, work.value]).toEqual([
    'other.csv',
    ['a', 'b'],
    undefined,
  ]);
});
