// An explanation in brief: the few of the user's items and the few features that speak for an item more than they do
// for the user's average one, with what is left, so that the parts still add up to the score.

import type { Model } from '../fit/model.js';
import type { ScoreParts } from './explain.js';
import { describeVoices, hasFeatures } from './features.js';
import { once } from './once.js';
import type { Recommendation, ScoreShare } from './recommend.js';

/** Why a score is what it is, in a few parts: items, others and rest add up to it. */
export interface Reasons {
  /** The user's items that speak for it most beyond what they usually do. */
  readonly items: readonly (ScoreShare & { readonly item: string })[];
  /** The user's other items together. */
  readonly others: ScoreShare & { readonly count: number };
  /** The features that speak for it most, named by items that stand out in them; none where the model has none. */
  readonly features: readonly (ScoreShare & {
    readonly feature: number;
    readonly about: readonly string[];
  })[];
  /** What none of the user's items explains. */
  readonly rest: number;
}

/** Items and features that are named. */
const NAMED = { items: 5, features: 3, about: 3 } as const;

/** Says explanations of a model's scores in brief. */
export function createReasons(model: Model): (recommendation: Recommendation) => Reasons | undefined {
  const about = once(() => {
    const found = hasFeatures(model) ? describeVoices(model, { n: NAMED.about }) : [];
    return new Map(found.map(({ feature, items }) => [feature, items.map(({ item }) => item)]));
  });
  return ({ explanation }) => {
    if (!explanation) return undefined;
    const { items, features, usualFeatures, prior } = explanation;
    const others = items.slice(NAMED.items);
    const sum = (part: keyof ScoreShare) => others.reduce((total, one) => total + one[part], 0);
    return {
      items: items.slice(0, NAMED.items),
      others: { count: others.length, share: sum('share'), usual: sum('usual') },
      features: features
        .map((share, k) => ({
          feature: k + 1,
          about: about().get(k + 1) ?? [],
          share,
          usual: usualFeatures[k],
        }))
        .filter((one) => one.about.length > 0)
        .sort(byContrast)
        .slice(0, NAMED.features),
      rest: prior,
    };
  };
}

/** The same with titles beside the ids, where there are any. */
export function titledReasons(
  { items, others, features, rest }: Reasons,
  titleOf: (item: string) => { readonly title?: string },
) {
  const titled = (item: string) => ({ item, ...titleOf(item) });
  return {
    items: items.map(({ item, share, usual }) => ({ ...titled(item), share, usual })),
    others,
    features: features.map(({ about, ...one }) => ({ ...one, about: about.map(titled) })),
    rest,
  };
}

/** What is most above its usual part first; where nothing is, the largest. */
export function byContrast(a: ScoreShare, b: ScoreShare): number {
  return b.share - b.usual - (a.share - a.usual) || b.share - a.share;
}

/** Shares of the user's average item, which add up to 1. Weights below 0 speak against it, and have none. */
export function usualShares({ features, items, prior }: ScoreParts): ScoreParts {
  const positive = (values: Float64Array) => values.map((value) => Math.max(0, value));
  const [own, byFeature] = [positive(items), positive(features)];
  const total = own.reduce((sum, value) => sum + value, Math.max(0, prior));
  const ofFeatures = byFeature.reduce((sum, value) => sum + value, 0);
  return {
    items: total > 0 ? own.map((value) => value / total) : own,
    prior: total > 0 ? Math.max(0, prior) / total : 1,
    features: ofFeatures > 0 ? byFeature.map((value) => value / ofFeatures) : byFeature,
  };
}
