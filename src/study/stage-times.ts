// Which stage of a study is under way, and how long each took.

import { throwIfAborted } from '../errors.js';
import { AUTO } from '../options/commands/fit.js';
import type { ThreadShare } from '../parallel/budget.js';
import type { Progress, TaskOptions } from '../progress.js';
import { type Stage, stageLabel } from '../text/stages.js';
import type { RankedMethod } from './leaderboard.js';
import { modelsOf, type StudyOptions, type StudySettings } from './options.js';
import type { StageTime, StudyFinding, StudyFit } from './results.js';

type StageOptions = TaskOptions & Pick<StudyOptions, 'truth' | 'itemInfo' | 'onFinding'>;

export function stageCount(
  settings: StudySettings,
  { truth, itemInfo }: Pick<StudyOptions, 'truth' | 'itemInfo'>,
): number {
  const { features, repeats, ranker, baselines } = settings;
  const models = modelsOf(settings);
  const evidence = models.includes('sparse') ? features.length : 0;
  const run =
    2 + // split and compare
    2 * features.length * models.length +
    (ranker ? 2 : 0) +
    (itemInfo ? 1 : 0) +
    (baselines.length > 0 ? 1 : 0) +
    (truth ? 1 : 0);
  return 1 + (features.includes(AUTO) ? 1 : 0) + evidence + repeats * run;
}

/** Times the stages, and adds the stage to its progress. */
export class StageTimes {
  readonly times: StageTime[] = [];
  run: number | null = null;
  /** Shared by all that work on the same study. */
  readonly #steps: { readonly all: number; readonly start: number; done: number };
  /** Parallel work reports nothing until the work before it is done. */
  #shown = true;
  /** Reports to catch up on. */
  readonly #held: (() => void)[] = [];
  #share: ThreadShare | undefined;

  constructor(
    readonly options: StageOptions,
    readonly settings: StudySettings,
    parent?: StageTimes,
  ) {
    const all = stageCount(settings, options);
    this.#steps = parent ? parent.#steps : { all, start: performance.now(), done: 0 };
  }

  /** Reports a result as soon as it is there, after those of the work before it. */
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
    this.#whenShown(() => this.options.onFinding?.(finding));
  }

  /** Counts stages that a study does not need after all. */
  skip(stages = 1): void {
    this.#steps.done += stages;
  }

  /** `waited` returns the milliseconds in which no work could run: they are not counted. */
  async stage<T>(
    stage: Stage,
    work: (task: TaskOptions, waited: (ms: number) => void) => Promise<T>,
  ): Promise<T> {
    const { signal, onProgress } = this.options;
    throwIfAborted(signal);
    const several = this.run !== null && this.settings.repeats > 1;
    const where = several ? `split ${this.run! + 1} of ${this.settings.repeats}, ` : '';
    const label = `${where}${stageLabel(stage)}`;
    let start = performance.now();
    const report = (progress: Progress) => {
      const { all, start: first, done } = this.#steps;
      const overall = {
        step: Math.min(all, done + 1),
        steps: all,
        seconds: (performance.now() - first) / 1000,
      };
      onProgress?.({ ...progress, overall });
    };
    this.#whenShown(() => report({ stage: label, done: 0 }));
    const task = {
      signal,
      threads: this.#share ? this.#share.take() : this.options.threads,
      onProgress:
        onProgress &&
        ((progress: Progress) => {
          if (this.#shown) report({ ...progress, stage: `${label}: ${progress.stage}` });
        }),
    };
    const result = await work(task, (ms) => {
      start += ms;
    });
    throwIfAborted(signal);
    this.#steps.done++;
    this.times.push({ run: this.run, ...stage, seconds: (performance.now() - start) / 1000 });
    return result;
  }

  /**
   * Runs several pieces of work, in turn or in parallel. In parallel, progress and findings are those of the first piece
   * that is not done. If one fails, the others are stopped before its error is thrown.
   */
  async runAll<T extends readonly unknown[]>(
    tasks: { readonly [I in keyof T]: (times: StageTimes) => Promise<T[I]> },
    parallel: boolean,
  ): Promise<T> {
    const results: unknown[] = [];
    if (!parallel) {
      for (const task of tasks) results.push(await task(this));
      return results as unknown as T;
    }
    const stop = new AbortController();
    const given = this.options.signal;
    const signal = given ? AbortSignal.any([given, stop.signal]) : stop.signal;
    const pieces = tasks.map(() => this.#piece(signal));
    const done = pieces.map(() => false);
    const show = () => {
      for (const [at, piece] of pieces.entries()) {
        piece.#show();
        if (!done[at]) return;
      }
    };
    show();
    const failures: unknown[] = [];
    await Promise.allSettled(
      tasks.map(async (task, at) => {
        try {
          results[at] = await task(pieces[at]);
          done[at] = true;
          show();
        } catch (error) {
          failures.push(error);
          stop.abort();
        }
      }),
    );
    for (const piece of pieces) this.times.push(...piece.times);
    // The first failure stopped the others.
    if (failures.length > 0) throw failures[0];
    return results as unknown as T;
  }

  /** Does work with its share of the threads, as soon as one is free. */
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

  #piece(signal: AbortSignal): StageTimes {
    const piece = new StageTimes({ ...this.options, signal }, this.settings, this);
    piece.run = this.run;
    piece.#shown = false;
    return piece;
  }

  #whenShown(report: () => void): void {
    if (this.#shown) report();
    else this.#held.push(report);
  }

  #show(): void {
    this.#shown = true;
    for (const report of this.#held.splice(0)) report();
  }
}
