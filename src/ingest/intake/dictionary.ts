// Codes of ids: each distinct byte string gets a code in order of first appearance. It uses open addressing over an arena, so that ten
// million rows create only one JavaScript string per distinct id.

import { InputError } from '../../errors.js';
import { grown, inSharedMemory } from '../../math/memory.js';
import { hashBytes, hashWords } from './keyed-hash.js';
import { requireHeap } from './text-memory.js';

const MAX_ARENA = 2 ** 32 - 1;
/**
 * Up to `bytes` bytes in all, ids may have any length; beyond, at most `average` bytes on average. A small compressed file can hold
 * gigabytes of long ids that differ in one digit, but not of short ids.
 */
const LONG_IDS = { bytes: 2 ** 27, average: 512 };
/** Ids of at most this many bytes are stored in the table itself. */
const INLINE = 11;
const LONG = 0xff000000;

export class ByteDictionary {
  #arena = new Uint8Array(1 << 16);
  #used = 0;
  /** End of each entry in the arena; its start is the end of the one before. */
  #ends = new Uint32Array(1 << 10);
  /**
   * A slot has four numbers. The first is code + 1 (0: free). An id of at most 11 bytes is in the other three, so that a look-up
   * touches one cache line: bytes 0–3, bytes 4–7, and bytes 8–10 with the length above them. For a longer id they are its hash,
   * its start in the arena, and LONG.
   */
  #slots = new Uint32Array(4 << 12);
  #count = 0;

  get size(): number {
    return this.#count;
  }

  get byteLength(): number {
    return this.#used;
  }

  /** The code of the bytes from start to stop; a new code if they were not seen before. */
  code(bytes: Uint8Array, start: number, stop: number): number {
    const length = stop - start;
    if (length > INLINE) return this.#codeLong(bytes, start, stop);
    let a = 0;
    let b = 0;
    let c = length << 24;
    for (let i = 0; i < length && i < 4; i++) a |= bytes[start + i] << (8 * i);
    for (let i = 4; i < length && i < 8; i++) b |= bytes[start + i] << (8 * i - 32);
    for (let i = 8; i < length; i++) c |= bytes[start + i] << (8 * i - 64);
    a >>>= 0;
    b >>>= 0;
    c >>>= 0;
    const slots = this.#slots;
    const mask = slots.length - 1;
    for (let slot = hashOf(a, b, c) & mask; ; slot = (slot + 4) & mask) {
      const taken = slots[slot];
      if (taken === 0) return this.#append(bytes, start, stop, slot, a, b, c);
      if (slots[slot + 1] === a && slots[slot + 2] === b && slots[slot + 3] === c) return taken - 1;
    }
  }

  #codeLong(bytes: Uint8Array, start: number, stop: number): number {
    const hash = hashBytes(bytes, start, stop);
    const slots = this.#slots;
    const arena = this.#arena;
    const mask = slots.length - 1;
    for (let slot = hashOf(hash, 0, LONG) & mask; ; slot = (slot + 4) & mask) {
      const taken = slots[slot];
      if (taken === 0) return this.#append(bytes, start, stop, slot, hash, this.#used, LONG);
      if (slots[slot + 1] !== hash || slots[slot + 3] !== LONG) continue;
      const from = slots[slot + 2];
      if (this.#ends[taken - 1] - from !== stop - start) continue;
      let i = start;
      while (i < stop && arena[from + i - start] === bytes[i]) i++;
      if (i === stop) return taken - 1;
    }
  }

  /** The bytes of an entry: a view that is stale after later additions. */
  bytes(code: number): Uint8Array {
    return this.#arena.subarray(code === 0 ? 0 : this.#ends[code - 1], this.#ends[code]);
  }

  /** All entries, in memory that threads share. */
  entries(): { readonly bytes: Uint8Array; readonly ends: Uint32Array } {
    return {
      bytes: inSharedMemory(this.#arena.subarray(0, this.#used)),
      ends: inSharedMemory(this.#ends.subarray(0, this.#count)),
    };
  }

  #append(
    bytes: Uint8Array,
    start: number,
    stop: number,
    slot: number,
    a: number,
    b: number,
    c: number,
  ): number {
    const code = this.#count++;
    const used = this.#used + stop - start;
    if (used > this.#arena.length) {
      if (used > MAX_ARENA) {
        throw new InputError('the distinct ids take more than 4 GB of text; shorten them first');
      }
      if (used > LONG_IDS.bytes && used > LONG_IDS.average * this.#count) {
        throw new InputError(
          `the ids are too long: ${this.#count} different ones take ${Math.round(used / this.#count)} bytes each, and beyond ${LONG_IDS.bytes} bytes in all they may take ${LONG_IDS.average} each; number them first`,
        );
      }
      // They become texts in the end, so stop as soon as these would not fit in memory.
      requireHeap('the data', this.#count, used);
      const grown = new Uint8Array(Math.min(MAX_ARENA, Math.max(2 * this.#arena.length, used)));
      grown.set(this.#arena.subarray(0, this.#used));
      this.#arena = grown;
    }
    for (let i = start, to = this.#used; i < stop; i++) this.#arena[to++] = bytes[i];
    this.#slots.set([code + 1, a, b, c], slot);
    this.#used = used;
    if (code === this.#ends.length) this.#ends = grown(this.#ends);
    this.#ends[code] = used;
    if (8 * this.#count > this.#slots.length) this.#rehash();
    return code;
  }

  #rehash(): void {
    const old = this.#slots;
    const slots = new Uint32Array(2 * old.length);
    const mask = slots.length - 1;
    for (let at = 0; at < old.length; at += 4) {
      if (old[at] === 0) continue;
      const long = old[at + 3] === LONG;
      let slot = hashOf(old[at + 1], long ? 0 : old[at + 2], old[at + 3]) & mask;
      while (slots[slot] !== 0) slot = (slot + 4) & mask;
      for (let i = 0; i < 4; i++) slots[slot + i] = old[at + i];
    }
    this.#slots = slots;
  }
}

/** Maps whole numbers below 2^32 to codes in order of first appearance. */
export class NumberDictionary {
  /** Code + 1 of the number in each slot; 0 if it is free. */
  #slots = new Uint32Array(1 << 12);
  #values = new Uint32Array(1 << 10);
  #count = 0;

  get values(): Uint32Array {
    return this.#values.subarray(0, this.#count);
  }

  code(value: number): number {
    const slot = this.#slotOf(value);
    if (this.#slots[slot] > 0) return this.#slots[slot] - 1;
    const code = this.#count++;
    if (code === this.#values.length) this.#values = grown(this.#values);
    this.#values[code] = value;
    this.#slots[slot] = code + 1;
    if (2 * this.#count > this.#slots.length) this.#rehash();
    return code;
  }

  /** The slot that holds the number, or the free one for it. */
  #slotOf(value: number): number {
    const slots = this.#slots;
    const mask = slots.length - 1;
    let slot = hashWords(value, 0, 0) & mask;
    while (slots[slot] > 0 && this.#values[slots[slot] - 1] !== value) slot = (slot + 1) & mask;
    return slot;
  }

  #rehash(): void {
    this.#slots = new Uint32Array(2 * this.#slots.length);
    for (let code = 0; code < this.#count; code++) this.#slots[this.#slotOf(this.#values[code])] = code + 1;
  }
}

/** The start of a slot, before the mask: a multiple of 4. */
function hashOf(a: number, b: number, c: number): number {
  return (hashWords(a, b, c) << 2) >>> 0;
}
