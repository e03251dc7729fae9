// Weights between items that a ranker adds to its scores: every item regressed on those nearest to it, once on many and once on
// few. The many see what is alike at large, the few what belongs together, and the sum ranks better than either
// (docs/recommending.md). How many, and how much they are held down, is found on held-back users of the data at hand.

import { throwIfAborted } from '../../../errors.js';
import {
  alongValues,
  geometric,
  type Setting,
  type SettingTrial,
  searchSettings,
} from '../../../metrics/setting-search.js';
import type { TaskOptions } from '../../../progress.js';
import {
  createItemRegression,
  openItemRegression,
  type RegressionSetting,
} from '../../../solvers/item-regression.js';
import type { FactorTables, SparseWeights } from '../../../topn/query.js';
import type { EdgeLists, HeldBackUsers } from './held-back.js';

/** How the weights between items of a ranker are made. */
export interface WeightSetting extends Setting {
  /** Inputs of each item, and the penalty of their squared weights. */
  readonly neighbours: number;
  readonly lambda: number;
  /** What each input's number of users adds to that, times this: what leaving out inputs at random comes to. */
  readonly dropout: number;
}

/** The few nearest, and how much of the dropout they have. */
const NEAREST = { neighbours: 10, dropout: 0.5 };

/** Where the search begins, and what is taken where there is nobody to search on. */
export const DEFAULT_WEIGHTS: WeightSetting = { neighbours: 100, lambda: 12, dropout: 0.5 };
/** Settings tried at most, and what a step has to gain: less is chance where a thousand users judge. */
const SEARCH = { maxTrials: 14, gain: 2e-3 };
/** Of the least squares for each of the weights while the weights are searched. */
const SHARE = 0.25;

export async function itemWeights(
  edges: EdgeLists,
  setting: WeightSetting,
  options: TaskOptions,
): Promise<SparseWeights> {
  const regression = await createItemRegression(edges, options);
  return regression.solve(regressionSetting(setting), options);
}

function regressionSetting({ neighbours, lambda, dropout }: WeightSetting): RegressionSetting {
  const nearest = { neighbours: NEAREST.neighbours, dropout: NEAREST.dropout * dropout };
  return { neighbours, lambda, dropout, nearest };
}

export interface FoundWeights {
  readonly setting: WeightSetting;
  readonly score: number;
  readonly trials: readonly SettingTrial[];
}

/** The setting whose weights, with the least squares beside them, rank the hidden items of held-back users best. */
export async function searchWeights(
  trial: HeldBackUsers,
  tables: FactorTables,
  { threads, signal, onProgress }: TaskOptions,
): Promise<FoundWeights> {
  const { data, history } = trial;
  const task = { threads, signal };
  const regression = await openItemRegression({ ...data, targets: data.candidates }, task);
  const users = tables.users.map((value) => SHARE * value);
  const score = async (setting: Setting) => {
    throwIfAborted(signal);
    const weights = await regression.solve(regressionSetting(setting as WeightSetting), task);
    return trial.score({ ...tables, users, itemWeights: { ...weights, history } }, task);
  };
  const { neighbours, lambda, dropout } = DEFAULT_WEIGHTS;
  const dials = {
    lambda: geometric(lambda, 4, 0.5, 1000),
    neighbours: alongValues(neighbours, [25, 50, 100, 200]),
    dropout: alongValues(dropout, [0.125, 0.25, 0.5, 1, 2, 4]),
  };
  try {
    const { best, trials } = await searchSettings(dials, score, {
      ...SEARCH,
      onTrial: (done) =>
        onProgress?.({
          stage: 'weights on held-back users',
          done,
          total: SEARCH.maxTrials,
          unit: 'settings',
        }),
    });
    return { setting: best.setting as WeightSetting, score: best.score, trials };
  } finally {
    await regression.close();
  }
}
