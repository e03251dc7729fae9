// Which stage of a study is under way, and how long each took.

import { throwIfAborted } from '../errors.js';
import type { ThreadShare } from '../parallel/budget.js';
import type { Progress, TaskOptions } from '../progress.js';
import { type Stage, stageLabel } from '../text/stages.js';
import type { RankedMethod } from './leaderboard.js';
import type { StudyOptions, StudySettings } from './options.js';
import { Course, planOf } from './plan.js';
import type { StageTime, StudyFinding, StudyFit } from './results.js';

type ClockOptions = TaskOptions & Pick<StudyOptions, 'truth' | 'onFinding'>;

/** Times the stages, and makes each one's progress say which it is. */
export class StageTimes {
  readonly times: StageTime[] = [];
  run: number | null = null;
  readonly #course: Course;
  /** Of what goes on beside something else that is shown, nothing is said yet. */
  #shown = true;
  /** What to say first as soon as it is shown. */
  readonly #held: (() => void)[] = [];
  /** The threads of the part that is timed, where it goes on beside others. */
  #share: ThreadShare | undefined;

  constructor(
    readonly options: ClockOptions,
    readonly settings: StudySettings,
    course?: Course,
  ) {
    this.#course = course ?? new Course(planOf(settings, options.truth !== undefined));
  }

  /** Hands a result on as soon as it is there, and those of what is shown before it have been. */
  found({ ranking, ...row }: RankedMethod, fit: StudyFit | null = null): void {
    const { repeats, features } = this.settings;
    const finding: StudyFinding = {
      kind: 'method',
      run: repeats > 1 ? this.run : null,
      row,
      several: features.length > 1,
      n: ranking.n,
      recall: ranking.all.mean.recall,
      ndcg: ranking.all.mean.ndcg,
      fit,
    };
    const tell = () => this.options.onFinding?.(finding);
    if (this.#shown) tell();
    else this.#held.push(tell);
  }

  /** `waited`: for so many milliseconds none of the work could go on, which is not to be counted. */
  async stage<T>(
    stage: Stage,
    work: (task: TaskOptions, waited: (ms: number) => void) => Promise<T>,
  ): Promise<T> {
    const { signal, onProgress } = this.options;
    const label = stageLabel(stage);
    throwIfAborted(signal);
    const several = this.run !== null && this.settings.repeats > 1;
    const where = several ? `split ${this.run! + 1} of ${this.settings.repeats}, ` : '';
    let began = performance.now();
    const lasted = () => (performance.now() - began) / 1000;
    const say = (p: Progress) => {
      if (this.#shown) onProgress?.({ ...p, overall: this.#course.where(lasted()) });
    };
    const begin = () => {
      this.#course.begin(label, this.run);
      say({ stage: `${where}${label}`, done: 0 });
    };
    const whole = this.#shown;
    if (whole) begin();
    else this.#held.push(begin);
    const report = onProgress && ((p: Progress) => say({ ...p, stage: `${where}${label}: ${p.stage}` }));
    const threads = this.#share ? this.#share.take() : this.options.threads;
    const result = await work({ signal, threads, onProgress: report }, (ms) => {
      began += ms;
    });
    throwIfAborted(signal);
    if (whole) this.#course.end(label, lasted());
    else this.#course.pass(label, this.run);
    this.times.push({ run: this.run, ...stage, seconds: lasted() });
    return result;
  }

  /**
   * Works on several things, one after the other or all at once; then each has a clock of its own, and progress and findings
   * are those of the first that is not done. Where one fails the others are stopped and waited for.
   */
  async together<T extends readonly unknown[]>(
    tasks: { readonly [I in keyof T]: (clock: StageTimes) => Promise<T[I]> },
    atOnce: boolean,
  ): Promise<T> {
    const results: unknown[] = [];
    if (!atOnce) {
      for (const task of tasks) results.push(await task(this));
      return results as unknown as T;
    }
    const stop = new AbortController();
    const given = this.options.signal;
    const signal = given ? AbortSignal.any([given, stop.signal]) : stop.signal;
    const clocks = tasks.map(() => this.#beside(signal));
    const done = clocks.map(() => false);
    const show = () => {
      this.#course.atOnce = done.filter((one) => !one).length || 1;
      for (const [at, clock] of clocks.entries()) {
        clock.#show();
        if (!done[at]) return;
      }
    };
    show();
    const failures: unknown[] = [];
    await Promise.allSettled(
      tasks.map(async (task, at) => {
        try {
          results[at] = await task(clocks[at]);
          done[at] = true;
          show();
        } catch (error) {
          failures.push(error);
          stop.abort();
        }
      }),
    );
    for (const clock of clocks) this.times.push(...clock.times);
    // The others were stopped because of the first.
    if (failures.length > 0) throw failures[0];
    return results as unknown as T;
  }

  /** Does a part's work with its share of the threads, as soon as one is free for it. */
  async within<T>(share: ThreadShare | undefined, work: () => Promise<T>): Promise<T> {
    await share?.begin();
    this.#share = share;
    try {
      return await work();
    } finally {
      share?.end();
      this.#share = undefined;
    }
  }

  #beside(signal: AbortSignal): StageTimes {
    const clock = new StageTimes({ ...this.options, signal }, this.settings, this.#course);
    clock.run = this.run;
    clock.#shown = false;
    return clock;
  }

  #show(): void {
    this.#shown = true;
    for (const tell of this.#held.splice(0)) tell();
  }
}
