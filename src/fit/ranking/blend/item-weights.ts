// Item-to-item weights that a ranker adds to its scores. They come from regressions of every item on its nearest items, once on
// many and once on few, and from similarities of items if they help (docs/appendix/recommending.md). Users and items count by their degrees. Held-back
// users decide the number of neighbours, the penalties, the exponents of the degrees, and the share of the similarities.

import { throwIfAborted } from '../../../errors.js';
import { lengths } from '../../../math/csr.js';
import {
  alongValues,
  geometric,
  type Setting,
  type SettingAxis,
  searchSettings,
} from '../../../metrics/setting-search.js';
import type { TaskOptions } from '../../../progress.js';
import { addScaled, degreeScale, scaleTargets, timesFactor } from '../../../solvers/combine-weights.js';
import {
  createItemRegression,
  type ItemRegression,
  type RegressionSetting,
} from '../../../solvers/item-regression.js';
import { emptyProducts, type FactorTables, type SparseWeights } from '../../../topn/query.js';
import type { EdgeLists, HeldBackUsers } from './held-back-users.js';

/** Settings of the item-to-item weights. */
export interface WeightSetting extends Setting {
  /** Number of inputs of each item; `lambda` is the penalty of their squared weights. */
  readonly neighbours: number;
  readonly lambda: number;
  /** Additional penalty per user of the input: equivalent to dropout of inputs. */
  readonly dropout: number;
  /** A user of degree d counts d^(−2 · users) times. */
  readonly users: number;
  /** Weights of the regression to an item of degree d are divided by d^candidates. */
  readonly candidates: number;
  /** Share of the similarities, relative to the regression; 0: there are none. */
  readonly similarities: number;
  /** Exponent of the degrees of the history's items in the similarities; that of the candidates is EXPONENTS less. */
  readonly history: number;
}

/** The regression on few items: their number, and the factor of the dropout. */
const NEAREST = { neighbours: 10, dropout: 0.5 };
/** Number of the most similar items of each item. */
const SIMILAR = 400;
/** The sum of both exponents of item degrees in the similarities. */
const EXPONENTS = 0.8;

/** Where the search starts; also the setting if there are too few users to hold any back. */
export const DEFAULT_WEIGHTS: WeightSetting = {
  ...{ neighbours: 100, lambda: 12, dropout: 0.5 },
  ...{ users: 0.25, candidates: 0.2, similarities: 0, history: 0.6 },
};
/** Shares of the weights and of the least squares, relative to one cross-fitted member. */
export const SHARES = { weights: 1.6, leastSquares: 0.6 };
/**
 * The most settings to try, and how many of them solve new regressions at most. The least gain of a step: with 2,000 held-back users a
 * smaller gain is chance.
 */
const SEARCH = { maxTrials: 32, regressions: 14, gain: 2e-3 };

/** The weights of the given parts; undefined if there are none. */
export async function itemWeights(
  edges: EdgeLists,
  setting: WeightSetting,
  parts: { readonly regression: boolean; readonly similarities: boolean },
  options: TaskOptions,
): Promise<SparseWeights | undefined> {
  const { users, candidates, similarities: share } = setting;
  const near = parts.similarities && share > 0;
  if (!parts.regression && !near) return undefined;
  const regression = await createItemRegression({ ...edges, userExponent: users }, options);
  const similar = near ? await similarities(regression, setting, options) : undefined;
  if (!parts.regression) return timesFactor(similar!, share);
  const solved = await regression.solve(regressionSetting(setting), options);
  const scaled = scaleTargets(solved, degreeScale(lengths(edges.items), undefined, candidates));
  return similar ? addScaled(scaled, similar, share) : scaled;
}

export function regressionSetting({ neighbours, lambda, dropout }: WeightSetting): RegressionSetting {
  const nearest = { neighbours: NEAREST.neighbours, dropout: NEAREST.dropout * dropout };
  return { neighbours, lambda, dropout, nearest };
}

function similarities(regression: ItemRegression, { history }: WeightSetting, options: TaskOptions) {
  return regression.similar({ neighbours: SIMILAR, history, candidates: EXPONENTS - history }, options);
}

/** What each part of the blend adds to the mean of recall and nDCG on held-back users, as a fraction of it. */
export interface PartGains {
  readonly weights: number;
  readonly similarities: number;
  readonly leastSquares: number;
}

