// The endpoints that the server answers itself: models, refits, and requests that become events and items.

import type { StoredEvent, StoredItem } from '../../events/stored.js';
import type { ServerEndpoint } from '../endpoints.js';
import type { Generation } from '../generation.js';
import { Problem } from '../problems.js';
import type { Activity } from './activity.js';
import type { EventFields, ItemFields } from './live-schema.js';
import type { LiveStore } from './live-store.js';
import type { Refits } from './refits.js';

/** A request after its checks, and what answers it. The request id is added to the answer. */
type ServerAnswer = (request: Record<string, unknown>) => Promise<object>;

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
  /** Recent activity. */
  readonly activity?: Activity | undefined;
}

/** What the server answers without a worker. */
export function serverAnswers(side: ServerSide): Readonly<Record<ServerEndpoint, ServerAnswer>> {
  const { live, refits } = side;
  const store = (): LiveStore => {
    if (live) return live;
    throw new Problem('not-enabled', 'the server was started without a store; start it with --store FILE');
  };
  /** A chosen file is also served after a restart. */
  const answerFrom = async (file: string | undefined) =>
    (await (refits && file !== undefined ? refits.activate(file) : side.swap(file))).info;
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
        activity: side.activity?.report() ?? { eventsPerMinute: [], answersPerMinute: [] },
        ...(live && {
          store: { events: live.counts.events, waiting: live.store.waiting, ...(failure && { failure }) },
        }),
        ...(refits && { refit: refits.status() }),
        generations: [...(refits?.generations() ?? [])],
        files: [...(await side.files())],
      };
    },
    swap: ({ file }) => answerFrom(file as string | undefined),
    activate: ({ name }) => answerFrom(name as string),
    async refit() {
      if (refits) return { started: refits.start() };
      const detail = 'the server was started without data to refit; start it with --store FILE';
      throw new Problem('not-enabled', detail);
    },
    async events(request) {
      const now = Date.now();
      const events = listOf<EventFields>(request).map((one) => eventOf(one, now));
      await store().addEvents(events);
      side.activity?.stored(events.length);
      return { accepted: events.length };
    },
    async putItem({ id, ...fields }) {
      const item = itemOf({ ...(fields as object), item: id as string });
      await store().putItems([item]);
      return { stored: 1 };
    },
    async putItems(request) {
      const items = listOf<ItemFields>(request).map(itemOf);
      await store().putItems(items);
      return { stored: items.length };
    },
    async userEvents({ id, n = 100 }) {
      const events = await store().eventsOf(id as string, n as number);
      return {
        user: id,
        events: events.map(({ user: _, time, ...event }) => ({ ...event, time: isoTime(time) })),
      };
    },
    async eraseUser({ id }) {
      return { user: id, erased: await store().eraseUser(id as string) };
    },
  };
}

/** The body is one, or a list of them. */
function listOf<T>(request: Record<string, unknown>): readonly T[] {
  return 'list' in request ? (request.list as T[]) : [request as T];
}

function eventOf({ user, item, time, weight = 1, id }: EventFields, now: number): StoredEvent {
  return { user: String(user), item: String(item), time: timeOf(time, now), weight, id };
}

function timeOf(time: string | number | undefined, now: number): number {
  if (time === undefined) return now;
  if (typeof time === 'number') return 1000 * time;
  // A text without an offset is UTC, wherever the server runs.
  return Date.parse(/[zZ]$|[+-]\d\d:\d\d$/.test(time) || !time.includes('T') ? time : `${time}Z`);
}

function isoTime(time: number): string {
  const date = new Date(time);
  return Number.isNaN(date.getTime()) ? String(time) : date.toISOString();
}

function itemOf({ item, title, hidden = false, attributes }: ItemFields): StoredItem {
  return {
    item: String(item),
    hidden,
    ...(title && { title }),
    ...(attributes && { attributes: JSON.stringify(attributes) }),
  };
}
