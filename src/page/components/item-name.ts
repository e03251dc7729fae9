// Names of items: their ids, or their titles from a second table or from a server.

import { signal } from '@preact/signals';
import { shortTitle } from '../../text/phrases.js';
import { shown } from '../../text/untrusted.js';
import { nameAt, type PackedNames } from '../map/packed-names.js';
import { inOwnTask } from '../work.js';

export interface Titled {
  readonly item: string;
  readonly title?: string;
}

const titles = new Map<string, string>();
/** Changes with the titles of a table, so that what shows names is drawn again. */
const changed = signal(0);
/** Longest title that is looked at. */
const MOST_OF_TITLE = 1000;
/** Titles that are unpacked in one task. */
const SLICE = 10_000;

/** Remembers the titles of a table, in several short tasks so that the page stays responsive. */
export async function learnPackedTitles(ids: PackedNames, texts: PackedNames): Promise<void> {
  const count = ids.offsets.length - 1;
  for (let from = 0; from < count; from += SLICE) {
    await inOwnTask(() => {
      for (let at = from; at < Math.min(count, from + SLICE); at++)
        titles.set(nameAt(ids, at), nameAt(texts, at));
    });
  }
  changed.value++;
}

export function learnTitles<T extends Titled>(items: readonly T[]): readonly T[] {
  for (const { item, title } of items) if (title !== undefined) titles.set(item, title);
  return items;
}

export function forgetTitles(): void {
  titles.clear();
  changed.value++;
}

export function titleOf(item: string): string | undefined {
  changed.value;
  return titles.get(item);
}

/** Longest title in a chip or a reason. */
export const MOST_OF_NAME = 40;

/** The title or the id, as text that is safe to show. */
export function itemName(item: string, most = 80): string {
  const title = titleOf(item);
  return title === undefined ? shown(item, most) : shortTitle(shown(title, MOST_OF_TITLE), most);
}
