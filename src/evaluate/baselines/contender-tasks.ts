// A worker of the leaderboard: the search of one baseline, or its fit and its figures, one after the other.

import { fromShared, type Transfer } from '../../graph/transfer.js';
import { serveTasks } from '../../parallel/worker.js';
import type { TaskOptions } from '../../progress.js';
import type { BaselineName } from './all-baselines.js';
import type { SkipReason } from './baseline.js';
import {
  type BaselineResult,
  type Contest,
  judgeContender,
  type TunedContender,
  tuneContender,
} from './contender.js';
import type { TuningOptions } from './tuning.js';

export interface TuneJob {
  readonly name: BaselineName;
  readonly contest: Transfer<Contest>;
  readonly options: TuningOptions;
}

export interface JudgeJob extends TuneJob {
  readonly tuned: TunedContender;
}

export function tuneContenderApart(
  { name, contest, options }: TuneJob,
  onProgress: TaskOptions['onProgress'],
): Promise<TunedContender | SkipReason> {
  return tuneContender(name, fromShared(contest), { ...options, onProgress });
}

export function judgeContenderApart(
  { name, contest, options, tuned }: JudgeJob,
  onProgress: TaskOptions['onProgress'],
): Promise<BaselineResult> {
  return judgeContender(name, fromShared(contest), tuned, { ...options, onProgress });
}

serveTasks('contender-tasks', { tuneContenderApart, judgeContenderApart });
