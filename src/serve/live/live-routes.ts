// The endpoints that the server answers itself: models, refits, and requests that become events and items.

import { type StoredEvent, type StoredItem, TakenIdError } from '../../events/stored.js';
import type { RequestOf, ServerEndpoint } from '../endpoints.js';
import type { Generation } from '../generation.js';
import { Problem } from '../problems.js';
import type { EventFields, ItemFields } from './live-schema.js';
import type { LiveStore } from './live-store.js';
import { checkedAttributes, type KnownColumns } from './posted-attributes.js';
import type { Activity } from './recent-traffic.js';
import type { Refits } from './refits.js';
import { timeOf } from './time-field.js';

/** What answers each request after its checks. The request id is added to the answer. */
type ServerAnswers = { readonly [E in ServerEndpoint]: (request: RequestOf<E>) => Promise<object> };

export interface ServerSide {
  readonly current: () => Generation | undefined;
  /** Loads a model file, then answers from it. Undefined: the current model's file, read again. */
  readonly swap: (file: string | undefined) => Promise<Generation>;
  /** The files that `swap` takes. */
  readonly files: () => Promise<readonly string[]>;
  /** The store; undefined: the server has none. */
  readonly live?: LiveStore | undefined;
  /** Undefined: the server has nothing to refit. */
  readonly refits?: Refits | undefined;
}

/** Unknown names that an answer lists. */
const MOST_UNKNOWN = 20;

/** What the server answers without a worker. */
export function serverAnswers(side: ServerSide, activity: Activity): ServerAnswers {
  const { live, refits } = side;
  const store = (): LiveStore => {
    if (live) return live;
    throw new Problem('not-enabled', 'the server was started without a store; start it with --store FILE');
  };
  /** A chosen file is also served after a restart. */
  const answerFrom = async (file: string | undefined) =>
    (await (refits && file !== undefined ? refits.activate(file) : side.swap(file))).info;
  /** Stores items. Says which attributes the current model does not know. `fieldOf`: where the attributes of an item are. */
  const putItems = async (items: readonly ItemFields[], fieldOf: (at: number) => string) => {
    const columns: KnownColumns = side.current()?.columns ?? new Map();
    const checked = items.map(({ attributes, ...one }, at) =>
      attributes ? { ...one, attributes: checkedAttributes(attributes, columns, fieldOf(at)) } : one,
    );
    await store().putItems(checked.map(itemOf));
    const names = new Set(checked.flatMap(({ attributes = {} }: ItemFields) => Object.keys(attributes)));
    const unknown = [...names].filter((name) => !columns.has(name)).slice(0, MOST_UNKNOWN);
    return { stored: items.length, unknown };
  };
  return {
    models: async () => ({
      current: side.current()?.info ?? null,
      files: [...(await side.files())],
      ...(refits && { refit: refits.status(), generations: [...refits.generations()] }),
    }),
    async status() {
      const current = side.current();
      const { file, hash, loaded } = current?.info ?? {};
      const failure = live?.store.failure;
      return {
        model: current ? { file, hash, loaded } : null,
        queue: { waiting: current?.queue.waiting ?? 0, working: current?.queue.working ?? 0 },
        activity: activity.report(),
        ...(live && {
          store: { events: live.counts.events, waiting: live.store.waiting, ...(failure && { failure }) },
        }),
        ...(refits && { refit: refits.status() }),
        generations: [...(refits?.generations() ?? [])],
        files: [...(await side.files())],
      };
    },
    swap: ({ file }) => answerFrom(file),
    activate: ({ name }) => answerFrom(name),
    async refit() {
      if (refits) return { started: refits.start() };
      const detail = 'the server was started without data to refit; start it with --store FILE';
      throw new Problem('not-enabled', detail);
    },
    async events(request) {
      const now = Date.now();
      const events = [request].flat().map((one) => eventOf(one, now));
      refuseSharedIds(events);
      const stored = await store()
        .addEvents(events)
        .catch((error) => {
          if (!(error instanceof TakenIdError)) throw error;
          const field = Array.isArray(request) ? `${error.at}.id` : 'id';
          throw new Problem('bad-request', `${field}: ${error.message}; give each event an id of its own`, {
            field,
          });
        });
      activity.stored(stored);
      return { accepted: events.length, duplicates: events.length - stored };
    },
    putItem: ({ id, ...fields }) => putItems([{ ...fields, item: id }], () => 'attributes'),
    putItems: (request) =>
      putItems([request].flat(), (at) => (Array.isArray(request) ? `${at}.attributes` : 'attributes')),
    async userEvents({ id, n = 100 }) {
      const [total, events] = await Promise.all([store().countOf(id), store().eventsOf(id, n)]);
      return {
        user: id,
        total,
        events: events.map(({ user: _, time, ...event }) => ({ ...event, time: isoTime(time) })),
      };
    },
    async eraseUser({ id }) {
      return { user: id, erased: await store().eraseUser(id) };
    },
  };
}

/** Only the first event of an id is stored, so an id of a whole order would lose all but one of its items. */
function refuseSharedIds(events: readonly StoredEvent[]): void {
  const first = new Map<string, StoredEvent>();
  for (const [at, event] of events.entries()) {
    if (event.id === undefined) continue;
    const before = first.get(event.id);
    if (!before) first.set(event.id, event);
    else if (before.user !== event.user || before.item !== event.item) {
      const field = `${at}.id`;
      const detail = `${field}: an earlier event of this list has this id and another user or item; give each event an id of its own`;
      throw new Problem('bad-request', detail, { field });
    }
  }
}

/** An event cannot lie ahead. The wrong clock of one client would make it the newest for years. */
function eventOf({ user, item, time, weight = 1, id }: EventFields, now: number): StoredEvent {
  const when = time === undefined ? now : Math.min(timeOf(time), now);
  return { user: String(user), item: String(item), time: when, weight, id };
}

function isoTime(time: number): string {
  const date = new Date(time);
  return Number.isNaN(date.getTime()) ? String(time) : date.toISOString();
}

function itemOf({ item, attributes, ...fields }: ItemFields): StoredItem {
  return { item: String(item), ...fields, ...(attributes && { attributes: JSON.stringify(attributes) }) };
}
