// Reads a graph from a Parquet table. Whole numbers are read as numbers, texts as bytes; each entry of a dictionary is read once.

import { AbortError, InputError } from '../../errors.js';
import { readError } from '../../files/read-error.js';
import type { Values } from '../../parquet/decode.js';
import type { ParquetColumn } from '../../parquet/footer.js';
import { bytesAt, renderer, wholeAt } from '../../parquet/render.js';
import {
  type Cell,
  type OpenParquet,
  type ParquetSource,
  sourceLabel,
  withParquet,
} from '../../parquet/rows.js';
import { DamagedError } from '../../parquet/thrift.js';
import { numberOf } from '../../text/numbers.js';
import { chooseColumns, clip, findColumn, type TableColumns } from '../intake/columns.js';
import { EMPTY_ID, type IdColumn } from '../intake/id-column.js';
import { RowIntake } from '../intake/row-intake.js';
import type { TableTarget } from '../intake/target.js';
import type { ReaderOptions } from '../options.js';

/** Adds the rows of a Parquet table to a target, which may already hold rows of other tables. */
export async function fillParquet(
  source: ParquetSource,
  options: ReaderOptions,
  target: TableTarget,
): Promise<void> {
  const path = sourceLabel(source);
  await inWords(path, () => withParquet(source, (file) => readEdges(file, path, options, target)));
}

/** The named columns, row by row, as texts; null for a missing value. A function chooses them by position. */
export async function readParquetColumns(
  source: ParquetSource,
  wanted: readonly string[] | ((names: readonly string[]) => readonly number[]),
  take: (values: readonly (string | null)[]) => void,
  options: { readonly signal?: AbortSignal | undefined } = {},
): Promise<void> {
  const path = sourceLabel(source);
  await inWords(path, () =>
    withParquet(source, async (file) => {
      const all = file.columns.map(({ name }) => name);
      const places =
        typeof wanted === 'function'
          ? wanted(all)
          : wanted.map((name) => findColumn(path, name, 'column', all, true));
      const columns = places.map((place) => file.columns[place]);
      for (const column of columns) requireValues(column);
      const show = columns.map(shown);
      await file.eachRow(columns, (_, cells) => take(cells.map((cell, c) => show[c](cell))), options);
    }),
  );
}

/** The names of the first columns that can be read, and the first rows as texts. */
export async function firstRows(
  source: ParquetSource,
  most: number,
  columns: number,
): Promise<{ names: string[]; rows: string[][] }> {
  const rows: string[][] = [];
  const enough = new Error('enough rows');
  return inWords(sourceLabel(source), () =>
    withParquet(source, async (file) => {
      const taken = file.columns.filter(({ meaning }) => meaning.kind !== 'other').slice(0, columns);
      const show = taken.map(shown);
      const take = (_: number, cells: readonly Cell[]) => {
        rows.push(cells.map((cell, c) => show[c](cell) ?? ''));
        if (rows.length === most) throw enough;
      };
      await file.eachRow(taken, take, {}).catch((cause) => {
        if (cause !== enough) throw cause;
      });
      return { names: taken.map(({ name }) => name), rows };
    }),
  );
}

export function columnsOf(
  { columns }: Pick<OpenParquet, 'columns'>,
  path: string,
  options: ReaderOptions,
): TableColumns {
  return chooseColumns(
    path,
    columns.map(({ name }) => name),
    true,
    options,
  );
}

