// Parquet through DuckDB: whole numbers come out as typed arrays, texts once per distinct id.

import { type DuckDBConnection, type DuckDBDataChunk, DuckDBInstance } from '@duckdb/node-api';
import { InputError, throwIfAborted } from '../errors.js';
import { threadCount } from '../parallel/pool.js';
import { EdgeCollector, MAX_COUNT } from './collect.js';
import { clip, findColumn } from './guess.js';
import { EMPTY_ID, type IdColumn, type IdKind } from './id-column.js';
import type { ReadOptions, ReadResult, RejectSink } from './options.js';
import { OUT_OF_MEMORY, temporaryPath } from './source.js';

const WHOLE = /^(U?TINYINT|U?SMALLINT|U?INTEGER|U?BIGINT|HUGEINT|UHUGEINT)$/;
const NUMBER = /^(FLOAT|DOUBLE|DECIMAL.*)$/;

/** Runs `work` on a private in-memory database, and closes it. */
export async function withDuckDB<T>(
  threads: number | undefined,
  work: (connection: DuckDBConnection) => Promise<T>,
): Promise<T> {
  const instance = await DuckDBInstance.create(':memory:', {
    threads: String(threadCount(threads)),
    // Made only if memory runs short, and removed on closing.
    temp_directory: temporaryPath(`graphex-duckdb-${process.pid}`),
  });
  const connection = await instance.connect();
  try {
    return await work(connection);
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}

/** `kinds`: 'text' keeps digits as text, where the caller knows that they were. */
export async function readParquet(
  path: string,
  options: ReadOptions,
  rejects?: RejectSink,
  kinds: { users?: IdKind; items?: IdKind } = {},
): Promise<ReadResult> {
  return withDuckDB(options.threads, async (connection) => {
    try {
      return await readWith(connection, path, options, rejects, kinds);
    } catch (cause) {
      throw parquetError(path, cause);
    }
  });
}

async function readWith(
  connection: DuckDBConnection,
  path: string,
  options: ReadOptions,
  rejects: RejectSink | undefined,
  kinds: { users?: IdKind; items?: IdKind },
): Promise<ReadResult> {
  const file = `read_parquet(${literal(globSafe(path))}, file_row_number = true)`;
  const described = await connection.runAndReadAll(
    `DESCRIBE SELECT * EXCLUDE (file_row_number) FROM ${file}`,
  );
  const rows = described.getRowObjects() as { column_name: string; column_type: string }[];
  const names = rows.map((row) => row.column_name);
  if (names.length < 2) {
    throw new InputError(
      `${path}: it has one column, ${clip(names[0] ?? '')}; a table needs users and items`,
    );
  }
  const find = (column: string | number, role: string) => {
    const at = findColumn(path, column, role, names, true);
    return { name: names[at], type: rows[at].column_type };
  };
  const users = find(options.users ?? 1, 'users');
  const items = find(options.items ?? 2, 'items');
  const count = options.count === undefined ? undefined : find(options.count, 'count');
  if (users.name === items.name) {
    throw new InputError(
      `${path}: users and items are both column ${users.name}; name two different columns`,
    );
  }
  const numbers = {
    users: kinds.users !== 'text' && (await fitsNumber(connection, file, users)),
    items: kinds.items !== 'text' && (await fitsNumber(connection, file, items)),
  };
  const collector = new EdgeCollector(path, options, rejects, {
    users: numbers.users ? 'guess' : (kinds.users ?? 'dictionary'),
    items: numbers.items ? 'guess' : (kinds.items ?? 'dictionary'),
  });
  const select = (column: { name: string }, number: boolean) =>
    `CAST(${quoted(column.name)} AS ${number ? 'DOUBLE' : 'VARCHAR'})`;
  const counted =
    count && `, TRY_CAST(${quoted(count.name)} AS DOUBLE), CAST(${quoted(count.name)} AS VARCHAR)`;
  const result = await connection.stream(
    `SELECT file_row_number, ${select(users, numbers.users)}, ${select(items, numbers.items)}${counted ?? ''} FROM ${file}`,
  );
  const encodeUser = encoder(collector.users, numbers.users);
  const encodeItem = encoder(collector.items, numbers.items);
  let seen = 0;
  for (;;) {
    throwIfAborted(options.signal);
    const chunk = await result.fetchChunk();
    if (!chunk || chunk.rowCount === 0) break;
    const reject = (row: number, reason: string) => {
      const number = Number(chunk.getColumnVector(0).getItem(row)) + 1;
      const cells = Array.from({ length: chunk.columnCount - 1 }, (_, c) =>
        chunk.getColumnVector(c + 1).getItem(row),
      );
      collector.reject(
        number,
        reason,
        cells.map((cell) => String(cell ?? '')).join(','),
        `${path}, row ${number}`,
      );
    };
    takeChunk(chunk, collector, encodeUser, encodeItem, { users, items, count }, reject);
    seen += chunk.rowCount;
    options.onProgress?.({ stage: 'reading', done: seen, unit: 'rows' });
  }
  return {
    ...collector.finish(),
    guess: {
      format: 'parquet',
      columns: { users: users.name, items: items.name, ...(count ? { count: count.name } : {}) },
    },
  };
}

type Encode = (chunk: DuckDBDataChunk, column: number) => (row: number) => number;

function encoder(column: IdColumn, number: boolean): Encode {
  if (number) {
    return (chunk, at) => {
      const vector = chunk.getColumnVector(at);
      return (row) => {
        const id = vector.getItem(row) as number | null;
        return id === null ? EMPTY_ID : column.encodeInteger(id);
      };
    };
  }
  const known = new Map<string, number>();
  return (chunk, at) => {
    const vector = chunk.getColumnVector(at);
    return (row) => {
      const id = vector.getItem(row) as string | null;
      if (id === null) return EMPTY_ID;
      let code = known.get(id);
      if (code === undefined) {
        code = column.encodeText(id);
        known.set(id, code);
      }
      return code;
    };
  };
}

function takeChunk(
  chunk: DuckDBDataChunk,
  collector: EdgeCollector,
  encodeUser: Encode,
  encodeItem: Encode,
  columns: { users: { name: string }; items: { name: string }; count: { name: string } | undefined },
  reject: (row: number, reason: string) => void,
): void {
  const user = encodeUser(chunk, 1);
  const item = encodeItem(chunk, 2);
  const countVector = columns.count && chunk.getColumnVector(3);
  for (let row = 0; row < chunk.rowCount; row++) {
    const u = user(row);
    const i = item(row);
    if (u < 0 || i < 0) {
      const name = u < 0 ? columns.users.name : columns.items.name;
      reject(row, `column ${clip(name)}: the id is empty`);
      continue;
    }
    let count = 1;
    if (countVector) {
      count = (countVector.getItem(row) as number | null) ?? 0;
      if (!(Number.isInteger(count) && count >= 1 && count <= MAX_COUNT)) {
        const value = chunk.getColumnVector(4).getItem(row) as string | null;
        reject(
          row,
          `column ${clip(columns.count!.name)}: the count is ${value ?? 'empty'}; a count must be a whole number from 1 to ${MAX_COUNT}`,
        );
        continue;
      }
    }
    collector.push(u, i, count);
  }
}

/** Whether a column holds whole numbers that are all exact as numbers. */
async function fitsNumber(
  connection: DuckDBConnection,
  file: string,
  column: { name: string; type: string },
): Promise<boolean> {
  if (!WHOLE.test(column.type)) {
    if (/VARCHAR|BLOB|UUID|DATE|TIMESTAMP|BOOLEAN/.test(column.type) || NUMBER.test(column.type))
      return false;
    throw new InputError(
      `column ${clip(column.name)} holds ${column.type} values, which cannot be ids; choose another`,
    );
  }
  const id = quoted(column.name);
  const found = await connection.runAndReadAll(
    `SELECT min(${id})::VARCHAR, max(${id})::VARCHAR FROM ${file}`,
  );
  return found.getRows()[0].every((bound) => bound === null || /^-?\d{1,15}$/.test(String(bound)));
}

function parquetError(path: string, cause: unknown): unknown {
  if (cause instanceof InputError || (cause as Error).name === 'AbortError') return cause;
  // The first line, without the odd bytes that a damaged file brings into it.
  const message = String((cause as Error).message ?? cause)
    .split('\n')[0]
    .replaceAll(/\p{Cc}/gu, '?');
  if (/^IO Error: No files found/.test(message)) {
    return new InputError(`${path}: there is no such file; check the path`);
  }
  if (OUT_OF_MEMORY.test(message)) {
    return new InputError(
      `${path}: not enough memory to read it (${message}); close other programs or use fewer --threads; a damaged file can ask for too much as well`,
    );
  }
  return new InputError(
    `${path}: the Parquet file is damaged or cut short (${message}); fetch or write it again`,
  );
}

export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

export function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** DuckDB takes paths for patterns; brackets make the pattern's signs plain characters. */
export function globSafe(path: string): string {
  return path.replace(/[*?[]/g, '[$&]');
}
