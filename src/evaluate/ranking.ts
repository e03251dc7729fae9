// Ranking metrics (definitions for readers in docs/metrics.md), all from the ranks of the relevant items.

import { InputError } from '../errors.js';
import { partFor, settle } from '../options/door.js';
import type { OptionsOf } from '../options/kinds.js';
import { RANKING_LISTS } from '../options/library.js';
import { TASK } from '../options/shared.js';
import { type RowLists, rank, type Scorer } from '../predict/rank.js';
import type { TaskOptions } from '../progress.js';
import { queryOf, type RankingTask } from './ranking-task.js';

/** Metrics that every user has a value of. Coverage belongs to all users together. */
export const USER_METRICS = ['recall', 'ndcg', 'hitRate', 'mrr', 'map'] as const;
/** The ranking metrics that each user has a value of. */
export type UserMetric = (typeof USER_METRICS)[number];

/** Lengths of the lists that are judged; declared in options/library.ts. */
export interface RankingOptions extends OptionsOf<typeof RANKING_LISTS>, TaskOptions {}

const RANKING = { ...RANKING_LISTS, ...TASK };

/** The part of wider options that a ranking takes. */
export const rankingOptions = (options: object): RankingOptions => partFor(RANKING, options);

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

/** Ranks the candidates of a task for each of its users, and scores the rankings. */
export async function evaluateRanking(
  task: RankingTask,
  scorer: Scorer,
  options: RankingOptions = {},
): Promise<RankingResult> {
  const { n, depth: asked } = settle(RANKING, options);
  const depth = Math.max(n, asked);
  if (task.relevant.values.length === 0) {
    throw new InputError('nothing to evaluate: no row has a relevant item; hold out more users or items');
  }
  if (scorer.kind === 'factors' && scorer.users.length !== task.rows * scorer.features) {
    throw new InputError(
      `the scorer has ${scorer.users.length / scorer.features} rows of users, the task ${task.rows}: make one for each`,
    );
  }
  const query = queryOf(task, n, depth);
  const answer = await rank(scorer, task.candidates, query, options);
  const scores = query.views.map((view, v) =>
    scoreRanks(view.relevant, answer.ranks[v], {
      n,
      depth,
      candidates: query.candidates - view.without.length,
      shown: answer.shown[v],
    }),
  );
  return Object.freeze({ n, depth, all: scores[0], unpopular: scores[1] });
}

interface Frame {
  readonly n: number;
  readonly depth: number;
  readonly candidates: number;
  readonly shown: Uint8Array;
}

function scoreRanks(relevant: RowLists, ranks: Uint32Array, frame: Frame): RankingScores {
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
  const mean = {} as Record<UserMetric, number>;
  const standardError = {} as Record<UserMetric, number>;
  for (const name of USER_METRICS) [mean[name], standardError[name]] = meanAndError(perUser[name]);
  let shown = 0;
  for (const s of frame.shown) shown += s;
  return Object.freeze({
    users: rows.length,
    candidates: frame.candidates,
    mean,
    standardError,
    coverage: shown / frame.candidates,
    rows: Uint32Array.from(rows),
    perUser,
  });
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
