// Which stage of a study is under way, and how long each took.

import { throwIfAborted } from '../errors.js';
import type { Progress, TaskOptions } from '../progress.js';
import { type Stage, stageLabel } from '../text/stages.js';
import type { Contestant } from './ladder.js';
import type { StudyOptions, StudySettings } from './options.js';
import { Course, planOf } from './plan.js';
import type { StageTime, StudyFit } from './results.js';

/** Times the stages, and makes each one's progress say which it is. */
export class Clock {
  readonly times: StageTime[] = [];
  run: number | null = null;
  readonly #course: Course;

  constructor(
    readonly options: TaskOptions & Pick<StudyOptions, 'truth' | 'onFinding'>,
    readonly settings: StudySettings,
  ) {
    this.#course = new Course(planOf(settings, options.truth !== undefined));
  }

  /** Hands a result on as soon as it is there. */
  found({ ranking, ...row }: Contestant, fit: StudyFit | null = null): void {
    const { repeats, features } = this.settings;
    this.options.onFinding?.({
      kind: 'method',
      run: repeats > 1 ? this.run : null,
      row,
      several: features.length > 1,
      n: ranking.n,
      recall: ranking.all.mean.recall,
      ndcg: ranking.all.mean.ndcg,
      fit,
    });
  }

  async stage<T>(stage: Stage, work: (task: TaskOptions) => Promise<T>): Promise<T> {
    const { signal, threads, onProgress } = this.options;
    const label = stageLabel(stage);
    throwIfAborted(signal);
    const several = this.run !== null && this.settings.repeats > 1;
    const where = several ? `split ${this.run! + 1} of ${this.settings.repeats}, ` : '';
    const began = performance.now();
    const lasted = () => (performance.now() - began) / 1000;
    this.#course.begin(label, this.run);
    const say = (p: Progress) => onProgress?.({ ...p, overall: this.#course.where(lasted()) });
    const report = onProgress && ((p: Progress) => say({ ...p, stage: `${where}${label}: ${p.stage}` }));
    say({ stage: `${where}${label}`, done: 0 });
    const result = await work({ signal, threads, onProgress: report });
    throwIfAborted(signal);
    this.#course.end(label, lasted());
    this.times.push({ run: this.run, ...stage, seconds: lasted() });
    return result;
  }
}
