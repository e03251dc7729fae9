// A worker of a study that fits the ranker and then evaluates it.

import type { SideInfoSource } from '../attributes/side-info.js';
import type { Ranker } from '../fit/model.js';
import { fromShared, type Transfer } from '../graph/transfer.js';
import type { RankingResult } from '../metrics/ranking-metrics.js';
import { serveTasks } from '../parallel/worker.js';
import type { TaskOptions } from '../progress.js';
import type { Split } from '../sample/split-types.js';
import type { StudySettings } from './options.js';
import { describeRanker, evaluateRanker, fitForRanking } from './ranker.js';
import type { StudyRanker } from './results.js';

export interface FitJob {
  readonly parts: Transfer<Split>;
  readonly settings: StudySettings;
  readonly threads: number | undefined;
}

export interface EvaluateJob {
  readonly threads: number | undefined;
  readonly itemInfo: SideInfoSource | undefined;
}

let fitted: { readonly model: Ranker; readonly parts: Split; readonly settings: StudySettings } | undefined;

export async function fitApart(
  { parts: given, settings, threads }: FitJob,
  onProgress: TaskOptions['onProgress'],
): Promise<StudyRanker> {
  const parts = fromShared(given);
  const result = await fitForRanking(parts, settings, { threads, onProgress });
  fitted = { model: result.model, parts, settings };
  return describeRanker(result);
}

export async function evaluateApart(
  { threads, itemInfo }: EvaluateJob,
  onProgress: TaskOptions['onProgress'],
): Promise<RankingResult> {
  if (!fitted) throw new Error('no ranker was fitted that could be evaluated');
  const { model, parts, settings } = fitted;
  return evaluateRanker(model, parts, settings, { threads, onProgress }, itemInfo);
}

serveTasks('ranker-tasks', { fitApart, evaluateApart });
