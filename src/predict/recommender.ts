// One model, many questions: what does not depend on the question is made once.

import { InputError, throwIfAborted } from '../errors.js';
import { type Model, needModel } from '../fit/model.js';
import type { VertexIds } from '../graph/ids.js';
import { withDefaults } from '../options/check-options.js';
import { LIST } from '../options/commands/similar.js';
import type { OptionsOf } from '../options/declare.js';
import { CANDIDATES, ONE_ITEM, POPULAR, RECOMMEND_LISTS } from '../options/library.js';
import { TASK } from '../options/shared.js';
import type { TaskOptions } from '../progress.js';
import { many } from '../text/phrases.js';
import { USERS_AND_ITEMS } from '../text/sides.js';
import { shown } from '../text/untrusted.js';
import { createBatchLists } from './batch/batch-lists.js';
import type { Identified } from './batch/batch-workers.js';
import { createConfidence, type ListConfidence } from './explain/confidence.js';
import type { Explanation } from './explain/explain.js';
import { byContrast, createReasons, type Reasons, usualShares } from './explain/reasons.js';
import { type DescribedFeature, type DescribeOptions, describeMembers } from './features.js';
import { unknownId } from './nearest-id.js';
import type { Id, Recommendation, RecommendationShares, RecommendOptions, UserQuery } from './recommend.js';
import { createModelScorer, ownItems, type UserScorer } from './scoring/model-scorer.js';
import { once } from './scoring/once.js';
import { leftOut, rowLists } from './scoring/scorer.js';
import { createSimilarity, type SimilarItem } from './similar.js';

/** Items that are not personal: the most common ones. */
export interface PopularItem {
  readonly item: string;
  /** Users of the data who have it. */
  readonly users: number;
}

/** Answers questions to one model. Every method may be called while others are under way. */
export interface Recommender {
  readonly model: Model;
  /** The best items for one asker, best first; ties go to the item that the model names first. */
  recommend(asker: UserQuery, options?: RecommendOptions): Promise<Recommendation[]>;
  /** The same for many at once, on all threads. */
  recommendMany(askers: readonly UserQuery[], options?: RecommendOptions): Promise<Recommendation[][]>;
  /** The same for askers that come one by one, in bounded memory; lists come in their order. */
  recommendEach(
    askers: Iterable<UserQuery> | AsyncIterable<UserQuery>,
    options?: RecommendOptions,
  ): AsyncGenerator<Recommendation[], void, void>;
  /** The caller's candidates, best first, whether the asker has them or not. */
  rank(asker: UserQuery, candidates: readonly Id[], options?: RankCandidatesOptions): Recommendation[];
  /** How the score of one item comes about. */
  explain(asker: UserQuery, item: Id, options?: OptionsOf<typeof ONE_ITEM>): Recommendation;
  /** An explanation in brief: the few items and features that tell this item from the user's others. */
  reasons(recommendation: Recommendation): Reasons | undefined;
  /** How sure a list of this asker's is: how much of it another history of the same taste would bring again. */
  confidence(
    asker: UserQuery,
    items: readonly Id[],
    options?: OptionsOf<typeof ONE_ITEM>,
  ): Promise<ListConfidence>;
  /** Items like this one, by the users who have both; of weights between items, by the weights. */
  similar(item: Id, options?: OptionsOf<typeof LIST>): SimilarItem[];
  /** The items that most users have. */
  popular(options?: OptionsOf<typeof POPULAR>): PopularItem[];
  /** The features that the model found, those that explain most first. */
  features(options?: DescribeOptions): DescribedFeature[];
  /** Ends the threads; further questions are refused. */
  close(): Promise<void>;
}

/** How candidates are ranked; declared in options/library.ts. */
export interface RankCandidatesOptions extends OptionsOf<typeof CANDIDATES> {}

/** Askers that are ranked together, where they come one by one. */
const BATCH = 512;

