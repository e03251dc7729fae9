// What changes while a model serves, as its workers know it: items that were posted, popular items. A user's history comes
// with the request.

import type { NewItem } from '../../attributes/new-rows.js';
import type { PopularEntry, StoredItem } from '../../events/stored.js';
import { VertexIds } from '../../graph/ids.js';
import { once } from '../../math/once.js';
import { titleBook } from '../../predict/titles.js';

/** A change, or the whole state for a worker that knows nothing yet. Plain values that cross threads. */
export interface LiveUpdate {
  /** Items that were posted, each with everything that is known of it. */
  readonly items?: readonly StoredItem[];
  /** Whether attributes of these items have changed, which score items that the model lacks. */
  readonly described?: boolean;
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

export type LiveView = ReturnType<typeof createLiveView>;

/** `titles`: of the model's items by number, '' if an item has none. `before`: what was applied to the same model with fewer items. */
export function createLiveView(
  { ids, degree }: { readonly ids: VertexIds; readonly degree: Uint32Array },
  titles: readonly string[],
  before?: LiveUpdate,
) {
  /** Items by id. */
  const hidden = new Set<string>();
  const posted = new Map<string, StoredItem>();
  let book = titleBook(ids, titles, degree);
  /** Items that have a title and that the model does not know. */
  let otherBook = once(otherTitles);
  function otherTitles() {
    const some = [...posted.values()]
      .filter(({ item, title }) => title && ids.find(item) < 0)
      .sort((a, b) => (a.item < b.item ? -1 : 1));
    if (some.length === 0) return undefined;
    return titleBook(
      VertexIds.texts(some.map(({ item }) => item)),
      some.map(({ title = '' }) => title),
    );
  }
  /** Of the store; anybody may post an event of an item that nobody knows. */
  let counted: readonly PopularEntry[] = [];
  let popular: readonly PopularEntry[] = [];
  /** The titles that were posted replace those of the model. */
  const allTitles = () => {
    const all = Array.from({ length: ids.length }, (_, i) => titles[i] ?? '');
    for (const { item, title } of posted.values()) {
      const at = title ? ids.find(item) : -1;
      if (at >= 0) all[at] = title as string;
    }
    return all;
  };
  const apply = ({ items = [], popular: others = counted }: LiveUpdate): void => {
    counted = others;
    let retitled = false;
    for (const one of items) {
      retitled ||= (posted.get(one.item)?.title ?? '') !== (one.title ?? '') && ids.find(one.item) >= 0;
      posted.set(one.item, one);
      if (one.hidden) hidden.add(one.item);
      else hidden.delete(one.item);
    }
    popular = counted.filter(({ item }) => posted.has(item) || ids.find(item) >= 0);
    if (items.length > 0) otherBook = once(otherTitles);
    if (retitled) book = titleBook(ids, allTitles(), degree);
  };
  if (before) apply(before);
  return {
    hidden: hidden as ReadonlySet<string>,
    /** The popular items of the store that the model knows or that were posted, best first; empty if there is no store. */
    get popular() {
      return popular;
    },
    get titles() {
      return book;
    },
    /** Ids of at most `n` items by words of their id or title; items that the model knows come before others. */
    search(text: string, n: number): string[] {
      const more = otherBook();
      if (!more) return book.search(text, n).map(book.id);
      const books = [book, more];
      const found = (only?: 'contained') =>
        books.flatMap((one) => one.search(text, n, only).map((item) => one.id(item)));
      const contained = found('contained');
      return [...new Set(contained.length > 0 ? contained : found())].slice(0, n);
    },
    /** The title of an item that the model does not know. */
    titleOf: (item: string) => posted.get(item)?.title,
    apply,
    /** Everything that was applied. */
    state: (): LiveUpdate => ({ items: [...posted.values()], popular: counted }),
    /** Items with attributes that were posted. */
    described: (): NewItem[] =>
      [...posted.values()].flatMap(({ item, title, attributes }) =>
        attributes === undefined
          ? []
          : [{ item, title, attributes: JSON.parse(attributes) as Record<string, unknown> }],
      ),
  };
}
