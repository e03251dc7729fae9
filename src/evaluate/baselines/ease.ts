// EASE: linear regression of every candidate on the history, with one ridge penalty. In a comparison the items that can
// appear in a history are the only inputs (the others would get weights that no history ever uses), and a candidate is
// never its own input, so the closed form W = (XᵀX + λ)⁻¹ XᵀY needs no constraint on the diagonal. For serving every item
// is both: with P = (XᵀX + λ)⁻¹ the weights without a diagonal are −P_ij/P_jj, and since W = 1 − λP for Y = X, that is
// W_ij/(1 − W_jj). Either is solved by conjugate gradients on the sparse X, which forms no items × items matrix; in a comparison
// no weights are kept either, as scores of all who ask are added up from each solution. Where users are few
// the same scores come from a system as large as they are: XᵀA with A = (XXᵀ + λ)⁻¹ Y.

import { InputError } from '../../errors.js';
import { factorize, solveFactorized } from '../../math/cholesky.js';
import { lengths, renameLists, transposeLists } from '../../math/csr.js';
import { geometric } from '../../metrics/setting-search.js';
import { type RidgeProblem, ridge, ridgeScores } from '../../solvers/ridge.js';
import type { Baseline, BaselineData, BaselineFitOptions, FittedBaseline, Setting } from './baseline.js';
import { MANY_EDGES, TUNING_PAIRS } from './tuning.js';

interface EaseSetting extends Setting {
  readonly lambda: number;
}

/**
 * Edges × systems, weights (inputs × candidates) of a ranker that is served, and scores (users × candidates) of a comparison: beyond
 * the first it takes many minutes of two threads, the others do not fit into memory.
 */
const LIMITS = { edges: 4e10, inputs: 2.5e8, users: 2.5e8 };

/** Users up to whom a dense system of them is solved: 186 took an eighth of the time of conjugate gradients. */
const FEW_USERS = 512;

/**
 * Sizes of the residual at which a system is done. Rankings do not wait for the last digits: of lists of 20 on goodbooks, movietweetings
 * and acl-abstracts 1e-4 leaves all as they are, 1e-3 .9993 and more of their entries, 1e-2 .993, recall and nDCG to .0005; a penalty found
 * with 1e-3 was that found with 1e-4 on @sotu, goodbooks and @simulated-small. Beyond MANY_EDGES both are ten times that.
 */
const TOLERANCE = { fit: 1e-4, tuning: 1e-3 };

/** Edges × candidates that a trial may come to, down to so many candidates: on @simulated the penalty rose alike with 256 and with 800. */
const TUNING_WORK = { most: 1.7e9, candidates: 256 };

export const ease: Baseline<'ease'> = {
  name: 'ease',
  title: 'EASE',
  meaning: 'every item from all others by ridge regression',
  // Large sets want large penalties, which take fewer steps besides.
  dials: (data) => [{ lambda: geometric(easeSize(data).edges > MANY_EDGES ? 3200 : 200, 2, 1e-3) }],
  tuningCandidates({ users, edges }) {
    const affordable = Math.max(TUNING_WORK.candidates, Math.floor(TUNING_WORK.most / edges));
    return Math.min(affordable, Math.ceil(TUNING_PAIRS / users));
  },
  standIn: 'slim',
  limit(data, asked) {
    const { edges, inputs } = easeSize(data);
    const candidates = data.candidates.length;
    const reason = (what: keyof typeof LIMITS, count: number) =>
      ({ code: 'too-large', what, count, candidates, limit: LIMITS[what] }) as const;
    const beyond = (what: keyof typeof LIMITS, count: number, times: number) =>
      count * times > LIMITS[what] ? reason(what, count) : undefined;
    if (asked === undefined)
      return beyond('edges', edges, candidates) ?? beyond('inputs', inputs, candidates);
    const users = data.users.offsets.length - 1;
    if (users <= FEW_USERS) return beyond('users', users, candidates);
    const systems = beyond('edges', edges, Math.min(asked, candidates));
    if (systems) return asked < candidates ? { ...systems, asked } : systems;
    return beyond('users', asked, candidates);
  },
  fit: (data, setting, options) => fitEase(data, setting as EaseSetting, options),
  async scores({ users, items }, setting, options = {}) {
    const count = items.offsets.length - 1;
    const { lambda } = setting as EaseSetting;
    const weights = await ridge(
      { inputs: users, columns: count, targets: items, lambda, tolerance: TOLERANCE.fit },
      options,
    );
    for (let j = 0; j < count; j++) {
      const rest = 1 - weights[j * count + j];
      for (let i = 0; i < count; i++) weights[i * count + j] = i === j ? 0 : weights[i * count + j] / rest;
    }
    return Object.freeze({ kind: 'items', offsets: undefined, targets: undefined, weights });
  },
};