/**
 * A recommender for a model; close it when no more is asked.
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
  const judge = createModelScorer(model);
  const similarity = once(() => createSimilarity(model, judge.members));
  const confidence = once(() => createConfidence(judge));
  const reasons = once(() => createReasons(model));
  const byPopularity = once(() => popularityOrder(model.items.degree));
  const forMany = createBatchLists(model, judge);
  let closed = false;
  const open = () => {
    if (closed) throw new InputError('this recommender is closed: make another one');
  };

  async function recommendMany(askers: readonly UserQuery[], options: RecommendOptions = {}) {
    open();
    const settings = withDefaults({ ...RECOMMEND_LISTS, ...TASK }, options);
    const { n, includeSeen, signal } = settings;
    if (askers.length === 0) return [];
    const identified = askers.map((asker, a) => {
      if (a % 64 === 0) throwIfAborted(signal);
      return identify(asker, a, { needSeen: !includeSeen, onUnknown: settings.onUnknown });
    });
    const excluded = known(settings.exclude ?? []);
    const asked = askers.map(({ exclude }) => (exclude ? [...excluded, ...known(exclude)] : excluded));
    if (!settings.include && !settings.explain) {
      const lists = await forMany.lists(identified, asked, { n, includeSeen }, settings);
      const { ids } = model.items;
      if (lists)
        return lists.map(({ items, scores }) =>
          Array.from(items, (item, i) => ({ item: ids.at(item), score: scores[i] })),
        );
    }
    const placed = identified.map(seated);
    const without = asked.map((list, a) => leftOut(list, placed[a].own, includeSeen));
    const best = settings.include
      ? bestOf(new Set(known(settings.include)), placed, without, n)
      : await bestOfAll(placed, without, n, settings);
    return placed.map(({ seat, own }, row) => {
      if (row % 64 === 0) throwIfAborted(signal);
      return Array.from(best[row], describer(seat, own, settings.explain));
    });
  }

  /** The items among them that the model knows. */
  const known = (ids: readonly Id[]) => ids.map((id) => model.items.ids.find(id)).filter((item) => item >= 0);

  async function bestOfAll(
    placed: readonly Placed[],
    without: readonly ArrayLike<number>[],
    n: number,
    options: TaskOptions,
  ): Promise<Uint32Array[]> {
    const excluded = without.some((list) => list.length > 0) ? rowLists(without) : undefined;
    const places = placed.map(({ seat }) => seat);
    const lists = await judge.lists(places, { rows: placed.length, n, excluded }, options);
    return placed.map((_, row) =>
      lists.positions.subarray(row * lists.listed, row * lists.listed + lists.counts[row]),
    );
  }

  /** Of a few candidates, in float64. */
  function bestOf(
    candidates: ReadonlySet<number>,
    placed: readonly Placed[],
    without: readonly ArrayLike<number>[],
    n: number,
  ): number[][] {
    return placed.map(({ seat }, row) => {
      const left = new Set(Array.from(without[row]));
      return [...candidates]
        .filter((item) => !left.has(item))
        .map((item) => ({ item, score: seat.score(item) }))
        .sort((a, b) => b.score - a.score || a.item - b.item)
        .slice(0, n)
        .map(({ item }) => item);
    });
  }

  /** Scores in float64, so that the same comes out with and without an explanation. */
  function describer(seat: UserScorer, own: Own, explained: boolean): (item: number) => Recommendation {
    const { ids } = model.items;
    if (!explained) return (item) => ({ item: ids.at(item), score: seat.score(item) });
    const explain = seat.explainer();
    return (item) => {
      const parts = explain(item);
      return { item: ids.at(item), score: parts.score, explanation: shares(ids, own, parts) };
    };
  }

  function seated({ row, own }: Identified): Placed {
    return { row, own, seat: judge.userScorer(row, own) };
  }

  function place(...args: Parameters<typeof identify>): Placed {
    return seated(identify(...args));
  }

  function identify(
    asker: UserQuery,
    at: number,
    {
      needSeen,
      onUnknown,
    }: { readonly needSeen: boolean; readonly onUnknown?: RecommendOptions['onUnknown'] },
  ): Identified {
    checkAsker(asker);
    if ('likes' in asker) return { row: undefined, own: likedItems(model, asker, at, onUnknown) };
    const row = model.users.ids.find(asker.user);
    if (row < 0) throw unknownUser(model, asker.user);
    if (!model.seen && needSeen) {
      throw new InputError(
        'the model does not carry which items its users have: fit it again, or ask to include seen items',
      );
    }
    return { row, own: ownItems(model, row) };
  }

  function knownItem(id: Id): number {
    const { items: itemNames } = model.names ?? USERS_AND_ITEMS;
    const item = model.items.ids.find(id);
    if (item < 0)
      throw unknownId(
        `${itemNames.one} ${shown(id)} is not in the model (${many(model.items.count, itemNames)})`,
        id,
        model.items.ids,
      );
    return item;
  }

  return Object.freeze({
    model,
    recommend: async (asker: UserQuery, options?: RecommendOptions) =>
      (await recommendMany([asker], options))[0],
    recommendMany,
    async *recommendEach(
      askers: Iterable<UserQuery> | AsyncIterable<UserQuery>,
      options: RecommendOptions = {},
    ) {
      let batch: UserQuery[] = [];
      let done = 0;
      const { onUnknown } = options;
      const flush = () => {
        const first = done;
        done += batch.length;
        return recommendMany(batch, {
          ...options,
          ...(onUnknown && { onUnknown: (ids: readonly Id[], a: number) => onUnknown(ids, first + a) }),
        });
      };
      for await (const asker of askers) {
        batch.push(asker);
        if (batch.length < BATCH) continue;
        yield* await flush();
        batch = [];
      }
      yield* await flush();
    },
    rank(asker: UserQuery, candidates: readonly Id[], options: RankCandidatesOptions = {}) {
      open();
      const { explain, onUnknown, onUnknownCandidates } = withDefaults(CANDIDATES, options);
      const unknown = candidates.filter((id) => model.items.ids.find(id) < 0);
      if (unknown.length > 0) {
        if (!onUnknownCandidates) knownItem(unknown[0]);
        onUnknownCandidates?.(unknown);
      }
      const items = new Set(candidates.map((id) => model.items.ids.find(id)).filter((item) => item >= 0));
      const { seat, own } = place(asker, 0, { needSeen: false, onUnknown });
      return Array.from(items)
        .sort((a, b) => a - b)
        .map(describer(seat, own, explain))
        .sort((a, b) => b.score - a.score);
    },
    explain(asker: UserQuery, item: Id, options: OptionsOf<typeof ONE_ITEM> = {}) {
      open();
      const { seat, own } = place(asker, 0, { needSeen: false, ...withDefaults(ONE_ITEM, options) });
      return describer(seat, own, true)(knownItem(item));
    },
    reasons(recommendation: Recommendation) {
      open();
      return reasons()(recommendation);
    },
    async confidence(asker: UserQuery, items: readonly Id[], options: OptionsOf<typeof ONE_ITEM> = {}) {
      open();
      const { row, own } = place(asker, 0, { needSeen: false, ...withDefaults(ONE_ITEM, options) });
      const exclude = known(asker.exclude ?? []);
      return confidence()({ row, own, listed: items.map(knownItem), exclude });
    },
    similar(item: Id, options: OptionsOf<typeof LIST> = {}) {
      open();
      const { n } = withDefaults(LIST, options);
      return similarity()(knownItem(item), n);
    },
    popular(options: OptionsOf<typeof POPULAR> = {}) {
      open();
      const { n, exclude = [] } = withDefaults(POPULAR, options);
      const { ids, degree } = model.items;
      const out = new Set(exclude.map((id) => ids.find(id)));
      const items: PopularItem[] = [];
      for (const item of byPopularity()) {
        if (items.length === n) break;
        if (!out.has(item)) items.push({ item: ids.at(item), users: degree[item] });
      }
      return items;
    },
    features(options: DescribeOptions = {}) {
      open();
      return describeMembers(model, options);
    },
    async close() {
      closed = true;
      await Promise.all([judge.close(), forMany.close()]);
    },
  });
}

