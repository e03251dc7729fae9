// The search for items by id and title: items that contain the words, the last of which may be unfinished; if there are none, those
// that contain the letters inside a word; if there are none either, close spellings. The index is by word and by item. A query looks at the items of
// its rarest word or, if that has many, at the popular items first.

import type { VertexIds } from '../graph/ids.js';
import { countBits } from '../math/bits.js';
import { transposeLists, upperBound } from '../math/csr.js';
import { grown } from '../math/memory.js';
import { byFallingValue } from '../math/nth-largest.js';
import { editDistance } from '../text/edit-distance.js';

/**
 * Finds at most `n` items by words of their id or title; the items that most users have come first. `only: 'contained'` leaves out close
 * spellings, `only: 'words'` also words that are unfinished or parts of a word.
 */
export type SearchItems = (text: string, n: number, only?: 'contained' | 'words') => number[];

const WORD = /[\p{L}\p{N}]+/gu;
const ASCII_WORD = /[a-z0-9]+/g;
/** Words of a query beyond these are ignored. */
const MOST_WORDS = 12;
const LONGEST_WORD = 60;
/** Words of the index that are close spellings of one word, at most. */
const MOST_CLOSE = 50;

/** Items of the rarest word of a query, beyond which popular items are looked at instead. */
const MANY = 20_000;
/** Shorter ASCII words are not looked for inside words. */
const SHORTEST_INSIDE = 3;

function isTitle(title: string | undefined, folded: string): boolean {
  // Accents are letters of their own when they are folded, so lengths may differ a little.
  return title !== undefined && Math.abs(title.length - folded.length) < 10 && foldText(title) === folded;
}

function isAscii(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 127) return false;
  return true;
}

