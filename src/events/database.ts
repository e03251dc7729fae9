// The DuckDB database of a store: how it is opened and closed, and what its errors mean.

import { stat } from 'node:fs/promises';
import { totalmem } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { InputError } from '../errors.js';
import {
  CLOSED_SETTINGS,
  type Connection,
  type DuckDb,
  type Instance,
  isLocked,
  loadDuckDb,
} from '../ingest/formats/duckdb-package.js';
import { insertEvents } from './insert.js';
import { prepareIndexes, prepareTables, tryIndexes } from './store-tables.js';
import type { StoredEvent } from './stored.js';

/** Makes the events that a new store begins with. */
export type Seed = () => AsyncIterable<readonly StoredEvent[]>;

/** What a store needs when it is opened for the first time. */
export interface FirstOpening {
  readonly seed: Seed | undefined;
  /** Called before what may take minutes. */
  readonly say: (text: string) => void;
}

export type Database = Awaited<ReturnType<typeof openDatabase>>;

export async function openDatabase(path: string, first?: FirstOpening) {
  const found = await stat(path).catch(() => undefined);
  if (found && !found.isFile()) throw new InputError(`${path}: a store must be a plain file`);
  const duckdb = await loadDuckDb(`${path} is kept by DuckDB`);
  /** The connections and the database, in the order in which they close. */
  const parts: Closable[] = [];
  try {
    const instance = await openInstance(duckdb, path, first ? LOCK_WAIT : 0);
    parts.push(instance);
    const connect = async () => {
      const connection = await instance.connect();
      parts.unshift(connection);
      return connection;
    };
    const writer = await connect();
    await writer.run("SET TimeZone = 'UTC'");
    await writer.run('BEGIN');
    const isNew = await prepareTables(writer, path);
    // Inserting before the indexes are made takes half the time.
    if (isNew && first?.seed) for await (const events of first.seed()) await insertEvents(writer, events);
    await prepareIndexes(writer, path, first?.say);
    await writer.run('COMMIT');
    await tryIndexes(writer);
    return {
      writer,
      reader: await connect(),
      /** For passes over all events: they take long, and the reader must stay free for histories. */
      exporter: await connect(),
      counter: await connect(),
      parts,
      /** The running queries, each with its connection. */
      running: new Map<Promise<unknown>, Connection>(),
    };
  } catch (cause) {
    closeQuietly(parts);
    if (cause instanceof InputError) throw cause;
    throw new InputError(inWords(path, cause));
  }
}

/** Milliseconds that a start waits for the lock: a process that was killed may hold it for a moment. */
const LOCK_WAIT = 5000;
const LOCK_RETRY = 100;

async function openInstance({ DuckDBInstance }: DuckDb, path: string, wait: number): Promise<Instance> {
  const began = performance.now();
  for (;;) {
    try {
      // The cache waits until an earlier instance of this process has ended.
      return await DuckDBInstance.fromCache(path, {
        ...CLOSED_SETTINGS,
        // Recommendations need the cores.
        threads: '1',
        memory_limit: `${memoryLimit()}MiB`,
      });
    } catch (cause) {
      if (!isLocked(cause) || performance.now() - began > wait) throw cause;
      await delay(LOCK_RETRY);
    }
  }
}

/** Both indexes stay in memory: 30 to 130 bytes an event. A store that reaches the limit takes no more events. */
const FEWEST_MEBIBYTES = 1024;
const MEMORY_SHARE = 0.25;

function memoryLimit(): number {
  const bytes = Math.min(totalmem(), process.constrainedMemory?.() || Number.POSITIVE_INFINITY);
  return Math.max(FEWEST_MEBIBYTES, Math.floor((MEMORY_SHARE * bytes) / 2 ** 20));
}

type Closable = Pick<Instance, 'closeSync'>;

export function closeQuietly(parts: readonly Closable[]): void {
  for (const part of parts) {
    try {
      part.closeSync();
    } catch {
      // Closing a broken database may fail.
    }
  }
}

/** What DuckDB says, in a sentence with a remedy. */
export function inWords(path: string, cause: unknown): string {
  const [said] = String((cause as Error).message ?? cause).split('\n');
  if (/no space left|disk quota|file too large|could not write|failed to write/i.test(said)) {
    return `${path}: the disk is full or cannot be written; free some space (${said})`;
  }
  if (/out of memory/i.test(said)) {
    return `${path}: the indexes of the store need more than ${memoryLimit()} MiB of memory; use a machine with more memory, or move old events to another file (${said})`;
  }
  if (isLocked(said)) {
    return `${path}: another process has this store open; stop that one first, or choose another file (${said})`;
  }
  if (/not a valid DuckDB|serialization|corrupt|checksum|wal file|could not read enough/i.test(said)) {
    return `${path}: this file is damaged, or is not a DuckDB database; restore a copy, or choose another file (${said})`;
  }
  return `${path}: DuckDB refuses it (${said})`;
}
