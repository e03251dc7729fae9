// What a report is explored by: of each feature the items and users that have most of it, and of each vertex the feature
// that explains most of its edges. Lists are bounded, whatever the size of the data; how many there are is said.

import type { Titles } from '../evaluate/title-table.js';
import type { PosteriorModel } from '../fit/model.js';
import type { BySide } from '../graph/graph.js';
import type { VertexIds } from '../graph/ids.js';
import { type FeatureTables, featureTables, overallShares } from '../predict/features.js';
import { largest } from '../predict/scoring/largest.js';

/** An item or a user among those of a feature. */
export interface AtlasEntry {
  readonly id: string;
  readonly title: string | null;
  /** Share of the feature's expected edges. */
  readonly share: number;
  /** Edges in training. */
  readonly edges: number;
}

/** The items and users of one feature, largest share first. */
export interface AtlasFeature {
  /** Feature, from 1. */
  readonly feature: number;
  /** Share of all expected edges that the feature explains. */
  readonly share: number;
  readonly items: readonly AtlasEntry[];
  readonly users: readonly AtlasEntry[];
}

/** A vertex that can be looked up. */
export interface AtlasVertex {
  readonly id: string;
  readonly title: string | null;
  readonly edges: number;
  /** The feature that explains most of its expected edges, from 1, and the share of them. */
  readonly feature: number;
  readonly share: number;
}

/** All that a report lets a reader look up. */
export interface Atlas {
  /** Those that explain most first. */
  readonly features: readonly AtlasFeature[];
  /** Those with most edges, at most MOST_VERTICES of a side. */
  readonly vertices: BySide<readonly AtlasVertex[]>;
  /** Vertices of the training part. */
  readonly counts: BySide<number>;
}

/** Lines of all features together, of items and of users. */
const MOST_LINES = { items: 3000, users: 1500 } as const;
/** Lines of one feature, where there are few features. */
const LONGEST = 300;
export const MOST_VERTICES = 5000;
/** Longer ids are cut: they are for reading. */
const MOST_TEXT = 200;

export function atlas(model: PosteriorModel, titles: Titles | undefined): Atlas {
  const [tables] = featureTables(model);
  const { total } = overallShares([tables], model.items.count);
  const { features: K, mass } = tables;
  const sides = {
    items: { ...model.items, table: tables.items, mass: mass.items, others: mass.users },
    users: { ...model.users, table: tables.users, mass: mass.users, others: mass.items },
  };
  const name = (side: keyof typeof sides, v: number) =>
    nameOf(sides[side].ids, v, side === 'items' && titles);
  const entries = (side: keyof typeof sides, k: number): AtlasEntry[] => {
    const { table, mass: all, degree, count } = sides[side];
    const most = Math.min(LONGEST, Math.max(1, Math.floor(MOST_LINES[side] / K)));
    // What is as good as nothing of a feature is not in it.
    const share = (v: number) => table[v * K + k] / all[k];
    const least = all[k] > 0 ? 1e-3 / count : Number.POSITIVE_INFINITY;
    return largest(count, most, (v) => (share(v) > least ? share(v) : Number.NEGATIVE_INFINITY)).map((v) => ({
      ...name(side, v),
      share: share(v),
      edges: degree[v],
    }));
  };
  const vertices = (side: keyof typeof sides): AtlasVertex[] => {
    const { table, others, degree, count } = sides[side];
    return mostEdges(degree, count).map((v) => {
      const { feature, share } = mainFeature(table, others, v, K);
      return { ...name(side, v), edges: degree[v], feature, share };
    });
  };
  return {
    features: Array.from({ length: K }, (_, k) => ({
      feature: k + 1,
      share: (mass.users[k] * mass.items[k]) / total,
      items: entries('items', k),
      users: entries('users', k),
    })).sort((a, b) => b.share - a.share || a.feature - b.feature),
    vertices: { users: vertices('users'), items: vertices('items') },
    counts: { users: model.users.count, items: model.items.count },
  };
}

/** The vertices with most edges, in the order of their ids where they have as many. */
function mostEdges(degree: Uint32Array, count: number): number[] {
  return Array.from({ length: count }, (_, v) => v)
    .sort((a, b) => degree[b] - degree[a] || a - b)
    .slice(0, MOST_VERTICES);
}

function mainFeature(
  table: FeatureTables['items'],
  others: Float64Array,
  v: number,
  K: number,
): { readonly feature: number; readonly share: number } {
  let sum = 0;
  let best = 0;
  let most = -1;
  for (let k = 0; k < K; k++) {
    const part = table[v * K + k] * others[k];
    sum += part;
    if (part > most) [best, most] = [k, part];
  }
  return { feature: best + 1, share: sum > 0 ? most / sum : 0 };
}

function nameOf(ids: VertexIds, v: number, titles: Titles | undefined | false) {
  const id = ids.at(v);
  const cut = (text: string) => (text.length > MOST_TEXT ? `${text.slice(0, MOST_TEXT - 1)}…` : text);
  const title = titles ? titles.find(id) : undefined;
  return { id: cut(id), title: title === undefined ? null : cut(title) };
}
