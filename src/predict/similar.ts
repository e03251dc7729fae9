// Items that are like an item: those whose mean activities point the same way, however common they are.

import { InputError } from '../errors.js';
import type { Model } from '../fit/model.js';
import type { OptionsOf } from '../options/kinds.js';
import type { LIST } from '../options/verbs.js';
import { addWeights } from './judges.js';
import { largest } from './largest.js';
import { createRecommender } from './recommender.js';
import type { Voice } from './voices.js';

/** An item and how similar it is. */
export interface SimilarItem {
  readonly item: string;
  /** The cosine of the two items' mean activities; of a ranker by weights between items, the weight. */
  readonly similarity: number;
}

/** Items like this one, most alike first. Where many are asked for, use a recommender. */
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

/** A function that finds the items like one; norms are made once. */
export function createSimilarity(
  model: Model,
  voices: readonly Voice[] | undefined,
): (item: number, n: number) => SimilarItem[] {
  const { ids, count } = model.items;
  const list = (item: number, n: number, alike: Float64Array) =>
    largest(count, n, (other) =>
      other === item || !(alike[other] > 0) ? Number.NEGATIVE_INFINITY : alike[other],
    ).map((other) => ({ item: ids.at(other), similarity: alike[other] }));
  if (voices) {
    const norm = new Float64Array(count);
    for (const { items, features } of voices) addProducts(items, features, undefined, norm);
    for (let j = 0; j < count; j++) norm[j] = Math.sqrt(norm[j]);
    return (item, n) => {
      const products = new Float64Array(count);
      for (const { items, features } of voices) {
        addProducts(items, features, items.subarray(item * features, (item + 1) * features), products);
      }
      const scale = norm[item];
      // An item without any activity is like nothing.
      for (let j = 0; j < count; j++) products[j] = Math.min(1, products[j] / (scale * norm[j]) || 0);
      return list(item, n, products);
    };
  }
  if (model.type === 'ranker' && model.scores.kind === 'items') {
    const { scores } = model;
    return (item, n) => {
      const weights = new Float64Array(count);
      addWeights(scores, item, count, weights);
      return list(item, n, weights);
    };
  }
  throw new InputError(
    'this model ranks by popularity and knows nothing of which items are alike: fit with another method',
  );
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
