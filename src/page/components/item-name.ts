// Names of items: their ids, or the titles that a server sent.

import { shown } from '../../text/untrusted.js';

export interface Titled {
  readonly item: string;
  readonly title?: string;
}

const titles = new Map<string, string>();

/** Remembers the titles of these items. */
export function learnTitles<T extends Titled>(items: readonly T[]): readonly T[] {
  for (const { item, title } of items) if (title !== undefined) titles.set(item, title);
  return items;
}

export function forgetTitles(): void {
  titles.clear();
}

export function titleOf(item: string): string | undefined {
  return titles.get(item);
}

/** The title or the id, as text that is safe to show. */
export function itemName(item: string, most?: number): string {
  return shown(titles.get(item) ?? item, most);
}
