// Ids by their bytes: each distinct byte string gets a code in order of first sight. Open addressing over an arena,
// so that ten million rows make no JavaScript string but one per distinct id.

import { InputError } from '../errors.js';

const MAX_ARENA = 2 ** 32 - 1;

export class ByteDictionary {
  #arena = new Uint8Array(1 << 16);
  #used = 0;
  /** End of each entry in the arena; its start is the end of the one before. */
  #ends = new Uint32Array(1 << 10);
  #hashes = new Uint32Array(1 << 10);
  /** Code + 1 by hash; 0 is free. */
  #slots = new Uint32Array(1 << 12);
  #count = 0;

  get size(): number {
    return this.#count;
  }

  /** The code of the bytes from start to stop; a new code if they were not seen before. */
  code(bytes: Uint8Array, start: number, stop: number): number {
    let hash = 0x811c9dc5;
    for (let i = start; i < stop; i++) hash = Math.imul(hash ^ bytes[i]!, 0x01000193);
    hash = Math.imul(hash ^ (hash >>> 15), 0x85ebca6b);
    hash = (hash ^ (hash >>> 13)) >>> 0;
    const slots = this.#slots;
    const mask = slots.length - 1;
    const length = stop - start;
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const code = slots[slot]! - 1;
      if (code < 0) {
        slots[slot] = this.#count + 1;
        return this.#append(bytes, start, stop, hash);
      }
      if (this.#hashes[code] !== hash) continue;
      const from = code === 0 ? 0 : this.#ends[code - 1]!;
      if (this.#ends[code]! - from !== length) continue;
      const arena = this.#arena;
      let i = 0;
      while (i < length && arena[from + i] === bytes[start + i]) i++;
      if (i === length) return code;
    }
  }

  /** The bytes of an entry; a view that later additions may leave behind. */
  bytes(code: number): Uint8Array {
    return this.#arena.subarray(code === 0 ? 0 : this.#ends[code - 1]!, this.#ends[code]!);
  }

  #append(bytes: Uint8Array, start: number, stop: number, hash: number): number {
    const code = this.#count++;
    const used = this.#used + stop - start;
    if (used > this.#arena.length) {
      if (used > MAX_ARENA)
        throw new InputError('the distinct ids take more than 4 GB of text; shorten them first');
      const grown = new Uint8Array(Math.min(MAX_ARENA, Math.max(2 * this.#arena.length, used)));
      grown.set(this.#arena.subarray(0, this.#used));
      this.#arena = grown;
    }
    const arena = this.#arena;
    for (let i = start, to = this.#used; i < stop; i++) arena[to++] = bytes[i]!;
    this.#used = used;
    if (code === this.#ends.length) {
      this.#ends = doubled(this.#ends);
      this.#hashes = doubled(this.#hashes);
    }
    this.#ends[code] = used;
    this.#hashes[code] = hash;
    if (2 * this.#count > this.#slots.length) this.#rehash();
    return code;
  }

  #rehash(): void {
    const slots = new Uint32Array(2 * this.#slots.length);
    const mask = slots.length - 1;
    for (let code = 0; code < this.#count; code++) {
      let slot = this.#hashes[code]! & mask;
      while (slots[slot] !== 0) slot = (slot + 1) & mask;
      slots[slot] = code + 1;
    }
    this.#slots = slots;
  }
}

/** Whole numbers below 2^32 to codes in order of first sight: for integer ids spread too thinly for a plain table. */
export class NumberDictionary {
  #keys = new Uint32Array(1 << 12);
  #codes = new Uint32Array(1 << 12);
  #values = new Uint32Array(1 << 10);
  #count = 0;

  get size(): number {
    return this.#count;
  }

  /** The distinct values, by code. */
  get values(): Uint32Array {
    return this.#values.subarray(0, this.#count);
  }

  code(value: number): number {
    const keys = this.#keys;
    const mask = keys.length - 1;
    for (let slot = scatter(value) & mask; ; slot = (slot + 1) & mask) {
      const code = this.#codes[slot]! - 1;
      if (code >= 0) {
        if (keys[slot] === value) return code;
        continue;
      }
      keys[slot] = value;
      this.#codes[slot] = ++this.#count;
      if (this.#count > this.#values.length) this.#values = doubled(this.#values);
      this.#values[this.#count - 1] = value;
      if (2 * this.#count > keys.length) this.#rehash();
      return this.#count - 1;
    }
  }

  #rehash(): void {
    const keys = new Uint32Array(2 * this.#keys.length);
    const codes = new Uint32Array(keys.length);
    const mask = keys.length - 1;
    for (let code = 0; code < this.#count; code++) {
      let slot = scatter(this.#values[code]!) & mask;
      while (codes[slot] !== 0) slot = (slot + 1) & mask;
      keys[slot] = this.#values[code]!;
      codes[slot] = code + 1;
    }
    this.#keys = keys;
    this.#codes = codes;
  }
}

function scatter(value: number): number {
  const h = Math.imul(value ^ (value >>> 16), 0x7feb352d);
  return (h ^ (h >>> 15)) >>> 0;
}

function doubled(array: Uint32Array<ArrayBuffer>): Uint32Array<ArrayBuffer> {
  const result = new Uint32Array(2 * array.length);
  result.set(array);
  return result;
}
