// Finds the fields of a row of separated text, byte by byte: for edges, titles and lists alike. A line ends with LF, CR LF or CR; a field
// in double quotes may hold separators, line ends and doubled quotes.

import { grown } from '../../math/memory.js';

const LF = 10;
const CR = 13;
const QUOTE = 34;
const TAB = 9;

/** The longest row. A longer one means an unterminated quote, or a file that is not a table. */
export const MAX_ROW_BYTES = 1 << 24;

/** Results of a scan other than a position: the row continues in the next chunk, or cannot be read. */
export const MORE = -1;
export const BAD = -2;
/** … or the quote is a plain character. */
const PLAIN = -3;

interface ScanOptions {
  readonly separator: string;
  readonly quoted: boolean;
  /** For each column the slot that keeps it, −1 for none. Default: column c is in slot c. */
  readonly slots?: Int32Array;
  /**
   * A field that is not well quoted on its line is read as plain text. This is always so between tabs, where words may begin with a quote.
   */
  readonly lenient?: boolean;
}

/** Scans rows, and holds the positions of the fields of the last one. */
export class RowScanner {
  readonly #separator: Uint8Array;
  readonly #quoted: boolean;
  readonly #lenient: boolean;
  readonly #slots: Int32Array | undefined;
  #starts = new Int32Array(64);
  #stops = new Int32Array(64);
  #escaped = new Uint8Array(64);

  /** Of the last row: number of columns, number of lines (quotes may hold line ends), and what is wrong with it. */
  fields = 0;
  lines = 1;
  problem = '';

  constructor({ separator, quoted, slots, lenient = false }: ScanOptions) {
    this.#separator = new TextEncoder().encode(separator);
    this.#quoted = quoted;
    this.#lenient = lenient || this.#separator[0] === TAB;
    this.#slots = slots;
  }

  /**
   * Finds the fields of the row that begins at `from`. Returns the position of the next row, MORE or BAD. `final`: no byte follows.
   */
  scan(bytes: Uint8Array, from: number, final: boolean): number {
    const length = bytes.length;
    const separator = this.#separator;
    const sep0 = separator[0];
    const slots = this.#slots;
    this.lines = 1;
    let pos = from;
    for (let field = 0; ; field++) {
      const slot = slots === undefined ? field : field < slots.length ? slots[field] : -1;
      if (slot >= this.#starts.length) this.#grow();
      const quotedEnd =
        this.#quoted && pos < length && bytes[pos] === QUOTE
          ? this.#scanQuoted(bytes, pos, field, slot, final)
          : PLAIN;
      if (quotedEnd === BAD) return BAD;
      if (quotedEnd === MORE) return this.#more(length - from, field);
      if (quotedEnd !== PLAIN) pos = quotedEnd;
      else {
        const start = pos;
        for (;;) {
          let byte = LF;
          while (pos < length && (byte = bytes[pos]) !== sep0 && byte !== LF && byte !== CR) pos++;
          if (pos >= length || byte === LF || byte === CR || startsWith(bytes, pos, separator)) break;
          if (pos + separator.length > length && !final) return this.#more(length - from);
          pos++;
        }
        if (slot >= 0) this.#keep(slot, start, pos, 0);
      }
      this.fields = field + 1;
      if (pos >= length) return final ? length : this.#more(length - from);
      if (bytes[pos] === LF) return pos + 1;
      if (bytes[pos] === CR) {
        if (pos + 1 >= length && !final) return this.#more(length - from);
        return bytes[pos + 1] === LF ? pos + 2 : pos + 1;
      }
      pos += separator.length;
    }
  }

  start(slot: number): number {
    return this.#starts[slot];
  }

  stop(slot: number): number {
    return this.#stops[slot];
  }

  /** Whether the field has doubled quotes, which `unescaped` makes single. */
  escaped(slot: number): boolean {
    return this.#escaped[slot] === 1;
  }

  #keep(slot: number, start: number, stop: number, escaped: number): void {
    this.#starts[slot] = start;
    this.#stops[slot] = stop;
    this.#escaped[slot] = escaped;
  }

  #grow(): void {
    this.#starts = grown(this.#starts);
    this.#stops = grown(this.#stops);
    this.#escaped = grown(this.#escaped);
  }

  /** Scans the field whose opening quote is at `open`; returns the position of the separator or line end after it. */
  #scanQuoted(bytes: Uint8Array, open: number, field: number, slot: number, final: boolean): number {
    const length = bytes.length;
    const oneLine = this.#separator[0] === TAB;
    let pos = open + 1;
    let escaped = 0;
    let lines = 0;
    for (;;) {
      for (; pos < length && bytes[pos] !== QUOTE; pos++) {
        if (bytes[pos] !== LF && (bytes[pos] !== CR || bytes[pos + 1] === LF)) continue;
        if (oneLine && bytes[pos] === LF) return PLAIN;
        lines++;
      }
      if (pos + 1 >= length || bytes[pos + 1] !== QUOTE) break;
      escaped = 1;
      pos += 2;
    }
    if (pos >= length && final) {
      if (this.#lenient) return PLAIN;
      this.problem = `column ${field + 1} opens a double quote that never closes`;
      return BAD;
    }
    // The last byte of a chunk may be the first of a doubled quote.
    if (pos + 1 >= length && !final) return MORE;
    const stop = pos++;
    const closed =
      pos >= length || bytes[pos] === LF || bytes[pos] === CR || startsWith(bytes, pos, this.#separator);
    if (!closed && this.#lenient) return PLAIN;
    this.lines += lines;
    if (closed) {
      if (slot >= 0) this.#keep(slot, open + 1, stop, escaped);
      return pos;
    }
    this.problem =
      this.lines === 1
        ? `column ${field + 1} continues after its closing double quote`
        : `column ${field + 1} opens a double quote that does not close on its line, nor at the end of a column below`;
    return BAD;
  }

  /** The row needs the next chunk, or is too long. `quote` is the column of an open quote. */
  #more(held: number, quote?: number): number {
    if (held <= MAX_ROW_BYTES) return MORE;
    this.problem =
      quote === undefined
        ? `the row is longer than ${MAX_ROW_BYTES} bytes`
        : `column ${quote + 1} opens a double quote that never closes`;
    return BAD;
  }
}

