// SLIM: ridge regression of every item on its nearest items, in closed form (solvers/item-regression.ts). The neighbours are the
// items that explain most of it alone. Dropout and the number of neighbours replace the authors' ℓ1 penalty and sign constraint,
// which gained nothing on held-back users (docs/appendix/recommending.md).

import { alongValues, geometric, type Setting } from '../../metrics/setting-search.js';
import { createItemRegression } from '../../solvers/item-regression.js';
import { type Baseline, sharedByTrials } from './baseline.js';
import { byItemWeights } from './item-knn.js';
import { MANY_EDGES, TUNING_PAIRS } from './tuning.js';

interface SlimSetting extends Setting {
  readonly neighbours: number;
  readonly lambda: number;
  readonly dropout: number;
  /** Users of degree d count d^(−2 · users) times. */
  readonly users: number;
}

/** Relative gain that justifies twice the neighbours. */
const NEIGHBOURS_GAIN = 1e-3;
/** The most weights in memory. */
const WEIGHTS = 2e7;

export const slim: Baseline<'slim'> = {
  name: 'slim',
  title: 'SLIM',
  meaning: 'every item from its nearest items by ridge regression',
  axes: ({ users, candidates }) => [
    {
      neighbours: {
        ...geometric(100, 2, 25, Math.max(100, Math.min(400, WEIGHTS / candidates.length))),
        gain: NEIGHBOURS_GAIN,
      },
      // Large data sets prefer large penalties.
      lambda: geometric(users.values.length > MANY_EDGES ? 3200 : 50, 4, 1e-3),
      dropout: alongValues(0.5, [0, 0.25, 0.5, 1, 2, 4, 8]),
      users: alongValues(0.25, [0, 0.25, 0.5]),
    },
  ],
  // On @simulated, a search on 1 M of the 6.6 M edges found a quarter of the penalty and half of the neighbours.
  tuningEdges: 8e6,
  tuningCandidates: ({ users, edges }) => (edges > MANY_EDGES ? Math.ceil(TUNING_PAIRS / users) : Infinity),
  // It has no limit, because the regression limits pair counts, which grow with the squares of items and degrees.
  ...byItemWeights(async (data, setting: SlimSetting, options) => {
    const regression = await regressionOf(data, setting.users, options);
    return regression.solve(setting, options);
  }),
};

/** The regression of the data, which counts pairs once for all settings with this exponent of users. */
const regressionOf = sharedByTrials(({ users, items, shown, candidates }, userExponent, options) =>
  createItemRegression({ users, items, inputs: shown, targets: candidates, userExponent }, options),
);
