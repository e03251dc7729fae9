// Recommends items to a user of the model, or to a new user who is folded in from a few items. Each function makes a recommender
// (recommender.ts), uses it once and closes it; for several requests, keep one recommender.

import type { SharedAttribute } from '../attributes/shared-attributes.js';
import type { Model } from '../fit/model.js';
import type { OptionsOf } from '../options/declare.js';
import type { RECOMMEND_LISTS } from '../options/library.js';
import type { TaskOptions } from '../progress.js';
import { createRecommender } from './recommender.js';

/** The id of a user or an item, as text or a number. */
export type Id = string | number;

/**
 * The user to recommend for: by id, a user of the model or of its table about the users; or a new user by items. `counts` are for
 * a multigraph. `times` (milliseconds since 1970) are for a model that weighs items by age.
 */
export type UserQuery = (
  | { readonly user: Id }
  | {
      readonly likes: readonly Id[];
      readonly counts?: readonly number[] | undefined;
      readonly times?: readonly number[] | undefined;
    }
) & {
  /** Ids of items that are not listed for this user. */
  readonly exclude?: readonly Id[] | undefined;
};

/** What is listed and how; declared in options/library.ts. */
export interface RecommendOptions extends OptionsOf<typeof RECOMMEND_LISTS>, TaskOptions {}

/** A recommended item and its score. */
export interface Recommendation {
  readonly item: string;
  /** The expected rate of the edge; for a ranker the sum of its members' scores and its item weights, which can be negative. */
  readonly score: number;
  readonly explanation?: RecommendationExplanation | undefined;
}

/** What something contributes to a score. */
export interface ScoreContribution {
  /** In units of the score. */
  readonly contribution: number;
  /** Of the score's absolute value: 0 to 1, unless some contributions are negative. 0 if the score is 0. */
  readonly fraction: number;
  /** The contribution to a score of the same size if the item were the user's average one. */
  readonly usual: number;
}

/**
 * The contributions to a score. Features and `direct` add up to it; so do the user's items and the prior; so do the usual values.
 * Contributions of a blend can be negative: they speak against the item, and others then exceed the score.
 */
export interface RecommendationExplanation {
  /** Contribution of each feature, member by member; empty if the scores have no features. */
  readonly features: readonly number[];
  /** The usual contributions of the features. */
  readonly usualFeatures: readonly number[];
  /** What the user's items contribute directly, by item-to-item weights. */
  readonly direct: number;
  readonly usualDirect: number;
  /** For an item with few edges or none: the attributes that it shares with the first five items, the most telling first. */
  readonly attributes?: readonly SharedAttribute[] | undefined;
  /** The user's own items; those that exceed their usual contribution most come first. */
  readonly items: readonly (ScoreContribution & { readonly item: string })[];
  /** The contribution of the prior, which no item explains. */
  readonly prior: number;
  readonly usualPrior: number;
}

/**
 * The best items for one user, best first; ties go to the item that comes first in the model.
 * @example
 * import { BipartiteGraph, fit, recommend } from 'graphex';
 * const graph = BipartiteGraph.fromPairs([['ann', 'tea'], ['bob', 'milk'], ['bob', 'tea'], ['cleo', 'milk']]);
 * const { model } = await fit(graph, { features: 2 });
 * console.log(await recommend(model, { user: 'ann' }, { n: 1 }), await recommend(model, { likes: ['milk'] }));
 */
export async function recommend(
  model: Model,
  user: UserQuery,
  options: RecommendOptions = {},
): Promise<Recommendation[]> {
  return (await recommendMany(model, [user], options))[0];
}

/**
 * The same for many users.
 * @example
 * import { BipartiteGraph, fit, recommendMany } from 'graphex';
 * const graph = BipartiteGraph.fromPairs([['ann', 'tea'], ['bob', 'milk'], ['bob', 'tea'], ['cleo', 'milk']]);
 * const { model } = await fit(graph, { features: 2 });
 * console.log(await recommendMany(model, [{ user: 'ann' }, { likes: ['milk'] }], { n: 1 }));
 */
export async function recommendMany(
  model: Model,
  users: readonly UserQuery[],
  options: RecommendOptions = {},
): Promise<Recommendation[][]> {
  const recommender = createRecommender(model);
  try {
    return await recommender.recommendMany(users, options);
  } finally {
    await recommender.close();
  }
}
