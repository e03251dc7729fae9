// Answers any number of requests to one model; what does not depend on the request is computed once.

import { FEW_EDGES } from '../attributes/content-scores.js';
import { catalogueOf } from '../attributes/info.js';
import { itemFilter } from '../attributes/item-filter.js';
import { createSharedAttributes } from '../attributes/shared-attributes.js';
import { InputError, throwIfAborted } from '../errors.js';
import { type Model, needModel } from '../fit/model.js';
import type { VertexIds } from '../graph/ids.js';
import { hasBit } from '../math/bits.js';
import { byFallingValue } from '../math/nth-largest.js';
import { once } from '../math/once.js';
import { withDefaults } from '../options/check-options.js';
import { LIST } from '../options/commands/similar.js';
import type { OptionsOf } from '../options/declare.js';
import { CANDIDATES, CONFIDENCE, ONE_ITEM, POPULAR, RECOMMEND_LISTS } from '../options/library.js';
import { TASK } from '../options/shared.js';
import { createBatch } from './batch/batch.js';
import { batchWorkerCount, EXPLAINED, type ListedUser } from './batch/batch-workers.js';
import { createConfidence, type ListConfidence } from './explain/confidence.js';
import type { Explanation } from './explain/explain.js';
import { type ExplainedList, type ExplainListOptions, explainLists } from './explain/explain-lists.js';
import {
  byContrast,
  contributionOf,
  createReasons,
  NAMED,
  type Reasons,
  usualShares,
} from './explain/reasons.js';
import { type DescribedFeature, type DescribeOptions, featuresOf } from './features.js';
import type {
  Id,
  Recommendation,
  RecommendationExplanation,
  RecommendOptions,
  UserQuery,
} from './recommend.js';
import { createAttributeUsers } from './scoring/attribute-users.js';
import { createModelScorer, type UserScorer } from './scoring/model-scorer.js';
import { bestItems } from './scoring/scorer.js';
import { createSimilarity, type SimilarItem } from './similar.js';
import { knownItem, knownItems, type ResolvedUser, resolveUser } from './user-query.js';

/** An item of the list by popularity. */
export interface PopularItem {
  readonly item: string;
  /** Users of the data who have it. */
  readonly users: number;
}

/** Answers requests to one model. Methods may be called while others are still running. */
export interface Recommender {
  readonly model: Model;
  /** The best items for one user, best first; ties go to the item that comes first in the model. */
  recommend(query: UserQuery, options?: RecommendOptions): Promise<Recommendation[]>;
  /** The same for many users, on all threads. */
  recommendMany(queries: readonly UserQuery[], options?: RecommendOptions): Promise<Recommendation[][]>;
  /** The same for a stream of users, in bounded memory; lists come in the order of the users. */
  recommendEach(
    queries: Iterable<UserQuery> | AsyncIterable<UserQuery>,
    options?: RecommendOptions,
  ): AsyncGenerator<Recommendation[], void, void>;
  /** Lists for many users with reasons and confidence as asked for, on all threads. */
  explainMany(queries: readonly UserQuery[], options?: ExplainListOptions): Promise<ExplainedList[]>;
  /** The given candidates, best first, including those that the user already has. */
  rank(query: UserQuery, candidates: readonly Id[], options?: RankCandidatesOptions): Recommendation[];
  /** The score of one item and its explanation. */
  explain(query: UserQuery, item: Id, options?: OptionsOf<typeof ONE_ITEM>): Recommendation;
  /** A short explanation: the few items and features that distinguish this item from the user's others. */
  reasons(recommendation: Recommendation): Reasons | undefined;
  /** The confidence of a list: how much of it would be recommended again after another history of the same taste. */
  confidence(
    query: UserQuery,
    items: readonly Id[],
    options?: OptionsOf<typeof CONFIDENCE>,
  ): Promise<ListConfidence>;
  /** Items similar to this one, by the users who have both, or by the item weights of a ranker that has only those. */
  similar(item: Id, options?: OptionsOf<typeof LIST>): SimilarItem[];
  /** The items that most users have. */
  popular(options?: OptionsOf<typeof POPULAR>): PopularItem[];
  /** The features of the model; the feature that explains most edges comes first. */
  features(options?: DescribeOptions): DescribedFeature[];
  /** Ends the threads; later requests are refused. */
  close(): Promise<void>;
}

/** How candidates are ranked; declared in options/library.ts. */
export interface RankCandidatesOptions extends OptionsOf<typeof CANDIDATES> {}

/** Users of a stream that are listed together. */
const BATCH = 512;

