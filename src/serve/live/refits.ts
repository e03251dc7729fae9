// The refits of a server: when they run, what becomes of their models, and the way back.

import { readdir } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { basename, dirname, join } from 'node:path';
import type { z } from '@hono/zod-openapi';
import type { StoredItem } from '../../events/stored.js';
import { remove, writePieces } from '../../files/atomic.js';
import type { SERVE } from '../../options/commands/serve.js';
import type { SettingsOf } from '../../options/declare.js';
import { option, optionError } from '../../options/error.js';
import { isClearlyWorse } from '../../refit/compare-models.js';
import type { Generations } from '../../refit/generations.js';
import type { RefitSource } from '../../refit/refit.js';
import { createSchedule, parseTimes } from '../../refit/refit-times.js';
import { startRefit } from '../../refit/start-refit.js';
import { grouped } from '../../text/numbers.js';
import type { Generation } from '../generation.js';
import type { Metrics } from '../metrics.js';
import type { CurrentModel } from '../model-files.js';
import { Problem } from '../problems.js';
import type { EventRecord } from '../request-log.js';
import type { LiveStore } from './live-store.js';
import { spanOf } from './open-live.js';
import type { RefitStatusAnswer } from './refit-schema.js';

type RefitStatus = z.infer<typeof RefitStatusAnswer>;
type RefitOutcome = NonNullable<RefitStatus['last']>;

export type Refits = Awaited<ReturnType<typeof openRefits>>;

type Settings = SettingsOf<typeof SERVE>;

/** What refits work with. */
interface RefitParts {
  /** Where models are written. */
  readonly folder: string;
  readonly generations: Generations;
  readonly model: CurrentModel;
  readonly live: LiveStore | undefined;
  readonly event: (name: EventRecord['event'], detail: string) => void;
}

/** Milliseconds between two looks at the schedule. */
const LOOK_EVERY = 1000;
/** A model that lacks more than this share of the present model's users waits until somebody activates it. */
const MOST_FORGOTTEN = 0.5;

/** Files for the process of a refit. Only one process has this store open, so only one uses these names. */
function exportFiles({ store }: LiveStore) {
  const pairs = `${store.path}.refit.parquet`;
  return { pairs, items: `${pairs}.items.jsonl`, rejects: `${pairs}.rejects` };
}

const PART = /\.[0-9a-f]+\.part$/;

/** This also removes what a server or a refit that was killed has left, parts of these files among it. */
async function removeExports(live: LiveStore): Promise<void> {
  const files = Object.values(exportFiles(live));
  const folder = dirname(files[0]);
  for (const name of await readdir(folder).catch(() => [])) {
    const path = join(folder, name);
    if (files.includes(path.replace(PART, ''))) await remove(path);
  }
}

/** Items that were posted with attributes, as a table that a refit reads; false if there are none. */
async function writeItems({ store }: LiveStore, file: string): Promise<boolean> {
  const items = (await store.items()).filter(({ attributes }) => attributes !== undefined);
  if (items.length === 0) return false;
  await writePieces(file, linesOf(items));
  return true;
}

/** One by one while they are written, so that answers have their turns. */
function* linesOf(items: readonly StoredItem[]): Generator<string> {
  for (const { item, title, attributes = '{}' } of items) {
    const parsed: unknown = JSON.parse(attributes);
    yield `${JSON.stringify({ ...(parsed as object), id: item, title })}\n`;
  }
}

/** Whether the options ask for refits; refuses those that have nothing to read. */
export function wantsRefits(
  { refit, store, data = [], window }: Settings,
  model: string | undefined,
): boolean {
  if (refit !== undefined) parseTimes(refit);
  spanOf(window, 'window');
  const hasData = store !== undefined || data.length > 0;
  if (refit !== undefined && !hasData) {
    throw optionError`${option('refit')} needs data to read: give ${option('store')} or ${option('data')}`;
  }
  if (refit !== undefined && model === undefined) {
    throw optionError`${option('refit')} needs a model to start from: name one`;
  }
  return hasData && model !== undefined;
}

