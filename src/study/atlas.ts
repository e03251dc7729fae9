// What a reader can look up in a report: the items and users with the largest share of each feature, and for each vertex the
// feature that explains most of its edges. Lists have a maximum length; the full counts are kept.

import type { PosteriorModel } from '../fit/model.js';
import { type BySide, bySide, type SideName } from '../graph/graph.js';
import type { VertexIds } from '../graph/ids.js';
import { byFallingValue } from '../math/nth-largest.js';
import { modelFeatures } from '../predict/features.js';
import type { TitleLookup } from './options.js';

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

export function atlas(model: PosteriorModel, titles: TitleLookup | undefined): Atlas {
  const features = modelFeatures(model);
  const name = (side: SideName, v: number) => nameOf(model[side].ids, v, side === 'items' && titles);
  const entries = (side: SideName, k: number): AtlasEntry[] => {
    const { degree, count } = model[side];
    const most = Math.min(LONGEST, Math.max(1, Math.floor(MOST_LINES[side] / features.count)));
    // A vertex with almost none of a feature does not belong to it.
    return features
      .heaviest(side, k, most, 1e-3 / count)
      .map(({ vertex, share }) => ({ ...name(side, vertex), share, edges: degree[vertex] }));
  };
  const vertices = (side: SideName): AtlasVertex[] => {
    const { degree } = model[side];
    return Array.from(byFallingValue(degree).subarray(0, MOST_VERTICES), (v) => {
      const { feature, share } = features.main(side, v);
      return { ...name(side, v), edges: degree[v], feature: feature + 1, share };
    });
  };
  return {
    features: features.describe((k) => bySide((side) => entries(side, k))),
    vertices: bySide(vertices),
    counts: bySide((side) => model[side].count),
  };
}

function nameOf(ids: VertexIds, v: number, titles: TitleLookup | undefined | false) {
  const id = ids.at(v);
  const cut = (text: string) => (text.length > MOST_TEXT ? `${text.slice(0, MOST_TEXT - 1)}…` : text);
  const title = titles ? titles.find(id) : undefined;
  return { id: cut(id), title: title === undefined ? null : cut(title) };
}
