// Factors by least squares over all pairs, seen or not (iALS), as a member of a ranker; and the penalties that suit the data,
// found on held-back users: the best of a few, since no rule by the size of the data served all sets.

import { alternatingLeastSquares, foldInLeastSquares } from '../engine/cpu/linear.js';
import type { FactorTables } from '../engine/rank.js';
import { throwIfAborted } from '../errors.js';
import type { TaskOptions } from '../progress.js';
import { columnSums, type RankerMember } from './model.js';
import type { EdgeLists, Trial } from './trial.js';

/** How much factors by least squares are held down. */
export interface Penalties {
  /** Of a row: times its degree + α·size of the other side. */
  readonly lambda: number;
  /** Weight of the squared score of every pair, seen or not. */
  readonly alpha: number;
}

interface LeastSquaresFit extends Penalties, TaskOptions {
  readonly features: number;
  readonly iterations: number;
  readonly seed: number;
}

/** Known users as a fold-in makes them, so that it does not matter whether they are stored. */
export async function leastSquaresMember(edges: EdgeLists, options: LeastSquaresFit): Promise<RankerMember> {
  const { features, lambda, alpha, seed, iterations } = options;
  const { items } = await alternatingLeastSquares(edges, options);
  const everything = new Uint8Array(edges.items.offsets.length - 1).fill(1);
  const users = await foldInLeastSquares(items, edges.users, everything, options);
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

/** λ, and α times the root of users × items: between them lie those that a longer search found on four sets. */
const LAMBDAS = [0.012, 0.024];
const ALPHAS = [60, 120, 240];
/** Where there are too few users to hold any back. */
const MIDDLE = { lambda: 0.016, alpha: 120 };

const TRIED = { features: 64, iterations: 4 } as const;

export function middlePenalties(edges: EdgeLists): Penalties {
  return { lambda: MIDDLE.lambda, alpha: MIDDLE.alpha / rootOfPairs(edges) };
}

/** Penalties that were found, and the rows of held-back users and candidates that they gave. */
export interface FoundPenalties {
  readonly penalties: Penalties;
  readonly tables: FactorTables;
}

/** The penalties whose factors rank the hidden items of held-back users best. */
export async function searchPenalties(
  edges: EdgeLists,
  trial: Trial,
  { seed, threads, signal, onProgress }: TaskOptions & { readonly seed: number },
): Promise<FoundPenalties> {
  const root = rootOfPairs(edges);
  const tried = LAMBDAS.flatMap((lambda) => ALPHAS.map((alpha) => ({ lambda, alpha: alpha / root })));
  const { data, history } = trial;
  let best: (FoundPenalties & { readonly score: number }) | undefined;
  for (const [done, penalties] of tried.entries()) {
    throwIfAborted(signal);
    onProgress?.({ stage: 'least squares on held-back users', done, total: tried.length, unit: 'settings' });
    const fit = { ...TRIED, ...penalties, seed, threads, signal };
    const { items, features } = await alternatingLeastSquares(data, fit);
    const users = await foldInLeastSquares(items, history, data.shown, fit);
    const tables = { users, items: rowsOf(items, data.candidates, features), features };
    const score = await trial.judge(tables, { threads, signal });
    if (!best || score > best.score) best = { penalties, tables, score };
  }
  return best!;
}

function rootOfPairs({ users, items }: EdgeLists): number {
  return Math.sqrt((users.offsets.length - 1) * (items.offsets.length - 1));
}

function rowsOf(table: Float32Array, rows: Uint32Array, features: number): Float32Array {
  const some = new Float32Array(rows.length * features);
  for (const [r, row] of rows.entries())
    some.set(table.subarray(row * features, (row + 1) * features), r * features);
  return some;
}
