// Lists for any number of users, the only place that decides how they are computed. Few users, explained lists and lists among
// given items are computed in this thread. Many users go to workers: with small item tables each worker lists its own users; with
// large ones the workers fold and score users while all threads, or a GPU, list them. All ways give the same lists.

import { DeviceError, throwIfAborted } from '../../errors.js';
import type { Model } from '../../fit/model.js';
import { once } from '../../math/once.js';
import type { EngineName } from '../../options/names.js';
import type { TaskOptions } from '../../progress.js';
import type { Explanation } from '../explain/explain.js';
import type { ModelScorer } from '../scoring/model-scorer.js';
import { bestItems, excludedItems } from '../scoring/scorer.js';
import {
  batchWorkerCount,
  createBatchWorkers,
  LISTS,
  type Listed,
  type ListedUser,
  type ListFactors,
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

type BatchOptions = TaskOptions & { readonly engine?: EngineName | undefined };

/** Larger item tables are packed once for all threads: a copy for each worker takes memory and fits no cache. */
const LARGE_BYTES = 8 * 2 ** 20;
/** Users that a GPU lists at a time; the threads take at least as many. */
const GROUP = 1024;
/** Users of a group for each thread, so that no thread waits long for the last. */
const GROUP_OF_THREAD = 256;

export function createBatch(model: Model, scorer: ModelScorer) {
  const workers = createBatchWorkers(model);
  const { factors } = scorer;
  const gpuLists = once(() => factors && createGpuLists(factors, scorer.items));

  async function inWorkers(
    users: readonly ListedUser[],
    settings: ListSettings,
    { engine = 'auto', ...task }: BatchOptions,
  ): Promise<Listed[] | undefined> {
    const { threads, signal } = task;
    const { features = 0 } = factors ?? {};
    const onGpu = await gpuLists()?.open(users.length, engine, settings, signal);
    if (onGpu) {
      try {
        return await workers.lists(users, settings, task, { features, group: GROUP, list: onGpu });
      } catch (error) {
        // The threads can do the same.
        if (engine !== 'auto' || !(error instanceof DeviceError)) throw error;
      }
    }
    const size = batchWorkerCount(users.length, threads, LISTS);
    if (size === 1) return undefined;
    if (!factors || 4 * features * scorer.items < LARGE_BYTES) {
      return workers.lists(users, settings, task);
    }
    const { n, without } = settings;
    const list: ListFactors = (rows, excluded, history) =>
      factors.lists(rows, { n, excluded, without }, history, { threads, signal });
    const group = Math.max(GROUP, GROUP_OF_THREAD * size);
    return workers.lists(users, settings, task, { features, group, list });
  }

  async function inThisThread(
    users: readonly ListedUser[],
    { n, includeSeen, without, include, explain }: BatchSettings,
    options: TaskOptions,
  ): Promise<BatchList[]> {
    const scorers = users.map(({ row, own }) => scorer.userScorer(row, own));
    const excluded = users.map((user) => excludedItems(user, includeSeen));
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
    /** Lists in the order of the users. */
    async lists(
      users: readonly ListedUser[],
      { include, explain, ...settings }: BatchSettings,
      options: BatchOptions,
    ): Promise<BatchList[]> {
      if (users.length === 0) return [];
      const found = !include && !explain && (await inWorkers(users, settings, options));
      return found || inThisThread(users, { include, explain, ...settings }, options);
    },
    explain: workers.explain,
    async close(): Promise<void> {
      await Promise.all([workers.close(), gpuLists()?.close()]);
    },
  };
}
