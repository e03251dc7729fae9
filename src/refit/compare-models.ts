// The new model against the present one on the same users: which of the two finds what they took next?

import { pairedBootstrap } from '../evaluate/bootstrap.js';
import type { Model } from '../fit/model.js';
import { mean } from '../math/moments.js';
import { userMetric } from '../metrics/definitions.js';
import { createRecommender } from '../predict/recommender.js';
import type { TaskOptions } from '../progress.js';
import type { Comparison } from './generations.js';
import type { HeldBackUser } from './hold-back-last.js';

/** Items of a list. */
const N = 20;
const BATCH = 256;

export async function compareModels(
  present: Model,
  candidate: Model,
  users: readonly HeldBackUser[],
  options: Pick<TaskOptions, 'threads' | 'signal'>,
): Promise<Comparison> {
  const [a, b] = [await qualities(candidate, users, options), await qualities(present, users, options)];
  const { difference, low, high } = pairedBootstrap(a, b);
  return {
    metric: 'ndcg',
    n: N,
    users: users.length,
    present: mean(b),
    candidate: mean(a),
    difference,
    low,
    high,
  };
}

/** Whether the new model is worse beyond chance. */
export function isClearlyWorse(comparison: Comparison | undefined): boolean {
  return comparison !== undefined && comparison.high < 0;
}

/** nDCG of each user's held-back items. */
async function qualities(
  model: Model,
  users: readonly HeldBackUser[],
  { threads, signal }: Pick<TaskOptions, 'threads' | 'signal'>,
): Promise<Float64Array> {
  const recommender = createRecommender(model);
  const { ids } = model.items;
  const quality = new Float64Array(users.length);
  try {
    for (let from = 0; from < users.length; from += BATCH) {
      const some = users.slice(from, from + BATCH);
      const known = some.map(({ likes, times }) => {
        const places = [...likes.keys()].filter((at) => ids.find(likes[at]) >= 0);
        const own = places.map((at) => likes[at]);
        return times ? { likes: own, times: places.map((at) => times[at]) } : { likes: own };
      });
      // A user whose items the model does not know gets the popular items below, as on a server.
      const personal = known.filter(({ likes }) => likes.length > 0);
      const lists = await recommender.recommendMany(personal, { n: N, threads, signal });
      let next = 0;
      for (const [u, { likes, held }] of some.entries()) {
        const list =
          known[u].likes.length > 0 ? lists[next++] : recommender.popular({ n: N, exclude: [...likes] });
        const wanted = new Set(held);
        const hits = list.flatMap(({ item }, rank) => (wanted.has(item) ? [rank + 1] : []));
        quality[from + u] = userMetric.ndcg(hits, held.length, N);
      }
    }
  } finally {
    await recommender.close();
  }
  return quality;
}
