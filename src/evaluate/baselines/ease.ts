// EASE: linear regression of every candidate on the history, with one ridge penalty. The items that can appear in a
// history are the only inputs (the others would get weights that no history ever uses), and a candidate is never its
// own input, so the closed form W = (XᵀX + λ)⁻¹ XᵀY needs no constraint on the diagonal. It is solved by conjugate
// gradients on the sparse X, which forms no items × items matrix.

import { ridge } from '../../engine/cpu/linear.js';
import { InputError } from '../../errors.js';
import type { TaskOptions } from '../../progress.js';
import type { BaselineData, FittedBaseline, Setting } from './baseline.js';
import { lengths, renameLists, transposeLists } from './baseline.js';

export interface EaseSetting extends Setting {
  readonly lambda: number;
}

/** What `fitEase` would have to do: entries of the inputs times candidates, and entries of the weights. */
export function easeSize({ users, items, shown, candidates }: BaselineData): {
  work: number;
  weights: number;
} {
  const degree = lengths(items);
  const inputs = shown.filter((s, item) => s && degree[item] > 0).length;
  let entries = 0;
  for (const item of users.values) entries += shown[item];
  return { work: entries * candidates.length, weights: inputs * candidates.length };
}

export async function fitEase(
  data: BaselineData,
  setting: EaseSetting,
  options: TaskOptions = {},
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
  const weights = await ridge(
    {
      inputs: renameLists(users, column),
      columns,
      targets: transposeLists(renameLists(users, target), candidates.length),
      lambda: setting.lambda,
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
