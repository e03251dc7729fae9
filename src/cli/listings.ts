// The list of a user, with reasons and confidence if they are wanted. It is the same for one user, in the document of --json and in a file
// of many.

import type { ExplainListOptions } from '../predict/explain/explain-lists.js';
import { type Reasons, titledReasons } from '../predict/explain/reasons.js';
import type { Recommendation } from '../predict/recommend.js';
import type { Recommender } from '../predict/recommender.js';
import type { TitleBook } from '../predict/titles.js';
import { basisOfQuery } from '../predict/user-query.js';
import { confidenceFields } from '../report/words/confidence.js';
import { type NamedQuery, queryIn } from './commands/recommend-batch.js';
import { titled } from './titles.js';

/** One list as it is printed. */
export interface Listing {
  readonly user: string;
  /** With --confidence; the same fields as over HTTP. */
  readonly confidence?: { readonly overlap: number; readonly text: string } | undefined;
  readonly items: readonly (Omit<Recommendation, 'explanation'> & {
    /** With --explain. */
    readonly reasons?: Reasons | undefined;
    readonly title?: string;
    readonly low?: number;
    readonly high?: number;
  })[];
  /** What the list is based on. */
  readonly basis: string;
}

export async function makeListings(
  recommender: Recommender,
  queries: readonly NamedQuery[],
  titles: TitleBook,
  options: ExplainListOptions,
): Promise<Listing[]> {
  const { model } = recommender;
  const asked = queries.map((one) => queryIn(model, one));
  const lists = await recommender.explainMany(asked, options);
  return lists.map(({ items, confidence }, a) => ({
    user: queries[a].name,
    ...(confidence && { confidence: confidenceFields(confidence, items.length, model.names) }),
    items: items.map((entry, i) => ({
      ...entry,
      ...titled(titles.ofId(entry.item)),
      ...(confidence && { low: confidence.intervals[i].low, high: confidence.intervals[i].high }),
    })),
    basis: basisOfQuery(model, asked[a]),
  }));
}

/** The list in the document of --json. */
export function listingJson({ items, ...ofList }: Listing, titles: TitleBook) {
  const titleOf = (item: string) => titled(titles.ofId(item));
  return {
    ...ofList,
    items: items.map(({ reasons, ...entry }) => ({
      ...entry,
      ...(reasons && { explanation: titledReasons(reasons, titleOf) }),
    })),
  };
}
