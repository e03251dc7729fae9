// The tables of a store: missing ones are created, and existing ones with the same columns are used.

import { InputError } from '../errors.js';
import type { Connection } from '../ingest/formats/duckdb-package.js';
import { grouped } from '../text/numbers.js';
import { list } from '../text/phrases.js';
import { shown } from '../text/untrusted.js';

const TABLES = {
  events: {
    user: 'VARCHAR',
    item: 'VARCHAR',
    time: 'TIMESTAMP',
    weight: 'DOUBLE',
    id: 'VARCHAR',
  },
  items: {
    item: 'VARCHAR',
    title: 'VARCHAR',
    hidden: 'BOOLEAN',
    attributes: 'VARCHAR',
    time: 'TIMESTAMP',
  },
  /** Erased users: what earlier models learned about them must not be used. */
  erased: {
    user: 'VARCHAR',
    time: 'TIMESTAMP',
  },
} as const;

type TableName = keyof typeof TABLES;

/** Makes missing tables and indexes, in the transaction of the caller. Returns whether the table of events is new. */
export async function prepareTables(connection: Connection, path: string): Promise<boolean> {
  let isNew = false;
  for (const name of Object.keys(TABLES) as TableName[]) {
    const found = await columnsOf(connection, name);
    if (found.length > 0) requireColumns(path, name, found);
    else {
      const columns = Object.entries(TABLES[name]).map(([column, type]) => `"${column}" ${type}`);
      await connection.run(`CREATE TABLE ${name} (${columns.join(', ')})`);
      isNew ||= name === 'events';
    }
  }
  return isNew;
}

/** A second post of an event is found by its id, and a user's history by the user. */
const INDEXES = [
  ['events', 'id', 'UNIQUE'],
  ['items', 'item', 'UNIQUE'],
  ['events', 'user', ''],
] as const;

/** Fewer rows are indexed within seconds. */
const MANY_ROWS = 100_000;

export async function prepareIndexes(
  connection: Connection,
  path: string,
  say: (text: string) => void = () => {},
): Promise<void> {
  for (const [table, column, unique] of INDEXES) {
    const name = `${table}_by_${column}`;
    const missing = await connection.runAndReadAll(
      `SELECT count(*) FROM ${table} WHERE '${name}' NOT IN (SELECT index_name FROM duckdb_indexes())`,
    );
    const rows = Number((missing.getRowsJson() as string[][])[0][0]);
    if (rows >= MANY_ROWS) {
      say(`${path}: makes an index of ${grouped(rows)} rows of the table ${table} by ${column}, once`);
    }
    const sql = `CREATE ${unique} INDEX IF NOT EXISTS ${name} ON ${table} ("${column}")`;
    await connection.run(sql).catch((cause) => {
      if (!/constraint|duplicate/i.test(String(cause))) throw cause;
      throw new InputError(
        `${path}: a value of the column ${column} of the table ${table} occurs twice; remove one of the two rows`,
      );
    });
  }
}

/** Reads the indexes. If one is damaged, the first query that needs it fails, and the second never ends. */
export async function tryIndexes(connection: Connection): Promise<void> {
  for (const [table, column] of INDEXES) {
    await connection.run(`SELECT "${column}" FROM ${table} WHERE "${column}" = ''`);
  }
}

type Column = readonly [name: string, type: string];

async function columnsOf(connection: Connection, table: TableName): Promise<Column[]> {
  const reader = await connection.runAndReadAll(
    `SELECT column_name, data_type FROM information_schema.columns
     WHERE table_catalog = current_database() AND table_schema = 'main' AND table_name = '${table}'
     ORDER BY ordinal_position`,
  );
  return reader.getRowsJson() as [string, string][];
}

function requireColumns(path: string, table: TableName, found: readonly Column[]): void {
  const expected = Object.entries(TABLES[table]);
  const same =
    found.length === expected.length &&
    expected.every(([name, type]) => found.some((one) => one[0] === name && one[1] === type));
  if (same) return;
  const words = (columns: readonly Column[]) => list(columns.map(([name, type]) => `${shown(name)} ${type}`));
  throw new InputError(
    `${path}: its table ${table} has the columns ${words(found)}; a store needs ${words(expected)}; rename the table, or choose another file`,
  );
}
