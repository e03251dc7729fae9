// Parquet writing through DuckDB: columns of numbers, and columns of ids given by their codes.

import { DOUBLE, type DuckDBConnection, DuckDBDataChunk, UINTEGER, VARCHAR } from '@duckdb/node-api';
import type { VertexIds } from '../graph/ids.js';
import { literal, quoted, withDuckDB } from '../ingest/parquet.js';

const CHUNK_ROWS = 2048;

/** Either whole numbers below 2^32, or ids by the vertex of each row. */
export type OutputColumn =
  | { readonly name: string; readonly numbers: ArrayLike<number> }
  | { readonly name: string; readonly ids: VertexIds; readonly vertices: ArrayLike<number> };

/** Writes the columns, in row order, as one Parquet file. */
export async function writeParquet(
  path: string,
  rows: number,
  columns: readonly OutputColumn[],
): Promise<void> {
  await withDuckDB(undefined, async (connection) => {
    const names = columns.map((_, c) => `c${c}`);
    await connection.run(
      `CREATE TABLE rows (${names.map((n, c) => `${n} ${typeOf(columns[c])}`).join(', ')})`,
    );
    await append(connection, 'rows', rows, columns.map(storage));
    let from = 'rows';
    const selected: string[] = [];
    for (const [c, column] of columns.entries()) {
      const name = quoted(column.name);
      if (!('ids' in column)) selected.push(`rows.c${c} AS ${name}`);
      else if (column.ids.kind === 'integer') selected.push(`CAST(rows.c${c} AS BIGINT) AS ${name}`);
      else {
        // Each distinct text crosses to the database once.
        await connection.run(`CREATE TABLE ids${c} (code UINTEGER, id VARCHAR)`);
        const texts = column.ids.values as readonly string[];
        const codes = { type: UINTEGER, at: (i: number) => i };
        await append(connection, `ids${c}`, texts.length, [
          codes,
          { type: VARCHAR, at: (i: number) => texts[i] },
        ]);
        from += ` JOIN ids${c} ON ids${c}.code = rows.c${c}`;
        selected.push(`ids${c}.id AS ${name}`);
      }
    }
    const order = from === 'rows' ? '' : ' ORDER BY rows.rowid';
    await connection.run(
      `COPY (SELECT ${selected.join(', ')} FROM ${from}${order}) TO ${literal(path)} (FORMAT parquet, COMPRESSION zstd, USE_TMP_FILE false)`,
    );
  });
}

interface Stored {
  readonly type: typeof DOUBLE | typeof UINTEGER | typeof VARCHAR;
  at(row: number): number | string;
}

function typeOf(column: OutputColumn): string {
  return 'ids' in column && column.ids.kind === 'integer' ? 'DOUBLE' : 'UINTEGER';
}

function storage(column: OutputColumn): Stored {
  if (!('ids' in column)) return { type: UINTEGER, at: (row) => column.numbers[row] };
  if (column.ids.kind === 'text') return { type: UINTEGER, at: (row) => column.vertices[row] };
  const values = column.ids.values as Float64Array;
  return { type: DOUBLE, at: (row) => values[column.vertices[row]] };
}

async function append(
  connection: DuckDBConnection,
  table: string,
  rows: number,
  columns: readonly Stored[],
): Promise<void> {
  const appender = await connection.createAppender(table);
  for (let start = 0; start < rows; start += CHUNK_ROWS) {
    const n = Math.min(CHUNK_ROWS, rows - start);
    const chunk = DuckDBDataChunk.create(
      columns.map((column) => column.type),
      n,
    );
    for (const [c, column] of columns.entries()) {
      const vector = chunk.getColumnVector(c);
      for (let i = 0; i < n; i++) vector.setItem(i, column.at(start + i));
      vector.flush();
    }
    appender.appendDataChunk(chunk);
  }
  appender.closeSync();
}
