// The text of an evaluation of tables and lists.

import type { ListScoreRow, TablesEvaluation } from '../../evaluate/evaluate-tables.js';
import { mean } from '../../math/moments.js';
import { isUserMetric } from '../../metrics/definitions.js';
import type { ListMetricName } from '../../options/names.js';
import { fixed, grouped } from '../../text/numbers.js';
import type { SideNames } from '../../text/sides.js';
import {
  listMetricTitle,
  rowTitle,
  SOURCE_TITLES,
  tableEvaluationDefinition,
} from '../words/table-evaluation.js';
import { paragraphs, textTable, wrapAll } from './text-table.js';

export function tableEvaluationText(
  found: TablesEvaluation,
  names: SideNames,
  words: readonly string[],
): string {
  const cells = (at: number, name: ListMetricName) =>
    found.leaderboard.map(({ scores }) => {
      const { mean, standardError } = scores[at];
      const found = mean[name];
      if (found === undefined) return 'none';
      const value = fixed(found, 4);
      return isUserMetric(name) ? `${value} ± ${fixed(standardError[name]!, 4)}` : value;
    });
  const table = textTable([
    [
      `${grouped(found.users)} ${names.users.many}, ${grouped(found.candidates)} ${names.items.many}`,
      ...found.leaderboard.map(rowTitle),
    ],
    ...found.n.flatMap((n, at) =>
      found.metrics.map((name) => [listMetricTitle(name, n), ...cells(at, name)]),
    ),
  ]);
  const paired = found.comparisons.map(({ source, against, name, metric, n, interval }) => [
    `${SOURCE_TITLES[source]} − ${rowTitle({ source: against, name })}, ${listMetricTitle(metric, n)}`,
    fixed(interval.difference, 4),
    `${fixed(interval.low, 4)} … ${fixed(interval.high, 4)}`,
    interval.low > 0 ? 'better' : interval.high < 0 ? 'worse' : 'may be chance',
  ]);
  return paragraphs([
    table,
    found.left.withoutHistory > 0 && found.metrics.some(isUserMetric) && groupsTable(found, names),
    paired.length > 0 && textTable([['user by user', 'difference', '95 % interval', ''], ...paired]),
    wrapAll([tableEvaluationDefinition(names), ...words]),
  ]);
}

/** The first metric of users with a history, of those without one, and of all. */
function groupsTable(found: TablesEvaluation, names: SideNames): string {
  const metric = found.metrics.find(isUserMetric)!;
  const [n] = found.n;
  return textTable([
    [listMetricTitle(metric, n), names.users.many, ...found.leaderboard.map(rowTitle)],
    ...HISTORY_GROUPS.map(({ title, has }) => [
      title,
      grouped(usersOf(found, has)),
      ...found.leaderboard.map(({ scores }) => fixed(meanOf(found, scores[0].perUser[metric]!, has), 4)),
    ]),
  ]);
}

const HISTORY_GROUPS = [
  { title: 'all', name: 'all', has: undefined },
  { title: 'with a history', name: 'withHistory', has: 1 },
  { title: 'without a history', name: 'withoutHistory', has: 0 },
] as const;

function usersOf({ hasHistory, users }: TablesEvaluation, has: 0 | 1 | undefined): number {
  return has === undefined ? users : hasHistory.filter((own) => own === has).length;
}

function meanOf({ hasHistory }: TablesEvaluation, perUser: Float64Array, has: 0 | 1 | undefined): number {
  const values = has === undefined ? perUser : perUser.filter((_, u) => hasHistory[u] === has);
  return mean(values);
}

/** The metrics of one row by groups of users: all, with a history, and without one (null if there are none). */
export function groupsJson(found: TablesEvaluation, { scores }: ListScoreRow): object {
  const groups = HISTORY_GROUPS.map(({ name, has }) => {
    const users = usersOf(found, has);
    const metrics = found.metrics
      .filter(isUserMetric)
      .map((metric) => [
        metric,
        Object.fromEntries(found.n.map((n, at) => [n, meanOf(found, scores[at].perUser[metric]!, has)])),
      ]);
    return [name, users === 0 ? null : { users, ...Object.fromEntries(metrics) }];
  });
  return Object.fromEntries(groups);
}
