// One column of ids, from bytes to vertices. While every id is a plain whole number below 2^32 − 1, the number itself is the code; the
// first other id switches the column to dictionary codes. At the end the distinct ids are sorted (whole numbers by value, texts by code
// unit) and each row gets its vertex, so row order never matters.

import { MAX_ID_BYTES, sortIds, VertexIds } from '../../graph/ids.js';
import { NumberBlocks } from './blocks.js';
import { ByteDictionary, NumberDictionary } from './dictionary.js';
import { rankInPlace } from './number-ranks.js';
import { requireHeap } from './text-memory.js';

/** The largest whole number that is a code by itself. */
export const MAX_SMALL = 2 ** 32 - 2;
/** Digits of the longest whole number that is always exact; longer ids stay texts. */
const MAX_DIGITS = 15;

/** What `encode` returns for an id that cannot be used. */
export const EMPTY_ID = -1;
const NOT_UTF8 = -2;
const TOO_LONG = -3;
const ZERO_BYTE = -4;

/** What is wrong with an id, by the result of `encode`. */
export function idProblem(code: number): string {
  if (code === EMPTY_ID) return 'the id is empty';
  if (code === TOO_LONG) return `the id is longer than ${MAX_ID_BYTES} bytes; write a shorter one`;
  if (code === ZERO_BYTE) return 'the id holds a zero byte; take it out of the id';
  return 'the id is not UTF-8 text (save the file as UTF-8)';
}

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export class IdColumn {
  /** The code of each row, as `encode` returned it. */
  readonly codes = new NumberBlocks();
  #dictionary: ByteDictionary | undefined;
  /** Codes of byte strings that are not ids, and why; no row uses them. */
  #bad: Map<number, number> | undefined;

  /** `isText`: ids stay texts even if all of them are digits. */
  constructor(readonly isText = false) {
    if (isText) this.#dictionary = new ByteDictionary();
  }

  /**
   * The code of the id in bytes start … stop−1, or a number that `idProblem` explains. Push it before encoding the next: codes can change.
   */
  encode(bytes: Uint8Array, start: number, stop: number): number {
    if (start >= stop) return EMPTY_ID;
    if (stop - start > MAX_ID_BYTES) return TOO_LONG;
    if (this.#dictionary === undefined) {
      const value = smallInteger(bytes, start, stop);
      if (value >= 0) return value;
      this.#toDictionary();
    }
    const dictionary = this.#dictionary!;
    const before = dictionary.size;
    const code = dictionary.code(bytes, start, stop);
    if (code !== before) return this.#bad?.get(code) ?? code;
    const problem = textProblem(bytes, start, stop);
    if (problem === 0) return code;
    this.#bad ??= new Map();
    this.#bad.set(code, problem);
    return problem;
  }

  /** The code of an id given as text. Half a surrogate pair is refused: in UTF-8 all of them would become the same id. */
  encodeText(id: string): number {
    if (id.length > MAX_ID_BYTES) return TOO_LONG;
    if (!id.isWellFormed()) return NOT_UTF8;
    const bytes = encoder.encode(id);
    return this.encode(bytes, 0, bytes.length);
  }

  encodeInteger(value: number): number {
    if (this.#dictionary === undefined && value >= 0 && value <= MAX_SMALL) return value;
    return this.encodeText(String(value));
  }

  /** Whether the codes are the ids themselves, whole numbers. */
  get isNumeric(): boolean {
    return this.#dictionary === undefined;
  }

  /** The id of a code of a column that is not numeric. */
  bytes(code: number): Uint8Array {
    return this.#dictionary!.bytes(code);
  }

  /** The ids of all codes of a column that is not numeric, in memory that threads share: concatenated, with the end of each. */
  entries(): { readonly bytes: Uint8Array; readonly ends: Uint32Array } {
    return this.#dictionary!.entries();
  }

  /** From here on codes never change. */
  keepCodes(): void {
    if (this.#dictionary === undefined) this.#toDictionary();
  }

  /** The vertex of every row, and the ids of the vertices. The column is empty afterwards. `name`: the source. */
  finish(name: string): { vertices: Uint32Array; ids: VertexIds } {
    const dictionary = this.#dictionary;
    if (dictionary) requireHeap(name, dictionary.size, dictionary.byteLength);
    const vertices = this.codes.drain();
    const used = rankInPlace(vertices);
    if (!dictionary) return { vertices, ids: VertexIds.integers(Float64Array.from(used)) };
    const texts = Array.from(used, (code) => decoder.decode(dictionary.bytes(code)));
    const whole = !this.isText && used.every((code) => isInteger(dictionary.bytes(code)));
    const { ids, order } = sortIds(texts, whole);
    const rank = new Uint32Array(order.length);
    for (let v = 0; v < order.length; v++) rank[order[v]] = v;
    for (let row = 0; row < vertices.length; row++) vertices[row] = rank[vertices[row]];
    return { vertices, ids };
  }

  #toDictionary(): void {
    const dictionary = new ByteDictionary();
    const numbers = new NumberDictionary();
    const codes: number[] = [];
    for (const part of this.codes.parts()) {
      for (let i = 0; i < part.length; i++) {
        const code = numbers.code(part[i]);
        if (code === codes.length) {
          const bytes = encoder.encode(String(part[i]));
          codes.push(dictionary.code(bytes, 0, bytes.length));
        }
        part[i] = codes[code];
      }
    }
    this.#dictionary = dictionary;
  }
}

/** The value of a plain whole number of at most ten digits without leading zero, if below 2^32 − 1; otherwise −1. */
export function smallInteger(bytes: Uint8Array, start: number, stop: number): number {
  const length = stop - start;
  let value = bytes[start] - 48;
  if (value < 0 || value > 9 || length > 10 || (value === 0 && length > 1)) return -1;
  for (let i = start + 1; i < stop; i++) {
    const digit = bytes[i] - 48;
    if (digit < 0 || digit > 9) return -1;
    value = value * 10 + digit;
  }
  return value <= MAX_SMALL ? value : -1;
}

/** True if the bytes write a whole number: optional minus, no leading zero, at most 15 digits. */
export function isInteger(bytes: Uint8Array): boolean {
  const minus = bytes[0] === 45 ? 1 : 0;
  const digits = bytes.length - minus;
  if (digits < 1 || digits > MAX_DIGITS) return false;
  if (bytes[minus] === 48 && bytes.length > 1) return false;
  for (let i = minus; i < bytes.length; i++) if (bytes[i] < 48 || bytes[i] > 57) return false;
  return true;
}

/** 0 if the bytes are UTF-8 text without a zero byte; otherwise the result of `encode`. */
function textProblem(bytes: Uint8Array, start: number, stop: number): number {
  let i = start;
  while (i < stop && bytes[i] < 128 && bytes[i] > 0) i++;
  if (i === stop) return 0;
  const id = bytes.subarray(start, stop);
  if (id.includes(0)) return ZERO_BYTE;
  try {
    decoder.decode(id);
    return 0;
  } catch {
    return NOT_UTF8;
  }
}
