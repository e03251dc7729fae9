// Describes the features of a model: how much of the data each explains, and which items and users it consists of.
// A feature's scale is not identified (one side can be multiplied by c and the other divided by c), so features are compared
// by expected edges, never by activities alone.

import { InputError } from '../errors.js';
import { columnSums, type Model, meanTable, needModel, type RankerMember } from '../fit/model.js';
import { otherSide, type SideName } from '../graph/graph.js';
import { largest } from '../math/nth-largest.js';
import { once } from '../math/once.js';
import { withDefaults } from '../options/check-options.js';
import { DESCRIBE } from '../options/commands/features.js';
import type { OptionsOf } from '../options/declare.js';

/** A feature by its heaviest items and users. */
export interface DescribedFeature {
  /** From 1; of a ranker, the members' features one after the other. */
  readonly feature: number;
  /** Share of all expected edges that the feature explains. */
  readonly share: number;
  /** Items that stand out, and the share of the feature's expected edges that go to each. */
  readonly items: readonly { readonly item: string; readonly weight: number }[];
  /** Users with the largest shares of the feature's expected edges; empty if the model stores no users. */
  readonly users: readonly { readonly user: string; readonly weight: number }[];
}

/** How features are described; declared in options/commands/features.ts. */
export interface DescribeOptions extends OptionsOf<typeof DESCRIBE> {}

/**
 * The features of a model; the feature that explains most edges comes first.
 * @example
 * import { describeFeatures, fit, simulate } from 'graphex';
 * const { graph } = await simulate({ features: 4, users: { size: 30 }, items: { size: 30 }, seed: 1 });
 * const { model } = await fit(graph, { features: 4, iterations: 20 });
 * const [first] = await describeFeatures(model, { n: 3 });
 * console.log(first.share, first.items);
 */
export async function describeFeatures(
  model: Model,
  options: DescribeOptions = {},
): Promise<DescribedFeature[]> {
  needModel(model);
  return featuresOf(model, options);
}

/** Weight of log share against log lift. With 1, every feature would begin with the same common items. */
const SHARE_WEIGHT = 0.6;

/** Mean activities of one fit, and their sums over all vertices of a side. */
interface FeatureTables {
  readonly features: number;
  readonly table: { readonly users: Float32Array | undefined; readonly items: Float32Array };
  readonly mass: { readonly users: Float64Array; readonly items: Float64Array };
}

function featureTables(model: Model): readonly FeatureTables[] {
  if (model.type === 'posterior') {
    const { features } = model;
    const [users, items] = [meanTable(model.users, features), meanTable(model.items, features)];
    const mass = {
      users: model.users.mass ?? columnSums(users, features),
      items: columnSums(items, features),
    };
    return [{ features, table: { users, items }, mass }];
  }
  const { scores } = model;
  if (scores.kind !== 'factors' || !hasFeatures(model)) {
    throw new InputError(
      `a model fitted by ${model.method} has no features to describe: fit with method ascent or ranking`,
    );
  }
  return scores.members.filter(isDescribed).map(({ features, items, users, userMass }) => ({
    features,
    table: { users, items },
    mass: { users: userMass, items: columnSums(items, features) },
  }));
}

/** Whether a model has features that can be described as shares of expected edges. */
export function hasFeatures(model: Model): boolean {
  if (model.type === 'posterior') return true;
  const { scores } = model;
  return scores.kind === 'factors' && scores.members.some(isDescribed);
}

/** Least-squares factors can be negative and are no shares. They come last, so the other features keep their numbers. */
function isDescribed({ fold }: RankerMember): boolean {
  return fold.kind !== 'least-squares';
}

interface FeatureVertex {
  readonly vertex: number;
  /** Share of the feature's expected edges. */
  readonly share: number;
}

