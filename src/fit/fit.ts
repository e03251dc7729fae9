// Graph → model: which of the three ways.

import type { EngineReason } from '../engine/select.js';
import type { BipartiteGraph } from '../graph/graph.js';
import { AUTO } from '../options/fit.js';
import { ascend } from './ascent.js';
import { chooseFeatures, type FeatureChoice } from './feature-count.js';
import type { GibbsPosterior } from './gibbs.js';
import { fitGibbs } from './gibbs-fit.js';
import type { Checkpoint, StopReason } from './loop.js';
import type { Model, PosteriorModel, Ranker } from './model.js';
import {
  type AscentOptions,
  checkFit,
  type FitOptions,
  type GibbsByEngine,
  type GibbsFitOptions,
  type RankingByObjective,
  type RankingFitOptions,
} from './options.js';
import { fitRanking } from './ranking.js';
import { resumedOptions } from './resume.js';

/** What a fit gives; the type of its model follows from the options. */
export interface FitResult<M extends Model = Model> {
  readonly model: M;
  readonly stopped: StopReason;
  /** To go on later: pass it as `resume`. A fit for ranking has one only where it was aborted, on its error. */
  readonly checkpoint?: Checkpoint | undefined;
  /** Chains and diagnostics, where the engine was `gibbs`. */
  readonly posterior?: GibbsPosterior | undefined;
  readonly engine: string;
  /** How the number of features was chosen, where it was `auto`. */
  readonly chosenFeatures?: FeatureChoice | undefined;
  /** Why that engine ran. */
  readonly engineReason: EngineReason;
  readonly threads: number;
  readonly seconds: number;
}

/**
 * Fits the sparse or dense Poisson matrix model: by coordinate ascent; cross-fitted, where the method is `ranking`; or by
 * the exact sampler, where it is `gibbs`. Each method has options of its own. Aborted, it rejects
 * with the signal's reason, or an AbortError where none was given; `unfinishedFit(error)` is what it had, with the checkpoint
 * to go on from.
 * @example
 * import { BipartiteGraph, fit } from 'graphex';
 * const graph = BipartiteGraph.fromPairs([['ann', 'tea'], ['bob', 'milk'], ['bob', 'tea'], ['cleo', 'milk']]);
 * const { model } = await fit(graph, { features: 2, seed: 1 });
 * console.log(model.bound);
 */
export function fit(
  graph: BipartiteGraph,
  options: RankingFitOptions | RankingByObjective,
): Promise<FitResult<Ranker>>;
export function fit(
  graph: BipartiteGraph,
  options?: AscentOptions | GibbsFitOptions | GibbsByEngine,
): Promise<FitResult<PosteriorModel>>;
export function fit(graph: BipartiteGraph, options?: FitOptions): Promise<FitResult>;
export async function fit(graph: BipartiteGraph, given: FitOptions = {}): Promise<FitResult> {
  const checked = checkFit(isResumed(given) ? resumedOptions(graph, given) : given);
  if (checked.method === 'gibbs') return fitGibbs(graph, checked.options);
  if (checked.method === 'ranking') return fitRanking(graph, checked.options);
  const { features, ...options } = checked.options;
  if (features !== AUTO) return ascend(graph, { ...options, features });
  const chosenFeatures = await chooseFeatures(graph, options);
  const result = await ascend(graph, { ...options, features: chosenFeatures.chosen });
  return { ...result, chosenFeatures };
}

function isResumed(given: FitOptions): given is FitOptions & { resume: Checkpoint } {
  if (typeof given !== 'object' || given === null || !('resume' in given) || given.resume === undefined)
    return false;
  // The sampler has nothing to go on from; what it does not take is said at its door.
  const { method, engine } = given as { readonly method?: unknown; readonly engine?: unknown };
  return method !== 'gibbs' && engine !== 'gibbs';
}
