// The store: events and items in a DuckDB database. An event that was acknowledged is on the disk. After an error the
// database is opened again before the next use, so that nothing is built on a state that may be broken.

import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { InputError } from '../errors.js';
import {
  type Appender,
  CLOSED_SETTINGS,
  type Connection,
  type Instance,
  loadDuckDb,
  quotedText,
} from '../ingest/formats/duckdb-package.js';
import { createGroupCommit } from './group-commit.js';
import { type PopularEntry, type StoredEvent, type StoredItem, StoreError } from './stored.js';
import { prepareIndexes, prepareTables } from './tables.js';

export interface EventStore {
  /** Resolves when the events are on the disk. Events whose id is known are left out. Throws a StoreError. */
  add(events: readonly StoredEvent[]): Promise<void>;
  putItems(items: readonly StoredItem[]): Promise<void>;
  /** Removes all events of a user; returns their number. */
  erase(user: string): Promise<number>;
  /** The newest events of a user, newest first. */
  eventsOf(user: string, n: number): Promise<StoredEvent[]>;
  /** The items of each user, with the weights of their events added up. */
  historiesOf(users: readonly string[]): Promise<Map<string, number>[]>;
  items(): Promise<StoredItem[]>;
  popular(options: PopularOptions): Promise<PopularEntry[]>;
  /** Writes all pairs of user and item to a Parquet file, each with its weight and the time of its last event. */
  exportTo(file: string, since: number | undefined): Promise<void>;
  count(): Promise<number>;
  /** Events that are not on the disk yet. */
  readonly waiting: number;
  /** Why the last write failed; undefined: it did not. */
  readonly failure: string | undefined;
  close(): Promise<void>;
}

export interface PopularOptions {
  readonly n: number;
  /** Milliseconds since 1970; events after it have age 0. */
  readonly now: number;
  /** Milliseconds; older events do not count. */
  readonly window: number | undefined;
  /** Milliseconds after which an event counts half. */
  readonly halfLife: number;
}

export interface StoreOptions {
  /** Events to begin with if the table of events is made now. */
  readonly seed?: (() => AsyncIterable<readonly StoredEvent[]>) | undefined;
}

/** Milliseconds that events wait for others of their group, and the size of a group that waits no longer. */
const GROUP = { wait: 20, enough: 10_000 };
/** Milliseconds between two attempts to open the database again. */
const REOPEN_EVERY = 1000;
/** Distinct items of a history. */
const LONGEST_HISTORY = 10_000;
/** More users than this are looked for in one pass. */
const SCANNED_USERS = 32;

interface Opened {
  readonly instance: Instance;
  readonly writer: Connection;
  readonly reader: Connection;
}

