// The actions of the page on tables and opened models. Fits are in fit-actions.ts.

import { batch } from '@preact/signals';
import type { NamedBlob } from '../ingest/blob.js';
import type { TablePreview } from '../ingest/preview.js';
import type { SparsityCheck } from '../sparsity/check.js';
import { forgetTitles, learnPackedTitles } from './components/item-name.js';
import { learnReading, learnSpeed } from './estimate.js';
import { runComparison } from './fit-actions.js';
import type { Api, AuditPart, FoundItemTable, ModelSummary, SampleName, Source } from './protocol.js';
import { answerBy, ask } from './session-client.js';
import type { Settings } from './settings.js';
import {
  audited,
  auditFiles,
  change,
  check,
  checkSeed,
  complain,
  filter,
  forecast,
  forget,
  go,
  growth,
  itemTable,
  itemTableFile,
  machine,
  model,
  modelFile,
  models,
  offered,
  opened,
  preview,
  problem,
  settings,
  source,
  step,
} from './state.js';
import { perform, stopWork } from './work.js';

/** Begins with another source; undefined: a model, which has none. */
function begin(from: Source | undefined): void {
  stopWork();
  forgetData();
  itemTableFile.value = undefined;
  preview.value = undefined;
  source.value = from;
}

function forgetData(): void {
  answerBy({});
  forgetTitles();
  forget('data');
}

/** From now on a reload would lose something. */
function begun(): void {
  document.documentElement.dataset.begun = 'yes';
}

/** Opens a file that was chosen or dropped. After the table, a second table is about its items. */
export function openFile(file: File): void {
  if (step.value === 'audit') {
    takeForAudit(file);
    return;
  }
  const second = step.value !== 'start' && step.value !== 'columns' && !/\.safetensors$/i.test(file.name);
  void (second ? openItemTable(file.name, file) : openBlob(file.name, file));
}

/** Opens a file that was dropped, chosen, pasted or fetched: a model, or a table whose columns are shown next. */
export async function openBlob(name: string, blob: Blob): Promise<void> {
  begun();
  if (/\.safetensors$/i.test(name)) return openModel(name, blob);
  const looked = await look(`Reading the first rows of ${name}.`, { source: { name, blob }, options: {} });
  if (!looked) return;
  const { names, guess } = looked;
  // Columns and counts that were chosen for another table are not those of this one.
  const isOther = source.value && source.value.name !== name;
  const { users, items, count, time, multigraph }: Partial<Settings> = isOther ? {} : settings.value;
  const known = (column: string | undefined) => names.find((name) => name === column);
  batch(() => {
    begin({ kind: 'blob', name, blob });
    preview.value = looked;
    change({
      users: known(users) ?? guess.users,
      items: known(items) ?? guess.items,
      count: known(count) ?? guess.count,
      time: known(time) ?? guess.time,
      sep: undefined,
      header: undefined,
      multigraph,
    });
  });
  go('columns');
}

/** Reads the first rows. What is under way goes on, because the file may be a wrong one. */
function look(title: string, input: Api['preview'][0]): Promise<TablePreview | undefined> {
  return perform(title, 'preview', input, { replaces: 'same' });
}

/** Reads the first rows again, with another separator or header. */
export async function lookAgain(sep: string | undefined, header: boolean | undefined): Promise<void> {
  const from = source.value;
  if (from?.kind !== 'blob') return;
  const { name, blob } = from;
  const looked = await look('Reading the first rows again.', {
    source: { name, blob },
    options: { sep, header },
  });
  if (!looked) return;
  batch(() => {
    preview.value = looked;
    change({ sep, header, ...looked.guess, count: looked.guess.count, time: looked.guess.time });
  });
}

