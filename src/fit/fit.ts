// Graph → model: chooses one of the three methods.

import type { EngineReason } from '../engine/select.js';
import { fingerprint } from '../graph/fingerprint.js';
import { type BipartiteGraph, simpleGraph } from '../graph/graph.js';
import { AUTO, COUNTS } from '../options/commands/fit.js';
import { option, optionError } from '../options/error.js';
import { ascend } from './ascent/ascent.js';
import type { Checkpoint, StopReason } from './ascent/loop.js';
import { type PreviousReport, successorOptions } from './ascent/previous.js';
import { type CountChoice, chooseCounts, withCountPrior } from './choose/counts-model.js';
import { chooseFeatures, type FeatureChoice } from './choose/feature-count.js';
import type { GibbsPosterior } from './gibbs/gibbs.js';
import { fitGibbs } from './gibbs/gibbs-fit.js';
import type { Model, PosteriorModel, Ranker } from './model.js';
import {
  type AscentOptions,
  checkFit,
  checkGraph,
  type FitOptions,
  type GibbsFitOptions,
  type RankingFitOptions,
  type RankingFromRanker,
} from './options.js';
import type { BlendReport } from './ranking/blend/blend.js';
import { fitRanking } from './ranking/fit-ranking.js';
import type { RecencyReport } from './ranking/half-life-search.js';
import { resumedOptions } from './resume.js';

/** The result of a fit; the options determine the type of its model. */
export interface FitResult<M extends Model = Model> {
  readonly model: M;
  readonly stopped: StopReason;
  /** To continue the fit later, pass it as `resume`. A ranking fit has one only if it was aborted, on its error. */
  readonly checkpoint?: Checkpoint | undefined;
  /** Chains and diagnostics of the method `gibbs`. */
  readonly posterior?: GibbsPosterior | undefined;
  /** How the vertices match those of the previous model, if the fit started `from` one. */
  readonly from?: PreviousReport | undefined;
  /** The settings of a ranker's blend, and how they were found. */
  readonly blend?: BlendReport | undefined;
  /** How the half-life of a ranker was found, if it was searched. */
  readonly recency?: RecencyReport | undefined;
  readonly engine: string;
  /** How the number of features was chosen, if it was `auto`. */
  readonly chosenFeatures?: FeatureChoice | undefined;
  /** How the counts of a multigraph were fitted, and why. */
  readonly countChoice?: CountChoice | undefined;
  /** Why that engine ran. */
  readonly engineReason: EngineReason;
  readonly threads: number;
  readonly seconds: number;
}

/**
 * Fits the sparse or dense Poisson matrix model. The method is coordinate ascent (default), `ranking` (cross-fitted), or `gibbs`
 * (the exact sampler); each has its own options. If the signal aborts the fit, `fit` rejects with the signal's reason or an
 * AbortError. `unfinishedFit(error)` then gives the model so far, and the checkpoint to resume from.
 * @example
 * import { BipartiteGraph, fit } from 'graphex';
 * const graph = BipartiteGraph.fromPairs([['ann', 'tea'], ['bob', 'milk'], ['bob', 'tea'], ['cleo', 'milk']]);
 * const { model } = await fit(graph, { features: 2, seed: 1 });
 * console.log(model.bound);
 */
export function fit(
  graph: BipartiteGraph,
  options: RankingFitOptions | RankingFromRanker,
): Promise<FitResult<Ranker>>;
export function fit(
  graph: BipartiteGraph,
  options?: AscentOptions | GibbsFitOptions,
): Promise<FitResult<PosteriorModel>>;
export function fit(graph: BipartiteGraph, options?: FitOptions): Promise<FitResult>;
export async function fit(graph: BipartiteGraph, given: FitOptions = {}): Promise<FitResult> {
  const checked = checkFit(resolveOptions(graph, given));
  if (checked.method === 'gibbs') return fitGibbs(graph, checked.options);
  if (checked.method === 'ranking') return fitRanking(graph, checked.options);
  return graph.multigraph ? fitMultigraph(graph, checked.options) : fitBound(graph, checked.options);
}

/** Fits `graph`. If `graph` was derived from a multigraph, `data` is that multigraph. */
async function fitBound(
  graph: BipartiteGraph,
  { features, ...options }: AscentOptions,
  data: BipartiteGraph = graph,
): Promise<FitResult<PosteriorModel>> {
  if (features !== AUTO) return ascend(graph, { ...options, features }, data);
  const chosenFeatures = await chooseFeatures(graph, options);
  const result = await ascend(graph, { ...options, features: chosenFeatures.chosen }, data);
  return { ...result, chosenFeatures };
}

/** Fits Poisson counts directly. For other counts the simple model fits the edges, and a separate prior fits the counts. */
async function fitMultigraph(
  graph: BipartiteGraph,
  given: AscentOptions,
): Promise<FitResult<PosteriorModel>> {
  checkGraph(graph);
  const { counts = COUNTS.counts.default } = given;
  const countChoice: CountChoice =
    counts === 'auto' ? await chooseCounts(graph, given) : { model: counts, evidence: null };
  const options = { ...given, counts: countChoice.model };
  if (countChoice.model === 'poisson') return { ...(await fitBound(graph, options)), countChoice };
  const result = await fitBound(simpleGraph(graph), options, graph);
  return { ...result, model: withCountPrior(result.model, graph), countChoice };
}

/** The given options, completed by those of the checkpoint or of the previous model. */
export function resolveOptions(graph: BipartiteGraph, given: FitOptions): FitOptions {
  if (has(given, 'resume')) {
    if (!has(given, 'from'))
      return resumedOptions(() => fingerprint(graph), given as FitOptions & { resume: Checkpoint });
    throw optionError`${option('from')} cannot be given with ${option('resume')}: a saved fit continues from its own state; leave ${option('from')} out`;
  }
  return has(given, 'from') ? successorOptions(given as FitOptions & { from: Model }) : given;
}

function has(given: FitOptions, name: string): boolean {
  if (typeof given !== 'object' || given === null) return false;
  const { method, ...rest } = given as Readonly<Record<string, unknown>>;
  // The sampler can neither resume nor start from a model; checkFit refuses both options for it.
  return rest[name] !== undefined && method !== 'gibbs';
}
