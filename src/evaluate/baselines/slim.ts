// SLIM: every item from its nearest items by ridge regression, in closed form (solvers/item-regression.ts). Neighbours are chosen
// first, by what each alone would explain. Dropout of the inputs and their number take the place of the ℓ1 penalty and of the sign
// that the authors have: these came to no more on held-back users (docs/appendix/recommending.md).

import { alongValues, geometric } from '../../metrics/setting-search.js';
import type { TaskOptions } from '../../progress.js';
import { createItemRegression, type ItemRegression } from '../../solvers/item-regression.js';
import type { Baseline, BaselineData, Setting } from './baseline.js';
import { itemScorer } from './item-knn.js';
import { MANY_EDGES, TUNING_PAIRS } from './tuning.js';

interface SlimSetting extends Setting {
  readonly neighbours: number;
  readonly lambda: number;
  readonly dropout: number;
}

/** Twice the neighbours have to be worth their time. */
const NEIGHBOURS_GAIN = 1e-3;
/** Weights in memory, at most. */
const WEIGHTS = 2e7;

export const slim: Baseline<'slim'> = {
  name: 'slim',
  title: 'SLIM',
  meaning: 'every item from its nearest items by ridge regression',
  dials: ({ users, candidates }) => [
    {
      neighbours: {
        ...geometric(100, 2, 25, Math.max(100, Math.min(400, WEIGHTS / candidates.length))),
        gain: NEIGHBOURS_GAIN,
      },
      // Large sets want large penalties.
      lambda: geometric(users.values.length > MANY_EDGES ? 3200 : 50, 4, 1e-3),
      dropout: alongValues(0.5, [0, 0.25, 0.5, 1, 2, 4, 8]),
    },
  ],
  // On held-back users of @simulated 1 M of 6.6 M edges preferred a quarter of the penalty and half of the neighbours.
  tuningEdges: 8e6,
  tuningCandidates: ({ users, edges }) => (edges > MANY_EDGES ? Math.ceil(TUNING_PAIRS / users) : Infinity),
  // Pair counts, which grow with the squares of items and of degrees, have limits of their own.
  limit: () => undefined,
  async fit(data, setting, options = {}) {
    const regression = await (options.tuning ? kept(data, options) : regressionOf(data, options));
    const weights = await regression.solve(setting as SlimSetting, options);
    return { setting, scorer: async (history) => itemScorer(weights, history) };
  },
  async scores({ users, items }, setting, options = {}) {
    const regression = await createItemRegression({ users, items }, options);
    return Object.freeze({ kind: 'items', ...(await regression.solve(setting as SlimSetting, options)) });
  },
};

function regressionOf(data: BaselineData, options: TaskOptions): Promise<ItemRegression> {
  const { users, items, shown, candidates } = data;
  return createItemRegression({ users, items, inputs: shown, targets: candidates }, options);
}

const KEPT = new WeakMap<BaselineData, Promise<ItemRegression>>();

/** Pairs are counted once for all settings that are tried on the same data. */
function kept(data: BaselineData, options: TaskOptions): Promise<ItemRegression> {
  const known = KEPT.get(data) ?? regressionOf(data, options);
  KEPT.set(data, known);
  return known;
}
