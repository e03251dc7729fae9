// A fit by the exact sampler. Coordinate ascent finds the hyperparameters and a start, then chains sample the posterior. The
// model holds Gamma distributions with the posterior means.

import { throwIfAborted } from '../../errors.js';
import { type BipartiteGraph, bySide } from '../../graph/graph.js';
import { ascend } from '../ascent/ascent.js';
import type { FitResult } from '../fit.js';
import { modelSide, type PosteriorModel } from '../model.js';
import { type GibbsFitOptions, recordedOptions } from '../options.js';
import { checkSmall, gibbsPosterior, largestRHat, posteriorTables } from './gibbs.js';

/** Discarded sweeps and draws of each chain. Unless a number is given, chains that disagree continue, within these limits. */
const DRAWS = 400;
const MOST_DRAWS = 6400;
/** Edges × features × draws. */
const MOST_WORK = 1e10;

export async function fitGibbs(
  graph: BipartiteGraph,
  options: Omit<GibbsFitOptions, 'method'>,
): Promise<FitResult<PosteriorModel>> {
  checkSmall(graph);
  const startedAt = performance.now();
  const { keepDraws: _, ...ofAscent } = options;
  const start = await ascend(graph, { ...ofAscent, engine: 'cpu' }).catch((error) => {
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
    warmup: options.iterations ?? DRAWS,
    draws: options.iterations ?? DRAWS,
    mostDraws: options.iterations ?? Math.min(MOST_DRAWS, MOST_WORK / (graph.edges * features)),
    keep: options.keepDraws ?? 0,
    threads: options.threads,
    signal: options.signal,
    onProgress: options.onProgress,
  });
  const tables = posteriorTables(posterior, hyper, features);
  const sides = bySide((name) => {
    const { unseen, draws: kept } = posterior[name];
    const fitted = modelSide(graph[name], tables[name], hyper[name], unseen, start.model[name].tauMatched);
    return kept.length > 0 ? Object.freeze({ ...fitted, draws: kept }) : fitted;
  });
  const seconds = (performance.now() - startedAt) / 1000;
  const { chains, draws, warmup, scalars } = posterior;
  const converged = posterior.drawsNeeded === null;
  return {
    stopped: converged ? 'converged' : 'iterations',
    threads: start.threads,
    engine: `gibbs (${chains} chains of ${draws} draws, largest split R-hat ${largestRHat(scalars).toFixed(3)})`,
    engineReason: { code: 'asked' },
    seconds,
    model: Object.freeze({
      ...start.model,
      ...sides,
      bound: undefined,
      provenance: Object.freeze({
        ...start.model.provenance,
        options: recordedOptions('gibbs', { ...options, iterations: draws }),
        bounds: [],
        iterations: warmup + draws,
        converged,
      }),
    }),
    posterior,
  };
}
