// Events and items on their way into the tables of a store.

import type { Appender, Connection } from '../ingest/formats/duckdb-package.js';
import type { StoredEvent, StoredItem } from './stored.js';

/** Tables in memory that rows go to first: DuckDB appends faster than it binds values. */
export async function makeIncoming(writer: Connection): Promise<void> {
  await writer.run(
    'CREATE TEMP TABLE incoming_events ("user" VARCHAR, item VARCHAR, time BIGINT, weight DOUBLE, id VARCHAR)',
  );
  await writer.run(
    'CREATE TEMP TABLE incoming_items (item VARCHAR, title VARCHAR, hidden BIGINT, attributes VARCHAR, time BIGINT)',
  );
}

/** Inserts events whose id is new. Returns whether all are. */
export async function insertEvents(writer: Connection, events: readonly StoredEvent[]): Promise<boolean> {
  const ids = new Set<string>();
  let withoutId = 0;
  await fill(writer, 'incoming_events', events, (row, { user, item, time, weight, id }) => {
    if (id === undefined) withoutId++;
    else if (ids.has(id)) return;
    else ids.add(id);
    row.appendVarchar(user);
    row.appendVarchar(item);
    row.appendBigInt(BigInt(Math.round(time)));
    row.appendDouble(weight);
    appendText(row, id);
    row.endRow();
  });
  const copy = `INSERT INTO events ("user", item, time, weight, id)
    SELECT "user", item, make_timestamp(time * 1000), weight, id FROM incoming_events`;
  // DuckDB treats missing ids as equal when it looks for conflicts.
  if (withoutId > 0) await writer.run(`${copy} WHERE id IS NULL`);
  if (ids.size === 0) return true;
  const { rowsChanged } = await writer.run(`${copy} WHERE id IS NOT NULL ON CONFLICT DO NOTHING`);
  return rowsChanged === events.length - withoutId;
}

/** Replaces what is known of the items. */
export async function upsertItems(writer: Connection, items: readonly StoredItem[]): Promise<void> {
  const now = BigInt(Date.now());
  // If an item occurs several times, its last row counts.
  const last = new Map(items.map((one) => [one.item, one]));
  await fill(writer, 'incoming_items', [...last.values()], (row, { item, title, hidden, attributes }) => {
    row.appendVarchar(item);
    appendText(row, title);
    row.appendBigInt(hidden ? 1n : 0n);
    appendText(row, attributes);
    row.appendBigInt(now);
    row.endRow();
  });
  await writer.run(
    `INSERT INTO items (item, title, hidden, attributes, time)
     SELECT item, title, hidden = 1, attributes, make_timestamp(time * 1000) FROM incoming_items
     ON CONFLICT (item) DO UPDATE
     SET title = excluded.title, hidden = excluded.hidden, attributes = excluded.attributes, time = excluded.time`,
  );
}

async function fill<T>(
  writer: Connection,
  table: string,
  rows: readonly T[],
  append: (row: Appender, value: T) => void,
): Promise<void> {
  await writer.run(`DELETE FROM ${table}`);
  const appender = await writer.createAppender(table, 'main', 'temp');
  try {
    for (const row of rows) append(appender, row);
  } finally {
    appender.closeSync();
  }
}

function appendText(row: Appender, text: string | undefined): void {
  if (text === undefined) row.appendNull();
  else row.appendVarchar(text);
}
