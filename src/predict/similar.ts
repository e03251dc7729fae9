// Items similar to an item: those that the same users have. On held-out users, common users predict better than the cosine of
// mean activities (docs/appendix/serving.md), which is used if a model does not store its users' items.

import { attributeWeight } from '../attributes/content-scores.js';
import { catalogueOf, settingOf } from '../attributes/info.js';
import {
  addSimilarities,
  attributeVectors,
  invertedLists,
  type RowValues,
  SparseSums,
} from '../attributes/similarity.js';
import { InputError } from '../errors.js';
import type { Model, SeenItems } from '../fit/model.js';
import { hasBit } from '../math/bits.js';
import { lowerBound } from '../math/csr.js';
import { largest } from '../math/nth-largest.js';
import { once } from '../math/once.js';
import type { LIST } from '../options/commands/similar.js';
import type { OptionsOf } from '../options/declare.js';
import { addWeights } from '../topn/query.js';
import { createRecommender } from './recommender.js';
import type { MemberScorer } from './scoring/member-scorer.js';

/** An item and how similar it is. */
export interface SimilarItem {
  readonly item: string;
  /**
   * Number of users who have both, over the root of the product of the numbers who have each. 30 is added to both numbers, so
   * that a few common users do not make items similar. For an item with fewer than 20 edges, a tenth of the similarity of attributes
   * is added, less with every edge. For a ranker by item weights: the weight. For a model that does not store its users' items: the
   * cosine of the two items' mean activities. For an item without edges: the similarity of attributes, 0 to 1.
   */
  readonly similarity: number;
}

/**
 * Items similar to this one, most similar first. For several requests, use a recommender.
 * @example
 * import { fit, similarItems, simulate } from 'graphex';
 * const { graph } = await simulate({ features: 4, users: { size: 30 }, items: { size: 30 }, seed: 1 });
 * const { model } = await fit(graph, { features: 4, iterations: 20 });
 * console.log(await similarItems(model, model.items.ids.at(0), { n: 3 }));
 */
export async function similarItems(
  model: Model,
  item: string | number,
  options: OptionsOf<typeof LIST> = {},
): Promise<SimilarItem[]> {
  const recommender = createRecommender(model);
  try {
    return recommender.similar(item, options);
  } finally {
    await recommender.close();
  }
}

/** Added to the number of users of each item. Of 0, 3, 10 and 30 it was best on the training parts of three data sets. */
const ADDED_USERS = 30;

/**
 * The part of the similarity of attributes that is added for an item with few edges. Of 0.03, 0.1, 0.3, 1 and 3 it was best on the
 * training parts of three data sets (docs/appendix/new-items.md).
 */
const ATTRIBUTE_PART = 0.1;

/** A function that finds similar items; it computes norms once. */
export function createSimilarity(model: Model, members: readonly MemberScorer[] | undefined): FindSimilar {
  const { ids } = catalogueOf(model);
  const { count } = model.items;
  const byAttributes = once(() => attributeSimilarity(model));
  const toAll = once(() => similarities(model, members, byAttributes));
  return (item, n, without) => {
    if (item >= count) {
      const { rows, values } = byAttributes()?.(item, n, without) ?? { rows: [], values: [] };
      return Array.from(rows, (other, i) => ({ item: ids.at(other), similarity: values[i] })).sort(
        (a, b) => b.similarity - a.similarity,
      );
    }
    const similarity = toAll()(item);
    return largest(count, n, (other) =>
      other === item || !(similarity[other] > 0) || (without && hasBit(without, other))
        ? Number.NEGATIVE_INFINITY
        : similarity[other],
    ).map((other) => ({ item: ids.at(other), similarity: similarity[other] }));
  };
}

/** Items similar to an item; `without`: bits of items that are not listed. */
type FindSimilar = (item: number, n: number, without?: Uint32Array) => SimilarItem[];

/** The `n` items with the most similar attributes, ascending, and how similar they are. */
type AttributeSimilarity = (item: number, n: number, without?: Uint32Array) => RowValues;

function attributeSimilarity(model: Model): AttributeSimilarity | undefined {
  const about = model.info?.items;
  if (!about?.content) return undefined;
  const { count, degree } = catalogueOf(model);
  const { columns } = about.content.settings;
  const vectors = attributeVectors(
    about,
    about.columns.map((column) => settingOf(columns, column)),
  );
  const lists = invertedLists(vectors, count, degree);
  const sums = new SparseSums(count);
  return (item, n, without) => {
    addSimilarities({ vectors, lists, known: count }, item, sums);
    if (without) for (let other = 0; other < count; other++) if (hasBit(without, other)) sums.drop(other);
    const found = sums.largest(n);
    sums.clear();
    return found;
  };
}

/** A function that computes the similarity of an item to every item. */
function similarities(
  model: Model,
  members: readonly MemberScorer[] | undefined,
  byAttributes: () => AttributeSimilarity | undefined,
): (item: number) => Float64Array {
  const { count, degree } = model.items;
  if (model.type === 'ranker' && model.scores.kind === 'items') {
    const { scores } = model;
    return (item) => {
      const weights = new Float64Array(count);
      addWeights(scores, item, weights);
      return weights;
    };
  }
  const { seen } = model;
  if (seen) {
    return (item) => {
      const common = commonUsers(seen, item, count);
      const own = degree[item] + ADDED_USERS;
      for (let j = 0; j < count; j++) common[j] /= Math.sqrt(own * (degree[j] + ADDED_USERS));
      const part = ATTRIBUTE_PART * attributeWeight(degree[item]);
      const alike = part > 0 ? byAttributes()?.(item, count) : undefined;
      alike?.rows.forEach((other, i) => {
        if (other < count) common[other] += part * alike.values[i];
      });
      return common;
    };
  }
  if (members) {
    const norm = new Float64Array(count);
    for (const { items, features } of members) addProducts(items, features, undefined, norm);
    for (let j = 0; j < count; j++) norm[j] = Math.sqrt(norm[j]);
    return (item) => {
      const products = new Float64Array(count);
      for (const { items, features } of members) {
        addProducts(items, features, items.subarray(item * features, (item + 1) * features), products);
      }
      // An item without any activity is similar to nothing.
      return products.map((product, j) => Math.min(1, product / (norm[item] * norm[j]) || 0));
    };
  }
  throw new InputError(
    'this model ranks by popularity and was saved without its users, so it cannot find similar items: save it with them, or fit with another method',
  );
}

/** Numbers of users who have both `item` and each other item. Rows ascend, so a binary search finds the item. */
function commonUsers({ offsets, neighbors }: SeenItems, item: number, count: number): Float64Array {
  const common = new Float64Array(count);
  for (let user = 0; user + 1 < offsets.length; user++) {
    const [first, end] = [offsets[user], offsets[user + 1]];
    const at = lowerBound(neighbors, item, first, end);
    if (at === end || neighbors[at] !== item) continue;
    for (let e = first; e < end; e++) common[neighbors[e]]++;
  }
  return common;
}

/** Adds the product of every row with `other`, or with itself. */
function addProducts(
  table: Float32Array,
  features: number,
  other: Float32Array | undefined,
  out: Float64Array,
): void {
  for (let j = 0, at = 0; j < out.length; j++, at += features) {
    let sum = 0;
    if (other) for (let k = 0; k < features; k++) sum += table[at + k] * other[k];
    else for (let k = 0; k < features; k++) sum += table[at + k] * table[at + k];
    out[j] += sum;
  }
}
