// Titles of items: answers show them, and requests may use them instead of ids.

import type { VertexIds } from '../graph/ids.js';
import { once } from '../math/once.js';
import { shown } from '../text/untrusted.js';
import { isNumber, sameNumber } from './nearest-id.js';
import { createItemSearch } from './search-index.js';

/** The item of an id or a title, or why there is none. */
type Found = { readonly item: number } | 'unknown' | 'ambiguous';

export type TitleBook = ReturnType<typeof titleBook>;

const SEVERAL = -2;
/** Candidates that a message names, and that are looked at for it. */
const NAMED = 5;
const MOST_CANDIDATES = 200;

function withoutYear(title: string): string {
  const lower = title.toLowerCase();
  const trimmed = lower.trimEnd();
  // Matching the spaces in the pattern too would take quadratic time on a long run of spaces.
  return /\(\d{4}\)$/.test(trimmed) ? trimmed.slice(0, -6).trimEnd() : lower;
}

/**
 * `titles` has a text for each item, '' if it has no title. The list is empty if no titles were given. `degree`: the users of each
 * item, by which a search orders what it finds.
 */
export function titleBook(ids: VertexIds, titles: readonly string[], degree?: ArrayLike<number> | undefined) {
  const exact = new Map<string, number>();
  const folded = new Map<string, number>();
  /** 'the matrix' of 'The Matrix (1999)'. */
  const undated = new Map<string, number>();
  const note = (map: Map<string, number>, key: string, item: number) =>
    map.set(key, map.has(key) ? SEVERAL : item);
  for (const [item, title] of titles.entries()) {
    if (title === '') continue;
    note(exact, title, item);
    note(folded, title.toLowerCase(), item);
    note(undated, withoutYear(title), item);
  }
  const search = once(() => createItemSearch(ids, titles, degree));
  /** Items whose title is the text or contains it as whole words; those with the title itself come first. */
  const withWords = (text: string): number[] => {
    if (titles.length === 0 || isNumber(text)) return [];
    const title = withoutYear(text);
    const found = search()(text, MOST_CANDIDATES, 'words').filter((item) => titles[item]);
    const isNamed = (item: number) => Number(withoutYear(titles[item]) === title);
    return found.sort((a, b) => isNamed(b) - isNamed(a));
  };
  const find = (text: string | number): Found => {
    const id = ids.find(text);
    if (id >= 0) return { item: id };
    const item =
      exact.get(String(text)) ??
      folded.get(String(text).toLowerCase()) ??
      undated.get(withoutYear(String(text)));
    if (item === undefined) return 'unknown';
    return item === SEVERAL ? 'ambiguous' : { item };
  };
  return {
    id: (item: number): string => ids.at(item),
    /** The title of an item; undefined if it has none. */
    of: (item: number): string | undefined => titles[item] || undefined,
    /** The same by its id. */
    ofId: (id: string | number): string | undefined => titles[ids.find(id)] || undefined,
    /** Finds an item by its id, else by its title: exactly, then ignoring case, then without the year at the end. */
    find,
    /** The same, else by whole words that only one title contains; ambiguous if several do. Numbers are ids, not words. */
    meant(text: string | number): Found {
      const found = find(text);
      if (found !== 'unknown') return found;
      const [item, other] = withWords(String(text));
      if (item === undefined) return 'unknown';
      return other === undefined ? { item } : 'ambiguous';
    },
    /** Title and id of at most five items that an ambiguous text may mean, for a message that asks which one. */
    candidateWords(text: string | number): string {
      const found = withWords(String(text));
      const named = found.slice(0, NAMED).map((item) => `${shown(titles[item])} (${shown(ids.at(item))})`);
      return `${named.join(', ')}${found.length > NAMED ? ', …' : ''}`;
    },
    /** The id that differs from an unknown number in leading zeros or a trailing .0 alone; undefined if there is none. */
    sameNumber: (text: string | number): string | undefined => sameNumber(text, ids),
    /** For a hint: that id, else the first item that a search finds, by title or id; undefined if there is none. */
    near(text: string | number): string | undefined {
      const id = sameNumber(text, ids);
      if (id !== undefined) return id;
      const [item] = search()(String(text), 1);
      return item === undefined ? undefined : titles[item] || ids.at(item);
    },
    /** At most `n` items: those that contain the words, else close spellings (search-index.ts). */
    search: (text: string | number, n: number, only?: 'contained'): number[] =>
      search()(String(text), n, only),
  };
}
