// Ranking metrics (definitions for readers in docs/metrics.md), all from the ranks of the relevant items.

import type { RowLists } from '../math/csr.js';
import type { RankAnswer, RankQuery } from '../topn/query.js';

/** Metrics that every user has a value of. Coverage belongs to all users together. */
export const USER_METRICS = ['recall', 'ndcg', 'hitRate', 'mrr', 'map'] as const;
/** The ranking metrics that each user has a value of. */
export type UserMetric = (typeof USER_METRICS)[number];

/** Ranking metrics over a set of users: means and standard errors. */
export interface RankingScores {
  /** Users with a relevant candidate. */
  readonly users: number;
  readonly candidates: number;
  readonly mean: Readonly<Record<UserMetric, number>>;
  /** Of the mean, over users; 0 for a single user. */
  readonly standardError: Readonly<Record<UserMetric, number>>;
  /** Share of the candidates that are among the first n of some user. */
  readonly coverage: number;
  /** Row of the task of each evaluated user; parallel to the arrays of perUser. */
  readonly rows: Uint32Array;
  readonly perUser: Readonly<Record<UserMetric, Float64Array>>;
}

/** Ranking metrics over all items and over the unpopular ones. */
export interface RankingResult {
  readonly n: number;
  readonly depth: number;
  readonly all: RankingScores;
  /** Without popular items; undefined where nobody has a test item left. */
  readonly unpopular: RankingScores | undefined;
}

/** What settings are chosen by on held-back users: recall and nDCG alike. */
export function tuningScore({ all }: Pick<RankingResult, 'all'>): number {
  return (all.mean.recall + all.mean.ndcg) / 2;
}

/** The rankings of some users: what is scored of each, and what they were shown, of all candidates and of unpopular ones. */
export interface RankedUsers {
  readonly n: number;
  readonly depth: number;
  readonly all: RankedView;
  readonly unpopular: RankedView | undefined;
}

interface RankedView extends Pick<RankingScores, 'candidates' | 'rows' | 'perUser'> {
  readonly shown: Uint8Array;
}

/** Scores what an engine answered: all candidates, then the unpopular ones. */
export function scoreAnswer(query: RankQuery, answer: RankAnswer): RankedUsers {
  const { depth, top: n } = query;
  const views = query.views.map((view, v) =>
    scoreRanks(view.relevant, answer.ranks[v], {
      n,
      depth,
      candidates: query.candidates - view.without.length,
      shown: answer.shown[v],
    }),
  );
  return { n, depth, all: views[0], unpopular: views[1] };
}

/** Means over the users of all pieces, in the order of the pieces, or in that of `order`: places among the users of `all`. */
export function concludeRanking(pieces: readonly RankedUsers[], order?: Uint32Array): RankingResult {
  const { n, depth } = pieces[0];
  const all = joinedViews(pieces.map((piece) => piece.all));
  const some = pieces.flatMap(({ unpopular }) => (unpopular ? [unpopular] : []));
  const unpopular = some.length === 0 ? undefined : scoresOf(joinedViews(some));
  return Object.freeze({ n, depth, all: scoresOf(order ? inOrder(all, order) : all), unpopular });
}

function joinedViews(views: readonly RankedView[]): RankedView {
  if (views.length === 1) return views[0];
  const perUser = {} as Record<UserMetric, Float64Array>;
  for (const name of USER_METRICS)
    perUser[name] = Float64Array.from(views.flatMap((view) => Array.from(view.perUser[name])));
  const shown = new Uint8Array(views[0].shown.length);
  for (const view of views) for (let c = 0; c < shown.length; c++) shown[c] |= view.shown[c];
  const rows = Uint32Array.from({ length: perUser.recall.length }, (_, row) => row);
  return { candidates: views[0].candidates, rows, perUser, shown };
}

function inOrder(view: RankedView, order: Uint32Array): RankedView {
  const perUser = {} as Record<UserMetric, Float64Array>;
  for (const name of USER_METRICS)
    perUser[name] = Float64Array.from(order, (place) => view.perUser[name][place]);
  return { ...view, perUser };
}

function scoresOf({ candidates, rows, perUser, shown }: RankedView): RankingScores {
  const mean = {} as Record<UserMetric, number>;
  const standardError = {} as Record<UserMetric, number>;
  for (const name of USER_METRICS) [mean[name], standardError[name]] = meanAndError(perUser[name]);
  let covered = 0;
  for (const s of shown) covered += s;
  return Object.freeze({
    users: perUser.recall.length,
    candidates,
    mean,
    standardError,
    coverage: covered / candidates,
    rows,
    perUser,
  });
}

interface Frame {
  readonly n: number;
  readonly depth: number;
  readonly candidates: number;
  readonly shown: Uint8Array;
}

function scoreRanks(relevant: RowLists, ranks: Uint32Array, frame: Frame): RankedView {
  const { offsets } = relevant;
  const rows: number[] = [];
  for (let r = 0; r + 1 < offsets.length; r++) if (offsets[r + 1] > offsets[r]) rows.push(r);
  const perUser = Object.fromEntries(
    USER_METRICS.map((name) => [name, new Float64Array(rows.length)]),
  ) as Record<UserMetric, Float64Array>;
  const ideal = idealGains(frame.depth);
  for (const [u, row] of rows.entries()) {
    const first = offsets[row];
    const last = offsets[row + 1];
    scoreUser(
      ranks
        .slice(first, last)
        .filter((r) => r > 0)
        .sort(),
      last - first,
      u,
      perUser,
      frame,
      ideal,
    );
  }
  const { candidates, shown } = frame;
  return { candidates, rows: Uint32Array.from(rows), perUser, shown };
}

/** `hits`: ranks within the depth, ascending; `relevant`: how many items could have been hit. */
function scoreUser(
  hits: Uint32Array,
  relevant: number,
  u: number,
  perUser: Record<UserMetric, Float64Array>,
  { n, depth }: Frame,
  ideal: Float64Array,
): void {
  let early = 0;
  let gain = 0;
  let precision = 0;
  for (let h = 0; h < hits.length; h++) {
    const rank = hits[h];
    if (rank <= n) early++;
    gain += 1 / Math.log2(rank + 1);
    precision += (h + 1) / rank;
  }
  perUser.recall[u] = early / Math.min(n, relevant);
  perUser.ndcg[u] = gain / ideal[Math.min(depth, relevant)];
  perUser.hitRate[u] = early > 0 ? 1 : 0;
  perUser.mrr[u] = hits.length > 0 ? 1 / hits[0] : 0;
  perUser.map[u] = precision / Math.min(depth, relevant);
}

/** Σ_{r ≤ m} 1/log2(r+1) for m = 0 … depth, added in the order in which gains are. */
function idealGains(depth: number): Float64Array {
  const ideal = new Float64Array(depth + 1);
  for (let m = 1; m <= depth; m++) ideal[m] = ideal[m - 1] + 1 / Math.log2(m + 1);
  return ideal;
}

function meanAndError(values: Float64Array): [number, number] {
  let sum = 0;
  for (const value of values) sum += value;
  const mean = sum / values.length;
  let squares = 0;
  for (const value of values) squares += (value - mean) ** 2;
  return [mean, values.length > 1 ? Math.sqrt(squares / (values.length - 1) / values.length) : 0];
}
