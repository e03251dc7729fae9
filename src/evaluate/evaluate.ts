// A model on a split: fold-in, recommendation metrics, predictive checks.

import { InputError } from '../errors.js';
import type { Model, ModelSide, PosteriorModel, Ranker, Vertices } from '../fit/model.js';
import { fingerprint } from '../graph/fingerprint.js';
import type { BipartiteGraph } from '../graph/graph.js';
import type { VertexIds } from '../graph/ids.js';
import type { RankingResult } from '../metrics/ranking-metrics.js';
import { withDefaults } from '../options/check-options.js';
import { EVALUATE } from '../options/commands/evaluate.js';
import type { OptionsOf } from '../options/declare.js';
import { option, optionError } from '../options/error.js';
import { TASK } from '../options/shared.js';
import { drawOptions, drawPredictive, type PredictiveDraw } from '../predict/draw/draw.js';
import type { DrawsGiven } from '../predict/draw/draw-plan.js';
import {
  modelScorer,
  type RowLists,
  type Scorer,
  type SharedFactors,
  sumOfFactors,
} from '../predict/scoring/scorer.js';
import type { TaskOptions } from '../progress.js';
import type { Assignment, Split } from '../sample/split-types.js';
import { type SideNames, USERS_AND_ITEMS } from '../text/sides.js';
import { shown } from '../text/untrusted.js';
import { addWeights } from '../topn/query.js';
import { calibratePredictive, reasonAgainstCalibration, replicaCount } from './calibrate.js';
import { evaluateRanking, rankingOptions } from './evaluate-ranking.js';
import { type DroppedEdges, foldHeldOut, foldHeldOutMember, knownFoldIn, observedGraph } from './held-out.js';
import { correctInternally, correctsByItself } from './internal-check.js';
import { checkPredictive, type PredictiveCheck } from './predictive.js';
import { type SplitRankingTask, splitRankingTask } from './split-task.js';

/** How a model is judged on a split; declared in options/commands.ts. */
export interface EvaluateOptions extends OptionsOf<typeof EVALUATE>, TaskOptions {}

/** Edges that carry no parameters, by what could not use them. */
export interface Dropped {
  /** Fold-in edges to items that training never saw, and the held-out users whose every fold-in edge is such. */
  readonly foldIn: DroppedEdges;
  /** Test edges to items that training never saw, and the test users with no known item to go by. */
  readonly ranking: DroppedEdges;
}

/** Why a test graph cannot be drawn: nobody asked, edges were held out, the model was fitted for ranking, or users are in shards. */
export type NoPredictiveCheck = 'no-draws' | 'edges-held-out' | 'ranking-model' | 'in-shards';

/** What `evaluateModel` found: ranking metrics and predictive checks. */
export interface Evaluation {
  readonly method: Split['method'];
  readonly ranking: RankingResult;
  readonly task: SplitRankingTask;
  readonly scorer: Scorer;
  /** The posterior of the split's held-out users, in the order of split.foldIn; undefined where edges were held out. */
  readonly folded: ModelSide | undefined;
  readonly drawsGiven: DrawsGiven;
  readonly predictive: PredictiveCheck | undefined;
  readonly draws: readonly PredictiveDraw[];
  /** Why there is no predictive check. */
  readonly predictiveReason: NoPredictiveCheck | undefined;
  /** What the two sides are called. */
  readonly names: SideNames;
  readonly dropped: Dropped;
  /** False: the model was fitted to other data than the split's training part (a note, not an error). */
  readonly fittedToTrain: boolean;
}

/**
 * Folds in the held-out users, ranks the test items for them, and draws test graphs, where the model is a posterior.
 */
