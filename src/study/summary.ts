// Mean and spread of a study's figures over its splits.

import { STATISTICS, type Statistic } from '../evaluate/predictive.js';
import { mean, meanAndSpread } from '../math/moments.js';
import { studentQuantile } from '../math/student.js';
import { byMetric } from '../metrics/ranking-metrics.js';
import { present } from '../text/phrases.js';
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
    const rows = present(runs.map((run) => run.leaderboard.rows.find((row) => rowIds(row).includes(id))));
    ranking[id] = spreads(
      LEADERBOARD_METRICS,
      (metric) => rows.map((row) => leaderboardFigure(row, metric)?.mean),
      METRIC_RANGE,
    );
  }
  const prediction: Record<string, Partial<Record<Statistic, Spread>>> = {};
  for (const { model, features } of checkedFits(runs[0].fits)) {
    const same = runs.flatMap(({ fits }) =>
      checkedFits(fits).filter((fit) => fit.model === model && fit.features === features),
    );
    prediction[fitId(model, features)] = spreads(STATISTICS, (statistic) =>
      same.map((fit) =>
        fit.predictive.observed[statistic] === undefined ? undefined : predictionError(fit, statistic),
      ),
    );
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
    const unpopular = (metric: 'recall' | 'ndcg') =>
      rows.every((one) => one.unpopular) ? of((one) => one.unpopular![metric].mean) : null;
    return [
      {
        name: row.id,
        kind: row.kind,
        users: rows.reduce((sum, one) => sum + one.all.users, 0),
        ...byMetric((metric) => of((one) => one.all[metric].mean)),
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
        );
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

/** The spread of each figure over the runs that have it; without those that no run has. */
function spreads<Name extends string>(
  names: readonly Name[],
  valuesOf: (name: Name) => readonly (number | undefined)[],
  range?: Range,
): Partial<Record<Name, Spread>> {
  const found: Partial<Record<Name, Spread>> = {};
  for (const name of names) {
    const values = present(valuesOf(name));
    if (values.length > 0) found[name] = spreadOf(values, range);
  }
  return found;
}

/** The least and the largest value that a figure can have. */
type Range = readonly [low: number, high: number];
const METRIC_RANGE: Range = [0, 1];
const UNLIMITED: Range = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];

function spreadOf(values: readonly number[], [least, most]: Range = UNLIMITED): Spread {
  const { mean, spread } = meanAndSpread(values);
  if (values.length === 1) return { mean, spread: null, low: null, high: null };
  const half = (studentQuantile(0.05, values.length - 1) * spread) / Math.sqrt(values.length);
  return { mean, spread, low: Math.max(least, mean - half), high: Math.min(most, mean + half) };
}
