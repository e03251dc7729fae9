// Lists for any number of users, the only place that decides how they are computed. Few users, explained lists and lists among
// given items are computed in this thread. Many users go to workers: with small item tables each worker lists its own users; with
// large ones the workers fold and score users while all threads, or a GPU, list them. All ways give the same lists.

import type { EngineName } from '../../engine/select.js';
import { DeviceError, throwIfAborted } from '../../errors.js';
import { once } from '../../math/once.js';
import type { TaskOptions } from '../../progress.js';
import type { Explanation } from '../explain/explain.js';
import type { ModelScorer } from '../scoring/model-scorer.js';
import { bestItems, excludedItems } from '../scoring/scorer.js';
import type { ResolvedUser } from '../user-query.js';
import {
  type BatchWorkers,
  batchWorkerCount,
  type Listed,
  type ListRows,
  type ListSettings,
} from './batch-workers.js';
import { createGpuLists } from './gpu-lists.js';

/** What is listed for every user of a batch. */
interface BatchSettings extends ListSettings {
  /** The only items that may be listed. Default: all. */
  readonly include?: readonly number[] | undefined;
  readonly explain: boolean;
}

/** A list, and with `explain` a function that explains the score of an item. */
interface BatchList extends Listed {
  readonly explain?: ((item: number) => Explanation) | undefined;
}

interface Batch {
  /** Lists in the order of the users; `exclude` has the items that are not listed, for each user. */
  lists(
    users: readonly ResolvedUser[],
    exclude: readonly (readonly number[])[],
    settings: BatchSettings,
    options: TaskOptions & { readonly engine?: EngineName | undefined },
  ): Promise<BatchList[]>;
  close(): Promise<void>;
}

/** Larger item tables are packed once for all threads: a copy for each worker takes memory and fits no cache. */
const LARGE_BYTES = 8 * 2 ** 20;
/** Users that a GPU lists at a time; the threads take at least as many. */
const GROUP = 1024;
/** Users of a group for each thread, so that no thread waits long for the last. */
const GROUP_OF_THREAD = 256;

export function createBatch(scorer: ModelScorer, workers: BatchWorkers): Batch {
  const { factors } = scorer;
  const gpuLists = once(() => factors && createGpuLists(factors, scorer.items));

  async function inWorkers(
    users: readonly ResolvedUser[],
    exclude: readonly (readonly number[])[],
    settings: ListSettings,
    { engine = 'auto', ...task }: TaskOptions & { readonly engine?: EngineName | undefined },
  ): Promise<Listed[] | undefined> {
    const gpu = await gpuLists()?.open(users.length, engine);
    const { features = 0 } = factors ?? {};
    if (gpu) {
      const list: ListRows['list'] = (rows, of) => gpu.lists(rows, settings, of, task);
      try {
        return await workers.lists(users, exclude, settings, task, { features, group: GROUP, list });
      } catch (error) {
        // The threads can do the same.
        if (engine !== 'auto' || !(error instanceof DeviceError)) throw error;
      }
    }
    const size = batchWorkerCount(users.length, task.threads);
    if (size === 1) return undefined;
    if (!factors || 4 * features * scorer.items < LARGE_BYTES) {
      return workers.lists(users, exclude, settings, task);
    }
    const { threads, signal } = task;
    const list: ListRows['list'] = (rows, { excluded, history }) => {
      const { n, without } = settings;
      const query = { rows: rows.length / features, n, excluded, without };
      return factors.lists(rows, query, history, { threads, signal });
    };
    const group = Math.max(GROUP, GROUP_OF_THREAD * size);
    return workers.lists(users, exclude, settings, task, { features, group, list });
  }

  async function inThisThread(
    users: readonly ResolvedUser[],
    exclude: readonly (readonly number[])[],
    { n, includeSeen, without, include, explain }: BatchSettings,
    options: TaskOptions,
  ): Promise<BatchList[]> {
    const scorers = users.map(({ row, own }) => scorer.userScorer(row, own));
    const excluded = users.map(({ own }, u) => excludedItems(exclude[u], own, includeSeen));
    const best = include
      ? scorers.map(({ score }, u) => bestItems(scorer.items, score, n, excluded[u], without, include))
      : await scorer.best(scorers, { n, excluded, without }, options);
    return scorers.map((user, u) => {
      if (u % 64 === 0) throwIfAborted(options.signal);
      return {
        items: best[u],
        scores: Float64Array.from(best[u], (item) => user.score(item)),
        explain: explain ? user.explainer() : undefined,
      };
    });
  }

  return {
    async lists(users, exclude, settings, options) {
      const simple = !settings.include && !settings.explain;
      const { n, includeSeen, without } = settings;
      const found = simple && (await inWorkers(users, exclude, { n, includeSeen, without }, options));
      return found || inThisThread(users, exclude, settings, options);
    },
    async close() {
      await gpuLists()?.close();
    },
  };
}
