// Sets of small numbers as bits: number i is bit i mod 32 of word i / 32.

import { allocate } from './memory.js';

/** Memory for the numbers 0 … count − 1, none of them in the set. */
export function emptyBits(count: number): Uint32Array {
  return allocate(Uint32Array, Math.ceil(count / 32));
}

export function setBit(bits: Uint32Array, at: number): void {
  bits[at >>> 5] |= 1 << (at & 31);
}

export function hasBit(bits: Uint32Array, at: number): boolean {
  return ((bits[at >>> 5] >>> (at & 31)) & 1) === 1;
}

/** Calls `visit` with every number of the set, ascending. Words without any are skipped. */
export function forEachBit(bits: Uint32Array, visit: (at: number) => void): void {
  for (let word = 0; word < bits.length; word++) {
    for (let left = bits[word]; left !== 0; left &= left - 1) visit(32 * word + lowestBit(left));
  }
}

export function lowestBit(word: number): number {
  return 31 - Math.clz32(word & -word);
}

export function countBits(word: number): number {
  let sum = word - ((word >>> 1) & 0x55555555);
  sum = (sum & 0x33333333) + ((sum >>> 2) & 0x33333333);
  return Math.imul((sum + (sum >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}
