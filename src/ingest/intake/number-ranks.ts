// The rank of whole numbers in ascending order. A bit for each number up to the largest serves dense numbers, so that a
// look-up touches a few kilobytes; sparse numbers are hashed.

import { countBits, forEachBit, setBit } from '../../math/bits.js';
import { allocate, grown } from '../../math/memory.js';
import { NumberDictionary } from './dictionary.js';

/** Bits per number, at most, for numbers to count as dense. */
const BITS_PER_NUMBER = 64;
const LEAST_BITS = 1 << 20;
/** Numbers below this have a bit while they are collected: 2 MB in all. */
const MOST_BITS = 1 << 24;

/** What threads share to rank numbers. */
export interface SharedRanks {
  /** A bit for each number that occurs, and how many occur before each word; undefined: the numbers are sparse. */
  readonly bits: { readonly words: Uint32Array; readonly before: Uint32Array } | undefined;
  /** Ascending. */
  readonly numbers: Uint32Array;
}

/** For distinct numbers in ascending order. */
export function ranksOf(numbers: Uint32Array): SharedRanks {
  const most = numbers.length === 0 ? 0 : numbers[numbers.length - 1];
  if (isSparse(most, numbers.length)) return { numbers, bits: undefined };
  const words = allocate(Uint32Array, (most >>> 5) + 1);
  for (let at = 0; at < numbers.length; at++) setBit(words, numbers[at]);
  return { numbers, bits: { words, before: countBefore(words) } };
}

const isSparse = (most: number, count: number) => most >= BITS_PER_NUMBER * count + LEAST_BITS;

export function rankWith({ numbers, bits }: SharedRanks): (number: number) => number {
  if (bits) {
    const { words, before } = bits;
    return (number) => rankOf(words, before, number);
  }
  const known = new NumberDictionary();
  for (let at = 0; at < numbers.length; at++) known.code(numbers[at]);
  return (number) => known.code(number);
}

/** Replaces numbers by their ranks, and returns the distinct numbers in ascending order. */
export function rankInPlace(numbers: Uint32Array): Uint32Array {
  let most = 0;
  for (let i = 0; i < numbers.length; i++) if (numbers[i] > most) most = numbers[i];
  if (isSparse(most, numbers.length)) return rankSparse(numbers);
  const words = new Uint32Array((most >>> 5) + 1);
  for (let i = 0; i < numbers.length; i++) setBit(words, numbers[i]);
  const before = countBefore(words);
  const last = words.length - 1;
  const different = new Uint32Array(before[last] + countBits(words[last]));
  let at = 0;
  forEachBit(words, (number) => {
    different[at++] = number;
  });
  for (let i = 0; i < numbers.length; i++) numbers[i] = rankOf(words, before, numbers[i]);
  return different;
}

function rankSparse(numbers: Uint32Array): Uint32Array {
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
  for (let w = 1; w < words.length; w++) before[w] = before[w - 1] + countBits(words[w - 1]);
  return before;
}

function rankOf(words: Uint32Array, before: Uint32Array, number: number): number {
  const w = number >>> 5;
  return before[w] + countBits(words[w] & ((1 << (number & 31)) - 1));
}

/** Collects distinct numbers. */
export class DistinctNumbers {
  /** A bit for each small number. */
  #bits = new Uint32Array(1 << 10);
  readonly #large = new NumberDictionary();

  /** Adds the first `count` of them. */
  add(numbers: Uint32Array, count: number): void {
    let bits = this.#bits;
    for (let i = 0; i < count; i++) {
      const number = numbers[i];
      if (number >>> 5 >= bits.length) {
        this.#addLarge(number);
        bits = this.#bits;
      } else setBit(bits, number);
    }
  }

  #addLarge(number: number): void {
    if (number < MOST_BITS) {
      this.#bits = grown(this.#bits, (number >>> 5) + 1);
      setBit(this.#bits, number);
    } else this.#large.code(number);
  }

  /** The numbers, in no particular order. */
  values(): Uint32Array {
    const large = this.#large.values;
    let count = large.length;
    for (const word of this.#bits) count += countBits(word);
    const result = new Uint32Array(count);
    let at = 0;
    forEachBit(this.#bits, (number) => {
      result[at++] = number;
    });
    result.set(large, at);
    return result;
  }
}
