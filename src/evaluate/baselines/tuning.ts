// How a baseline's setting is found: tried on held-back training users, who decide by the mean of recall and nDCG.

import { type HeldBackTask, someCandidates, someUsers } from '../../metrics/held-back.js';
import { tuningScore } from '../../metrics/ranking-metrics.js';
import { searchSettings, type Tuned } from '../../metrics/setting-search.js';
import type { TaskOptions } from '../../progress.js';
import { evaluateRanking, type RankingOptions } from '../evaluate-ranking.js';
import type { Baseline, FittedBaseline, Setting } from './baseline.js';

export interface TuningOptions extends RankingOptions {
  readonly seed: number;
  /** Most settings tried. Default 30. */
  readonly maxTrials?: number | undefined;
}

/** Held-back users × candidates to tune on, at least, where some are enough: EASE then had the same penalty on goodbooks. */
export const TUNING_PAIRS = 2.4e6;
/** Edges beyond which regressions have a large set: penalties begin higher, and what is exact enough is less. */
export const MANY_EDGES = 2e6;

/** Finds a setting on held-back users: the mean of recall and nDCG decides. Undefined: nothing to tune. */
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
  for (const dials of baseline.dials(data)) {
    found = await searchSettings(dials, score, {
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
