// A worker of the ladder: one baseline after the other, each from its search to its figures.

import { type Crossing, unpacked } from '../../graph/crossing.js';
import { serveTasks } from '../../parallel/worker.js';
import type { TaskOptions } from '../../progress.js';
import type { SkipReason } from './baseline.js';
import { type BaselineResult, type Contest, fitContender } from './contender.js';
import type { BaselineName } from './list.js';
import type { TuningOptions } from './tuning.js';

export interface ContenderJob {
  readonly name: BaselineName;
  readonly contest: Crossing<Contest>;
  readonly options: TuningOptions;
}

export function contend(
  { name, contest, options }: ContenderJob,
  onProgress: TaskOptions['onProgress'],
): Promise<BaselineResult | SkipReason> {
  return fitContender(name, unpacked(contest), { ...options, onProgress });
}

serveTasks('contender-tasks', { contend });
