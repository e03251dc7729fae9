// The baselines of a split: each tuned on held-back training users, fitted to all of them, and judged like every model.

import { InputError } from '../../errors.js';
import type { TaskOptions } from '../../progress.js';
import type { Split } from '../../sample/split-types.js';
import { evaluateRanking, type RankingOptions, type RankingResult, rankingOptions } from '../ranking.js';
import { indexByIds, type SplitRankingTask } from '../ranking-task.js';
import type { Baseline, BaselineData, Setting, SkipReason } from './baseline.js';
import { transposeLists } from './baseline.js';
import { BASELINES, type BaselineName, baselineOf } from './list.js';
import { type Trial, type Tuned, tune } from './tune.js';
import { holdBack, someUsers, type Validation } from './validation.js';

export interface BaselineOptions extends RankingOptions {
  /** Which to fit. Default: all. */
  readonly baselines?: readonly BaselineName[] | undefined;
  readonly seed?: number | undefined;
  /** Most settings tried for one baseline. Default 30. */
  readonly maxTrials?: number | undefined;
}

export interface BaselineResult {
  readonly name: BaselineName;
  readonly setting: Setting;
  /** What was tried on held-back training users; empty where there is nothing to tune. */
  readonly trials: readonly Trial[];
  /** False where the number of trials ended the search. */
  readonly tuned: boolean;
  readonly ranking: RankingResult;
  readonly seconds: number;
}

export interface BaselineReport {
  readonly results: readonly BaselineResult[];
  /** Baselines that were not fitted, and why. */
  readonly skipped: readonly { readonly name: BaselineName; readonly reason: SkipReason }[];
}

/** Fits and judges the baselines on a split. `task` is splitRankingTask(split). */
export async function fitBaselines(
  split: Split,
  task: SplitRankingTask,
  options: BaselineOptions = {},
): Promise<BaselineReport> {
  if (split.method !== 'pq') {
    throw new InputError(
      `baselines need a split by pq, this one is by ${split.method}: they are tuned on users held back as a whole`,
    );
  }
  const seed = options.seed ?? 1;
  const data = baselineData(split, task);
  const validation = holdBack(data, { seed });
  const results: BaselineResult[] = [];
  const skipped: BaselineReport['skipped'][number][] = [];
  for (const name of options.baselines ?? BASELINES) {
    const baseline = baselineOf(name);
    const { title } = baseline;
    const start = performance.now();
    const reason = baseline.limit(data);
    if (reason !== undefined) {
      skipped.push({ name, reason });
      continue;
    }
    const stage = (what: string) => ({
      ...options,
      seed,
      onProgress: prefixed(options, `${title}: ${what}`),
    });
    const tuned = await tuneBaseline(baseline, validation, { ...options, seed });
    const fitted = await baseline.fit(data, tuned?.best.setting ?? {}, stage('fitting'));
    const ranking = await evaluateRanking(
      task,
      await fitted.scorer(task.history),
      rankingOptions(stage('ranking')),
    );
    results.push({
      name,
      setting: fitted.setting,
      trials: tuned?.trials ?? [],
      tuned: tuned?.finished ?? true,
      ranking,
      seconds: (performance.now() - start) / 1000,
    });
  }
  return Object.freeze({ results, skipped });
}

/** The training part as the baselines see it; items in the order of the task. */
export function baselineData(split: Split, task: SplitRankingTask): BaselineData {
  const ids = split.train.items.ids;
  const coins = split.coins.items;
  const shown = Uint8Array.from({ length: ids.length }, (_, j) => {
    const coin = coins.ids.find(ids.at(j));
    return coin >= 0 && coins.drawn[coin] === 1 ? 0 : 1;
  });
  const { offsets, values } = indexByIds(split.train, ids);
  const users = { offsets, values };
  return { users, items: transposeLists(users, ids.length), shown, candidates: task.candidates };
}

/** Finds a setting on held-back users: the mean of recall and nDCG decides. Undefined: nothing to tune. */
export async function tuneBaseline(
  baseline: Baseline,
  { data, history, task }: Validation,
  options: BaselineOptions & { readonly seed: number },
): Promise<Tuned | undefined> {
  const { threads, signal, n, depth, seed, engine, maxTrials = 30 } = options;
  const part = someUsers(data, baseline.tuningEdges ?? Infinity);
  const report = prefixed(options, `${baseline.title}: tuning`);
  const score = async (setting: Setting) => {
    const fitted = await baseline.fit(part, setting, { threads, signal, seed, engine, tuning: true });
    const { all } = await evaluateRanking(task, await fitted.scorer(history), { threads, signal, n, depth });
    return (all.mean.recall + all.mean.ndcg) / 2;
  };
  let found: Tuned | undefined;
  for (const dials of baseline.dials(data)) {
    found = await tune(dials, score, {
      maxTrials,
      from: found,
      onTrial: (done) => report?.({ stage: '', done, unit: 'settings' }),
    });
  }
  return found;
}

/** Progress that says which baseline it is of. */
export function prefixed({ onProgress }: TaskOptions, stage: string): TaskOptions['onProgress'] {
  return onProgress && ((progress) => onProgress({ ...progress, stage }));
}
