// DuckDB as the other program: it writes Parquet files of every kind, and reads what graphex wrote.

import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';

/** Runs `work` on a database in memory that sees the time in UTC, and closes it. */
export async function withDuckDB<T>(
  threads: number,
  work: (connection: DuckDBConnection) => Promise<T>,
): Promise<T> {
  const instance = await DuckDBInstance.create(':memory:', { threads: String(threads) });
  const connection = await instance.connect();
  try {
    await connection.run("SET TimeZone = 'UTC'");
    return await work(connection);
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}

/** The text as an SQL literal. */
export function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
