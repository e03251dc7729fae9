// The text of an evaluation of tables and lists.

import type { TablesEvaluation } from '../../evaluate/evaluate-tables.js';
import { isUserMetric } from '../../metrics/definitions.js';
import type { ListMetricName } from '../../metrics/list-metrics.js';
import { fixed, grouped } from '../../text/numbers.js';
import type { SideNames } from '../../text/sides.js';
import { listMetricTitle, SOURCE_TITLES, tableEvaluationDefinition } from '../words/table-evaluation.js';
import { textTable, wrap } from './text-table.js';

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
      ...found.leaderboard.map(({ source }) => SOURCE_TITLES[source]),
    ],
    ...found.n.flatMap((n, at) =>
      found.metrics.map((name) => [listMetricTitle(name, n), ...cells(at, name)]),
    ),
  ]);
  const paired = found.comparisons.map(({ source, against, metric, n, interval }) => [
    `${SOURCE_TITLES[source]} − ${SOURCE_TITLES[against]}, ${listMetricTitle(metric, n)}`,
    fixed(interval.difference, 4),
    `${fixed(interval.low, 4)} … ${fixed(interval.high, 4)}`,
    interval.low > 0 ? 'better' : interval.high < 0 ? 'worse' : 'may be chance',
  ]);
  return [
    table,
    ...(paired.length > 0
      ? ['', textTable([['user by user', 'difference', '95 % interval', ''], ...paired])]
      : []),
    '',
    ...[tableEvaluationDefinition(names), ...words].map((sentence) => wrap(sentence)),
  ].join('\n');
}
