// Text tables, byte by byte: no string is made per field, only one per distinct id at the very end. A row that is cut by
// the end of a chunk waits for the next chunk. Everything that can be wrong with a row is told with its line and column.

import { InputError, throwIfAborted } from '../errors.js';
import { EdgeCollector, MAX_COUNT, parseCount } from './collect.js';
import { clip, guessShape, show, type TableShape } from './guess.js';
import { EMPTY_ID, NOT_UTF8 } from './id-column.js';
import type { ByteSource, ReaderOptions, ReadResult, RejectSink } from './options.js';
import type { ValueColumn } from './value-column.js';

const LF = 10;
const CR = 13;
const QUOTE = 34;
const TAB = 9;
/** A row longer than this is taken for a sign of an unterminated quote or of a file that is no table. */
const MAX_ROW_BYTES = 1 << 24;
const SAMPLE_BYTES = 1 << 16;

/** Reads a text table from a stream of bytes. Works in a browser as well as on files. */
export async function readDelimited(
  source: ByteSource,
  options: ReaderOptions,
  rejects?: RejectSink,
): Promise<ReadResult> {
  let parser: TableParser | undefined;
  let held = new Uint8Array(0);
  const start = (whole: boolean) => {
    const skip = held[0] === 0xef && held[1] === 0xbb && held[2] === 0xbf ? 3 : 0;
    held = held.subarray(skip);
    parser = new TableParser(
      tableShape(source.name, held, whole, options),
      new EdgeCollector(source.name, options, rejects),
      options.value,
    );
  };
  for await (const chunk of source.chunks) {
    throwIfAborted(options.signal);
    held = joined(held, chunk);
    if (!parser) {
      if (held.length < SAMPLE_BYTES || (held.indexOf(LF) < 0 && held.length <= MAX_ROW_BYTES)) continue;
      start(false);
    }
    held = held.subarray(parser!.parse(held, false));
    options.onProgress?.({
      stage: 'reading',
      done: source.consumed?.() ?? parser!.collector.rows,
      ...(source.consumed && source.size ? { total: source.size } : {}),
      unit: source.consumed ? 'bytes' : 'rows',
      note: `${parser!.collector.rows} rows`,
    });
  }
  throwIfAborted(options.signal);
  if (!parser) start(true);
  parser!.parse(held, true);
  const { shape, collector } = parser!;
  const { users, items, count } = shape.columns;
  return {
    ...collector.finish(),
    guess: {
      kind: 'table',
      format: 'text table',
      separator: shape.separator,
      header: shape.header,
      headerGuessed: shape.headerGuessed,
      columns: {
        users: shape.names[users],
        items: shape.names[items],
        ...(count === undefined ? {} : { count: shape.names[count] }),
      },
    },
  };
}

function tableShape(name: string, bytes: Uint8Array, whole: boolean, options: ReaderOptions): TableShape {
  if (bytes.length === 0) {
    throw new InputError(`${name}: the file is empty; give a table with at least two columns`);
  }
  const sample = bytes.subarray(0, Math.max(SAMPLE_BYTES, bytes.indexOf(LF) + 1));
  if ((sample[0] === 0xff && sample[1] === 0xfe) || (sample[0] === 0xfe && sample[1] === 0xff)) {
    throw new InputError(`${name}: the file is UTF-16; save it as UTF-8`);
  }
  if (sample.includes(0)) {
    throw new InputError(
      `${name}: the file holds zero bytes, so it is not a text table; give .csv, .tsv, .jsonl or .parquet`,
    );
  }
  return guessShape(name, new TextDecoder().decode(sample), whole && sample.length === bytes.length, options);
}

function joined(held: Uint8Array, chunk: Uint8Array): Uint8Array<ArrayBuffer> {
  if (held.length === 0) return chunk as Uint8Array<ArrayBuffer>;
  const both = new Uint8Array(held.length + chunk.length);
  both.set(held);
  both.set(chunk, held.length);
  return both;
}

/** What a scan answers instead of a position: the row goes on in the next chunk, or cannot be read. */
const MORE = -1;
const BAD = -2;
/** … or the quote is a plain character. */
const PLAIN = -3;

class TableParser {
  readonly #separator: Uint8Array;
  /** What each column is for: 0 users, 1 items, 2 count, 3 value, −1 nothing. */
  readonly #slots: Int8Array;
  #line = 1;
  #skipHeader: boolean;
  /** Inside a row that was given up for its length: everything up to the next line end is passed over. */
  #skipping = false;

  // Of the row scanned last: its columns, its lines (quotes may hold line ends), what is wrong with it, and for each
  // slot where its field begins and ends and whether it has doubled quotes.
  #fields = 0;
  #lines = 1;
  #problem = '';
  readonly #starts = new Int32Array(4);
  readonly #stops = new Int32Array(4);
  readonly #escaped = new Uint8Array(4);