/** The setting whose weights, added to the least-squares scores, rank the hidden items of held-back users best. */
export async function searchWeights(
  trial: HeldBackUsers,
  tables: FactorTables,
  { threads, signal, onProgress }: TaskOptions,
) {
  const { data, history } = trial;
  const task = { threads, signal };
  const degree = lengths(data.items);
  const opened = new Map<number, ItemRegression>();
  const users = tables.users.map((value) => (SHARES.leastSquares / SHARES.weights) * value);
  const none = { ...tables, users: tables.users.map(() => 0) };
  const factors = { ...tables, users, products: emptyProducts(trial.users, data.candidates.length) };
  const rank = (weights: SparseWeights | undefined, from: FactorTables) =>
    trial.score({ ...from, ...(weights && { itemWeights: { ...weights, history } }) }, task);
  const regressionOf = async (exponent: number) => {
    const known = opened.get(exponent);
    if (known) return known;
    const own = { ...data, targets: data.candidates, userExponent: exponent };
    const regression = await createItemRegression(own, { ...task, several: true });
    opened.set(exponent, regression);
    return regression;
  };
  // Exponents of candidates and shares of similarities need no new systems.
  const solved = lastOf((setting: WeightSetting, regression: ItemRegression) =>
    regression.solve(regressionSetting(setting), task),
  );
  const similar = lastOf((setting: WeightSetting, regression: ItemRegression) =>
    similarities(regression, setting, task),
  );
  const partsOf = async (setting: WeightSetting) => {
    const { neighbours, lambda, dropout, users: exponent, candidates } = setting;
    const regression = await regressionOf(exponent);
    const key = [neighbours, lambda, dropout, exponent].join();
    const scale = degreeScale(degree, data.candidates, candidates);
    const regressed = scaleTargets(await solved(key, setting, regression), scale);
    const near =
      setting.similarities === 0
        ? undefined
        : await similar([exponent, setting.history].join(), setting, regression);
    return { regressed, near };
  };
  const scores = new Map<string, number>();
  const score = async (given: Setting) => {
    throwIfAborted(signal);
    const setting = given as WeightSetting;
    // Without similarities their exponent changes nothing.
    const { history: _, ...plain } = setting;
    const known = setting.similarities === 0 ? scores.get(JSON.stringify(plain)) : undefined;
    if (known !== undefined) return known;
    const { regressed, near } = await partsOf(setting);
    const weights = near ? addScaled(regressed, near, setting.similarities) : regressed;
    const found = await rank(weights, factors);
    if (!near) scores.set(JSON.stringify(plain), found);
    return found;
  };
  const { lambda, neighbours, dropout, ...degrees } = DEFAULT_WEIGHTS;
  const regressionAxes = {
    lambda: geometric(lambda, 4, 0.5, 1000),
    neighbours: alongValues(neighbours, [25, 50, 100, 200]),
    dropout: alongValues(dropout, [0.125, 0.25, 0.5, 1, 2, 4]),
  };
  const axes = {
    similarities: alongValues(degrees.similarities, [0, 0.125, 0.25, 0.5, 1, 2, 4]),
    history: alongValues(degrees.history, [0.4, 0.5, 0.6, 0.7]),
    candidates: alongValues(degrees.candidates, [0, 0.2, 0.4]),
    users: alongValues(degrees.users, [0, 0.25, 0.5]),
  };
  const onTrial = (done: number) =>
    onProgress?.({ stage: 'weights on held-back users', done, total: SEARCH.maxTrials, unit: 'settings' });
  try {
    const first = await searchSettings({ ...regressionAxes, ...fixed(degrees) }, score, {
      ...{ ...SEARCH, maxTrials: SEARCH.regressions, onTrial },
    });
    const { best, trials } = await searchSettings(along(axes, first.best.setting), score, {
      ...{ ...SEARCH, from: first, onTrial },
    });
    const setting = best.setting as WeightSetting;
    const { regressed, near } = await partsOf(setting);
    const without = {
      weights: await rank(near && timesFactor(near, setting.similarities), factors),
      similarities: near ? await rank(regressed, factors) : best.score,
      leastSquares: await rank(near ? addScaled(regressed, near, setting.similarities) : regressed, none),
    };
    const gain = (other: number) => 1 - other / best.score;
    const adds: PartGains = {
      weights: gain(without.weights),
      similarities: gain(without.similarities),
      leastSquares: gain(without.leastSquares),
    };
    return { setting, score: best.score, trials, adds };
  } finally {
    for (const regression of opened.values()) await regression.close();
  }
}

/** Axes that do not move. */
function fixed(setting: Setting): Record<string, SettingAxis> {
  const entries = Object.entries(setting).map(([name, start]) => [name, alongValues(start, [start])]);
  return Object.fromEntries(entries);
}

/** The axes, from the values of a setting on. */
function along(axes: Record<string, SettingAxis>, setting: Setting): Record<string, SettingAxis> {
  const entries = Object.entries(axes).map(([name, axis]) => [name, { ...axis, start: setting[name] }]);
  return Object.fromEntries(entries);
}

/** The result of `make`, kept until it is asked for with another key. */
function lastOf(
  make: (setting: WeightSetting, regression: ItemRegression) => Promise<SparseWeights>,
): (key: string, setting: WeightSetting, regression: ItemRegression) => Promise<SparseWeights> {
  let known: { readonly key: string; readonly made: Promise<SparseWeights> } | undefined;
  return (key, setting, regression) => {
    if (known?.key !== key) known = { key, made: make(setting, regression) };
    return known.made;
  };
}
