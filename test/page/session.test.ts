// The session's models without a browser: which data they learn from, and what they say about it.

import { beforeAll, expect, test } from 'vitest';
import type { RankingScores } from '../../src/metrics/ranking-metrics.js';
import type { FitChoice, Purpose } from '../../src/page/protocol.js';
import { answerRead, answerThin, currentData } from '../../src/page/session/session-data.js';
import { clearlyBetter } from '../../src/page/session/session-evaluate.js';
import { answerExport } from '../../src/page/session/session-export.js';
import { answerAudit, answerForecast } from '../../src/page/session/session-growth.js';
import { answerRecommend } from '../../src/page/session/session-lists.js';
import { answerFit, currentModel, currentSplit } from '../../src/page/session/session-model.js';

const task = { signal: new AbortController().signal };

/** Two columns of times. A half-life is searched only if there are a few hundred users. */
const rows = Array.from({ length: 400 * 8 }, (_, e) => {
  const [user, k] = [Math.floor(e / 8), e % 8];
  const day = 86_400;
  return `u${user},i${(user * 5 + k * (1 + (user % 2))) % 24},${1e9 + day * (e % 97)},${1.2e9 - 30 * day * (e % 89)}`;
});
const blob = new Blob([`user,item,bought,paid\n${rows.join('\n')}\n`]);

beforeAll(async () => {
  const options = { users: 'user', items: 'item', header: true };
  await answerRead({ source: { kind: 'blob', name: 'table.csv', blob }, options }, task);
});

function fitted(purpose: Purpose, time?: string, use = task) {
  const choice: FitChoice = {
    ...{ purpose, time, features: 2, model: 'dense', iterations: 5, engine: 'cpu', seed: 1 },
    ...{ halfLife: 'auto', split: { testUsers: 0.3, testItems: 0.3, seed: 1 } },
  };
  return answerFit(choice, use, () => {});
}

/** The half-life of the ranker, and whether the split has times. */
function found() {
  const { model, split } = currentModel('recommend');
  expect(currentSplit()).toBe(split!.parts);
  const recency = model.type === 'ranker' ? model.provenance.recency : undefined;
  return { recency, times: currentSplit()!.times, edges: currentSplit()!.train.users.neighbors };
}

test('a ranker that is fitted again with another column of times uses that column, and so does the split', async () => {
  expect((await fitted('recommend', 'paid')).time).toBe('paid');
  const paid = found();
  expect(paid.recency!.tried.length).toBeGreaterThan(0);

  expect((await fitted('understand', 'paid')).time).toBeUndefined();
  expect(found()).toEqual(paid);

  expect((await fitted('recommend', 'bought')).time).toBe('bought');
  const bought = found();
  expect(bought.edges).toEqual(paid.edges);
  expect(bought.times!.train).not.toEqual(paid.times!.train);
  expect(bought.recency).not.toEqual(paid.recency);

  expect((await fitted('recommend', 'paid')).time).toBe('paid');
  expect(found()).toEqual(paid);
  const read = new Set(currentData().times);
  expect([...currentSplit()!.times!.train].every((time) => read.has(time))).toBe(true);

  expect((await fitted('recommend')).time).toBeUndefined();
  expect(found()).toEqual({ recency: undefined, times: undefined, edges: paid.edges });
});

test('a fit that is cancelled, and a share that leaves no edge, leave the models, their split and their times as they were', async () => {
  await fitted('recommend', 'paid');
  await fitted('understand');
  const [ranker, described, { times }] = [
    currentModel('recommend'),
    currentModel('understand'),
    currentData(),
  ];
  const controller = new AbortController();
  const again = { signal: controller.signal, onProgress: () => controller.abort() };
  await expect(fitted('recommend', 'bought', again)).rejects.toThrow();
  await expect(fitted('understand', undefined, again)).rejects.toThrow();
  await expect(answerThin({ users: 1e-9, items: 1e-9, seed: 1 })).rejects.toThrow('keep a larger share');
  expect(currentModel('recommend')).toBe(ranker);
  expect(currentModel('understand')).toBe(described);
  expect(currentData().times).toBe(times);
});