  constructor(
    readonly shape: TableShape,
    readonly collector: EdgeCollector,
    readonly value: ValueColumn | undefined,
  ) {
    this.#separator = new TextEncoder().encode(shape.separator);
    this.#skipHeader = shape.header;
    this.#slots = new Int8Array(shape.width).fill(-1);
    if (shape.columns.value !== undefined) this.#slots[shape.columns.value] = 3;
    if (shape.columns.count !== undefined) this.#slots[shape.columns.count] = 2;
    this.#slots[shape.columns.items] = 1;
    this.#slots[shape.columns.users] = 0;
  }

  /** Takes every complete row (with `final`: also the last, unended one); returns the bytes used up. */
  parse(bytes: Uint8Array, final: boolean): number {
    const { width, separator } = this.shape;
    let pos = 0;
    while (pos < bytes.length) {
      if (this.#skipping) {
        pos = this.#nextLine(bytes, pos);
        continue;
      }
      const end = this.#scanRow(bytes, pos, final);
      if (end === MORE) return pos;
      if (end === BAD) {
        // Go on, if asked to, after the line on which the bad row began.
        this.#reject(bytes, pos, this.#problem);
        pos = this.#nextLine(bytes, pos);
        continue;
      }
      if (this.#fields > 1 || !isBlank(bytes, pos, end)) {
        if (this.#skipHeader) this.#skipHeader = false;
        else if (this.#fields === width) this.#takeRow(bytes, pos);
        else {
          const found = `the row has ${this.#fields} column${this.#fields === 1 ? '' : 's'}`;
          this.#reject(
            bytes,
            pos,
            `${found} where the first row has ${width} (separator ${show(separator)})`,
          );
        }
      }
      this.#line += this.#lines;
      pos = end;
    }
    return bytes.length;
  }

  /** The beginning of the next line, or the end of the bytes, from where the rest of the line is still passed over. */
  #nextLine(bytes: Uint8Array, pos: number): number {
    const end = bytes.indexOf(LF, pos);
    this.#skipping = end < 0;
    if (end >= 0) this.#line++;
    return end < 0 ? bytes.length : end + 1;
  }

