// Searches settings of a ranker on held-back training users. Some of their items are shown and the others are predicted, as for the test
// users of a split. Only the given graph is used.

import { InputError, throwIfAborted } from '../errors.js';
import { fit } from '../fit/fit.js';
import { checkFit, type RankingFitOptions } from '../fit/options.js';
import { rankingFeatures } from '../fit/ranking/settings.js';
import { fingerprint } from '../graph/fingerprint.js';
import type { BipartiteGraph } from '../graph/graph.js';
import { holdBack, shownItems, TEST_SHARE } from '../metrics/held-back.js';
import { tuningScore } from '../metrics/ranking-metrics.js';
import { geometric, type Setting, type SettingTrial, searchSettings } from '../metrics/setting-search.js';
import { withDefaults } from '../options/check-options.js';
import { type OptionsOf, value } from '../options/declare.js';
import { TUNE } from '../options/library.js';
import { TASK } from '../options/shared.js';
import type { TaskOptions } from '../progress.js';
import { splitByAssignment } from '../sample/split.js';
import type { Split } from '../sample/split-types.js';
import { evaluateModel } from './evaluate.js';

/** Options of every fit of the search: folds, average, iterations. The search finds features and shapes. */
export type TriedFit = Omit<RankingFitOptions, 'method' | 'features' | 'users' | 'items'>;

const TRIED = { fit: value<TriedFit>('object', 'options of every fit that is tried') };

/** How settings are searched; declared in options/library.ts. */
export interface TuneOptions extends OptionsOf<typeof TUNE & typeof TRIED>, TaskOptions {}

/** The settings of a ranking fit that a search found best. */
export interface TunedRanking {
  /** The options to pass to `fit`. */
  readonly options: RankingFitOptions & { readonly features: number };
  /** Mean of recall@20 and nDCG on the held-back users. */
  readonly score: number;
  /** `features`, and `prior`: the shapes' sum over features. */
  readonly trials: readonly SettingTrial[];
  /** False if the budget ended the search. */
  readonly finished: boolean;
}

/**
 * Searches features and shapes on held-back users, one setting at a time, within a time budget.
 * @example
 * import { fit, simulate, tuneRanking } from 'graphex';
 * const { graph } = await simulate({ features: 4, users: { size: 30 }, items: { size: 30 }, seed: 1 });
 * const { options, score } = await tuneRanking(graph, { budgetMinutes: 0.01, fit: { average: 1, iterations: 2, blend: false } });
 * const { model } = await fit(graph, { ...options, method: 'ranking' });
 * console.log(score, model.method);
 */
export async function tuneRanking(graph: BipartiteGraph, options: TuneOptions = {}): Promise<TunedRanking> {
  const settings = withDefaults({ ...TUNE, ...TRIED, ...TASK }, options);
  const { budgetMinutes, seed, engine, threads, signal, onProgress } = settings;
  checkFit({ ...settings.fit, method: 'ranking' });
  const inner = heldBackSplit(graph, seed, settings.shown);
  const task = { threads, signal };
  const began = performance.now();
  const spent = () => (performance.now() - began) / 60_000;
  let best = 0;
  const report = (done: number, note: string) =>
    onProgress?.({
      stage: 'tuning on held-back users',
      done,
      unit: 'fits',
      note: `${note}, ${spent().toFixed(1)} of ${budgetMinutes} minutes`,
    });
  let tried = 0;
  const tuned = await searchSettings(
    {
      prior: geometric(1, 3, 1e-3, 1e3),
      features: geometric(rankingFeatures(inner.train.edges), 2, 4, 512),
    },
    async (setting) => {
      const { model } = await fit(inner.train, {
        ...settings.fit,
        ...settingOptions(setting),
        seed,
        engine,
        ...task,
        onProgress: ({ done, total }) =>
          report(tried, `K = ${setting.features}, prior ${setting.prior}: sweep ${done} of ${total}`),
      });
      // A stopped fit returns a partial result, which a search cannot use.
      throwIfAborted(signal);
      const { ranking } = await evaluateModel(model, inner, { draws: 0, engine, ...task });
      const score = tuningScore(ranking);
      best = Math.max(best, score);
      return score;
    },
    {
      goOn: () => spent() < budgetMinutes,
      onTrial: (trials) => {
        tried = trials;
        report(trials, `best so far ${best.toFixed(4)}`);
      },
    },
  );
  return Object.freeze({
    options: { ...settings.fit, ...settingOptions(tuned.best.setting) },
    score: tuned.best.score,
    trials: tuned.trials,
    finished: tuned.finished,
  });
}

function settingOptions(setting: Setting): TunedRanking['options'] {
  const features = Math.max(1, Math.round(setting.features!));
  const hyper = { shape: setting.prior! / features, rate: setting.prior! / features };
  return { method: 'ranking', features, users: hyper, items: hyper };
}

/** A split of the training users. For the same seed and assignment, baselines are tuned on the same users. */
function heldBackSplit(graph: BipartiteGraph, seed: number, given: Uint8Array | undefined): Split {
  const shown = given ?? shownItems(graph.items.count, seed);
  if (shown.length !== graph.items.count) {
    throw new InputError(`shown: ${shown.length} entries for ${graph.items.count} items; give one for each`);
  }
  const users = { offsets: graph.users.offsets, values: graph.users.neighbors };
  const { heldBack } = holdBack({ users, shown }, { seed }, 'fit without a search for settings');
  const drawn = {
    users: new Uint8Array(graph.users.count),
    items: Uint8Array.from(shown, (s) => 1 - s),
  };
  for (const row of heldBack) drawn.users[row] = 1;
  return Object.freeze({
    method: 'pq',
    seed,
    testUsers: heldBack.length / graph.users.count,
    testItems: TEST_SHARE,
    ...splitByAssignment(graph, drawn.users, drawn.items),
    assignment: {
      users: { ids: graph.users.ids, drawn: drawn.users },
      items: { ids: graph.items.ids, drawn: drawn.items },
    },
    fingerprint: fingerprint(graph),
  });
}
