// The ranker of a study, fitted in this thread or in its own worker.

import { evaluateModel } from '../evaluate/evaluate.js';
import { type FitResult, fit } from '../fit/fit.js';
import { featureCount, type Ranker } from '../fit/model.js';
import { toShared } from '../graph/transfer.js';
import type { RankingResult } from '../metrics/ranking-metrics.js';
import { createPool, taskModule } from '../parallel/pool.js';
import type { TaskOptions } from '../progress.js';
import type { Split } from '../sample/split-types.js';
import type { RankedMethod } from './leaderboard.js';
import { PLAIN_ROW, rankingOf } from './models.js';
import type { StudySettings } from './options.js';
import type { EvaluateJob, FitJob } from './ranker-tasks.js';
import type { StudyRanker } from './results.js';
import type { StageTimes } from './stage-times.js';

/** Fits whose scores are added up: the default of `fit --method ranking`, so that a study shows the same ranker. */
const AVERAGE = 1;

const RANKING = taskModule('./ranker-tasks.js', import.meta.url);

/** The settings of a study that its ranker uses. */
export type RankerSettings = Pick<
  StudySettings,
  'seed' | 'engine' | 'n' | 'depth' | 'drawsGiven' | 'protocol'
>;

/** Fits and evaluates the ranker; `apart`: in a worker, so that nothing else waits for it. */
export async function fitRanker(
  parts: Split,
  { seed, engine, n, depth, drawsGiven, protocol }: RankerSettings,
  times: StageTimes,
  apart: boolean,
): Promise<{ readonly row: RankedMethod; readonly described: StudyRanker }> {
  const settings = { seed, engine, n, depth, drawsGiven, protocol };
  const steps = apart ? inWorker(parts, settings) : here(parts, settings);
  try {
    const described = await times.stage({ stage: 'fit', model: 'ranking' }, steps.fit);
    const ranking = await times.stage({ stage: 'evaluate', model: 'ranking' }, steps.evaluate);
    const row: RankedMethod = {
      ...PLAIN_ROW,
      id: 'ranking',
      kind: 'ranker',
      features: described.features,
      ranking,
    };
    times.found(row);
    return { row, described };
  } finally {
    await steps.close();
  }
}

interface Steps {
  fit(task: TaskOptions): Promise<StudyRanker>;
  evaluate(task: TaskOptions): Promise<RankingResult>;
  close(): Promise<void>;
}

function here(parts: Split, settings: RankerSettings): Steps {
  let model: Ranker;
  return {
    async fit(task) {
      const fitted = await fitForRanking(parts, settings, task);
      model = fitted.model;
      return describeRanker(fitted);
    },
    evaluate: (task) => evaluateRanker(model, parts, settings, task),
    close: async () => {},
  };
}

function inWorker(parts: Split, settings: RankerSettings): Steps {
  const pool = createPool(RANKING, 1);
  // The caller that awaits the first step gets the error.
  pool.catch(() => {});
  return {
    async fit({ threads, signal, onProgress }) {
      const job: FitJob = { parts: toShared(parts), settings, threads };
      return (await pool).run<FitJob, StudyRanker>('fitApart', job, signal, onProgress);
    },
    async evaluate({ threads, signal, onProgress }) {
      return (await pool).run<EvaluateJob, RankingResult>(
        'evaluateApart',
        { settings, threads },
        signal,
        onProgress,
      );
    },
    close: async () => {
      await (await pool.catch(() => undefined))?.close();
    },
  };
}

export function fitForRanking(
  parts: Split,
  { seed, engine }: RankerSettings,
  task: TaskOptions,
): Promise<FitResult<Ranker>> {
  return fit(parts.train, { method: 'ranking', average: AVERAGE, seed, engine, ...task });
}

export async function evaluateRanker(
  model: Ranker,
  parts: Split,
  { protocol, ...settings }: RankerSettings,
  task: TaskOptions,
): Promise<RankingResult> {
  return rankingOf(await evaluateModel(model, parts, { ...settings, draws: 0, ...task }, protocol));
}

export function describeRanker({ model, seconds, engine }: FitResult<Ranker>): StudyRanker {
  const { iterations, converged } = model.provenance;
  return { features: featureCount(model)!, average: AVERAGE, iterations, converged, seconds, engine };
}
