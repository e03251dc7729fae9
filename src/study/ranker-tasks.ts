// A worker of a study that fits the ranker and then evaluates it.

import type { SideInfoSource } from '../attributes/side-info.js';
import type { Ranker } from '../fit/model.js';
import { fromShared, type Transfer } from '../graph/transfer.js';
import type { RankingResult } from '../metrics/ranking-metrics.js';
import { serveTasks } from '../parallel/worker.js';
import type { TaskOptions } from '../progress.js';
import type { Split } from '../sample/split-types.js';
import { describeRanker, evaluateRanker, fitForRanking, type RankerSettings } from './ranker.js';
import type { StudyRanker } from './results.js';

interface Job {
  readonly settings: RankerSettings;
  readonly threads: number | undefined;
}

export interface EvaluateJob extends Job {
  readonly itemInfo: SideInfoSource | undefined;
}

export interface FitJob extends Job {
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
  { settings, threads, itemInfo }: EvaluateJob,
  onProgress: TaskOptions['onProgress'],
): Promise<RankingResult> {
  if (!fitted) throw new Error('no ranker was fitted that could be evaluated');
  return evaluateRanker(fitted.model, fitted.parts, settings, { threads, onProgress }, itemInfo);
}

serveTasks('ranker-tasks', { fitApart, evaluateApart });
