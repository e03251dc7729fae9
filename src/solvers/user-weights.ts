// Weights of users in pair counts. A user of 500 items says less about any two of them than a user of five, so a user of degree d
// weighs d^(−2a). Weights are rounded to powers of two: counts stay whole numbers, which have the same bits on any number of threads,
// and the kernel adds a user's bits to a higher plane instead of adding them several times.

import type { RowLists } from '../math/csr.js';
import { lengths, pickLists } from '../math/csr.js';
import { allocate } from '../math/memory.js';

/** The most classes of users: the largest weight is 2^(CLASSES − 1) times the least. */
export const CLASSES = 8;
/** Users beyond this share of the edges, by ascending degree, weigh as little as the others at the end: some have huge degrees. */
const HEAVY = 0.99;

/** Users in the order of their classes. */
export interface WeighedUsers {
  /** The lists of the users; the users of a class follow one another, the least weight first. */
  readonly users: RowLists;
  /** Weight of each of these users, a power of two. */
  readonly weights: Uint8Array;
  /** Mean weight of an edge. Counts over this number are on the scale of plain counts. */
  readonly mean: number;
}

/** Weighs users by their degree to the power −2 · `exponent`. With 0 all weights are 1, and the order stays. */
export function weighUsers(users: RowLists, exponent: number): WeighedUsers {
  const degree = lengths(users);
  const weights = allocate(Uint8Array, degree.length).fill(1);
  if (exponent === 0) return { users, weights, mean: 1 };
  const least = heavyDegree(degree, users.values.length);
  const classOf = degree.map((d) =>
    Math.min(CLASSES - 1, Math.max(0, Math.round(2 * exponent * Math.log2(least / Math.max(1, d))))),
  );
  const order = Uint32Array.from(degree.keys()).sort((a, b) => classOf[a] - classOf[b] || a - b);
  let sum = 0;
  for (const [at, user] of order.entries()) {
    weights[at] = 1 << classOf[user];
    sum += weights[at] * degree[user];
  }
  return { users: pickLists(users, order), weights, mean: sum / Math.max(1, users.values.length) };
}

/** The degree up to which users have the share HEAVY of all edges. */
function heavyDegree(degree: Uint32Array, edges: number): number {
  const ascending = degree.slice().sort();
  let sum = 0;
  for (const d of ascending) {
    sum += d;
    if (sum >= HEAVY * edges) return Math.max(1, d);
  }
  return 1;
}
