// Whole numbers to their places in ascending order: by a bit for each number up to the largest, so that a look-up touches a few
// kilobytes, or by hashing where they are spread too thinly for that.

import { NumberDictionary } from '../ingest/intake/dictionary.js';
import { allocate } from '../math/memory.js';

/** Numbers up to so many times their own number have a bit each. */
const BITS_PER_NUMBER = 64;
const LEAST_BITS = 1 << 20;
/** Numbers below this have a bit when they are met: 2 MB for all. */
const MOST_BITS = 1 << 24;

/** What threads share of the places of numbers. */
export interface SharedRanks {
  /** A bit for each number that there is, and how many come before those of each word; undefined: they are spread thinly. */
  readonly bits: { readonly words: Uint32Array; readonly before: Uint32Array } | undefined;
  /** Ascending. */
  readonly numbers: Uint32Array;
}

/** Of different numbers, ascending. */
export function ranksOf(numbers: Uint32Array): SharedRanks {
  const most = numbers.length === 0 ? 0 : numbers[numbers.length - 1];
  if (isSpread(most, numbers.length)) return { numbers, bits: undefined };
  const words = allocate(Uint32Array, (most >>> 5) + 1);
  for (let at = 0; at < numbers.length; at++) words[numbers[at] >>> 5] |= 1 << (numbers[at] & 31);
  return { numbers, bits: { words, before: countBefore(words) } };
}

const isSpread = (most: number, count: number) => most >= BITS_PER_NUMBER * count + LEAST_BITS;

/** The place of one of the numbers. */
export function rankWith({ numbers, bits }: SharedRanks): (number: number) => number {
  if (bits) {
    const { words, before } = bits;
    return (number) => placeOf(words, before, number);
  }
  const known = new NumberDictionary();
  for (let at = 0; at < numbers.length; at++) known.code(numbers[at]);
  return (number) => known.code(number);
}

/** Makes numbers their places among them in ascending order, and returns those that are different. */
export function rankInPlace(numbers: Uint32Array): Uint32Array {
  let most = 0;
  for (let i = 0; i < numbers.length; i++) if (numbers[i] > most) most = numbers[i];
  if (isSpread(most, numbers.length)) return rankSpread(numbers);
  const words = new Uint32Array((most >>> 5) + 1);
  for (let i = 0; i < numbers.length; i++) words[numbers[i] >>> 5] |= 1 << (numbers[i] & 31);
  const before = countBefore(words);
  const last = words.length - 1;
  const different = new Uint32Array(before[last] + ones(words[last]));
  for (let w = 0, at = 0; w < words.length; w++) {
    for (let word = words[w]; word !== 0; word &= word - 1)
      different[at++] = 32 * w + 31 - Math.clz32(word & -word);
  }
  for (let i = 0; i < numbers.length; i++) numbers[i] = placeOf(words, before, numbers[i]);
  return different;
}

function rankSpread(numbers: Uint32Array): Uint32Array {
  const met = new NumberDictionary();
  for (let i = 0; i < numbers.length; i++) numbers[i] = met.code(numbers[i]);
  const sorted = met.values.slice().sort();
  const rank = new Uint32Array(sorted.length);
  for (let v = 0; v < sorted.length; v++) rank[met.code(sorted[v])] = v;
  for (let i = 0; i < numbers.length; i++) numbers[i] = rank[numbers[i]];
  return sorted;
}

function countBefore(words: Uint32Array): Uint32Array {
  const before = allocate(Uint32Array, words.length);
  for (let w = 1; w < words.length; w++) before[w] = before[w - 1] + ones(words[w - 1]);
  return before;
}

function placeOf(words: Uint32Array, before: Uint32Array, number: number): number {
  const w = number >>> 5;
  return before[w] + ones(words[w] & ((1 << (number & 31)) - 1));
}

/** How many bits are set. */
function ones(word: number): number {
  let sum = word - ((word >>> 1) & 0x55555555);
  sum = (sum & 0x33333333) + ((sum >>> 2) & 0x33333333);
  return Math.imul((sum + (sum >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

/** Different numbers, as they are met. */
export class MetNumbers {
  /** A bit for each small number. */
  #bits = new Uint32Array(1 << 10);
  readonly #large = new NumberDictionary();

  add(numbers: Uint32Array, count: number): void {
    let bits = this.#bits;
    for (let i = 0; i < count; i++) {
      const number = numbers[i];
      if (number >>> 5 >= bits.length) {
        this.#addLarge(number);
        bits = this.#bits;
      } else bits[number >>> 5] |= 1 << (number & 31);
    }
  }

  #addLarge(number: number): void {
    if (number < MOST_BITS) {
      const larger = new Uint32Array(Math.max(2 * this.#bits.length, (number >>> 5) + 1));
      larger.set(this.#bits);
      larger[number >>> 5] |= 1 << (number & 31);
      this.#bits = larger;
    } else this.#large.code(number);
  }

  /** In no particular order. */
  values(): Uint32Array {
    const large = this.#large.values;
    let count = large.length;
    for (const word of this.#bits) count += ones(word);
    const result = new Uint32Array(count);
    let at = 0;
    for (let w = 0; w < this.#bits.length; w++) {
      for (let word = this.#bits[w]; word !== 0; word &= word - 1)
        result[at++] = 32 * w + 31 - Math.clz32(word & -word);
    }
    result.set(large, at);
    return result;
  }
}
