// The endpoints that need a store: requests become events and items, and those become answers.

import type { StoredEvent, StoredItem } from '../../events/stored.js';
import type { ServerEndpoint } from '../endpoints.js';
import { Problem } from '../problems.js';
import type { EventFields, ItemFields } from './live-schema.js';
import type { LiveStore } from './live-store.js';

/** A request after its checks, and what answers it. The request id is added to the answer. */
export type ServerAnswer = (request: Record<string, unknown>) => Promise<object>;

export function storeAnswers(
  live: LiveStore | undefined,
): Pick<
  Readonly<Record<ServerEndpoint, ServerAnswer>>,
  'events' | 'putItem' | 'putItems' | 'userEvents' | 'eraseUser'
> {
  const store = (): LiveStore => {
    if (live) return live;
    throw new Problem('not-enabled', 'the server was started without a store; start it with --store FILE');
  };
  return {
    async events(request) {
      const now = Date.now();
      const events = listOf<EventFields>(request).map((one) => eventOf(one, now));
      await store().addEvents(events);
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