/** Lower case, without accents. */
function foldText(text: string): string {
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
export function createItemSearch(
  ids: VertexIds,
  titles: readonly string[],
  degree: ArrayLike<number> | undefined,
): SearchItems {
  const order = byFallingValue(degree ?? new Uint8Array(ids.length));
  const { words, rows, postings } = wordIndex(ids, titles, order);
  const signatures = Uint32Array.from(words, letterSet);
  const lengths = Uint8Array.from(words, (word) => word.length);
  /** All words in one text, and where each begins: a text is searched faster than many. */
  const joined = words.join('\n');
  const starts = new Uint32Array(words.length + 1);
  for (let w = 0; w < words.length; w++) starts[w + 1] = starts[w] + words[w].length + 1;
  /** Per word, a bit for each word of the query that it fits. */
  const fits = new Uint16Array(words.length);
  const seen = new Uint8Array(ids.length);

  const hasAll = (r: number, all: number) => {
    let found = 0;
    for (let e = rows.offsets[r]; e < rows.offsets[r + 1]; e++) found |= fits[rows.values[e]];
    return found === all;
  };
  /** The first `n` items, by popularity, that have one of the words of each list. */
  const having = (lists: readonly Uint32Array[], n: number): number[] => {
    if (lists.length === 0 || lists.some((list) => list.length === 0)) return [];
    for (const [at, list] of lists.entries()) for (const word of list) fits[word] |= 1 << at;
    const all = 2 ** lists.length - 1;
    const sizes = lists.map((list) =>
      list.reduce((sum, word) => sum + postings.offsets[word + 1] - postings.offsets[word], 0),
    );
    const rarest = sizes.indexOf(Math.min(...sizes));
    let found: number[] = [];
    if (sizes[rarest] <= MANY) {
      for (const word of lists[rarest]) {
        for (let e = postings.offsets[word]; e < postings.offsets[word + 1]; e++) {
          const r = postings.values[e];
          if (seen[r] === 1 || !hasAll(r, all)) continue;
          seen[r] = 1;
          found.push(r);
        }
      }
      for (const r of found) seen[r] = 0;
      found = [...Uint32Array.from(found).sort().subarray(0, n)];
    } else {
      for (let r = 0; found.length < n && r < order.length; r++) if (hasAll(r, all)) found.push(r);
    }
    for (const list of lists) for (const word of list) fits[word] = 0;
    return found.map((r) => order[r]);
  };
  /** Items whose title is the text itself. */
  const named = (asked: readonly string[], plain: string): number[] => {
    const own = [...new Set(asked)].map(exact);
    if (own.some((list) => list.length === 0)) return [];
    const size = ([word]: Uint32Array) => postings.offsets[word + 1] - postings.offsets[word];
    const [rarest] = own.reduce((least, one) => (size(one) < size(least) ? one : least));
    const found: number[] = [];
    for (let e = postings.offsets[rarest]; e < postings.offsets[rarest + 1]; e++) {
      const r = postings.values[e];
      // A title with other words is another one.
      if (rows.offsets[r + 1] - rows.offsets[r] !== own.length) continue;
      if (isTitle(titles[order[r]], plain)) found.push(order[r]);
    }
    return found;
  };
  const exact = (word: string): Uint32Array => {
    const at = lowerBound(words, word);
    return words[at] === word ? Uint32Array.of(at) : new Uint32Array(0);
  };
  const beginning = (word: string): Uint32Array => {
    const first = lowerBound(words, word);
    const end = lowerBound(words, `${word}\uffff`);
    return Uint32Array.from({ length: end - first }, (_, i) => first + i);
  };
  const containing = (word: string): Uint32Array => {
    if (word.length < SHORTEST_INSIDE && isAscii(word)) return beginning(word);
    const all: number[] = [];
    let w = 0;
    for (let at = joined.indexOf(word); at >= 0; at = joined.indexOf(word, starts[w + 1])) {
      w = upperBound(starts, at) - 1;
      all.push(w);
    }
    return Uint32Array.from(all);
  };
  const close = (word: string): Uint32Array => {
    const most = word.length <= 2 ? 0 : word.length <= 5 ? 1 : 2;
    if (most === 0) return exact(word);
    const letters = letterSet(word);
    const all: { at: number; distance: number }[] = [];
    for (let at = 0; at < words.length; at++) {
      // Each change alters at most two letters of the set.
      if (Math.abs(lengths[at] - word.length) > most || countBits(signatures[at] ^ letters) > 2 * most)
        continue;
      const distance = editDistance(word, words[at], most);
      if (distance <= most) all.push({ at, distance });
    }
    // The word itself has distance 0.
    all.sort((a, b) => a.distance - b.distance || a.at - b.at);
    return Uint32Array.from(all.slice(0, MOST_CLOSE), ({ at }) => at);
  };

  return (text, n, only) => {
    const asked = wordsIn(text).slice(0, MOST_WORDS);
    const found = new Set<number>();
    const id = ids.find(text.trim());
    if (id >= 0) found.add(id);
    if (asked.length === 0) return [...found].slice(0, n);
    const last = asked.length - 1;
    const parts = [
      (word: string, w: number) => (w === last ? beginning(word) : exact(word)),
      containing,
      ...(only === 'contained' ? [] : [close]),
    ];
    const tiers = only === 'words' ? [exact] : parts;
    for (const [t, tier] of tiers.entries()) {
      // Letters inside words are looked for if no item has the words, and close spellings if nothing else was found.
      if (t > 0 && found.size > 0) break;
      // A title that is the text itself comes before longer ones.
      if (t === 0) for (const item of named(asked, foldText(text).trim())) found.add(item);
      for (const item of having(asked.map(tier), n + found.size)) found.add(item);
    }
    return [...found].slice(0, n);
  };
}

/** Every word in order; the words of each item and the items of each word, items by their place in `order`. */
function wordIndex(ids: VertexIds, titles: readonly string[], order: Uint32Array) {
  const codes = new Map<string, number>();
  const offsets = new Uint32Array(order.length + 1);
  let targets = new Uint32Array(4 * order.length + 1);
  let count = 0;
  for (let r = 0; r < order.length; r++) {
    // Ids are found whole; their words are those of items without a title.
    for (const word of wordsIn(titles[order[r]] || ids.at(order[r]))) {
      let code = codes.get(word);
      if (code === undefined) {
        code = codes.size;
        codes.set(word, code);
      }
      if (targets.subarray(offsets[r], count).includes(code)) continue;
      if (count === targets.length) targets = grown(targets);
      targets[count++] = code;
    }
    offsets[r + 1] = count;
  }
  const words = [...codes.keys()].sort((a, b) => (a < b ? -1 : 1));
  const place = new Uint32Array(words.length);
  for (const [at, word] of words.entries()) place[codes.get(word)!] = at;
  const rows = { offsets, values: targets.slice(0, count).map((code) => place[code]) };
  return { words, rows, postings: transposeLists(rows, words.length) };
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
