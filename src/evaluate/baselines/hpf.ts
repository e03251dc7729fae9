// HPF: hierarchical Poisson factorization, fitted by coordinate ascent (fit/hierarchical.ts). A new user is folded in on the items'
// means.

import { onEngine } from '../../engine/select.js';
import { hierarchicalFold } from '../../fit/fold-in/member-fold.js';
import { fitHierarchical } from '../../fit/hierarchical.js';
import { columnSums, type RatePrior } from '../../fit/model.js';
import { allocate } from '../../math/memory.js';
import type { RankingData } from '../../metrics/held-back.js';
import { alongValues, geometric, type Setting } from '../../metrics/setting-search.js';
import { factorScorer, type RowLists } from '../../predict/scoring/scorer.js';
import type { Baseline, BaselineFitOptions } from './baseline.js';
import { FEATURES_GAIN } from './ials.js';

interface HpfSetting extends Setting {
  readonly features: number;
  /** Gamma shape of the features and of the rates, on both sides. */
  readonly shape: number;
}

/** Another 40 iterations change the mean of recall and nDCG by −0.8 to +0.5 % on held-back users of six data sets. */
const ITERATIONS = 60;
/** With fewer iterations than a fit, tuning takes a fifth of the time. It chooses half to a quarter of the features, with up to 5 % less recall. */
const TUNING_ITERATIONS = 20;
const TOLERANCE = 2e-5;
/** Edges × features below which one thread is as fast as several. */
const SMALL = 5e6;
/** Half-steps of a fold-in. */
const STEPS = 20;

export const hpf: Baseline<'hpf'> = {
  name: 'hpf',
  title: 'HPF',
  meaning: 'Poisson factors with a rate of its own for every user and item',
  axes: ({ users, items }) => [
    {
      features: {
        ...geometric(32, 2, 4, featureLimit(users.offsets.length + items.offsets.length)),
        gain: FEATURES_GAIN,
      },
      // The authors' value, which was best on every data set that was tried.
      shape: alongValues(0.3, [0.3]),
    },
  ],
  tuningEdges: 2e5,
  async fit(data, given, options = {}) {
    const setting = given as HpfSetting;
    // Runs all sweeps: bounds take a fifth of the time, and stopped no fit early on @simulated, online-retail and julia-general.
    const { items, iterations } = await factors(data, setting, { ...options, tolerance: 0 });
    return {
      setting: { ...given, iterations },
      scorer: async (history) =>
        factorScorer(await foldIn(items, history, data.shown, setting, options), items, setting.features),
    };
  },
  async scores(data, given, options = {}) {
    const setting = given as HpfSetting;
    const { features } = setting;
    const { items, iterations, converged } = await factors(data, setting, options);
    // Known users are folded in, so that their lists are the same whether or not they are stored.
    const users = await foldIn(items, data.users, data.shown, setting, options);
    const member = Object.freeze({
      features,
      items,
      users,
      userMass: columnSums(users, features),
      fold: foldRule(setting),
      seed: options.seed ?? 1,
      iterations,
      converged,
    } as const);
    return Object.freeze({ kind: 'factors', members: Object.freeze([member]) });
  },
};

/** The authors' prior: one shape for all, and rates about 1. */
function priorOf({ shape }: HpfSetting): RatePrior {
  return { shape, rateShape: shape, rateMean: 1 };
}

const foldRule = (setting: HpfSetting) =>
  Object.freeze({ kind: 'hierarchical', steps: STEPS, ...priorOf(setting) } as const);

async function factors(
  data: RankingData,
  setting: HpfSetting,
  { tolerance = TOLERANCE, ...options }: BaselineFitOptions & { readonly tolerance?: number },
) {
  const { features } = setting;
  const prior = priorOf(setting);
  const edges = data.users.values.length;
  const { items, iterations, converged } = await onEngine(
    options.engine ?? 'cpu',
    { edges, features },
    // If a sweep takes a millisecond, several threads mostly wait for each other.
    edges * features < SMALL ? 1 : options.threads,
    ({ engine }) =>
      fitHierarchical(engine, data, {
        ...options,
        features,
        prior: { users: prior, items: prior },
        iterations: setting.iterations ?? (options.tuning ? TUNING_ITERATIONS : ITERATIONS),
        tolerance,
        seed: options.seed ?? 1,
      }),
  );
  const means = allocate(Float32Array, items.shape.length);
  for (let jk = 0; jk < means.length; jk++) means[jk] = items.shape[jk] / items.rate[jk];
  return { items: means, iterations, converged };
}

function foldIn(
  items: Float32Array,
  history: RowLists,
  shown: Uint8Array,
  setting: HpfSetting,
  { engine = 'cpu', threads, signal }: BaselineFitOptions,
): Promise<Float32Array> {
  const { features } = setting;
  const rows = { offsets: history.offsets, neighbors: history.values };
  const how = { eligible: shown, engine, threads, signal };
  return hierarchicalFold({ features, items, fold: foldRule(setting) }).foldMany(rows, how);
}

/** The number of features with which the tables take a few hundred megabytes. */
function featureLimit(vertices: number): number {
  return Math.min(256, Math.max(32, 4e7 / vertices));
}
