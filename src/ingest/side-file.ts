// Small tables that go with the data, from files.

import { InputError } from '../errors.js';
import { type DuckDbSource, eachRow, isDuckDb } from './formats/duckdb.js';
import type { TextRow } from './formats/scan.js';
import { type SideTableOptions, sideRows, tableRows } from './side-table.js';
import { openSource } from './source.js';
import { type TextColumns, textColumns } from './text-columns.js';

export interface SideFileOptions extends SideTableOptions {
  /** The database that a query reads. */
  readonly database?: string | undefined;
}

/** The rows of a file or of `-`, also if it is gzipped; or of a DuckDB database, or of a query after `sql:`. */
export async function readSideTable(path: string, options?: SideFileOptions): Promise<TextRow[]> {
  return Array.from(await sideFileRows(path, options));
}

/** The columns of such a table. */
export async function readSideColumns(path: string, options?: SideFileOptions): Promise<TextColumns> {
  return textColumns(await sideFileRows(path, options));
}

async function sideFileRows(path: string, options: SideFileOptions = {}): Promise<Iterable<TextRow>> {
  if (/^sql:/i.test(path)) {
    return duckDbRows('sql:', { sql: path.slice(4), database: options.database }, options);
  }
  const source = await openSource(path, options.signal);
  try {
    if (isDuckDb(source.first)) {
      if (!source.plainFile) throw new InputError(`${path}: a database must be a plain file; unpack it`);
      return await duckDbRows(path, { name: path, path, onlyTable: true }, options);
    }
    return await sideRows(source, options);
  } finally {
    source.close();
  }
}

async function duckDbRows(name: string, source: DuckDbSource, options: SideFileOptions): Promise<TextRow[]> {
  const { rows, choose, take } = tableRows(name, options.pick);
  await eachRow(source, options, choose, take);
  return rows;
}
