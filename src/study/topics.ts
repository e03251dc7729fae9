// What a feature is about: the items that stand out in it, and for named users those who have most of it.

import type { Titles } from '../evaluate/titles.js';
import { type Model, type ModelSide, meanTable } from '../fit/model.js';
import type { VertexIds } from '../graph/ids.js';

export interface TopicItem {
  readonly id: string;
  readonly title: string | null;
  /** Share of the feature's expected edges that go to this item. */
  readonly share: number;
  /** How many times that is its share of all expected edges. */
  readonly lift: number;
}

export interface Topic {
  /** Feature, from 1. */
  readonly feature: number;
  /** Share of all expected edges that the feature explains. */
  readonly share: number;
  readonly items: readonly TopicItem[];
  /** Users with the largest share of the feature's edges; empty where users are numbers. */
  readonly users: readonly { readonly id: string; readonly share: number }[];
}

export interface TopicOptions {
  /** Items shown of each feature. Default 10. */
  readonly items?: number | undefined;
  /** Users shown of each feature. Default 3. */
  readonly users?: number | undefined;
  /** Titles of the items. */
  readonly titles?: Titles | undefined;
  /** An item needs this many training edges to be shown. Default 3. */
  readonly leastDegree?: number | undefined;
}

/** Weight of the share against the lift; at 1 every feature begins with the same common items. */
const SHARE_WEIGHT = 0.6;

/** True where items have names that say something to a reader. */
export function hasNames(ids: VertexIds, titles: Titles | undefined): boolean {
  return titles !== undefined || isWords(ids);
}

/** The features of a model, those that explain most first. Items by log share and log lift, 0.6 : 0.4. */
export function topics(model: Model, options: TopicOptions = {}): Topic[] {
  const { items: shown = 10, users: shownUsers = 3, titles, leastDegree = 3 } = options;
  const K = model.features;
  const table = { users: meanTable(model.users, K), items: meanTable(model.items, K) };
  const mass = { users: massOf(table.users, K), items: massOf(table.items, K) };
  let total = 0;
  for (let k = 0; k < K; k++) total += mass.users[k] * mass.items[k];
  // Share of all expected edges of each item.
  const overall = new Float64Array(model.items.count);
  for (let j = 0; j < overall.length; j++) {
    for (let k = 0; k < K; k++) overall[j] += (mass.users[k] * table.items[j * K + k]) / total;
  }
  const namedUsers = isWords(model.users.ids);
  return Array.from({ length: K }, (_, k): Topic => {
    const relevance = (j: number) => {
      const share = table.items[j * K + k] / mass.items[k];
      if (!(share > 0) || model.items.degree[j] < leastDegree) return Number.NEGATIVE_INFINITY;
      return Math.log(share) - (1 - SHARE_WEIGHT) * Math.log(overall[j]);
    };
    return {
      feature: k + 1,
      share: (mass.users[k] * mass.items[k]) / total,
      items: largest(model.items.count, shown, relevance).map((j) => {
        const id = model.items.ids.at(j);
        const share = table.items[j * K + k] / mass.items[k];
        return { id, title: titles?.find(id) ?? null, share, lift: share / overall[j] };
      }),
      users: namedUsers
        ? largest(model.users.count, shownUsers, (i) => table.users[i * K + k]).map((i) => ({
            id: model.users.ids.at(i),
            share: table.users[i * K + k] / mass.users[k],
          }))
        : [],
    };
  }).sort((a, b) => b.share - a.share || a.feature - b.feature);
}

function massOf(table: Float32Array, K: number): Float64Array {
  const mass = new Float64Array(K);
  for (let e = 0; e < table.length; e++) mass[e % K] += table[e];
  return mass;
}

/** Names rather than numbers or codes: most of the first ids have a letter. */
function isWords(ids: ModelSide['ids']): boolean {
  if (ids.kind === 'integer') return false;
  const look = Math.min(ids.length, 200);
  let words = 0;
  for (let v = 0; v < look; v++) {
    const id = ids.at(Math.floor((v * ids.length) / look));
    if (/\p{L}{2}/u.test(id)) words++;
  }
  return words > look / 2;
}

/** Indexes of the largest values, in falling order; equal values by index; −Infinity never. */
function largest(count: number, n: number, value: (index: number) => number): number[] {
  const best: { index: number; value: number }[] = [];
  for (let index = 0; index < count; index++) {
    const v = value(index);
    if (v === Number.NEGATIVE_INFINITY || (best.length === n && v <= best[n - 1].value)) continue;
    let at = best.length;
    while (at > 0 && best[at - 1].value < v) at--;
    best.splice(at, 0, { index, value: v });
    if (best.length > n) best.pop();
  }
  return best.map((entry) => entry.index);
}
