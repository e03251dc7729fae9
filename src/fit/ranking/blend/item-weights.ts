// Item-to-item weights that a ranker adds to its scores. Every item is regressed on its nearest items, once on many and once on
// few; the sum ranks better than either (docs/appendix/recommending.md). Held-back users decide the number of neighbours and
// the penalties.

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

/** Settings of the item-to-item weights. */
export interface WeightSetting extends Setting {
  /** Number of inputs of each item; `lambda` is the penalty of their squared weights. */
  readonly neighbours: number;
  readonly lambda: number;
  /** Additional penalty per user of the input: equivalent to dropout of inputs. */
  readonly dropout: number;
}

/** The regression on few items: their number, and the factor of the dropout. */
const NEAREST = { neighbours: 10, dropout: 0.5 };

/** Where the search starts; also the setting if there are too few users to hold any back. */
export const DEFAULT_WEIGHTS: WeightSetting = { neighbours: 100, lambda: 12, dropout: 0.5 };
/** The most settings to try, and the least gain of a step: with 1,000 held-back users a smaller gain is chance. */
const SEARCH = { maxTrials: 14, gain: 2e-3 };
/** Share of the least-squares scores while the weights are searched. */
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

/** The setting whose weights, added to the least-squares scores, rank the hidden items of held-back users best. */
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
