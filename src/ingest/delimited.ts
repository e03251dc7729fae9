// Text tables, byte by byte: no string is made per field, only one per distinct id at the very end. A row that is cut by
// the end of a chunk waits for the next chunk. Everything that can be wrong with a row is told with its line and column.

import { InputError, throwIfAborted } from '../errors.js';
import { EdgeCollector, MAX_COUNT, parseCount } from './collect.js';
import { clip, guessShape, show, type TableShape } from './guess.js';
import { EMPTY_ID, NOT_UTF8 } from './id-column.js';
import type { ByteSource, ReadOptions, ReadResult, RejectSink } from './options.js';

const LF = 10;
const CR = 13;
const QUOTE = 34;
/** A row longer than this is taken for a sign of an unterminated quote or of a file that is no table. */
const MAX_ROW_BYTES = 1 << 24;
const SAMPLE_BYTES = 1 << 16;

/** Reads a text table from a stream of bytes. Works in a browser as well as on files. */
export async function readDelimited(
  source: ByteSource,
  options: ReadOptions,
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
      format: 'text table',
      separator: shape.separator,
      header: shape.header,
      columns: {
        users: shape.names[users]!,
        items: shape.names[items]!,
        ...(count === undefined ? {} : { count: shape.names[count]! }),
      },
    },
  };
}

