// What a feature is about: the items that stand out in it, and for named users those who have most of it.

import type { PosteriorModel } from '../fit/model.js';
import type { VertexIds } from '../graph/ids.js';
import { modelFeatures } from '../predict/features.js';
import type { TitleLookup } from './options.js';

/** An item of a topic and its weight. */
export interface TopicItem {
  readonly id: string;
  readonly title: string | null;
  /** Share of the feature's expected edges that go to this item. */
  readonly share: number;
  /** How many times that is its share of all expected edges. */
  readonly lift: number;
}

/** A feature of a study's model by its heaviest items. */
export interface Topic {
  /** Feature, from 1. */
  readonly feature: number;
  /** Share of all expected edges that the feature explains. */
  readonly share: number;
  readonly items: readonly TopicItem[];
  /** Users with the largest share of the feature's edges; empty if users are numbers. */
  readonly users: readonly { readonly id: string; readonly share: number }[];
}

const SHOWN_USERS = 3;
/** An item needs this many training edges to be shown. */
const LEAST_DEGREE = 3;

/** True if items have names that a reader understands. */
export function hasNames(ids: VertexIds, titles: TitleLookup | undefined): boolean {
  return titles !== undefined || isWords(ids);
}

/** The features of a model, those that explain most first, with at most `shown` items each. */
export function topics(model: PosteriorModel, shown: number, titles?: TitleLookup): Topic[] {
  const features = modelFeatures(model);
  const mayShow = (item: number) => model.items.degree[item] >= LEAST_DEGREE;
  const namedUsers = isWords(model.users.ids);
  return features.describe((k) => ({
    items: features.outstanding(k, shown, mayShow).map(({ vertex, share, lift }) => {
      const id = model.items.ids.at(vertex);
      return { id, title: titles?.find(id) ?? null, share, lift };
    }),
    users: namedUsers
      ? features
          .heaviest('users', k, SHOWN_USERS)
          .map(({ vertex, share }) => ({ id: model.users.ids.at(vertex), share }))
      : [],
  }));
}

/** Names rather than numbers or codes: most of the first ids have a letter. */
function isWords(ids: VertexIds): boolean {
  if (ids.kind === 'integer') return false;
  const look = Math.min(ids.length, 200);
  let words = 0;
  for (let v = 0; v < look; v++) {
    const id = ids.at(Math.floor((v * ids.length) / look));
    if (/\p{L}{2}/u.test(id)) words++;
  }
  return words > look / 2;
}
