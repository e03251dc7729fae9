// Turns a user query into rows and items of a model, or refuses it with a message that says what to do.

import { catalogueOf } from '../attributes/info.js';
import { InputError } from '../errors.js';
import type { OwnItems } from '../fit/fold-in/member-fold.js';
import type { Model } from '../fit/model.js';
import { agesOf, historyWeights } from '../fit/ranking/recency.js';
import { MAX_COUNT } from '../graph/build.js';
import { lowerBound } from '../math/csr.js';
import { many } from '../text/phrases.js';
import { USERS_AND_ITEMS } from '../text/sides.js';
import { firstShown, shown } from '../text/untrusted.js';
import { unknownId } from './nearest-id.js';
import type { Id, RecommendOptions, UserQuery } from './recommend.js';
import { attributesOfUser, saysMore } from './scoring/attribute-users.js';

/** A user by number: a row of the model, or a new user (`row` is undefined), and the items that the user has. */
export interface ResolvedUser {
  readonly row: number | undefined;
  readonly own: OwnItems & { readonly items: Uint32Array };
  /** Of a user without known items: those of the table about the users, or none; undefined for all others. */
  readonly attributes?: readonly number[] | undefined;
}

interface ResolveOptions {
  /** Whether the items of a user of the model must be known. */
  readonly needSeen: boolean;
  readonly onUnknown?: RecommendOptions['onUnknown'];
}

/** If nothing is known of a user, the list is that of popular items. */
const NOTHING_KNOWN: readonly number[] = [];

/** Finds the user of a query; `at` is the number of the query among several. */
export function resolveUser(
  model: Model,
  query: UserQuery,
  at: number,
  { needSeen, onUnknown }: ResolveOptions,
): ResolvedUser {
  checkQuery(query);
  if ('likes' in query) {
    const own = likedItems(model, query, at, onUnknown);
    return { row: undefined, own, ...(own.items.length === 0 && { attributes: NOTHING_KNOWN }) };
  }
  const row = model.users.ids.find(query.user);
  if (row < 0) {
    const attributes = attributesOfUser(model, query.user);
    if (!attributes) throw unknownUser(model, query.user);
    return { row: undefined, own: { items: new Uint32Array(0), counts: undefined }, attributes };
  }
  if (!model.seen && needSeen) {
    throw new InputError(
      'the model does not store which items its users have: fit it again, or ask to include seen items',
    );
  }
  return { row, own: ownItems(model, row) };
}

/** The items of a user of the model; none if the model does not store them. */
export function ownItems({ seen }: Model, row: number): ResolvedUser['own'] {
  if (!seen) return { items: new Uint32Array(0), counts: undefined };
  const [first, last] = [seen.offsets[row], seen.offsets[row + 1]];
  return {
    items: seen.neighbors.subarray(first, last),
    counts: seen.counts?.subarray(first, last),
    ...(seen.ages && { weights: historyWeights(seen.ages.subarray(first, last)) }),
  };
}

/** The times of the items of a user, if the model weighs edges by age and stores them: milliseconds since 1970. */
export function timesOf(model: Model, row: number): Map<number, number> | undefined {
  const { seen } = model;
  const recency = model.type === 'ranker' ? model.recency : undefined;
  if (!seen?.ages || !recency) return undefined;
  const times = new Map<number, number>();
  for (let e = seen.offsets[row]; e < seen.offsets[row + 1]; e++) {
    times.set(seen.neighbors[e], recency.latest - recency.halfLife * seen.ages[e]);
  }
  return times;
}

/** The weights by age of items of a user of the model; undefined if it has none. Items that the model has not seen of the user are new. */
export function weightsOf({ seen }: Model, row: number, items: Uint32Array): Float32Array | undefined {
  if (!seen?.ages) return undefined;
  const { offsets, neighbors, ages } = seen;
  return historyWeights(
    Float32Array.from(items, (item) => {
      const at = lowerBound(neighbors, item, offsets[row], offsets[row + 1]);
      return at < offsets[row + 1] && neighbors[at] === item ? ages[at] : 0;
    }),
  );
}

/** The index of an item, which must be in the model. */
export function knownItem(model: Model, id: Id): number {
  const { names = USERS_AND_ITEMS } = model;
  const items = catalogueOf(model);
  const item = items.ids.find(id);
  if (item >= 0) return item;
  throw unknownId(
    `${names.items.one} ${shown(id)} is not in the model (${many(items.count, names.items)})`,
    id,
    items.ids,
  );
}

/** The items that the model knows, by index. */
export function knownItems(model: Model, ids: readonly Id[]): number[] {
  const items = catalogueOf(model);
  return ids.map((id) => items.ids.find(id)).filter((item) => item >= 0);
}

