// Opens the store that the options name, and counts what happens with it.

import { InputError } from '../../errors.js';
import { openEventStore } from '../../events/event-store.js';
import { type StoredEvent, StoreError } from '../../events/stored.js';
import type { Model } from '../../fit/model.js';
import type { SERVE } from '../../options/commands/serve.js';
import type { SettingsOf } from '../../options/declare.js';
import { option, optionError } from '../../options/error.js';
import { ownItems, timesOf } from '../../predict/user-query.js';
import { createSchedule, parseTimes } from '../../refit/refit-times.js';
import { loadModel } from '../../store/model-file.js';
import { parseDuration } from '../../text/durations.js';
import { grouped } from '../../text/numbers.js';
import { shown } from '../../text/untrusted.js';
import type { Metrics } from '../metrics.js';
import type { EventRecord } from '../request-log.js';
import { createLiveStore, type LiveStore } from './live-store.js';
import { createRefits, type Refits, type RefitsOptions, removeExports } from './refits.js';

type Settings = SettingsOf<typeof SERVE>;

interface LiveOptions extends Settings {
  /** The model to begin with: a new store takes its histories, unless refits read other data. */
  readonly model: string | undefined;
  readonly event: (name: EventRecord['event'], detail: string) => void;
}

/** Milliseconds between two equal log lines about the store. */
const SAY_EVERY = 10_000;

export async function openLive(options: LiveOptions): Promise<LiveStore | undefined> {
  const { store: path, event } = options;
  if (path === undefined) return undefined;
  const halfLife = spanOf(options.popularHalfLife, 'popularHalfLife') as number;
  const window = spanOf(options.window, 'window');
  let imported = 0;
  const store = await openEventStore(path, async function* () {
    const hasData = (options.data ?? []).length > 0;
    const model = options.model === undefined || hasData ? undefined : await loadModel(options.model);
    for (const events of model ? historiesOf(model) : []) {
      imported += events.length;
      yield events;
    }
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
    throw error instanceof StoreError ? new InputError(error.message) : error;
  }
}

/** Milliseconds of an option that is a span of time. */
function spanOf(text: string | undefined, name: string): number | undefined {
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

/** Whether the options ask for refits; refuses those that have nothing to read. */
export function wantsRefits(options: Omit<LiveOptions, 'event'>): boolean {
  const { refit, store, data = [], model } = options;
  if (refit !== undefined) parseTimes(refit);
  spanOf(options.window, 'window');
  const hasData = store !== undefined || data.length > 0;
  if (refit !== undefined && !hasData) {
    throw optionError`${option('refit')} needs data to read: give ${option('store')} or ${option('data')}`;
  }
  if (refit !== undefined && model === undefined) {
    throw optionError`${option('refit')} needs a model to start from: name one`;
  }
  return hasData && model !== undefined;
}

/** The refits that the options ask for. */
export async function openRefits(
  options: Settings,
  parts: Pick<RefitsOptions, 'folder' | 'generations' | 'model' | 'live' | 'event'>,
): Promise<Refits> {
  const { refit, window, data = [], users, items, table, time, keep } = options;
  await parts.generations.removeParts();
  if (parts.live) await removeExports(parts.live);
  return createRefits({
    ...parts,
    keep,
    itemInfo: options.itemInfo,
    window: spanOf(window, 'window'),
    data: data.length === 0 ? [] : [{ sources: data, read: { users, items, table }, time }],
    schedule: refit === undefined ? undefined : createSchedule(parseTimes(refit)),
  });
}

export function countRefits(metrics: Metrics, refits: Refits): void {
  metrics.gauge(
    'graphex_refits_total',
    'Refits by outcome.',
    () => Object.entries(refits.counts).map(([outcome, value]) => ({ labels: { outcome }, value })),
    'counter',
  );
  metrics.gauge('graphex_refit_running', 'Whether a refit is running.', () =>
    Number(refits.status().running),
  );
  metrics.gauge('graphex_refit_next_seconds', 'Seconds until the next refit.', () => {
    const { next } = refits.status();
    return next === undefined ? undefined : (Date.parse(next) - Date.now()) / 1000;
  });
  const last = () => refits.generations()[0]?.comparison;
  metrics.gauge('graphex_refit_ndcg', 'nDCG of the last refit on held-back items.', () => last()?.candidate);
  metrics.gauge(
    'graphex_refit_difference',
    'Difference of the last refit to the model before it, in nDCG.',
    () => last()?.difference,
  );
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
  metrics.gauge('graphex_store_up', 'Whether the last write of the store succeeded.', () =>
    Number(live.store.failure === undefined),
  );
  metrics.gauge('graphex_histories', 'Users whose history is in memory.', () => live.size.histories);
  metrics.gauge('graphex_hidden_items', 'Items that are hidden.', () => live.size.hidden);
}
