// A model on a split: fold-in, recommendation metrics, predictive checks.

import { catalogueOf } from '../attributes/info.js';
import { InputError } from '../errors.js';
import type { Model, ModelSide } from '../fit/model.js';
import { fingerprint } from '../graph/fingerprint.js';
import type { VertexIds } from '../graph/ids.js';
import type { RankingResult } from '../metrics/ranking-metrics.js';
import { withDefaults } from '../options/check-options.js';
import { EVALUATE } from '../options/commands/evaluate.js';
import type { OptionsOf } from '../options/declare.js';
import { option, optionError } from '../options/error.js';
import type { DrawsGiven, Protocol } from '../options/names.js';
import { TASK } from '../options/shared.js';
import { drawOptions, drawPredictive, type PredictiveDraw } from '../predict/draw/draw.js';
import { attributesOfUser, createAttributeUsers } from '../predict/scoring/attribute-users.js';
import { popularityScorer, type Scorer } from '../predict/scoring/scorer.js';
import type { TaskOptions } from '../progress.js';
import type { Assignment, Split } from '../sample/split-types.js';
import { type SideNames, USERS_AND_ITEMS } from '../text/sides.js';
import { shown } from '../text/untrusted.js';
import { calibratePredictive, reasonAgainstCalibration, replicaCount } from './calibrate.js';
import { evaluateRanking, type RankingOptions, rankingOptions } from './evaluate-ranking.js';
import { type DroppedEdges, heldOutScores, observedGraph } from './held-out.js';
import { correctInternally, correctsByItself } from './internal-check.js';
import { checkPredictive, type PredictiveCheck } from './predictive.js';
import { type SplitRankingTask, splitRankingTask } from './split-task.js';

/** How a model is evaluated on a split; declared in options/commands/evaluate.ts. */
export interface EvaluateOptions extends OptionsOf<typeof EVALUATE>, TaskOptions {}

/** Edges that the model cannot use. */
export interface Dropped {
  /** Fold-in edges to items that training never saw, and the held-out users who have no other fold-in edges. */
  readonly foldIn: DroppedEdges;
  /** Test edges to items that training never saw, and the test users without a known item. */
  readonly ranking: DroppedEdges;
}

/** Why there is no predictive check: no draws, a split that holds out edges, a ranker, or users in shards. */
export type NoPredictiveCheck = 'no-draws' | 'edges-held-out' | 'ranking-model' | 'in-shards';

/** What `evaluateModel` found: ranking metrics and predictive checks. */
export interface Evaluation {
  readonly method: Split['method'];
  /** Of the users with a history. */
  readonly ranking: RankingResult;
  /** Of the users without one, who get items by their attributes, or popular ones; undefined if there are none. */
  readonly withoutHistory: RankingResult | undefined;
  readonly task: SplitRankingTask;
  readonly scorer: Scorer;
  /** The posterior of the held-out users, in the order of split.foldIn; undefined if edges are held out. */
  readonly folded: ModelSide | undefined;
  readonly drawsGiven: DrawsGiven;
  readonly predictive: PredictiveCheck | undefined;
  readonly draws: readonly PredictiveDraw[];
  /** Why there is no predictive check. */
  readonly predictiveReason: NoPredictiveCheck | undefined;
  /** The names of the two sides. */
  readonly names: SideNames;
  readonly dropped: Dropped;
  /** False: the model was fitted to other data than the split's training part (a note, not an error). */
  readonly fittedToTrain: boolean;
}

/**
 * Folds in the held-out users, ranks the test items for them, and draws test graphs if the model is a posterior.
 * @example
 * import { evaluateModel, fit, simulate, split } from 'graphex';
 * const { graph } = await simulate({ features: 4, users: { size: 30 }, items: { size: 30 }, seed: 1 });
 * const parts = split(graph, { testUsers: 0.3, testItems: 0.3, seed: 1 });
 * const { model } = await fit(parts.train, { features: 4, iterations: 20 });
 * const { ranking } = await evaluateModel(model, parts, { n: 10, draws: 0 });
 * console.log(ranking.all.mean.recall);
 */
