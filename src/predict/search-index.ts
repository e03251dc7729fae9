// The search for items by id and title. Items that contain the words come first, the last word may be unfinished; then those
// that contain the letters inside a word; then close spellings. The index is by word, so a query looks at few items.

import type { VertexIds } from '../graph/ids.js';
import { editDistance } from './nearest-id.js';

/** Finds items by words of their id or title; the items that most users have come first. */
export interface SearchIndex {
  /** At most `n` items. `only: 'contained'` leaves out close spellings. */
  search(text: string, n: number, only?: 'contained'): number[];
}

const WORD = /[\p{L}\p{N}]+/gu;
const ASCII_WORD = /[a-z0-9]+/g;
/** Words of a query beyond these are ignored. */
const MOST_WORDS = 12;
const LONGEST_WORD = 60;
/** Words of the index that are close spellings of one word, at most. */
const MOST_CLOSE = 50;

/** More items than these are not sorted. */
const MANY = 4096;

function isTitle(title: string | undefined, folded: string): boolean {
  // Accents are letters of their own when they are folded, so lengths may differ a little.
  return title !== undefined && Math.abs(title.length - folded.length) < 10 && foldText(title) === folded;
}

function isAscii(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 127) return false;
  return true;
}

/** Lower case, without accents. */
export function foldText(text: string): string {
  if (isAscii(text)) return text.toLowerCase();
  return text
    .normalize('NFD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase();
}

function wordsIn(text: string): string[] {
  const folded = foldText(text);
  const words = folded.match(isAscii(folded) ? ASCII_WORD : WORD) ?? [];
  return words.map((word) => word.slice(0, LONGEST_WORD));
}

/** `titles` has a text for each item, or is empty. `degree`: the users of each item. */
export function createSearchIndex(
  ids: VertexIds,
  titles: readonly string[],
  degree: ArrayLike<number> | undefined,
): SearchIndex {
  const order = Uint32Array.from({ length: ids.length }, (_, item) => item);
  if (degree) order.sort((a, b) => degree[b] - degree[a] || a - b);
  const rank = new Uint32Array(ids.length);
  for (let r = 0; r < order.length; r++) rank[order[r]] = r;
  const { words, postings } = wordIndex(ids, titles, order);
  const signatures = Uint32Array.from(words, letterSet);
  /** How many words of the query each item has so far. */
  const marks = new Uint8Array(ids.length);

  /** Items that have one of the words of each list. The marks of these items are the number of lists. */
  const having = (lists: readonly (readonly number[])[]): number[] => {
    if (lists.length === 0 || lists.some((list) => list.length === 0)) return [];
    marks.fill(0);
    let found: number[] = [];
    for (const [at, list] of lists.entries()) {
      found = [];
      for (const word of list) {
        for (const item of postings[word]) {
          if (marks[item] !== at) continue;
          marks[item] = at + 1;
          found.push(item);
        }
      }
    }
    return found;
  };
  /** The first `n` of what `having` found, in order of popularity. Many are met soon among the popular items. */
  const first = (found: readonly number[], lists: number, n: number): ArrayLike<number> => {
    if (found.length <= MANY)
      return Uint32Array.from(found, (item) => rank[item])
        .sort()
        .map((r) => order[r]);
    const best: number[] = [];
    for (let r = 0; best.length < n && r < order.length; r++)
      if (marks[order[r]] === lists) best.push(order[r]);
    return best;
  };
  const exact = (word: string) => {
    const at = lowerBound(words, word);
    return words[at] === word ? [at] : [];
  };
  const beginning = (word: string) => {
    const all: number[] = [];
    for (let at = lowerBound(words, word); at < words.length && words[at].startsWith(word); at++)
      all.push(at);
    return all;
  };
  const containing = (word: string) => words.flatMap((one, at) => (one.includes(word) ? [at] : []));
  const close = (word: string) => {
    const most = word.length <= 2 ? 0 : word.length <= 5 ? 1 : 2;
    const letters = letterSet(word);
    const all: { at: number; distance: number }[] = [];
    for (let at = 0; at < words.length; at++) {
      // Each change alters at most two letters of the set.
      if (bits(signatures[at] ^ letters) > 2 * most || Math.abs(words[at].length - word.length) > most)
        continue;
      const distance = editDistance(word, words[at], most);
      if (distance <= most) all.push({ at, distance });
    }
    return all
      .sort((a, b) => a.distance - b.distance || a.at - b.at)
      .slice(0, MOST_CLOSE)
      .map(({ at }) => at);
  };

  return {
    search(text, n, only) {
      const asked = wordsIn(text).slice(0, MOST_WORDS);
      const found = new Set<number>();
      const id = ids.find(text.trim());
      if (id >= 0) found.add(id);
      if (asked.length === 0) return [...found].slice(0, n);
      const plain = foldText(text).trim();
      const last = asked.length - 1;
      const tiers = [
        (word: string, w: number) => (w === last ? beginning(word) : exact(word)),
        containing,
        ...(only === 'contained' ? [] : [(word: string) => [...exact(word), ...close(word)]]),
      ];
      for (const [t, tier] of tiers.entries()) {
        if (found.size >= n) break;
        // Letters inside words are looked for if no item has the words.
        if (tier === containing && found.size > 0) continue;
        const items = having(asked.map(tier));
        // A title that is the text itself comes before longer ones.
        if (t === 0) for (const item of items) if (isTitle(titles[item], plain)) found.add(item);
        const best = first(items, asked.length, n + found.size);
        for (let i = 0; i < best.length; i++) found.add(best[i]);
      }
      return [...found].slice(0, n);
    },
  };
}

/** Every word in order, and per word the items that have it, in order of popularity. */
function wordIndex(ids: VertexIds, titles: readonly string[], order: Uint32Array) {
  const lists = new Map<string, number[]>();
  for (const item of order) {
    // Ids are found whole; their words are those of items without a title.
    const own = new Set(wordsIn(titles[item] || ids.at(item)));
    for (const word of own) {
      const list = lists.get(word);
      if (list) list.push(item);
      else lists.set(word, [item]);
    }
  }
  const words = [...lists.keys()].sort((a, b) => (a < b ? -1 : 1));
  return { words, postings: words.map((word) => Uint32Array.from(lists.get(word)!)) };
}

function lowerBound(words: readonly string[], wanted: string): number {
  let [low, high] = [0, words.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (words[middle] < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The characters of a word as bits: words that differ in many are not compared. */
function letterSet(word: string): number {
  let set = 0;
  for (let i = 0; i < word.length; i++) set |= 1 << (word.charCodeAt(i) & 31);
  return set >>> 0;
}

function bits(set: number): number {
  let v = set - ((set >>> 1) & 0x55555555);
  v = (v & 0x33333333) + ((v >>> 2) & 0x33333333);
  return Math.imul((v + (v >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}
