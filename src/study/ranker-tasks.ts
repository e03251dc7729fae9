// A worker of a study that fits the ranker and then evaluates it.

import type { Ranker } from '../fit/model.js';
import { fromShared, type Transfer } from '../graph/transfer.js';
import type { RankingResult } from '../metrics/ranking-metrics.js';
import { serveTasks } from '../parallel/worker.js';
import type { TaskOptions } from '../progress.js';
import type { Split } from '../sample/split-types.js';
import { describeRanker, evaluateRanker, fitForRanking, type RankerSettings } from './ranker.js';
import type { StudyRanker } from './results.js';

export interface EvaluateJob {
  readonly settings: RankerSettings;
  readonly threads: number | undefined;
}

export interface FitJob extends EvaluateJob {
  readonly parts: Transfer<Split>;
}

let fitted: { readonly model: Ranker; readonly parts: Split } | undefined;

export async function fitApart(
  { parts: given, settings, threads }: FitJob,
  onProgress: TaskOptions['onProgress'],
): Promise<StudyRanker> {
  const parts = fromShared(given);
  const result = await fitForRanking(parts, settings, { threads, onProgress });
  fitted = { model: result.model, parts };
  return describeRanker(result);
}

export async function evaluateApart(
  { settings, threads }: EvaluateJob,
  onProgress: TaskOptions['onProgress'],
): Promise<RankingResult> {
  if (!fitted) throw new Error('no ranker was fitted that could be evaluated');
  return evaluateRanker(fitted.model, fitted.parts, settings, { threads, onProgress });
}

serveTasks('ranker-tasks', { fitApart, evaluateApart });