function tableShape(name: string, bytes: Uint8Array, whole: boolean, options: ReadOptions): TableShape {
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

class TableParser {
  readonly #separator: Uint8Array;
  /** What each column is for: 0 users, 1 items, 2 count, −1 nothing. */
  readonly #slots: Int8Array;
  readonly #starts = new Int32Array(3);
  readonly #stops = new Int32Array(3);
  readonly #escaped = new Uint8Array(3);
  #line = 1;
  #skipHeader: boolean;
  /** Inside a row that was given up for its length: everything up to the next line end is passed over. */
  #skipping = false;

  constructor(
    readonly shape: TableShape,
    readonly collector: EdgeCollector,
  ) {
    this.#separator = new TextEncoder().encode(shape.separator);
    this.#skipHeader = shape.header;
    this.#slots = new Int8Array(shape.width).fill(-1);
    if (shape.columns.count !== undefined) this.#slots[shape.columns.count] = 2;
    this.#slots[shape.columns.items] = 1;
    this.#slots[shape.columns.users] = 0;
  }

  /** Takes every complete row (with `final`: also the last, unended one); returns the bytes used up. */
  parse(bytes: Uint8Array, final: boolean): number {
    const length = bytes.length;
    const separator = this.#separator;
    const sep0 = separator[0]!;
    const { quoted, width } = this.shape;
    const [slots, starts, stops, escaped] = [this.#slots, this.#starts, this.#stops, this.#escaped];
    let pos = 0;
    while (pos < length) {
      const rowStart = pos;
      if (this.#skipping) {
        const end = bytes.indexOf(LF, pos);
        if (end < 0) return length;
        this.#skipping = false;
        this.#line++;
        pos = end + 1;
        continue;
      }
      let field = 0;
      let lines = 1;
      let problem: string | undefined;
      let ended = false;
      while (!ended) {
        const slot = field < width ? slots[field]! : -1;
        let start = pos;
        let stop = pos;
        let quotes = 0;
        if (quoted && pos < length && bytes[pos] === QUOTE) {
          start = ++pos;
          for (;;) {
            while (pos < length && bytes[pos] !== QUOTE) if (bytes[pos++] === LF) lines++;
            if (pos >= length || bytes[pos + 1] !== QUOTE || pos + 1 >= length) break;
            quotes = 1;
            pos += 2;
          }
          if (pos >= length || (pos + 1 >= length && !final)) {
            // No closing quote yet, or it is the last byte here and may be the first of a doubled one.
            if (final || length - rowStart > MAX_ROW_BYTES) {
              problem = `column ${field + 1} opens a double quote that never closes`;
              break;
            }
            return rowStart;
          }
          stop = pos++;
          const after = pos < length ? bytes[pos]! : LF;
          if (after === CR && (pos + 1 >= length || bytes[pos + 1] === LF)) pos++;
          else if (after !== LF && !startsWith(bytes, pos, separator)) {
            problem =
              lines === 1
                ? `column ${field + 1} goes on after its closing double quote`
                : `column ${field + 1} opens a double quote that does not close on its line, nor at the end of a column below`;
            break;
          }
        } else {
          for (;;) {
            let byte = LF;
            while (pos < length && (byte = bytes[pos]!) !== sep0 && byte !== LF) pos++;
            if (pos >= length || byte === LF || separator.length === 1) break;
            if (startsWith(bytes, pos, separator)) break;
            if (pos + separator.length > length && !final) return rowStart;
            pos++;
          }
          stop = pos;
          const lineEnds = pos >= length || bytes[pos] === LF;
          if (lineEnds && stop > start && bytes[stop - 1] === CR) stop--;
        }
        if (pos >= length) {
          if (!final) {
            if (length - rowStart <= MAX_ROW_BYTES) return rowStart;
            problem = `the row is longer than ${MAX_ROW_BYTES} bytes`;
            this.#skipping = true;
            break;
          }
          ended = true;
        } else if (bytes[pos] === LF) {
          ended = true;
          pos++;
        } else pos += separator.length;
        if (slot >= 0) {
          starts[slot] = start;
          stops[slot] = stop;
          escaped[slot] = quotes;
        }
        field++;
      }
      if (problem !== undefined) {
        // Go on, if asked to, after the line on which the bad row began.
        this.#reject(bytes, rowStart, problem);
        const end = this.#skipping ? -1 : bytes.indexOf(LF, rowStart);
        if (end < 0) return length;
        this.#line++;
        pos = end + 1;
        continue;
      }
      if (this.#skipHeader) this.#skipHeader = false;
      else if (field === width) this.#takeRow(bytes, rowStart);
      else if (field > 1 || !isBlank(bytes, rowStart, pos)) {
        this.#reject(
          bytes,
          rowStart,
          `the row has ${field} column${field === 1 ? '' : 's'} where the first row has ${width} (separator ${show(this.shape.separator)})`,
        );
      }
      this.#line += lines;
    }
    return length;
  }

  #takeRow(bytes: Uint8Array, rowStart: number): void {
    const { users, items } = this.collector;
    const user = this.#encode(users, bytes, 0);
    const item = this.#encode(items, bytes, 1);
    if (user < 0) this.#badId(bytes, rowStart, 0, user);
    else if (item < 0) this.#badId(bytes, rowStart, 1, item);
    else {
      const count = this.shape.columns.count === undefined ? 1 : this.#count(bytes);
      if (typeof count === 'string') this.#reject(bytes, rowStart, `${this.#column(2)}: ${count}`);
      else this.collector.push(user, item, count);
    }
  }

  #encode(column: EdgeCollector['users'], bytes: Uint8Array, slot: number): number {
    if (this.#escaped[slot]) {
      const id = unescaped(bytes, this.#starts[slot]!, this.#stops[slot]!);
      return column.encode(id, 0, id.length);
    }
    return column.encode(bytes, this.#starts[slot]!, this.#stops[slot]!);
  }

  /** The count of the row, or what is wrong with it. */
  #count(bytes: Uint8Array): number | string {
    const start = this.#starts[2]!;
    const stop = this.#stops[2]!;
    let value = 0;
    let i = start;
    for (; i < stop && bytes[i]! >= 48 && bytes[i]! <= 57; i++) value = value * 10 + bytes[i]! - 48;
    if (i === stop && i > start && value >= 1 && value <= MAX_COUNT) return value;
    return parseCount(new TextDecoder().decode(bytes.subarray(start, stop)));
  }

  #badId(bytes: Uint8Array, rowStart: number, slot: number, problem: number): void {
    const what = { [EMPTY_ID]: 'the id is empty', [NOT_UTF8]: 'the id is not UTF-8 text' }[problem];
    const value = new TextDecoder().decode(bytes.subarray(this.#starts[slot]!, this.#stops[slot]!));
    this.#reject(bytes, rowStart, `${this.#column(slot)}: ${what}${value ? `: ${clip(value)}` : ''}`);
  }

  #column(slot: number): string {
    const { columns, names, header } = this.shape;
    const at = [columns.users, columns.items, columns.count!][slot]!;
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
    result[length++] = QUOTE === bytes[i] ? QUOTE : bytes[i]!;
  }
  return result.subarray(0, length);
}
