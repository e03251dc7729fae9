// One column of ids on its way from bytes to vertices. While every id is a plain whole number below 2^32 − 1 the number
// itself is the code; the first other id turns the column to dictionary codes. At the end the distinct ids are sorted
// (whole numbers by value, texts by code unit) and each row gets its vertex, so row order never matters.

import { VertexIds } from '../graph/ids.js';
import { ByteDictionary, NumberDictionary } from './dictionary.js';

const BLOCK = 1 << 18;
const MAX_SMALL = 2 ** 32 - 2;
/** Longest whole number that is always exact as a number; longer ids stay texts. */
const MAX_DIGITS = 15;

/** What `encode` answers for an id that cannot be used. */
export const EMPTY_ID = -1;
export const NOT_UTF8 = -2;

/**
 * 'guess': whole numbers until something else comes. 'dictionary': codes from the start, so that a code once given
 * stays valid; whole numbers in the end if all ids are. 'text': texts even where all ids are digits.
 */
export type IdKind = 'guess' | 'dictionary' | 'text';

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export class IdColumn {
  readonly #blocks: Uint32Array[] = [];
  #rows = 0;
  #dictionary: ByteDictionary | undefined;
  /** Codes of byte strings that are not UTF-8; no row uses them. */
  #bad: Set<number> | undefined;
  readonly #textOnly: boolean;

  constructor(kind: IdKind = 'guess') {
    this.#textOnly = kind === 'text';
    if (kind !== 'guess') this.#dictionary = new ByteDictionary();
  }

  get rows(): number {
    return this.#rows;
  }

  /** The code of the id in bytes start … stop−1, or EMPTY_ID or NOT_UTF8. Push it before encoding the next. */
  encode(bytes: Uint8Array, start: number, stop: number): number {
    if (start >= stop) return EMPTY_ID;
    if (this.#dictionary === undefined) {
      const value = smallInteger(bytes, start, stop);
      if (value >= 0) return value;
      this.#toDictionary();
    }
    const dictionary = this.#dictionary!;
    const before = dictionary.size;
    const code = dictionary.code(bytes, start, stop);
    if (code === before) {
      if (!isUtf8(bytes, start, stop)) {
        this.#bad ??= new Set();
        this.#bad.add(code);
        return NOT_UTF8;
      }
    } else if (this.#bad?.has(code)) return NOT_UTF8;
    return code;
  }

  /** The code of an id given as text. */
  encodeText(id: string): number {
    const bytes = encoder.encode(id);
    return this.encode(bytes, 0, bytes.length);
  }

  /** The code of a whole number. */
  encodeInteger(value: number): number {
    if (this.#dictionary === undefined && value >= 0 && value <= MAX_SMALL) return value;
    return this.encodeText(String(value));
  }

  /** Makes a code the next row. */
  push(code: number): void {
    const at = this.#rows % BLOCK;
    if (at === 0) this.#blocks.push(new Uint32Array(BLOCK));
    this.#blocks[this.#blocks.length - 1]![at] = code;
    this.#rows++;
  }

  /** The vertex of every row, and the ids of the vertices. The column is empty afterwards. */
  finish(): { vertices: Uint32Array; ids: VertexIds } {
    return this.#dictionary ? this.#finishDictionary(this.#dictionary) : this.#finishIntegers();
  }

  #toDictionary(): void {
    const dictionary = new ByteDictionary();
    const numbers = new NumberDictionary();
    const codes: number[] = [];
    this.#recode((value) => {
      const code = numbers.code(value);
      if (code === codes.length) {
        const bytes = encoder.encode(String(value));
        codes.push(dictionary.code(bytes, 0, bytes.length));
      }
      return codes[code]!;
    });
    this.#dictionary = dictionary;
  }

  #finishIntegers(): { vertices: Uint32Array; ids: VertexIds } {
    let max = 0;
    this.#recode((value) => {
      if (value > max) max = value;
      return value;
    });
    if (max < 16 * this.#rows + (1 << 20)) {
      const rank = this.#rankUsed(max + 1);
      const ids = new Float64Array(rank.used);
      for (let value = 0, v = 0; v < ids.length; value++) if (rank.present[value]) ids[v++] = value;
      return { vertices: this.#drain(rank.present, 1), ids: VertexIds.integers(ids) };
    }
    const numbers = new NumberDictionary();
    this.#recode((value) => numbers.code(value));
    const sorted = numbers.values.slice().sort();
    const rank = new Uint32Array(numbers.size);
    for (let v = 0; v < sorted.length; v++) rank[numbers.code(sorted[v]!)] = v;
    return { vertices: this.#drain(rank, 0), ids: VertexIds.integers(Float64Array.from(sorted)) };
  }

  #finishDictionary(dictionary: ByteDictionary): { vertices: Uint32Array; ids: VertexIds } {
    const { present } = this.#rankUsed(dictionary.size);
    const codes: number[] = [];
    for (let code = 0; code < dictionary.size; code++) if (present[code]) codes.push(code);
    const integers = !this.#textOnly && codes.every((code) => isInteger(dictionary.bytes(code)));
    const texts = codes.map((code) => decoder.decode(dictionary.bytes(code)));
    const rank = new Uint32Array(dictionary.size);
    if (integers) {
      const values = Float64Array.from(texts, Number);
      const order = Uint32Array.from(values.keys()).sort((a, b) => values[a]! - values[b]!);
      order.forEach((at, v) => {
        rank[codes[at]!] = v;
      });
      return { vertices: this.#drain(rank, 0), ids: VertexIds.integers(values.sort()) };
    }
    const order = Array.from(texts.keys()).sort((a, b) => (texts[a]! < texts[b]! ? -1 : 1));
    order.forEach((at, v) => {
      rank[codes[at]!] = v;
    });
    return { vertices: this.#drain(rank, 0), ids: VertexIds.texts(order.map((at) => texts[at]!)) };
  }

  /** For codes 0 … limit−1: the number of used codes up to and including this one, or 0 if no row uses it. */
  #rankUsed(limit: number): { present: Uint32Array; used: number } {
    const present = new Uint32Array(limit);
    this.#recode((code) => {
      present[code] = 1;
      return code;
    });
    let used = 0;
    for (let code = 0; code < limit; code++) if (present[code]) present[code] = ++used;
    return { present, used };
  }

  #recode(next: (code: number) => number): void {
    for (const [b, block] of this.#blocks.entries()) {
      const n = Math.min(BLOCK, this.#rows - b * BLOCK);
      for (let i = 0; i < n; i++) block[i] = next(block[i]!);
    }
  }

  /** rank[code] − less for every row, in one array; frees the blocks on the way. */
  #drain(rank: Uint32Array, less: number): Uint32Array {
    const vertices = new Uint32Array(this.#rows);
    for (let b = 0, row = 0; row < this.#rows; b++) {
      const block = this.#blocks[b]!;
      const n = Math.min(BLOCK, this.#rows - row);
      for (let i = 0; i < n; i++) vertices[row++] = rank[block[i]!]! - less;
      this.#blocks[b] = block.subarray(0, 0);
    }
    this.#blocks.length = 0;
    this.#rows = 0;
    return vertices;
  }
}

