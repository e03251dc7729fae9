// Item-kNN: the score of an item is the sum of its similarities to the items of a user's history. The similarity of history item
// i and candidate j, with training degrees d_i and d_j and c_ij common users, is
//   c_ij / (d_i^history · d_j^candidates + h),
// the cosine if both exponents are ½ and h = 0. h shrinks similarities that few users support; the exponents shift weight between
// popular and rare items. Users of high degree may count less (solvers/user-weights.ts).
// Each candidate keeps its `neighbours` most similar items, among those that can appear in a history.

import type { RankingData } from '../../metrics/held-back.js';
import { alongValues, type Setting } from '../../metrics/setting-search.js';
import type { RowLists, Scorer } from '../../predict/scoring/scorer.js';
import { createItemRegression } from '../../solvers/item-regression.js';
import type { SparseWeights } from '../../topn/query.js';
import { type Baseline, type BaselineFitOptions, sharedByTrials } from './baseline.js';

/** How candidates and history items are compared. */
interface NeighbourSetting extends Setting {
  readonly neighbours: number;
  readonly shrinkage: number;
  /** Exponents of the degrees of history items and of candidates. */
  readonly history: number;
  readonly candidates: number;
  /** Users of degree d count d^(−2 · users) times. */
  readonly users: number;
}

const EXPONENTS = [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1];

export const itemKnn: Baseline<'knn'> = {
  name: 'knn',
  title: 'item-kNN',
  meaning: 'items that the same users have, by a shrunken cosine',
  axes: ({ shown, candidates }) => [
    {
      // All neighbours of all candidates may not fit in memory.
      neighbours: alongValues(100, halvesAndDoubles(100, Math.min(shown.length, 2e7 / candidates.length))),
      shrinkage: alongValues(10, [0, 1, 3, 10, 30, 100, 300, 1000, 3000, 10_000]),
      history: alongValues(0.5, EXPONENTS),
      candidates: alongValues(0.5, EXPONENTS),
      users: alongValues(0.25, [0, 0.25, 0.5]),
    },
  ],
  // The cost of neighbours grows with the squares of the degrees. On @simulated, the best setting for a quarter of the edges
  // differs from the best one for all edges.
  tuningEdges: 8e6,
  ...byItemWeights(async (data, { users, neighbours, ...setting }: NeighbourSetting, options) => {
    const counts = await countsOf(data, users, options);
    return counts.similar({ ...setting, neighbours: Math.floor(neighbours) }, options);
  }),
};

/** Counts common users once for all settings with this exponent of users. */
const countsOf = sharedByTrials(({ users, items, shown, candidates }, userExponent, options) =>
  createItemRegression(
    { users, items, inputs: shown, targets: candidates, userExponent, onlySimilar: true },
    options,
  ),
);

/** The number, its halves (rounded up) down to 1, and its doubles up to `most`. */
function halvesAndDoubles(start: number, most: number): number[] {
  const values = [start];
  for (let half = start; half > 1; values.unshift(half)) half = Math.ceil(half / 2);
  for (let double = 2 * start; double <= most; double *= 2) values.push(double);
  return values;
}

/** The fit and the scores of a baseline whose model is a table of weights from history items to candidates. */
export function byItemWeights<S extends Setting>(
  weightsOf: (data: RankingData, setting: S, options: BaselineFitOptions) => Promise<SparseWeights>,
): Pick<Baseline, 'fit' | 'scores'> {
  return {
    async fit(data, setting, options = {}) {
      const weights = await weightsOf(data, setting as S, options);
      return { setting, scorer: async (history) => itemScorer(weights, history) };
    },
    async scores(data, setting, options = {}) {
      return Object.freeze({ kind: 'items', ...(await weightsOf(data, setting as S, options)) });
    },
  };
}

/** Scores are sums of weights over the items of a row's history. `targets` are positions among the candidates. */
export function itemScorer({ offsets, targets, weights }: SparseWeights, history: RowLists): Scorer {
  return {
    kind: 'rows',
    scores: (row, _candidates, out) => {
      out.fill(0);
      for (let h = history.offsets[row]; h < history.offsets[row + 1]; h++) {
        const source = history.values[h];
        for (let e = offsets[source]; e < offsets[source + 1]; e++) out[targets[e]] += weights[e];
      }
    },
  };
}
