// A fit by the exact sampler. Coordinate ascent finds the hyperparameters and a start, then chains sample the posterior. The
// model holds Gamma distributions with the posterior means.

import { throwIfAborted } from '../../errors.js';
import type { BipartiteGraph, SideName } from '../../graph/graph.js';
import { ascend } from '../ascent/ascent.js';
import type { FitResult } from '../fit.js';
import { modelSide, type PosteriorModel } from '../model.js';
import { type GibbsFitOptions, recordedOptions } from '../options.js';
import { checkSmall, type GibbsPosterior, gibbsPosterior, posteriorTables } from './gibbs.js';

/** With a larger split R-hat the chains disagree, and the fit has not converged. */
const LARGEST_R_HAT = 1.1;

export async function fitGibbs(
  graph: BipartiteGraph,
  options: Omit<GibbsFitOptions, 'method'>,
): Promise<FitResult<PosteriorModel>> {
  checkSmall(graph);
  const startedAt = performance.now();
  const start = await ascend(graph, { ...options, engine: 'cpu' }).catch((error) => {
    throwIfAborted(options.signal); // a new error, without the checkpoint of the ascent: the sampler cannot resume
    throw error;
  });
  const { hyper } = start.checkpoint.state;
  const { features } = start.model;
  const posterior = await gibbsPosterior(graph, {
    features,
    hyper,
    start: start.checkpoint.tables,
    seed: options.seed ?? 1,
    warmup: options.iterations ?? 400,
    draws: options.iterations ?? 400,
    threads: options.threads,
    signal: options.signal,
    onProgress: options.onProgress,
  });
  const tables = posteriorTables(posterior, hyper, features);
  const side = (name: SideName) =>
    modelSide(graph[name], tables[name], hyper[name], posterior[name].unseen, start.model[name].tauMatched);
  const seconds = (performance.now() - startedAt) / 1000;
  const engine = `gibbs (${posterior.chains} chains of ${posterior.draws} draws, largest split R-hat ${largestRHat(posterior).toFixed(3)})`;
  return {
    stopped: largestRHat(posterior) < LARGEST_R_HAT ? 'converged' : 'iterations',
    threads: start.threads,
    engine,
    engineReason: { code: 'asked' },
    seconds,
    model: Object.freeze({
      ...start.model,
      users: side('users'),
      items: side('items'),
      bound: undefined,
      provenance: Object.freeze({
        ...start.model.provenance,
        options: recordedOptions('gibbs', options),
        bounds: [],
        iterations: 2 * posterior.draws,
        converged: largestRHat(posterior) < LARGEST_R_HAT,
      }),
    }),
    posterior,
  };
}

function largestRHat(posterior: GibbsPosterior): number {
  return Math.max(...Object.values(posterior.scalars).map((scalar) => scalar.splitRHat));
}
