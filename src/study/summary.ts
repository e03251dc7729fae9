// Mean and spread of a study's figures over its splits.

import { STATISTICS, type Statistic } from '../evaluate/predictive.js';
import { meanAndSpread } from '../math/moments.js';
import { LEADERBOARD_METRICS, type LeaderboardMetric, leaderboardFigure, rowIds } from './leaderboard.js';
import {
  checkedFits,
  fitId,
  predictionError,
  type Spread,
  type StudyRun,
  type StudySummary,
} from './results.js';

export function summarizeRuns(runs: readonly StudyRun[]): StudySummary {
  const ranking: Record<string, Partial<Record<LeaderboardMetric, Spread>>> = {};
  for (const id of new Set(runs.flatMap((run) => run.leaderboard.rows.flatMap(rowIds)))) {
    const metrics: Partial<Record<LeaderboardMetric, Spread>> = {};
    for (const metric of LEADERBOARD_METRICS) {
      const spread = spreadOf(
        runs.map((run) => {
          const row = run.leaderboard.rows.find((r) => rowIds(r).includes(id));
          return row && leaderboardFigure(row, metric)?.mean;
        }),
      );
      if (spread) metrics[metric] = spread;
    }
    ranking[id] = metrics;
  }
  const prediction: Record<string, Partial<Record<Statistic, Spread>>> = {};
  for (const { model, features } of checkedFits(runs[0].fits)) {
    const errors: Partial<Record<Statistic, Spread>> = {};
    for (const statistic of STATISTICS) {
      const spread = spreadOf(
        runs.map((run) => {
          const fit = checkedFits(run.fits).find((f) => f.model === model && f.features === features);
          return fit?.predictive.observed[statistic] === undefined
            ? undefined
            : predictionError(fit, statistic);
        }),
      );
      if (spread) errors[statistic] = spread;
    }
    prediction[fitId(model, features)] = errors;
  }
  return { runs: runs.length, ranking, prediction };
}

/** Over the runs that have the figure; undefined if none has. */
function spreadOf(values: readonly (number | undefined)[]): Spread | undefined {
  const present = values.filter((value) => value !== undefined);
  if (present.length === 0) return undefined;
  const { mean, spread } = meanAndSpread(present);
  return { mean, spread: present.length > 1 ? spread : null };
}
