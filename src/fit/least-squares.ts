// Factors by least squares over all pairs, seen or not (iALS), as a member of a ranker; and the penalties that suit the data,
// found on held-back users: the best of a few, since no rule by the size of the data served all sets.

import { alternatingLeastSquares, foldInLeastSquares } from '../engine/cpu/linear.js';
import { rankByFactors } from '../engine/cpu/ranking.js';
import type { RowLists } from '../engine/rank.js';
import { throwIfAborted } from '../errors.js';
import { allocate } from '../math/memory.js';
import { type Random, randomStream } from '../math/random.js';
import { STREAMS } from '../math/streams.js';
import type { TaskOptions } from '../progress.js';
import { drawCoins } from '../sample/pq.js';
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
/** Held-back users: a fifth, at most; and their hidden items, which they are judged on. */
const HELD_BACK = { share: 0.2, most: 1000, least: 20, judged: 0.2 } as const;
/** Length of the lists that are judged. */
const DEPTH = 100;

/** The penalties whose factors rank the hidden items of held-back users best, by nDCG. */
export async function searchPenalties(
  edges: EdgeLists,
  { seed, threads, signal, onProgress }: TaskOptions & { readonly seed: number },
): Promise<Penalties> {
  const count = edges.items.offsets.length - 1;
  const root = Math.sqrt(count * (edges.users.offsets.length - 1));
  const tried = LAMBDAS.flatMap((lambda) => ALPHAS.map((alpha) => ({ lambda, alpha: alpha / root })));
  const held = holdUsersBack(edges.users, count, seed);
  if (!held) return { ...MIDDLE, alpha: MIDDLE.alpha / root };
  const { kept, shown, history, relevant, candidates } = held;
  const query = {
    candidates: candidates.length,
    views: [{ without: new Uint32Array(0), relevant }],
    excluded: undefined,
    depth: DEPTH,
    top: DEPTH,
  };
  let best: (Penalties & { readonly gain: number }) | undefined;
  for (const [done, penalties] of tried.entries()) {
    throwIfAborted(signal);
    onProgress?.({ stage: 'least squares on held-back users', done, total: tried.length, unit: 'settings' });
    const fit = { ...TRIAL, ...penalties, seed, threads, signal };
    const { items, features } = await alternatingLeastSquares(kept, fit);
    const users = await foldInLeastSquares(items, history, shown, fit);
    const { ranks } = await rankByFactors({ users, items, features }, candidates, query, { threads, signal });
    const gain = meanGain(relevant, ranks[0]);
    if (!best || gain > best.gain) best = { ...penalties, gain };
  }
  const { lambda, alpha } = best!;
  return { lambda, alpha };
}

interface HeldBack {
  /** The other users. */
  readonly kept: EdgeLists;
  /** Per item, whether held-back users show it. */
  readonly shown: Uint8Array;
  readonly history: RowLists;
  /** Places among the candidates, which are the hidden items. */
  readonly relevant: RowLists;
  readonly candidates: Uint32Array;
}

function holdUsersBack(users: RowLists, count: number, seed: number): HeldBack | undefined {
  const hidden = drawCoins(count, HELD_BACK.judged, randomStream(seed, STREAMS.judgedItems));
  const rows = users.offsets.length - 1;
  const order = shuffled(rows, randomStream(seed, STREAMS.heldBack));
  const wanted = Math.min(HELD_BACK.most, Math.floor(HELD_BACK.share * rows));
  const itemsOf = (row: number) => users.values.subarray(users.offsets[row], users.offsets[row + 1]);
  const judged: number[] = [];
  const others: number[] = [];
  let edges = 0;
  for (const row of order) {
    const own = itemsOf(row);
    const can = own.some((item) => hidden[item] === 1) && own.some((item) => hidden[item] === 0);
    if (can && judged.length < wanted) judged.push(row);
    else if (edges < TRIAL.edges) {
      others.push(row);
      edges += own.length;
    }
  }
  if (judged.length < HELD_BACK.least) return undefined;
  const kept = listsOf(others, itemsOf, () => true);
  const known = new Uint8Array(count);
  for (const item of kept.values) known[item] = 1;
  const candidates = Uint32Array.from(hidden.keys()).filter((item) => hidden[item] && known[item]);
  const place = new Uint32Array(count);
  for (const [c, item] of candidates.entries()) place[item] = c;
  const relevant = listsOf(judged, itemsOf, (item) => hidden[item] === 1 && known[item] === 1);
  return {
    kept: { users: kept, items: byItem(kept, count) },
    shown: hidden.map((h) => 1 - h),
    history: listsOf(judged, itemsOf, (item) => hidden[item] === 0 && known[item] === 1),
    relevant: { ...relevant, values: relevant.values.map((item) => place[item]) },
    candidates,
  };
}

function shuffled(count: number, random: Random): Uint32Array {
  const order = Uint32Array.from({ length: count }, (_, i) => i);
  for (let i = count - 1; i > 0; i--) {
    const j = random.below(i + 1);
    [order[i], order[j]] = [order[j], order[i]];
  }
  return order;
}

function listsOf(
  rows: readonly number[],
  itemsOf: (row: number) => Uint32Array,
  keep: (item: number) => boolean,
): RowLists {
  const lists = rows.map((row) => itemsOf(row).filter(keep));
  const offsets = allocate(Uint32Array, rows.length + 1);
  for (const [r, list] of lists.entries()) offsets[r + 1] = offsets[r] + list.length;
  const values = allocate(Uint32Array, offsets[rows.length]);
  for (const [r, list] of lists.entries()) values.set(list, offsets[r]);
  return { offsets, values };
}

function byItem({ offsets, values }: RowLists, count: number): RowLists {
  const ends = allocate(Uint32Array, count + 1);
  for (const item of values) ends[item + 1]++;
  for (let item = 0; item < count; item++) ends[item + 1] += ends[item];
  const cursor = ends.slice(0, count);
  const users = allocate(Uint32Array, values.length);
  for (let row = 0; row + 1 < offsets.length; row++) {
    for (let e = offsets[row]; e < offsets[row + 1]; e++) users[cursor[values[e]]++] = row;
  }
  return { offsets: ends, values: users };
}

/** nDCG of the rows that have something to find. */
function meanGain({ offsets }: RowLists, ranks: Uint32Array): number {
  let sum = 0;
  let rows = 0;
  for (let row = 0; row + 1 < offsets.length; row++) {
    const own = ranks.subarray(offsets[row], offsets[row + 1]);
    if (own.length === 0) continue;
    rows++;
    let gain = 0;
    let ideal = 0;
    for (const rank of own) if (rank > 0) gain += 1 / Math.log2(rank + 1);
    for (let rank = 1; rank <= Math.min(DEPTH, own.length); rank++) ideal += 1 / Math.log2(rank + 1);
    sum += gain / ideal;
  }
  return rows === 0 ? 0 : sum / rows;
}