export async function openEventStore(path: string, options: StoreOptions = {}): Promise<EventStore> {
  let opened: Opened | undefined = await open(path, options.seed);
  let failure: string | undefined;
  let triedAt = -Infinity;
  let exporting: Connection | undefined;
  let closed = false;

  async function database(): Promise<Opened> {
    if (opened) return opened;
    if (closed) throw new StoreError('the store is closed');
    if (performance.now() - triedAt < REOPEN_EVERY) throw new StoreError(failure ?? 'the store is closed');
    triedAt = performance.now();
    try {
      opened = await open(path, undefined);
    } catch (cause) {
      throw failed(cause);
    }
    return opened;
  }

  function failed(cause: unknown): StoreError {
    const error = cause instanceof StoreError ? cause : new StoreError(inWords(path, cause));
    failure = error.message;
    return error;
  }

  /** All of it or nothing. After an error the next use opens the database again. */
  const transaction = async <R>(work: (writer: Connection) => Promise<R>): Promise<R> => {
    const at = await database();
    try {
      await at.writer.run('BEGIN');
      const result = await work(at.writer);
      await at.writer.run('COMMIT');
      failure = undefined;
      return result;
    } catch (cause) {
      if (opened === at) opened = undefined;
      exporting?.interrupt();
      at.reader.interrupt();
      closeQuietly(at);
      throw failed(cause);
    }
  };
  const read = async (sql: string, values: readonly unknown[] = []): Promise<unknown[][]> => {
    const { reader } = await database();
    try {
      return (await reader.runAndReadAll(sql, values)).getRowsJson() as unknown[][];
    } catch (cause) {
      throw new StoreError(inWords(path, cause));
    }
  };

  const commits = createGroupCommit<StoredEvent>((events) => transaction((w) => insert(w, events)), GROUP);
  return {
    add: (events) => commits.add(events),
    putItems: (items) => commits.exclusive(() => transaction((writer) => upsert(writer, items))),
    erase: (user) =>
      commits.exclusive(() =>
        transaction(async (writer) => {
          const gone = await writer.runAndReadAll('DELETE FROM events WHERE "user" = $1 RETURNING 1', [user]);
          return (gone.getRowsJson() as unknown[]).length;
        }),
      ),
    async eventsOf(user, n) {
      const rows = await read(
        `SELECT item, epoch_ms(time), weight, id FROM events WHERE "user" = $1 ORDER BY time DESC LIMIT ${n}`,
        [user],
      );
      return rows.map(([item, time, weight, id]) => ({
        user,
        item: String(item),
        time: Number(time),
        weight: Number(weight),
        ...(id !== null && { id: String(id) }),
      }));
    },
    async historiesOf(users) {
      const histories = new Map(users.map((user) => [user, new Map<string, number>()]));
      const ask = async (condition: string, values: readonly string[]) => {
        const rows = await read(
          `SELECT "user", item, sum(weight) FROM events WHERE ${condition} AND item IS NOT NULL
           GROUP BY "user", item
           QUALIFY row_number() OVER (PARTITION BY "user" ORDER BY max(time) DESC) <= ${LONGEST_HISTORY}`,
          values,
        );
        for (const [user, item, weight] of rows) {
          histories.get(String(user))?.set(String(item), Number(weight));
        }
      };
      // The index finds one user. For many, one pass over all events takes less time.
      if (users.length > SCANNED_USERS) await ask(`"user" IN (${users.map((_, u) => `$${u + 1}`)})`, users);
      else for (const user of users) await ask('"user" = $1', [user]);
      return users.map((user) => histories.get(user) as Map<string, number>);
    },
    async items() {
      const rows = await read(
        'SELECT item, title, coalesce(hidden, false), attributes FROM items WHERE item IS NOT NULL',
      );
      return rows.map(([item, title, hidden, attributes]) => ({
        item: String(item),
        ...(title !== null && { title: String(title) }),
        hidden: hidden === true,
        ...(attributes !== null && { attributes: String(attributes) }),
      }));
    },
    async popular({ n, now, window, halfLife }) {
      const within = window === undefined ? '' : `AND time >= ${timestamp(now - window)}`;
      const rows = await read(
        `WITH best AS (
           SELECT item, sum(weight * power(2, -greatest(0, ${Math.round(now)} - epoch_ms(time)) / ${halfLife})) AS score
           FROM events WHERE item IS NOT NULL ${within}
           GROUP BY item ORDER BY score DESC, item LIMIT ${n})
         SELECT item, any_value(score), count(DISTINCT "user") FROM events JOIN best USING (item)
         WHERE TRUE ${within} GROUP BY item ORDER BY 2 DESC, item`,
      );
      return rows.map(([item, score, users]) => ({
        item: String(item),
        score: Number(score),
        users: Number(users),
      }));
    },
    async exportTo(file, since) {
      const { instance } = await database();
      // A connection of its own: histories are read meanwhile.
      const connection = await instance.connect();
      exporting = connection;
      try {
        await connection.run(
          `COPY (SELECT "user", item, greatest(1, round(sum(weight)))::BIGINT AS weight, max(epoch_ms(time)) AS time
             FROM events WHERE "user" IS NOT NULL AND item IS NOT NULL
             ${since === undefined ? '' : `AND time >= ${timestamp(since)}`}
             GROUP BY "user", item) TO ${quotedText(resolve(file))} (FORMAT parquet, COMPRESSION zstd)`,
        );
      } catch (cause) {
        throw new StoreError(inWords(path, cause));
      } finally {
        exporting = undefined;
        connection.closeSync();
      }
    },
    async count() {
      return Number((await read('SELECT count(*) FROM events'))[0][0]);
    },
    get waiting() {
      return commits.waiting;
    },
    get failure() {
      return failure;
    },
    async close() {
      await commits.drain();
      closed = true;
      if (opened) {
        // What fails here is replayed when the database is opened again.
        await opened.writer.run('CHECKPOINT').catch(() => {});
        closeQuietly(opened);
      }
      opened = undefined;
    },
  };
}

