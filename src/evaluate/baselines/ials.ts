// iALS: factors that approximate 1 on the edges and 0 elsewhere, with a weight α for "elsewhere". The regularization grows with a
// vertex's degree, λ·(degree + α·size of the other side), so that one λ suits rare and popular vertices.

import { leastSquaresMember } from '../../fit/ranking/blend/least-squares.js';
import { alongValues, geometric, type Setting } from '../../metrics/setting-search.js';
import { factorScorer } from '../../predict/scoring/scorer.js';
import { alternatingLeastSquares, foldInLeastSquares } from '../../solvers/least-squares.js';
import type { Baseline, BaselineFitOptions } from './baseline.js';

interface IalsSetting extends Setting {
  readonly features: number;
  readonly lambda: number;
  readonly alpha: number;
}

/**
 * Sweeps with momentum. Compared with 12 sweeps without momentum, the mean of recall and nDCG on held-back users is within 0.2 % on
 * online-retail, julia-general, movietweetings and goodbooks, and 0.7 % higher on @sotu.
 */
const ITERATIONS = 8;
const TUNING_ITERATIONS = 3;
const MOMENTUM = 0.5;
/** The final fit continues from the items of the best trial, so that the sweeps add up to ITERATIONS. */
const FURTHER_ITERATIONS = ITERATIONS - TUNING_ITERATIONS;

/** Relative gain that justifies twice the features. Less is noise of the held-back users. */
export const FEATURES_GAIN = 2e-3;

export const ials: Baseline<'ials'> = {
  name: 'ials',
  title: 'iALS',
  meaning: 'factors by least squares over all pairs, seen or not',
  axes: ({ users, items }) => [
    { lambda: geometric(0.012, 2, 1e-9), alpha: geometric(0.025, 2, 1e-9), features: alongValues(64, [64]) },
    // λ and α hardly depend on the number of features. Each doubling takes four times as long, so the data's size sets the limit.
    {
      features: {
        ...geometric(64, 2, 16, featureLimit(users.offsets.length + items.offsets.length)),
        gain: FEATURES_GAIN,
      },
    },
  ],
  // The penalties grow with the degrees, so a setting that is best on some users is also good for all.
  tuningEdges: 1e6,
  async fit(data, given, options = {}) {
    const how = fitOptions(given as IalsSetting, options);
    const { items } = await alternatingLeastSquares(data, how);
    return {
      setting: { ...given, iterations: how.iterations },
      start: options.tuning ? items : undefined,
      scorer: async (history) =>
        factorScorer(await foldInLeastSquares(items, history, data.shown, how), items, how.features),
    };
  },
  async scores(data, given, options = {}) {
    const member = await leastSquaresMember(data, fitOptions(given as IalsSetting, options));
    return Object.freeze({ kind: 'factors', members: Object.freeze([member]) });
  },
};

function fitOptions({ features, lambda, alpha, ...setting }: IalsSetting, options: BaselineFitOptions) {
  const { tuning, start, seed = 1 } = options;
  const { iterations = tuning ? TUNING_ITERATIONS : start ? FURTHER_ITERATIONS : ITERATIONS } = setting;
  return { ...options, features, lambda, alpha, iterations, momentum: MOMENTUM, seed };
}

/** 512 features gain up to 2 % over 256 on data sets where a fit still takes only minutes (docs/recommending.md). */
function featureLimit(vertices: number): number {
  return vertices <= 45_000 ? 512 : Math.min(256, Math.max(64, Math.sqrt(4e9 / vertices)));
}
