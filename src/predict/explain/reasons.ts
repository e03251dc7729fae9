// An explanation in brief: the few of the user's items and the few features that speak for an item more than they do
// for the user's average one, with what is left, so that the parts still add up to the score.

import type { Model } from '../../fit/model.js';
import { createFeatureNames, hasFeatures } from '../features.js';
import type { Recommendation, ScoreShare } from '../recommend.js';
import { once } from '../scoring/once.js';
import type { ScoreParts } from './explain.js';

/**
 * Why a score is what it is, in a few parts: items, others and rest add up to it, and so do features, otherFeatures and
 * direct where the model has features or weights between items. Parts below 0 speak against the item.
 */
export interface Reasons {
  /** The user's items that speak for it most beyond what they usually do. */
  readonly items: readonly (ScoreShare & { readonly item: string })[];
  /** The user's other items together. */
  readonly others: ScoreShare & { readonly count: number };
  /** The features that speak for it more than they usually do, else the largest; named by items that stand out in them. */
  readonly features: readonly (ScoreShare & {
    readonly feature: number;
    readonly about: readonly string[];
  })[];
  /** The model's other features together. */
  readonly otherFeatures: ScoreShare & { readonly count: number };
  /** What the user's items give this one directly, by weights between items and past all features. */
  readonly direct: ScoreShare;
  /** What none of the user's items explains. */
  readonly rest: number;
}

/** Parts below this share of the score are not worth a word. */
export const LEAST = 0.005;
/** A part that is this many times its usual one speaks for the item. */
const TELLING = 1.15;

/** Whether a part tells an item of this score from the user's others. */
export function isTelling({ share, usual }: ScoreShare, score: number): boolean {
  return tells(share, usual, score);
}

function tells(share: number, usual: number, score: number): boolean {
  return share > TELLING * usual && share >= LEAST * Math.abs(score);
}

/** Items and features that are named. */
const NAMED = { items: 5, features: 3, about: 3 } as const;

/** Says explanations of a model's scores in brief. */
export function createReasons(model: Model): (recommendation: Recommendation) => Reasons | undefined {
  const names = once(() =>
    hasFeatures(model) ? createFeatureNames(model, { n: NAMED.about }) : (): readonly string[] => [],
  );
  const about = (k: number) => names()(k + 1);
  return ({ score, explanation }) => {
    if (!explanation) return undefined;
    const { items, features, usualFeatures, direct, usualDirect, prior } = explanation;
    const others = items.slice(NAMED.items);
    const told = toldFeatures(features, usualFeatures, score, (k) => about(k).length > 0);
    const named = told.map((k) => ({
      feature: k + 1,
      share: features[k],
      usual: usualFeatures[k],
      about: about(k),
    }));
    const without = (parts: readonly number[]) =>
      parts.reduce((sum, part, k) => (told.includes(k) ? sum : sum + part), 0);
    return {
      items: items.slice(0, NAMED.items),
      others: together(others),
      features: named,
      otherFeatures: {
        count: features.length - named.length,
        share: without(features),
        usual: without(usualFeatures),
      },
      direct: { share: direct, usual: usualDirect },
      rest: prior,
    };
  };
}

/** Features that tell this item from the user's others; where none does, the largest, if it is worth a word. */
function toldFeatures(
  shares: readonly number[],
  usual: readonly number[],
  score: number,
  isDescribed: (k: number) => boolean,
): number[] {
  const told: (ScoreShare & { readonly k: number })[] = [];
  let largest = -1;
  // Features are many and lists are long: nothing is made for those that have no word.
  for (let k = 0; k < shares.length; k++) {
    const share = shares[k];
    const telling = tells(share, usual[k], score);
    if (!telling && largest >= 0 && share <= shares[largest]) continue;
    if (!isDescribed(k)) continue;
    if (telling) told.push({ k, share, usual: usual[k] });
    if (largest < 0 || share > shares[largest]) largest = k;
  }
  if (told.length > 0) {
    return told
      .sort(byContrast)
      .slice(0, NAMED.features)
      .map(({ k }) => k);
  }
  return largest >= 0 && shares[largest] >= LEAST * Math.abs(score) ? [largest] : [];
}

function together(parts: readonly ScoreShare[]): ScoreShare & { readonly count: number } {
  const sum = (part: keyof ScoreShare) => parts.reduce((total, one) => total + one[part], 0);
  return { count: parts.length, share: sum('share'), usual: sum('usual') };
}

/** The same with titles beside the ids, where there are any. */
export function titledReasons(
  { items, others, features, otherFeatures, direct, rest }: Reasons,
  titleOf: (item: string) => { readonly title?: string },
) {
  const titled = (item: string) => ({ item, ...titleOf(item) });
  return {
    items: items.map(({ item, share, usual }) => ({ ...titled(item), share, usual })),
    others,
    features: features.map(({ about, ...one }) => ({ ...one, about: about.map(titled) })),
    otherFeatures,
    direct,
    rest,
  };
}

/** What is most above its usual part first; where nothing is, the largest. */
export function byContrast(a: ScoreShare, b: ScoreShare): number {
  return b.share - b.usual - (a.share - a.usual) || b.share - a.share;
}

/** Shares of the user's average item, which add up to 1. Weights below 0 speak against it, and have none. */
export function usualShares({ features, direct, items, prior }: ScoreParts): ScoreParts {
  const positive = (values: Float64Array) => values.map((value) => Math.max(0, value));
  const [own, byFeature] = [positive(items), positive(features)];
  const total = own.reduce((sum, value) => sum + value, Math.max(0, prior));
  const ways = byFeature.reduce((sum, value) => sum + value, Math.max(0, direct));
  return {
    items: total > 0 ? own.map((value) => value / total) : own,
    prior: total > 0 ? Math.max(0, prior) / total : 1,
    features: ways > 0 ? byFeature.map((value) => value / ways) : byFeature,
    direct: ways > 0 ? Math.max(0, direct) / ways : 0,
  };
}
