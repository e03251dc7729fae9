// Fits a baseline as a model that can be saved and served: tuned on held-back users, then fitted to the whole graph.

import { InputError } from '../../errors.js';
import type { FitResult } from '../../fit/fit.js';
import { type Ranker, rankerOf } from '../../fit/model.js';
import { fingerprint } from '../../graph/fingerprint.js';
import type { BipartiteGraph } from '../../graph/graph.js';
import { transposeLists } from '../../math/csr.js';
import { holdBack, type RankingData, shownItems } from '../../metrics/held-back.js';
import type { Setting, Tuned } from '../../metrics/setting-search.js';
import { withDefaults } from '../../options/check-options.js';
import type { OptionsOf } from '../../options/declare.js';
import { FIT_BASELINE } from '../../options/library.js';
import { BASELINES, type BaselineName } from '../../options/names.js';
import { TASK } from '../../options/shared.js';
import { threadCount } from '../../parallel/pool.js';
import type { TaskOptions } from '../../progress.js';
import { baselineOf } from './all-baselines.js';
import { prefixed, tuneBaseline } from './tuning.js';

/** How a baseline is fitted; declared in options/library.ts. */
export interface FitBaselineOptions extends OptionsOf<typeof FIT_BASELINE>, TaskOptions {}

/** A fitted baseline, and the search for its setting. */
export type BaselineFit = FitResult<Ranker> & {
  readonly setting: Setting;
  readonly tuned: Tuned | undefined;
};

/**
 * Fits a baseline (popularity, knn, filter, ease, slim, ials, hpf) as a ranker that can be saved and served.
 * @example
 * import { BipartiteGraph, fitBaseline, recommend } from 'graphex';
 * const graph = BipartiteGraph.fromPairs([['ann', 'tea'], ['bob', 'milk'], ['bob', 'tea'], ['cleo', 'milk']]);
 * const { model } = await fitBaseline(graph, 'popularity');
 * console.log(await recommend(model, { user: 'ann' }));
 */
export async function fitBaseline(
  graph: BipartiteGraph,
  name: BaselineName,
  options: FitBaselineOptions = {},
): Promise<BaselineFit> {
  if (!BASELINES.includes(name)) {
    throw new InputError(`baseline ${name}: expected one of ${BASELINES.join(', ')}`);
  }
  const settings = withDefaults({ ...FIT_BASELINE, ...TASK }, options);
  const { seed, trials, threads, signal, onProgress } = settings;
  if (graph.edges === 0) throw new InputError('the graph has no edges: there is nothing to fit');
  const start = performance.now();
  const baseline = baselineOf(name);
  const data = wholeData(graph);
  const reason = baseline.limit?.(data);
  if (reason !== undefined) {
    const why =
      reason.code === 'error'
        ? reason.message
        : `${reason.count} ${reason.what} × ${reason.candidates} items are above its limit of ${reason.limit}`;
    throw new InputError(
      `${baseline.title}: ${why}; fit another baseline, such as ${baseline.standIn ?? 'knn'}`,
    );
  }
  const tune = () => {
    const part = { ...data, shown: shownItems(data.shown.length, seed) };
    const validation = holdBack(part, { seed }, 'fit popularity, which has no setting');
    return tuneBaseline(baseline, validation, { seed, maxTrials: trials, threads, signal, onProgress });
  };
  const tuned = settings.setting || baseline.axes(data).length === 0 ? undefined : await tune();
  const setting = settings.setting ?? tuned?.best.setting ?? {};
  const scores = await baseline.scores(data, setting, {
    seed,
    start: tuned?.start,
    threads,
    signal,
    onProgress: prefixed(options, `${baseline.title}: fitting`),
  });
  const seconds = (performance.now() - start) / 1000;
  const { iterations, converged } =
    scores.kind === 'factors' ? scores.members[0] : { iterations: 1, converged: true };
  const provenance = {
    seed,
    fingerprint: fingerprint(graph),
    options: { method: name, ...setting },
    iterations,
    converged,
  };
  return {
    model: rankerOf(graph, { method: name, scores, provenance }),
    setting,
    tuned: tuned && { best: tuned.best, trials: tuned.trials, finished: tuned.finished },
    stopped: converged ? 'converged' : 'iterations',
    engine: 'cpu',
    engineReason: { code: 'only-one' },
    threads: threadCount(threads),
    seconds,
  };
}

/** The data of a served baseline: every item can be in a history and be recommended. */
function wholeData(graph: BipartiteGraph): RankingData {
  const users = { offsets: graph.users.offsets, values: graph.users.neighbors };
  const count = graph.items.count;
  return {
    users,
    items: transposeLists(users, count),
    shown: new Uint8Array(count).fill(1),
    candidates: Uint32Array.from({ length: count }, (_, item) => item),
  };
}
