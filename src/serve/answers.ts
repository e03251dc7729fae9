// The answers of a model: ids and titles become items, items become ids and titles, and problems become sentences.

import { catalogueOf } from '../attributes/info.js';
import { itemFilter } from '../attributes/item-filter.js';
import { InputError } from '../errors.js';
import type { VertexIds } from '../graph/ids.js';
import { RECOMMEND } from '../options/commands/recommend.js';
import { LIST } from '../options/commands/similar.js';
import { POPULAR } from '../options/library.js';
import { type Reasons, titledReasons } from '../predict/explain/reasons.js';
import type { Recommendation, UserQuery } from '../predict/recommend.js';
import type { Recommender } from '../predict/recommender.js';
import { basisOf } from '../predict/user-query.js';
import { confidenceFields } from '../report/words/confidence.js';
import { refuseCostly } from './cost.js';
import type { ModelEndpoint, RequestOf } from './endpoints.js';
import type { Answered, Explain, OneRequest, Rank, RefusedRequest } from './http-schema.js';
import type { LiveView, WithHistory } from './live/live-view.js';
import { Problem } from './problems.js';
import type { Refusal } from './queries.js';
import { notOneItem, unknownFields, userOf } from './request-user.js';

export interface Served {
  readonly recommender: Recommender;
  /** Titles, and what changes while the model serves. */
  readonly live: LiveView;
}

/** What the client may see. */
export interface Access {
  /** Ids of users whom the client did not name. */
  readonly users: boolean;
}

/** The endpoints that answer one query at a time; lists are computed together by `recommendAll`. */
export const ANSWERS: {
  readonly [E in Exclude<ModelEndpoint, 'recommend' | 'batch'>]: (
    served: Served,
    request: RequestOf<E>,
    access: Access,
  ) => unknown;
} = {
  rank,
  explain,
  similar(served, { id, n: length = LIST.n.default, filter }) {
    const { recommender } = served;
    checkFilter(served, filter);
    const item = catalogueOf(recommender.model).ids.at(itemOf(served, id, 'id'));
    const more = Math.min(length + served.live.hidden.size, catalogueOf(recommender.model).count);
    return { items: listed(served, recommender.similar(item, { n: more, filter }), length) };
  },
  popular(served, { n = POPULAR.n.default, filter }) {
    checkFilter(served, filter);
    const items = popularItems(served, n, filter).map(({ item, users }) => ({ item, users }));
    return { items: titled(served, items) };
  },
  search(served, { search, n = POPULAR.n.default }) {
    const { live } = served;
    const found = live.search(search, n + live.hidden.size).map((item) => ({ item }));
    return { items: listed(served, found, n) };
  },
  features: (served, { n }, access) => ({ features: describe(served, n, access) }),
  feature(served, { k, n }, access) {
    const features = describe(served, n, access);
    const feature = features.find((one) => one.feature === k);
    if (feature) return { feature };
    const detail = `there is no feature ${k}; the model has features 1 to ${features.length}`;
    throw new Problem('not-found', detail, { field: 'k' });
  },
};

function describe(served: Served, n: number | undefined, access: Access) {
  return served.recommender.features({ n }).map(({ users, items, ...feature }) => ({
    ...feature,
    items: titled(served, items),
    ...(access.users && { users }),
  }));
}

/** A filter that is not a condition on the model's attributes is a wrong request. */
function checkFilter({ recommender }: Served, filter: string | undefined): void {
  if (filter === undefined) return;
  try {
    itemFilter(recommender.model, filter);
  } catch (error) {
    if (error instanceof InputError) throw new Problem('bad-request', error.message, { field: 'filter' });
    throw error;
  }
}

/** Popular items: first those of the store, which were popular recently, then those of the model. Scores follow the order. */
function popularItems(
  served: Served,
  n: number,
  filter: string | undefined,
  isWanted: (item: string) => boolean = () => true,
) {
  const { recommender, live } = served;
  const fits = filter === undefined ? undefined : itemFilter(recommender.model, filter);
  const isListed = ({ item }: { readonly item: string }) =>
    isWanted(item) && !live.hidden.has(item) && (fits?.has(item) ?? true);
  const lately = live.popular.filter(isListed);
  if (lately.length >= n) return lately.slice(0, n);
  const listed = new Set(lately.map(({ item }) => item));
  const others = recommender
    .popular({ n: catalogueOf(recommender.model).count })
    .filter((one) => isListed(one) && !listed.has(one.item))
    // The store counts a recent event as one user at most, so users of the model are no score beside it.
    .map(({ item, users }) => ({ item, users, score: lately.length > 0 ? 0 : users }));
  return [...lately, ...others].slice(0, n);
}

