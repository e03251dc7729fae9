// Graph → model: which of the three ways.

import { InputError } from '../errors.js';
import type { BipartiteGraph } from '../graph/graph.js';
import { oneOf } from '../validate.js';
import { ascend } from './ascent.js';
import type { GibbsPosterior } from './gibbs.js';
import { fitGibbs } from './gibbs-fit.js';
import type { Checkpoint, StopReason } from './loop.js';
import type { Model, PosteriorModel, Ranker } from './model.js';
import type { FitOptions } from './options.js';
import { fitRanking } from './ranking.js';

/** What a fit gives; the type of its model follows from the options. */
export interface FitResult<M extends Model = Model> {
  readonly model: M;
  readonly stopped: StopReason;
  /** To go on later: pass it as `resume`. A ranking fit has one where it was stopped. */
  readonly checkpoint?: Checkpoint;
  /** Chains and diagnostics, where the engine was `gibbs`. */
  readonly posterior?: GibbsPosterior;
  readonly engine: string;
  /** Why that engine ran. */
  readonly engineReason: string;
  readonly threads: number;
  readonly seconds: number;
}

/**
 * Fits the sparse or dense Poisson matrix model: by coordinate ascent; by the exact sampler, where the engine is `gibbs`;
 * or cross-fitted, where the objective is ranking.
 */
export function fit(
  graph: BipartiteGraph,
  options: FitOptions & { readonly objective: 'ranking' },
): Promise<FitResult<Ranker>>;
export function fit(
  graph: BipartiteGraph,
  options?: FitOptions & { readonly objective?: 'evidence' },
): Promise<FitResult<PosteriorModel>>;
export function fit(graph: BipartiteGraph, options?: FitOptions): Promise<FitResult>;
export async function fit(graph: BipartiteGraph, options: FitOptions = {}): Promise<FitResult> {
  const objective = oneOf('objective', options.objective ?? 'evidence', ['evidence', 'ranking']);
  if (options.resume) {
    const saved = options.resume.method === 'ranking' ? 'ranking' : 'evidence';
    if (saved !== objective) {
      throw new InputError(
        `resume: the saved fit has the objective ${saved}, this one ${objective}; resume with objective ${saved}`,
      );
    }
  }
  if (options.engine === 'gibbs') {
    if (objective === 'ranking') {
      throw new InputError(
        'the exact sampler has no ranking objective: leave out one of engine gibbs and objective ranking',
      );
    }
    if ((options.restarts ?? 1) > 1) {
      throw new InputError(
        'restarts keep the best bound, and the exact sampler has none: it runs several chains as it is',
      );
    }
  }
  if (objective === 'ranking') return fitRanking(graph, options);
  return options.engine === 'gibbs' ? fitGibbs(graph, options) : ascend(graph, options);
}
