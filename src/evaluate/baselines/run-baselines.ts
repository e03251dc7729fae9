// Runs the baselines on a split: each is tuned on held-back training users, fitted to all of them, and evaluated like a model.

import { toShared } from '../../graph/transfer.js';
import { transposeLists } from '../../math/csr.js';
import { holdBack, type RankingData, shownItems } from '../../metrics/held-back.js';
import { BASELINES, type BaselineName } from '../../options/names.js';
import { shareThreads, type ThreadShare } from '../../parallel/budget.js';
import { createPool, taskModule, threadCount } from '../../parallel/pool.js';
import type { Split } from '../../sample/split-types.js';
import type { RankingOptions } from '../evaluate-ranking.js';
import { indexByIds, type SplitRankingTask } from '../split-task.js';
import type { SkipReason } from './baseline.js';
import {
  type BaselineProblem,
  type BaselineResult,
  type EvaluateJob,
  evaluateOnSplit,
  type TunedOnSplit,
  type TuneJob,
  tuneOnSplit,
} from './baseline-run.js';

interface BaselineOptions extends RankingOptions {
  readonly baselines?: readonly BaselineName[] | undefined;
  readonly seed?: number | undefined;
  /** Most settings tried for one baseline. Default 30. */
  readonly maxTrials?: number | undefined;
  /** The threads of each baseline, if other work runs at the same time. Default: all share `threads`. */
  readonly shares?: readonly ThreadShare[] | undefined;
}

export type BaselineReport = Awaited<ReturnType<typeof fitBaselines>>;

const TASKS = taskModule('./baseline-run.js', import.meta.url);

/** Most edges with which the tables of all baselines fit in memory together. */
const MOST_CONCURRENT_EDGES = 2e7;
/** Edges below which a worker costs more than it saves. */
const SMALL = 2e4;

/** Fits and evaluates the baselines on a split. `task` is splitRankingTask(split). */
export async function fitBaselines(split: Split, task: SplitRankingTask, options: BaselineOptions = {}) {
  const seed = options.seed ?? 1;
  const data = baselineData(split, task);
  // Without random draws of items, items are drawn for the users held back from training.
  const shown = split.method === 'pq' ? data.shown : shownItems(data.shown.length, seed);
  const validation = holdBack({ ...data, shown }, { seed }, 'turn the baselines off');
  const names = options.baselines ?? BASELINES;
  const edges = data.users.values.length;
  const concurrent = edges <= MOST_CONCURRENT_EDGES ? names.length : 1;
  // Only one thread can use a GPU.
  const onCpu = options.engine === undefined || options.engine === 'cpu';
  const lanes = threadCount(options.threads, concurrent) > 1 ? concurrent : 1;
  const problem = { data, validation, task };
  const ownShares = () =>
    // Baselines that follow one another get all threads each.
    lanes > 1
      ? shareThreads(options.threads, names.length)
      : names.flatMap(() => shareThreads(options.threads, 1));
  const { shares = ownShares(), ...how } = { ...options, seed };
  const found =
    lanes > 1 && edges >= SMALL && onCpu
      ? await inWorkers(names, problem, shares, how)
      : await inTurns([...names.entries()], lanes, ([at, name]) =>
          runBaseline(shares[at], here(name, problem, how)),
        );
  const results = found.filter((one) => 'name' in one);
  /** Baselines that were not fitted, and why. */
  const skipped = names.flatMap((name, at) => {
    const one = found[at];
    return 'code' in one ? [{ name, reason: one }] : [];
  });
  return Object.freeze({ results, skipped });
}

type Outcome = BaselineResult | SkipReason;

/** The two steps of a baseline, each with its number of threads. */
interface Steps {
  tune(threads: number | undefined): Promise<TunedOnSplit | SkipReason>;
  evaluate(tuned: TunedOnSplit, threads: number | undefined): Promise<BaselineResult>;
}

/** Runs a baseline with its share of the threads, as soon as one is free. */
async function runBaseline(share: ThreadShare, steps: Steps): Promise<Outcome> {
  await share.begin();
  try {
    const tuned = await steps.tune(share.take());
    return 'code' in tuned ? tuned : await steps.evaluate(tuned, share.take());
  } finally {
    share.end();
  }
}

type RunOptions = Omit<BaselineOptions, 'shares'> & { readonly seed: number };

function here(name: BaselineName, problem: BaselineProblem, options: RunOptions): Steps {
  return {
    tune: (threads) => tuneOnSplit(name, problem, { ...options, threads }),
    evaluate: (tuned, threads) => evaluateOnSplit(name, problem, tuned, { ...options, threads }),
  };
}

/** Runs a task for each value, `concurrent` at a time. If one fails, the others are awaited, so that nothing keeps running. */
async function inTurns<T, R>(
  values: readonly T[],
  concurrent: number,
  task: (value: T) => Promise<R>,
): Promise<R[]> {
  const results = new Array<R>(values.length);
  const queue = values.entries();
  const lane = async () => {
    for (const [at, value] of queue) results[at] = await task(value);
  };
  const lanes = await Promise.allSettled(Array.from({ length: concurrent }, lane));
  for (const one of lanes) if (one.status === 'rejected') throw one.reason;
  return results;
}

/** Runs each baseline in a worker, since most of its work uses one thread. */
async function inWorkers(
  names: readonly BaselineName[],
  problem: BaselineProblem,
  shares: readonly ThreadShare[],
  { onProgress, signal, baselines: _, ...options }: RunOptions,
): Promise<Outcome[]> {
  const shared = toShared(problem);
  const pool = await createPool(TASKS, threadCount(options.threads, names.length));
  const inWorker = (name: BaselineName): Steps => {
    const job = (threads: number | undefined): TuneJob => ({
      ...{ name, problem: shared },
      options: { ...options, engine: 'cpu', threads },
    });
    return {
      tune: (threads) => pool.run('tuneInWorker', job(threads), signal, onProgress),
      evaluate: (tuned, threads) =>
        pool.run<EvaluateJob, BaselineResult>(
          'evaluateInWorker',
          { ...job(threads), tuned },
          signal,
          onProgress,
        ),
    };
  };
  try {
    // The slowest baselines are last in the list; they start first, so that none of them finishes alone.
    const backwards = await inTurns([...names.entries()].reverse(), names.length, ([at, name]) =>
      runBaseline(shares[at], inWorker(name)),
    );
    return backwards.reverse();
  } finally {
    await pool.close();
  }
}

/** The training part as the baselines see it; items in the order of the task. */
export function baselineData(split: Split, task: SplitRankingTask): RankingData {
  const ids = split.train.items.ids;
  const { items } = split.assignment;
  const shown = Uint8Array.from({ length: ids.length }, (_, j) => {
    const at = items.ids.find(ids.at(j));
    return at >= 0 && items.drawn[at] === 1 ? 0 : 1;
  });
  const { offsets, values } = indexByIds(split.train, ids);
  const users = { offsets, values };
  return { users, items: transposeLists(users, ids.length), shown, candidates: task.candidates };
}
