// iALS: factors that approximate 1 on the edges and 0 elsewhere, with a weight α for "elsewhere", and a regularization
// that grows with a vertex's degree, λ·(degree + α·size of the other side), so that one λ serves rare and popular.

import { alternatingLeastSquares, foldInLeastSquares } from '../../engine/cpu/linear.js';
import { factorScorer } from '../../predict/rank.js';
import type { TaskOptions } from '../../progress.js';
import type { BaselineData, FittedBaseline, Setting } from './baseline.js';

export interface IalsSetting extends Setting {
  readonly features: number;
  readonly lambda: number;
  readonly alpha: number;
  readonly iterations: number;
}

export async function fitIals(
  data: BaselineData,
  setting: IalsSetting,
  options: TaskOptions & { readonly seed?: number | undefined } = {},
): Promise<FittedBaseline> {
  const { features, lambda, alpha } = setting;
  const tables = await alternatingLeastSquares(data, {
    ...options,
    features,
    lambda,
    alpha,
    iterations: setting.iterations,
    seed: options.seed ?? 1,
  });
  return {
    setting,
    async scorer(history) {
      const users = await foldInLeastSquares(tables.items, history, data.shown, {
        ...options,
        features,
        lambda,
        alpha,
      });
      return factorScorer(users, tables.items, features);
    },
  };
}
