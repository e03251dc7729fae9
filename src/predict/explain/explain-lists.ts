// Lists with the reasons for each item and the confidence of the whole list.

import { throwIfAborted } from '../../errors.js';
import type { Model } from '../../fit/model.js';
import type { Recommendation, RecommendOptions, UserQuery } from '../recommend.js';
import type { Recommender } from '../recommender.js';
import { attributesOfUser } from '../scoring/attribute-users.js';
import { knownItems } from '../user-query.js';
import type { ListConfidence } from './confidence.js';
import type { Reasons } from './reasons.js';

/** A list of recommendations with reasons and confidence, if these were asked for. */
export interface ExplainedList {
  readonly items: readonly (Omit<Recommendation, 'explanation'> & {
    readonly reasons?: Reasons | undefined;
  })[];
  readonly confidence?: ListConfidence | undefined;
}

/** What is listed, and whether with confidence. */
export interface ExplainListOptions extends RecommendOptions {
  readonly confidence?: boolean | undefined;
}

/** Whether a list is made from items of the user. Others go by attributes or popularity, and have no confidence. */
const isByItems = (model: Model, query: UserQuery): boolean =>
  'likes' in query
    ? knownItems(model, query.likes).length > 0
    : attributesOfUser(model, query.user) === undefined;

/** Explains lists in this thread. Liked items that the model does not know are treated as they are in the lists. */
export async function explainLists(
  recommender: Omit<Recommender, 'explainMany'>,
  queries: readonly UserQuery[],
  { confidence, ...options }: ExplainListOptions,
): Promise<ExplainedList[]> {
  const lists = await recommender.recommendMany(queries, options);
  const explained: ExplainedList[] = [];
  for (const [q, query] of queries.entries()) {
    throwIfAborted(options.signal);
    const listed = lists[q].map(({ item }) => item);
    const asked = { ...query, exclude: [...(query.exclude ?? []), ...(options.exclude ?? [])] };
    explained.push({
      items: lists[q].map(({ explanation, ...entry }) => ({
        ...entry,
        ...(explanation && { reasons: recommender.reasons({ ...entry, explanation }) }),
      })),
      ...(confidence &&
        isByItems(recommender.model, query) && {
          confidence: await recommender.confidence(asked, listed, {
            filter: options.filter,
            onUnknown: () => {},
          }),
        }),
    });
  }
  return explained;
}
