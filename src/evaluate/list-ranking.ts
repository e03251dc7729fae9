// Lists made elsewhere as a ranking, evaluated on the users of a split's ranking task under the protocol all-items.

import { userMetric } from '../metrics/definitions.js';
import { hitRanks } from '../metrics/list-metrics.js';
import { byMetric, concludeRanking, type RankingResult, USER_METRICS } from '../metrics/ranking-metrics.js';
import type { Split } from '../sample/split-types.js';
import { type GivenLists, type GivenRecommendations, givenLists } from './make-lists.js';
import { historyOf, type SplitRankingTask } from './split-task.js';
import { tableTask } from './table-task.js';

/**
 * The figures of lists for all users of the task: those with a history first, then those without, as `joinRankings` has
 * them. Users with a history and no list count as 0; users with neither get popular items.
 */
export function rankLists(
  given: GivenRecommendations,
  split: Split,
  task: SplitRankingTask,
  n: number,
): { readonly ranking: RankingResult; readonly notes: Omit<GivenLists, 'lists'> } {
  const tables = tableTask(split);
  const { lists, ...notes } = givenLists(given, tables, n);
  const items = split.train.items.ids;
  const shown = new Uint8Array(task.candidates.length);
  const values = byMetric(() => new Float64Array(tables.users.length));
  for (const [at, u] of orderOf(split, task, tables.users).entries()) {
    const relevant = tables.relevant[u];
    const hits = hitRanks(lists[u], relevant, n);
    for (const name of USER_METRICS) values[name][at] = userMetric[name](hits, relevant.length, n);
    for (const position of lists[u]) {
      const item = position < 0 ? -1 : items.find(tables.items.at(position));
      if (item >= 0) shown[item] = 1;
    }
  }
  const rows = Uint32Array.from(values.recall.keys());
  const view = { candidates: task.candidates.length, rows, perUser: values, shown };
  return { ranking: concludeRanking([{ n, depth: n, all: view, unpopular: undefined }]), notes };
}

/** The users of the tables in the order of the task: the rows with a history, then the others. */
function orderOf(
  split: Split,
  task: SplitRankingTask,
  users: ReturnType<typeof tableTask>['users'],
): number[] {
  const known = historyOf(split).users.ids;
  const { history } = task;
  const row = (u: number) => {
    const at = known.find(users.at(u));
    return at >= 0 && history.offsets[at + 1] > history.offsets[at] ? at : -1;
  };
  const all = Array.from({ length: users.length }, (_, u) => ({ u, row: row(u) }));
  const withHistory = all.filter((one) => one.row >= 0).sort((a, b) => a.row - b.row);
  return [...withHistory, ...all.filter((one) => one.row < 0)].map(({ u }) => u);
}
