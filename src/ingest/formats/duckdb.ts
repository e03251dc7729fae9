// Queries over files and databases by DuckDB, if it is installed. A query may only read: it is one SELECT, loads no extension, and can open
// only the files that it names.

import { totalmem } from 'node:os';
import { dirname, resolve } from 'node:path';
import { InputError, throwIfAborted } from '../../errors.js';
import { filesOf, isPattern } from '../../files/glob.js';
import { isFile } from '../../files/plain-file.js';
import { option, optionError } from '../../options/error.js';
import type { NamedFile } from '../../parquet/rows.js';
import { numberOf } from '../../text/numbers.js';
import { firstShown, shown } from '../../text/untrusted.js';
import { chooseColumns, clip } from '../intake/columns.js';
import { RowIntake } from '../intake/row-intake.js';
import { TableTarget } from '../intake/target.js';
import type { ReaderOptions, ReadOptions, ReadResult, RejectSink } from '../options.js';
import {
  CLOSED_SETTINGS,
  type Connection,
  type DuckDb,
  type Instance,
  isLocked,
  LockedError,
  loadDuckDb,
  quotedName,
  quotedText,
} from './duckdb-package.js';

/** Whether the first bytes are those of a DuckDB database. */
export function isDuckDb(first: Uint8Array): boolean {
  return String.fromCharCode(...first.subarray(8, 12)) === 'DUCK';
}

/** What DuckDB reads: a query, perhaps over a database, or a table of a database. */
export type DuckDbSource =
  | { readonly sql: string; readonly database?: string | undefined }
  | (NamedFile & {
      /** Not needed if there is only one. */
      readonly table?: string | undefined;
      /** Whether no option can name the table. */
      readonly onlyTable?: boolean;
    });

export async function readSql(
  sql: string,
  options: ReaderOptions,
  rejects?: RejectSink,
): Promise<ReadResult> {
  const target = new TableTarget(options, rejects);
  await fillFromDuckDb({ sql, database: options.database }, 'sql', options, target);
  return target.finish('sql:');
}

/** Adds the rows of a query or table to a target, which may already hold rows of other tables. */
export async function fillFromDuckDb(
  source: DuckDbSource,
  format: string,
  options: ReaderOptions,
  target: TableTarget,
): Promise<void> {
  const name = nameOf(source);
  const collector = target.open(name);
  let intake: RowIntake | undefined;
  let cells: readonly (string | null)[] = [];
  const begin = (names: readonly string[]) => {
    const columns = chooseColumns(name, names, true, options);
    const { users, items, used } = columns;
    const text = (column: number) => cells[used.indexOf(column)] || undefined;
    intake = new RowIntake(collector, columns, options, {
      user: () => collector.users.encodeText(text(users) ?? ''),
      item: () => collector.items.encodeText(text(items) ?? ''),
      text,
      number: (column) => numberOf(text(column)),
    });
    return used;
  };
  await eachRow(source, options, begin, (found, row) => {
    cells = found;
    const problem = intake!.take();
    if (problem !== undefined)
      collector.reject(row, problem, cells.join(',').slice(0, 1000), `${name}, row ${row}`);
  });
  target.close(name, format, intake!.columns);
}

function nameOf(source: DuckDbSource): string {
  return 'sql' in source ? 'sql:' : source.name;
}

/**
 * Calls `take` with every row of the columns that `choose` picks by their names, and with its number from 1. All values are texts, so that
 * ids equal those of a file of that table.
 */
