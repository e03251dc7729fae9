// HPF: hierarchical Poisson factorization, fitted by coordinate ascent (fit/hierarchical.ts). A new user's row comes from the
// items' means as a fold-in of our own models has it.

import { onEngine } from '../../engine/select.js';
import { hierarchicalFold } from '../../fit/fold-in/member-fold.js';
import { fitHierarchical } from '../../fit/hierarchical.js';
import { columnSums, type RatePrior } from '../../fit/model.js';
import { allocate } from '../../math/memory.js';
import { alongValues, geometric } from '../../metrics/setting-search.js';
import { factorScorer, type RowLists } from '../../predict/scoring/scorer.js';
import type { Baseline, BaselineData, BaselineFitOptions, Setting } from './baseline.js';
import { FEATURES_GAIN } from './ials.js';

interface HpfSetting extends Setting {
  readonly features: number;
  /** Of the features and of the rates, on both sides. */
  readonly shape: number;
}

/** Forty more differ by −.8 to +.5 % of the mean of recall and nDCG on held-back users of six sets. */
const ITERATIONS = 60;
/** Fewer than a fit has: it then chooses half to a quarter of the features, at up to 5 % less recall, in a fifth of the time. */
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
  dials: ({ users, items }) => [
    {
      features: {
        ...geometric(32, 2, 4, featureLimit(users.offsets.length + items.offsets.length)),
        gain: FEATURES_GAIN,
      },
      // The authors' value, which no set that was tried left.
      shape: alongValues(0.3, [0.3]),
    },
  ],
  tuningEdges: 2e5,
  limit: () => undefined,
  async fit(data, given, options = {}) {
    const setting = given as HpfSetting;
    // All sweeps: bounds take a fifth of the time, and ended none sooner on @simulated, online-retail and julia-general.
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
    // Known users as a fold-in makes them, so that it does not matter whether they are stored.
    const users = await foldIn(items, data.users, data.shown, setting, options);
    const member = Object.freeze({
      features,
      items,
      users,
      userMass: columnSums(users, features),
      fold: Object.freeze({ kind: 'hierarchical', steps: STEPS, ...priorOf(setting) }),
      seed: options.seed ?? 1,
      iterations,
      converged,
    } as const);
    return Object.freeze({ kind: 'factors', members: Object.freeze([member]) });
  },
};

/** As the authors have it: one shape for all, and rates about 1. */
function priorOf({ shape }: HpfSetting): RatePrior {
  return { shape, rateShape: shape, rateMean: 1 };
}

async function factors(
  data: BaselineData,
  setting: HpfSetting,
  { tolerance = TOLERANCE, ...options }: BaselineFitOptions & { readonly tolerance?: number },
) {
  const { features } = setting;
  const prior = priorOf(setting);
  const edges = data.users.values.length;
  const { items, iterations, converged } = await onEngine(
    options.engine ?? 'cpu',
    { edges, features },
    // Where a sweep takes a millisecond, several threads wait for each other.
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
  const fold = { kind: 'hierarchical', steps: STEPS, ...priorOf(setting) } as const;
  const rows = { offsets: history.offsets, neighbors: history.values };
  return hierarchicalFold({ features, items, fold }).foldMany(rows, {
    ...{ eligible: shown, engine, threads, signal },
  });
}

/** As many as tables of a few hundred megabytes hold. */
function featureLimit(vertices: number): number {
  return Math.min(256, Math.max(32, 4e7 / vertices));
}
