// The baselines of a split: each tuned on held-back training users, fitted to all of them, and judged like every model.

import { InputError } from '../../errors.js';
import type { TaskOptions } from '../../progress.js';
import { holdBack, someCandidates, someUsers, type Validation } from '../../ranking/held-back.js';
import { transposeLists } from '../../ranking/lists.js';
import { type RankingResult, tuningScore } from '../../ranking/metrics.js';
import { type Trial, type Tuned, tune } from '../../ranking/tune.js';
import type { Split } from '../../sample/split-types.js';
import { evaluateRanking, type RankingOptions, rankingOptions } from '../ranking.js';
import { indexByIds, type SplitRankingTask } from '../ranking-task.js';
import type { Baseline, BaselineData, FittedBaseline, Setting, SkipReason } from './baseline.js';
import { BASELINES, type BaselineName, baselineOf } from './list.js';

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

/** Edges up to which the tables of all baselines may lie in memory together. */
const BESIDE = 2e6;

/** Held-back users × candidates to tune on, at least, where some are enough: EASE then had the same penalty on goodbooks. */
const TUNING_PAIRS = 2.4e6;

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
  const validation = holdBack(data, { seed }, 'turn the baselines off');
  const names = options.baselines ?? BASELINES;
  const fitOne = async (name: BaselineName): Promise<BaselineResult | SkipReason> => {
    const baseline = baselineOf(name);
    const { title } = baseline;
    const start = performance.now();
    const reason = baseline.limit(data);
    if (reason !== undefined) return reason;
    const stage = (what: string) => ({
      ...options,
      seed,
      onProgress: prefixed(options, `${title}: ${what}`),
    });
    const tuned = await tuneBaseline(baseline, validation, { ...options, seed });
    const how = { ...stage('fitting'), start: tuned?.start };
    const fitted = await baseline.fit(data, tuned?.best.setting ?? {}, how);
    const ranking = await evaluateRanking(
      task,
      await fitted.scorer(task.history),
      rankingOptions(stage('ranking')),
    );
    return {
      name,
      setting: fitted.setting,
      trials: tuned?.trials ?? [],
      tuned: tuned?.finished ?? true,
      ranking,
      seconds: (performance.now() - start) / 1000,
    };
  };
  // Beside each other: what one does in this thread, and the ends of its work in others, leave cores to the rest.
  const atOnce = data.users.values.length <= BESIDE ? names.length : 1;
  const found = await inTurns(names, atOnce, fitOne);
  const results = found.filter((one) => 'name' in one);
  const skipped = names.flatMap((name, at) => {
    const one = found[at];
    return 'code' in one ? [{ name, reason: one }] : [];
  });
  return Object.freeze({ results, skipped });
}

/** A task for each value, so many at a time. Where one fails the others are waited for, so that nothing goes on unseen. */
async function inTurns<T, R>(
  values: readonly T[],
  atOnce: number,
  task: (value: T) => Promise<R>,
): Promise<R[]> {
  const results = new Array<R>(values.length);
  const queue = values.entries();
  const lane = async () => {
    for (const [at, value] of queue) results[at] = await task(value);
  };
  const lanes = await Promise.allSettled(Array.from({ length: atOnce }, lane));
  for (const one of lanes) if (one.status === 'rejected') throw one.reason;
  return results;
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
  validation: Validation,
  options: BaselineOptions & { readonly seed: number },
): Promise<TunedBaseline | undefined> {
  const { threads, signal, n, depth, seed, engine, maxTrials = 30 } = options;
  const enough = baseline.byCandidate ? Math.ceil(TUNING_PAIRS / validation.heldBack.length) : Infinity;
  const { data, history, task } = someCandidates(validation, enough);
  const part = someUsers(data, baseline.tuningEdges ?? Infinity);
  const report = prefixed(options, `${baseline.title}: tuning`);
  const score = async (setting: Setting) => {
    const fitted = await baseline.fit(part, setting, { threads, signal, seed, engine, tuning: true });
    const lists = { threads, signal, n, depth };
    const reached = tuningScore(await evaluateRanking(task, await fitted.scorer(history), lists));
    last = { setting, start: fitted.start };
    return reached;
  };
  let last: Pick<FittedBaseline, 'setting' | 'start'> | undefined;
  let start: Float32Array | undefined;
  let found: Tuned | undefined;
  for (const dials of baseline.dials(data)) {
    found = await tune(dials, score, {
      maxTrials,
      from: found,
      onTrial: (done) => report?.({ stage: '', done, unit: 'settings' }),
      onBest({ setting }) {
        if (setting === last?.setting) start = last.start;
      },
    });
  }
  return found && { ...found, start };
}

/** The best setting, and what its trial left for a longer fit to begin with. */
export type TunedBaseline = Tuned & Pick<FittedBaseline, 'start'>;

/** Progress that says which baseline it is of. */
export function prefixed({ onProgress }: TaskOptions, stage: string): TaskOptions['onProgress'] {
  return onProgress && ((progress) => onProgress({ ...progress, stage }));
}
