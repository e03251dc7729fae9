// A model beside the same list for everyone, on the same users: one that does not beat it is not worth its trouble.

import type { Model } from '../fit/model.js';
import type { Scorer } from '../predict/rank.js';
import type { TaskOptions } from '../progress.js';
import type { RankingScores } from '../ranking/metrics.js';
import { type PairedInterval, pairedBootstrap } from './bootstrap.js';
import type { Evaluation } from './evaluate.js';
import { evaluateRanking } from './ranking.js';

/** Recall and nDCG of popularity, and how far the model lies above it. */
export interface AgainstPopularity {
  readonly popularity: Pick<RankingScores, 'mean' | 'standardError'>;
  readonly difference: { readonly recall: PairedInterval; readonly ndcg: PairedInterval };
}

/** Undefined where the model is popularity itself. */
export async function againstPopularity(
  model: Model,
  { ranking, task }: Pick<Evaluation, 'ranking' | 'task'>,
  options: TaskOptions & { readonly seed: number },
): Promise<AgainstPopularity | undefined> {
  if (model.type === 'ranker' && model.scores.kind === 'popularity') return undefined;
  const { n, depth } = ranking;
  const { seed, ...run } = options;
  const { all } = await evaluateRanking(task, popularityScorer(model), { ...run, n, depth });
  return comparePopularity(ranking.all, all, seed);
}

/** The same list for everyone. */
export function popularityScorer({ items: { degree } }: Pick<Model, 'items'>): Scorer {
  return {
    kind: 'rows',
    scores: (_row, candidates, out) => {
      for (let c = 0; c < candidates.length; c++) out[c] = degree[candidates[c]];
    },
  };
}

/** How far a ranking lies above that of popularity, of the same users in the same order. */
export function comparePopularity(
  model: RankingScores,
  popularity: RankingScores,
  seed: number,
): AgainstPopularity {
  const difference = (metric: 'recall' | 'ndcg') =>
    pairedBootstrap(model.perUser[metric], popularity.perUser[metric], { seed });
  return Object.freeze({
    popularity: { mean: popularity.mean, standardError: popularity.standardError },
    difference: { recall: difference('recall'), ndcg: difference('ndcg') },
  });
}
