// The tasks of a server's workers: load a model, adopt a shared one, answer queries.

import { createHash } from 'node:crypto';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { getPriority, setPriority } from 'node:os';
import { basename } from 'node:path';
import { isMainThread } from 'node:worker_threads';
import { catalogueOf, storedTitles } from '../attributes/info.js';
import { type FilterColumn, filterColumns } from '../attributes/item-filter.js';
import { readSideInfo, unmatchedWords } from '../attributes/side-info.js';
import { InputError } from '../errors.js';
import { isFile } from '../files/plain-file.js';
import type { Model } from '../fit/model.js';
import { fromShared, toShared } from '../graph/transfer.js';
import { readSideTable } from '../ingest/side-file.js';
import { severalTitlesWords, titleList, titlesOf } from '../ingest/title-table.js';
import { serveTasks } from '../parallel/worker.js';
import { withNewItems } from '../predict/content/fit-content.js';
import { createRecommender, type Recommender } from '../predict/recommender.js';
import { loadModel } from '../store/model-file.js';
import { USERS_AND_ITEMS } from '../text/sides.js';
import type { Served } from './answers.js';
import type { ModelInformation } from './http-schema.js';
import { createLiveView, type LiveUpdate } from './live/live-view.js';
import { knownColumns } from './live/posted-attributes.js';
import { answerQueries, type Query, type Reply } from './queries.js';

/** A model and its titles, as the worker that read them sends them to the others. */
export type SharedServing = Awaited<ReturnType<typeof load>>;

/** The model file, and tables that may have titles of its items. */
export interface LoadTask {
  readonly path: string;
  readonly titles?: string | undefined;
  readonly itemInfo?: string | undefined;
}

let served: Served | undefined;
/** The model as it was loaded, and its titles. */
let base: { readonly model: Model; readonly titles: readonly string[] } | undefined;
const running = new Set<Promise<unknown>>();

export async function load(task: LoadTask) {
  const { model, hash } = await loadWithHash(task.path);
  const { titles, caution } = await titlesFor(model, task);
  const names = model.names ?? USERS_AND_ITEMS;
  const info: Omit<ModelInformation, 'loaded'> = {
    file: basename(task.path),
    hash,
    kind: model.type === 'posterior' ? model.kind : model.method,
    features: featuresOf(model),
    users: model.users.count,
    items: model.items.count,
    names: { users: names.users.many, items: names.items.many },
    titles: titles.filter((title) => title !== '').length,
    attributes: filterColumns(model).map(inBrief),
  };
  return { info, shared: toShared(model), titles, caution, columns: knownColumns(model.info?.items) };
}

interface FoundTitles {
  /** Of each item, '' if it has none. */
  readonly titles: readonly string[];
  /** A warning of a table that looks wrong. */
  readonly caution?: string | undefined;
}

/** The titles of a table, of the model, or else of the table about the items that the next refit reads. */
async function titlesFor(model: Model, { titles, itemInfo }: LoadTask): Promise<FoundTitles> {
  const { ids } = catalogueOf(model);
  const { items } = model.names ?? USERS_AND_ITEMS;
  if (titles !== undefined) {
    const found = await stat(titles).catch(() => undefined);
    if (found && !found.isFile()) {
      throw new InputError(`${titles}: titles are read again with every model; give a plain file`);
    }
    const table = titlesOf(await readSideTable(titles), ids, titles);
    return { titles: titleList(table, ids), caution: severalTitlesWords(table, titles, items) };
  }
  if (model.info?.items || itemInfo === undefined) return { titles: storedTitles(model) };
  const { info, report } = readSideInfo(model.items, { name: itemInfo, rows: await readSideTable(itemInfo) });
  const caution = unmatchedWords(itemInfo, report, items);
  return { titles: info.titles.slice(0, model.items.count), caution };
}

/** Values of an attribute that the description of a model names. */
const MOST_VALUES = 10;

function inBrief({ values, range, ...column }: FilterColumn) {
  return {
    ...column,
    ...(values && { values: values.slice(0, MOST_VALUES) }),
    ...(range && { range: { ...range } }),
  };
}

