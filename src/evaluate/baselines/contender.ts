// One baseline on a split: tuned on held-back training users, fitted to all of them, judged on the test users. In two steps, the
// second of which may have other threads than the first.

import type { HeldBackTask } from '../../metrics/held-back.js';
import type { RankingResult } from '../../metrics/ranking-metrics.js';
import type { SettingTrial } from '../../metrics/setting-search.js';
import type { TaskOptions } from '../../progress.js';
import { evaluateRanking, rankingOptions } from '../evaluate-ranking.js';
import type { SplitRankingTask } from '../split-task.js';
import { type BaselineName, baselineOf } from './all-baselines.js';
import type { BaselineData, Setting, SkipReason } from './baseline.js';
import { prefixed, type TunedBaseline, type TuningOptions, tuneBaseline } from './tuning.js';

export interface BaselineResult {
  readonly name: BaselineName;
  readonly setting: Setting;
  /** What was tried on held-back training users; empty where there is nothing to tune. */
  readonly trials: readonly SettingTrial[];
  /** False where the number of trials ended the search. */
  readonly tuned: boolean;
  readonly ranking: RankingResult;
  readonly seconds: number;
}

/** What all baselines of a split have before them. */
export interface Contest {
  readonly data: BaselineData;
  readonly validation: HeldBackTask;
  readonly task: SplitRankingTask;
}

/** What the search for a baseline's setting leaves for its fit. */
export interface TunedContender {
  /** Undefined: there is nothing to tune. */
  readonly tuned: TunedBaseline | undefined;
  readonly seconds: number;
}

/** Tunes a baseline, or says why it cannot be fitted. */
export async function tuneContender(
  name: BaselineName,
  { data, validation, task }: Contest,
  options: TuningOptions & TaskOptions,
): Promise<TunedContender | SkipReason> {
  const baseline = baselineOf(name);
  const start = performance.now();
  const reason = baseline.limit(data, task.rows);
  if (reason !== undefined) return reason;
  const tuned = await tuneBaseline(baseline, validation, options);
  return { tuned, seconds: (performance.now() - start) / 1000 };
}

/** Fits a baseline that was tuned, and judges it. */
export async function judgeContender(
  name: BaselineName,
  { data, task }: Pick<Contest, 'data' | 'task'>,
  { tuned, seconds }: TunedContender,
  options: TuningOptions & TaskOptions,
): Promise<BaselineResult> {
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
    trials: tuned?.trials ?? [],
    tuned: tuned?.finished ?? true,
    ranking,
    seconds: seconds + (performance.now() - start) / 1000,
  };
}
