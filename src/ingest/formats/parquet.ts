// A Parquet table → graph. Whole numbers are taken as numbers, texts as bytes, each distinct one of a dictionary once.

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
import { countParser, MAX_COUNT } from '../intake/collect.js';
import { EMPTY_ID, type IdColumn, type IdKind, idProblem } from '../intake/id-column.js';
import { TableTarget, usedColumns } from '../intake/target.js';
import type { ReaderOptions, ReadResult, RejectSink } from '../options.js';
import { type Cells, numberOf } from '../where/filter.js';
import { clip, countedBy, findColumn } from './guess.js';

/** `kinds`: 'text' keeps digits as text, where the caller knows that they were. */
export async function readParquet(
  source: ParquetSource,
  options: ReaderOptions,
  rejects?: RejectSink,
  kinds: { users?: IdKind; items?: IdKind } = {},
): Promise<ReadResult> {
  const target = new TableTarget(options, rejects);
  await fillParquet(source, options, target, kinds);
  return target.finish(sourceLabel(source));
}

/** The rows of a Parquet table, into a target that may hold those of others. */
export async function fillParquet(
  source: ParquetSource,
  options: ReaderOptions,
  target: TableTarget,
  kinds: { users?: IdKind; items?: IdKind } = {},
): Promise<void> {
  const path = sourceLabel(source);
  await inWords(path, () => withParquet(source, (file) => readEdges(file, path, options, target, kinds)));
}

