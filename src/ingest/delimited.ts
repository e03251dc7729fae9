// Text tables, byte by byte: no string is made per field, only one per distinct id at the very end. A row that is cut by
// the end of a chunk waits for the next chunk. Everything that can be wrong with a row is told with its line and column.

import { InputError, throwIfAborted } from '../errors.js';
import { EdgeCollector, MAX_COUNT, parseCount } from './collect.js';
import { clip, guessShape, show, type TableShape } from './guess.js';
import { idProblem } from './id-column.js';
import type { ByteSource, ReaderOptions, ReadResult, RejectSink } from './options.js';
import { BAD, endOfLine, isBlank, MAX_ROW_BYTES, MORE, RowScanner, unescaped, withoutMark } from './scan.js';
import type { ValueColumn } from './value-column.js';

const LF = 10;
const CR = 13;
/** The beginning of a file, by which its shape is guessed. */
export const SAMPLE_BYTES = 1 << 16;
/** Of a bad id, for the message. */
const SHOWN_BYTES = 1000;

/** Reads a text table from a stream of bytes. Works in a browser as well as on files. */
export async function readDelimited(
  source: ByteSource,
  options: ReaderOptions,
  rejects?: RejectSink,
): Promise<ReadResult> {
  let parser: TableParser | undefined;
  let held: Uint8Array = new Uint8Array(0);
  const start = (whole: boolean) => {
    held = withoutMark(held);
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
      if (held.length < SAMPLE_BYTES || (endOfLine(held, 0) < 0 && held.length <= MAX_ROW_BYTES)) continue;
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

/** The shape of the table that begins with these bytes; what is no text table is refused. */
export function tableShape(
  name: string,
  bytes: Uint8Array,
  whole: boolean,
  options: ReaderOptions,
): TableShape {
  if (bytes.length === 0) {
    throw new InputError(`${name}: the file is empty; give a table with at least two columns`);
  }
  const sample = bytes.subarray(0, Math.max(SAMPLE_BYTES, endOfLine(bytes, 0) + 1));
  if ((sample[0] === 0xff && sample[1] === 0xfe) || (sample[0] === 0xfe && sample[1] === 0xff)) {
    throw new InputError(`${name}: the file is UTF-16; save it as UTF-8`);
  }
  if (sample.includes(0)) {
    throw new InputError(
      `${name}: the file holds zero bytes, so it is not a text table; give .csv, .tsv, .jsonl or .parquet`,
    );
  }
  return guessShape(name, sample, whole && sample.length === bytes.length, options);
}

function joined(held: Uint8Array, chunk: Uint8Array): Uint8Array {
  if (held.length === 0) return chunk;
  const both = new Uint8Array(held.length + chunk.length);
  both.set(held);
  both.set(chunk, held.length);
  return both;
}

class TableParser {
  readonly #scanner: RowScanner;
  #line = 1;
  #skipHeader: boolean;
  /** Inside a row that was given up for its length: everything up to the next line end is passed over. */
  #skipping = false;

  constructor(
    readonly shape: TableShape,
    readonly collector: EdgeCollector,
    readonly value: ValueColumn | undefined,
  ) {
    this.#skipHeader = shape.header;
    // What each column is for: 0 users, 1 items, 2 count, 3 value, −1 nothing.
    const slots = new Int8Array(shape.width).fill(-1);
    if (shape.columns.value !== undefined) slots[shape.columns.value] = 3;
    if (shape.columns.count !== undefined) slots[shape.columns.count] = 2;
    slots[shape.columns.items] = 1;
    slots[shape.columns.users] = 0;
    this.#scanner = new RowScanner({ separator: shape.separator, quoted: shape.quoted, slots });
  }

  /** Takes every complete row (with `final`: also the last, unended one); returns the bytes used up. */
  parse(bytes: Uint8Array, final: boolean): number {
    const { width, separator } = this.shape;
    const scanner = this.#scanner;
    let pos = 0;
    while (pos < bytes.length) {
      if (this.#skipping) {
        pos = this.#nextLine(bytes, pos, final);
        if (this.#skipping) return pos;
        continue;
      }
      const end = scanner.scan(bytes, pos, final);
      if (end === MORE) return pos;
      if (end === BAD) {
        // Go on, if asked to, after the line on which the bad row began.
        this.#reject(bytes, pos, scanner.problem);
        this.#skipping = true;
        continue;
      }
      if (scanner.fields > 1 || !isBlank(bytes, pos, end)) {
        if (this.#skipHeader) this.#skipHeader = false;
        else if (scanner.fields === width) this.#takeRow(bytes, pos);
        else {
          const found = `the row has ${scanner.fields} column${scanner.fields === 1 ? '' : 's'}`;
          this.#reject(
            bytes,
            pos,
            `${found} where the first row has ${width} (separator ${show(separator)})`,
          );
        }
      }
      this.#line += scanner.lines;
      pos = end;
    }
    return bytes.length;
  }

  /** The beginning of the next line; while it is not there the rest of the line is still passed over. */
  #nextLine(bytes: Uint8Array, pos: number, final: boolean): number {
    const end = endOfLine(bytes, pos);
    if (end < 0) return bytes.length;
    // An LF that belongs to this CR may be in the next chunk.
    if (bytes[end] === CR && end + 1 === bytes.length && !final) return end;
    this.#skipping = false;
    this.#line++;
    return bytes[end] === CR && bytes[end + 1] === LF ? end + 2 : end + 1;
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
    const [start, stop] = [this.#scanner.start(slot), this.#scanner.stop(slot)];
    if (this.#scanner.escaped(slot)) {
      const id = unescaped(bytes, start, stop);
      return column.encode(id, 0, id.length);
    }
    return column.encode(bytes, start, stop);
  }

  /** The count of the row, or what is wrong with it. */
  #count(bytes: Uint8Array): number | string {
    const start = this.#scanner.start(2);
    const stop = this.#scanner.stop(2);
    let value = 0;
    let i = start;
    for (; i < stop && bytes[i] >= 48 && bytes[i] <= 57; i++) value = value * 10 + bytes[i] - 48;
    if (i === stop && i > start && value >= 1 && value <= MAX_COUNT) return value;
    return parseCount(this.#text(bytes, 2));
  }

  #text(bytes: Uint8Array, slot: number): string {
    return new TextDecoder().decode(bytes.subarray(this.#scanner.start(slot), this.#scanner.stop(slot)));
  }

  #badId(bytes: Uint8Array, rowStart: number, slot: number, problem: number): void {
    const field = bytes.subarray(this.#scanner.start(slot), this.#scanner.stop(slot));
    const value = new TextDecoder().decode(field.subarray(0, SHOWN_BYTES));
    this.#reject(
      bytes,
      rowStart,
      `${this.#column(slot)}: ${idProblem(problem)}${value ? `: ${clip(value)}` : ''}`,
    );
  }

  #column(slot: number): string {
    const { columns, names, header } = this.shape;
    const at = [columns.users, columns.items, columns.count!, columns.value!][slot];
    return `column ${at + 1}${header ? ` (${names[at]})` : ''}`;
  }

  #reject(bytes: Uint8Array, rowStart: number, reason: string): void {
    const end = endOfLine(bytes, rowStart);
    const raw = bytes.subarray(rowStart, Math.min(end < 0 ? bytes.length : end, rowStart + MAX_ROW_BYTES));
    this.collector.reject(this.#line, reason, new TextDecoder().decode(raw));
  }
}
