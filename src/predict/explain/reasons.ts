// A short explanation: the few items of the user and the few features that contribute more to this score than to the user's
// average item. What is left is one more entry, so that the contributions still add up to the score.

import type { SharedAttribute } from '../../attributes/shared-attributes.js';
import type { Model } from '../../fit/model.js';
import { once } from '../../math/once.js';
import { createFeatureNames, hasFeatures } from '../features.js';
import type { Recommendation, ScoreContribution } from '../recommend.js';
import type { ScoreParts } from './explain.js';

/**
 * Why a score is what it is, in a few contributions. Items, others and rest add up to the score. If the model has features or
 * item weights, so do features, otherFeatures and direct. A negative contribution lowers the score of the item.
 */
export interface Reasons {
  /** The user's items that exceed their usual contribution most. */
  readonly items: readonly (ScoreContribution & { readonly item: string })[];
  /** The user's other items together. */
  readonly others: ScoreContribution & { readonly count: number };
  /** The features that exceed their usual contribution, else the largest one; `about` names items that stand out in them. */
  readonly features: readonly (ScoreContribution & {
    readonly feature: number;
    readonly about: readonly string[];
  })[];
  /** The model's other features together. */
  readonly otherFeatures: ScoreContribution & { readonly count: number };
  /** What the user's items contribute directly, by item-to-item weights. */
  readonly direct: ScoreContribution;
  /** For an item with few edges or none: attributes that it shares with these items. For a user without items: the user's. */
  readonly attributes?: readonly SharedAttribute[] | undefined;
  /** The contribution that none of the user's items explains. */
  readonly rest: number;
}

/** Smaller fractions of the score are not mentioned. */
export const LEAST = 0.005;
/** A contribution this many times its usual one distinguishes the item. */
const DISTINCT = 1.15;

/** Whether a contribution distinguishes an item of this score from the user's other items. */
export function isDistinct(contribution: number, usual: number, score: number): boolean {
  return contribution > DISTINCT * usual && contribution >= LEAST * Math.abs(score);
}

/** A contribution to a score, with its fraction. */
export function contributionOf(contribution: number, usual: number, score: number): ScoreContribution {
  return { contribution, fraction: score === 0 ? 0 : contribution / Math.abs(score), usual };
}

/** How many items and features are named. */
export const NAMED = { items: 5, features: 3, about: 3 } as const;

/** A function that shortens the explanations of a model's scores. */
export function createReasons(model: Model): (recommendation: Recommendation) => Reasons | undefined {
  const names = once(() =>
    hasFeatures(model) ? createFeatureNames(model, { n: NAMED.about }) : (): readonly string[] => [],
  );
  const about = (k: number) => names()(k + 1);
  return ({ score, explanation }) => {
    if (!explanation) return undefined;
    const { items, features, usualFeatures, direct, usualDirect, prior } = explanation;
    const others = items.slice(NAMED.items);
    const chosen = distinctFeatures(features, usualFeatures, score, (k) => about(k).length > 0);
    const named = chosen.map((k) => ({
      feature: k + 1,
      ...contributionOf(features[k], usualFeatures[k], score),
      about: about(k),
    }));
    const without = (values: readonly number[]) =>
      values.reduce((sum, value, k) => (chosen.includes(k) ? sum : sum + value), 0);
    return {
      items: items.slice(0, NAMED.items),
      others: sumOf(others, score),
      features: named,
      otherFeatures: {
        count: features.length - named.length,
        ...contributionOf(without(features), without(usualFeatures), score),
      },
      direct: contributionOf(direct, usualDirect, score),
      ...(explanation.attributes && { attributes: explanation.attributes }),
      rest: prior,
    };
  };
}

/** The features that distinguish this item from the user's other items; if none does, the largest, unless it is too small. */
function distinctFeatures(
  contributions: readonly number[],
  usual: readonly number[],
  score: number,
  isDescribed: (k: number) => boolean,
): number[] {
  const distinct: number[] = [];
  let largest = -1;
  // There are many features and many items, so most features are dismissed before they are described.
  for (let k = 0; k < contributions.length; k++) {
    const isLargest = largest < 0 || contributions[k] > contributions[largest];
    const stands = isDistinct(contributions[k], usual[k], score);
    if ((!stands && !isLargest) || !isDescribed(k)) continue;
    if (stands) distinct.push(k);
    if (isLargest) largest = k;
  }
  if (distinct.length > 0) {
    const part = (k: number) => ({ contribution: contributions[k], usual: usual[k] });
    return distinct.sort((a, b) => byContrast(part(a), part(b))).slice(0, NAMED.features);
  }
  return largest >= 0 && contributions[largest] >= LEAST * Math.abs(score) ? [largest] : [];
}

function sumOf(
  parts: readonly ScoreContribution[],
  score: number,
): ScoreContribution & { readonly count: number } {
  const sum = (name: 'contribution' | 'usual') => parts.reduce((total, one) => total + one[name], 0);
  return { count: parts.length, ...contributionOf(sum('contribution'), sum('usual'), score) };
}

/** The same with the titles of the items that have one. */
export function titledReasons(
  { items, others, features, otherFeatures, direct, attributes, rest }: Reasons,
  titleOf: (item: string) => { readonly title?: string },
) {
  const titled = (item: string) => ({ item, ...titleOf(item) });
  return {
    items: items.map(({ item, ...contribution }) => ({ ...titled(item), ...contribution })),
    others,
    features: features.map(({ about, ...one }) => ({ ...one, about: about.map(titled) })),
    otherFeatures,
    direct,
    ...(attributes && {
      attributes: attributes.map(({ items: own, ...one }) => ({ ...one, ...(own && { items: [...own] }) })),
    }),
    rest,
  };
}

type Contrast = Pick<ScoreContribution, 'contribution' | 'usual'>;

/** Orders by how far a contribution exceeds its usual value, then by size; the largest comes first. */
export function byContrast(a: Contrast, b: Contrast): number {
  return b.contribution - b.usual - (a.contribution - a.usual) || b.contribution - a.contribution;
}

/** Fractions of the score of the user's average item; they add up to 1. Negative contributions count as 0. */
export function usualShares({ features, direct, items, prior }: ScoreParts): ScoreParts {
  const positive = (values: Float64Array) => values.map((value) => Math.max(0, value));
  const [own, byFeature] = [positive(items), positive(features)];
  const ofItems = own.reduce((sum, value) => sum + value, Math.max(0, prior));
  const ofFeatures = byFeature.reduce((sum, value) => sum + value, Math.max(0, direct));
  return {
    items: ofItems > 0 ? own.map((value) => value / ofItems) : own,
    prior: ofItems > 0 ? Math.max(0, prior) / ofItems : 1,
    features: ofFeatures > 0 ? byFeature.map((value) => value / ofFeatures) : byFeature,
    direct: ofFeatures > 0 ? Math.max(0, direct) / ofFeatures : 0,
  };
}