/** The first `n` that are not hidden, with their titles. */
function listed<T extends { readonly item: string }>(served: Served, found: readonly T[], n: number) {
  return titled(served, found.filter(({ item }) => !served.live.hidden.has(item)).slice(0, n));
}

function titled<T extends { readonly item: string }>(served: Served, list: readonly T[]) {
  return list.map((one) => ({ ...one, ...titleOf(served, one.item) }));
}

/** As a field of an answer; absent if there is no title. */
function titleOf({ recommender, live }: Served, id: string): { title?: string } {
  const item = catalogueOf(recommender.model).ids.find(id);
  const title = item < 0 ? live.titleOf(id) : live.titles.of(item);
  return title ? { title } : {};
}

/** A request after its ids were looked up. */
interface Prepared {
  readonly request: OneRequest;
  readonly user: UserQuery;
  readonly likes: number;
  readonly unknown: string[];
  readonly exclude: readonly string[];
  /** The only items that may be listed; undefined: all. */
  readonly include?: readonly string[] | undefined;
}

/** Lists for all requests. Requests with the same options are ranked in one product. */
export async function recommendAll(
  served: Served,
  requests: readonly WithHistory<OneRequest>[],
): Promise<(Answered | Refusal)[]> {
  const answers: (Answered | Refusal)[] = new Array(requests.length);
  const groups = new Map<string, { readonly at: number; readonly prepared: Prepared }[]>();
  for (const [at, request] of requests.entries()) {
    const prepared =
      (request as Partial<RefusedRequest>).refused ?? (await orRefusal(() => prepare(served, request)));
    if (!('request' in prepared)) {
      answers[at] = prepared;
      continue;
    }
    const { explain = false, includeSeen = false, include, filter = '' } = request;
    const key = include ? `alone ${at}` : `${explain} ${includeSeen} ${filter}`;
    const group = groups.get(key) ?? [];
    groups.set(key, group);
    group.push({ at, prepared });
  }
  for (const group of groups.values()) {
    const all = group.map(({ prepared }) => prepared);
    const lists = await orRefusal(() => listsFor(served, all));
    for (const [i, { at, prepared }] of group.entries()) {
      answers[at] = await orRefusal(async () => {
        // If they cannot be ranked together, each request is tried alone.
        const [list] = Array.isArray(lists) ? [lists[i]] : await listsFor(served, [prepared]);
        return answerOf(served, prepared, list.slice(0, lengthOf(prepared.request)));
      });
    }
  }
  return answers;
}

const lengthOf = ({ n = RECOMMEND.n.default }: OneRequest): number => n;

/** Lists for requests with the same options. */
function listsFor(served: Served, group: readonly Prepared[]): Promise<Recommendation[][]> {
  const { explain, includeSeen, filter } = group[0].request;
  const { include } = group[0];
  const { hidden } = served.live;
  return served.recommender.recommendMany(
    group.map(({ user, exclude }) => ({ ...user, exclude })),
    {
      n: Math.max(...group.map(({ request }) => lengthOf(request))),
      explain,
      includeSeen,
      filter,
      ...(include && { include }),
      ...(hidden.size > 0 && { exclude: [...hidden] }),
      threads: 1,
    },
  );
}

/** Looks up ids and titles. If nothing is known of the user, the answer is the popular items. */
function prepare(served: Served, request: WithHistory<OneRequest>): Prepared | Answered {
  const n = lengthOf(request);
  checkFilter(served, request.filter);
  const exclude = (request.exclude ?? []).flatMap((id, i) => knownId(served, id, `exclude.${i}`));
  const include = request.include?.flatMap((id, i) => knownId(served, id, `include.${i}`));
  const { user, likes, unknown } = userOf(served, request);
  const { count } = catalogueOf(served.recommender.model);
  refuseCostly([{ entries: Math.min(n, count), likes, explain: request.explain }]);
  if (user) return { request, user, likes, unknown, exclude, include };
  const out = new Set([...exclude, ...(request.stored?.items ?? [])]);
  const only = include && new Set(include);
  const isWanted = (item: string) => !out.has(item) && (only?.has(item) ?? true);
  const popular = popularItems(served, n, request.filter, isWanted);
  const items = popular.map(({ item, score }) => ({ item, score }));
  return { items: titled(served, items), basis: 'popular', ...unknownFields(served, unknown) };
}