/** A row of a table of text. */
export interface TextRow {
  /** The line on which the row begins, from 1. */
  readonly line: number;
  readonly fields: string[];
}

/**
 * The rows of a table in memory, without blank ones; lenient with quotes. `whole`: the bytes are the whole table; otherwise a last row
 * without its end is left out, unless it is the first.
 */
export function* rowsOf(
  bytes: Uint8Array,
  options: { separator: string; quoted: boolean; whole?: boolean; mostColumns?: number },
): Generator<TextRow> {
  const { whole = true, mostColumns = Number.POSITIVE_INFINITY } = options;
  const scanner = new RowScanner({ ...options, lenient: true });
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  let line = 1;
  let any = false;
  const texts = new RepeatedTexts(bytes);
  let block = { start: 0, end: 0, text: '' };
  for (let pos = 0; pos < bytes.length; ) {
    let end = scanner.scan(bytes, pos, whole);
    if (end < 0) {
      if (any) return;
      end = scanner.scan(bytes, pos, true);
    }
    if (end > block.end) block = plainBlock(bytes, pos, end, decoder);
    const { text } = block;
    const fields = new Array<string>(Math.min(scanner.fields, mostColumns));
    for (let f = 0; f < fields.length; f++) {
      const [start, stop] = [scanner.start(f), scanner.stop(f)];
      if (scanner.escaped(f)) fields[f] = decoder.decode(unescaped(bytes, start, stop));
      else if (text !== '') fields[f] = texts.between(start, stop, block);
      else fields[f] = decoder.decode(bytes.subarray(start, stop));
    }
    if (fields.length > 1 || fields[0] !== '') {
      any = true;
      yield { line, fields };
    }
    line += scanner.lines;
    pos = end;
  }
}

/** The longest text that is kept for when it comes again, and how many are kept. */
const SHORT = 24;
const KEPT = 1 << 14;

/** Most short texts of a table come again, and then are the same string: strings take memory, and time to move and compare. */
class RepeatedTexts {
  readonly #bytes: Uint8Array;
  readonly #texts = new Array<string>(KEPT).fill('');
  /** Where each text began. */
  readonly #starts = new Int32Array(KEPT);

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** The text of the bytes `start` … `stop − 1`, which lie in a block. */
  between(start: number, stop: number, block: { readonly start: number; readonly text: string }): string {
    const length = stop - start;
    if (length > SHORT) return block.text.slice(start - block.start, stop - block.start);
    const bytes = this.#bytes;
    let hash = length;
    for (let at = start; at < stop; at++) hash = Math.imul(hash, 31) + bytes[at];
    const slot = (hash ^ (hash >>> 14)) & (KEPT - 1);
    const before = this.#starts[slot];
    let same = 0;
    if (this.#texts[slot].length === length) {
      while (same < length && bytes[before + same] === bytes[start + same]) same++;
      if (same === length) return this.#texts[slot];
    }
    const text = block.text.slice(start - block.start, stop - block.start);
    this.#texts[slot] = text;
    this.#starts[slot] = start;
    return text;
  }
}

/** Bytes that are decoded together: rows are short, and a call of the decoder takes longer than most of them. */
const BLOCK_BYTES = 1 << 14;

/**
 * The text of the bytes from `start` on if each is a character: of a block, or of the row that ends at `end`. Otherwise '' for this row.
 */
function plainBlock(bytes: Uint8Array, start: number, end: number, decoder: TextDecoder) {
  const most = Math.max(end, Math.min(bytes.length, start + BLOCK_BYTES));
  let plain = start;
  while (plain < most && bytes[plain] < 0x80) plain++;
  if (plain < end) return { start, end, text: '' };
  return { start, end: plain, text: decoder.decode(bytes.subarray(start, plain)) };
}

/** The position of the next line end, or −1. */
export function endOfLine(bytes: Uint8Array, from: number): number {
  for (let pos = from; pos < bytes.length; pos++) if (bytes[pos] === LF || bytes[pos] === CR) return pos;
  return -1;
}

/** Whether there is nothing but line ends. */
export function isBlank(bytes: Uint8Array, start: number, stop: number): boolean {
  for (let i = start; i < stop; i++) if (bytes[i] !== LF && bytes[i] !== CR) return false;
  return true;
}

/** The field with doubled quotes made single. */
export function unescaped(bytes: Uint8Array, start: number, stop: number): Uint8Array {
  const result = new Uint8Array(stop - start);
  let length = 0;
  for (let i = start; i < stop; i++) {
    if (bytes[i] === QUOTE) i++;
    result[length++] = bytes[i];
  }
  return result.subarray(0, length);
}

/** The bytes after a byte order mark, which only the start of a file has. */
export function withoutMark(bytes: Uint8Array): Uint8Array {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes;
}

function startsWith(bytes: Uint8Array, at: number, prefix: Uint8Array): boolean {
  for (let i = 0; i < prefix.length; i++) if (bytes[at + i] !== prefix[i]) return false;
  return true;
}
