// Finds a baseline's setting: the one with the largest mean of recall and nDCG on held-back training users.

import { type HeldBackTask, someCandidates, someUsers } from '../../metrics/held-back.js';
import { tuningScore } from '../../metrics/ranking-metrics.js';
import { type Setting, searchSettings, type Tuned } from '../../metrics/setting-search.js';
import type { TaskOptions } from '../../progress.js';
import { evaluateRanking, type RankingOptions } from '../evaluate-ranking.js';
import type { Baseline, FittedBaseline } from './baseline.js';

export interface TuningOptions extends RankingOptions {
  readonly seed: number;
  /** Most settings tried. Default 30. */
  readonly maxTrials?: number | undefined;
}

/** The least held-back users × candidates to tune on. With this number EASE found the same penalty on goodbooks as with all. */
export const TUNING_PAIRS = 2.4e6;
/** With more edges, regressions start with a larger penalty and solve less exactly. */
export const MANY_EDGES = 2e6;

/** Finds the best setting on held-back users; undefined if there is nothing to tune. */
export async function tuneBaseline(
  baseline: Baseline,
  validation: HeldBackTask,
  options: TuningOptions,
): Promise<TunedBaseline | undefined> {
  const { threads, signal, n, depth, seed, engine, maxTrials = 30 } = options;
  const size = { users: validation.heldBack.length, edges: validation.data.users.values.length };
  const enough = baseline.tuningCandidates?.(size) ?? Infinity;
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
  for (const axes of baseline.axes(data)) {
    found = await searchSettings(axes, score, {
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

/** The best setting, and the `start` of its trial, from which a longer fit can continue. */
export type TunedBaseline = Tuned & Pick<FittedBaseline, 'start'>;

/** Reports progress under the given stage. */
export function prefixed({ onProgress }: TaskOptions, stage: string): TaskOptions['onProgress'] {
  return onProgress && ((progress) => onProgress({ ...progress, stage }));
}
