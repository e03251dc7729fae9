// Runs one baseline on a split in two steps, which may use different numbers of threads: it is tuned on held-back training users,
// then fitted to all training users and evaluated on the test users. Workers do the same with data in shared memory.

import { fromShared, type Transfer } from '../../graph/transfer.js';
import type { HeldBackTask, RankingData } from '../../metrics/held-back.js';
import type { BaselineName } from '../../options/names.js';
import { serveTasks } from '../../parallel/worker.js';
import type { TaskOptions } from '../../progress.js';
import { evaluateRanking, rankingOptions } from '../evaluate-ranking.js';
import type { SplitRankingTask } from '../split-task.js';
import { baselineOf } from './all-baselines.js';
import type { SkipReason } from './baseline.js';
import { prefixed, type TunedBaseline, type TuningOptions, tuneBaseline } from './tuning.js';

export type BaselineResult = Awaited<ReturnType<typeof evaluateOnSplit>>;

/** What all baselines of a split are given. */
export interface BaselineProblem {
  readonly data: RankingData;
  readonly validation: HeldBackTask;
  readonly task: SplitRankingTask;
}

/** The result of a search for a baseline's setting. */
export interface TunedOnSplit {
  /** Undefined: there is nothing to tune. */
  readonly tuned: TunedBaseline | undefined;
  readonly seconds: number;
}

/** Tunes a baseline, or returns why it cannot be fitted. */
export async function tuneOnSplit(
  name: BaselineName,
  { data, validation, task }: BaselineProblem,
  options: TuningOptions & TaskOptions,
): Promise<TunedOnSplit | SkipReason> {
  const baseline = baselineOf(name);
  const start = performance.now();
  const reason = baseline.limit?.(data, task.rows);
  if (reason !== undefined) return reason;
  const tuned = await tuneBaseline(baseline, validation, options);
  return { tuned, seconds: (performance.now() - start) / 1000 };
}

/** Fits a tuned baseline and evaluates it. */
export async function evaluateOnSplit(
  name: BaselineName,
  { data, task }: Pick<BaselineProblem, 'data' | 'task'>,
  { tuned, seconds }: TunedOnSplit,
  options: TuningOptions & TaskOptions,
) {
  const baseline = baselineOf(name);
  const start = performance.now();
  const stage = (what: string) => ({
    ...options,
    onProgress: prefixed(options, `${baseline.title}: ${what}`),
  });
  const how = { ...stage('fitting'), start: tuned?.start };
  const fitted = await baseline.fit(data, tuned?.best.setting ?? {}, how);
  const ranking = await evaluateRanking(
    task,
    await fitted.scorer(task.history),
    rankingOptions(stage('ranking')),
  );
  return {
    name,
    setting: fitted.setting,
    /** The settings tried on held-back training users; empty if there is nothing to tune. */
    trials: tuned?.trials ?? [],
    /** False if the limit on trials ended the search. */
    tuned: tuned?.finished ?? true,
    ranking,
    seconds: seconds + (performance.now() - start) / 1000,
  };
}

export interface TuneJob {
  readonly name: BaselineName;
  readonly problem: Transfer<BaselineProblem>;
  readonly options: TuningOptions;
}

export interface EvaluateJob extends TuneJob {
  readonly tuned: TunedOnSplit;
}

export function tuneInWorker(
  { name, problem, options }: TuneJob,
  onProgress: TaskOptions['onProgress'],
): Promise<TunedOnSplit | SkipReason> {
  return tuneOnSplit(name, fromShared(problem), { ...options, onProgress });
}

export function evaluateInWorker(
  { name, problem, options, tuned }: EvaluateJob,
  onProgress: TaskOptions['onProgress'],
): Promise<BaselineResult> {
  return evaluateOnSplit(name, fromShared(problem), tuned, { ...options, onProgress });
}

serveTasks('baseline-run', { tuneInWorker, evaluateInWorker });
