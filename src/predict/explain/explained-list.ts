// Lists with why each item is there and how sure the whole is.

import { throwIfAborted } from '../../errors.js';
import type { Recommendation, RecommendOptions, UserQuery } from '../recommend.js';
import type { Recommender } from '../recommender.js';
import type { ListConfidence } from './confidence.js';
import type { Reasons } from './reasons.js';

export interface ExplainedList {
  readonly items: readonly (Omit<Recommendation, 'explanation'> & {
    readonly reasons?: Reasons | undefined;
  })[];
  readonly confidence?: ListConfidence | undefined;
}

export interface ExplainListOptions extends RecommendOptions {
  readonly confidence?: boolean | undefined;
}

/** In this thread; what askers like and the model does not know counts as it does in the lists. */
export async function explainLists(
  recommender: Recommender,
  askers: readonly UserQuery[],
  { confidence, ...options }: ExplainListOptions,
): Promise<ExplainedList[]> {
  const lists = await recommender.recommendMany(askers, options);
  const told: ExplainedList[] = [];
  for (const [a, asker] of askers.entries()) {
    throwIfAborted(options.signal);
    const asked = { ...asker, exclude: options.exclude };
    const listed = lists[a].map(({ item }) => item);
    told.push({
      items: lists[a].map(({ explanation, ...entry }) => ({
        ...entry,
        ...(explanation && { reasons: recommender.reasons({ ...entry, explanation }) }),
      })),
      ...(confidence && {
        confidence: await recommender.confidence(asked, listed, { onUnknown: () => {} }),
      }),
    });
  }
  return told;
}