/** The value of a plain whole number of at most ten digits without leading zero, if below 2^32 − 1; otherwise −1. */
function smallInteger(bytes: Uint8Array, start: number, stop: number): number {
  const length = stop - start;
  let value = bytes[start]! - 48;
  if (value < 0 || value > 9 || length > 10 || (value === 0 && length > 1)) return -1;
  for (let i = start + 1; i < stop; i++) {
    const digit = bytes[i]! - 48;
    if (digit < 0 || digit > 9) return -1;
    value = value * 10 + digit;
  }
  return value <= MAX_SMALL ? value : -1;
}

/** True if the bytes are how a whole number is written: optional minus, no leading zero, at most 15 digits. */
function isInteger(bytes: Uint8Array): boolean {
  const minus = bytes[0] === 45 ? 1 : 0;
  const digits = bytes.length - minus;
  if (digits < 1 || digits > MAX_DIGITS) return false;
  if (bytes[minus] === 48 && bytes.length > 1) return false;
  for (let i = minus; i < bytes.length; i++) if (bytes[i]! < 48 || bytes[i]! > 57) return false;
  return true;
}

function isUtf8(bytes: Uint8Array, start: number, stop: number): boolean {
  let i = start;
  while (i < stop && bytes[i]! < 128) i++;
  if (i === stop) return true;
  try {
    decoder.decode(bytes.subarray(start, stop));
    return true;
  } catch {
    return false;
  }
}
