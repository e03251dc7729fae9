// Lists of the session's models: for a user of the data, for somebody new, and for all users as a file.

import { catalogueOf } from '../../attributes/info.js';
import { InputError } from '../../errors.js';
import type { Model } from '../../fit/model.js';
import type { Id, RecommendOptions, UserQuery } from '../../predict/recommend.js';
import { basisOfQuery, ownItems } from '../../predict/user-query.js';
import { confidenceWords } from '../../report/words/confidence.js';
import { listPieces, type UserList } from '../../store/list-pieces.js';
import { USERS_AND_ITEMS } from '../../text/sides.js';
import type { Answer, Api, Export, FoundUsers, ListQuery } from '../protocol.js';
import type { Task } from './session.js';
import { dataIfRead } from './session-data.js';
import { currentTitles } from './session-item-table.js';
import { currentModel, type SessionModel } from './session-model.js';

const BATCH = 1024;

/** All users: those of the data, or those of a model that was opened. */
function allUsers(): Pick<Model['users'], 'ids' | 'degree' | 'count'> {
  const graph = dataIfRead()?.graph;
  if (!graph) return currentModel().model.users;
  const { ids, count, offsets } = graph.users;
  return { ids, count, degree: Uint32Array.from({ length: count }, (_, u) => offsets[u + 1] - offsets[u]) };
}

/** The items of a user: in the data, or in a model that was opened. Times matter if the ranker weighs edges by age. */
function itemsOf(user: string, model: Model) {
  const { graph, times: all } = dataIfRead() ?? {};
  const row = (graph ?? model).users.ids.find(user);
  if (row < 0) return undefined;
  if (!graph) {
    const { items, counts } = ownItems(model, row);
    return {
      likes: Array.from(items, (item) => model.items.ids.at(item)),
      counts: counts && Array.from(counts),
    };
  }
  const { offsets, neighbors, counts } = graph.users;
  const [from, to] = [offsets[row], offsets[row + 1]];
  const times = all?.subarray(from, to);
  return {
    likes: Array.from(neighbors.subarray(from, to), (item) => graph.items.ids.at(item)),
    counts: counts && Array.from(counts.subarray(from, to)),
    times: times && Array.from(times),
  };
}

/** Users whose id contains the text, in the order of the data; the user itself comes first. */
export async function answerFindUsers({ text, n }: Api['findUsers'][0]): Promise<FoundUsers> {
  const { ids, degree, count } = allUsers();
  const wanted = text.trim().toLowerCase();
  const exact = wanted === '' ? -1 : ids.find(text.trim());
  const found = exact >= 0 ? [exact] : [];
  let total = found.length;
  for (let user = 0; user < count; user++) {
    if (user === exact || (wanted !== '' && !ids.at(user).toLowerCase().includes(wanted))) continue;
    total++;
    if (found.length < n) found.push(user);
  }
  return { users: found.map((user) => ({ user: ids.at(user), items: degree[user] })), total };
}

/** A user of the model by its row; a user who was held out, by the items that the data have. */
function userQueryOf(query: ListQuery, { model }: SessionModel): UserQuery {
  if ('likes' in query) return query;
  if (model.seen && model.users.ids.find(query.user) >= 0) return query;
  return itemsOf(query.user, model) ?? query;
}

const ignore = (_ids: readonly Id[]) => {};

export async function answerRecommend(
  { query, n, by, filter, exclude }: Api['recommend'][0],
  { signal }: Task,
  sendPartial: (early: Answer) => void,
): Promise<Answer> {
  const current = currentModel(by);
  const { recommender, model } = current;
  const userQuery = { ...userQueryOf(query, current), exclude };
  const has = hasOf(query, model);
  const began = performance.now();
  const items = await recommender.recommend(userQuery, {
    ...{ n, filter, explain: true, signal, onUnknown: ignore },
  });
  const milliseconds = performance.now() - began;
  const catalogue = catalogueOf(model);
  const listed = items.map((entry) => ({
    ...{ item: entry.item, score: entry.score },
    isNew: catalogue.degree[catalogue.ids.find(entry.item)] === 0,
    reasons: recommender.reasons(entry),
  }));
  const heldOut = 'user' in query && !('user' in userQuery);
  const early = { has, items: listed, basis: basisOfQuery(model, userQuery), milliseconds, heldOut };
  sendPartial(early);
  if (items.length === 0) return early;
  const ids = items.map(({ item }) => item);
  const confidence = await recommender
    .confidence(userQuery, ids, { filter, onUnknown: ignore })
    .catch((error) => {
      // Some models have no confidence; their lists are still valid.
      if (error instanceof InputError) return undefined;
      throw error;
    });
  return {
    ...early,
    items: listed.map((entry, i) => ({ ...entry, ...confidence?.intervals[i] })),
    confidence: confidence && confidenceWords(confidence, items.length, model.names),
  };
}

function hasOf(query: ListQuery, model: Model): Answer['has'] {
  const ids = 'likes' in query ? query.likes : (itemsOf(query.user, model)?.likes ?? []);
  const { items } = model;
  const users = (id: string) => items.degree[items.ids.find(id)] ?? 0;
  return [...ids].sort((a, b) => users(b) - users(a));
}

/** Lists for all users of the data, or of a model that was opened, in the formats of `graphex recommend`. */
export async function allLists(
  { by, n, filter, exclude, format }: Extract<Export, { what: 'lists' }>,
  { signal, onProgress }: Task,
): Promise<Api['export'][1]> {
  const current = currentModel(by);
  const { ids, count } = allUsers();
  if (count === 0) throw new InputError('the model was saved without users: open the table as well');
  let isEmpty = true;
  async function* batches(): AsyncGenerator<UserList[]> {
    for (let from = 0; from < count; from += BATCH) {
      const users = Array.from({ length: Math.min(BATCH, count - from) }, (_, u) => ids.at(from + u));
      const lists = await listsOf(users, current, { n, filter, exclude }, signal);
      isEmpty &&= lists.every(({ items }) => items.length === 0);
      yield lists;
      onProgress?.({ stage: 'listing', done: from + users.length, total: count, unit: 'users' });
    }
  }
  const blob = await blobOf(listPieces(format, batches(), currentTitles().size > 0));
  if (isEmpty) {
    const { items } = current.model.names ?? USERS_AND_ITEMS;
    throw new InputError(
      `no ${items.many} are left to list: change the filter, or show hidden ${items.many} again`,
    );
  }
  return { name: `recommendations.${format}`, blob };
}

export async function blobOf(
  pieces: Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array>,
): Promise<Blob> {
  const parts: BlobPart[] = [];
  for await (const piece of pieces) parts.push(piece as string | Uint8Array<ArrayBuffer>);
  return new Blob(parts);
}

async function listsOf(
  users: readonly string[],
  current: SessionModel,
  options: Pick<RecommendOptions, 'n' | 'filter' | 'exclude'>,
  signal: AbortSignal,
): Promise<UserList[]> {
  const { model, recommender } = current;
  const queries = users.map((user) => userQueryOf({ user }, current));
  const lists = await recommender.recommendMany(queries, { ...options, signal, onUnknown: ignore });
  return users.map((user, at) => ({
    user,
    items: lists[at].map(({ item, score }) => {
      const title = currentTitles().get(item);
      return { item, score, ...(title !== undefined && { title }) };
    }),
    basis: basisOfQuery(model, queries[at]),
  }));
}
