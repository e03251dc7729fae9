// Opens the store that the options name, and counts what happens with it.

import { InputError } from '../../errors.js';
import { openEventStore } from '../../events/event-store.js';
import { type StoredEvent, StoreError } from '../../events/stored.js';
import type { Model } from '../../fit/model.js';
import type { SERVE } from '../../options/commands/serve.js';
import type { SettingsOf } from '../../options/declare.js';
import { option, optionError } from '../../options/error.js';
import { ownItems, timesOf } from '../../predict/user-query.js';
import { loadModel } from '../../store/model-file.js';
import { parseDuration } from '../../text/durations.js';
import { grouped } from '../../text/numbers.js';
import { shown } from '../../text/untrusted.js';
import type { Metrics } from '../metrics.js';
import type { EventRecord } from '../request-log.js';
import { createLiveStore, type LiveStore } from './live-store.js';

/** Milliseconds between two equal log lines about the store. */
const SAY_EVERY = 10_000;

/** `given`: the model to begin with. A new store takes its histories, unless refits read other data. */
export async function openLive(
  { store: path, popularHalfLife, window: span, data = [] }: SettingsOf<typeof SERVE>,
  given: string | undefined,
  event: (name: EventRecord['event'], detail: string) => void,
): Promise<LiveStore | undefined> {
  if (path === undefined) return undefined;
  const halfLife = spanOf(popularHalfLife, 'popularHalfLife') as number;
  const window = spanOf(span, 'window');
  let imported = 0;
  const seed = async function* () {
    const model = given === undefined || data.length > 0 ? undefined : await loadModel(given);
    for (const events of model ? historiesOf(model) : []) {
      imported += events.length;
      yield events;
    }
  };
  const store = await openEventStore(path, seed, (text) => event('store', text));
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
    throw error instanceof StoreError ? new InputError(error.message) : error;
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

/** The items of a model's users as events: of their times, or of the present moment if the model does not know them. */
function* historiesOf(model: Model): Generator<StoredEvent[]> {
  const now = Date.now();
  const { users, items } = model;
  let events: StoredEvent[] = [];
  for (let row = 0; row < users.count; row++) {
    const own = ownItems(model, row);
    const times = timesOf(model, row);
    const user = users.ids.at(row);
    for (const [e, item] of own.items.entries()) {
      const time = Math.round(times?.get(item) ?? now);
      events.push({ user, item: items.ids.at(item), time, weight: own.counts?.[e] ?? 1 });
    }
    if (events.length < SEED_BATCH) continue;
    yield events;
    events = [];
  }
  yield events;
}

export function countLive(metrics: Metrics, live: LiveStore): void {
  metrics.gauge('graphex_events_total', 'Events that were stored.', () => live.counts.events, 'counter');
  metrics.gauge(
    'graphex_store_failures_total',
    'Reads and writes of the store that failed.',
    () => live.counts.failures,
    'counter',
  );
  metrics.gauge('graphex_events_waiting', 'Events that wait for the disk.', () => live.store.waiting);
  metrics.gauge('graphex_store_up', 'Whether the last reads and writes of the store succeeded.', () =>
    Number(live.store.failure === undefined),
  );
  metrics.gauge('graphex_histories', 'Users whose history is in memory.', () => live.size.histories);
  metrics.gauge('graphex_hidden_items', 'Items that are hidden.', () => live.size.hidden);
}
