// The session's further tables without a browser: those of an audit, and the one about the items.

import { beforeEach, expect, test } from 'vitest';
import { auditSplit } from '../../src/audit/audit.js';
import { readBlob } from '../../src/ingest/blob.js';
import type { AuditFiles } from '../../src/page/protocol.js';
import { answerRead, answerThin } from '../../src/page/session/session-data.js';
import { answerFind } from '../../src/page/session/session-explore.js';
import { answerExport } from '../../src/page/session/session-export.js';
import { answerAudit } from '../../src/page/session/session-growth.js';
import {
  answerItemTable,
  answerRemoveItemTable,
  currentTitles,
  titleOrigin,
} from '../../src/page/session/session-item-table.js';
import { answerFit, answerOpenModel, currentModel } from '../../src/page/session/session-model.js';
import { auditWords } from '../../src/report/words/audit.js';
import { split } from '../../src/sample/split.js';
import { edgeText } from '../../src/store/edge-rows.js';
import { USERS_AND_ITEMS } from '../../src/text/sides.js';

const task = { signal: new AbortController().signal };
const COLUMNS = { users: 'user', items: 'item' };

const rows = Array.from({ length: 400 * 8 }, (_, e) => {
  const [user, k] = [Math.floor(e / 8), e % 8];
  return `u${user},i${(user * 5 + k * (1 + (user % 2))) % 24}`;
});
const blob = new Blob([`user,item\n${rows.join('\n')}\n`]);

beforeEach(async () => {
  const options = { ...COLUMNS, header: true };
  await answerRead({ source: { kind: 'blob', name: 'table.csv', blob }, options }, task);
});

function fitRanker() {
  const fit = { purpose: 'recommend', features: 2, model: 'dense', iterations: 5, engine: 'cpu' } as const;
  const choice = { ...fit, halfLife: 'never', time: undefined, seed: 1 } as const;
  return answerFit({ ...choice, split: { testUsers: 0.3, testItems: 0.3, seed: 1 } }, task, () => {});
}

test('an audit of a fair split needs its fold-in table, and says so if it is not given', async () => {
  const graph = (await readBlob({ name: 'table.csv', blob }, COLUMNS)).graph;
  const parts = split(graph, { seed: 1 });
  const file = (part: 'train' | 'foldIn' | 'test') => ({
    name: `${part}.csv`,
    blob: new Blob([...edgeText(parts[part], ',')]),
  });
  const [train, foldIn, test] = [file('train'), file('foldIn'), file('test')];
  const lost = async (files: AuditFiles) => {
    const { audit, columns } = await answerAudit({ files, seed: 1 }, task);
    const at = audit.checks.findIndex(({ name }) => name === 'lost');
    const { answer, checks } = auditWords(audit, USERS_AND_ITEMS);
    return { audit, columns, answer, said: checks[at] };
  };
  const without = await lost({ train, test });
  expect(without.said.verdict).toBe('broken');
  expect(without.said.words).toMatch(/No test user has a training pair; the fold-in part may be missing\.$/);
  expect(without.said.advice).toMatch(/^Add the fold-in part/);
  expect(without.answer).toMatch(/ The fold-in part may be missing\.$/);
  const { audit, columns, answer, said } = await lost({ test, train, foldIn });
  expect(answer + said.words).not.toMatch(/fold-in/);
  expect(said.verdict).toBe('fine');
  expect(audit.parts.foldIn!.edges).toBe(parts.foldIn.edges);
  expect(Object.keys(columns).sort()).toEqual(['foldIn', 'test', 'train']);
  const same = await auditSplit({ train: parts.train, foldIn: parts.foldIn, test: parts.test }, { seed: 1 });
  expect(audit.checks).toEqual(same.checks);
});

