// What changes while a model serves, as its workers know it: hidden items, titles, popular items. A user's history comes
// with the request.

import type { NewItem } from '../../attributes/new-rows.js';
import type { PopularEntry } from '../../events/stored.js';
import type { VertexIds } from '../../graph/ids.js';
import { type TitleBook, titleBook } from '../../predict/titles.js';

/** A change, or the whole state for a worker that knows nothing yet. Plain values that cross threads. */
export interface LiveUpdate {
  /** Items whose visibility changed; true: hidden. */
  readonly hidden?: readonly (readonly [item: string, hidden: boolean])[];
  /** Items with another title; '': none. */
  readonly titles?: readonly (readonly [item: string, title: string])[];
  /**
   * Items with their posted attributes, which score items that the model lacks. Undefined attributes: they were
   * removed.
   */
  readonly described?: readonly (readonly [item: string, attributes: string | undefined])[];
  /** The popular items, which replace those before. */
  readonly popular?: readonly PopularEntry[];
}

/** What the store knows of the user of a request. */
export interface StoredHistory {
  readonly items: readonly string[];
  readonly weights: readonly number[];
  /** The latest time of each, in milliseconds since 1970. */
  readonly times: readonly number[];
  /** Whether the user's events were erased: then the model's row does not count either. */
  readonly erased?: boolean;
}

/** A request with the history of its user; undefined: there is no store. */
export type WithHistory<T> = T & { readonly stored?: StoredHistory | undefined };

export interface LiveView {
  /** Hidden items by id. */
  readonly hidden: ReadonlySet<string>;
  /** The popular items of the store, best first; empty if there is no store. */
  readonly popular: readonly PopularEntry[];
  readonly titles: TitleBook;
  /** The title of an item that the model does not know. */
  titleOf(item: string): string | undefined;
  /** Items with attributes that were posted. */
  described(): NewItem[];
  /** Returns whether the posted items with attributes have changed: other items, or other attributes. */
  apply(update: LiveUpdate): boolean;
  /** Everything that was applied. */
  state(): LiveUpdate;
}

/** `titles`: of the model's items by number, '' if an item has none. `before`: a view of the same model with fewer items. */
export function createLiveView(
  { ids, degree }: { readonly ids: VertexIds; readonly degree: Uint32Array },
  titles: readonly string[],
  before?: LiveView,
): LiveView {
  const hidden = new Set<string>();
  const newTitles = new Map<string, string>();
  const attributes = new Map<string, string>();
  let list = titles;
  let book = titleBook(ids, titles, degree);
  let popular: readonly PopularEntry[] = [];
  const view: LiveView = {
    hidden,
    get popular() {
      return popular;
    },
    get titles() {
      return book;
    },
    titleOf: (item) => newTitles.get(item),
    state: () => ({
      hidden: [...hidden].map((item) => [item, true] as const),
      titles: [...newTitles],
      described: [...attributes],
      popular,
    }),
    described: () =>
      [...attributes].map(([item, text]) => ({
        item,
        title: newTitles.get(item),
        attributes: JSON.parse(text) as Record<string, unknown>,
      })),
    apply(update) {
      for (const [item, isHidden] of update.hidden ?? []) {
        if (isHidden) hidden.add(item);
        else hidden.delete(item);
      }
      if (update.popular) popular = update.popular;
      let others = false;
      for (const [item, text] of update.described ?? []) {
        others ||= attributes.get(item) !== text;
        if (text === undefined) attributes.delete(item);
        else attributes.set(item, text);
      }
      let changed: string[] | undefined;
      for (const [item, title] of update.titles ?? []) {
        newTitles.set(item, title);
        const at = ids.find(item);
        if (at < 0) continue;
        const shown = title || (titles[at] ?? '');
        if (((changed ?? list)[at] ?? '') !== shown) {
          changed ??= Array.from({ length: ids.length }, (_, i) => list[i] ?? '');
          changed[at] = shown;
        }
      }
      if (changed) {
        list = changed;
        book = titleBook(ids, list, degree);
      }
      return others;
    },
  };
  if (before) view.apply(before.state());
  return view;
}
