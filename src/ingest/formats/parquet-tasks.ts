// The tasks of threads that read tables of whole numbers. Each task writes one column of a row group directly to its place among all rows.
// It throws if the column holds anything else; the reader of rows then reads the table and reports errors.

import { serveTasks } from '../../parallel/worker.js';
import type { Values } from '../../parquet/decode.js';
import type { ColumnChunk, ParquetColumn } from '../../parquet/footer.js';
import { pagesOf } from '../../parquet/pages.js';
import { withBytes } from '../../parquet/rows.js';
import { DamagedError } from '../../parquet/thrift.js';

/** A column of whole numbers in a group of rows. */
export interface ColumnSource {
  readonly path: string;
  readonly identity: string;
  readonly column: ParquetColumn;
  readonly chunk: ColumnChunk;
  readonly rows: number;
  /** The least and the largest number that is allowed. */
  readonly least: number;
  readonly most: number;
  /** The unpacked size of the file so far, in units, which all its tasks increase, and its limit. */
  readonly spent: Int32Array;
  readonly mostSpent: number;
}

/** A group of rows whose users, items and perhaps counts are whole numbers. */
export interface ColumnGroup {
  readonly rows: number;
  readonly users: ColumnSource;
  readonly items: ColumnSource;
  readonly count: ColumnSource | undefined;
}

export interface ColumnTask extends ColumnSource {
  /** Absent: the numbers are checked but not stored. */
  readonly into: Uint32Array | undefined;
  /** The position of the first row. */
  readonly at: number;
}

/** Bytes per unit of unpacked size. */
export const SPENT_UNIT = 1024;

/** The largest number of a column of a group of rows. */
export async function readColumn(task: ColumnTask): Promise<number> {
  const { path, identity, column, chunk, rows, at, spent, mostSpent } = task;
  const spend = (bytes: number) => {
    const units = Math.ceil(bytes / SPENT_UNIT);
    if (Atomics.add(spent, 0, units) + units > mostSpent) throw notPlain();
  };
  const numbers = new PlainNumbers(task);
  let done = 0;
  await withBytes(path, identity, async (file) => {
    for await (const page of pagesOf(file, chunk, column, spend)) {
      if (page.rows > rows - done) break;
      if (page.present) throw notPlain();
      numbers.take(page.values, page.index, page.rows, at + done);
      done += page.rows;
      if (done === rows) break;
    }
  });
  if (done !== rows || numbers.largest > task.most || numbers.smallest < task.least) throw notPlain();
  return numbers.largest;
}

/** The numbers of the pages of one column: where they are written, and their range. */
class PlainNumbers {
  largest = 0;
  smallest = 0xffffffff;
  readonly #into: Uint32Array | undefined;
  readonly #signed: boolean;
  /** The last dictionary, and its numbers. */
  #known: Values | undefined;
  #numbers: Uint32Array = new Uint32Array(0);

  constructor({ into, column }: ColumnTask) {
    const { meaning } = column;
    if (meaning.kind !== 'whole') throw notPlain();
    this.#into = into;
    this.#signed = meaning.signed;
  }

  take(values: Values, index: Uint32Array | undefined, rows: number, at: number): void {
    if (index === undefined) {
      const numbers = toNumbers(values, this.#signed);
      if (numbers.length < rows) throw notPlain();
      const own = numbers.subarray(0, rows);
      this.#see(own);
      this.#into?.set(own, at);
      return;
    }
    if (values !== this.#known) {
      this.#known = values;
      this.#numbers = toNumbers(values, this.#signed);
      this.#see(this.#numbers);
    }
    if (this.#into) pick(this.#numbers, index, rows, this.#into, at);
  }

  /** All numbers of a dictionary count as used. */
  #see(numbers: Uint32Array): void {
    let largest = this.largest;
    let smallest = this.smallest;
    for (let i = 0; i < numbers.length; i++) {
      const value = numbers[i];
      if (value > largest) largest = value;
      if (value < smallest) smallest = value;
    }
    this.largest = largest;
    this.smallest = smallest;
  }
}

function pick(from: Uint32Array, index: Uint32Array, count: number, into: Uint32Array, at: number): void {
  for (let i = 0; i < count; i++) into[at + i] = from[index[i]];
}

/** Numbers below 2³²; throws if there is any other. */
function toNumbers(values: Values, signed: boolean): Uint32Array {
  if (values.kind === 'words' && values.per === 2) {
    const { words } = values;
    const result = new Uint32Array(words.length / 2);
    let high = 0;
    for (let i = 0; i < result.length; i++) {
      result[i] = words[2 * i];
      high |= words[2 * i + 1];
    }
    if (high === 0) return result;
  } else if (values.kind === 'numbers' && values.numbers instanceof Int32Array) {
    const { numbers } = values;
    // If any number is negative, so is the bitwise or of all.
    let all = 0;
    if (signed) for (let i = 0; i < numbers.length; i++) all |= numbers[i];
    if (all >= 0) return new Uint32Array(numbers.buffer, numbers.byteOffset, numbers.length);
  }
  throw notPlain();
}

function notPlain(): DamagedError {
  return new DamagedError('it is not a plain table of whole numbers');
}

/** The ids at from … to−1, and a table with an entry for every possible id: at first whether the id occurs, later its vertex. */
export interface IdTask {
  readonly ids: Uint32Array;
  readonly from: number;
  readonly to: number;
  readonly table: Uint32Array;
}

/** Marks the ids that occur. Threads may mark the same id: each writes the same number. */
export function noteIds({ ids, from, to, table }: IdTask): void {
  for (let row = from; row < to; row++) table[ids[row]] = 1;
}

/** Replaces ids by their vertices in the table. */
export function placeIds({ ids, from, to, table }: IdTask): void {
  for (let row = from; row < to; row++) ids[row] = table[ids[row]];
}

serveTasks('parquet-tasks', { readColumn, noteIds, placeIds });
