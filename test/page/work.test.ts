// What is under way on the page: what waits for it, what ends it, and what stays if it is cancelled.

import { beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { openBlob, runAudit, runForecast } from '../../src/page/actions.js';
import { runEvaluation, runFit } from '../../src/page/fit-actions.js';
import type { ModelSummary, Opened, Purpose } from '../../src/page/protocol.js';
import {
  audited,
  auditFiles,
  change,
  comparing,
  comparison,
  evaluation,
  forecast,
  forget,
  liveFit,
  models,
  opened,
  preview,
  source,
} from '../../src/page/state.js';
import { perform, stopWork, work } from '../../src/page/work.js';
import { answer, cancelled, fakeSession, isCancelled, refuse, sendPart, timesAsked } from './fake-session.js';

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

/** Fits the model that describes the data, compares its lists and draws from it. */
async function describe(): Promise<ModelSummary> {
  void runFit('understand');
  await sendPart('fit', { purpose: 'understand', bounds: [[5, -20]], iteration: 5 });
  const split = { train: opened.value! } as unknown as ModelSummary['split'];
  const choice = { split: { testUsers: 0.2, testItems: 0.2, seed: 1 } } as ModelSummary['choice'];
  const model = fitted('understand', { split, choice, bounds: [[9, -10]] });
  await answer('fit', model);
  expect(comparing.value).toBe(true);
  void runEvaluation();
  await answer('compare', { best: 'understand' });
  await answer('evaluate', { words: ['It fits.'] });
  return model;
}

test('a fit that is cancelled or fails leaves the models and their results as they were', async () => {
  const model = await describe();
  const [compared, evaluated, live] = [comparison.value, evaluation.value, liveFit.value];
  expect([compared?.best, evaluated?.words, live?.bounds]).toEqual(['understand', ['It fits.'], [[9, -10]]]);
  for (const purpose of ['understand', 'recommend'] as const) {
    for (const end of [() => cancelled(work.value!.cancel), () => refuse('fit', 'no')]) {
      void runFit(purpose);
      await sendPart('fit', { purpose, bounds: [], iteration: 0 });
      expect([models.value, comparison.value, evaluation.value, comparing.value]).toEqual([
        { understand: model },
        compared,
        evaluated,
        false,
      ]);
      expect(liveFit.value!.bounds).toEqual([]);
      await end();
      expect([models.value, comparison.value, evaluation.value, comparing.value, liveFit.value]).toEqual([
        { understand: model },
        compared,
        evaluated,
        false,
        live,
      ]);
    }
  }
});

test('a new model takes the place of the old one and of one of another split; only its own results are forgotten', async () => {
  const { split, choice } = await describe();
  const evaluated = evaluation.value;
  void runFit('recommend');
  await answer('fit', fitted('recommend', { split, choice }));
  expect(Object.keys(models.value)).toEqual(['understand', 'recommend']);
  expect([comparison.value, comparing.value, evaluation.value]).toEqual([undefined, true, evaluated]);
  await answer('compare', { best: 'recommend' });
  expect([comparison.value?.best, comparing.value]).toEqual(['recommend', false]);
  change({ testUsers: 0.3 });
  void runFit('recommend');
  expect(Object.keys(models.value)).toEqual(['understand', 'recommend']);
  await answer('fit', fitted('recommend', { split, choice }));
  expect([Object.keys(models.value), evaluation.value]).toEqual([['recommend'], undefined]);
  change({ testUsers: 0.2 });
});

test('a comparison that fails ends, and is not made twice', async () => {
  await describe();
  comparison.value = undefined;
  void runEvaluation();
  const asked = timesAsked('compare');
  void runEvaluation();
  expect(timesAsked('compare')).toBe(asked);
  await refuse('compare', 'no test part');
  expect(comparing.value).toBe(false);
});

test('an audit that is cancelled leaves the one before; one that fails does not', async () => {
  const file = { name: 'a.csv', blob: new Blob() };
  auditFiles.value = { train: file, test: file };
  void runAudit();
  await answer('audit', { seed: 4 });
  void runAudit();
  await cancelled(work.value!.cancel);
  expect(audited.value?.seed).toBe(4);
  void runAudit();
  await refuse('audit', 'no column');
  expect(audited.value).toBeUndefined();
});

test('a forecast that is cancelled leaves the one before; one that fails does not', async () => {
  void runForecast();
  await answer('forecast', { seed: 4 });
  void runForecast();
  await cancelled(work.value!.cancel);
  expect(forecast.value?.seed).toBe(4);
  void runForecast();
  await refuse('forecast', 'too short');
  expect(forecast.value).toBeUndefined();
});
