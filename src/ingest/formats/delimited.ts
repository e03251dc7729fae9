// Reads text tables byte by byte. It creates no string per field, only one per distinct id at the end. A row that is cut by the end of a
// chunk waits for the next chunk. Every problem of a row is reported with its line and column.

import { InputError, throwIfAborted } from '../../errors.js';
import { concat } from '../../math/memory.js';
import { numberOf } from '../../text/numbers.js';
import type { EdgeCollector } from '../intake/collect.js';
import type { IdColumn } from '../intake/id-column.js';
import { RowIntake } from '../intake/row-intake.js';
import { TableTarget } from '../intake/target.js';
import type { ByteSource, ReaderOptions, ReadResult, RejectSink } from '../options.js';
import { guessShape, show, type TableShape } from './guess.js';
import { BAD, endOfLine, isBlank, MAX_ROW_BYTES, MORE, RowScanner, unescaped, withoutMark } from './scan.js';

const LF = 10;
const CR = 13;
/** Bytes at the beginning of a file from which its layout is guessed. */
export const SAMPLE_BYTES = 1 << 16;
/** Numbers of at most this many digits are always exact. */
const SHORT_NUMBER = 15;
const lenient = new TextDecoder();

/** Reads a text table from a stream of bytes. Works in a browser as well as on files. */
export async function readDelimited(
  source: ByteSource,
  options: ReaderOptions,
  rejects?: RejectSink,
): Promise<ReadResult> {
  const target = new TableTarget(options, rejects);
  await fillDelimited(source, options, target);
  return target.finish(source.name);
}

/** Adds the rows of a text table to a target, which may already hold rows of other tables. */
export async function fillDelimited(
  source: ByteSource,
  options: ReaderOptions,
  target: TableTarget,
): Promise<void> {
  let parser: TableParser | undefined;
  let held: Uint8Array = new Uint8Array(0);
  // An unfinished row is scanned again only when its bytes have doubled. Scanning it again with each chunk would take quadratic time.
  let waiting: Uint8Array[] = [];
  let [size, enough] = [0, 0];
  const start = (whole: boolean) => {
    held = withoutMark(held);
    parser = new TableParser(
      tableShape(source.name, held, whole, options, target),
      target.open(source.name),
      options,
    );
  };
  for await (const chunk of source.chunks) {
    throwIfAborted(options.signal);
    waiting.push(chunk);
    size += chunk.length;
    if (size < enough) continue;
    held = joined(waiting);
    waiting = [held];
    const unended = Math.min(2 * size, MAX_ROW_BYTES + 1);
    if (!parser) {
      if (size < SAMPLE_BYTES) continue;
      enough = unended;
      if (endOfLine(held, 0) < 0 && size <= MAX_ROW_BYTES) continue;
      start(false);
    }
    const used = parser!.parse(held, false);
    held = held.subarray(used);
    waiting = [held];
    size = held.length;
    enough = used === 0 ? unended : 0;
    options.onProgress?.({
      stage: 'reading',
      done: source.consumed?.() ?? parser!.collector.rows,
      ...(source.consumed && source.size ? { total: source.size } : {}),
      unit: source.consumed ? 'bytes' : 'rows',
      note: `${parser!.collector.rows} rows`,
    });
  }
  throwIfAborted(options.signal);
  held = joined(waiting);
  if (!parser) start(true);
  parser!.parse(held, true);
  const { shape } = parser!;
  const { separator, header, headerGuessed, unsureRow } = shape;
  target.close(source.name, 'text table', shape.columns, {
    ...{ separator, header, headerGuessed },
    ...(unsureRow && { unsureRow }),
  });
}

/** The layout of the table that begins with these bytes; throws if it is not a text table. */
export function tableShape(
  name: string,
  bytes: Uint8Array,
  whole: boolean,
  options: ReaderOptions,
  { first }: Pick<TableTarget, 'first'> = { first: undefined },
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
      `${name}: the file contains zero bytes (\\0), so it is not a text table; give .csv, .tsv, .jsonl or .parquet`,
    );
  }
  return guessShape(name, sample, whole && sample.length === bytes.length, options, first);
}

function joined(chunks: readonly Uint8Array[]): Uint8Array {
  const filled = chunks.filter(({ length }) => length > 0);
  return filled.length === 1 ? filled[0] : concat(Uint8Array, filled);
}