export async function openUrl(address: string): Promise<void> {
  begun();
  problem.value = undefined;
  let url: URL;
  try {
    url = new URL(address, location.href);
  } catch {
    complain(`${address}: this is not an address; give one that begins with https://`, 'start');
    return;
  }
  // The page may fetch from secure addresses and from its own host alone.
  if (url.protocol !== 'https:' && url.origin !== new URL(location.href).origin) {
    complain(
      `${address}: this page can only fetch addresses that begin with https://; download the file and drop it here`,
      'start',
    );
    return;
  }
  try {
    const answer = await fetch(url, { credentials: 'omit', referrerPolicy: 'no-referrer' });
    if (!answer.ok) {
      complain(`${url.href}: the server answered with status ${answer.status}; check the address`, 'start');
      return;
    }
    await openBlob(fileName(url), await answer.blob());
  } catch {
    complain(
      `${url.href}: this could not be fetched; its server must allow other pages to read it (CORS). Download the file and drop it here`,
      'start',
    );
  }
}

/** The last part of an address, decoded if it can be. */
function fileName({ pathname, hostname }: URL): string {
  const last = pathname.split('/').at(-1) || hostname;
  try {
    return decodeURIComponent(last);
  } catch {
    return last;
  }
}

export async function openSample(name: SampleName): Promise<void> {
  begun();
  batch(() => {
    begin({ kind: 'sample', name });
    const none = undefined;
    change({ users: none, items: none, count: none, time: none, sep: none, header: none });
  });
  await readTable();
}

/** Reads the whole table with the chosen columns, and goes to the verdict. */
export async function readTable(): Promise<void> {
  const from = source.value;
  if (!from) return;
  const { users, items, count, sep, header, multigraph, setAside, keepUsers, keepItems, seed } =
    settings.value;
  forgetData();
  const options = { users, items, count: multigraph ? count : undefined, sep, header, multigraph, setAside };
  const began = performance.now();
  const part = keepUsers < 1 || keepItems < 1 ? { users: keepUsers, items: keepItems, seed } : undefined;
  // A table is thinned while it is read, so that rows that are left out take no memory.
  const shares = from.kind === 'blob' ? part : undefined;
  const whole = await perform(
    `Reading ${from.name}.`,
    'read',
    { source: from, options, shares },
    { replaces: 'all' },
  );
  if (!whole) return;
  if (from.kind === 'blob') learnReading(whole.read.rows, (performance.now() - began) / 1000);
  opened.value = whole;
  if (part && !shares) {
    const thinned = await perform('Thinning.', 'thin', part);
    if (thinned) opened.value = thinned;
  }
  go('verdict');
  await examine();
  // The speed of the machine is measured when nothing else is computed.
  askMachine();
}

/** Opens a second table with titles and attributes of the items. The models that are there learn from it. */
export async function openItemTable(name: string, blob: Blob): Promise<void> {
  const { seed } = settings.value;
  const found = await perform(`Reading ${name}.`, 'itemTable', { source: { name, blob }, seed });
  if (!found) return;
  await takeItemTable(found, { name, blob });
}

/** Takes away the second table. A model that was opened has what its file says. */
export async function removeItemTable(): Promise<void> {
  const left = await perform('Removing the table.', 'removeItemTable', undefined);
  if (left) await takeItemTable(left.stored, undefined);
}

async function takeItemTable(found: FoundItemTable | undefined, file: NamedBlob | undefined): Promise<void> {
  forgetTitles();
  if (found) await learnPackedTitles(found.ids, found.titles);
  batch(() => {
    itemTable.value = found && withoutTitles(found);
    itemTableFile.value = file;
    filter.value = '';
  });
  // Items with few edges are scored by their attributes as well.
  if (model.value?.split) void runComparison();
}

function withoutTitles({ ids: _, titles: __, ...rest }: FoundItemTable): typeof itemTable.value {
  return rest;
}

/** Multiples of the users; the others are periods. */
const MULTIPLES: Readonly<Record<string, number>> = { half: 1.5, twice: 2, five: 5 };

export async function runForecast(): Promise<void> {
  const { time, seed } = settings.value;
  const multiple = MULTIPLES[growth.value];
  const found = await perform('How will it grow?', 'forecast', {
    ...{ time, seed, usersTimes: multiple ?? 1 },
    next: multiple === undefined ? growth.value : undefined,
  });
  // After an error the forecast of other choices would be misleading. After Cancel it stays.
  if (found || problem.value) forecast.value = found;
}

