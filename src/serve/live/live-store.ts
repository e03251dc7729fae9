// The store of a server: stores events and items, and passes changes to the models that answer.

import type { EventStore } from '../../events/event-store.js';
import { createGroupCommit } from '../../events/group-commit.js';
import { createHistories } from '../../events/histories.js';
import { withFields } from '../../events/insert.js';
import { type PopularEntry, type StoredEvent, type StoredItem, StoreError } from '../../events/stored.js';
import type { OneRequest } from '../http-schema.js';
import { Problem } from '../problems.js';
import type { Query } from '../queries.js';
import type { LiveUpdate, StoredHistory } from './live-view.js';

/** A model that receives changes. */
interface Listener {
  update(update: LiveUpdate): Promise<void>;
}

export type LiveStore = Awaited<ReturnType<typeof createLiveStore>>;

interface LiveStoreOptions {
  /** Milliseconds; older events do not make an item popular. */
  readonly window: number | undefined;
  /** Milliseconds after which an event counts half for popularity. */
  readonly halfLife: number;
  readonly onFailure: (message: string) => void;
}

/** Milliseconds that items wait for others before they are passed to models. */
const ITEM_BATCHES = { wait: 5, enough: 10_000 };
/** Events that may wait for the disk. */
const MOST_WAITING = 100_000;
const POPULAR_ITEMS = 1000;
/** Milliseconds between two looks for popular items: while events come, and at least. */
const POPULAR_EVERY = 30_000;
const POPULAR_AT_LEAST = 3_600_000;

export async function createLiveStore(store: EventStore, options: LiveStoreOptions) {
  const { window, halfLife, onFailure } = options;
  const histories = createHistories((users) => store.historiesOf(users));
  const listeners = new Set<Listener>();
  const items = new Map<string, StoredItem>();
  /** Users whom models must not know: only their events since they were erased count. */
  const erased = new Set(await store.erased());
  let popular: readonly PopularEntry[] = [];
  let popularIsOld = true;
  let lookedAt = 0;
  let events = 0;
  let failures = 0;

  const broadcast = async (update: LiveUpdate) => {
    await Promise.all([...listeners].map((one) => one.update(update)));
  };
  const failed = (error: unknown): never => {
    if (!(error instanceof StoreError)) throw error;
    failures++;
    onFailure(error.message);
    throw new Problem('store', error.message, { retryAfter: 2 });
  };

  /** Takes in what was posted of an item. Returns all that is known of it, and whether its attributes have changed. */
  function note(put: StoredItem) {
    const before = items.get(put.item);
    const { title = '', hidden: isHidden = false, attributes: given } = withFields(before, put);
    const attributes = given === '{}' ? undefined : given;
    const one: StoredItem = { item: put.item, title, hidden: isHidden, attributes };
    if (title === '' && !isHidden && attributes === undefined) items.delete(put.item);
    else items.set(put.item, one);
    return { one, described: before?.attributes !== attributes };
  }

  // Models apply all changes of items in one step, however many requests made them.
  const itemUpdates = createGroupCommit<StoredItem, void>(async (added) => {
    const noted = added.flat().map(note);
    await broadcast({
      items: noted.map(({ one }) => one),
      described: noted.some(({ described }) => described),
    });
    return new Array(added.length).fill(undefined);
  }, ITEM_BATCHES);

  async function lookForPopular(): Promise<void> {
    if (!popularIsOld && performance.now() - lookedAt < POPULAR_AT_LEAST) return;
    popularIsOld = false;
    lookedAt = performance.now();
    try {
      popular = await store.popular({ n: POPULAR_ITEMS, now: Date.now(), window, halfLife });
      await broadcast({ popular });
    } catch (error) {
      popularIsOld = true;
      if (!(error instanceof StoreError)) throw error;
      failures++;
      onFailure(error.message);
    }
  }

  for (const item of await store.items()) note(item);
  await lookForPopular();
  let looking = Promise.resolve();
  const timer = setInterval(() => {
    looking = looking.then(lookForPopular);
  }, POPULAR_EVERY);
  timer.unref();

  const storedOf = async (users: readonly string[]): Promise<(StoredHistory | undefined)[]> => {
    try {
      return (await histories.of(users)).map((history, i) => ({
        items: [...history.keys()],
        weights: Array.from(history.values(), ({ weight }) => weight),
        times: Array.from(history.values(), ({ time }) => time),
        erased: erased.has(users[i]),
      }));
    } catch (error) {
      // Answers continue from the model alone.
      failures++;
      onFailure(error instanceof Error ? error.message : String(error));
      return users.map((user) => ({ items: [], weights: [], times: [], erased: erased.has(user) }));
    }
  };

  /** Everything that a worker must know. */
  const state = (): LiveUpdate => {
    const all = [...items.values()];
    return { items: all, described: all.some(({ attributes }) => attributes !== undefined), popular };
  };

  return {
    store,
    state,
    /** Resolves when the events are on the disk and count in answers, to the number of new ones. */
    async addEvents(added: readonly StoredEvent[]) {
      if (store.waiting + added.length > MOST_WAITING) {
        throw new Problem('busy', `${store.waiting} events wait for the disk; send these again`, {
          retryAfter: 1,
        });
      }
      const stored = await store.add(added).catch(failed);
      events += stored;
      popularIsOld = true;
      histories.add(added, stored === added.length);
      return stored;
    },
    async putItems(put: readonly StoredItem[]) {
      await store.putItems(put).catch(failed);
      await itemUpdates.add(put);
    },
    async eraseUser(user: string) {
      const count = await store.erase(user).catch(failed);
      histories.erase(user);
      erased.add(user);
      popularIsOld = true;
      return count;
    },
    countOf: (user: string) => store.count(user).catch(failed),
    eventsOf: (user: string, n: number) => store.eventsOf(user, n).catch(failed),
    /** The query with what the store knows of its users. */
    async withHistories(query: Query): Promise<Query> {
      const { request } = query;
      const requests = ('requests' in request ? request.requests : [request]) as readonly OneRequest[];
      const users = requests.flatMap(({ user }) => (user === undefined ? [] : [String(user)]));
      if (users.length === 0) return query;
      const found = await storedOf(users);
      let next = 0;
      const asked = requests.map((one) => (one.user === undefined ? one : { ...one, stored: found[next++] }));
      return {
        ...query,
        request: 'requests' in request ? { ...request, requests: asked } : asked[0],
      } as Query;
    },
    /** Passes a model everything that is known, and every later change. */
    async attach(listener: Listener) {
      listeners.add(listener);
      await listener.update(state());
    },
    detach: (listener: Listener) => void listeners.delete(listener),
    get counts() {
      return { events, failures };
    },
    get size() {
      const hidden = [...items.values()].filter((one) => one.hidden).length;
      return { histories: histories.size, hidden };
    },
    async close() {
      clearInterval(timer);
      await looking;
      await store.close();
    },
  };
}