/**
 * A recommender for a model; close it after the last request.
 * @example
 * import { BipartiteGraph, createRecommender, fit } from 'graphex';
 * const graph = BipartiteGraph.fromPairs([['ann', 'tea'], ['bob', 'milk'], ['bob', 'tea'], ['cleo', 'milk']]);
 * const { model } = await fit(graph, { features: 2 });
 * const recommender = createRecommender(model);
 * console.log(await recommender.recommend({ likes: ['tea'] }, { n: 1 }));
 * await recommender.close();
 */
export function createRecommender(model: Model): Recommender {
  needModel(model);
  const scorer = createModelScorer(model);
  const batch = createBatch(model, scorer);
  const similarity = once(() => createSimilarity(model, scorer.members));
  const confidence = once(() => createConfidence(scorer));
  const reasons = once(() => createReasons(model));
  const catalogue = catalogueOf(model);
  /** Whether attributes are a part of the item's score. */
  const byAttributesToo = (item: number) =>
    item >= model.items.count ||
    ((model.info?.items?.content?.settings.few ?? 0) > 0 && catalogue.degree[item] < FEW_EDGES);
  const shared = once(() => model.info?.items && createSharedAttributes(model.info.items, catalogue.ids));
  const byAttributes = once(() => createAttributeUsers(model));
  const byPopularity = once(() => byFallingValue(catalogue.degree));
  let closed = false;
  const open = () => {
    if (closed) throw new InputError('this recommender is closed: make another one');
  };
  const itemAt = (id: Id) => knownItem(model, id);
  /** Bits of the items that a filter leaves out; undefined: none. */
  const withoutItems = (filter: string | undefined) =>
    filter === undefined ? undefined : itemFilter(model, filter).without;

  async function recommendMany(
    queries: readonly UserQuery[],
    options: RecommendOptions = {},
  ): Promise<Recommendation[][]> {
    open();
    const settings = withDefaults({ ...RECOMMEND_LISTS, ...TASK }, options);
    const { n, includeSeen, explain, onUnknown, signal } = settings;
    if (queries.length === 0) return [];
    const users = queries.map((query, q) => {
      if (q % 64 === 0) throwIfAborted(signal);
      return resolveUser(model, query, q, { needSeen: !includeSeen, onUnknown });
    });
    const without = withoutItems(settings.filter);
    const forAll = knownItems(model, settings.exclude ?? []);
    const include = settings.include && knownItems(model, settings.include);
    const listed = users.map((user, q): ListedUser => {
      const own = queries[q].exclude;
      return { ...user, exclude: own ? [...forAll, ...knownItems(model, own)] : forAll };
    });
    const withItems = listed.filter(({ attributes }) => !attributes);
    const lists = await batch.lists(withItems, { n, includeSeen, without, include, explain }, settings);
    let next = 0;
    return listed.map((user, u) => {
      if (u % 64 === 0) throwIfAborted(signal);
      if (!user.attributes) {
        const list = lists[next++];
        return Array.from(list.items, (item, i) => described(item, list.scores[i], user, list.explain));
      }
      const scored = scorerOf(user);
      const explained = explain ? scored.explainer() : undefined;
      const best = bestItems(model.items.count, scored.score, n, user.exclude, without, include);
      return Array.from(best, (item) =>
        described(item, scored.score(item), user, explained, scored.attributes),
      );
    });
  }

  const scorerOf = ({ row, own, attributes }: ResolvedUser): UserScorer =>
    attributes ? byAttributes()(attributes) : scorer.userScorer(row, own);

  /** An item of a list as it is returned. An explanation has the same score. */
  function described(
    item: number,
    score: number,
    { own }: ResolvedUser,
    explain: ((item: number) => Explanation) | undefined,
    attributesOf?: UserScorer['attributes'],
  ): Recommendation {
    const { ids } = catalogue;
    if (!explain) return { item: ids.at(item), score };
    const parts = explain(item);
    const ofItems = contributions(ids, own, parts);
    const attributes = attributesOf
      ? attributesOf(item)
      : byAttributesToo(item)
        ? // Attributes are compared with the items that reasons name: other items of the user may have others.
          shared()?.(
            ofItems.items.slice(0, NAMED.items).map((one) => one.item),
            item,
          )
        : undefined;
    const explanation = { ...ofItems, ...(attributes && { attributes }) };
    return { item: ids.at(item), score: parts.score, explanation };
  }

  /** The user of a single query, and a function that scores an item for the user. */
  function oneUser(query: UserQuery, explain: boolean, onUnknown: RecommendOptions['onUnknown']) {
    const user = resolveUser(model, query, 0, { needSeen: false, onUnknown });
    const ofUser = scorerOf(user);
    const explained = explain ? ofUser.explainer() : undefined;
    return {
      user,
      score: (item: number) =>
        described(item, explained ? 0 : ofUser.score(item), user, explained, ofUser.attributes),
    };
  }

  const recommender: Recommender = {
    model,
    recommend: async (query, options) => (await recommendMany([query], options))[0],
    recommendMany,
    async *recommendEach(queries, options = {}) {
      let waiting: UserQuery[] = [];
      let done = 0;
      const { onUnknown } = options;
      const flush = () => {
        const first = done;
        done += waiting.length;
        return recommendMany(waiting, {
          ...options,
          ...(onUnknown && { onUnknown: (ids: readonly Id[], at: number) => onUnknown(ids, first + at) }),
        });
      };
      for await (const query of queries) {
        waiting.push(query);
        if (waiting.length < BATCH) continue;
        yield* await flush();
        waiting = [];
      }
      yield* await flush();
    },
    async explainMany(queries, options = {}) {
      open();
      const { threads, signal, onProgress, onUnknown, engine: _, ...settings } = options;
      const costly = settings.explain === true || settings.confidence === true;
      if (!costly || batchWorkerCount(queries.length, threads, EXPLAINED) === 1) {
        return explainLists(recommender, queries, options);
      }
      throwIfAborted(signal);
      const ignoreUnknown = onUnknown !== undefined;
      // An error in the options holds for all users, and only this thread can name the option.
      const [first] = queries;
      await explainLists(recommender, [first], {
        ...settings,
        ...(ignoreUnknown && { onUnknown: () => {} }),
        signal,
        threads: 1,
      });
      return batch.explain(queries, { options: settings, ignoreUnknown }, { threads, signal, onProgress });
    },
    rank(query, candidates, options = {}) {
      open();
      const { explain, onUnknown, onUnknownCandidates } = withDefaults(CANDIDATES, options);
      const unknown = candidates.filter((id) => catalogue.ids.find(id) < 0);
      if (unknown.length > 0) {
        if (!onUnknownCandidates) itemAt(unknown[0]);
        onUnknownCandidates?.(unknown);
      }
      const { score } = oneUser(query, explain, onUnknown);
      return [...new Set(knownItems(model, candidates))]
        .sort((a, b) => a - b)
        .map(score)
        .sort((a, b) => b.score - a.score);
    },
    explain(query, item, options = {}) {
      open();
      const { onUnknown } = withDefaults(ONE_ITEM, options);
      const { user, score } = oneUser(query, true, onUnknown);
      if ('likes' in query && user.own.items.length === 0) {
        throw new InputError(
          'nothing is known of the user, so there is no score to explain; name liked items',
        );
      }
      return score(itemAt(item));
    },
    reasons(recommendation) {
      open();
      return reasons()(recommendation);
    },
    async confidence(query, items, options = {}) {
      open();
      const { onUnknown, filter } = withDefaults(CONFIDENCE, options);
      const { row, own, attributes } = resolveUser(model, query, 0, { needSeen: false, onUnknown });
      if (attributes) {
        throw new InputError(
          'a list without known items of the user has no confidence: there are no items that could have been others',
        );
      }
      const exclude = knownItems(model, query.exclude ?? []);
      return confidence()({ row, own, listed: items.map(itemAt), exclude, without: withoutItems(filter) });
    },
    similar(item, options = {}) {
      open();
      const { n, filter } = withDefaults(LIST, options);
      return similarity()(itemAt(item), n, withoutItems(filter));
    },
    popular(options = {}) {
      open();
      const { n, filter, exclude = [] } = withDefaults(POPULAR, options);
      const without = withoutItems(filter);
      const { ids, degree } = catalogue;
      const out = new Set(exclude.map((id) => ids.find(id)));
      const items: PopularItem[] = [];
      for (const item of byPopularity()) {
        if (items.length === n) break;
        if (!out.has(item) && !(without && hasBit(without, item)))
          items.push({ item: ids.at(item), users: degree[item] });
      }
      return items;
    },
    features(options = {}) {
      open();
      return featuresOf(model, options);
    },
    async close() {
      closed = true;
      await Promise.all([scorer.close(), batch.close()]);
    },
  };
  return Object.freeze(recommender);
}

/** The explanation of a score, with the ids of the user's items. */
function contributions(
  ids: VertexIds,
  own: ResolvedUser['own'],
  parts: Explanation,
): RecommendationExplanation {
  const usual = usualShares(parts.all);
  const byItem = Array.from(own.items, (item, e) => ({
    item: ids.at(item),
    ...contributionOf(parts.items[e], parts.score * usual.items[e], parts.score),
  }));
  return {
    features: Array.from(parts.features),
    usualFeatures: Array.from(usual.features, (part) => parts.score * part),
    direct: parts.direct,
    usualDirect: parts.score * usual.direct,
    items: byItem.sort(byContrast),
    prior: parts.prior,
    usualPrior: parts.score * usual.prior,
  };
}
