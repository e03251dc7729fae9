// The table about the items: titles, attributes, and items without edges. Its columns are found as on the command line.

import { catalogueOf, type SideInfo, storedTitles } from '../../attributes/info.js';
import { type FilterColumn, filterColumns } from '../../attributes/item-filter.js';
import { readSideInfo } from '../../attributes/side-info.js';
import { InputError } from '../../errors.js';
import type { Model } from '../../fit/model.js';
import type { VertexIds } from '../../graph/ids.js';
import type { TextRow } from '../../ingest/formats/scan.js';
import { readSideBlob } from '../../ingest/side-table.js';
import { fitContent } from '../../predict/content/fit-content.js';
import type { StudyOrigin } from '../../study/results.js';
import { packNames } from '../map/packed-names.js';
import type { Api, FoundItemTable } from '../protocol.js';
import type { Task } from './session.js';
import { dataIfRead } from './session-data.js';
import { describeModels, sessionModels } from './session-model.js';

/** A table that was dropped. Each model reads its rows again: it may have other items than the data. */
interface ItemTable {
  readonly source: string;
  readonly rows: readonly TextRow[];
  readonly seed: number;
}

const NO_DEGREES = new Uint32Array(0);

let table: ItemTable | undefined;
/** Where the titles come from, for the receipt of a study. */
let origin: StudyOrigin['titles'] = null;
let titles: ReadonlyMap<string, string> = new Map();

/** Changes the table and tells the models. If that is cancelled or fails, the table before stays. */
async function changeTable<T>(change: () => T, task: Task): Promise<T> {
  const before = { table, origin, titles };
  const changed = change();
  try {
    await describeModels(task);
  } catch (error) {
    ({ table, origin, titles } = before);
    throw error;
  }
  return changed;
}

export function titleOrigin(): StudyOrigin['titles'] {
  return origin;
}

/** The titles by id. A new table gives a new map. */
export function currentTitles(): ReadonlyMap<string, string> {
  return titles;
}

export function forgetItemTable(): void {
  table = undefined;
  origin = null;
  titles = new Map();
}

export async function answerItemTable(
  { source, seed }: Api['itemTable'][0],
  task: Task,
): Promise<FoundItemTable> {
  const items = dataIfRead()?.graph.items ?? sessionModels()[0]?.model.items;
  if (!items) throw new InputError('there are no items yet: open a table or a model first');
  if (source.blob.size === 0)
    throw new InputError(`${source.name}: the file is empty; give a table of ids and titles`);
  const rows = await readSideBlob(source, { signal: task.signal });
  const { info, report } = readSideInfo(items, { name: source.name, rows });
  // What can be filtered does not depend on degrees.
  const attributes = offered({ items: { ...items, degree: NO_DEGREES }, info: { items: info } });
  return changeTable(() => {
    table = { source: source.name, rows, seed };
    titles = titlesById(info, items.ids);
    const found = foundTable(source.name, items.ids, {
      known: report.matched,
      added: report.added.count,
      title: report.title ?? undefined,
      attributes,
    });
    origin =
      found.title === undefined
        ? null
        : {
            source: source.name,
            sourceFrom: null,
            matched: found.matched,
            columns: `${report.id} → ${found.title}`,
          };
    return found;
  }, task);
}

/** Takes away the table, and gives back what an opened model says about its items. */
export async function answerRemoveItemTable(_: undefined, task: Task): Promise<Api['removeItemTable'][1]> {
  await changeTable(forgetItemTable, task);
  const [opened] = sessionModels();
  return { stored: opened?.file === undefined ? undefined : storedItemTable(opened.file, opened.model) };
}

/** What the page needs to know of the titles that are in use, of these items. */
function foundTable(
  source: string,
  items: VertexIds,
  more: Pick<FoundItemTable, 'known' | 'added' | 'title' | 'attributes'>,
): FoundItemTable {
  const [ids, texts] = [[...titles.keys()], [...titles.values()]];
  let matched = 0;
  for (let item = 0; item < items.length; item++) if (titles.has(items.at(item))) matched++;
  return {
    source,
    matched,
    of: items.length,
    ...more,
    ids: packNames(ids.length, (at) => ids[at]),
    titles: packNames(texts.length, (at) => texts[at]),
  };
}

function titlesById({ titles: stored, added }: SideInfo, ids: VertexIds): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const [at, title] of stored.entries()) {
    if (title) found.set(at < ids.length ? ids.at(at) : added.at(at - ids.length), title);
  }
  return found;
}

/** The model with what the table says about its items, and with scores for items without edges. */
export async function describedModel(model: Model, task: Task): Promise<Model> {
  if (!table) return model;
  const { source: name, rows, seed } = table;
  const { info } = readSideInfo(model.items, { name, rows });
  const items = await fitContent(model, info, { seed, ...task });
  return { ...model, info: { ...model.info, items } };
}

/** What a model file says about the items; undefined if it says nothing. */
export function storedItemTable(source: string, model: Model): FoundItemTable | undefined {
  const attributes = offered(model);
  const { ids, count } = catalogueOf(model);
  const found = new Map<string, string>();
  for (const [at, title] of storedTitles(model).entries()) if (title) found.set(ids.at(at), title);
  if (found.size === 0 && attributes.length === 0) return undefined;
  titles = found;
  return foundTable(source, model.items.ids, {
    added: count - model.items.count,
    title: found.size > 0 ? 'title' : undefined,
    attributes,
  });
}

/** Attributes that a filter can name, without ids and titles, which need no mention. */
function offered(model: Parameters<typeof filterColumns>[0]): readonly FilterColumn[] {
  return filterColumns(model).filter(({ kind }) => kind !== 'text');
}