type Own = Identified['own'];
/** An asker with a place before the judge. */
interface Placed extends Identified {
  readonly seat: UserScorer;
}

/** For callers without types: who asks is a user, or someone who likes a few items. */
function checkAsker(asker: unknown): void {
  const isId = (id: unknown) => typeof id === 'string' || typeof id === 'number';
  const given =
    typeof asker === 'object' && asker !== null ? (asker as Readonly<Record<string, unknown>>) : {};
  const { likes, user } = given;
  if ('likes' in given ? Array.isArray(likes) && likes.every(isId) : isId(user)) return;
  const problem =
    'likes' in given ? 'likes is no list of ids' : 'user' in given ? 'user is no id' : 'nobody asks';
  throw new InputError(
    `${problem}: give { user: ID } for a user of the model, or { likes: [ID, …] } for someone new; an id is a text or a number`,
  );
}

type NewAsker = Extract<UserQuery, { likes: unknown }>;

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

/** Liked items by index, each once, counts added. */
function likedItems(
  model: Model,
  { likes, counts }: NewAsker,
  at: number,
  onUnknown: RecommendOptions['onUnknown'],
): Own {
  if (counts && counts.length !== likes.length) {
    throw new InputError(`${counts.length} counts for ${likes.length} liked items; give one for each`);
  }
  const liked = new Map<number, number>();
  const unknown: Id[] = [];
  for (const [i, id] of likes.entries()) {
    const item = model.items.ids.find(id);
    if (item < 0) unknown.push(id);
    else liked.set(item, (liked.get(item) ?? 0) + (counts?.[i] ?? 1));
  }
  if (unknown.length > 0) {
    if (!onUnknown) {
      const { names = USERS_AND_ITEMS } = model;
      const { one, many: all } = names.items;
      throw unknownId(
        `${unknown.length === 1 ? one : all} ${unknown
          .slice(0, 5)
          .map((id) => shown(id))
          .join(', ')}${unknown.length > 5 ? ', …' : ''} ` +
          `${unknown.length === 1 ? 'is' : 'are'} not in the model (${many(model.items.count, names.items)})`,
        unknown[0],
        model.items.ids,
        `like only ${all} that the model knows`,
      );
    }
    onUnknown(unknown, at);
  }
  if (liked.size === 0) {
    throw new InputError('no liked item is known to the model: name at least one of its items');
  }
  const items = Uint32Array.from(liked.keys()).sort();
  return { items, counts: model.multigraph ? items.map((item) => liked.get(item)!) : undefined };
}

function shares(ids: VertexIds, own: Own, parts: Explanation): RecommendationShares {
  const usual = usualShares(parts.all);
  const byItem = Array.from(own.items, (item, e) => ({
    item: ids.at(item),
    share: parts.items[e],
    usual: parts.score * usual.items[e],
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

function popularityOrder(degree: Uint32Array): Uint32Array {
  return Uint32Array.from(degree.keys()).sort((a, b) => degree[b] - degree[a] || a - b);
}
