// Reads several columns of a Parquet file in step, although their pages end at different rows.

import { InputError, throwIfAborted } from '../errors.js';
import { readAt } from '../files/chunks.js';
import type { Values } from './decode.js';
import { type ParquetColumn, type ParquetFile, type RandomAccess, readFooter } from './footer.js';
import { type Page, pagesOf } from './pages.js';
import { DamagedError } from './thrift.js';

const WINDOW = 1 << 20;

/**
 * How far the columns of a file may unpack: no limit for uncompressed files, and a few seconds for a small malicious
 * one. Tables of distinct pairs unpack to some dozens of times their size.
 */
const UNPACKED = { bytes: 2 ** 29, times: 200 };
/** The same limit for rows, because a run of equal rows takes no bytes. */
const ROWS = { rows: 10 ** 8, times: 500 };

/** The current value of a column. */
export interface Cell {
  readonly column: ParquetColumn;
  readonly present: boolean;
  readonly values: Values;
  readonly at: number;
}

export interface OpenParquet extends ParquetFile {
  /** Differs for a file that replaces this one, or that was written again. */
  readonly identity: string;
  /** Calls `take` for every row with one cell per column; all calls receive the same cell objects. */
  eachRow(
    columns: readonly ParquetColumn[],
    take: (row: number, cells: readonly Cell[]) => void,
    options: { readonly signal?: AbortSignal | undefined; readonly onRows?: (rows: number) => void },
  ): Promise<void>;
}

/** A file at a path. `name` is for messages: that of the source from which a temporary file was made. */
export interface NamedFile {
  readonly name: string;
  readonly path: string;
}

/** Where a Parquet file is: at a path, or in a page a Blob with a name for messages. */
export type ParquetSource = string | NamedFile | { readonly name: string; readonly blob: Blob };

export const sourceLabel = (source: ParquetSource): string =>
  typeof source === 'string' ? source : source.name;

/** The most bytes that a file of this size may unpack to. */
export const mostUnpacked = (size: number): number => Math.max(UNPACKED.bytes, UNPACKED.times * size);

/** Opens the file of this identity once more, lets `work` read any position of it, and closes it. */
export async function withBytes<T>(
  source: ParquetSource,
  identity: string,
  work: (file: RandomAccess) => Promise<T>,
): Promise<T> {
  const handle = await open(source);
  try {
    if (handle.identity !== identity) {
      throw new InputError(`${sourceLabel(source)}: the file was replaced while it was read; read it again`);
    }
    return await work(windowOn(handle));
  } finally {
    await handle.close();
  }
}

async function open(source: ParquetSource) {
  if (typeof source !== 'string' && 'blob' in source) {
    const { blob } = source;
    return { from: blob, size: blob.size, identity: '', close: async () => undefined };
  }
  const path = typeof source === 'string' ? source : source.path;
  const handle = await process.getBuiltinModule('node:fs/promises').open(path);
  try {
    const { size, dev, ino, mtimeNs, ctimeNs } = await handle.stat({ bigint: true });
    const identity = [size, dev, ino, mtimeNs, ctimeNs].join();
    return { from: handle, size: Number(size), identity, close: () => handle.close() };
  } catch (cause) {
    await handle.close();
    throw cause;
  }
}

/** Opens the file, lets `work` read from it, and closes it. */
export async function withParquet<T>(
  source: ParquetSource,
  work: (file: OpenParquet) => Promise<T>,
): Promise<T> {
  const path = sourceLabel(source);
  const handle = await open(source);
  try {
    const { size } = handle;
    const access = () => windowOn(handle);
    const footer = await readFooter(access());
    const rows = footer.groups.reduce((sum, group) => sum + group.rows, 0);
    if (rows > Math.max(ROWS.rows, ROWS.times * size)) {
      throw new InputError(
        `${path}: its ${rows} rows in ${size} bytes are more than ${ROWS.times} a byte, so rows repeat; give each pair once`,
      );
    }
    const most = mostUnpacked(size);
    let unpacked = 0;
    const spend = (bytes: number) => {
      unpacked += bytes;
      if (unpacked <= most) return;
      throw new InputError(
        `${path}: its ${size} bytes unpack to more than ${most}, which no table of different pairs does; if the file is correct, write it again without compression`,
      );
    };
    return await work({
      ...footer,
      identity: handle.identity,
      eachRow: async (columns, take, { signal, onRows }) => {
        let row = 0;
        for (const group of footer.groups) {
          const cursors = columns.map((column) => new Cursor(access(), group.chunk(column), column, spend));
          for (let left = group.rows; left > 0; ) {
            throwIfAborted(signal);
            let rows = left;
            for (const cursor of cursors) rows = Math.min(rows, await cursor.fill());
            for (let r = 0; r < rows; r++) {
              for (const cursor of cursors) cursor.step();
              take(row++, cursors);
            }
            left -= rows;
            onRows?.(row);
          }
        }
      },
    });
  } finally {
    await handle.close();
  }
}

class Cursor implements Cell {
  readonly #pages: AsyncGenerator<Page>;
  #page: Page | undefined;
  #row = 0;
  #value = 0;
  present = false;
  at = 0;
  values: Values = { kind: 'numbers', numbers: new Uint8Array(0) };

  constructor(
    file: RandomAccess,
    chunk: Parameters<typeof pagesOf>[1],
    readonly column: ParquetColumn,
    spend: (bytes: number) => void,
  ) {
    this.#pages = pagesOf(file, chunk, column, spend);
  }

  /** Rows that remain in the current page; moves to the next page if there are none. */
  async fill(): Promise<number> {
    while (this.#page === undefined || this.#row >= this.#page.rows) {
      const next = await this.#pages.next();
      if (next.done) {
        throw new DamagedError(
          `column ${JSON.stringify(this.column.name)} has fewer values than the table has rows`,
        );
      }
      this.#page = next.value;
      this.values = next.value.values;
      this.#row = 0;
      this.#value = 0;
    }
    return this.#page.rows - this.#row;
  }

  step(): void {
    const { present, index } = this.#page!;
    this.present = present === undefined || present[this.#row] === 1;
    this.#row++;
    if (this.present) {
      this.at = index === undefined ? this.#value : index[this.#value];
      this.#value++;
    }
  }
}

/** Reads ahead, so that small pages do not need a call each. */
function windowOn({ from, size }: Awaited<ReturnType<typeof open>>): RandomAccess {
  let held: Uint8Array = new Uint8Array(0);
  let start = 0;
  return {
    size,
    async read(position, length) {
      if (position < 0 || position + length > size) throw new DamagedError('it ends too early');
      if (position < start || position + length > start + held.length) {
        const wanted = Math.min(size - position, Math.max(length, WINDOW));
        // In a new buffer each time: values of the previous page may still refer to the old one.
        held = await readAt(from, position, wanted);
        start = position;
        if (held.length < wanted) throw new DamagedError('it was cut short while being read');
      }
      return held.subarray(position - start, position - start + length);
    },
  };
}
