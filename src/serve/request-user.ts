// Who a request is about: a user of the model, a user of the store, or somebody new by their likes.

import { catalogueOf } from '../attributes/info.js';
import { MAX_COUNT } from '../graph/build.js';
import type { UserQuery } from '../predict/recommend.js';
import { attributesOfUser } from '../predict/scoring/attribute-users.js';
import type { TitleBook } from '../predict/titles.js';
import { FEW_LIKES, ownItems, timesOf } from '../predict/user-query.js';
import { shown } from '../text/untrusted.js';
import type { Served } from './answers.js';
import type { OneRequest } from './http-schema.js';
import type { StoredHistory, WithHistory } from './live/live-view.js';
import { timeOf } from './live/time-field.js';
import { Problem } from './problems.js';

/** At most this many unknown ids are listed in an answer. */
const MOST_UNKNOWN = 20;

interface FoundUser {
  /** Undefined if nothing is known of the user. */
  readonly user: UserQuery | undefined;
  readonly likes: number;
  readonly unknown: string[];
}

/** The user of a request. Unknown likes are left out and listed, unless the request refuses them. */
export function userOf(
  served: Served,
  request: WithHistory<Pick<OneRequest, 'user' | 'likes' | 'counts' | 'times' | 'unknown'>>,
): FoundUser {
  const { model } = served.recommender;
  const { user, likes = [], counts, times, stored } = request;
  if (user !== undefined) {
    const row = stored?.erased ? -1 : model.users.ids.find(user);
    if (stored) {
      const found = fromHistory(served, row, stored);
      if (found) return found;
    }
    if (row < 0 && !stored?.erased && attributesOfUser(model, user)) {
      return { user: { user }, likes: 0, unknown: [] };
    }
    if (row < 0) {
      // A server with a store expects users who have done nothing yet.
      if (request.unknown === 'ignore' || (stored && request.unknown !== 'refuse')) {
        return { user: undefined, likes: 0, unknown: [String(user)] };
      }
      const detail = `user ${user} is not in the model; send likes for a new user`;
      throw new Problem('not-found', detail, { field: 'user' });
    }
    const { seen } = model;
    return {
      user: { user },
      likes: seen ? seen.offsets[row + 1] - seen.offsets[row] : FEW_LIKES,
      unknown: [],
    };
  }
  for (const [field, list] of Object.entries({ counts, times })) {
    if (list === undefined || list.length === likes.length) continue;
    const detail = `${field}: ${list.length} ${field} for ${likes.length} likes; give one for each`;
    throw new Problem('bad-request', detail, { field });
  }
  const { ids } = catalogueOf(model);
  const { titles } = served.live;
  const known: string[] = [];
  const knownCounts: number[] = [];
  const knownTimes: number[] = [];
  const unknown: string[] = [];
  for (const [i, like] of likes.entries()) {
    // Looking for words takes a while.
    const found = unknown.length < MOST_UNKNOWN ? titles.meant(like) : titles.find(like);
    if (typeof found === 'string') {
      // A title of several items is not an unknown id: the client must say which item it means.
      if (request.unknown === 'refuse' || (found === 'ambiguous' && request.unknown !== 'ignore')) {
        throw notOneItem(titles, like, found, `likes.${i}`);
      }
      unknown.push(String(like));
      continue;
    }
    known.push(ids.at(found.item));
    if (counts) knownCounts.push(counts[i]);
    if (times) knownTimes.push(timeOf(times[i]));
  }
  const more = { ...(counts && { counts: knownCounts }), ...(times && { times: knownTimes }) };
  return {
    user: known.length === 0 ? undefined : { likes: known, ...more },
    likes: new Set(known).size,
    unknown: unknown.slice(0, MOST_UNKNOWN),
  };
}

/** A later time of an item counts if it is later by more than this share of the half-life: the model's times are rounded. */
const LATER = 0.01;

/** The user by the items of the model and of the store; undefined if the store has nothing that the model lacks. */
function fromHistory({ recommender }: Served, row: number, stored: StoredHistory): FoundUser | undefined {
  const { model } = recommender;
  const { ids } = catalogueOf(model);
  const own = row < 0 ? undefined : ownItems(model, row);
  const counts = new Map(Array.from(own?.items ?? [], (item, e) => [item, own?.counts?.[e] ?? 1]));
  const times = row < 0 ? new Map<number, number>() : timesOf(model, row);
  let isNew = false;
  const { halfLife = Number.POSITIVE_INFINITY } = (model.type === 'ranker' && model.recency) || {};
  for (const [i, id] of stored.items.entries()) {
    const item = ids.find(id);
    if (item < 0) continue;
    const [count, time] = [counts.get(item), times?.get(item)];
    const weight = Math.min(MAX_COUNT, Math.max(1, Math.round(stored.weights[i])));
    isNew ||= count === undefined || (model.multigraph && weight > count);
    isNew ||= time !== undefined && stored.times[i] - time > LATER * halfLife;
    times?.set(item, Math.max(time ?? stored.times[i], stored.times[i]));
    // The store also has the events that the model was fitted to, unless they came from other data.
    counts.set(item, Math.max(count ?? 1, weight));
  }
  if (!isNew) return undefined;
  return {
    user: {
      likes: [...counts.keys()].map((item) => ids.at(item)),
      ...(model.multigraph && { counts: [...counts.values()] }),
      ...(times && { times: Array.from(counts.keys(), (item) => times.get(item) ?? 0) }),
    },
    likes: counts.size,
    unknown: [],
  };
}

/** Fields of an answer: likes that the model does not know, and for numbers the ids that were perhaps meant. */
export function unknownFields({ live: { titles } }: Served, unknown: readonly string[]) {
  const meant = unknown.flatMap((id) => {
    const near = titles.sameNumber(id);
    return near === undefined ? [] : [[id, near] as const];
  });
  return { unknown: [...unknown], ...(meant.length > 0 && { didYouMean: Object.fromEntries(meant) }) };
}

export function notOneItem(
  titles: TitleBook,
  text: string | number,
  found: 'unknown' | 'ambiguous',
  field: string,
  instead = 'leave it out, or send unknown: ignore',
): Problem {
  const near = found === 'unknown' ? titles.near(text) : undefined;
  const detail =
    found === 'unknown'
      ? `${field}: the model has no item ${text}; ${near === undefined ? '' : `did you mean ${shown(near)}? Else `}${instead}`
      : `${field}: several items fit ${text}: ${titles.candidateWords(text)}; send the id of one of them`;
  return new Problem('not-found', detail, { field });
}
