// How good the session's models are on the held-out users: their lists, and draws of the test part.

import { InputError } from '../../errors.js';
import { fitBaseline } from '../../evaluate/baselines/fit-baseline.js';
import { compareRankings } from '../../evaluate/compare-rankings.js';
import { type Evaluation, evaluateModel } from '../../evaluate/evaluate.js';
import type { Model } from '../../fit/model.js';
import type { RankingScores } from '../../metrics/ranking-metrics.js';
import { intervalWords, leftOutWords, surpriseWords } from '../../report/words/evaluation.js';
import type { Purpose, Score } from '../../report/words/page.js';
import type { Split } from '../../sample/split-types.js';
import { mayBeChance } from '../../study/best-method.js';
import { LEAST_TEST } from '../../study/results.js';
import type { Api, Comparison, EvaluationSummary } from '../protocol.js';
import type { Task } from './session.js';
import { currentModel, currentSplit, sessionModels } from './session-model.js';

function heldOut(): Split {
  const split = currentSplit();
  if (!split) throw new InputError('nothing was held out: fit again with a test part');
  return split;
}

/** Rankings of a model by n: a model that was compared is not ranked again. */
const known = new WeakMap<Model, Map<number, Evaluation>>();
/** The list of popular items is the same for all models of a split. */
const popularity = new WeakMap<Split, Model>();

/**
 * The model whose lists are better by recall or nDCG, more than chance, and by neither worse; undefined if there is none. Few
 * users are no evidence.
 */
export function clearlyBetter(
  describing: RankingScores,
  ranker: RankingScores,
  seed: number,
): Purpose | undefined {
  if (describing.users < LEAST_TEST.users) return undefined;
  const { difference } = compareRankings(describing, ranker, seed);
  const clear = [difference.recall, difference.ndcg].filter((gap) => !mayBeChance(gap));
  if (clear.length === 0) return undefined;
  if (clear.every((gap) => gap.difference > 0)) return 'understand';
  return clear.every((gap) => gap.difference < 0) ? 'recommend' : undefined;
}

/** The lists of each model and of popular items, on the same held-out users. */
export async function answerCompare({ seed, n }: Api['compare'][0], task: Task): Promise<Comparison> {
  const split = heldOut();
  const ranked = async (model: Model): Promise<Evaluation> => {
    const rankings = known.get(model) ?? new Map<number, Evaluation>();
    known.set(model, rankings);
    const found = rankings.get(n) ?? (await evaluateModel(model, split, { seed, n, draws: 0, ...task }));
    rankings.set(n, found);
    return found;
  };
  const score = (purpose: Purpose | undefined, { ranking: { all } }: Evaluation): Score => ({
    purpose,
    recall: all.mean.recall,
    ndcg: all.mean.ndcg,
    standardError: { recall: all.standardError.recall, ndcg: all.standardError.ndcg },
  });
  const models = sessionModels();
  const first = await ranked(models[0].model);
  const scores: Score[] = [];
  for (const { purpose, model } of models) scores.push(score(purpose, await ranked(model)));
  const better =
    models.length > 1
      ? clearlyBetter(first.ranking.all, (await ranked(models[1].model)).ranking.all, seed)
      : models[0].purpose;
  const popular =
    popularity.get(split) ?? (await fitBaseline(split.train, 'popularity', { seed, ...task })).model;
  popularity.set(split, popular);
  scores.push(score(undefined, await ranked(popular)));
  scores.sort((a, b) => b.recall - a.recall);
  return {
    scores,
    best: better ?? 'recommend',
    tie: better === undefined,
    n,
    users: first.ranking.all.users,
    items: first.task.candidates.length,
    leftOut: leftOutWords(first),
  };
}

/** The test part against draws of it from the model that describes the data. */
export async function answerEvaluate(choice: Api['evaluate'][0], task: Task): Promise<EvaluationSummary> {
  const { model } = currentModel('understand');
  const { predictive, names } = await evaluateModel(model, heldOut(), { ...choice, ...task });
  return {
    predictive,
    kind: model.type === 'posterior' ? model.kind : 'auto',
    choice,
    words: predictive
      ? [surpriseWords(predictive, names, model.multigraph), intervalWords(predictive, names, null)]
      : [],
  };
}
