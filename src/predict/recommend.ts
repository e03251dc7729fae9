// Items for a user: one that the model knows, or a new one who is folded in from a few items. For many questions to one
// model, make a recommender (recommender.ts): these functions make one, ask it once and close it.

import type { Model } from '../fit/model.js';
import type { OptionsOf } from '../options/declare.js';
import type { RECOMMEND_LISTS } from '../options/library.js';
import type { TaskOptions } from '../progress.js';
import { createRecommender } from './recommender.js';

/** The id of a user or an item, as text or a number. */
export type Id = string | number;

/** Who asks: a user of the model, by id, or someone new, by items (with counts, for a multigraph). */
export type UserQuery = (
  | { readonly user: Id }
  | { readonly likes: readonly Id[]; readonly counts?: readonly number[] | undefined }
) & {
  /** Ids that are not to be listed for this asker. */
  readonly exclude?: readonly Id[] | undefined;
};

/** What is listed and how; declared in options/library.ts. */
export interface RecommendOptions extends OptionsOf<typeof RECOMMEND_LISTS>, TaskOptions {}

/** A recommended item and its score. */
export interface Recommendation {
  readonly item: string;
  /** The expected rate of the edge; a ranker gives the sum of its members' and of weights between items, which can be below 0. */
  readonly score: number;
  readonly explanation?: RecommendationShares | undefined;
}

/** A part of a score, and what the same part usually is: of a score as large, had the item been the user's average one. */
export interface ScoreShare {
  readonly share: number;
  readonly usual: number;
}

/**
 * Parts of a score. Features and `direct` add up to it, and so do the user's items with the prior; and so do the usual
 * parts. Parts of a blend can be below 0: they speak against the item, and others are then larger than the score.
 */
export interface RecommendationShares {
  /** Features of the members one after the other; none where scores have no features. */
  readonly features: readonly number[];
  /** What the features usually have. */
  readonly usualFeatures: readonly number[];
  /** What the user's items give this one directly, by weights between items and past all features. */
  readonly direct: number;
  readonly usualDirect: number;
  /** The user's own items; first those that speak for this item more than they usually do. */
  readonly items: readonly (ScoreShare & { readonly item: string })[];
  /** What the user would have without any item: no item explains it. */
  readonly prior: number;
  readonly usualPrior: number;
}

/**
 * The best items for one asker, best first; ties go to the item that the model names first.
 * @example
 * import { BipartiteGraph, fit, recommend } from 'graphex';
 * const graph = BipartiteGraph.fromPairs([['ann', 'tea'], ['bob', 'milk'], ['bob', 'tea'], ['cleo', 'milk']]);
 * const { model } = await fit(graph, { features: 2 });
 * console.log(await recommend(model, { user: 'ann' }, { n: 1 }), await recommend(model, { likes: ['milk'] }));
 */
export async function recommend(
  model: Model,
  asker: UserQuery,
  options: RecommendOptions = {},
): Promise<Recommendation[]> {
  return (await recommendMany(model, [asker], options))[0];
}

/** The same for many at once. */
export async function recommendMany(
  model: Model,
  askers: readonly UserQuery[],
  options: RecommendOptions = {},
): Promise<Recommendation[][]> {
  const recommender = createRecommender(model);
  try {
    return await recommender.recommendMany(askers, options);
  } finally {
    await recommender.close();
  }
}
