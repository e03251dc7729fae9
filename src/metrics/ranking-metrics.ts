// Metrics of full rankings, from the ranks of the relevant items.

import type { RowLists } from '../math/csr.js';
import { mean } from '../math/moments.js';
import type { RankAnswer, RankQuery } from '../topn/query.js';
import { coverage, type UserListMetric, userMetric } from './definitions.js';

/** The metrics of full rankings, and whether each looks at the first n places or at the whole depth of the ranking. */
const WITHIN = {
  recall: 'n',
  recallCapped: 'n',
  ndcg: 'depth',
  hitRate: 'n',
  mrr: 'depth',
  map: 'depth',
} as const satisfies Partial<Record<UserListMetric, 'n' | 'depth'>>;

/** Metrics that every user has a value of. Coverage belongs to all users together. */
export const USER_METRICS = Object.keys(WITHIN) as (keyof typeof WITHIN)[];
/** The ranking metrics that each user has a value of. */
export type UserMetric = (typeof USER_METRICS)[number];

/** One value for each metric of users. */
export function byMetric<T>(make: (name: UserMetric) => T): Record<UserMetric, T> {
  return Object.fromEntries(USER_METRICS.map((name) => [name, make(name)])) as Record<UserMetric, T>;
}

/** Ranking metrics over a set of users: means and standard errors. */
export interface RankingScores {
  /** Users with a relevant candidate. */
  readonly users: number;
  readonly candidates: number;
  readonly mean: Readonly<Record<UserMetric, number>>;
  /** Standard error of the mean over users; 0 for a single user. */
  readonly standardError: Readonly<Record<UserMetric, number>>;
  /** Share of the candidates that are among the first n of some user. */
  readonly coverage: number;
  /** Per candidate, 1 if it is among the first n of some user. */
  readonly shown: Uint8Array;
  /** The row of each evaluated user in the task, in the order of the arrays of perUser. */
  readonly rows: Uint32Array;
  readonly perUser: Readonly<Record<UserMetric, Float64Array>>;
}

/** Ranking metrics over all items and over the unpopular ones. */
export interface RankingResult {
  readonly n: number;
  readonly depth: number;
  readonly all: RankingScores;
  /** Without popular items; undefined if no user has an unpopular test item. */
  readonly unpopular: RankingScores | undefined;
}

/** The score that settings are chosen by on held-back users: the mean of capped recall and nDCG. */
export function tuningScore({ all }: Pick<RankingResult, 'all'>): number {
  return (all.mean.recallCapped + all.mean.ndcg) / 2;
}

/** The scored rankings of some users, over all candidates and over the unpopular ones. */
export interface RankedUsers {
  readonly n: number;
  readonly depth: number;
  readonly all: RankedView;
  readonly unpopular: RankedView | undefined;
}

type RankedView = Pick<RankingScores, 'candidates' | 'rows' | 'perUser' | 'shown'>;

/**
 * Scores the answer to a query: all candidates, then the unpopular ones. `unseen`, if given, counts the relevant items of
 * each row that are no candidates: nobody finds them.
 */
export function scoreAnswer(query: RankQuery, answer: RankAnswer, unseen?: Uint32Array): RankedUsers {
  const { depth, top: n } = query;
  const [all, unpopular] = query.views.map(({ relevant, without }, v): RankedView => {
    const scored = scoreRanks(relevant, answer.ranks[v], n, depth, unseen);
    return { ...scored, candidates: query.candidates - without.length, shown: answer.shown[v] };
  });
  return { n, depth, all, unpopular };
}

/** Means over the users of all pieces, in the order of the pieces. `order`, if given, reorders the users of `all`. */
export function concludeRanking(pieces: readonly RankedUsers[], order?: Uint32Array): RankingResult {
  const { n, depth } = pieces[0];
  const all = joinedViews(pieces.map((piece) => piece.all));
  const some = pieces.flatMap(({ unpopular }) => (unpopular ? [unpopular] : []));
  const unpopular = some.length === 0 ? undefined : scoresOf(joinedViews(some));
  return Object.freeze({ n, depth, all: scoresOf(order ? reorder(all, order) : all), unpopular });
}

/** The figures of two groups of users, each ranked alone; the users of the first come first. */
export function joinRankings(one: RankingResult, other: RankingResult | undefined): RankingResult {
  return other ? concludeRanking([one, other]) : one;
}

function joinedViews(views: readonly RankedView[]): RankedView {
  if (views.length === 1) return views[0];
  const perUser = byMetric((name) =>
    Float64Array.from(views.flatMap((view) => Array.from(view.perUser[name]))),
  );
  const shown = new Uint8Array(views[0].shown.length);
  for (const view of views) for (let c = 0; c < shown.length; c++) shown[c] |= view.shown[c];
  const rows = Uint32Array.from({ length: perUser.recall.length }, (_, row) => row);
  return { candidates: views[0].candidates, rows, perUser, shown };
}

function reorder(view: RankedView, order: Uint32Array): RankedView {
  const perUser = byMetric((name) => Float64Array.from(order, (place) => view.perUser[name][place]));
  return { ...view, perUser };
}

function scoresOf({ candidates, rows, perUser, shown }: RankedView): RankingScores {
  return Object.freeze({
    users: perUser.recall.length,
    candidates,
    mean: byMetric((name) => mean(perUser[name])),
    standardError: byMetric((name) => standardError(perUser[name])),
    coverage: coverage(shown, candidates),
    shown,
    rows,
    perUser,
  });
}

function scoreRanks(
  { offsets }: RowLists,
  ranks: Uint32Array,
  n: number,
  depth: number,
  unseen: Uint32Array | undefined,
): Pick<RankedView, 'rows' | 'perUser'> {
  const rows: number[] = [];
  const relevantOf = (row: number) => offsets[row + 1] - offsets[row] + (unseen?.[row] ?? 0);
  for (let r = 0; r + 1 < offsets.length; r++) if (relevantOf(r) > 0) rows.push(r);
  const perUser = byMetric(() => new Float64Array(rows.length));
  for (const [u, row] of rows.entries()) {
    const relevant = relevantOf(row);
    // A rank of 0 lies beyond the depth.
    const deep = ranks
      .slice(offsets[row], offsets[row + 1])
      .filter((rank) => rank > 0)
      .sort();
    const hits = { depth: deep, n: deep.filter((rank) => rank <= n) };
    const length = { depth, n };
    for (const name of USER_METRICS) {
      const within = WITHIN[name];
      perUser[name][u] = userMetric[name](hits[within], relevant, length[within]);
    }
  }
  return { rows: Uint32Array.from(rows), perUser };
}

/** Standard error of the mean; 0 for a single value. */
function standardError(values: Float64Array): number {
  if (values.length < 2) return 0;
  const average = mean(values);
  let squares = 0;
  for (const value of values) squares += (value - average) ** 2;
  return Math.sqrt(squares / (values.length - 1) / values.length);
}
