// Titles of the items, from a second table. The column of ids is found as on the command line.

import { InputError } from '../../errors.js';
import type { Model } from '../../fit/model.js';
import type { VertexIds } from '../../graph/ids.js';
import { readSideBlob } from '../../ingest/side-table.js';
import { type Titles, titlesOf } from '../../ingest/title-table.js';
import { packNames } from '../map/packed-names.js';
import type { Api, FoundTitles } from '../protocol.js';
import type { Task } from './session.js';
import { dataIfRead } from './session-data.js';
import { heldModels } from './session-model.js';

let held: Titles | undefined;

export function titleOf(item: string): string | undefined {
  return held?.find(item);
}

export function currentTitles(): Titles | undefined {
  return held;
}

/** Whether there are titles. */
export function areTitled(): boolean {
  return held !== undefined;
}

export function forgetTitles(): void {
  held = undefined;
}

export async function answerTitles(
  source: Api['titles'][0],
  { signal }: Task<'titles'>,
): Promise<FoundTitles> {
  const ids = dataIfRead()?.graph.items.ids ?? heldModels()[0]?.model.items.ids;
  if (!ids) throw new InputError('there are no items yet: open a table or a model first');
  held = titlesOf(await readSideBlob(source, { signal }), ids, source.name);
  return packed(source.name, held, ids);
}

/** The titles that a model stores; undefined if it has none. */
export function takeStoredTitles(name: string, { items, info }: Model): FoundTitles | undefined {
  const stored = info?.items?.titles ?? [];
  const find = (id: string) => stored[items.ids.find(id)] || undefined;
  const matched = stored.slice(0, items.count).filter((title) => title !== '').length;
  if (matched === 0) return undefined;
  held = { find, matched, columns: { id: 'id', title: 'title' } };
  return packed(name, held, items.ids);
}

function packed(source: string, { find, matched, columns }: Titles, ids: VertexIds): FoundTitles {
  const titled: number[] = [];
  for (let item = 0; item < ids.length; item++) if (find(ids.at(item))) titled.push(item);
  return {
    ...{ source, matched, of: ids.length, columns },
    ids: packNames(titled.length, (at) => ids.at(titled[at])),
    titles: packNames(titled.length, (at) => find(ids.at(titled[at]))!),
  };
}
