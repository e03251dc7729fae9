// Events and items on their way into the tables of a store.

import type { Appender, Connection } from '../ingest/formats/duckdb-package.js';
import { type StoredEvent, type StoredItem, TakenIdError } from './stored.js';

/**
 * Tables in memory that rows go to first: DuckDB appends faster than it binds values. They are created for each transaction,
 * because a table in memory keeps the space of deleted rows, and every later query reads it.
 */
const INCOMING = {
  events: '"user" VARCHAR, item VARCHAR, time BIGINT, weight DOUBLE, id VARCHAR',
  ids: 'id VARCHAR',
  items: 'item VARCHAR, title VARCHAR, hidden BIGINT, attributes VARCHAR, time BIGINT',
};

/** Inserts events whose id is new. Returns whether all are. */
export async function insertEvents(writer: Connection, events: readonly StoredEvent[]): Promise<boolean> {
  const ids = new Set<string>();
  let withoutId = 0;
  await fill(writer, 'events', events, (row, { user, item, time, weight, id }) => {
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

/**
 * Inserts the events of several posts whose id is new. A post with an id of another user or item is left out as a whole.
 * Returns for each post the number of its events that were inserted, or why it was left out.
 */
export async function insertPosts(
  writer: Connection,
  posts: readonly (readonly StoredEvent[])[],
): Promise<(number | TakenIdError)[]> {
  const ids = new Set(posts.flat().flatMap(({ id }) => id ?? []));
  await fill(writer, 'ids', [...ids], (row, id) => {
    row.appendVarchar(id);
    row.endRow();
  });
  const found = await writer.runAndReadAll(
    'SELECT id, "user", item FROM events SEMI JOIN incoming_ids USING (id)',
  );
  const known = new Map(
    (found.getRowsJson() as string[][]).map(([id, user, item]) => [id, { user, item }] as const),
  );
  const added: StoredEvent[] = [];
  const results = posts.map((post) => {
    const own = new Map<string, StoredEvent>();
    const news: StoredEvent[] = [];
    for (const [at, event] of post.entries()) {
      const { id, user, item } = event;
      const before = id === undefined ? undefined : (known.get(id) ?? own.get(id));
      if (before && (before.user !== user || before.item !== item)) return new TakenIdError(id as string, at);
      if (before) continue;
      if (id !== undefined) own.set(id, event);
      news.push(event);
    }
    for (const [id, event] of own) known.set(id, event);
    added.push(...news);
    return news.length;
  });
  if (added.length > 0) await insertEvents(writer, added);
  return results;
}

/** Stores the given fields of the items; the other fields keep their values. */
export async function upsertItems(writer: Connection, items: readonly StoredItem[]): Promise<void> {
  const now = BigInt(Date.now());
  // If an item occurs several times, later rows come after earlier ones.
  const all = new Map<string, StoredItem>();
  for (const one of items) all.set(one.item, withFields(all.get(one.item), one));
  await fill(writer, 'items', [...all.values()], (row, { item, title, hidden, attributes }) => {
    row.appendVarchar(item);
    appendText(row, title);
    if (hidden === undefined) row.appendNull();
    else row.appendBigInt(hidden ? 1n : 0n);
    appendText(row, attributes);
    row.appendBigInt(now);
    row.endRow();
  });
  await writer.run(
    `INSERT INTO items (item, title, hidden, attributes, time)
     SELECT item, title, hidden = 1, attributes, make_timestamp(time * 1000) FROM incoming_items
     ON CONFLICT (item) DO UPDATE
     SET title = coalesce(excluded.title, title), hidden = coalesce(excluded.hidden, hidden),
       attributes = coalesce(excluded.attributes, attributes), time = excluded.time`,
  );
}

/** What is known of an item after another post about it. */
export function withFields(before: StoredItem | undefined, { item, ...fields }: StoredItem): StoredItem {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined);
  return { ...before, item, ...Object.fromEntries(given) };
}

async function fill<T>(
  writer: Connection,
  table: keyof typeof INCOMING,
  rows: readonly T[],
  append: (row: Appender, value: T) => void,
): Promise<void> {
  const incoming = `incoming_${table}`;
  await writer.run(`CREATE OR REPLACE TEMP TABLE ${incoming} (${INCOMING[table]})`);
  const appender = await writer.createAppender(incoming, 'main', 'temp');
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
