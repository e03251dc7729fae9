// The optional package @duckdb/node-api: loaded when it is needed. If it is missing, an error asks for it.

import { InputError } from '../../errors.js';

/** The functions of the package that are used. It is optional, so its own types may be missing. */
export interface DuckDb {
  readonly DuckDBInstance: {
    create(path: string, settings: Readonly<Record<string, string>>): Promise<Instance>;
    /** The instance that this process has open; otherwise a new one, after the previous one has ended. */
    fromCache(path: string, settings: Readonly<Record<string, string>>): Promise<Instance>;
  };
  readonly StatementType: { readonly SELECT: number };
}
export interface Instance {
  connect(): Promise<Connection>;
  closeSync(): void;
}
export interface Connection {
  run(
    sql: string,
    values?: readonly unknown[],
  ): Promise<{ readonly rowsChanged: number; fetchChunk(): Promise<Chunk | null> }>;
  runAndReadAll(sql: string, values?: readonly unknown[]): Promise<{ getRowsJson(): unknown }>;
  prepare(sql: string): Promise<Prepared>;
  extractStatements(sql: string): Promise<{ readonly count: number; prepare(at: number): Promise<Prepared> }>;
  createAppender(table: string, schema?: string | null, catalog?: string | null): Promise<Appender>;
  interrupt(): void;
  closeSync(): void;
}
export interface Appender {
  appendVarchar(value: string): void;
  appendBigInt(value: bigint): void;
  appendDouble(value: number): void;
  appendNull(): void;
  endRow(): void;
  closeSync(): void;
}
interface Prepared {
  readonly statementType: number;
  readonly columnCount: number;
  columnName(at: number): string;
  destroySync(): void;
}
interface Chunk {
  readonly rowCount: number;
  getColumnValues(at: number): readonly unknown[];
}

/** Settings under which DuckDB fetches and loads nothing, and writes no temporary files. */
export const CLOSED_SETTINGS: Readonly<Record<string, string>> = {
  autoinstall_known_extensions: 'false',
  autoload_known_extensions: 'false',
  allow_community_extensions: 'false',
  allow_unsigned_extensions: 'false',
  temp_directory: '',
};

/** Another process has a database open, perhaps for a moment only. */
export class LockedError extends InputError {}

export function isLocked(cause: unknown): boolean {
  return /could not set lock|conflicting lock/i.test(String(cause));
}

/** The package. `need` begins the sentence if it is missing: 'sql: is read by DuckDB'. */
export async function loadDuckDb(need: string): Promise<DuckDb> {
  try {
    const module = '@duckdb/node-api'; // not a literal: a bundle must not look for it
    return (await import(module)) as DuckDb;
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    const missing = code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND';
    throw new InputError(
      missing
        ? `${need}, which is not installed here: npm install @duckdb/node-api`
        : `${need}, which does not start here (${message.split('\n')[0]}); install it again: npm install @duckdb/node-api`,
    );
  }
}

export function quotedText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

export function quotedName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
