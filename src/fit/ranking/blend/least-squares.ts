// Least-squares factors over all pairs, seen or not (iALS), as a member of a ranker. Held-back users choose its penalties from a
// small grid: no rule by the size of the data suited all data sets.

import { throwIfAborted } from '../../../errors.js';
import { someUsers } from '../../../metrics/held-back.js';
import type { TaskOptions } from '../../../progress.js';
import {
  alternatingLeastSquares,
  foldInLeastSquares,
  type LeastSquaresTables,
  leastSquaresStart,
  openSolvers,
} from '../../../solvers/least-squares.js';
import type { FactorTables } from '../../../topn/query.js';
import { columnSums, type RankerMember } from '../../model.js';
import { asHistory, asLearned } from '../recency.js';
import type { EdgeLists, HeldBackUsers } from './held-back-users.js';

/** Penalties of least-squares factors. */
export interface Penalties {
  /** Penalty of a row's squared norm, times (its degree + α·number of rows of the other side). */
  readonly lambda: number;
  /** Weight of the squared scores of all pairs, seen or not. */
  readonly alpha: number;
}

interface LeastSquaresFit extends Penalties, TaskOptions {
  readonly features: number;
  readonly iterations: number;
  readonly seed: number;
  readonly momentum?: number | undefined;
  /** Starting table of the items; by default small random numbers. */
  readonly start?: Float32Array | undefined;
}

/** The member of a ranker. Its known users are folded in, so that stored users and folded-in users have the same rows. */
export async function leastSquaresMember(plain: EdgeLists, options: LeastSquaresFit): Promise<RankerMember> {
  const edges = weighedEdges(plain);
  const { features, lambda, alpha, seed, iterations } = options;
  // The first half-step computes the users from the items, so random starting users would be wasted.
  const startUsers = new Float32Array(features * countsOf(edges).users);
  const { items, users: near } = await alternatingLeastSquares(edges, { ...options, startUsers });
  const users = await foldInLeastSquares(items, edges.users, undefined, { ...options, startUsers: near });
  return Object.freeze({
    features,
    items,
    users,
    userMass: columnSums(users, features),
    fold: Object.freeze({ kind: 'least-squares', lambda, alpha }),
    seed,
    iterations,
    converged: true,
  });
}

/** The grid of λ and of α·√(users × items). It encloses the optima that a longer search found on four data sets. */
const LAMBDAS = [0.012, 0.024];
const ALPHAS = [60, 120, 240];
/** Used if there are too few users to hold any back. */
const DEFAULTS = { lambda: 0.016, alpha: 120 };

/**
 * All settings are tried for TRIED.sweeps sweeps on TRIED.edges edges. The best LEADERS.most of them, within a fraction
 * LEADERS.near of the best score, are then compared after LEADERS.sweeps sweeps on all edges of the trial.
 */
const TRIED = { features: 64, sweeps: 2, edges: 2e5 } as const;
const LEADERS = { most: 2, near: 0.02, sweeps: 4 } as const;

export function defaultPenalties(edges: EdgeLists): Penalties {
  return { lambda: DEFAULTS.lambda, alpha: DEFAULTS.alpha / rootOfPairs(edges) };
}

/** The penalties whose factors rank the hidden items of held-back users best, and these factors. */
export async function searchPenalties(
  edges: EdgeLists,
  trial: HeldBackUsers,
  { seed, threads, signal, onProgress }: TaskOptions & { readonly seed: number },
) {
  const root = rootOfPairs(edges);
  const tried = LAMBDAS.flatMap((lambda) => ALPHAS.map((alpha) => ({ lambda, alpha: alpha / root })));
  const { data, history } = trial;
  const { features } = TRIED;
  const some = someUsers(data, TRIED.edges);
  const rows = countsOf(data);
  const workers = openSolvers(threads, Math.max(rows.users, rows.items));
  let done = 0;
  const attempt = async (
    penalties: Penalties,
    on: EdgeLists,
    iterations: number,
    from: LeastSquaresTables,
  ) => {
    throwIfAborted(signal);
    const total = tried.length + LEADERS.most;
    onProgress?.({ stage: 'least squares on held-back users', done: done++, total, unit: 'settings' });
    const fit = { features, iterations, ...penalties, seed, threads, signal, workers };
    const fitted = await alternatingLeastSquares(weighedEdges(on), {
      ...fit,
      start: from.items,
      startUsers: from.users,
    });
    const users = await foldInLeastSquares(fitted.items, history, data.shown, fit);
    const tables: FactorTables = { users, items: rowsOf(fitted.items, data.candidates, features), features };
    return { penalties, fitted, tables, score: await trial.score(tables, { threads, signal }) };
  };
  try {
    const start = leastSquaresStart(rows, features, seed);
    const few = { items: start.items, users: start.users.subarray(0, features * countsOf(some).users) };
    const first: Awaited<ReturnType<typeof attempt>>[] = [];
    for (const penalties of tried) first.push(await attempt(penalties, some, TRIED.sweeps, few));
    first.sort((a, b) => b.score - a.score);
    const leaders = first
      .slice(0, LEADERS.most)
      .filter((l) => l.score >= (1 - LEADERS.near) * first[0].score);
    const last: typeof first = [];
    for (const { penalties, fitted } of leaders) {
      // On the same edges a leader continues; on more edges it starts again.
      const [sweeps, from] =
        some === data ? [LEADERS.sweeps - TRIED.sweeps, fitted] : [LEADERS.sweeps, start];
      last.push(await attempt(penalties, data, sweeps, from));
    }
    return last.reduce((a, b) => (b.score > a.score ? b : a));
  } finally {
    await workers.close();
  }
}

/** Users are solved from their histories, items from what is learned. */
export function weighedEdges({ users, items }: EdgeLists): EdgeLists {
  return { users: asHistory(users), items: asLearned(items) };
}

function countsOf({ users, items }: EdgeLists) {
  return { users: users.offsets.length - 1, items: items.offsets.length - 1 };
}

function rootOfPairs(edges: EdgeLists): number {
  const { users, items } = countsOf(edges);
  return Math.sqrt(users * items);
}

/** The given rows of a table; row −1 gives zeros. */
export function rowsOf(table: Float32Array, rows: Uint32Array | Int32Array, features: number): Float32Array {
  const some = new Float32Array(rows.length * features);
  for (const [r, row] of rows.entries()) {
    if (row >= 0) some.set(table.subarray(row * features, (row + 1) * features), r * features);
  }
  return some;
}
