// EASE: linear regression of every candidate on the history, with one ridge penalty. Users of degree d count d^(−2a) times.
//
// In a comparison on a split by pq, the inputs are the items that can appear in a history: weights of other items would never
// be used. A candidate is never its own input, so the closed form W = (XᵀX + λ)⁻¹ XᵀY needs no constraint on the diagonal. For
// serving and on other splits, every item is both an input and a candidate. With P = (XᵀX + λ)⁻¹ the weights with a zero
// diagonal are −P_ij/P_jj. Since W = 1 − λP for Y = X, they equal W_ij/(1 − W_jj).
//
// Conjugate gradients on the sparse X solve both, without forming an items × items matrix. A comparison keeps no weights either: it
// adds the scores of all users from each solution. If a table of weights or scores does not fit in memory, each candidate keeps its
// largest weights.

import { lengths, placesOf, renameLists, transposeLists } from '../../math/csr.js';
import { byFallingValue } from '../../math/nth-largest.js';
import type { RankingData } from '../../metrics/held-back.js';
import { alongValues, geometric, type Setting } from '../../metrics/setting-search.js';
import { bySource } from '../../solvers/combine-weights.js';
import { type RidgeProblem, ridge, ridgeLargest, ridgeScores } from '../../solvers/ridge.js';
import { weighUsers } from '../../solvers/user-weights.js';
import type { SparseWeights } from '../../topn/query.js';
import { type Baseline, type BaselineFitOptions, type FittedBaseline, sharedByTrials } from './baseline.js';
import { itemScorer } from './item-knn.js';
import { MANY_EDGES, TUNING_PAIRS } from './tuning.js';

interface EaseSetting extends Setting {
  readonly lambda: number;
  /** Users of degree d count d^(−2 · users) times. Settings of earlier versions have none: users count alike. */
  readonly users: number;
}

/** The most edges × systems: above it a fit takes many minutes on two threads. */
const MOST_WORK = 4e10;
/** `full`: the most numbers of a table of weights or scores. A larger table is replaced by its largest weights, `largest` in all. */
const TABLE = { full: 2.5e8, largest: 2e7 };

/**
 * Relative residuals at which a system counts as solved; ten times as large above MANY_EDGES. Rankings do not need more digits. On
 * goodbooks, movietweetings and acl-abstracts, 1e-4 changes no list of 20. 1e-3 keeps at least 0.9993 of their entries, and 1e-2
 * keeps 0.993, with recall and nDCG within 0.0005. On @sotu, goodbooks and @simulated-small, 1e-3 finds the same penalty as 1e-4.
 */
const TOLERANCE = { fit: 1e-4, tuning: 1e-3 };

/**
 * The most edges × candidates of a trial, and the least candidates. On @simulated, the best penalty rose in the same way with 256
 * and with 800 candidates.
 */
const TUNING_WORK = { most: 1.7e9, candidates: 256 };

export const ease: Baseline<'ease'> = {
  name: 'ease',
  title: 'EASE',
  meaning: 'every item from all others by ridge regression',
  // Large data sets prefer large penalties, which also take fewer steps.
  axes: (data) => {
    const lambda = geometric(easeEdges(data) > MANY_EDGES ? 3200 : 200, 2, 1e-3);
    return [{ lambda, users: alongValues(0.25, [0, 0.25, 0.5]) }];
  },
  tuningCandidates({ users, edges }) {
    const affordable = Math.max(TUNING_WORK.candidates, Math.floor(TUNING_WORK.most / edges));
    return Math.min(affordable, Math.ceil(TUNING_PAIRS / users));
  },
  standIn: 'slim',
  limit(data, asked) {
    const count = easeEdges(data);
    const candidates = data.candidates.length;
    const byRow = asked !== undefined && asked < candidates && asked * candidates <= TABLE.full;
    if (count * (byRow ? asked : candidates) <= MOST_WORK) return undefined;
    return { code: 'too-large', what: 'edges', count, candidates, ...(byRow && { asked }), limit: MOST_WORK };
  },
  fit: (data, setting, options) => fitEase(data, setting as EaseSetting, options),
  async scores({ users: all, shown, candidates }, setting, options = {}) {
    const { lambda, users: exponent = 0 } = setting as EaseSetting;
    const { users, weights: ofUsers, mean } = weighUsers(all, exponent);
    const count = shown.length;
    const problem = {
      ...{ inputs: users, columns: count, targets: transposeLists(users, count) },
      ...{ weights: exponent === 0 ? undefined : ofUsers, lambda: lambda * mean, tolerance: TOLERANCE.fit },
    };
    if (count * count > TABLE.full) {
      const found = await largestWeights(problem, Int32Array.from(shown.keys()), candidates, options);
      return Object.freeze({ kind: 'items', ...found });
    }
    const weights = await ridge(problem, options);
    for (let j = 0; j < count; j++) {
      const rest = 1 - weights[j * count + j];
      for (let i = 0; i < count; i++) weights[i * count + j] = i === j ? 0 : weights[i * count + j] / rest;
    }
    return Object.freeze({ kind: 'items', offsets: undefined, targets: undefined, weights });
  },
};

