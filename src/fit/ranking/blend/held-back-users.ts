// Users held back from a ranking fit to find the settings of the blend. Some of their items are shown, the others are predicted.

import type { BySide } from '../../../graph/graph.js';
import type { RowLists } from '../../../math/csr.js';
import { type RankingData, shownItems, someUsers, tryHoldBack } from '../../../metrics/held-back.js';
import { concludeRanking, scoreAnswer, tuningScore } from '../../../metrics/ranking-metrics.js';
import { queryOf } from '../../../metrics/ranking-task.js';
import type { TaskOptions } from '../../../progress.js';
import { openRanking } from '../../../topn/cpu.js';
import type { FactorTables } from '../../../topn/query.js';
import { asHistory } from '../recency.js';

/** Edges in both orders. */
export type EdgeLists = BySide<RowLists>;

export interface HeldBackUsers {
  /** The other users, up to EDGES edges, and the items on which the held-back users are evaluated. */
  readonly data: RankingData;
  /** Number of held-back users; `history` holds the shown items of each, weighed by age if edges are. */
  readonly users: number;
  readonly history: RowLists;
  /** The mean of recall@20 and nDCG; the table of items has a row for each candidate. */
  score(tables: FactorTables, options: TaskOptions): Promise<number>;
  /** Ends the workers that rank. */
  close(): Promise<void>;
}

/**
 * A fifth of the users is held back, at most `most`; with fewer than `least`, chance would choose the settings. With 1,000 instead of
 * 2,000, chance cost movietweetings up to 5 % of the recall of unpopular items.
 */
const HELD_BACK = { most: 2000, least: 20 } as const;
/** The most edges of the other users in a trial. */
const EDGES = 1e6;
const LISTS = { n: 20, depth: 100 } as const;

/** Undefined if there are too few users to hold any back. The caller closes the result. */
export function holdUsersBack(
  { users, items }: EdgeLists,
  seed: number,
  threads?: number,
): HeldBackUsers | undefined {
  const shown = shownItems(items.offsets.length - 1, seed);
  const held = tryHoldBack({ users, shown }, { seed, maxUsers: HELD_BACK.most });
  if (!held || held.heldBack.length < HELD_BACK.least) return undefined;
  const query = queryOf(held.task, LISTS.n, LISTS.depth);
  const places = Uint32Array.from({ length: query.candidates }, (_, place) => place);
  const ranking = openRanking(threads);
  return {
    data: someUsers(held.data, EDGES),
    users: held.heldBack.length,
    history: asHistory(held.history),
    async score(tables, { signal }) {
      const answer = await ranking.rank(tables, places, query, signal);
      return tuningScore(concludeRanking([scoreAnswer(query, answer)]));
    },
    close: ranking.close,
  };
}
