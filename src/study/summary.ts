// Mean and spread of a study's figures over its splits.

import { STATISTICS, type Statistic } from '../evaluate/predictive.js';
import { mean, meanAndSpread } from '../math/moments.js';
import { studentQuantile } from '../math/student.js';
import { USER_METRICS, type UserMetric } from '../metrics/ranking-metrics.js';
import {
  LEADERBOARD_METRICS,
  type LeaderboardMetric,
  type LeaderboardRow,
  leaderboardFigure,
  rowIds,
} from './leaderboard.js';
import {
  checkedFits,
  fitId,
  type LeaderboardEntry,
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

/** Every method but ceilings, by mean recall over the runs, each compared with the next. */
export function leaderboardEntries(runs: readonly StudyRun[]): LeaderboardEntry[] {
  const [{ leaderboard }] = runs;
  const rowsOf = (id: string) =>
    runs.flatMap((run) => run.leaderboard.rows.find((row) => row.id === id) ?? []);
  const entries = leaderboard.rows.flatMap((row) => {
    if (row.kind === 'ceiling') return [];
    const rows = rowsOf(row.id);
    const of = (figure: (one: LeaderboardRow) => number) => mean(rows.map(figure));
    const metrics = Object.fromEntries(
      USER_METRICS.map((metric) => [metric, of((one) => one.all[metric].mean)]),
    ) as Record<UserMetric, number>;
    const unpopular = (metric: 'recall' | 'ndcg') =>
      rows.every((one) => one.unpopular) ? of((one) => one.unpopular![metric].mean) : null;
    return [
      {
        name: row.id,
        kind: row.kind,
        users: rows.reduce((sum, one) => sum + one.all.users, 0),
        ...metrics,
        recallUnpopular: unpopular('recall'),
        ndcgUnpopular: unpopular('ndcg'),
        coverage: of((one) => one.all.coverage),
      },
    ];
  });
  entries.sort((a, b) => b.recall - a.recall);
  return entries.map((entry, at) => {
    const next = entries[at + 1];
    if (!next) return { ...entry, difference: null };
    const difference = (metric: 'recall' | 'ndcg') => {
      if (runs.length > 1) {
        const [own, other] = [rowsOf(entry.name), rowsOf(next.name)];
        const spread = spreadOf(
          own.map((row, run) => row.all[metric].mean - (other[run]?.all[metric].mean ?? 0)),
        )!;
        return { mean: spread.mean, low: spread.low ?? spread.mean, high: spread.high ?? spread.mean };
      }
      const found = leaderboard.neighbours.find((c) => c.metric === metric && c.row === entry.name)!;
      return { mean: found.difference, low: found.low, high: found.high };
    };
    return {
      ...entry,
      difference: { to: next.name, recall: difference('recall'), ndcg: difference('ndcg') },
    };
  });
}

/** Over the runs that have the figure; undefined if none has. */
function spreadOf(values: readonly (number | undefined)[]): Spread | undefined {
  const present = values.filter((value) => value !== undefined);
  if (present.length === 0) return undefined;
  const { mean, spread } = meanAndSpread(present);
  if (present.length === 1) return { mean, spread: null, low: null, high: null };
  const half = (studentQuantile(0.05, present.length - 1) * spread) / Math.sqrt(present.length);
  return { mean, spread, low: mean - half, high: mean + half };
}
