// The ranker of a study, fitted in this thread or in its own worker.

import { readSideInfo, type SideInfoSource } from '../attributes/side-info.js';
import { evaluateModel } from '../evaluate/evaluate.js';
import { type FitResult, fit } from '../fit/fit.js';
import { featureCount, type Ranker } from '../fit/model.js';
import { parseHalfLife } from '../fit/ranking/recency.js';
import { toShared } from '../graph/transfer.js';
import type { RankingResult } from '../metrics/ranking-metrics.js';
import { createPool, taskModule } from '../parallel/pool.js';
import { withTables } from '../predict/content/fit-info.js';
import type { TaskOptions } from '../progress.js';
import type { Split } from '../sample/split-types.js';
import type { RankedMethod } from './leaderboard.js';
import { PLAIN_ROW, rankingOf } from './models.js';
import { INFO_ROW, type StudyOptions, type StudySettings } from './options.js';
import type { EvaluateJob, FitJob } from './ranker-tasks.js';
import type { StudyRanker } from './results.js';
import type { StageTimes } from './stage-times.js';

/** Fits whose scores are added up: the default of `fit --method ranking`, so that a study shows the same ranker. */
const AVERAGE = 1;

const RANKING = taskModule('./ranker-tasks.js', import.meta.url);

/** The settings of a study that its ranker uses. */
export type RankerSettings = Pick<
  StudySettings,
  'seed' | 'engine' | 'n' | 'depth' | 'drawsGiven' | 'protocol' | 'halfLife'
>;

/**
 * Fits and evaluates the ranker, and the same ranker with attributes if there is a table about the items. `apart`: in a worker, so
 * that nothing else waits for it.
 */
export async function fitRanker(
  parts: Split,
  { seed, engine, n, depth, drawsGiven, protocol, halfLife }: RankerSettings,
  times: StageTimes,
  apart: boolean,
  { itemInfo }: Pick<StudyOptions, 'itemInfo'>,
): Promise<{ readonly rows: readonly RankedMethod[]; readonly described: StudyRanker }> {
  const settings = { seed, engine, n, depth, drawsGiven, protocol, halfLife };
  const steps = apart ? inWorker(parts, settings) : here(parts, settings);
  try {
    const described = await times.stage({ stage: 'fit', model: 'ranking' }, steps.fit);
    const rows: RankedMethod[] = [];
    // Only attributes rank items without edges.
    const plain = parts.method === 'new-items' ? [] : [['ranking'] as const];
    if (plain.length === 0) times.skip();
    for (const [id, info] of [...plain, ...(itemInfo ? [[INFO_ROW, itemInfo] as const] : [])]) {
      const ranking = await times.stage({ stage: 'evaluate', model: 'ranking' }, (task) =>
        steps.evaluate(task, info),
      );
      const row: RankedMethod = { ...PLAIN_ROW, id, kind: 'ranker', features: described.features, ranking };
      times.found(row);
      rows.push(row);
    }
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

function here(parts: Split, settings: RankerSettings): Steps {
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

function inWorker(parts: Split, settings: RankerSettings): Steps {
  const pool = createPool(RANKING, 1);
  // The caller that awaits the first step gets the error.
  pool.catch(() => {});
  return {
    async fit({ threads, signal, onProgress }) {
      const job: FitJob = { parts: toShared(parts), settings, threads };
      return (await pool).run<FitJob, StudyRanker>('fitApart', job, signal, onProgress);
    },
    async evaluate({ threads, signal, onProgress }, itemInfo) {
      return (await pool).run<EvaluateJob, RankingResult>(
        'evaluateApart',
        { settings, threads, itemInfo },
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
  { train, times }: Split,
  { seed, engine, halfLife }: RankerSettings,
  task: TaskOptions,
): Promise<FitResult<Ranker>> {
  const weighed = parseHalfLife(halfLife) === 'never' ? {} : { halfLife, times: times!.train };
  return fit(train, { method: 'ranking', average: AVERAGE, seed, engine, ...weighed, ...task });
}

export async function evaluateRanker(
  model: Ranker,
  parts: Split,
  { protocol, halfLife: _, ...settings }: RankerSettings,
  task: TaskOptions,
  itemInfo: SideInfoSource | undefined,
): Promise<RankingResult> {
  const items = itemInfo && readSideInfo(parts.train.items, itemInfo).info;
  const described = items ? await withTables(model, { items }, { ...task, seed: settings.seed }) : model;
  return rankingOf(await evaluateModel(described, parts, { ...settings, draws: 0, ...task }, protocol));
}

export function describeRanker({ model, seconds, engine, recency: search }: FitResult<Ranker>): StudyRanker {
  const { iterations, converged } = model.provenance;
  const fitted = { features: featureCount(model)!, average: AVERAGE, iterations, converged, seconds, engine };
  return {
    ...fitted,
    ...(model.recency && { recency: model.recency }),
    ...(search && { halfLifeSearch: search }),
  };
}