export async function eachRow(
  source: DuckDbSource,
  options: Pick<ReadOptions, 'threads' | 'signal' | 'onProgress'>,
  choose: (names: readonly string[]) => readonly number[],
  take: (cells: readonly (string | null)[], row: number) => void,
): Promise<void> {
  await withDuckDb(nameOf(source), options, async (duckdb, connection) => {
    const database = 'sql' in source ? source.database : source.path;
    if (database !== undefined) await attach(connection, database);
    let select: string;
    if ('sql' in source) {
      await lock(connection, await namedFiles(source.sql));
      select = source.sql.trim().replace(/;$/, '');
      await requireSelect(duckdb, connection, select);
    } else {
      await lock(connection, { files: [], folders: [] });
      select = `SELECT * FROM ${await tableOf(connection, source)}`;
    }
    const described = await connection.prepare(select);
    const names = Array.from({ length: described.columnCount }, (_, c) => described.columnName(c));
    described.destroySync();
    const columns = choose(names).map((column) => `CAST(c${column} AS VARCHAR)`);
    // An interrupt before the query starts has no effect.
    throwIfAborted(options.signal);
    // Not streamed: after an error or an interrupt, a stream ends as if it were complete.
    const result = await connection.run(
      `SELECT ${columns.join(', ')} FROM (${select}\n) AS t(${names.map((_, c) => `c${c}`).join(', ')})`,
    );
    let row = 0;
    for (;;) {
      throwIfAborted(options.signal);
      const chunk = await result.fetchChunk();
      if (!chunk || chunk.rowCount === 0) break;
      const values = columns.map((_, c) => chunk.getColumnValues(c) as (string | null)[]);
      for (let r = 0; r < chunk.rowCount; r++) {
        take(
          values.map((column) => column[r]),
          ++row,
        );
      }
      options.onProgress?.({ stage: 'reading', done: row, unit: 'rows' });
    }
  });
}

async function withDuckDb(
  name: string,
  { threads, signal }: ReadOptions,
  work: (duckdb: DuckDb, connection: Connection) => Promise<void>,
): Promise<void> {
  const duckdb = await loadDuckDb(`${name} is read by DuckDB`);
  let instance: Instance | undefined;
  let connection: Connection | undefined;
  const stop = () => connection?.interrupt();
  try {
    instance = await duckdb.DuckDBInstance.create(':memory:', {
      ...CLOSED_SETTINGS,
      memory_limit: `${Math.ceil(totalmem() / 2 ** 21)}MiB`,
      ...(threads === undefined ? {} : { threads: String(threads) }),
    });
    connection = await instance.connect();
    signal?.addEventListener('abort', stop, { once: true });
    await connection.run("SET TimeZone = 'UTC'");
    await work(duckdb, connection);
  } catch (cause) {
    throwIfAborted(signal);
    if (cause instanceof InputError) throw cause;
    const place = name.replace(/:$/, '');
    if (isLocked(cause)) {
      const [said] = String((cause as Error).message).split('\n');
      throw new LockedError(
        `${place}: another process has this database open; close it there, or read a copy (${said})`,
      );
    }
    throw new InputError(`${place}: ${inWords(cause)}`);
  } finally {
    signal?.removeEventListener('abort', stop);
    connection?.closeSync();
    instance?.closeSync();
  }
}

/** DuckDB's message without links and stack traces. */
function inWords(cause: unknown): string {
  const text = String((cause as Error).message ?? cause);
  const [first, ...more] = text.split('\n').filter((line) => line.trim() !== '');
  const hint = more.find((line) => /^(Did you mean|Candidate bindings)/.test(line));
  const said = [first, hint].filter((line) => line !== undefined).join(' ');
  if (/file system operations are disabled/.test(said)) {
    return `DuckDB refuses it (${said}): a query reads only files that it names in full in quotes, as in FROM 'ratings.csv'`;
  }
  if (/Out of Memory/i.test(said)) {
    return `DuckDB wants more memory than half of the machine's (${said}); select fewer rows or columns`;
  }
  return `DuckDB refuses it (${said}); correct the query or the table`;
}

async function attach(connection: Connection, path: string): Promise<void> {
  if (!(await isFile(path))) throw new InputError(`${path}: there is no such file; name a DuckDB database`);
  await connection.run(`ATTACH ${quotedText(resolve(path))} AS data (READ_ONLY)`);
  await connection.run('USE data');
}

interface Named {
  readonly files: readonly string[];
  /** Folders of patterns, which DuckDB searches. */
  readonly folders: readonly string[];
  /** Files that match the patterns. */
  readonly matched: readonly string[];
}