class TableParser {
  readonly #scanner: RowScanner;
  readonly #intake: RowIntake;
  /** For each column, the scanner's slot that keeps it; −1 if none. */
  readonly #slots: Int32Array;
  /** The bytes that hold the current row. */
  #bytes: Uint8Array = new Uint8Array(0);
  #line = 1;
  #skipHeader: boolean;
  /** True inside a row that was too long: bytes are skipped up to the next line end. */
  #skipping = false;

  constructor(
    readonly shape: TableShape,
    readonly collector: EdgeCollector,
    options: ReaderOptions,
  ) {
    const { separator, quoted, columns } = shape;
    this.#skipHeader = shape.header;
    this.#slots = new Int32Array(columns.names.length).fill(-1);
    for (const [slot, column] of columns.used.entries()) this.#slots[column] = slot;
    this.#scanner = new RowScanner({ separator, quoted, slots: this.#slots });
    const [users, items] = [this.#slots[columns.users], this.#slots[columns.items]];
    this.#intake = new RowIntake(collector, columns, options, {
      user: () => this.#encode(collector.users, users),
      item: () => this.#encode(collector.items, items),
      text: (column) => this.#text(this.#slots[column]) || undefined,
      number: (column) => this.#number(this.#slots[column]),
    });
  }

  /** Reads every complete row, with `final` also the last, unterminated one. Returns the number of bytes read. */
  parse(bytes: Uint8Array, final: boolean): number {
    const { columns, separator } = this.shape;
    const width = columns.names.length;
    const scanner = this.#scanner;
    this.#bytes = bytes;
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
        // If bad rows are set aside, continue after the line on which the bad row began.
        this.#reject(bytes, pos, scanner.problem);
        this.#skipping = true;
        continue;
      }
      if (scanner.fields > 1 || !isBlank(bytes, pos, end)) {
        if (this.#skipHeader) this.#skipHeader = false;
        else if (scanner.fields === width) {
          const problem = this.#intake.take();
          if (problem !== undefined) this.#reject(bytes, pos, problem);
        } else {
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

  /** The beginning of the next line; until it is found, the rest of the line is skipped. */
  #nextLine(bytes: Uint8Array, pos: number, final: boolean): number {
    const end = endOfLine(bytes, pos);
    if (end < 0) return bytes.length;
    // An LF that belongs to this CR may be in the next chunk.
    if (bytes[end] === CR && end + 1 === bytes.length && !final) return end;
    this.#skipping = false;
    this.#line++;
    return bytes[end] === CR && bytes[end + 1] === LF ? end + 2 : end + 1;
  }

  /** Parses short whole numbers directly from their bytes, everything else from its text. */
  #number(slot: number): number {
    const bytes = this.#bytes;
    const start = this.#scanner.start(slot);
    const stop = this.#scanner.stop(slot);
    let value = 0;
    let i = start;
    for (; i < stop && bytes[i] >= 48 && bytes[i] <= 57; i++) value = value * 10 + bytes[i] - 48;
    if (i === stop && i > start && i - start <= SHORT_NUMBER) return value;
    return numberOf(this.#text(slot));
  }

  #encode(column: IdColumn, slot: number): number {
    const [start, stop] = [this.#scanner.start(slot), this.#scanner.stop(slot)];
    if (this.#scanner.escaped(slot)) {
      const id = unescaped(this.#bytes, start, stop);
      return column.encode(id, 0, id.length);
    }
    return column.encode(this.#bytes, start, stop);
  }

  #text(slot: number): string {
    const [start, stop] = [this.#scanner.start(slot), this.#scanner.stop(slot)];
    return lenient.decode(
      this.#scanner.escaped(slot) ? unescaped(this.#bytes, start, stop) : this.#bytes.subarray(start, stop),
    );
  }

  #reject(bytes: Uint8Array, rowStart: number, reason: string): void {
    const end = endOfLine(bytes, rowStart);
    const raw = bytes.subarray(rowStart, Math.min(end < 0 ? bytes.length : end, rowStart + MAX_ROW_BYTES));
    this.collector.reject(this.#line, reason, new TextDecoder().decode(raw));
  }
}