  /** Finds the fields of the row that begins at `from`; returns where the next row begins, or MORE, or BAD. */
  #scanRow(bytes: Uint8Array, from: number, final: boolean): number {
    const length = bytes.length;
    const separator = this.#separator;
    const sep0 = separator[0];
    const slots = this.#slots;
    const { quoted, width } = this.shape;
    this.#lines = 1;
    let pos = from;
    for (let field = 0; ; field++) {
      const slot = field < width ? slots[field] : -1;
      const quotedEnd =
        quoted && pos < length && bytes[pos] === QUOTE
          ? this.#scanQuoted(bytes, pos, field, slot, final)
          : PLAIN;
      if (quotedEnd === BAD) return BAD;
      if (quotedEnd === MORE) return this.#more(length - from, field);
      if (quotedEnd !== PLAIN) pos = quotedEnd;
      else {
        const start = pos;
        for (;;) {
          let byte = LF;
          while (pos < length && (byte = bytes[pos]) !== sep0 && byte !== LF) pos++;
          if (pos >= length || byte === LF || startsWith(bytes, pos, separator)) break;
          if (pos + separator.length > length && !final) return MORE;
          pos++;
        }
        if (slot >= 0) {
          const lineEnds = pos >= length || bytes[pos] === LF;
          this.#starts[slot] = start;
          this.#stops[slot] = lineEnds && pos > start && bytes[pos - 1] === CR ? pos - 1 : pos;
          this.#escaped[slot] = 0;
        }
      }
      this.#fields = field + 1;
      if (pos >= length) return final ? length : this.#more(length - from);
      if (bytes[pos] === LF) return pos + 1;
      pos += separator.length;
    }
  }

  /**
   * The field whose opening quote is at `open`; returns the position of the separator or line end behind it. Between
   * tabs words may begin with a quote that never closes: there a field that is not well quoted on its line is PLAIN.
   */
  #scanQuoted(bytes: Uint8Array, open: number, field: number, slot: number, final: boolean): number {
    const length = bytes.length;
    const lenient = this.#separator[0] === TAB;
    let pos = open + 1;
    let escaped = 0;
    for (;;) {
      for (; pos < length && bytes[pos] !== QUOTE; pos++) {
        if (bytes[pos] !== LF) continue;
        if (lenient) return PLAIN;
        this.#lines++;
      }
      if (pos + 1 >= length || bytes[pos + 1] !== QUOTE) break;
      escaped = 1;
      pos += 2;
    }
    if (pos >= length && final) {
      if (lenient) return PLAIN;
      this.#problem = `column ${field + 1} opens a double quote that never closes`;
      return BAD;
    }
    // The last byte of a chunk may be the first of a doubled quote.
    if (pos + 1 >= length && !final) return MORE;
    if (slot >= 0) {
      this.#starts[slot] = open + 1;
      this.#stops[slot] = pos;
      this.#escaped[slot] = escaped;
    }
    pos++;
    if (bytes[pos] === CR && (pos + 1 >= length || bytes[pos + 1] === LF)) pos++;
    if (pos >= length || bytes[pos] === LF || startsWith(bytes, pos, this.#separator)) return pos;
    if (lenient) return PLAIN;
    this.#problem =
      this.#lines === 1
        ? `column ${field + 1} goes on after its closing double quote`
        : `column ${field + 1} opens a double quote that does not close on its line, nor at the end of a column below`;
    return BAD;
  }

  /** The row wants the next chunk too; too long a row is given up. `quote` is the column of an open quote. */
  #more(held: number, quote?: number): number {
    if (held <= MAX_ROW_BYTES) return MORE;
    this.#problem =
      quote === undefined
        ? `the row is longer than ${MAX_ROW_BYTES} bytes`
        : `column ${quote + 1} opens a double quote that never closes`;
    return BAD;
  }

  #takeRow(bytes: Uint8Array, rowStart: number): void {
    const { users, items } = this.collector;
    const user = this.#encode(users, bytes, 0);
    const item = this.#encode(items, bytes, 1);
    if (user < 0) this.#badId(bytes, rowStart, 0, user);
    else if (item < 0) this.#badId(bytes, rowStart, 1, item);
    else {
      const count = this.shape.columns.count === undefined ? 1 : this.#count(bytes);
      const value =
        this.shape.columns.value === undefined ? undefined : this.value!.parse(this.#text(bytes, 3));
      if (typeof count === 'string') this.#reject(bytes, rowStart, `${this.#column(2)}: ${count}`);
      else if (typeof value === 'string') this.#reject(bytes, rowStart, `${this.#column(3)}: ${value}`);
      else this.collector.push(user, item, count, value);
    }
  }

  #encode(column: EdgeCollector['users'], bytes: Uint8Array, slot: number): number {
    if (this.#escaped[slot]) {
      const id = unescaped(bytes, this.#starts[slot], this.#stops[slot]);
      return column.encode(id, 0, id.length);
    }
    return column.encode(bytes, this.#starts[slot], this.#stops[slot]);
  }

  /** The count of the row, or what is wrong with it. */
  #count(bytes: Uint8Array): number | string {
    const start = this.#starts[2];
    const stop = this.#stops[2];
    let value = 0;
    let i = start;
    for (; i < stop && bytes[i] >= 48 && bytes[i] <= 57; i++) value = value * 10 + bytes[i] - 48;
    if (i === stop && i > start && value >= 1 && value <= MAX_COUNT) return value;
    return parseCount(this.#text(bytes, 2));
  }

  #text(bytes: Uint8Array, slot: number): string {
    return new TextDecoder().decode(bytes.subarray(this.#starts[slot], this.#stops[slot]));
  }

  #badId(bytes: Uint8Array, rowStart: number, slot: number, problem: number): void {
    const what = {
      [EMPTY_ID]: 'the id is empty',
      [NOT_UTF8]: 'the id is not UTF-8 text (save the file as UTF-8)',
    }[problem];
    const value = new TextDecoder().decode(bytes.subarray(this.#starts[slot], this.#stops[slot]));
    this.#reject(bytes, rowStart, `${this.#column(slot)}: ${what}${value ? `: ${clip(value)}` : ''}`);
  }

  #column(slot: number): string {
    const { columns, names, header } = this.shape;
    const at = [columns.users, columns.items, columns.count!, columns.value!][slot];
    return `column ${at + 1}${header ? ` (${names[at]})` : ''}`;
  }

  #reject(bytes: Uint8Array, rowStart: number, reason: string): void {
    const end = bytes.indexOf(LF, rowStart);
    const raw = bytes.subarray(rowStart, Math.min(end < 0 ? bytes.length : end, rowStart + MAX_ROW_BYTES));
    const text = new TextDecoder().decode(raw).replace(/\r$/, '');
    this.collector.reject(this.#line, reason, text);
  }
}

function startsWith(bytes: Uint8Array, at: number, prefix: Uint8Array): boolean {
  for (let i = 0; i < prefix.length; i++) if (bytes[at + i] !== prefix[i]) return false;
  return true;
}

function isBlank(bytes: Uint8Array, start: number, stop: number): boolean {
  for (let i = start; i < stop; i++) if (bytes[i] !== LF && bytes[i] !== CR) return false;
  return true;
}

/** The field with doubled quotes made single. */
function unescaped(bytes: Uint8Array, start: number, stop: number): Uint8Array {
  const result = new Uint8Array(stop - start);
  let length = 0;
  for (let i = start; i < stop; i++) {
    if (bytes[i] === QUOTE) i++;
    result[length++] = QUOTE === bytes[i] ? QUOTE : bytes[i];
  }
  return result.subarray(0, length);
}