/** From here on DuckDB opens no other file, writes nothing, and accepts no setting. */
async function lock(connection: Connection, { files, folders }: Omit<Named, 'matched'>): Promise<void> {
  const list = (paths: readonly string[]) => `[${paths.map(quotedText).join(', ')}]`;
  if (files.length > 0) await connection.run(`SET allowed_paths = ${list(files)}`);
  if (folders.length > 0) await connection.run(`SET allowed_directories = ${list(folders)}`);
  await connection.run('SET enable_external_access = false');
  await connection.run('SET lock_configuration = true');
}

/** The quoted texts of a query that are files, and the folders of those that are patterns. */
export async function namedFiles(query: string): Promise<Named> {
  const files = new Set<string>();
  const folders = new Set<string>();
  const matched = new Set<string>();
  for (const [, single, double] of query.matchAll(/'((?:[^']|'')*)'|"((?:[^"]|"")*)"/g)) {
    const path = (single?.replaceAll("''", "'") ?? double.replaceAll('""', '"')).trim();
    if (path === '') continue;
    if (await isFile(path)) files.add(resolve(path));
    else if (isPattern(path)) {
      const found = await filesOf(path).catch(() => []);
      if (found.length === 0) continue;
      for (const file of found) matched.add(resolve(file));
      const fixed = path.slice(0, path.search(/[*?[]/));
      folders.add(resolve(fixed.endsWith('/') ? fixed : dirname(`${fixed}x`)));
    }
  }
  return { files: [...files], folders: [...folders], matched: [...matched] };
}

async function requireSelect(duckdb: DuckDb, connection: Connection, query: string): Promise<void> {
  const statements = await connection.extractStatements(query);
  const only = statements.count === 1 ? await statements.prepare(0) : undefined;
  const isSelect = only?.statementType === duckdb.StatementType.SELECT;
  only?.destroySync();
  if (!isSelect) {
    throw new InputError(`sql: ${clip(query)}: expected one SELECT, which only reads; give nothing else`);
  }
}

interface DatabaseTable {
  readonly name: string;
  /** As SQL. */
  readonly written: string;
}

async function tablesOf(connection: Connection): Promise<DatabaseTable[]> {
  const reader = await connection.runAndReadAll(
    "SELECT table_schema, table_name FROM information_schema.tables WHERE table_catalog = 'data' ORDER BY ALL",
  );
  return (reader.getRowsJson() as string[][]).map(([schema, name]) => ({
    name: schema === 'main' ? name : `${schema}.${name}`,
    written: `data.${quotedName(schema)}.${quotedName(name)}`,
  }));
}

/** The table that is asked for, as SQL. */
async function tableOf(
  connection: Connection,
  { name, table: asked, onlyTable }: Extract<DuckDbSource, NamedFile>,
): Promise<string> {
  const tables = await tablesOf(connection);
  if (tables.length === 0) throw new InputError(`${name}: there is no table in it`);
  const names = tables.map((table) => table.name);
  const shownNames = firstShown(names, SHOWN_TABLES);
  if (asked === undefined && tables.length > 1) {
    throw onlyTable
      ? new InputError(
          `${name}: it has ${tables.length} tables, ${shownNames}; give a query instead, as in sql:SELECT * FROM 'items.parquet', or a file with one table`,
        )
      : optionError`${name}: it has ${tables.length} tables; name one with ${option('table')}: ${shownNames}`;
  }
  const [found, other] = asked === undefined ? tables : tables.filter((table) => table.name === asked);
  if (asked !== undefined && other) {
    const which = `${found.written} or ${other.written}`.replaceAll('data.', '');
    throw optionError`${option('table')} ${shown(asked)}: it may be ${which}; name one in a query with ${option('database')} ${name}, as in sql:SELECT * FROM ${other.written.replace('data.', '')}`;
  }
  if (!found)
    throw optionError`${option('table')} ${shown(asked ?? '')}: ${name} has no such table; it has ${shownNames}`;
  return found.written;
}

const SHOWN_TABLES = 30;
