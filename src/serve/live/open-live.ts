// Opens the store that the options name, and counts what happens with it.

import { openEventStore } from '../../events/event-store.js';
import type { StoredEvent } from '../../events/stored.js';
import type { Model } from '../../fit/model.js';
import { option, optionError } from '../../options/error.js';
import { ownItems } from '../../predict/user-query.js';
import { loadModel } from '../../store/model-file.js';
import { parseDuration } from '../../text/durations.js';
import { grouped } from '../../text/numbers.js';
import { shown } from '../../text/untrusted.js';
import type { Metrics } from '../metrics.js';
import type { EventRecord } from '../request-log.js';
import { createLiveStore, type LiveStore } from './live-store.js';

export interface LiveOptions {
  readonly store?: string | undefined;
  readonly window?: string | undefined;
  readonly popularHalfLife: string;
  /** The model to begin with: a new store takes its histories. */
  readonly model: string | undefined;
  readonly event: (name: EventRecord['event'], detail: string) => void;
}

/** Milliseconds between two log lines that say the same of the store. */
const SAY_EVERY = 10_000;

export async function openLive(options: LiveOptions): Promise<LiveStore | undefined> {
  const { store: path, event } = options;
  if (path === undefined) return undefined;
  const halfLife = spanOf(options.popularHalfLife, 'popularHalfLife') as number;
  const window = spanOf(options.window, 'window');
  let imported = 0;
  const store = await openEventStore(path, {
    seed: async function* () {
      const model = options.model === undefined ? undefined : await loadModel(options.model);
      for (const events of model ? historiesOf(model) : []) {
        imported += events.length;
        yield events;
      }
    },
  });
  if (imported > 0) event('store', `${path} is new and begins with ${grouped(imported)} events of the model`);
  let said = { message: '', at: -Infinity };
  try {
    return await createLiveStore(store, {
      window,
      halfLife,
      onFailure(message) {
        const now = performance.now();
        if (said.message === message && now - said.at < SAY_EVERY) return;
        said = { message, at: now };
        event('store-failed', message);
      },
    });
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** Milliseconds of an option that is a span of time. */
export function spanOf(text: string | undefined, name: string): number | undefined {
  if (text === undefined) return undefined;
  const milliseconds = parseDuration(text);
  if (milliseconds === undefined) {
    throw optionError`${option(name)} ${shown(text)}: expected a span of time such as 90s, 15m, 1h or 180d`;
  }
  return milliseconds;
}

const SEED_BATCH = 100_000;

/** What the users of a model have, as events of now: nobody knows their times. */
function* historiesOf(model: Model): Generator<StoredEvent[]> {
  const time = Date.now();
  const { users, items } = model;
  let events: StoredEvent[] = [];
  for (let row = 0; row < users.count; row++) {
    const own = ownItems(model, row);
    const user = users.ids.at(row);
    for (const [e, item] of own.items.entries()) {
      events.push({ user, item: items.ids.at(item), time, weight: own.counts?.[e] ?? 1 });
    }
    if (events.length < SEED_BATCH) continue;
    yield events;
    events = [];
  }
  yield events;
}

export function countLive(metrics: Metrics, live: LiveStore): void {
  const one = (value: number) => [{ labels: {}, value }];
  metrics.gauge('graphex_events_total', 'Events that were stored.', () => one(live.counts.events), 'counter');
  metrics.gauge(
    'graphex_store_failures_total',
    'Reads and writes of the store that failed.',
    () => one(live.counts.failures),
    'counter',
  );
  metrics.gauge('graphex_events_waiting', 'Events that wait for the disk.', () => one(live.store.waiting));
  metrics.gauge('graphex_store_up', 'Whether the last write of the store succeeded.', () =>
    one(live.store.failure === undefined ? 1 : 0),
  );
  metrics.gauge('graphex_histories', 'Users whose history is in memory.', () => one(live.size.histories));
  metrics.gauge('graphex_hidden_items', 'Items that are hidden.', () => one(live.size.hidden));
}
