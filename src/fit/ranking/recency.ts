// Recency: an edge weighs 2^(−age / half-life). Ages are counted in half-lives.
//
// What is learned about items weighs an edge by its age at the latest edge of the data: tastes of today count most. What is known of a
// user weighs the user's items by their age at the user's own latest item. So a user who comes back after a year still has a history.
// No weight is below 1/16, as in the pair counts (solvers/user-weights.ts).

import type { BySide, GraphSide, WeighedSide } from '../../graph/graph.js';
import { type EdgeRows, type RowLists, transposeLists } from '../../math/csr.js';
import { allocate } from '../../math/memory.js';
import { option, optionError } from '../../options/error.js';
import { LAST_LEVEL } from '../../solvers/user-weights.js';
import { parseDuration } from '../../text/durations.js';
import { shown } from '../../text/untrusted.js';

/** How a ranker weighs edges by age. */
export interface Recency {
  /** In the unit of the times: milliseconds, if they were read from a table. */
  readonly halfLife: number;
  /** The latest time of the data. */
  readonly latest: number;
}

const LEAST_WEIGHT = 2 ** -LAST_LEVEL;
/** No edge is older than this, in half-lives: float32 holds no smaller weight. */
const OLDEST = 120;
/** If all weights are above this, edges are not weighed. */
const NEARLY_ONE = 0.99;

/** The half-life that an option says: a span such as 90d, `auto` (searched on held-back edges) or `never` (no weights). */
export function parseHalfLife(given: string): number | 'auto' | 'never' {
  const text = given.trim();
  if (text === 'auto' || text === 'never') return text;
  const span = parseDuration(text);
  if (span !== undefined) return span;
  throw optionError`${option('halfLife')} ${shown(given)}: expected a span above 0 such as 12h, 90d or 52w, or auto, or never`;
}

/** Times may lie this far ahead of the clock: clocks differ. */
const AHEAD_MS = 86_400_000;

/** Refuses times of which the latest lies in the future: all other edges would count as old. */
export function refuseFuture(times: Float64Array, halfLife: string): void {
  const latest = latestOf(times);
  if (latest <= Date.now() + AHEAD_MS) return;
  const date = new Date(latest);
  const when = Number.isNaN(date.getTime()) ? `${latest} ms after 1970` : date.toISOString().slice(0, 10);
  throw optionError`${option('halfLife')} ${halfLife}: the latest time is ${when}, which lies in the future, so all other edges would count as old; correct the times, or leave these rows out with ${option('where')}`;
}

export function latestOf(times: Float64Array): number {
  return times.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
}

/** The age of each time in half-lives; negative after the latest time of the data. */
export function agesOf(times: ArrayLike<number>, { halfLife, latest }: Recency): Float32Array {
  const ages = allocate(Float32Array, times.length);
  for (let e = 0; e < ages.length; e++) ages[e] = Math.min(OLDEST, (latest - times[e]) / halfLife);
  return ages;
}

/** The weight of each edge by its age, at most 1. */
export function edgeWeights(ages: Float32Array): Float32Array {
  const weights = allocate(Float32Array, ages.length);
  for (let e = 0; e < ages.length; e++) weights[e] = 2 ** -Math.max(0, ages[e]);
  return weights;
}

/** Whether weights make no difference. */
export function areAlike(weights: Float32Array): boolean {
  return weights.every((weight) => weight >= NEARLY_ONE);
}

/** The weights of the items of one user, from their ages: the latest item weighs 1. */
export function historyWeights(ages: Float32Array): Float32Array {
  const least = ages.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
  return ages.map((age) => Math.max(LEAST_WEIGHT, 2 ** (least - age)));
}

/** Lists with weights of edges as the histories of their rows: the largest weight of a row becomes 1. */
export function asHistory(lists: RowLists): RowLists {
  const { offsets, weights } = lists;
  if (!weights) return lists;
  const relative = allocate(Float32Array, weights.length);
  for (let r = 0; r + 1 < offsets.length; r++) {
    let largest = 0;
    for (let e = offsets[r]; e < offsets[r + 1]; e++) largest = Math.max(largest, weights[e]);
    for (let e = offsets[r]; e < offsets[r + 1]; e++) {
      relative[e] = Math.max(LEAST_WEIGHT, weights[e] / largest);
    }
  }
  return { ...lists, weights: relative };
}

/** Lists with weights of edges as the fit learns from them: none below 1/16. */
export function asLearned(lists: RowLists): RowLists {
  const { weights } = lists;
  return weights ? { ...lists, weights: weights.map((weight) => Math.max(LEAST_WEIGHT, weight)) } : lists;
}

/** Both sides with weighed counts: users by their histories, items by what is learned from. */
export function weighSides(
  { users, items }: BySide<GraphSide>,
  weights: Float32Array,
): BySide<WeighedSide> & { readonly total: number } {
  const byUser = { offsets: users.offsets, values: users.neighbors, weights };
  const own = asHistory(byUser).weights!;
  const learned = asLearned(transposeLists(byUser, items.offsets.length - 1)).weights!;
  const counted = counts(learned, items.counts);
  return {
    users: { ...users, counts: counts(own, users.counts) },
    items: { ...items, counts: counted },
    total: counted.reduce((sum, count) => sum + count, 0),
  };
}

/** The sides of a simple graph, with a count of 1 for each edge. */
export function countEdges<S extends BySide<EdgeRows>>(sides: S): S {
  const counts = allocate(Uint32Array, sides.users.neighbors.length).fill(1);
  return { ...sides, users: { ...sides.users, counts }, items: { ...sides.items, counts } };
}

function counts(weights: Float32Array, times: Uint32Array | undefined): Float32Array {
  if (times) for (let e = 0; e < weights.length; e++) weights[e] *= times[e];
  return weights;
}