/** Items that are inputs, and their edges. */
export function easeSize({ users, items, shown }: BaselineData): { edges: number; inputs: number } {
  const degree = lengths(items);
  const inputs = shown.filter((s, item) => s && degree[item] > 0).length;
  let edges = 0;
  for (const item of users.values) edges += shown[item];
  return { edges, inputs };
}

async function fitEase(
  data: BaselineData,
  setting: EaseSetting,
  options: BaselineFitOptions = {},
): Promise<FittedBaseline> {
  const { users, shown, candidates } = data;
  const overlap = candidates.find((item) => shown[item] === 1);
  if (overlap !== undefined) {
    throw new InputError(
      `item ${overlap} is both an input and a candidate: EASE needs them apart, as a pq split has them`,
    );
  }
  if (users.offsets.length - 1 <= FEW_USERS) return fitByUsers(data, setting, targetOf(data));
  const { column, ...system } = options.tuning ? kept(data) : systemOf(data);
  const large = system.inputs.values.length > MANY_EDGES;
  const problem = {
    ...system,
    lambda: setting.lambda,
    tolerance: (large ? 10 : 1) * (options.tuning ? TOLERANCE.tuning : TOLERANCE.fit),
  };
  const width = candidates.length;
  return {
    setting,
    async scorer(history) {
      const scores = await ridgeScores(problem, renameLists(history, column), options);
      return {
        kind: 'rows',
        scores: (row, _candidates, out) => out.set(scores.subarray(row * width, (row + 1) * width)),
      };
    },
  };
}

/** What is regressed on what, whatever the penalty. */
interface EaseSystem extends Pick<RidgeProblem, 'inputs' | 'columns' | 'targets'> {
  /** Per item its column among the inputs, −1: none. */
  readonly column: Int32Array;
}

function systemOf(data: BaselineData): EaseSystem {
  const { users, items, shown, candidates } = data;
  const degree = lengths(items);
  // By popularity: rows that are gathered often lie together, which took .57 (@simulated) and .9 (acl-abstracts) of the time.
  const ordered = Uint32Array.from(shown.keys())
    .filter((item) => shown[item] && degree[item] > 0)
    .sort((a, b) => degree[b] - degree[a] || a - b);
  const column = new Int32Array(shown.length).fill(-1);
  for (const [at, item] of ordered.entries()) column[item] = at;
  return {
    column,
    inputs: renameLists(users, column),
    columns: ordered.length,
    targets: transposeLists(renameLists(users, targetOf(data)), candidates.length),
  };
}

/** Per item its position among the candidates, −1: none. */
function targetOf({ shown, candidates }: BaselineData): Int32Array {
  const target = new Int32Array(shown.length).fill(-1);
  for (let c = 0; c < candidates.length; c++) target[candidates[c]] = c;
  return target;
}

const KEPT = new WeakMap<BaselineData, EaseSystem>();

/** The same, made once for all penalties that are tried on the same data. */
function kept(data: BaselineData): EaseSystem {
  const known = KEPT.get(data) ?? systemOf(data);
  KEPT.set(data, known);
  return known;
}

/** The same scores by what a history has in common with the users: no weight between items is formed. */
function fitByUsers(
  { users, items, shown, candidates }: BaselineData,
  setting: EaseSetting,
  target: Int32Array,
): FittedBaseline {
  const count = users.offsets.length - 1;
  const width = candidates.length;
  const common = new Float64Array(count * count);
  for (let item = 0; item < shown.length; item++) {
    if (!shown[item]) continue;
    const own = items.values.subarray(items.offsets[item], items.offsets[item + 1]);
    for (const user of own) for (const other of own) common[user * count + other]++;
  }
  for (let user = 0; user < count; user++) common[user * count + user] += setting.lambda;
  factorize(common, count);
  const weights = new Float64Array(count * width);
  for (let user = 0; user < count; user++) {
    for (let e = users.offsets[user]; e < users.offsets[user + 1]; e++) {
      const at = target[users.values[e]];
      if (at >= 0) weights[user * width + at] = 1;
    }
  }
  solveFactorized(common, count, weights, width);
  const shared = new Uint32Array(count);
  return {
    setting,
    scorer: async (history) => ({
      kind: 'rows',
      scores: (row, _candidates, out) => {
        shared.fill(0);
        for (let h = history.offsets[row]; h < history.offsets[row + 1]; h++) {
          const item = history.values[h];
          if (!shown[item]) continue;
          for (let e = items.offsets[item]; e < items.offsets[item + 1]; e++) shared[items.values[e]]++;
        }
        out.fill(0);
        for (let user = 0; user < count; user++) {
          if (shared[user] === 0) continue;
          const first = user * width;
          for (let c = 0; c < width; c++) out[c] += shared[user] * weights[first + c];
        }
      },
    }),
  };
}
