// Items without edges in the scores of any model. An added item gets a weighted sum of the scores of its neighbours, so it is a
// further row of every table of factors. Weights by attributes from a user's items are added (attributes/content-scores.ts).

import type { OwnItems } from '../../fit/fold-in/member-fold.js';
import type { Model } from '../../fit/model.js';
import { allocate } from '../../math/memory.js';
import { once } from '../../math/once.js';
import { sumOfProducts } from '../../math/products.js';
import type { SparseWeights } from '../../topn/query.js';
import { added, addUp, type Explanation, type ScoreParts, scaled } from '../explain/explain.js';
import type { MemberScorer, UserFactors } from './member-scorer.js';

export interface AddedItems {
  /** Items of the data; added items have the numbers from here on. */
  readonly known: number;
  readonly total: number;
  /** Per added item, neighbours among the items of the data. */
  readonly neighbours: SparseWeights;
  readonly weights: SparseWeights;
}

/** The items that a model scores by attributes; undefined if it has none. */
export function addedItems({ items, info }: Pick<Model, 'items' | 'info'>): AddedItems | undefined {
  const about = info?.items;
  if (!about?.content) return undefined;
  const { neighbours, weights } = about.content;
  return { known: items.count, total: items.count + about.added.length, neighbours, weights };
}

interface LongerTable {
  readonly neighbours: SparseWeights;
  readonly all: Float32Array;
}

/** For a table, the last extended copy of it: a server extends a table for each item that is posted. */
const longerTables = new WeakMap<Float32Array, LongerTable>();

/** A table with a row for each added item: the same sum of its neighbours' rows. */
function withAddedRows(table: Float32Array, features: number, added: AddedItems): Float32Array {
  const { known, total, neighbours } = added;
  const before = longerTables.get(table);
  const same = before ? equalRows(before.neighbours, neighbours) : 0;
  if (before && known + same === total && before.all.length === total * features) return before.all;
  const all = allocate(Float32Array, total * features);
  all.set(before ? before.all.subarray(0, (known + same) * features) : table);
  const row = new Float64Array(features);
  const { offsets, targets, weights } = neighbours;
  for (let a = same; a < total - known; a++) {
    row.fill(0);
    const end = offsets[a + 1];
    let e = offsets[a];
    // Four neighbours in one pass over the row take less than half of the time.
    for (; e + 4 <= end; e += 4) {
      const [f0, w0] = [targets[e] * features, weights[e]];
      const [f1, w1] = [targets[e + 1] * features, weights[e + 1]];
      const [f2, w2] = [targets[e + 2] * features, weights[e + 2]];
      const [f3, w3] = [targets[e + 3] * features, weights[e + 3]];
      for (let k = 0; k < features; k++)
        row[k] += w0 * table[f0 + k] + w1 * table[f1 + k] + w2 * table[f2 + k] + w3 * table[f3 + k];
    }
    for (; e < end; e++) {
      const [from, weight] = [targets[e] * features, weights[e]];
      for (let k = 0; k < features; k++) row[k] += weight * table[from + k];
    }
    all.set(row, (known + a) * features);
  }
  longerTables.set(table, { neighbours, all });
  return all;
}

/** The number of first rows that are the same in both. */
function equalRows(one: SparseWeights, other: SparseWeights): number {
  const most = Math.min(one.offsets.length, other.offsets.length) - 1;
  for (let row = 0; row < most; row++) {
    if (one.offsets[row + 1] !== other.offsets[row + 1]) return row;
    for (let e = one.offsets[row]; e < one.offsets[row + 1]; e++) {
      if (one.targets[e] !== other.targets[e] || one.weights[e] !== other.weights[e]) return row;
    }
  }
  return most;
}

/** A member that scores added items too. Users are folded in from items of the data alone. */
export function withAddedItems(member: MemberScorer, added: AddedItems): MemberScorer {
  const { features: K } = member;
  const items = once(() => withAddedRows(member.items, K, added));
  const extended = (inner: UserFactors): UserFactors => ({
    ...inner,
    score: (item) =>
      item < added.known ? inner.score(item) : sumOfProducts(inner.means, items(), item * K, K),
    explainer: () => {
      const explain = inner.explainer();
      return (item) => (item < added.known ? explain(item) : neighbourExplanation(item, added, explain));
    },
  });
  return {
    ...member,
    get items() {
      return items();
    },
    known: (row, own) => extended(member.known(row, own)),
    foldOne: (own) => extended(member.foldOne(own)),
  };
}

/** The explanation of an added item: the same sum of its neighbours' explanations. */
export function neighbourExplanation(
  item: number,
  { known, neighbours }: AddedItems,
  explain: (item: number) => Explanation,
): Explanation {
  const [first, end] = [neighbours.offsets[item - known], neighbours.offsets[item - known + 1]];
  // Without neighbours, nothing of any item: its explanation has the right lengths.
  const [targets, weights] =
    first < end
      ? [neighbours.targets.subarray(first, end), neighbours.weights.subarray(first, end)]
      : [[0], [0]];
  const found = Array.from(targets, (target) => explain(target));
  const parts = found.map((one, i) => scaled(one, weights[i]));
  return { ...addUp(parts, added), all: found[0].all };
}

/**
 * Leaves out added items, which tables of factors cannot fold in. `spread` puts the parts of the other items in the order of all of them;
 * added items have none.
 */
export function knownOwn(
  own: OwnItems,
  known: number,
): { readonly own: OwnItems; readonly spread: (explanation: Explanation) => Explanation } {
  const places: number[] = [];
  for (let i = 0; i < own.items.length; i++) if (own.items[i] < known) places.push(i);
  if (places.length === own.items.length) return { own, spread: (explanation) => explanation };
  const { counts, weights } = own;
  const spreadParts = (parts: ScoreParts): ScoreParts => {
    const items = new Float64Array(own.items.length);
    for (const [p, place] of places.entries()) items[place] = parts.items[p];
    return { ...parts, items };
  };
  return {
    own: {
      items: Uint32Array.from(places, (place) => own.items[place]),
      counts: counts && Uint32Array.from(places, (place) => counts[place]),
      weights: weights && Float32Array.from(places, (place) => weights[place]),
    },
    spread: ({ score, all, ...parts }) => ({ score, ...spreadParts(parts), all: spreadParts(all) }),
  };
}
