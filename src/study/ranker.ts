// The ranker of a study, fitted in this thread or in its own worker.

import { readSideInfo, type SideInfoSource } from '../attributes/side-info.js';
import { type FitResult, fit } from '../fit/fit.js';
import { featureCount, type Ranker } from '../fit/model.js';
import { parseHalfLife } from '../fit/ranking/recency.js';
import { toShared } from '../graph/transfer.js';
import type { RankingResult } from '../metrics/ranking-metrics.js';
import { createPool, taskModule } from '../parallel/pool.js';
import type { TaskOptions } from '../progress.js';
import type { Split } from '../sample/split-types.js';
import { PLAIN_ROW, type RankedMethod } from './leaderboard.js';
import { evaluateInStudy, rankingOf } from './models.js';
import { INFO_ROW, type StudySettings } from './options.js';
import type { EvaluateJob, FitJob } from './ranker-tasks.js';
import type { StudyRanker } from './results.js';
import type { StageTimes } from './stage-times.js';

/** Fits whose scores are added up: the default of `fit --method ranking`, so that a study shows the same ranker. */
const AVERAGE = 1;

const RANKING = taskModule('./ranker-tasks.js', import.meta.url);

/**
 * Fits and evaluates the ranker, and the same ranker with attributes if there is a table about the items. `apart`: in a worker, so
 * that nothing else waits for it.
 */
export async function fitRanker(
  parts: Split,
  settings: StudySettings,
  times: StageTimes,
  apart: boolean,
  itemInfo: SideInfoSource | undefined,
): Promise<{ readonly rows: readonly RankedMethod[]; readonly described: StudyRanker }> {
  const steps = apart ? inWorker(parts, settings) : here(parts, settings);
  try {
    const described = await times.stage({ stage: 'fit', model: 'ranking' }, steps.fit);
    const rows: RankedMethod[] = [];
    const add = async (id: string, info: SideInfoSource | undefined) => {
      const ranking = await times.stage({ stage: 'evaluate', model: 'ranking' }, (task) =>
        steps.evaluate(task, info),
      );
      const row: RankedMethod = { ...PLAIN_ROW, id, kind: 'ranker', features: described.features, ranking };
      times.found(row);
      rows.push(row);
    };
    // Only attributes rank items without edges.
    if (parts.method === 'new-items') times.skip();
    else await add('ranking', undefined);
    if (itemInfo) await add(INFO_ROW, itemInfo);
    return { rows, described };
  } finally {
    await steps.close();
  }
}

interface Steps {
  fit(task: TaskOptions): Promise<StudyRanker>;
  evaluate(task: TaskOptions, itemInfo: SideInfoSource | undefined): Promise<RankingResult>;
  close(): Promise<void>;
}

function here(parts: Split, settings: StudySettings): Steps {
  let model: Ranker;
  return {
    async fit(task) {
      const fitted = await fitForRanking(parts, settings, task);
      model = fitted.model;
      return describeRanker(fitted);
    },
    evaluate: (task, itemInfo) => evaluateRanker(model, parts, settings, task, itemInfo),
    close: async () => {},
  };
}

function inWorker(parts: Split, settings: StudySettings): Steps {
  const pool = createPool(RANKING, 1);
  // The caller that awaits the first step gets the error.
  pool.catch(() => {});
  return {
    async fit({ threads, signal, onProgress }) {
      const job: FitJob = { parts: toShared(parts), settings, threads };
      return (await pool).run<FitJob, StudyRanker>('fitApart', job, signal, onProgress);
    },
    async evaluate({ threads, signal, onProgress }, itemInfo) {
      const job: EvaluateJob = { threads, itemInfo };
      return (await pool).run<EvaluateJob, RankingResult>('evaluateApart', job, signal, onProgress);
    },
    close: async () => {
      await (await pool.catch(() => undefined))?.close();
    },
  };
}

export function fitForRanking(
  { train, times }: Split,
  { seed, engine, halfLife }: StudySettings,
  task: TaskOptions,
): Promise<FitResult<Ranker>> {
  const weighed = parseHalfLife(halfLife) === 'never' ? {} : { halfLife, times: times!.train };
  return fit(train, { method: 'ranking', average: AVERAGE, seed, engine, ...weighed, ...task });
}

export async function evaluateRanker(
  model: Ranker,
  parts: Split,
  settings: StudySettings,
  task: TaskOptions,
  itemInfo: SideInfoSource | undefined,
): Promise<RankingResult> {
  const info = itemInfo && readSideInfo(parts.train.items, itemInfo).info;
  return rankingOf(await evaluateInStudy(model, parts, settings, task, info));
}

export function describeRanker({ model, seconds, engine, recency }: FitResult<Ranker>): StudyRanker {
  const { iterations, converged } = model.provenance;
  return {
    features: featureCount(model)!,
    average: AVERAGE,
    iterations,
    converged,
    seconds,
    engine,
    ...(model.recency && { recency: model.recency }),
    ...(recency && { halfLifeSearch: recency }),
  };
}