/** Attempts to read a file that is replaced while it is read. */
const MOST_READS = 5;

/** The model and the hash of the very file that it was read from, even if the file is replaced meanwhile. */
async function loadWithHash(path: string): Promise<{ model: Model; hash: string }> {
  for (let reads = 0; reads < MOST_READS; reads++) {
    // A missing file and a folder are reported by loadModel.
    const file = (await isFile(path)) ? await open(path, 'r') : undefined;
    try {
      const before = await file?.stat({ bigint: true });
      const model = await loadModel(path);
      if (!file || !before) continue;
      const hash = await hashOf(file);
      // The open file keeps its inode, so the same inode and times mean the same bytes.
      const after = await stat(path, { bigint: true }).catch(() => undefined);
      const same = (['ino', 'dev', 'size', 'mtimeNs', 'ctimeNs'] as const).every(
        (part) => after?.[part] === before[part],
      );
      if (same) return { model, hash };
    } finally {
      await file?.close();
    }
  }
  throw new InputError(`${path}: the file changes while it is read; load it when it is complete`);
}

/** The first half of the file's SHA-256. */
async function hashOf(file: FileHandle): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of file.createReadStream({ autoClose: false, start: 0 })) {
    hash.update(chunk as Uint8Array);
  }
  return hash.digest('hex').slice(0, 32);
}

/** Added to the nice value of threads that compute. */
export const NICER = 1;

/**
 * Lowers the priority of this thread below that of HTTP: with as many workers as cores, HTTP and its health checks had to wait.
 * On Linux a thread has its own priority; elsewhere the whole process would change.
 */
function lowerPriority(): void {
  if (isMainThread || process.platform !== 'linux') return;
  try {
    setPriority(0, Math.min(19, getPriority(process.pid) + NICER));
  } catch {
    // Without the permission all threads stay equal.
  }
}

/** Makes a recommender from a shared model, and asks it once so that the first client does not wait. */
export async function adopt({ shared, titles }: SharedServing): Promise<void> {
  lowerPriority();
  const model = fromShared(shared);
  const recommender = createRecommender(model);
  base = { model, titles };
  served = { recommender, live: createLiveView(catalogueOf(model), titles) };
  await warmUp(recommender);
}

async function warmUp(recommender: Recommender): Promise<void> {
  const [first] = recommender.popular({ n: 1 });
  await answer([{ endpoint: 'recommend', request: { likes: [first.item], n: 1 } }]);
  await answer([{ endpoint: 'similar', request: { id: first.item, n: 1 } }]);
  await answer([{ endpoint: 'search', request: { search: first.item, n: 1 } }]);
}

export async function answer(queries: readonly Query[]): Promise<Reply[]> {
  if (!served) throw new Error('no model was adopted');
  const answering = answerQueries(served, queries);
  running.add(answering);
  return answering.finally(() => running.delete(answering));
}

/** Applies the changes since the model was loaded. Items that the model lacks are scored by their attributes. */
export async function update(change: LiveUpdate): Promise<void> {
  served?.live.apply(change);
  if (!base || !served || !change.described) return;
  const { model, titles } = base;
  const before = served.recommender;
  const longer = await withNewItems(model, served.live.described());
  if (longer === before.model || (longer === model && before.model === model)) return;
  const catalogue = catalogueOf(longer);
  const all = Array.from({ length: catalogue.count }, (_, item) => titles[item] ?? '');
  const recommender = createRecommender(longer);
  served = { recommender, live: createLiveView(catalogue, all, served.live.state()) };
  await warmUp(recommender);
  // Answers that are being made end with the recommender that they began with.
  await Promise.allSettled(running);
  await before.close();
}

/** The features of all members; the blend has none. */
function featuresOf(model: Model): number {
  if (model.type === 'posterior') return model.features;
  return model.scores.kind === 'factors'
    ? model.scores.members.reduce((sum, { features, share }) => sum + (share === undefined ? features : 0), 0)
    : 0;
}

serveTasks('serving-tasks', { load, adopt, answer, update });