async function answerOf(
  served: Served,
  prepared: Prepared,
  list: readonly Recommendation[],
): Promise<Answered> {
  const { recommender } = served;
  const { user, likes, request, unknown, include } = prepared;
  const { ids } = catalogueOf(recommender.model);
  const unlisted = () => [
    ...prepared.exclude,
    ...served.live.hidden,
    ...(include ? allExcept(ids, new Set(include)) : []),
  ];
  // Only lists by items of the user have a confidence.
  const confidence =
    request.confidence && likes > 0
      ? await recommender.confidence(
          { ...user, exclude: unlisted() },
          list.map(({ item }) => item),
          { filter: request.filter },
        )
      : undefined;
  return {
    items: list.map(({ item, score, explanation }, i) => ({
      item,
      ...titleOf(served, item),
      score,
      ...(confidence && { low: confidence.intervals[i].low, high: confidence.intervals[i].high }),
      ...(explanation && { explanation: explanationOf(served, { item, score, explanation }) }),
    })),
    basis: basisOf(likes, recommender.model, user),
    ...(confidence && { confidence: confidenceFields(confidence, list.length, recommender.model.names) }),
    ...unknownFields(served, unknown),
  };
}

const allExcept = (ids: VertexIds, some: ReadonlySet<string>): string[] =>
  Array.from({ length: ids.length }, (_, item) => ids.at(item)).filter((id) => !some.has(id));

/** Ranks the client's candidates: all of them, unless unknown ones are to be ignored. */
async function rank(served: Served, request: WithHistory<Rank>): Promise<Answered> {
  const { recommender, live } = served;
  const { candidates, explain = false, confidence = false } = request;
  const { user, likes, unknown } = userOf(served, request);
  refuseCostly([{ entries: candidates.length, likes, explain }]);
  const { ids, degree } = catalogueOf(recommender.model);
  const wanted = candidates.flatMap((id, i) => {
    const found = live.titles.meant(id);
    if (typeof found !== 'string') {
      const known = ids.at(found.item);
      return live.hidden.has(known) ? [] : [known];
    }
    if (request.unknown !== 'ignore') throw notOneItem(live.titles, id, found, `candidates.${i}`);
    return [];
  });
  if (!user) {
    const items = [...new Set(wanted)]
      .map((item) => ({ item, score: degree[ids.find(item)] }))
      .sort((a, b) => b.score - a.score);
    return { items: titled(served, items), basis: 'popular', ...unknownFields(served, unknown) };
  }
  const list = recommender.rank(user, wanted, { explain });
  const prepared = { request: { confidence }, user, likes, unknown, exclude: [] };
  // The client chose the items, so the choice has no confidence.
  const { confidence: _, ...answer } = await answerOf(served, prepared, list);
  return answer;
}

function explain(served: Served, request: WithHistory<Explain>): unknown {
  const { recommender } = served;
  const item = itemOf(served, request.item, 'item');
  const { user, unknown } = userOf(served, request);
  if (!user) {
    const detail = 'nothing is known of the user, so there is no score to explain; send likes';
    throw new Problem('cannot-do', detail, { field: 'likes' });
  }
  const explained = recommender.explain(user, catalogueOf(recommender.model).ids.at(item));
  return {
    item: explained.item,
    ...titleOf(served, explained.item),
    score: explained.score,
    explanation: explanationOf(served, explained),
    ...unknownFields(served, unknown),
  };
}

/** The explanation in brief, with titles. Items, others and rest add up to the score. */
function explanationOf(served: Served, explained: Recommendation) {
  const reasons = served.recommender.reasons(explained) as Reasons;
  return titledReasons(reasons, (item) => titleOf(served, item));
}

function itemOf({ live: { titles } }: Served, text: string | number, field: string): number {
  const found = titles.meant(text);
  if (typeof found === 'string')
    throw notOneItem(titles, text, found, field, 'GET /v1/items?search= finds items');
  return found.item;
}

/** The id of an id or a title; nothing if the model does not know it. A title of several items is refused. */
function knownId({ recommender, live }: Served, text: string | number, field: string): string[] {
  const { titles } = live;
  const found = titles.meant(text);
  if (found === 'ambiguous') throw notOneItem(titles, text, found, field);
  return typeof found === 'string' ? [] : [catalogueOf(recommender.model).ids.at(found.item)];
}

/** What the work gives, or the problem that a client gets for its error. A bug is thrown again. */
export async function orRefusal<T>(work: () => T | Promise<T>): Promise<T | Refusal> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Problem) {
      return { problem: error.kind, detail: error.message, field: error.field };
    }
    if (error instanceof InputError) return { problem: 'cannot-do', detail: error.message };
    throw error;
  }
}
