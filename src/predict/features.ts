// What a model found: of each feature, the items and users that have most of it.

import { InputError } from '../errors.js';
import { columnSums, type Model, meanTable, type PosteriorModel, type RankerMember } from '../fit/model.js';
import { withDefaults } from '../options/check-options.js';
import { DESCRIBE } from '../options/commands/features.js';
import type { OptionsOf } from '../options/declare.js';
import { createRecommender } from './recommender.js';
import { largest } from './scoring/largest.js';

/** A feature by its heaviest items and users. */
export interface DescribedFeature {
  /** From 1; of a ranker, the members' features one after the other. */
  readonly feature: number;
  /** Share of all expected edges that the feature explains. */
  readonly share: number;
  /** Those that stand out, and the share of the feature's expected edges that go to each. */
  readonly items: readonly { readonly item: string; readonly weight: number }[];
  /** Those with most of it; empty where the model holds no users' tables. */
  readonly users: readonly { readonly user: string; readonly weight: number }[];
}

/** What is said of each feature; declared in options/commands.ts. */
export interface DescribeOptions extends OptionsOf<typeof DESCRIBE> {}

/** The features of a model, those that explain most first. */
export async function describeFeatures(
  model: Model,
  options: DescribeOptions = {},
): Promise<DescribedFeature[]> {
  const recommender = createRecommender(model);
  try {
    return recommender.features(options);
  } finally {
    await recommender.close();
  }
}

/** Weight of the share against the lift; at 1 every feature begins with the same common items. */
const SHARE_WEIGHT = 0.6;

/** The tables of one fit, and how much of everything each feature has. */
export interface FeatureTables {
  readonly features: number;
  readonly items: Float32Array;
  readonly users: Float32Array | undefined;
  readonly mass: { readonly users: Float64Array; readonly items: Float64Array };
}

export function featureTables(model: PosteriorModel): [FeatureTables & { readonly users: Float32Array }];
export function featureTables(model: Model): readonly FeatureTables[];
export function featureTables(model: Model): readonly FeatureTables[] {
  if (model.type === 'posterior') {
    const { features } = model;
    const [users, items] = [meanTable(model.users, features), meanTable(model.items, features)];
    return [
      {
        features,
        users,
        items,
        mass: {
          users: model.users.mass ?? columnSums(users, features),
          items: columnSums(items, features),
        },
      },
    ];
  }
  const { scores } = model;
  if (scores.kind !== 'factors' || !hasFeatures(model)) {
    throw new InputError(
      `a model fitted by ${model.method} has no features that could be described: fit with method ascent or ranking`,
    );
  }
  return scores.members.filter(isDescribed).map(({ features, items, users, userMass }) => ({
    features,
    items,
    users,
    mass: { users: userMass, items: columnSums(items, features) },
  }));
}

/** Whether the scores of a model have features that mean something: shares of expected edges. */
export function hasFeatures(model: Model): boolean {
  if (model.type === 'posterior') return true;
  const { scores } = model;
  return scores.kind === 'factors' && scores.members.some(isDescribed);
}

/** Factors by least squares have signs, and share out nothing. They come last, so that others keep their numbers. */
function isDescribed({ fold }: RankerMember): boolean {
  return fold.kind !== 'least-squares';
}

/** Expected edges of all features together, and each item's share of them. */
export function overallShares(parts: readonly FeatureTables[], count: number) {
  let total = 0;
  const share = new Float64Array(count);
  for (const { features, mass } of parts) {
    for (let k = 0; k < features; k++) total += mass.users[k] * mass.items[k];
  }
  for (const { features, items, mass } of parts) {
    for (let j = 0; j < count; j++) {
      for (let k = 0; k < features; k++) share[j] += (mass.users[k] * items[j * features + k]) / total;
    }
  }
  return { total, share };
}

/**
 * The items that stand out in feature `k`: by log share and log lift, 0.6 : 0.4. Items of few edges have large lifts by
 * chance and are left out.
 */
export function outstandingItems(
  { items, features, mass }: FeatureTables,
  k: number,
  n: number,
  { overall, mayShow }: { readonly overall: Float64Array; mayShow(item: number): boolean },
): number[] {
  return largest(overall.length, n, (j) => {
    const share = items[j * features + k] / mass.items[k];
    if (!(share > 0) || !mayShow(j)) return Number.NEGATIVE_INFINITY;
    return Math.log(share) - (1 - SHARE_WEIGHT) * Math.log(overall[j]);
  });
}

/** The features of a model, and what finds the items that stand out in one of them. */
function describedParts(model: Model, options: DescribeOptions) {
  const { n, leastDegree } = withDefaults(DESCRIBE, options);
  const parts = featureTables(model);
  const { total, share: overall } = overallShares(parts, model.items.count);
  const { degree } = model.items;
  // Where hardly any item has so many edges, those that there are must do.
  const enough = degree.filter((d) => d >= leastDegree).length >= Math.min(n, degree.length);
  const mayShow = (item: number) => !enough || degree[item] >= leastDegree;
  const itemsOf = (part: FeatureTables, k: number) =>
    outstandingItems(part, k, n, { overall, mayShow })
      .map((j) => ({
        item: model.items.ids.at(j),
        weight: part.items[j * part.features + k] / part.mass.items[k],
      }))
      .sort((a, b) => b.weight - a.weight);
  return { n, parts, total, itemsOf };
}

/** Items that features are named by, each found when it is first asked for: to describe all of them takes long. */
export function createFeatureNames(
  model: Model,
  options: DescribeOptions,
): (feature: number) => readonly string[] {
  const { parts, itemsOf } = describedParts(model, options);
  const known = new Map<number, readonly string[]>();
  const find = (feature: number): string[] => {
    let k = feature - 1;
    for (const part of parts) {
      if (k < part.features) return itemsOf(part, k).map(({ item }) => item);
      k -= part.features;
    }
    return [];
  };
  return (feature) => {
    const names = known.get(feature) ?? find(feature);
    known.set(feature, names);
    return names;
  };
}

export function describeMembers(model: Model, options: DescribeOptions): DescribedFeature[] {
  const { n, parts, total, itemsOf } = describedParts(model, options);
  const described: DescribedFeature[] = [];
  for (const part of parts) {
    const { features: K, users, mass } = part;
    for (let k = 0; k < K; k++) {
      described.push({
        feature: described.length + 1,
        share: (mass.users[k] * mass.items[k]) / total,
        items: itemsOf(part, k),
        users: users
          ? largest(model.users.count, n, (i) => users[i * K + k]).map((i) => ({
              user: model.users.ids.at(i),
              weight: users[i * K + k] / mass.users[k],
            }))
          : [],
      });
    }
  }
  return described.sort((a, b) => b.share - a.share);
}