export async function runCheck(): Promise<void> {
  check.value = undefined;
  const { seed } = settings.value;
  checkSeed.value = seed;
  const show = (found: SparsityCheck) => {
    check.value = found;
  };
  const done = await perform('Is it sparse?', 'check', { seed }, { onPartial: show });
  if (done) show(done);
}

/** Checks other data, and reads the second table again: its titles belong to the ids of the data. */
async function examine(): Promise<void> {
  await runCheck();
  if (itemTableFile.value) await openItemTable(itemTableFile.value.name, itemTableFile.value.blob);
}

export async function thin(users: number, items: number): Promise<void> {
  if (opened.value?.passedOver !== undefined) {
    // Rows that were left out are not in memory: the table is read again.
    change({ keepUsers: users, keepItems: items });
    return readTable();
  }
  const part = await perform('Thinning.', 'thin', { users, items, seed: settings.value.seed });
  if (!part) return;
  batch(() => {
    forecast.value = undefined;
    forget('models');
    change({ keepUsers: users, keepItems: items });
    opened.value = part;
  });
  await examine();
}

/** Takes a table of the audit: the one that its name says, else the one that is still missing. */
export function takeForAudit(file: File, part?: AuditPart): void {
  begun();
  const [named] = AUDIT_NAMES.find(([, name]) => name.test(file.name)) ?? [];
  const missing = auditFiles.value.train ? 'test' : 'train';
  audited.value = undefined;
  auditFiles.value = { ...auditFiles.value, [part ?? named ?? missing]: { name: file.name, blob: file } };
}

const AUDIT_NAMES: readonly (readonly [AuditPart, RegExp])[] = [
  ['foldIn', /fold[-_ ]?in/i],
  ['test', /test|valid|holdout/i],
  ['train', /train/i],
];

export function removeFoldIn(): void {
  const { foldIn: _, ...others } = auditFiles.value;
  audited.value = undefined;
  auditFiles.value = others;
}

export async function runAudit(): Promise<void> {
  const files = auditFiles.value;
  if (!files.train || !files.test) return;
  const found = await perform('Is the split fair?', 'audit', { files, seed: settings.value.seed });
  // After an error an earlier audit would be misleading. After Cancel it stays.
  if (found || problem.value) audited.value = found;
}

function beginWith(found: ModelSummary): void {
  batch(() => {
    begin(undefined);
    models.value = { [found.purpose]: found };
  });
}

async function openModel(name: string, blob: Blob): Promise<void> {
  const found = await perform(`Opening ${name}.`, 'openModel', { name, blob }, { replaces: 'all' });
  if (!found) return;
  beginWith(found);
  modelFile.value = name;
  if (found.itemTable) await takeItemTable(found.itemTable, undefined);
  askMachine();
  go(found.features === undefined ? 'recommend' : 'explore');
}

/** Asks the server for its model, if a server sent this page. */
export async function lookForServed(): Promise<void> {
  if (document.querySelector<HTMLMetaElement>('meta[name=graphex-host]')?.content !== 'server') return;
  const { servedModel } = await import('./server-model.js');
  offered.value = await servedModel();
}

/** Opens the model of a server with a key, and says if the key is wrong. */
export async function unlock(given: string): Promise<void> {
  problem.value = undefined;
  const { tryKey } = await import('./server-model.js');
  // A key consists of characters that a header can hold.
  const found = /^[\x21-\x7e]+$/.test(given) ? await tryKey(given) : 'locked';
  if (found === 'locked')
    complain('The server does not know this key. Check it for missing characters.', 'start');
  else if (found) {
    offered.value = found;
    await openServed(found);
  } else complain('The server has no model to show now. Try again later.', 'start');
}

/** Opens the model of the server. The model stays there, and the server answers for it. */
export async function openServed(found: ModelSummary): Promise<void> {
  const { serverAnswers } = await import('./server-model.js');
  beginWith(found);
  answerBy(serverAnswers);
  go(found.features === undefined ? 'recommend' : 'explore');
}

/** Asks once, when the session has started anyway. */
function askMachine(): void {
  if (machine.value) return;
  ask('machine', undefined).answer.then(
    (found) => {
      learnSpeed(found.burst);
      machine.value = found;
    },
    () => undefined,
  );
}