/** The refits that the settings ask for. */
export async function openRefits(
  settings: Settings,
  { folder, generations, model, live, event }: RefitParts,
) {
  const { keep, refit } = settings;
  const window = spanOf(settings.window, 'window');
  const schedule = refit === undefined ? undefined : createSchedule(parseTimes(refit));
  await generations.removeParts();
  if (live) await removeExports(live);
  const stopping = new AbortController();
  const counts = { swapped: 0, 'kept-aside': 0, unchanged: 0, failed: 0 };
  let running: Promise<void> | undefined;
  let progress = '';
  let process: number | undefined;
  let last: RefitOutcome | undefined;

  /** The given data, and the store as a file that another process can read: DuckDB lets only one process open a database. */
  async function withData<T>(
    use: (data: readonly RefitSource[], posted: string | undefined) => Promise<T>,
  ): Promise<T> {
    const { data: sources = [], users, items: column, table, time } = settings;
    const given = { sources, read: { users, items: column, table }, time };
    const data: readonly RefitSource[] = sources.length > 0 ? [given] : [];
    if (!live) return use(data, undefined);
    const { pairs, items, rejects } = exportFiles(live);
    try {
      const posted = (await writeItems(live, items)) ? items : undefined;
      const count = await live.store.exportTo(pairs, window === undefined ? undefined : Date.now() - window);
      if (count === 0 && data.length > 0) return await use(data, posted);
      if (count === 0) {
        throw new Problem(
          'store',
          `the store has no events${window === undefined ? '' : ' in the window'} yet`,
        );
      }
      const read = { users: 'user', items: 'item', count: 'weight', rejects };
      return await use([...data, { sources: [pairs], read, time: 'time', written: true }], posted);
    } finally {
      await removeExports(live);
    }
  }

  /** Answers from one of the files from now on, also after a restart. */
  async function activate(name: string): Promise<Generation> {
    // The record comes first: if it cannot be written, the present model goes on.
    const undo = await generations.activate(name, Date.now());
    try {
      return await model.swap(name);
    } catch (error) {
      await undo();
      throw error;
    }
  }

  async function run(): Promise<RefitOutcome> {
    const present = model.current();
    if (!present) throw new Problem('no-model', 'there is no model to start from');
    const began = Date.now();
    const name = await generations.newName(began);
    const plan = {
      present: present.path,
      presentData: generations.list().find((one) => one.name === basename(present.path))?.data,
      output: join(folder, name),
      itemInfo: settings.itemInfo,
      since: window === undefined ? undefined : began - window,
      seed: began % 2 ** 31,
      threads: Math.max(1, Math.ceil(availableParallelism() / 2)),
    };
    const result = await withData((all, posted) =>
      startRefit(
        { ...plan, data: all, posted },
        {
          signal: stopping.signal,
          onProgress: (text) => {
            progress = text;
          },
          onStart: (pid) => {
            process = pid;
          },
        },
      ),
    );
    const { made, missing, ...found } = result;
    if (!made) {
      return {
        time: new Date().toISOString(),
        outcome: 'unchanged',
        detail: `${basename(present.path)} stays: the data have not changed since it was fitted`,
      };
    }
    const { comparison } = found;
    // Another model may have been chosen meanwhile, which was not compared.
    const replaced = model.current()?.info.hash !== present.info.hash;
    const forgets = missing !== undefined && missing.share > MOST_FORGOTTEN;
    const accepted = !isClearlyWorse(comparison) && !replaced && !forgets;
    if (accepted) await activate(name);
    await generations.add({
      name,
      time: new Date(began).toISOString(),
      ...found,
      accepted,
      against: basename(present.path),
    });
    await generations.prune(keep, basename(model.current()?.path ?? name));
    const compared = comparison
      ? `nDCG@${comparison.n} ${comparison.candidate.toFixed(4)} instead of ${comparison.present.toFixed(4)} on ${grouped(comparison.users)} users, difference ${comparison.low.toFixed(4)} to ${comparison.high.toFixed(4)}`
      : 'too few users have new items to compare';
    const detail = replaced
      ? `${name} was kept aside: another model was loaded meanwhile (${compared})`
      : isClearlyWorse(comparison)
        ? `${name} is clearly worse and was kept aside: ${compared}`
        : forgets
          ? `${name} was kept aside until you activate it: ${compared}`
          : `${name} took over: ${compared}`;
    return {
      time: new Date().toISOString(),
      outcome: accepted ? 'swapped' : 'kept-aside',
      detail: missing === undefined ? detail : `${detail}. ${missing.text}`,
    };
  }

  async function attempt(): Promise<void> {
    event('refit', 'a refit has begun');
    try {
      last = await run();
    } catch (error) {
      if (stopping.signal.aborted) return;
      const detail = error instanceof Error ? error.message : String(error);
      last = { time: new Date().toISOString(), outcome: 'failed', detail };
    }
    // A process that was killed leaves a part of a model.
    await generations.removeParts();
    counts[last.outcome]++;
    event(last.outcome === 'failed' ? 'refit-failed' : 'refit', last.detail);
  }

  /** Starts a refit unless one is running; returns whether it started one. */
  function start(): boolean {
    if (running || stopping.signal.aborted) return false;
    progress = '';
    process = undefined;
    running = attempt().finally(() => {
      running = undefined;
    });
    return true;
  }

  const timer = schedule && setInterval(() => schedule.isDue() && start(), LOOK_EVERY);
  timer?.unref();

  return {
    start,
    counts,
    status: (): RefitStatus => ({
      running: running !== undefined,
      ...(running && progress !== '' && { progress }),
      ...(running && process !== undefined && { process }),
      ...(schedule && { next: new Date(schedule.next()).toISOString() }),
      ...(last && { last }),
    }),
    generations: generations.list,
    activate,
    async close() {
      clearInterval(timer);
      stopping.abort();
      await running;
    },
  };
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