test('a table about the items is taken away again, and with it what the models learned from it', async () => {
  const answerTable = (rows: readonly string[]) =>
    answerItemTable(
      { source: { name: 'titles.csv', blob: new Blob([`item,title\n${rows.join('\n')}\n`]) }, seed: 1 },
      task,
    );
  const offered = async () => (await answerFind({ text: 'Tale', n: 30 })).items.length;
  await fitRanker();
  const titles = Array.from({ length: 24 }, (_, i) => `i${i},Tale ${i}`);
  expect(await answerTable(titles)).toMatchObject({ known: 24, added: 0 });
  expect(await offered()).toBe(24);
  expect(await answerTable([...titles.slice(0, 1), 'x1,Tale x', 'x2,Tale y'])).toMatchObject({
    known: 1,
    added: 2,
  });
  expect(await offered()).toBe(3);
  expect(await answerRemoveItemTable(undefined, task)).toEqual({ stored: undefined });
  expect(await offered()).toBe(0);
  expect(currentModel('recommend').model.info).toBeUndefined();
});

test('a table about the items that is cancelled leaves the one before, in all models', async () => {
  const table = (name: string, title: string) => ({
    source: { name, blob: new Blob([`item,title,genre\ni1,${title},a\ni2,Tale,b\n`]) },
    seed: 1,
  });
  await fitRanker();
  await answerItemTable(table('old.csv', 'Old'), task);
  const [before, titles, origin] = [currentModel('recommend'), currentTitles(), titleOrigin()];
  // The rows are read; then, while the models learn from them, comes the end.
  const controller = new AbortController();
  let asked = 0;
  const stopped = {
    get signal() {
      if (asked++ > 0) controller.abort();
      return controller.signal;
    },
  };
  await expect(answerItemTable(table('new.csv', 'New'), stopped)).rejects.toThrow();
  expect([currentModel('recommend'), currentTitles(), titleOrigin()]).toEqual([before, titles, origin]);
  // A model that is fitted now learns from the table that is shown.
  await fitRanker();
  expect((await answerFind({ text: 'Old', n: 9 })).items.length).toBe(1);
  const removed = answerRemoveItemTable(undefined, { signal: AbortSignal.abort() });
  await expect(removed).rejects.toThrow();
  expect(currentTitles()).toBe(titles);
});

test('a model that was opened has the titles of its file again, without a table', async () => {
  await fitRanker();
  const source = { name: 'a.csv', blob: new Blob(['item,title\ni1,Old\ni2,Tale\n']) };
  await answerItemTable({ source, seed: 1 }, task);
  const { blob: saved } = await answerExport({ what: 'model', purpose: 'recommend' }, task);
  const opened = await answerOpenModel({ name: 'ranker.safetensors', blob: saved });
  expect(opened.itemTable).toMatchObject({ matched: 2 });
  const other = { name: 'b.csv', blob: new Blob(['item,title\ni1,New\ni2,B\ni3,C\n']) };
  expect(await answerItemTable({ source: other, seed: 1 }, task)).toMatchObject({ matched: 3 });
  expect((await answerRemoveItemTable(undefined, task)).stored).toEqual(opened.itemTable);
});

test('a table that is no table is refused in words that its step can answer', async () => {
  const source = (name: string, text: string) => ({ name, blob: new Blob([text]) });
  const item = answerItemTable({ source: source('none.csv', ''), seed: 1 }, task);
  await expect(item).rejects.toThrow('none.csv: the file is empty; give a table of ids and titles');
  const files = { train: source('one.csv', 'a\nb\n'), test: source('two.csv', 'a,b\n') };
  await expect(answerAudit({ files, seed: 1 }, task)).rejects.toThrow(
    'one.csv: there is only one column; give a table of users and items',
  );
});

test('what was read is not what is used of a thinned table', async () => {
  const part = await answerThin({ users: 0.5, items: 0.5, seed: 1 });
  expect(part.words[0]).toBe('3,200 rows were read.');
  const whole = await answerThin({ users: 1, items: 1, seed: 1 });
  expect(whole.words[0]).toBe('All 3,200 rows were kept.');
});

test('too few data for a test part: the error names the choice that needs none', async () => {
  const few = { kind: 'blob', name: 'few.csv', blob: new Blob(['user,item\na,b\n']) } as const;
  await answerRead({ source: few, options: { ...COLUMNS, header: true } }, task);
  await expect(fitRanker()).rejects.toThrow(/; or untick “Keep a test part from the models” in the settings/);
});
