// EASE: linear regression of every candidate on the history, with one ridge penalty. In a comparison the items that can
// appear in a history are the only inputs (the others would get weights that no history ever uses), and a candidate is
// never its own input, so the closed form W = (XᵀX + λ)⁻¹ XᵀY needs no constraint on the diagonal. For serving every item
// is both: with P = (XᵀX + λ)⁻¹ the weights without a diagonal are −P_ij/P_jj, and since W = 1 − λP for Y = X, that is
// W_ij/(1 − W_jj). Either is solved by conjugate gradients on the sparse X, which forms no items × items matrix. Where users are few
// the same scores come from a system as large as they are: XᵀA with A = (XXᵀ + λ)⁻¹ Y.

import { ridge } from '../../engine/cpu/linear.js';
import { InputError } from '../../errors.js';
import { factorize, solveFactorized } from '../../math/cholesky.js';
import { lengths, renameLists, transposeLists } from '../../ranking/lists.js';
import { geometric } from '../../ranking/tune.js';
import type { Baseline, BaselineData, BaselineFitOptions, FittedBaseline, Setting } from './baseline.js';

interface EaseSetting extends Setting {
  readonly lambda: number;
}

/** Times candidates: beyond this it takes minutes, and its weights do not fit into memory. */
const LIMITS = { edges: 5e9, inputs: 2.5e8 };

/** Users up to whom a dense system of them is solved: 186 took an eighth of the time of conjugate gradients. */
const FEW_USERS = 512;

/** Rankings do not wait for the last digits of the weights: the same penalty as to 1e-4 on @sotu, goodbooks and @simulated-small. */
const TUNING_TOLERANCE = 1e-3;

export const ease: Baseline<'ease'> = {
  name: 'ease',
  title: 'EASE',
  meaning: 'every item from all others by ridge regression',
  dials: () => [{ lambda: geometric(200, 2, 1e-3) }],
  byCandidate: true,
  standIn: 'slim',
  limit(data) {
    const size = easeSize(data);
    const candidates = data.candidates.length;
    for (const what of ['edges', 'inputs'] as const) {
      const [count, limit] = [size[what], LIMITS[what]];
      if (count * candidates > limit) return { code: 'too-large', what, count, candidates, limit };
    }
    return undefined;
  },
  fit: (data, setting, options) => fitEase(data, setting as EaseSetting, options),
  async scores({ users, items }, setting, options = {}) {
    const count = items.offsets.length - 1;
    const { lambda } = setting as EaseSetting;
    const weights = await ridge({ inputs: users, columns: count, targets: items, lambda }, options);
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
  const { users, items, shown, candidates } = data;
  const overlap = candidates.find((item) => shown[item] === 1);
  if (overlap !== undefined) {
    throw new InputError(
      `item ${overlap} is both an input and a candidate: EASE needs them apart, as a pq split has them`,
    );
  }
  const degree = lengths(items);
  const column = new Int32Array(shown.length).fill(-1);
  let columns = 0;
  for (let item = 0; item < shown.length; item++)
    if (shown[item] && degree[item] > 0) column[item] = columns++;
  const target = new Int32Array(shown.length).fill(-1);
  for (let c = 0; c < candidates.length; c++) target[candidates[c]] = c;
  if (users.offsets.length - 1 <= FEW_USERS) return fitByUsers(data, setting, target);
  const weights = await ridge(
    {
      inputs: renameLists(users, column),
      columns,
      targets: transposeLists(renameLists(users, target), candidates.length),
      lambda: setting.lambda,
      tolerance: options.tuning ? TUNING_TOLERANCE : undefined,
    },
    options,
  );
  const width = candidates.length;
  return {
    setting,
    scorer: async (history) => ({
      kind: 'rows',
      scores: (row, _candidates, out) => {
        out.fill(0);
        for (let h = history.offsets[row]; h < history.offsets[row + 1]; h++) {
          const first = column[history.values[h]] * width;
          if (first < 0) continue;
          for (let c = 0; c < width; c++) out[c] += weights[first + c];
        }
      },
    }),
  };
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
