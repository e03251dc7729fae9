// The actions of the page: from a table to a verdict, a fit and a list.

import { batch } from '@preact/signals';
import { forgetTitles } from './components/item-name.js';
import { learnRate, learnReading } from './estimate.js';
import type { FitChoice, ModelSummary, SampleName } from './protocol.js';
import { answerBy, ask } from './session-client.js';
import {
  change,
  check,
  complain,
  evaluation,
  go,
  likes,
  liveFit,
  machine,
  model,
  offered,
  opened,
  preview,
  problem,
  settings,
  source,
} from './state.js';
import { perform } from './work.js';

/** Forgets everything that came from the data before. */
function forget(): void {
  answerBy({});
  forgetTitles();
  batch(() => {
    opened.value = undefined;
    check.value = undefined;
    forgetFit();
  });
}

function forgetFit(): void {
  liveFit.value = undefined;
  model.value = undefined;
  evaluation.value = undefined;
  likes.value = [];
}

/** Opens a file that was dropped, chosen, pasted or fetched: a model, or a table whose columns are shown next. */
export async function openBlob(name: string, blob: Blob): Promise<void> {
  if (/\.safetensors$/i.test(name)) return openModel(name, blob);
  const looked = await perform(`Reading the first rows of ${name}.`, 'preview', {
    source: { name, blob },
    options: {},
  });
  if (!looked) return;
  batch(() => {
    forget();
    source.value = { kind: 'blob', name, blob };
    preview.value = looked;
    const { users, items, count } = settings.value;
    const known = (column: string | undefined) =>
      column !== undefined && looked.names.includes(column) ? column : undefined;
    change({
      users: known(users) ?? looked.guess.users,
      items: known(items) ?? looked.guess.items,
      count: known(count) ?? looked.guess.count,
      sep: undefined,
      header: undefined,
    });
  });
  go('columns');
}

/** Reads the first rows again, with another separator or header. */
export async function lookAgain(sep: string | undefined, header: boolean | undefined): Promise<void> {
  const from = source.value;
  if (from?.kind !== 'blob') return;
  const looked = await perform('Reading the first rows again.', 'preview', {
    source: { name: from.name, blob: from.blob },
    options: { sep, header },
  });
  if (!looked) return;
  batch(() => {
    preview.value = looked;
    change({ sep, header, ...looked.guess, count: looked.guess.count });
  });
}

export async function openUrl(address: string): Promise<void> {
  problem.value = undefined;
  let url: URL;
  try {
    url = new URL(address, location.href);
  } catch {
    complain(`${address}: this is not an address; give one that begins with https://`, 'start');
    return;
  }
  try {
    const answer = await fetch(url, { credentials: 'omit', referrerPolicy: 'no-referrer' });
    if (!answer.ok) {
      complain(`${url.href}: the server answered with status ${answer.status}; check the address`, 'start');
      return;
    }
    const name = decodeURIComponent(url.pathname.split('/').at(-1) || url.hostname);
    await openBlob(name, await answer.blob());
  } catch {
    complain(
      `${url.href}: this could not be fetched; its server must allow other pages to read it (CORS). Download the file and drop it here`,
      'start',
    );
  }
}

export async function openSample(name: SampleName): Promise<void> {
  batch(() => {
    forget();
    preview.value = undefined;
    source.value = { kind: 'sample', name };
    change({ users: undefined, items: undefined, count: undefined, sep: undefined, header: undefined });
  });
  await readTable();
}

/** Reads the whole table with the chosen columns, and goes to the verdict. */
export async function readTable(): Promise<void> {
  const from = source.value;
  if (!from) return;
  const { users, items, count, sep, header, multigraph, setAside, keepUsers, keepItems, seed } =
    settings.value;
  forget();
  const options = { users, items, count: multigraph ? count : undefined, sep, header, multigraph, setAside };
  const began = performance.now();
  const part = keepUsers < 1 || keepItems < 1 ? { users: keepUsers, items: keepItems, seed } : undefined;
  // A table is thinned while it is read, so that rows that are left out take no memory.
  const shares = from.kind === 'blob' ? part : undefined;
  const whole = await perform(`Reading ${from.name}.`, 'read', { source: from, options, shares });
  if (!whole) return;
  if (from.kind === 'blob') learnReading(whole.read.rows, (performance.now() - began) / 1000);
  opened.value = whole;
  if (part && !shares) {
    const thinned = await perform('Thinning.', 'thin', part);
    if (thinned) opened.value = thinned;
  }
  go('verdict');
  askMachine();
  await runCheck();
}

export async function runCheck(): Promise<void> {
  check.value = undefined;
  const { seed } = settings.value;
  const done = await perform(
    'Is it sparse?',
    'check',
    { seed },
    {
      onPartial: (early) => {
        check.value = early;
      },
    },
  );
  if (done) check.value = done;
}

/** Continues with a random share of both sides. */
export async function thin(users: number, items: number): Promise<void> {
  if (opened.value?.passedOver !== undefined) {
    // Rows that were left out are not in memory: the table is read again.
    change({ keepUsers: users, keepItems: items });
    return readTable();
  }
  const part = await perform('Thinning.', 'thin', { users, items, seed: settings.value.seed });
  if (!part) return;
  batch(() => {
    forgetFit();
    change({ keepUsers: users, keepItems: items });
    opened.value = part;
  });
  await runCheck();
}

export function fitChoice(): FitChoice {
  const { seed, features, model: kind, iterations, engine, holdOut, testUsers, testItems } = settings.value;
  return {
    ...{ seed, features, iterations, engine },
    model: kind,
    split: holdOut ? { testUsers, testItems, seed } : undefined,
  };
}

export async function runFit(): Promise<void> {
  forgetFit();
  const fitted = await perform('Fitting.', 'fit', fitChoice(), {
    onPartial: (live) => {
      liveFit.value = live;
    },
  });
  if (!fitted) return;
  model.value = fitted;
  const { edges } = fitted.split?.train ?? opened.value!;
  learnRate(edges, fitted.features ?? 1, fitted.iterations, fitted.seconds ?? 0);
}

export async function runEvaluation(): Promise<void> {
  const { seed, n, draws } = settings.value;
  const found = await perform('Does it predict?', 'evaluate', { seed, n, draws });
  if (found) evaluation.value = found;
}

async function openModel(name: string, blob: Blob): Promise<void> {
  const found = await perform(`Opening ${name}.`, 'openModel', { name, blob });
  if (!found) return;
  batch(() => {
    forget();
    source.value = undefined;
    preview.value = undefined;
    model.value = found;
  });
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
  batch(() => {
    forget();
    source.value = undefined;
    preview.value = undefined;
    model.value = found;
  });
  answerBy(serverAnswers);
  go(found.features === undefined ? 'recommend' : 'explore');
}

/** Asks once, when the session has started anyway. */
function askMachine(): void {
  if (machine.value) return;
  ask('machine', undefined).answer.then(
    (found) => {
      machine.value = found;
    },
    () => undefined,
  );
}
