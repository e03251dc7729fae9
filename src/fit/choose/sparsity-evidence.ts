// Compares a sparse and a dense model by their bounds. Both learn the sizes, so the models differ in σ alone.

import { type BipartiteGraph, bySide, simpleGraph } from '../../graph/graph.js';
import { ascend } from '../ascent/ascent.js';
import type { BothHyper } from '../ascent/bound.js';
import { DENSE_SIGMA } from '../ascent/hyper.js';
import { continuedSchedule, firstState } from '../ascent/schedule.js';
import type { FitResult } from '../fit.js';
import { type AscentOptions, type AscentWithFeatures, checkFit } from '../options.js';

/** The bounds of a sparse and a dense fit to the same data, and their difference. */
export interface SparsityEvidence {
  /** Bound of the sparse model with learned sizes, after as many further iterations as the dense one had. */
  readonly sparse: number;
  /** Bound with σ = −0.1 on both sides and learned sizes, from the same state. */
  readonly dense: number;
  /** sparse − dense, in nats: a positive value favours the sparse model. */
  readonly difference: number;
}

/** The most further iterations of either model. */
const MOST_ITERATIONS = 100;

/**
 * Continues a sparse fit twice: with a dense σ until the bound converges again, and with the sparse σ for the same number of
 * iterations. The common start keeps both fits in the same optimum, and equal work favours neither. So the difference is due
 * to the hyperparameters.
 * @example
 * import { fit, simulate, sparsityEvidence } from 'graphex';
 * const { graph } = await simulate({ features: 4, users: { size: 30 }, items: { size: 30 }, seed: 1 });
 * const options = { model: 'sparse', features: 4, iterations: 30 };
 * const { difference } = await sparsityEvidence(graph, await fit(graph, options), options);
 * console.log(difference); // above 0: the sparse model explains the data better
 */
export async function sparsityEvidence(
  graph: BipartiteGraph,
  fitted: FitResult,
  options: AscentOptions,
): Promise<SparsityEvidence | undefined> {
  checkFit({ ...options, method: 'ascent' });
  const { checkpoint } = fitted;
  if (checkpoint?.method !== 'ascent') return undefined;
  const { hyper } = checkpoint.state;
  if (hyper.users.size === 0 || hyper.items.size === 0) return undefined;
  // The checkpoint determines the number of features.
  const { features: _, ...rest } = options;
  const features = checkpoint.origin.options.features as number;
  // If counts have a separate prior, the simple model fits the edges.
  const data = fitted.model.type === 'posterior' && fitted.model.counts ? simpleGraph(graph) : graph;
  const continueFit = (with_: BothHyper, more: AscentWithFeatures) =>
    ascend(data, {
      ...(checkpoint.origin.options as AscentWithFeatures),
      ...rest,
      learn: ['size'],
      users: {},
      items: {},
      restarts: 1,
      onCheckpoint: undefined,
      ...more,
      resume: { ...checkpoint, state: firstState(continuedSchedule(features), with_) },
    });
  const dense = await continueFit(
    bySide((side) => ({ ...hyper[side], sigma: DENSE_SIGMA })),
    { model: 'dense', iterations: MOST_ITERATIONS },
  );
  const iterations = dense.model.provenance.iterations;
  const sparse = await continueFit(hyper, { model: 'sparse', iterations, tolerance: Number.MIN_VALUE });
  const bounds = { sparse: sparse.model.bound!, dense: dense.model.bound! };
  return { ...bounds, difference: bounds.sparse - bounds.dense };
}
