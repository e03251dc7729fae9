// What a worker does for a baseline: it tunes it, or fits and evaluates it.

import { fromShared, type Transfer } from '../../graph/transfer.js';
import type { BaselineName } from '../../options/names.js';
import { serveTasks } from '../../parallel/worker.js';
import type { TaskOptions } from '../../progress.js';
import type { SkipReason } from './baseline.js';
import {
  type BaselineProblem,
  type BaselineResult,
  evaluateOnSplit,
  type TunedOnSplit,
  tuneOnSplit,
} from './baseline-run.js';
import type { TuningOptions } from './tuning.js';

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

serveTasks('baseline-tasks', { tuneInWorker, evaluateInWorker });
