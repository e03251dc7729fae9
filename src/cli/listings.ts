// What each asker gets: a list, with reasons and with how sure it is where that is asked for. The same for one, for the
// document of many and for a file of many.

import { throwIfAborted } from '../errors.js';
import type { Model } from '../fit/model.js';
import { basisOf, FEW_LIKES } from '../predict/basis.js';
import { type Reasons, titledReasons } from '../predict/reasons.js';
import type { Asker, Recommendation, RecommendOptions } from '../predict/recommend.js';
import type { Recommender } from '../predict/recommender.js';
import type { TitleBook } from '../predict/titles.js';
import { confidenceWords } from '../report/words/confidence.js';
import { askerIn, type NamedAsker } from './recommend-batch.js';
import { titled } from './titles.js';

/** One list as it is printed. */
export interface Listing {
  readonly user: string;
  /** With --confidence. */
  readonly overlap?: number | undefined;
  readonly verdict?: string | undefined;
  readonly items: readonly (Omit<Recommendation, 'explanation'> & {
    /** With --explain. */
    readonly reasons?: Reasons | undefined;
    readonly title?: string;
    readonly low?: number;
    readonly high?: number;
  })[];
  /** What the list rests on. */
  readonly basis: string;
}

export interface ListingOptions extends RecommendOptions {
  readonly confidence?: boolean | undefined;
}

export async function makeListings(
  recommender: Recommender,
  askers: readonly NamedAsker[],
  titles: TitleBook,
  { confidence, ...options }: ListingOptions,
): Promise<Listing[]> {
  const { model } = recommender;
  const asked = askers.map((one) => askerIn(model, one));
  const lists = await recommender.recommendMany(asked, options);
  const made: Listing[] = [];
  for (const [a, asker] of asked.entries()) {
    throwIfAborted(options.signal);
    const sure = confidence
      ? await recommender.confidence(
          { ...asker, exclude: options.exclude },
          lists[a].map(({ item }) => item),
          { onUnknown: () => {} },
        )
      : undefined;
    made.push({
      user: askers[a].name,
      ...(sure && { overlap: sure.overlap, verdict: confidenceWords(sure, lists[a].length) }),
      items: lists[a].map(({ explanation, ...entry }, i) => ({
        ...entry,
        ...titled(titles.of(model.items.ids.find(entry.item))),
        ...(explanation && { reasons: recommender.reasons({ ...entry, explanation }) }),
        ...(sure && { low: sure.intervals[i].low, high: sure.intervals[i].high }),
      })),
      basis: basisOf(knownItems(model, asker)),
    });
  }
  return made;
}

/** Items of an asker that the model knows. */
function knownItems({ items, users, seen }: Model, asker: Asker): number {
  if ('likes' in asker) return new Set(asker.likes.filter((id) => items.ids.find(id) >= 0)).size;
  return users.degree[users.ids.find(asker.user)] ?? (seen ? 0 : FEW_LIKES);
}

/** A list as programs read it. */
export function listingJson({ items, ...ofList }: Listing, titles: TitleBook, { items: { ids } }: Model) {
  const titleOf = (item: string) => titled(titles.of(ids.find(item)));
  return {
    ...ofList,
    items: items.map(({ reasons, ...entry }) => ({
      ...entry,
      ...(reasons && { explanation: titledReasons(reasons, titleOf) }),
    })),
  };
}