/** What descriptions of a model's features have in common. Features are numbered from 0; those of a ranker's members follow one another. */
export function modelFeatures(model: Model) {
  const fits = featureTables(model);
  const features = fits.flatMap((fit) => Array.from({ length: fit.features }, (_, k) => ({ fit, k })));
  const expected = ({ fit: { mass }, k }: (typeof features)[number]) => mass.users[k] * mass.items[k];
  const total = features.reduce((sum, feature) => sum + expected(feature), 0);
  /** Each item's share of all expected edges. */
  const overall = once(() => {
    const share = new Float64Array(model.items.count);
    for (const { features: K, table, mass } of fits) {
      for (let j = 0; j < share.length; j++) {
        for (let k = 0; k < K; k++) share[j] += (mass.users[k] * table.items[j * K + k]) / total;
      }
    }
    return share;
  });
  const shareOf = (side: SideName, feature: number) => {
    const { fit, k } = features[feature];
    const [table, mass, K] = [fit.table[side], fit.mass[side][k], fit.features];
    return table && ((vertex: number) => table[vertex * K + k] / mass);
  };
  return {
    count: features.length,
    /** For each feature its number, from 1, the share of all expected edges that it explains, and `more`; largest share first. */
    describe: <T extends object>(more: (feature: number) => T) =>
      features
        .map((one, k) => ({ feature: k + 1, share: expected(one) / total, ...more(k) }))
        .sort((a, b) => b.share - a.share),
    /**
     * The `n` items that stand out in a feature, by log share and log lift, 0.6 : 0.4. `mayShow` leaves out items with few edges,
     * whose lift is large by chance. The lift is the item's share in the feature over its share of all expected edges.
     */
    outstanding(
      feature: number,
      n: number,
      mayShow: (item: number) => boolean,
    ): (FeatureVertex & { readonly lift: number })[] {
      const share = shareOf('items', feature)!;
      const all = overall();
      return largest(all.length, n, (j) => {
        if (!(share(j) > 0) || !mayShow(j)) return Number.NEGATIVE_INFINITY;
        return Math.log(share(j)) - (1 - SHARE_WEIGHT) * Math.log(all[j]);
      }).map((j) => ({ vertex: j, share: share(j), lift: share(j) / all[j] }));
    },
    /** The `n` vertices with the largest shares above `least`, largest first; empty if the model stores no users. */
    heaviest(side: SideName, feature: number, n: number, least = Number.NEGATIVE_INFINITY): FeatureVertex[] {
      const share = shareOf(side, feature);
      if (!share) return [];
      return largest(model[side].count, n, (v) =>
        share(v) > least ? share(v) : Number.NEGATIVE_INFINITY,
      ).map((v) => ({ vertex: v, share: share(v) }));
    },
    /** The feature that explains most of a vertex's expected edges, and the share of them that it explains. */
    main(side: SideName, vertex: number): { readonly feature: number; readonly share: number } {
      let [sum, best, most, first] = [0, 0, -1, 0];
      for (const { features: K, table, mass } of fits) {
        const [own, other] = [table[side], mass[otherSide(side)]];
        for (let k = 0; own && k < K; k++) {
          const edges = own[vertex * K + k] * other[k];
          sum += edges;
          if (edges > most) [best, most] = [first + k, edges];
        }
        first += K;
      }
      return { feature: best, share: sum > 0 ? most / sum : 0 };
    },
  };
}

/** The feature that explains most of each item's expected edges, from 0. */
export function mainFeatures(model: Model): Uint16Array {
  const { main } = modelFeatures(model);
  return Uint16Array.from({ length: model.items.count }, (_, j) => main('items', j).feature);
}

/** Items that name a feature, with their weights. */
function namingItems(model: Model, options: DescribeOptions) {
  const { n, leastDegree } = withDefaults(DESCRIBE, options);
  const features = modelFeatures(model);
  const { ids, degree } = model.items;
  // If hardly any item has that many edges, all items may be shown.
  const enough = degree.filter((d) => d >= leastDegree).length >= Math.min(n, degree.length);
  const mayShow = (item: number) => !enough || degree[item] >= leastDegree;
  const itemsOf = (feature: number) =>
    features
      .outstanding(feature, n, mayShow)
      .map(({ vertex, share }) => ({ item: ids.at(vertex), weight: share }))
      .sort((a, b) => b.weight - a.weight);
  return { n, features, itemsOf };
}

/** A function that names a feature, numbered from 1, by items. It finds them on first use: describing all features takes long. */
export function createFeatureNames(
  model: Model,
  options: DescribeOptions,
): (feature: number) => readonly string[] {
  const { features, itemsOf } = namingItems(model, options);
  const known = new Map<number, readonly string[]>();
  return (feature) => {
    const names =
      known.get(feature) ?? (feature <= features.count ? itemsOf(feature - 1).map(({ item }) => item) : []);
    known.set(feature, names);
    return names;
  };
}

/** The same at once. */
export function featuresOf(model: Model, options: DescribeOptions): DescribedFeature[] {
  const { n, features, itemsOf } = namingItems(model, options);
  return features.describe((k) => ({
    items: itemsOf(k),
    users: features
      .heaviest('users', k, n)
      .map(({ vertex, share }) => ({ user: model.users.ids.at(vertex), weight: share })),
  }));
}
