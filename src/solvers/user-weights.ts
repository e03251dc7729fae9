// Weights of users and edges in pair counts. A user with 500 items says less about any two of them than a user with
// five. So a user of degree d weighs d^(−2a). Weights are rounded to powers of two. Counts then stay whole numbers, which
// have the same bits on any number of threads. The kernel adds a user's bits to a higher plane instead of adding them
// several times.
//
// Edges may have weights too (`RowLists.weights`), for example 2^(−age / half-life). Two edges of a user then count with the smaller of
// their weights, each rounded to 1, 1/2, … 1/16. The smaller weight is a sum over levels: both edges reach 1/16, both reach 1/8, and so
// on. So a user with weighted edges becomes one user for each level, who has the edges that reach it, and the counts stay as they are.

import { collectLists, lengths, pickLists, type RowLists } from '../math/csr.js';
import { allocate } from '../math/memory.js';

/** The most classes of users: the largest weight is 2^(CLASSES − 1) times the least. */
export const CLASSES = 8;
/** Edges of weight 1 have level 0, those of 1/2 level 1; none has a higher level than this, so none counts less than 1/16. */
export const LAST_LEVEL = 4;
/**
 * Users are ordered by degree. Those beyond this share of the edges all weigh the same, because some have huge degrees.
 */
const HEAVY = 0.99;

/**
 * Weighs users by their degree to the power −2 · `exponent`, and edges by their weights. With 0 and none, all weights are 1. The users are
 * in the order of their weights, which are powers of two, the least first. Counts over the `mean` weight of an edge are on the scale of
 * plain counts.
 */
export function weighUsers(users: RowLists, exponent: number) {
  const degree = lengths(users);
  if (exponent === 0 && !users.weights)
    return { users, weights: allocate(Uint8Array, degree.length).fill(1), mean: 1 };
  const least = heavyDegree(degree, users.values.length);
  const most = CLASSES - 1 - (users.weights ? LAST_LEVEL : 0);
  const classOf = degree.map((d) =>
    Math.min(most, Math.max(0, Math.round(2 * exponent * Math.log2(least / Math.max(1, d))))),
  );
  const { lists, classes } = users.weights
    ? byLevel(users, users.weights, classOf)
    : { lists: users, classes: classOf };
  const order = Uint32Array.from(classes.keys()).sort((a, b) => classes[a] - classes[b] || a - b);
  const weights = allocate(Uint8Array, order.length);
  let sum = 0;
  for (const [at, user] of order.entries()) {
    weights[at] = 1 << classes[user];
    sum += weights[at] * (lists.offsets[user + 1] - lists.offsets[user]);
  }
  return { users: pickLists(lists, order), weights, mean: sum / Math.max(1, users.values.length) };
}

/** Each user once for each level. The levels that all edges of a user reach are one. */
function byLevel({ offsets, values }: RowLists, weights: Float32Array, classOf: Uint32Array) {
  const levels = Uint8Array.from(weights, levelOf);
  const parts: { readonly user: number; readonly level: number; readonly class: number }[] = [];
  for (let user = 0; user + 1 < offsets.length; user++) {
    const own = levels.subarray(offsets[user], offsets[user + 1]);
    if (own.length === 0) continue;
    const last = own.reduce((a, b) => Math.max(a, b), 0);
    const first = own.reduce((a, b) => Math.min(a, b), LAST_LEVEL);
    for (let level = first; level <= last; level++) {
      // Level l adds 2^(−l−1); the last one adds all that remains.
      const power = LAST_LEVEL - level - (level < last ? 1 : 0);
      parts.push({ user, level, class: classOf[user] + power });
    }
  }
  const lists = collectLists(parts.length, (p, add) => {
    const { user, level } = parts[p];
    for (let e = offsets[user]; e < offsets[user + 1]; e++) if (levels[e] <= level) add(values[e]);
  });
  return { lists, classes: Uint32Array.from(parts, (part) => part.class) };
}

/** The level whose weight is next to the given one, by their ratio. */
function levelOf(weight: number): number {
  return Math.min(LAST_LEVEL, Math.max(0, Math.round(-Math.log2(weight))));
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
