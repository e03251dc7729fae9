// Many lists with reasons and with how sure they are, on all threads: these take tens of milliseconds each, and no two of them
// share anything.

import { abortReason, throwIfAborted } from '../../errors.js';
import { toShared } from '../../graph/transfer.js';
import { createPool, type TaskModule, threadCount, type WorkerPool } from '../../parallel/pool.js';
import type { UserQuery } from '../recommend.js';
import type { Recommender } from '../recommender.js';
import type { ExplainedPiece } from './explain-tasks.js';
import { type ExplainedList, type ExplainListOptions, explainLists } from './explained-list.js';

const TASKS: TaskModule = {
  name: 'explain-tasks',
  base: import.meta.url,
  worker: () =>
    new Worker(new URL('./explain-tasks.js', import.meta.url), {
      type: 'module',
      name: 'graphex:explain-tasks',
    }),
  here: () => import('./explain-tasks.js'),
};

/** Askers that a worker takes at once. */
const PIECE = 16;
/** Fewer askers than this are told sooner than workers start. */
const FEW = 64;

export interface ExplainMany {
  /** Lists in the order of the askers, the same on any number of threads. `onUnknown` is called where this thread tells alone. */
  tell(askers: readonly UserQuery[], options: ExplainListOptions): Promise<ExplainedList[]>;
  close(): Promise<void>;
}

/** For the model of a recommender, which answers where few are asked for, or neither reasons nor confidence. */
export function createExplainMany(recommender: Recommender): ExplainMany {
  let pool: Promise<WorkerPool> | undefined;
  const open = async (threads: number) => {
    const opened = await createPool(TASKS, threads);
    try {
      await opened.everywhere('adopt', { model: toShared(recommender.model) });
      return opened;
    } catch (error) {
      await opened.close();
      throw error;
    }
  };
  return {
    async tell(askers, options) {
      const { threads, signal, onProgress, onUnknown, engine: _, ...settings } = options;
      const size = threadCount(threads, Math.ceil(askers.length / PIECE));
      const costly = settings.explain === true || settings.confidence === true;
      if (!costly || askers.length < FEW || size === 1) return explainLists(recommender, askers, options);
      throwIfAborted(signal);
      const ignoreUnknown = onUnknown !== undefined;
      // Here: what is wrong with an option is wrong for all, and keeps the option's name in this thread alone.
      const first = await explainLists(recommender, askers.slice(0, 1), {
        ...{ ...settings, signal, threads: 1 },
        ...(ignoreUnknown && { onUnknown: () => {} }),
      });
      pool ??= open(size);
      const pieces: ExplainedPiece[] = [];
      for (let at = 1; at < askers.length; at += PIECE) {
        pieces.push({ askers: askers.slice(at, at + PIECE), options: settings, ignoreUnknown });
      }
      let done = 1;
      try {
        const told = await (await pool).map<ExplainedPiece, ExplainedList[]>('tell', pieces, {
          signal,
          onResult: ({ length }) => {
            done += length;
            onProgress?.({ stage: 'ranking', done, total: askers.length, unit: 'users' });
          },
        });
        return [...first, ...told.flat()];
      } catch (error) {
        throw signal?.aborted ? abortReason(signal) : error;
      }
    },
    async close() {
      const opened = await pool?.catch(() => undefined);
      await opened?.close();
    },
  };
}