/** Checks a query of a caller without types. */
function checkQuery(query: unknown): void {
  const isId = (id: unknown) => typeof id === 'string' || typeof id === 'number';
  const given =
    typeof query === 'object' && query !== null ? (query as Readonly<Record<string, unknown>>) : {};
  const { likes, user } = given;
  if ('likes' in given ? Array.isArray(likes) && likes.every(isId) : isId(user)) return;
  const problem =
    'likes' in given
      ? 'likes is not a list of ids'
      : 'user' in given
        ? 'user is not an id'
        : 'no user is given';
  throw new InputError(
    `${problem}: give { user: ID } for a user of the model, or { likes: [ID, …] } for a new user; an id is a text or a number`,
  );
}

function unknownUser({ users, names = USERS_AND_ITEMS }: Model, id: Id): InputError {
  const { one, many: all } = names.users;
  const instead = `name liked ${names.items.many} instead`;
  if (users.count === 0) {
    return new InputError(
      `${one} ${shown(id)} is not in the model: the file was saved without ${all}; ${instead}, or save it with ${all}`,
    );
  }
  return unknownId(
    `${one} ${shown(id)} is not in the model (${many(users.count, names.users)}, the first is ${shown(users.ids.at(0))})`,
    id,
    users.ids,
    `for a new ${one}, ${instead}`,
  );
}

/** Liked items by index, each once; counts of repeated items are added, and their latest time counts. */
function likedItems(
  model: Model,
  { likes, counts, times }: Extract<UserQuery, { likes: unknown }>,
  at: number,
  onUnknown: RecommendOptions['onUnknown'],
): ResolvedUser['own'] {
  if (counts && counts.length !== likes.length) {
    throw new InputError(`${counts.length} counts for ${likes.length} liked items; give one for each`);
  }
  const bad = counts?.find((count) => !(Number.isInteger(count) && count >= 1 && count <= MAX_COUNT));
  if (bad !== undefined) {
    throw new InputError(
      `counts: the count of a liked item is ${bad}; give whole numbers from 1 to ${MAX_COUNT}`,
    );
  }
  if (times && (times.length !== likes.length || !times.every(Number.isFinite))) {
    throw new InputError(
      `${times.length} times for ${likes.length} liked items; give a finite number of milliseconds since 1970 for each`,
    );
  }
  const catalogue = catalogueOf(model);
  const liked = new Map<number, number>();
  const latest = new Map<number, number>();
  const unknown: Id[] = [];
  for (const [i, id] of likes.entries()) {
    const item = catalogue.ids.find(id);
    if (item < 0) unknown.push(id);
    else {
      liked.set(item, (liked.get(item) ?? 0) + (counts?.[i] ?? 1));
      if (times) latest.set(item, Math.max(latest.get(item) ?? times[i], times[i]));
    }
  }
  if (unknown.length > 0) {
    if (!onUnknown) {
      const { names = USERS_AND_ITEMS } = model;
      const { one, many: all } = names.items;
      throw unknownId(
        `${unknown.length === 1 ? one : all} ${firstShown(unknown)} ` +
          `${unknown.length === 1 ? 'is' : 'are'} not in the model (${many(catalogue.count, names.items)})`,
        unknown[0],
        catalogue.ids,
        `like only ${all} that the model knows`,
      );
    }
    onUnknown(unknown, at);
  }
  if (liked.size === 0 && !onUnknown) {
    throw new InputError('no liked item is known to the model: name at least one of its items');
  }
  const items = Uint32Array.from(liked.keys()).sort();
  const recency = model.type === 'ranker' ? model.recency : undefined;
  const own = Float64Array.from(items, (item) => latest.get(item) ?? 0);
  return {
    items,
    counts: model.multigraph ? items.map((item) => liked.get(item)!) : undefined,
    ...(recency && times && { weights: historyWeights(agesOf(own, recency)) }),
  };
}

/** What a list is based on: enough items of the user, few of them, attributes of the user, or nothing, so that it goes by popularity. */
type Basis = 'personal' | 'few' | 'attributes' | 'popular';

/** With fewer likes a list has the basis 'few'. docs/appendix/serving.md measures how much these lists change. */
export const FEW_LIKES = 5;

/** `likes` is the number of the user's items that the model knows. The model may know the user of the query from a table. */
export function basisOf(likes: number, model?: Model, query?: UserQuery): Basis {
  if (likes > 0) return likes < FEW_LIKES ? 'few' : 'personal';
  const attributes = model && query && 'user' in query && attributesOfUser(model, query.user);
  return attributes && saysMore(model, attributes) ? 'attributes' : 'popular';
}

/** The same for a query, whose likes are counted once each. A user of a model without histories passes for one with enough items. */
export function basisOfQuery(model: Model, query: UserQuery): Basis {
  const { users, seen } = model;
  const likes =
    'likes' in query
      ? new Set(knownItems(model, query.likes)).size
      : (users.degree[users.ids.find(query.user)] ?? (seen ? 0 : FEW_LIKES));
  return basisOf(likes, model, query);
}