/** The largest weights of each candidate, as many as fit in memory. `column` has the column of each item. */
async function largestWeights(
  problem: RidgeProblem,
  column: Int32Array,
  candidates: Uint32Array,
  options: BaselineFitOptions,
): Promise<SparseWeights> {
  const most = Math.max(1, Math.floor(TABLE.largest / candidates.length));
  const ownColumn = Int32Array.from(candidates, (item) => column[item]);
  const found = await ridgeLargest(problem, Math.min(problem.columns, most), ownColumn, options);
  const items = new Uint32Array(problem.columns);
  for (const [item, c] of column.entries()) if (c >= 0) items[c] = item;
  return bySource(found, items, column.length);
}

export function easeEdges({ users, shown }: RankingData): number {
  let edges = 0;
  for (const item of users.values) edges += shown[item];
  return edges;
}

async function fitEase(
  data: RankingData,
  setting: EaseSetting,
  options: BaselineFitOptions = {},
): Promise<FittedBaseline> {
  const { shown, candidates } = data;
  // Of a split that holds out edges, candidates are inputs too: then each needs weights without itself.
  const overlaps = candidates.some((item) => shown[item] === 1);
  const system = systemOf(data, setting.users ?? 0, options);
  const { column } = system;
  const large = system.inputs.values.length > MANY_EDGES;
  const problem = {
    ...system,
    lambda: setting.lambda * system.meanWeight,
    tolerance: (large ? 10 : 1) * (options.tuning ? TOLERANCE.tuning : TOLERANCE.fit),
  };
  const width = candidates.length;
  return {
    setting,
    async scorer(history) {
      if (overlaps || (history.offsets.length - 1) * width > TABLE.full)
        return itemScorer(await largestWeights(problem, column, candidates, options), history);
      const scores = await ridgeScores(problem, renameLists(history, column), options);
      return {
        kind: 'rows',
        scores: (row, _candidates, out) => out.set(scores.subarray(row * width, (row + 1) * width)),
      };
    },
  };
}

/**
 * Inputs and targets of the regression, without the penalty, which is in the unit of the weights. `column` has the column of each
 * item among the inputs, −1 if it is no input. Made once for all penalties of a search with this exponent of users.
 */
const systemOf = sharedByTrials((data, exponent) => {
  const { items, shown, candidates } = data;
  const { users, weights, mean } = weighUsers(data.users, exponent);
  const degree = lengths(items);
  // Ordered by popularity, so that rows which are read often lie together. It takes 0.57 (@simulated) and 0.9 (acl-abstracts) of
  // the time of the original order.
  const ordered = byFallingValue(degree).filter((item) => shown[item] && degree[item] > 0);
  const column = placesOf(ordered, shown.length);
  const ofTargets = renameLists(users, placesOf(candidates, shown.length));
  return {
    column,
    inputs: renameLists(users, column),
    columns: ordered.length,
    targets: transposeLists(ofTargets, candidates.length),
    weights: exponent === 0 ? undefined : weights,
    meanWeight: mean,
  };
});
