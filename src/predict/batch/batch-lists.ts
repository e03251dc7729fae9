// Lists for many askers at once: by a GPU where there is one and enough to do, else by several threads.

import type { EngineName } from '../../engine/select.js';
import { DeviceError } from '../../errors.js';
import type { Model } from '../../fit/model.js';
import type { TaskOptions } from '../../progress.js';
import type { ModelScorer } from '../scoring/model-scorer.js';
import { once } from '../scoring/once.js';
import {
  type AskedLists,
  type BatchWorkers,
  batchWorkerCount,
  createBatchWorkers,
  type Identified,
  type Listed,
  type ListsElsewhere,
} from './batch-workers.js';
import { createGpuLists } from './gpu-lists.js';

export interface BatchLists {
  /** Undefined where the caller's thread does as well. */
  lists(
    askers: readonly Identified[],
    without: readonly (readonly number[])[],
    asked: AskedLists,
    options: TaskOptions & { readonly engine?: EngineName | undefined },
  ): Promise<Listed[] | undefined>;
  close(): Promise<void>;
}

/** Items whose tables are larger are packed once for all threads: a copy in each worker takes memory and fits no cache. */
const LARGE_BYTES = 8 * 2 ** 20;
/** Askers whose lists are made together, by a GPU, or at least so many by the threads: */
const GROUP = 1024;
/** enough for each of them that none waits long for the last. */
const GROUP_OF_THREAD = 256;
/** Groups that wait to be listed: two, so that nobody waits for the next rows. */
const AT_ONCE = 2;

export function createBatchLists(model: Model, { factors }: ModelScorer): BatchLists {
  const gpuLists = once(() => factors && createGpuLists(factors, model.items.count));
  let made: BatchWorkers | undefined;
  const crew = () => {
    made ??= createBatchWorkers(model);
    return made;
  };
  return {
    async lists(askers, without, asked, { engine = 'auto', ...task }) {
      const gpu = await gpuLists()?.open(askers.length, engine);
      if (gpu && factors) {
        const { features } = factors;
        const lists: ListsElsewhere['lists'] = (rows, of) => gpu.lists(rows, asked.n, of, task);
        try {
          const elsewhere = { features, group: GROUP, atOnce: AT_ONCE, lists };
          return await crew().ask(askers, without, asked, task, elsewhere);
        } catch (error) {
          // The threads can do the same.
          if (engine !== 'auto' || !(error instanceof DeviceError)) throw error;
        }
      }
      if (batchWorkerCount(askers.length, task.threads) === 1) return undefined;
      const { features = 0 } = factors ?? {};
      if (!factors || 4 * features * model.items.count < LARGE_BYTES) {
        return crew().ask(askers, without, asked, task);
      }
      const { threads, signal } = task;
      const lists: ListsElsewhere['lists'] = (rows, { excluded, history }) => {
        const query = { rows: rows.length / features, n: asked.n, excluded };
        return factors.lists(rows, query, history, { threads, signal });
      };
      const group = Math.max(GROUP, GROUP_OF_THREAD * batchWorkerCount(askers.length, threads));
      return crew().ask(askers, without, asked, task, { features, group, atOnce: AT_ONCE, lists });
    },
    async close() {
      await Promise.all([made?.close(), gpuLists()?.close()]);
    },
  };
}
