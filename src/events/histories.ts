// The histories of users, read from the store. Those used recently are kept in memory and updated with every event that
// is committed, so that an event counts in the next answer.

import type { HistoryEntry, StoredEvent } from './stored.js';

/** The items of a user. */
type History = ReadonlyMap<string, HistoryEntry>;

/** The most items of all histories in memory, about 200 MB. */
const MOST_ITEMS = 1_000_000;

export function createHistories(read: (users: readonly string[]) => Promise<readonly History[]>) {
  /** In the order of use: the least recently used comes first. */
  const known = new Map<string, Map<string, HistoryEntry>>();
  let items = 0;
  /** Users whose history is being read, each with its last read; a change of the user removes it. */
  const reading = new Map<string, symbol>();

  const sizeOf = (history: History) => history.size + 1;

  function forget(user: string): void {
    const history = known.get(user);
    if (!history) return;
    items -= sizeOf(history);
    known.delete(user);
  }

  function keep(user: string, history: Map<string, HistoryEntry>): void {
    forget(user);
    known.set(user, history);
    items += sizeOf(history);
    for (const oldest of known.keys()) {
      if (items <= MOST_ITEMS) break;
      forget(oldest);
    }
  }

  return {
    /** The history of each user; empty if the store has none. */
    async of(users: readonly string[]): Promise<History[]> {
      const found = new Map<string, History>();
      const missing: string[] = [];
      for (const user of new Set(users)) {
        const history = known.get(user);
        if (!history) missing.push(user);
        else {
          found.set(user, history);
          known.delete(user);
          known.set(user, history);
        }
      }
      const own = Symbol();
      for (const user of missing) reading.set(user, own);
      try {
        const histories = missing.length === 0 ? [] : await read(missing);
        for (const [i, user] of missing.entries()) {
          found.set(user, histories[i]);
          // Events that were committed during the read may be missing.
          if (reading.get(user) === own) keep(user, new Map(histories[i]));
        }
      } finally {
        for (const user of missing) if (reading.get(user) === own) reading.delete(user);
      }
      return users.map((user) => found.get(user) as History);
    },
    /** Adds events that were committed. `allNew`: the store had none of them before. */
    add(events: readonly StoredEvent[], allNew: boolean): void {
      for (const { user, item, weight, time } of events) {
        reading.delete(user);
        // If some are known, the next read of the store says which count.
        if (!allNew) forget(user);
        const history = known.get(user);
        if (!history) continue;
        const before = history.get(item);
        if (before === undefined) items++;
        history.set(item, {
          weight: (before?.weight ?? 0) + weight,
          time: Math.max(before?.time ?? time, time),
        });
      }
    },
    erase(user: string): void {
      reading.delete(user);
      forget(user);
    },
    get size(): number {
      return known.size;
    },
  };
}
