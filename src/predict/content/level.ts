// Makes scores by attributes comparable with those by edges. Nobody has an added item, so the data cannot say how often it would be
// taken. But the number of items with one edge estimates which part of the next edges goes to items without edges (Good and Turing).
// Added items get this part of the places of a list. Items with few edges get a tenth more places than their edges give them.

import { type ContentScores, FEW_EDGES } from '../../attributes/content-scores.js';
import type { Model } from '../../fit/model.js';
import { lowerBound } from '../../math/csr.js';
import { largest, nthLargest } from '../../math/nth-largest.js';
import { randomStream } from '../../math/random.js';
import { STREAMS } from '../../math/streams.js';
import type { TaskOptions } from '../../progress.js';
import { addWeights, type SparseWeights } from '../../topn/query.js';
import type { ModelScorer } from '../scoring/model-scorer.js';
import { ownItems, type ResolvedUser } from '../user-query.js';
import { createRowProducts } from './score-tables.js';

/** The least part of the places, unless the added items are a smaller part of the catalogue. */
const LEAST_PART = 0.1;
/** Places that are shared. */
const PLACES = 20;
const MOST_USERS = 100;
/** The part by which the places of items with few edges may grow. */
const MORE_PLACES = 0.1;
/** Users whose places are counted; and for each, items with few edges that attributes favour most. */
const FEW = { users: 200, items: 100 };

/** The part of a list that added items should get: never more than their part of the catalogue. */
function partOfAdded(degree: ArrayLike<number>, added: number): number {
  let [edges, single] = [0, 0];
  for (let j = 0; j < degree.length; j++) {
    edges += degree[j];
    if (degree[j] === 1) single++;
  }
  const unseen = edges > 0 ? single / edges : 0;
  return Math.min(added / (degree.length + added), Math.max(unseen, LEAST_PART));
}

/** The factors of scores by attributes: of items without edges, and of items with few. */
export interface Levels {
  readonly level: number;
  readonly few: number;
}

/**
 * With `level`, half of the users have their part, or more, of added items in their lists. With `few`, items with few edges get a tenth
 * more places in the lists of `byEdges`, which scores the items of the data; it never exceeds `level`.
 */
export async function levelsOf(
  model: Model,
  byEdges: ModelScorer,
  added: number,
  content: ContentScores,
  { seed, signal }: TaskOptions & { readonly seed: number },
): Promise<Levels> {
  const { count: known, degree } = model.items;
  if (!model.seen || model.users.count === 0) return { level: 1, few: 0 };
  const random = randomStream(seed, STREAMS.content, 1);
  const { count } = model.users;
  const rows: number[] = [];
  const draws: number[] = [];
  for (let row = 0; row < count; row++) {
    const draw = random.uniform() * count;
    if (draw >= FEW.users) continue;
    rows.push(row);
    draws.push(draw);
  }
  const own = rows.map((row) => ownItems(model, row));
  const users = rows.map((row, u) => byEdges.userScorer(row, own[u]));
  const itemWeights = byEdges.factors?.itemWeights();
  const ratioOf = added > 0 ? await addedRatio(degree, added, content) : undefined;
  const places = fewPlaces(degree, content.weights);
  const take = (u: number, scores: Float32Array) => {
    const had = own[u];
    // Items without edges get parts of the scores without item weights (fit-content.ts).
    const ofNew = ratioOf && draws[u] < MOST_USERS ? ratioOf.user(scores, had) : undefined;
    for (const [e, item] of had.items.entries()) {
      if (itemWeights) addWeights(itemWeights, item, scores, known, had.weights?.[e]);
    }
    for (const item of had.items) scores[item] = Number.NEGATIVE_INFINITY;
    ofNew?.(scores);
    places.count(scores, had.items);
  };
  await byEdges.eachRow(users, take, { signal });
  const ratios = ratioOf?.all() ?? [];
  const used = ratios.filter((ratio) => ratio > 0 && ratio < Number.POSITIVE_INFINITY).sort((a, b) => a - b);
  const level = used[used.length >> 1] ?? 1;
  return { level, few: Math.min(level, places.factor()) };
}

/**
 * The factors with which added items get their part of the lists of users. `user` gets the scores without item weights first; the
 * function that it returns gets those of the items that the user may get.
 */
async function addedRatio(degree: Uint32Array, added: number, { neighbours, weights }: ContentScores) {
  const known = degree.length;
  const part = partOfAdded(degree, added);
  // With few added items, a longer list has a place for one of them.
  const places = Math.min(known, Math.max(PLACES, Math.ceil(1 / part)));
  const ofAdded = Math.max(1, Math.round(part * places));
  const products = await createRowProducts(neighbours, known);
  const scratch = new Float32Array(Math.max(known, added));
  const nth = (scores: Float32Array, n: number) => {
    scratch.set(scores);
    const value = nthLargest(scratch, scores.length, Math.min(n, scores.length));
    return value === Number.NEGATIVE_INFINITY ? 0 : value;
  };
  const found: { ofKnown: number; ofNew: number }[] = [];
  return {
    user(scores: Float32Array, own: ResolvedUser['own']) {
      const one = { ofKnown: 0, ofNew: 0 };
      found.push(one);
      products.add(scores, (ofNew) => {
        for (const [i, item] of own.items.entries()) {
          const factor = own.weights?.[i] ?? 1;
          const end = weights.offsets[item + 1];
          const first = lowerBound(weights.targets, known, weights.offsets[item], end);
          for (let e = first; e < end; e++) ofNew[weights.targets[e] - known] += factor * weights.weights[e];
        }
        one.ofNew = nth(ofNew, ofAdded);
      });
      return (ofKnown: Float32Array) => {
        one.ofKnown = nth(ofKnown, places - ofAdded + 1);
      };
    },
    all(): number[] {
      products.end();
      return found.map(({ ofKnown, ofNew }) => ofKnown / ofNew);
    },
  };
}

/** Counts the places of items with few edges, and finds the factor with which they get a tenth more. */
function fewPlaces(degree: Uint32Array, { offsets, targets, weights }: SparseWeights) {
  const known = degree.length;
  const sums = new Float32Array(known);
  let [places, all] = [0, 0];
  /** For each item that is not in a user's list, the factor with which it would be. */
  const needed: number[] = [];
  return {
    /** `scores`: −Infinity for items that the user has. */
    count(scores: Float32Array, own: Uint32Array): void {
      const listed = largest(known, PLACES, (item) => scores[item]);
      if (listed.length < PLACES) return;
      all += PLACES;
      for (const item of listed) if (degree[item] < FEW_EDGES) places++;
      for (const from of own) {
        const last = lowerBound(targets, known, offsets[from], offsets[from + 1]);
        for (let e = offsets[from]; e < last; e++) sums[targets[e]] += weights[e];
      }
      for (const item of own) sums[item] = 0;
      for (const item of listed) sums[item] = 0;
      const least = scores[listed[PLACES - 1]];
      for (const item of largest(known, FEW.items, (one) => Math.abs(sums[one]))) {
        if (sums[item] > 0) needed.push(Math.max(0, least - scores[item]) / sums[item]);
      }
      sums.fill(0);
    },
    factor(): number {
      needed.sort((a, b) => a - b);
      // Some of the items that lose their place have few edges too.
      const more = Math.floor((MORE_PLACES * places * all) / Math.max(1, all - places));
      return more === 0 ? 0 : (needed[more] ?? Number.POSITIVE_INFINITY);
    },
  };
}
