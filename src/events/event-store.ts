// The store: events and items in a DuckDB database. An event that was acknowledged is on the disk. After an error the
// database is opened again before the next use, so that nothing is built on a state that may be broken.

import { realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { InputError } from '../errors.js';
import { MAX_COUNT } from '../graph/build.js';
import { type Connection, quotedText } from '../ingest/formats/duckdb-package.js';
import { shown } from '../text/untrusted.js';
import {
  closeQuietly,
  type Database,
  type FirstOpening,
  inWords,
  openDatabase,
  type Seed,
} from './database.js';
import { createGroupCommit } from './group-commit.js';
import { insertEvents, insertPosts, upsertItems } from './insert.js';
import {
  type HistoryEntry,
  type PopularEntry,
  type StoredEvent,
  type StoredItem,
  StoreError,
  type TakenIdError,
} from './stored.js';

export type EventStore = Awaited<ReturnType<typeof openEventStore>>;

export interface PopularOptions {
  readonly n: number;
  /** Milliseconds since 1970; events after it have age 0. */
  readonly now: number;
  /** Milliseconds; older events do not count. */
  readonly window: number | undefined;
  /** Milliseconds after which an event counts half. */
  readonly halfLife: number;
}

/** Milliseconds that events wait for others of their group, and the size of a group that waits no longer. */
const GROUP = { wait: 20, enough: 10_000 };
/** Milliseconds between two attempts to open the database again. */
const REOPEN_EVERY = 1000;
/** Milliseconds between two interruptions of the queries of a broken database: a query between two statements misses one. */
const INTERRUPT_EVERY = 100;
/** Distinct items of a history. */
const LONGEST_HISTORY = 10_000;
/** Other tools may write weights that are no finite numbers. */
const SUM_OF_WEIGHTS = 'sum(weight) FILTER (isfinite(weight))';
/** More users than this are looked for in one pass. */
const SCANNED_USERS = 32;

/** The connections that read, each for what it is there for. */
type Reading = 'reader' | 'exporter' | 'counter';
type Attempt = Reading | 'writer' | 'open';

/** Paths of the stores that this process has open: DuckDB keeps out only other processes. */
const inUse = new Set<string>();

/** `seed`: events to begin with if the table of events is made now. `say` is called before what may take minutes. */
export async function openEventStore(given: string, seed?: Seed, say: FirstOpening['say'] = () => {}) {
  // The log has the name of the database and lies next to it, so a link would get a log of its own.
  const path = await realpath(given).catch(() => resolve(given));
  if (inUse.has(path))
    throw new InputError(`${given}: this process has the store open already; close it first`);
  inUse.add(path);
  let opened: Database | undefined = await openDatabase(path, { seed, say }).catch((error) => {
    inUse.delete(path);
    throw error;
  });
  /** What went wrong last, by what was tried; the newest comes last. A success of the same kind removes it. */
  const failures = new Map<Attempt, string>();
  const failure = () => [...failures.values()].at(-1);
  let triedAt = -Infinity;
  /** Resolves when a database that failed is closed. */
  let ending: Promise<void> | undefined;
  let reopening: Promise<Database> | undefined;
  let closed = false;

  async function database(): Promise<Database> {
    if (opened) return opened;
    if (closed) throw new StoreError('the store is closed');
    if (reopening) return reopening;
    if (ending || performance.now() - triedAt < REOPEN_EVERY) {
      throw new StoreError(failure() ?? 'the store is closed');
    }
    triedAt = performance.now();
    reopening = openDatabase(path)
      .then(
        (at) => {
          failures.delete('open');
          opened = at;
          return at;
        },
        (cause) => {
          throw failed('open', cause);
        },
      )
      .finally(() => {
        reopening = undefined;
      });
    return reopening;
  }

  function failed(attempt: Attempt, cause: unknown): StoreError {
    // An InputError says it in words already.
    const isWords = cause instanceof StoreError || cause instanceof InputError;
    const words = isWords ? cause.message : inWords(path, cause);
    failures.delete(attempt);
    failures.set(attempt, words);
    return new StoreError(words);
  }

  /**
   * Closes a database that may be broken. It must be closed before another is opened: otherwise it removes the log of
   * the new one. Its queries are interrupted first, because a connection must not be closed during a query.
   */
  function leave(at: Database): void {
    if (opened !== at) return;
    opened = undefined;
    const end = async () => {
      while (at.running.size > 0) {
        for (const connection of at.running.values()) connection.interrupt();
        await Promise.race([Promise.allSettled(at.running.keys()), delay(INTERRUPT_EVERY)]);
      }
      closeQuietly(at.parts);
    };
    ending = end().then(() => {
      ending = undefined;
    });
  }

  /** Runs a query, which must not hold up the others, so it has its connection. */
  async function query<R>(by: Reading, work: (connection: Connection) => Promise<R>): Promise<R> {
    const at = await database();
    const done = work(at[by]).finally(() => at.running.delete(done));
    at.running.set(done, at[by]);
    try {
      const result = await done;
      failures.delete(by);
      return result;
    } catch (cause) {
      // Queries of a database that was left were interrupted; what failed before them is known.
      throw opened === at ? failed(by, cause) : new StoreError(inWords(path, cause));
    }
  }

  /** Commits all of the work or nothing. After an error the next use opens the database again. */
  const transaction = async <R>(work: (writer: Connection) => Promise<R>): Promise<R> => {
    const at = await database();
    try {
      await at.writer.run('BEGIN');
      const result = await work(at.writer);
      await at.writer.run('COMMIT');
      failures.delete('writer');
      return result;
    } catch (cause) {
      leave(at);
      throw failed('writer', cause);
    }
  };
  const read = async (sql: string, values: readonly unknown[] = [], by: Reading = 'reader') =>
    query(by, async (connection) => {
      const result = await connection.runAndReadAll(sql, values);
      return result.getRowsJson() as unknown[][];
    });

  const commits = createGroupCommit<StoredEvent, number | TakenIdError>(
    (posts) =>
      transaction(async (writer) => {
        if (await insertEvents(writer, posts.flat())) return posts.map(({ length }) => length);
        // Looking for known ids reads all ids of the store, so only posts that have some pay for it.
        await writer.run('ROLLBACK');
        await writer.run('BEGIN');
        return insertPosts(writer, posts);
      }),
    GROUP,
  );
  return {
    /** The file, without links on the way. */
    path,
    /**
     * Resolves when the events are on the disk, to the number of new ones: an event whose id is known is not stored again.
     * Throws a StoreError, or a TakenIdError if an id is known with another user or item.
     */
    async add(events: readonly StoredEvent[]): Promise<number> {
      const result = await commits.add(events);
      if (typeof result === 'number') return result;
      throw result;
    },
    putItems: (items: readonly StoredItem[]) =>
      commits.exclusive(() => transaction((writer) => upsertItems(writer, items))),
    /** Removes all events of a user and notes the user as erased; returns the number of events. */
    erase: (user: string) =>
      commits.exclusive(() =>
        transaction(async (writer) => {
          const gone = await writer.runAndReadAll('DELETE FROM events WHERE "user" = $1 RETURNING 1', [user]);
          await writer.run('DELETE FROM erased WHERE "user" = $1', [user]);
          await writer.run(`INSERT INTO erased ("user", time) VALUES ($1, ${timestamp(Date.now())})`, [user]);
          return (gone.getRowsJson() as unknown[]).length;
        }),
      ),
    /** Users who were erased, perhaps by a server before this one. */
    async erased() {
      return (await read('SELECT DISTINCT "user" FROM erased WHERE "user" IS NOT NULL')).map(([user]) =>
        String(user),
      );
    },
    /** The newest events of a user, newest first. */
    async eventsOf(user: string, n: number): Promise<StoredEvent[]> {
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
    /** The items of each user, with the weights of their events added up. */
    async historiesOf(users: readonly string[]) {
      const histories = new Map(users.map((user) => [user, new Map<string, HistoryEntry>()]));
      const ask = async (condition: string, values: readonly string[]) => {
        const rows = await read(
          `SELECT "user", item, ${SUM_OF_WEIGHTS}, epoch_ms(max(time)) FROM events WHERE ${condition} AND item IS NOT NULL
           GROUP BY "user", item
           QUALIFY row_number() OVER (PARTITION BY "user" ORDER BY max(time) DESC) <= ${LONGEST_HISTORY}`,
          values,
        );
        for (const [user, item, weight, time] of rows) {
          histories.get(String(user))?.set(String(item), { weight: Number(weight), time: Number(time) });
        }
      };
      // The index finds one user. For many, one pass over all events takes less time.
      if (users.length > SCANNED_USERS) await ask(`"user" IN (${users.map((_, u) => `$${u + 1}`)})`, users);
      else for (const user of users) await ask('"user" = $1', [user]);
      return users.map((user) => histories.get(user) as Map<string, HistoryEntry>);
    },
    async items(): Promise<StoredItem[]> {
      const items: StoredItem[] = [];
      let wrong: StoredItem | undefined;
      await query('exporter', async (connection) => {
        const result = await connection.run(
          'SELECT item, title, coalesce(hidden, false), attributes FROM items WHERE item IS NOT NULL',
        );
        // Between chunks other requests have their turns; converting all rows in one step took seconds.
        for (;;) {
          const chunk = await result.fetchChunk();
          if (!chunk || chunk.rowCount === 0) return;
          const [ids, titles, hidden, attributes] = [0, 1, 2, 3].map((c) => chunk.getColumnValues(c));
          for (let r = 0; r < chunk.rowCount; r++) {
            const one = {
              item: String(ids[r]),
              ...(titles[r] !== null && { title: String(titles[r]) }),
              hidden: hidden[r] === true,
              ...(attributes[r] !== null && { attributes: String(attributes[r]) }),
            };
            items.push(one);
            // Other tools may have written it.
            if (one.attributes !== undefined && !isJsonObject(one.attributes)) wrong ??= one;
          }
        }
      });
      if (!wrong) return items;
      throw new StoreError(
        `${path}: the attributes of ${shown(wrong.item)} in the table items are ${shown(wrong.attributes ?? '')}; write a JSON object such as {"year": 1990}, or NULL`,
      );
    },
    /** A user counts once for an item, by the event that counts most now: otherwise one event could lead the list for months. */
    async popular({ n, now, window, halfLife }: PopularOptions): Promise<PopularEntry[]> {
      const within = window === undefined ? '' : `AND time >= ${timestamp(now - window)}`;
      const age = `greatest(0, ${Math.round(now)} - epoch_ms(time))`;
      const rows = await read(
        `WITH taken AS (
           SELECT item, max(least(1, weight) * power(2, -${age} / ${halfLife})) AS score FROM events
           WHERE "user" IS NOT NULL AND item IS NOT NULL AND isfinite(time) AND isfinite(weight) ${within}
           GROUP BY item, "user")
         SELECT item, sum(score), count(*) FROM taken GROUP BY item ORDER BY 2 DESC, item LIMIT ${n}`,
        [],
        'counter',
      );
      return rows.map(([item, score, users]) => ({
        item: String(item),
        score: Number(score),
        users: Number(users),
      }));
    },
    /**
     * Writes all pairs of user and item to a Parquet file, each with its weight and the time of its last event; returns their
     * number.
     */
    async exportTo(file: string, since: number | undefined): Promise<number> {
      const { rowsChanged } = await query('exporter', (connection) =>
        connection.run(
          `COPY (SELECT "user", item, least(greatest(1, round(${SUM_OF_WEIGHTS})), ${MAX_COUNT})::BIGINT AS weight,
               max(epoch_ms(time)) AS time
             FROM events WHERE "user" IS NOT NULL AND item IS NOT NULL
             ${since === undefined ? '' : `AND time >= ${timestamp(since)}`}
             GROUP BY "user", item) TO ${quotedText(resolve(file))} (FORMAT parquet, COMPRESSION zstd)`,
        ),
      );
      return rowsChanged;
    },
    /** The number of events, of all users or of one. */
    async count(user?: string): Promise<number> {
      const [[count]] =
        user === undefined
          ? await read('SELECT count(*) FROM events')
          : await read('SELECT count(*) FROM events WHERE "user" = $1', [user]);
      return Number(count);
    },
    /** Events that are not on the disk yet. */
    get waiting() {
      return commits.waiting;
    },
    /** Why something failed that has not succeeded since; undefined: nothing did. */
    get failure() {
      return failure();
    },
    async close(): Promise<void> {
      await commits.drain();
      closed = true;
      await ending;
      await reopening?.catch(() => {});
      if (opened) {
        await Promise.allSettled(opened.running.keys());
        // What fails here is replayed when the database is opened again.
        await opened.writer.run('CHECKPOINT').catch(() => {});
        closeQuietly(opened.parts);
      }
      opened = undefined;
      inUse.delete(path);
    },
  };
}

function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

const timestamp = (milliseconds: number): string => `make_timestamp(${Math.round(milliseconds) * 1000})`;
