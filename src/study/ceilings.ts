// Two ceilings, if the true parameters are known. Ranking by all of them is beyond every method. Fold-in with the true items is
// the fair ceiling: a perfect fit of the items reaches it.

import { evaluateRanking, type RankingOptions } from '../evaluate/evaluate-ranking.js';
import { historyOf, type SplitRankingTask } from '../evaluate/split-task.js';
import { foldIn } from '../fit/fold-in/fold-in.js';
import { type ModelSide, meanTable, type PosteriorModel } from '../fit/model.js';
import { type BipartiteGraph, degrees, type GraphSide } from '../graph/graph.js';
import { allocate } from '../math/memory.js';
import { unseenMass } from '../math/quadrature.js';
import { factorScorer, type Scorer } from '../predict/scoring/scorer.js';
import { positions } from '../sample/split.js';
import type { Split } from '../sample/split-types.js';
import { VERSION } from '../version.js';
import { PLAIN_ROW, type RankedMethod } from './leaderboard.js';
import type { StudyTruth, TrueSide } from './options.js';

/** `graph` is the whole graph, in the order of the truth. */
export async function rankingCeilings(
  graph: BipartiteGraph,
  split: Split,
  task: SplitRankingTask,
  truth: StudyTruth,
  options: RankingOptions,
): Promise<readonly RankedMethod[]> {
  const K = truth.features;
  const trainItems = pickRows(
    trueMeans(truth.items, K),
    positions(graph.items.ids, split.train.items.ids),
    K,
  );
  const history = historyOf(split);
  const users = positions(graph.users.ids, history.users.ids);
  const byTruth = factorScorer(pickRows(trueMeans(truth.users, K), users, K), trainItems, K);
  const model = trueModel(graph, truth);
  const folded = await foldIn(model, history, {
    threads: options.threads,
    signal: options.signal,
    onProgress: options.onProgress,
    eligible: split.assignment.items.drawn.map((drawn) => 1 - drawn),
    // As the held-out users of the models are folded in.
    activity: 'mean',
    unseenShare: 0,
  });
  const byFoldIn = factorScorer(meanTable(folded, K), trainItems, K);
  const row = async (id: string, scorer: Scorer): Promise<RankedMethod> => {
    const ranking = await evaluateRanking(task, scorer, options);
    return { ...PLAIN_ROW, id, kind: 'ceiling', ranking };
  };
  return [await row('ceiling-fold-in', byFoldIn), await row('ceiling-truth', byTruth)];
}

function trueMeans({ weights, features }: TrueSide, K: number): Float32Array {
  return Float32Array.from(features, (value, e) => value * weights[Math.floor(e / K)]);
}

function pickRows(table: Float32Array, rows: Uint32Array, K: number): Float32Array {
  const picked = allocate(Float32Array, rows.length * K);
  rows.forEach((row, r) => {
    picked.set(table.subarray(row * K, (row + 1) * K), r * K);
  });
  return picked;
}

/** A Gamma of this shape is a point for every purpose: its mean and exp E log differ by one part in two million. */
const POINT_SHAPE = 1e6;
/** Rates stay within float32. */
const LEAST_VALUE = 1e-28;

/** The truth as a model without uncertainty. */
function trueModel(graph: BipartiteGraph, truth: StudyTruth): PosteriorModel {
  const K = truth.features;
  const userMass = new Float64Array(K);
  for (let e = 0; e < truth.users.features.length; e++) {
    userMass[e % K] += truth.users.weights[Math.floor(e / K)] * truth.users.features[e];
  }
  return Object.freeze({
    type: 'posterior',
    kind: 'sparse',
    features: K,
    multigraph: graph.multigraph,
    users: pointSide(graph.users, truth.users, new Float64Array(K)),
    // The expected mass of the items without a user.
    items: pointSide(graph.items, truth.items, unseenMass(truth.items.prior, userMass)),
    bound: undefined,
    provenance: {
      version: VERSION,
      seed: 0,
      fingerprint: '',
      options: {},
      bounds: [],
      iterations: 0,
      converged: true,
    },
  });
}

function pointSide(side: GraphSide, truth: TrueSide, unseenMass: Float64Array): ModelSide {
  const rates = (values: Float64Array) =>
    Float32Array.from(values, (value) => POINT_SHAPE / Math.max(value, LEAST_VALUE));
  return Object.freeze({
    count: side.count,
    ids: side.ids,
    weightShape: new Float32Array(side.count).fill(POINT_SHAPE),
    weightRate: rates(truth.weights),
    featureShape: new Float32Array(truth.features.length).fill(POINT_SHAPE),
    featureRate: rates(truth.features),
    unseenMass,
    hyper: truth.prior,
    degree: degrees(side),
  });
}
