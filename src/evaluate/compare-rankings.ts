// Compares a model with another ranking of the same users: with popularity, which a useful model must beat, and with another
// model, such as the previous one.

import { InputError } from '../errors.js';
import type { Model } from '../fit/model.js';
import type { VertexIds } from '../graph/ids.js';
import type { RankingResult, RankingScores } from '../metrics/ranking-metrics.js';
import type { RankingTask } from '../metrics/ranking-task.js';
import { popularityScorer, type Scorer } from '../predict/scoring/scorer.js';
import type { TaskOptions } from '../progress.js';
import type { Split } from '../sample/split-types.js';
import {
  ATTRIBUTE_BASELINES,
  type AttributeBaseline,
  attributeBaseline,
} from './baselines/attribute-baselines.js';
import { type PairedInterval, pairedBootstraps } from './bootstrap.js';
import {
  checkHeldOut,
  checkSameData,
  type EvaluateOptions,
  type Evaluation,
  rankedItems,
} from './evaluate.js';
import { evaluateRanking, rankingOptions } from './evaluate-ranking.js';
import { heldOutScores } from './held-out.js';
import { splitRankingTask } from './split-task.js';

/** Recall and nDCG of another ranking, and the difference of the model to it. */
export interface RankingComparison {
  readonly other: Pick<RankingScores, 'mean' | 'standardError'>;
  readonly difference: { readonly recall: PairedInterval; readonly ndcg: PairedInterval };
}

/** Compares a model with popularity; undefined if the model is popularity itself. */
export async function againstPopularity(
  model: Model,
  { method, ranking, task }: Pick<Evaluation, 'method' | 'ranking' | 'task'>,
  options: TaskOptions & { readonly seed: number },
): Promise<RankingComparison | undefined> {
  // Items without edges are all equally popular.
  if (method === 'new-items') return undefined;
  if (model.type === 'ranker' && model.scores.kind === 'popularity') return undefined;
  return against(popularityScorer(model.items.degree), task, ranking, options);
}

/** The difference of a ranking to that of another scorer. */
async function against(
  scorer: Scorer,
  task: RankingTask,
  { all, n, depth }: RankingResult,
  options: TaskOptions & { readonly seed: number },
): Promise<RankingComparison> {
  const other = await evaluateRanking(task, scorer, rankingOptions({ ...options, n, depth }));
  return compareRankings(all, other.all, options.seed);
}

/** The model on items without edges, compared with each baseline by attributes. */
export type AttributeComparisons = Readonly<Record<AttributeBaseline, RankingComparison>>;

/** Compares a model with baselines that score items by the attributes it stores; undefined if the split holds out other things. */
export async function againstAttributes(
  model: Model,
  { method, ranking, task }: Pick<Evaluation, 'method' | 'ranking' | 'task'>,
  options: TaskOptions & { readonly seed: number },
): Promise<AttributeComparisons | undefined> {
  const info = model.info?.items;
  if (method !== 'new-items' || !info) return undefined;
  const compared: Partial<Record<AttributeBaseline, RankingComparison>> = {};
  for (const name of ATTRIBUTE_BASELINES) {
    const scorer = attributeBaseline(name, info, model.items.degree, task.history);
    compared[name] = await against(scorer, task, ranking, options);
  }
  return Object.freeze(compared) as AttributeComparisons;
}

/** Compares a model with another one that knows the same items (`checkComparable`). */
export async function againstModel(
  other: Model,
  split: Split,
  { ranking }: Pick<Evaluation, 'ranking'>,
  options: EvaluateOptions & { readonly seed: number },
): Promise<RankingComparison> {
  const task = splitRankingTask(split, rankedItems(other, split));
  const { scorer } = await heldOutScores(other, split, task.history, options);
  return against(scorer, task, ranking, options);
}

/** Checks, before the work, that two models can be compared on a split. */
export function checkComparable(model: Model, other: Model, split: Split): void {
  checkSameData(other, split.train.items.ids);
  if (!sameIds(model.items.ids, other.items.ids)) {
    throw new InputError(
      'the two models know different items: compare models that were fitted to the same training part',
    );
  }
  if (split.method === 'pq') checkHeldOut(other, split.assignment.users);
}

function sameIds(one: VertexIds, other: VertexIds): boolean {
  return one.length === other.length && other.findAll(one).every((at) => at >= 0);
}

/** The difference of two rankings of the same users in the same order. */
export function compareRankings(model: RankingScores, other: RankingScores, seed: number): RankingComparison {
  const pair = (metric: 'recall' | 'ndcg') => ({ a: model.perUser[metric], b: other.perUser[metric] });
  const [recall, ndcg] = pairedBootstraps([pair('recall'), pair('ndcg')], { seed });
  return Object.freeze({
    other: { mean: other.mean, standardError: other.standardError },
    difference: { recall, ndcg },
  });
}
