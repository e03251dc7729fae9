// The baselines of a split: each tuned on held-back training users, fitted to all of them, and judged like every model.

import { InputError } from '../../errors.js';
import { toShared } from '../../graph/transfer.js';
import { transposeLists } from '../../math/csr.js';
import { holdBack } from '../../metrics/held-back.js';
import { shareThreads, type ThreadShare } from '../../parallel/budget.js';
import { createPool, type TaskModule, threadCount } from '../../parallel/pool.js';
import type { Split } from '../../sample/split-types.js';
import type { RankingOptions } from '../evaluate-ranking.js';
import { indexByIds, type SplitRankingTask } from '../split-task.js';
import { BASELINES, type BaselineName } from './all-baselines.js';
import type { BaselineData, SkipReason } from './baseline.js';
import {
  type BaselineResult,
  type Contest,
  judgeContender,
  type TunedContender,
  tuneContender,
} from './contender.js';
import type { JudgeJob, TuneJob } from './contender-tasks.js';

export interface BaselineOptions extends RankingOptions {
  /** Which to fit. Default: all. */
  readonly baselines?: readonly BaselineName[] | undefined;
  readonly seed?: number | undefined;
  /** Most settings tried for one baseline. Default 30. */
  readonly maxTrials?: number | undefined;
  /** The threads of each, where the baselines go on beside other work. Default: `threads` for all together. */
  readonly shares?: readonly ThreadShare[] | undefined;
}

export interface BaselineReport {
  readonly results: readonly BaselineResult[];
  /** Baselines that were not fitted, and why. */
  readonly skipped: readonly { readonly name: BaselineName; readonly reason: SkipReason }[];
}

const CONTENDING: TaskModule = {
  name: 'contender-tasks',
  base: import.meta.url,
  worker: () =>
    new Worker(new URL('./contender-tasks.js', import.meta.url), {
      type: 'module',
      name: 'graphex:contender-tasks',
    }),
  here: () => import('./contender-tasks.js'),
};

/** Edges up to which the tables of all baselines may lie in memory together. */
const BESIDE = 2e7;
/** Edges below which a worker costs more than it saves. */
const SMALL = 2e4;

/** Fits and judges the baselines on a split. `task` is splitRankingTask(split). */
export async function fitBaselines(
  split: Split,
  task: SplitRankingTask,
  options: BaselineOptions = {},
): Promise<BaselineReport> {
  if (split.method !== 'pq') {
    throw new InputError(
      `baselines need a split by pq, this one is by ${split.method}: they are tuned on users held back as a whole`,
    );
  }
  const seed = options.seed ?? 1;
  const data = baselineData(split, task);
  const validation = holdBack(data, { seed }, 'turn the baselines off');
  const names = options.baselines ?? BASELINES;
  const edges = data.users.values.length;
  const atOnce = edges <= BESIDE ? names.length : 1;
  // A GPU belongs to one thread.
  const onCpu = options.engine === undefined || options.engine === 'cpu';
  const beside = edges >= SMALL && onCpu && threadCount(options.threads, atOnce) > 1;
  const contest = { data, validation, task };
  const lanes = threadCount(options.threads, atOnce) > 1 ? atOnce : 1;
  const ownShares = () =>
    // Where one comes after the other, each has all.
    lanes > 1
      ? shareThreads(options.threads, names.length)
      : names.flatMap(() => shareThreads(options.threads, 1));
  const { shares = ownShares(), ...how } = { ...options, seed };
  const found = beside
    ? await inWorkers(names, contest, shares, how)
    : await inTurns([...names.entries()], lanes, ([at, name]) =>
        contend(shares[at], here(name, contest, how)),
      );
  const results = found.filter((one) => 'name' in one);
  const skipped = names.flatMap((name, at) => {
    const one = found[at];
    return 'code' in one ? [{ name, reason: one }] : [];
  });
  return Object.freeze({ results, skipped });
}

type Outcome = BaselineResult | SkipReason;

/** The steps of a baseline, each with so many threads. */
interface Steps {
  tune(threads: number | undefined): Promise<TunedContender | SkipReason>;
  judge(tuned: TunedContender, threads: number | undefined): Promise<BaselineResult>;
}

/** Does what a baseline has to do with its share of the threads, as soon as one is free for it. */
async function contend(share: ThreadShare, steps: Steps): Promise<Outcome> {
  await share.begin();
  try {
    const tuned = await steps.tune(share.take());
    return 'code' in tuned ? tuned : await steps.judge(tuned, share.take());
  } finally {
    share.end();
  }
}

type ContestOptions = Omit<BaselineOptions, 'shares'> & { readonly seed: number };

function here(name: BaselineName, contest: Contest, options: ContestOptions): Steps {
  return {
    tune: (threads) => tuneContender(name, contest, { ...options, threads }),
    judge: (tuned, threads) => judgeContender(name, contest, tuned, { ...options, threads }),
  };
}

/** A task for each value, so many at a time. Where one fails the others are waited for, so that nothing goes on unseen. */
async function inTurns<T, R>(
  values: readonly T[],
  atOnce: number,
  task: (value: T) => Promise<R>,
): Promise<R[]> {
  const results = new Array<R>(values.length);
  const queue = values.entries();
  const lane = async () => {
    for (const [at, value] of queue) results[at] = await task(value);
  };
  const lanes = await Promise.allSettled(Array.from({ length: atOnce }, lane));
  for (const one of lanes) if (one.status === 'rejected') throw one.reason;
  return results;
}

/** Each in a worker, as many at once as there are threads: most of what a baseline does is done in one. */
async function inWorkers(
  names: readonly BaselineName[],
  contest: Contest,
  shares: readonly ThreadShare[],
  { onProgress, signal, baselines: _, ...options }: ContestOptions,
): Promise<Outcome[]> {
  const shared = toShared(contest);
  const pool = await createPool(CONTENDING, threadCount(options.threads, names.length));
  const apart = (name: BaselineName): Steps => {
    const job = (threads: number | undefined): TuneJob => ({
      ...{ name, contest: shared },
      options: { ...options, engine: 'cpu', threads },
    });
    return {
      tune: (threads) => pool.run('tuneContenderApart', job(threads), signal, onProgress),
      judge: (tuned, threads) =>
        pool.run<JudgeJob, BaselineResult>(
          'judgeContenderApart',
          { ...job(threads), tuned },
          signal,
          onProgress,
        ),
    };
  };
  try {
    // Those that last longest are the last of the list: begun first, they do not end alone.
    const backwards = await inTurns([...names.entries()].reverse(), names.length, ([at, name]) =>
      contend(shares[at], apart(name)),
    );
    return backwards.reverse();
  } finally {
    await pool.close();
  }
}

/** The training part as the baselines see it; items in the order of the task. */
export function baselineData(split: Split, task: SplitRankingTask): BaselineData {
  const ids = split.train.items.ids;
  const coins = split.assignment.items;
  const shown = Uint8Array.from({ length: ids.length }, (_, j) => {
    const coin = coins.ids.find(ids.at(j));
    return coin >= 0 && coins.drawn[coin] === 1 ? 0 : 1;
  });
  const { offsets, values } = indexByIds(split.train, ids);
  const users = { offsets, values };
  return { users, items: transposeLists(users, ids.length), shown, candidates: task.candidates };
}
