// Items cut into folds for cross-fitting. The items are reordered so that each fold is a range of consecutive rows.
// One item table then serves all folds, and updating a fold means updating a range of rows.

import { InputError } from '../../errors.js';
import type { WeighedSide } from '../../graph/graph.js';
import { allocateCounts, type EdgeCounts, type EdgeRows, pickRows } from '../../math/csr.js';
import { allocate, allocateFrom, inSharedMemory } from '../../math/memory.js';
import { type Random, shuffle } from '../../math/random.js';
import { option, optionError } from '../../options/error.js';
import { many } from '../../text/phrases.js';

export interface Folds {
  /** Vertex at each place of the new order. */
  readonly order: Uint32Array;
  /** Place of each vertex. */
  readonly place: Uint32Array;
  /** Fold f is places bounds[f] … bounds[f+1]−1. */
  readonly bounds: Uint32Array;
}

/** Cuts `count` items at random into folds whose sizes differ by at most one. */
export function cutFolds(count: number, folds: number, random: Random): Folds {
  if (!Number.isInteger(folds) || folds < 2) {
    throw new InputError(`folds: ${folds} is not a whole number of at least 2`);
  }
  if (count < 2) {
    throw new InputError(
      `the data have ${many(count, 'item')}, too few for a ranking fit, which cuts the items into folds; use more data, or another method`,
    );
  }
  if (count < folds) {
    throw optionError`the data have ${many(count, 'item')}, too few for a ranking fit with ${option('folds')} ${folds}; use more data, or fewer folds`;
  }
  const order = shuffle(
    Uint32Array.from({ length: count }, (_, v) => v),
    random,
  );
  const bounds = Uint32Array.from({ length: folds + 1 }, (_, f) => Math.floor((f * count) / folds));
  // A fold keeps the order of the data: if neighbouring rows are related there, their memory stays close.
  for (let f = 0; f < folds; f++) order.subarray(bounds[f], bounds[f + 1]).sort();
  const place = new Uint32Array(count);
  for (let p = 0; p < count; p++) place[order[p]] = p;
  return { order, place, bounds };
}

export function reorderRows(side: WeighedSide, { order }: Folds): WeighedSide {
  return Object.freeze({ ...side, ids: side.ids.pick(order), ...pickRows(side, order) });
}

/** The users without their edges into a fold of the items. Items are numbered by their places in the order of the folds. */
export function usersWithout(
  users: WeighedSide,
  { place, bounds }: Folds,
  fold: number,
): EdgeRows<EdgeCounts> {
  const [first, last] = [bounds[fold], bounds[fold + 1]];
  const { neighbors, counts } = users;
  const offsets = allocate(Uint32Array, users.count + 1);
  // Without a branch, which would be mispredicted: every edge is written, and only a kept edge advances `at`.
  const found = new Uint32Array(neighbors.length + 1);
  const foundCounts = allocateCounts(counts, neighbors.length + 1);
  let at = 0;
  for (let u = 0; u < users.count; u++) {
    for (let e = users.offsets[u]; e < users.offsets[u + 1]; e++) {
      const p = place[neighbors[e]];
      found[at] = p;
      if (foundCounts) foundCounts[at] = counts![e];
      // 1 if p lies before or after the fold, because then one difference is negative.
      at += ((p - first) | (last - 1 - p)) >>> 31;
    }
    offsets[u + 1] = at;
  }
  return {
    offsets,
    neighbors: allocateFrom(found.subarray(0, at)),
    // Fractions stay fractions: these arrays keep their type.
    counts: foundCounts && inSharedMemory(foundCounts.slice(0, at)),
  };
}