async function readEdges(
  file: OpenParquet,
  path: string,
  options: ReaderOptions,
  target: TableTarget,
): Promise<void> {
  const columns = columnsOf(file, path, options);
  const { users, items, used } = columns;
  const collector = target.open(path);
  const encodeUser = idEncoder(collector.users, file.columns[users]);
  const encodeItem = idEncoder(collector.items, file.columns[items]);
  const read = used.map((column) => file.columns[column]);
  /** The position of each column among those that are read. */
  const slots = new Map(used.map((column, slot) => [column, slot]));
  const show = read.map(shown);
  const numbers = read.map(numberIn);
  let cells: readonly Cell[] = [];
  const text = (column: number) => {
    const slot = slots.get(column)!;
    return show[slot](cells[slot]) || undefined;
  };
  const intake = new RowIntake(collector, columns, options, {
    user: () => encodeUser(cells[0]),
    item: () => encodeItem(cells[1]),
    text,
    number(column) {
      const slot = slots.get(column)!;
      return numbers[slot]?.(cells[slot]) ?? numberOf(text(column));
    },
  });
  await file.eachRow(
    read,
    (row, current) => {
      cells = current;
      const problem = intake.take();
      if (problem === undefined) return;
      const texts = cells.map((cell, c) => show[c](cell)?.slice(0, SHOWN) ?? '');
      collector.reject(row + 1, problem, texts.join(','), `${path}, row ${row + 1}`);
    },
    {
      signal: options.signal,
      onRows: (rows) => options.onProgress?.({ stage: 'reading', done: rows, unit: 'rows' }),
    },
  );
  target.close(path, 'parquet', columns);
}

/** Characters of a cell that are written to the rejects. */
const SHOWN = 1000;

/** Throws if the values of a column cannot be ids. */
function requireValues({ name, meaning }: ParquetColumn): void {
  if (meaning.kind !== 'other') return;
  throw new InputError(`column ${clip(name)} holds ${meaning.what}, which cannot be ids; choose another`);
}

type Encode = (cell: Cell) => number;

function idEncoder(ids: IdColumn, column: ParquetColumn): Encode {
  requireValues(column);
  const { meaning } = column;
  if (meaning.kind === 'whole' && !ids.isText) {
    return ({ present, values, at }) => {
      if (!present) return EMPTY_ID;
      const id = wholeAt(values, at, meaning.signed);
      return typeof id === 'number' ? ids.encodeInteger(id) : ids.encodeText(String(id));
    };
  }
  const render = renderer(column);
  const encode = (values: Values, at: number) => {
    if (render) return ids.encodeText(render(values, at));
    const bytes = bytesAt(values, at);
    return ids.encode(bytes, 0, bytes.length);
  };
  // Cached, because the values of a dictionary repeat.
  ids.keepCodes();
  let known: Values | undefined;
  let codes = new Float64Array(0);
  return ({ present, values, at }) => {
    if (!present) return EMPTY_ID;
    if (values !== known) {
      known = values;
      codes = new Float64Array(values.kind === 'bytes' ? values.starts.length : 0).fill(Number.NaN);
    }
    if (at >= codes.length) return encode(values, at);
    const code = codes[at];
    return Number.isNaN(code) ? (codes[at] = encode(values, at)) : code;
  };
}

/** Reads numbers directly from the values of a column, if they are plain. */
function numberIn({ meaning }: ParquetColumn): ((cell: Cell) => number | undefined) | undefined {
  if (meaning.kind === 'whole') {
    return ({ present, values, at }) => (present ? Number(wholeAt(values, at, meaning.signed)) : Number.NaN);
  }
  if (meaning.kind !== 'number') return undefined;
  return ({ present, values, at }) => {
    if (!present) return Number.NaN;
    return values.kind === 'numbers' ? values.numbers[at] : undefined;
  };
}

const lenient = new TextDecoder('utf-8', { ignoreBOM: true });

/** The value of a cell as text, for messages and counts. */
function shown(column: ParquetColumn): (cell: Cell) => string | null {
  const render = renderer(column);
  return ({ present, values, at }) => {
    if (!present) return null;
    return render ? render(values, at) : lenient.decode(bytesAt(values, at));
  };
}

async function inWords<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof InputError || cause instanceof AbortError) throw cause;
    if (cause instanceof DamagedError) {
      throw new InputError(
        `${path}: the Parquet file is damaged or cut short (${cause.message}); fetch or write it again`,
      );
    }
    if (cause instanceof RangeError) {
      throw new InputError(
        `${path}: not enough memory to read it (${cause.message}); close other programs; a damaged file can ask for too much as well`,
      );
    }
    throw readError(path, cause);
  }
}