/** The named columns, row by row, as texts; null where there is no value. A function chooses them by place among all. */
export async function readParquetColumns(
  path: string,
  wanted: readonly string[] | ((names: readonly string[]) => readonly number[]),
  take: (values: readonly (string | null)[]) => void,
  options: { readonly signal?: AbortSignal | undefined } = {},
): Promise<void> {
  await inWords(path, () =>
    withParquet(path, async (file) => {
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

/** Names of the first columns and the first rows as texts. */
export async function firstRows(
  source: ParquetSource,
  most: number,
  columns: number,
): Promise<{ names: string[]; rows: string[][] }> {
  const rows: string[][] = [];
  const enough = new Error('enough rows');
  return inWords(sourceLabel(source), () =>
    withParquet(source, async (file) => {
      const taken = file.columns.slice(0, columns);
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

/** The columns that the options ask for, and the names of all. */
export function columnsOf(
  file: Pick<OpenParquet, 'columns'>,
  path: string,
  options: ReaderOptions,
): {
  readonly names: readonly string[];
  readonly users: ParquetColumn;
  readonly items: ParquetColumn;
  readonly count: ParquetColumn | undefined;
  readonly value: ParquetColumn | undefined;
} {
  const names = file.columns.map(({ name }) => name);
  if (names.length < 2) {
    throw new InputError(
      `${path}: it has one column, ${clip(names[0] ?? '')}; a table needs users and items`,
    );
  }
  const find = (column: string | number, role: string) =>
    file.columns[findColumn(path, column, role, names, true)];
  const users = find(options.users ?? 1, 'users');
  const items = find(options.items ?? 2, 'items');
  const counted = countedBy(options);
  const count = counted && find(counted.column, counted.role);
  const { value: asked } = options;
  const value = asked?.column === undefined ? undefined : find(asked.column, asked.role);
  if (users === items) {
    throw new InputError(
      `${path}: users and items are both column ${clip(users.name)}; name two different columns`,
    );
  }
  return { names, users, items, count, value };
}

async function readEdges(
  file: OpenParquet,
  path: string,
  options: ReaderOptions,
  target: TableTarget,
  kinds: { users?: IdKind; items?: IdKind },
): Promise<void> {
  const { names, users, items, count, value } = columnsOf(file, path, options);
  const { value: asked } = options;
  const kindOf = (column: ParquetColumn, asked: IdKind | undefined): IdKind =>
    asked === 'text' ? 'text' : column.meaning.kind === 'whole' ? 'guess' : 'dictionary';
  const collector = target.open(path, {
    users: kindOf(users, kinds.users),
    items: kindOf(items, kinds.items),
  });
  const encodeUser = idEncoder(collector.users, users, kinds.users);
  const encodeItem = idEncoder(collector.items, items, kinds.items);
  const columns = [users, items, ...(count ? [count] : []), ...(value ? [value] : [])];
  const valueAt = columns.length - 1;
  const { filter } = options;
  // A column of the condition may have another use too: it is unpacked once.
  const filterAt = (filter?.find(path, names, true) ?? []).map((place) => {
    const column = file.columns[place];
    if (!columns.includes(column)) columns.push(column);
    return columns.indexOf(column);
  });
  const show = columns.map(shown);
  const countOf = countParser(options);
  let current: readonly Cell[] = [];
  const text = (slot: number) => show[filterAt[slot]](current[filterAt[slot]]) || undefined;
  const numbers = filterAt.map((at) => numberIn(columns[at]));
  const judged: Cells = {
    text,
    number: (slot) => numbers[slot]?.(current[filterAt[slot]]) ?? numberOf(text(slot)),
  };
  const reject = (row: number, reason: string, cells: readonly Cell[]) => {
    const texts = cells.map((cell, c) => show[c](cell)?.slice(0, SHOWN) ?? '');
    collector.reject(row + 1, reason, texts.join(','), `${path}, row ${row + 1}`);
  };
  await file.eachRow(
    columns,
    (row, cells) => {
      if (filter) {
        current = cells;
        const keeps = filter.keeps(judged);
        if (typeof keeps === 'string') return reject(row, keeps, cells);
        if (!keeps) return collector.leaveOut();
      }
      const user = encodeUser(cells[0]);
      const item = encodeItem(cells[1]);
      if (user < 0 || item < 0) {
        const name = user < 0 ? users.name : items.name;
        reject(row, `column ${clip(name)}: ${idProblem(user < 0 ? user : item)}`, cells);
        return;
      }
      const number = value && asked!.parse(show[valueAt](cells[valueAt]) ?? '');
      if (typeof number === 'string') return reject(row, `column ${clip(value!.name)}: ${number}`, cells);
      if (count === undefined) return collector.push(user, item, 1, number);
      const text = show[2](cells[2]);
      const times = countOf(text ?? '');
      if (typeof times === 'number') return collector.push(user, item, times, number);
      const found = text === null || text === '' ? 'empty' : text.slice(0, 60);
      const rule = `a count must be a whole number from 1 to ${MAX_COUNT}`;
      const problem = options.weight === undefined ? `the count is ${found}; ${rule}` : times;
      reject(row, `column ${clip(count.name)}: ${problem}`, cells);
    },
    {
      signal: options.signal,
      onRows: (rows) => options.onProgress?.({ stage: 'reading', done: rows, unit: 'rows' }),
    },
  );
  target.close(
    {
      kind: 'table',
      format: 'parquet',
      columns: usedColumns(options, { users: users.name, items: items.name, count: count?.name }),
    },
    { name: path, names, width: names.length },
  );
}

/** Characters of a cell that go to the rejects. */
const SHOWN = 1000;

/** Throws where a column holds what has no text. */
function requireValues({ name, meaning }: ParquetColumn): void {
  if (meaning.kind !== 'other') return;
  throw new InputError(`column ${clip(name)} holds ${meaning.what}, which cannot be ids; choose another`);
}

type Encode = (cell: Cell) => number;

function idEncoder(ids: IdColumn, column: ParquetColumn, asked: IdKind | undefined): Encode {
  requireValues(column);
  const { meaning } = column;
  if (meaning.kind === 'whole' && asked !== 'text') {
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
  // The values of a dictionary come again and again.
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

/** Numbers of a column straight from its values, where they are plain ones. */
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

/** The value of a cell for people and for counts. */
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
