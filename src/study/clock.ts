// Which stage of a study is under way, and how long each took.

import { throwIfAborted } from '../errors.js';
import type { Progress, TaskOptions } from '../progress.js';
import { type Stage, stageLabel } from '../text/stages.js';
import type { StudySettings } from './options.js';
import type { StageTime } from './results.js';

/** Times the stages, and makes each one's progress say which it is. */
export class Clock {
  readonly times: StageTime[] = [];
  run: number | null = null;

  constructor(
    readonly options: TaskOptions,
    readonly settings: StudySettings,
  ) {}

  async stage<T>(stage: Stage, work: (task: TaskOptions) => Promise<T>): Promise<T> {
    const { signal, threads, onProgress } = this.options;
    const label = stageLabel(stage);
    throwIfAborted(signal);
    const several = this.run !== null && this.settings.repeats > 1;
    const where = several ? `split ${this.run! + 1} of ${this.settings.repeats}, ` : '';
    const report =
      onProgress && ((p: Progress) => onProgress({ ...p, stage: `${where}${label}: ${p.stage}` }));
    onProgress?.({ stage: `${where}${label}`, done: 0 });
    const began = performance.now();
    const result = await work({ signal, threads, onProgress: report });
    throwIfAborted(signal);
    this.times.push({ run: this.run, ...stage, seconds: (performance.now() - began) / 1000 });
    return result;
  }
}