async function open(path: string, seed: StoreOptions['seed']): Promise<Opened> {
  const found = await stat(path).catch(() => undefined);
  if (found && !found.isFile()) throw new InputError(`${path}: a store must be a plain file`);
  const duckdb = await loadDuckDb(`${path} is kept by DuckDB`);
  let instance: Instance | undefined;
  try {
    // From the cache: a broken instance that a query still uses must not be alive beside a new one, because it would
    // remove the log of the new one when it ends.
    instance = await duckdb.DuckDBInstance.fromCache(resolve(path), {
      ...CLOSED_SETTINGS,
      // Recommendations need the cores.
      threads: '1',
      memory_limit: '1GiB',
    });
    const writer = await instance.connect();
    await writer.run("SET TimeZone = 'UTC'");
    await writer.run('BEGIN');
    await writer.run(
      'CREATE TEMP TABLE incoming_events ("user" VARCHAR, item VARCHAR, time BIGINT, weight DOUBLE, id VARCHAR)',
    );
    await writer.run(
      'CREATE TEMP TABLE incoming_items (item VARCHAR, title VARCHAR, hidden BIGINT, attributes VARCHAR, time BIGINT)',
    );
    const isNew = await prepareTables(writer, path);
    // Before the indexes are made: so it takes half the time.
    if (isNew && seed) for await (const events of seed()) await insert(writer, events);
    await prepareIndexes(writer, path);
    await writer.run('COMMIT');
    return { instance, writer, reader: await instance.connect() };
  } catch (cause) {
    instance?.closeSync();
    if (cause instanceof InputError) throw cause;
    throw new InputError(inWords(path, cause));
  }
}

function closeQuietly({ instance, writer, reader }: Opened): void {
  for (const part of [writer, reader, instance]) {
    try {
      part.closeSync();
    } catch {
      // A broken database need not close well.
    }
  }
}

/** Rows go to a table in memory first: DuckDB appends faster than it binds values. */
async function insert(writer: Connection, events: readonly StoredEvent[]): Promise<void> {
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
  // DuckDB holds missing ids to be equal when it looks for conflicts.
  if (withoutId > 0) await writer.run(`${copy} WHERE id IS NULL`);
  if (ids.size > 0) await writer.run(`${copy} WHERE id IS NOT NULL ON CONFLICT DO NOTHING`);
}

async function upsert(writer: Connection, items: readonly StoredItem[]): Promise<void> {
  const now = BigInt(Date.now());
  // The last one of an item counts.
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

const timestamp = (milliseconds: number): string => `make_timestamp(${Math.round(milliseconds) * 1000})`;

/** What DuckDB says, in a sentence with a remedy. */
function inWords(path: string, cause: unknown): string {
  const [said] = String((cause as Error).message ?? cause).split('\n');
  if (/no space left|disk quota|file too large|could not write|failed to write/i.test(said)) {
    return `${path}: the disk is full or cannot be written; free some space (${said})`;
  }
  if (/lock/i.test(said)) {
    return `${path}: another process has this store open; stop that one first, or choose another file (${said})`;
  }
  if (/not a valid DuckDB|serialization|corrupt|checksum|wal file/i.test(said)) {
    return `${path}: this file is damaged, or is no DuckDB database; restore a copy, or choose another file (${said})`;
  }
  return `${path}: DuckDB refuses it (${said})`;
}