export async function evaluateModel(
  model: Model,
  split: Split,
  given: EvaluateOptions = {},
  protocol: Protocol = 'split',
): Promise<Evaluation> {
  const options = withDefaults({ ...EVALUATE, ...TASK }, given);
  const replicas = replicaCount(options.calibrate);
  const predictiveReason = reasonAgainst(model, split, options);
  refuseCorrections(
    options,
    predictiveReason
      ? `there are no intervals to correct, since ${NO_INTERVALS[predictiveReason]}`
      : model.type === 'posterior' && reasonAgainstCalibration(model, options.drawsGiven),
  );
  checkSameData(model, split.train.items.ids);
  if (split.method === 'pq') checkHeldOut(model, split.assignment.users);
  const task = splitRankingTask(split, rankedItems(model, split), undefined, protocol);
  const { folded, dropped, scorer } = await heldOutScores(model, split, task.history, options);
  const ranking = await evaluateRanking(task, scorer, rankingOptions(options));
  const withoutHistory = await rankWithoutHistory(task, rankingOptions(options), model);
  const { drawsGiven } = options;
  let draws: readonly PredictiveDraw[] = [];
  let predictive: PredictiveCheck | undefined;
  if (predictiveReason === undefined && model.type === 'posterior') {
    draws = await drawPredictive(model, folded!, split, drawOptions(options));
    predictive = checkPredictive(draws, observedGraph(model, folded!, split, drawsGiven));
    if (options.correct ?? (replicas === 0 && correctsByItself(model, drawsGiven))) {
      const task = { ...options, draws: draws.length };
      predictive = await correctInternally(model, split, predictive, draws, task);
    }
    if (replicas > 0) {
      const heldOut = { folded: folded!, split };
      predictive = await calibratePredictive(model, heldOut, predictive, draws, { ...options, replicas });
    }
  }
  return Object.freeze({
    method: split.method,
    ranking,
    withoutHistory,
    task,
    scorer,
    folded,
    drawsGiven,
    predictive,
    draws,
    predictiveReason,
    names: model.names ?? split.train.names ?? USERS_AND_ITEMS,
    dropped: {
      foldIn: dropped,
      ranking: {
        edges: task.left.edgesToUnseenItems - dropped.edges,
        users: task.left.usersWithoutHistory,
      },
    },
    fittedToTrain: model.provenance.fingerprint === fingerprint(split.train),
  });
}

/** The items that a model can rank on a split: with `new-items` also those without edges that it has attributes of. */
export function rankedItems(model: Model, { method }: Pick<Split, 'method'>): VertexIds {
  return method === 'new-items' ? catalogueOf(model).ids : model.items.ids;
}

export const NO_INTERVALS: Readonly<Record<NoPredictiveCheck, string>> = {
  'no-draws': 'no draws were asked for; ask for both, or for neither',
  'edges-held-out': 'the split holds out edges; split by pq',
  'ranking-model': 'a ranker has no posterior to draw from; fit with method ascent',
  'in-shards': 'the users are in shards; merge the model, and split the data in one piece',
};

/** Refuses both corrections of intervals if there is a reason against them. */
export function refuseCorrections(options: EvaluateOptions, reason: string | false | undefined): void {
  for (const name of ['calibrate', 'correct'] as const) {
    if (options[name] && reason) throw optionError`${option(name)}: ${reason}`;
  }
}

/** Why there is no predictive check of a model on a split. */
export function reasonAgainst(
  model: Model,
  { method }: Pick<Split, 'method'>,
  { draws }: EvaluateOptions,
): NoPredictiveCheck | undefined {
  if (draws === 0) return 'no-draws';
  if (method !== 'pq') return 'edges-held-out';
  return model.type === 'ranker' ? 'ranking-model' : undefined;
}

/**
 * Ranks what would be served for the users without a history: popular items, or items by attributes for users whom only the
 * model's table about the users has.
 */
export async function rankWithoutHistory(
  { withoutHistory, degree }: SplitRankingTask,
  options: RankingOptions,
  model?: Model,
): Promise<RankingResult | undefined> {
  return (
    withoutHistory &&
    evaluateRanking(withoutHistory, servedScorer(withoutHistory.users, degree, model), options)
  );
}

/** Scores of users without a history. `degree` is that of each item. */
function servedScorer(users: readonly string[], degree: ArrayLike<number>, model: Model | undefined): Scorer {
  const popular = popularityScorer(degree);
  if (!model?.info?.users) return popular;
  const ofAttributes = createAttributeUsers(model);
  return {
    kind: 'rows',
    scores(row, candidates, out) {
      const attributes = attributesOfUser(model, users[row]);
      if (!attributes) return popular.scores(row, candidates, out);
      const { score } = ofAttributes(attributes);
      for (let c = 0; c < candidates.length; c++) out[c] = score(candidates[c]);
    },
  };
}

/** Refuses a model of other data, about which every later message would mislead. */
export function checkSameData(model: Model, ids: VertexIds): void {
  if (model.items.ids.findAll(ids).some((item) => item >= 0)) return;
  throw new InputError(
    "the model knows none of the split's items: evaluate a model with the split it was fitted to",
  );
}

/** Refuses a model that was fitted to a held-out user: every figure would be too good. */
export function checkHeldOut(model: Model, { ids, drawn }: Assignment): void {
  for (let u = 0; u < ids.length; u++) {
    if (drawn[u] && model.users.ids.find(ids.at(u)) >= 0) {
      throw new InputError(
        `user ${shown(ids.at(u))} is held out by the split, and the model was fitted to it: fit the split's training part`,
      );
    }
  }
}