export async function evaluateModel(
  model: Model,
  split: Split,
  given: EvaluateOptions = {},
): Promise<Evaluation> {
  const options = withDefaults({ ...EVALUATE, ...TASK }, given);
  const replicas = replicaCount(options.calibrate);
  const predictiveReason = reasonAgainst(model, split, options);
  if (replicas > 0) {
    if (predictiveReason !== undefined) {
      throw optionError`${option('calibrate')}: there are no intervals to correct, since ${NO_INTERVALS[predictiveReason]}`;
    }
    const against = model.type === 'posterior' && reasonAgainstCalibration(model, options.drawsGiven);
    if (against) throw optionError`${option('calibrate')}: ${against}`;
  }
  if (options.correct) {
    const against =
      predictiveReason !== undefined
        ? NO_INTERVALS[predictiveReason]
        : model.type === 'posterior' && reasonAgainstCalibration(model, options.drawsGiven);
    if (against) throw optionError`${option('correct')}: ${against}`;
  }
  checkSameData(model, split.train.items.ids);
  if (split.method === 'pq') checkHeldOut(model, split.assignment.users);
  const task = splitRankingTask(split, model.items.ids);
  const { folded, dropped, scorer } = await heldOutScores(model, split, options);
  const ranking = await evaluateRanking(task, scorer, rankingOptions(options));
  const { drawsGiven } = options;
  let draws: readonly PredictiveDraw[] = [];
  let predictive: PredictiveCheck | undefined;
  if (predictiveReason === undefined && model.type === 'posterior') {
    draws = await drawPredictive(model, folded!, split, drawOptions(options));
    predictive = checkPredictive(draws, observedGraph(model, folded!, split, drawsGiven));
    if (options.correct ?? (replicas === 0 && correctsByItself(model, drawsGiven))) {
      const { seed = 1, sizes = 'posterior', engine = 'auto', threads, signal, onProgress } = options;
      predictive = await correctInternally(model, split, predictive, draws, {
        ...{ draws: draws.length, seed, sizes, engine },
        ...{ threads, signal, onProgress },
      });
    }
    if (replicas > 0) {
      const heldOut = { folded: folded!, split };
      predictive = await calibratePredictive(model, heldOut, predictive, draws, { ...options, replicas });
    }
  }
  return Object.freeze({
    method: split.method,
    ranking,
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

export const NO_INTERVALS: Readonly<Record<NoPredictiveCheck, string>> = {
  'no-draws': 'no draws were asked for; ask for both, or for neither',
  'edges-held-out': 'the split holds out edges; split by pq',
  'ranking-model': 'a ranker has no posterior to draw from; fit with method ascent',
  'in-shards': 'the users are in shards; merge the model, and split the data in one piece',
};

function reasonAgainst(
  model: Model,
  split: Split,
  { draws = 100 }: EvaluateOptions,
): NoPredictiveCheck | undefined {
  if (draws === 0) return 'no-draws';
  if (split.method !== 'pq') return 'edges-held-out';
  return model.type === 'ranker' ? 'ranking-model' : undefined;
}

/** What scores the held-out users, who are folded in. */
export function heldOutScores(model: Model, split: Split, options: EvaluateOptions): Promise<HeldOutScores> {
  return model.type === 'posterior'
    ? posteriorScorer(model, split, options)
    : rankerScorer(model, split, options);
}

export interface HeldOutScores {
  readonly scorer: Scorer;
  readonly folded: ModelSide | undefined;
  readonly dropped: DroppedEdges;
}

async function posteriorScorer(
  model: PosteriorModel,
  split: Split,
  options: EvaluateOptions,
): Promise<HeldOutScores> {
  const { folded, dropped } = await foldHeldOut(model, split, options);
  if (!folded) checkUsers(model.users, split.train);
  return { folded, dropped, scorer: modelScorer(folded ?? model.users, model.items, model.features) };
}

async function rankerScorer(model: Ranker, split: Split, options: EvaluateOptions): Promise<HeldOutScores> {
  const { scores } = model;
  const known = split.method !== 'pq';
  if (known && model.users.count > 0) checkUsers(model.users, split.train);
  const dropped = known ? { edges: 0, users: 0 } : knownFoldIn(model, split).dropped;
  if (scores.kind !== 'factors') {
    const { history } = splitRankingTask(split, model.items.ids);
    return { folded: undefined, dropped, scorer: rowScorer(model, scores, history) };
  }
  const parts: SharedFactors[] = [];
  for (const member of scores.members) {
    const users =
      known && member.users ? member.users : await foldHeldOutMember(model, member, split, options);
    parts.push({ users, items: member.items, features: member.features, share: member.share });
  }
  const beside = scores.itemWeights && {
    ...scores.itemWeights,
    history: splitRankingTask(split, model.items.ids).history,
  };
  return { folded: undefined, dropped, scorer: sumOfFactors(parts, beside) };
}

/** The same list for everyone. */
export function popularityScorer(degree: ArrayLike<number>): Scorer {
  return {
    kind: 'rows',
    scores: (_row, candidates, out) => {
      for (let c = 0; c < candidates.length; c++) out[c] = degree[candidates[c]];
    },
  };
}

/** Scores that are no products of tables: sums of weights from what a user has, or the degrees. */
function rowScorer(
  { items }: Ranker,
  scores: Exclude<Ranker['scores'], { kind: 'factors' }>,
  history: RowLists,
): Scorer {
  if (scores.kind === 'popularity') return popularityScorer(items.degree);
  const all = new Float32Array(items.count);
  return {
    kind: 'rows',
    scores: (row, candidates, out) => {
      all.fill(0);
      for (let h = history.offsets[row]; h < history.offsets[row + 1]; h++) {
        addWeights(scores, history.values[h], all);
      }
      for (let c = 0; c < candidates.length; c++) out[c] = all[candidates[c]];
    },
  };
}

/** The model's rows are in the order of the training users. */
function checkUsers(side: Vertices, train: BipartiteGraph): void {
  const { ids } = train.users;
  if (ids.length !== side.count) throw otherUsers();
  for (let u = 0; u < ids.length; u++) if (ids.at(u) !== side.ids.at(u)) throw otherUsers();
}

function otherUsers(): InputError {
  return new InputError(
    "the model's users are not those of the split's training part: evaluate a model with the split it was fitted to",
  );
}

/** A model of other data knows none of the items, and every message that follows would mislead. */
export function checkSameData(model: Model, ids: VertexIds): void {
  for (let j = 0; j < ids.length; j++) if (model.items.ids.find(ids.at(j)) >= 0) return;
  throw new InputError(
    "the model knows none of the split's items: evaluate a model with the split it was fitted to",
  );
}

/** A held-out user that training saw would make every figure too good. */
export function checkHeldOut(model: Model, { ids, drawn }: Assignment): void {
  for (let u = 0; u < ids.length; u++) {
    if (drawn[u] && model.users.ids.find(ids.at(u)) >= 0) {
      throw new InputError(
        `user ${shown(ids.at(u))} is held out by the split, and the model was fitted to it: fit the split's training part`,
      );
    }
  }
}
