// Factors by least squares over all pairs, seen or not (iALS), as a member of a ranker; and the penalties that suit the data,
// found on held-back users: the best of a few, since no rule by the size of the data served all sets.

import { alternatingLeastSquares, foldInLeastSquares } from '../engine/cpu/linear.js';
import { rankByFactors } from '../engine/cpu/ranking.js';
import type { RowLists } from '../engine/rank.js';
import { throwIfAborted } from '../errors.js';
import type { TaskOptions } from '../progress.js';
import { shownItems, someUsers, tryHoldBack } from '../ranking/held-back.js';
import { concludeRanking, scoreAnswer, tuningScore } from '../ranking/metrics.js';
import { queryOf } from '../ranking/task.js';
import { columnSums, type RankerMember } from './model.js';

/** Edges in both orders. */
export interface EdgeLists {
  readonly users: RowLists;
  readonly items: RowLists;
}

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

const TRIAL = { features: 64, iterations: 4, edges: 1e6 } as const;
/** Held-back users: a fifth, at most. */
const HELD_BACK = { most: 1000, least: 20 } as const;
/** Lengths of the lists that are judged. */
const LISTS = { n: 20, depth: 100 } as const;

/** The penalties whose factors rank the hidden items of held-back users best. */
export async function searchPenalties(
  edges: EdgeLists,
  { seed, threads, signal, onProgress }: TaskOptions & { readonly seed: number },
): Promise<Penalties> {
  const count = edges.items.offsets.length - 1;
  const root = Math.sqrt(count * (edges.users.offsets.length - 1));
  const tried = LAMBDAS.flatMap((lambda) => ALPHAS.map((alpha) => ({ lambda, alpha: alpha / root })));
  const data = { users: edges.users, shown: shownItems(count, seed) };
  const held = tryHoldBack(data, { seed, maxUsers: HELD_BACK.most });
  if (!held || held.heldBack.length < HELD_BACK.least) return { ...MIDDLE, alpha: MIDDLE.alpha / root };
  const { history, task } = held;
  const { candidates } = task;
  const query = queryOf(task, LISTS.n, LISTS.depth);
  const kept = someUsers(held.data, TRIAL.edges);
  let best: (Penalties & { readonly score: number }) | undefined;
  for (const [done, penalties] of tried.entries()) {
    throwIfAborted(signal);
    onProgress?.({ stage: 'least squares on held-back users', done, total: tried.length, unit: 'settings' });
    const fit = { ...TRIAL, ...penalties, seed, threads, signal };
    const { items, features } = await alternatingLeastSquares(kept, fit);
    const users = await foldInLeastSquares(items, history, data.shown, fit);
    const answer = await rankByFactors({ users, items, features }, candidates, query, { threads, signal });
    const score = tuningScore(concludeRanking([scoreAnswer(query, answer)]));
    if (!best || score > best.score) best = { ...penalties, score };
  }
  const { lambda, alpha } = best!;
  return { lambda, alpha };
}
