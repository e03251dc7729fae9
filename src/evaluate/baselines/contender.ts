// One baseline on a split: tuned on held-back training users, fitted to all of them, judged on the test users.

import type { TaskOptions } from '../../progress.js';
import type { Validation } from '../../ranking/held-back.js';
import type { RankingResult } from '../../ranking/metrics.js';
import type { Trial } from '../../ranking/tune.js';
import { evaluateRanking, rankingOptions } from '../ranking.js';
import type { SplitRankingTask } from '../ranking-task.js';
import type { BaselineData, Setting, SkipReason } from './baseline.js';
import { type BaselineName, baselineOf } from './list.js';
import { prefixed, type TuningOptions, tuneBaseline } from './tuning.js';

export interface BaselineResult {
  readonly name: BaselineName;
  readonly setting: Setting;
  /** What was tried on held-back training users; empty where there is nothing to tune. */
  readonly trials: readonly Trial[];
  /** False where the number of trials ended the search. */
  readonly tuned: boolean;
  readonly ranking: RankingResult;
  readonly seconds: number;
}

/** What all baselines of a split have before them. */
export interface Contest {
  readonly data: BaselineData;
  readonly validation: Validation;
  readonly task: SplitRankingTask;
}

/** Tunes, fits and judges a baseline, or says why it cannot be fitted. */
export async function fitContender(
  name: BaselineName,
  { data, validation, task }: Contest,
  options: TuningOptions & TaskOptions,
): Promise<BaselineResult | SkipReason> {
  const baseline = baselineOf(name);
  const start = performance.now();
  const reason = baseline.limit(data, task.rows);
  if (reason !== undefined) return reason;
  const stage = (what: string) => ({
    ...options,
    onProgress: prefixed(options, `${baseline.title}: ${what}`),
  });
  const tuned = await tuneBaseline(baseline, validation, options);
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
    seconds: (performance.now() - start) / 1000,
  };
}