test('the list of one user is a file of that user, with safe characters; lists without any item are refused', async () => {
  const list = { user: '../a b/ü:1', items: [{ item: 'i1', score: 1 }], basis: 'edges' } as const;
  expect((await answerExport({ what: 'list', list, format: 'csv' }, task)).name).toBe(
    'recommendations--a-b-ü-1.csv',
  );
  await fitted('recommend');
  const all = { what: 'lists', by: 'recommend', n: 3, format: 'csv' } as const;
  const items = Array.from({ length: 24 }, (_, i) => `i${i}`);
  expect((await answerExport({ ...all, exclude: items.slice(1) }, task)).name).toBe('recommendations.csv');
  await expect(answerExport({ ...all, exclude: items }, task)).rejects.toThrow(
    'no items are left to list: change the filter, or show hidden items again',
  );
});

test('a forecast and an audit say which seed they have, since the setting may change before they are saved', async () => {
  const growth = { time: undefined, next: undefined, usersTimes: 1.5, seed: 7 };
  expect((await answerForecast(growth, task)).seed).toBe(7);
  const tables = { train: { name: 'train.csv', blob }, test: { name: 'test.csv', blob } };
  expect((await answerAudit({ files: tables, seed: 9 }, task)).seed).toBe(9);
});

test('a list is based on the items that the model knows, as on the command line', async () => {
  await fitted('recommend');
  const asked = { n: 3, by: 'recommend', exclude: [] } as const;
  const basis = async (...likes: string[]) =>
    (await answerRecommend({ ...asked, query: { likes } }, task, () => {})).basis;
  expect(await basis('i1', 'i1', 'no such item')).toBe('few');
  expect(await basis('no such item')).toBe('popular');
  expect(await basis('i1', 'i2', 'i3', 'i4', 'i5')).toBe('personal');
});

test('the better lists are those that differ by more than chance on enough users', () => {
  const scores = (users: number, recall: (user: number) => number, ndcg = recall) => {
    const values = (of: typeof recall) => Float64Array.from({ length: users }, (_, user) => of(user));
    return { users, perUser: { recall: values(recall), ndcg: values(ndcg) } } as unknown as RankingScores;
  };
  const noisy = (mean: number) => (user: number) => mean + (((user * 7919) % 101) - 50) / 100;
  const [low, high] = [scores(800, noisy(0.3)), scores(800, (user) => noisy(0.5)(user * 3))];
  expect(clearlyBetter(high, low, 1)).toBe('understand');
  expect(clearlyBetter(low, high, 1)).toBe('recommend');
  const near = scores(800, (user) => noisy(0.3004)(user * 3));
  expect([clearlyBetter(near, low, 1), clearlyBetter(low, near, 1)]).toEqual([undefined, undefined]);
  const opposed = scores(800, noisy(0.5), noisy(0.1));
  expect(clearlyBetter(opposed, low, 1)).toBeUndefined();
  expect(clearlyBetter(scores(20, noisy(0.9)), scores(20, noisy(0.1)), 1)).toBeUndefined();
});

test('times near 1970 are perhaps none: a fit and a forecast say so, as the command line does', async () => {
  const caution =
    'all times of column hour lie within 10 days of 1970-01-01, because its numbers are read as seconds since 1970: if they are not times, name another column with “Time”';
  const hours = rows.map((row, e) => `${row},${1 + (e % 24)}`);
  const timed = new Blob([`user,item,bought,paid,hour\n${hours.join('\n')}\n`]);
  const options = { users: 'user', items: 'item', header: true };
  await answerRead({ source: { kind: 'blob', name: 'hours.csv', blob: timed }, options }, task);
  const asked = { next: undefined, usersTimes: 2, seed: 1 };
  expect((await answerForecast({ ...asked, time: 'hour' }, task)).caution).toBe(caution);
  expect((await answerForecast({ ...asked, time: 'bought' }, task)).caution).toBeUndefined();
  expect((await fitted('recommend', 'hour')).caution).toBe(caution);
  expect((await fitted('recommend', 'paid')).caution).toBeUndefined();
});
