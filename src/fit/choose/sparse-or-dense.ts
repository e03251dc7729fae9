// Sparse or dense, by the bounds of both models: with the sizes learned in both, they differ in σ alone and are comparable.

import { type BipartiteGraph, simpleGraph } from '../../graph/graph.js';
import { ascend } from '../ascent/ascent.js';
import type { BothHyper } from '../ascent/bound.js';
import { DENSE_SIGMA } from '../ascent/hyper.js';
import { RELAXATION } from '../ascent/loop.js';
import type { FitResult } from '../fit.js';
import { type AscentOptions, type Counted, checkFit } from '../options.js';

/** The bounds of a sparse and a dense fit to the same data, and their difference. */
export interface SparsityEvidence {
  /** Bound of the sparse model, sizes learned, after as much further work as the dense one had. */
  readonly sparse: number;
  /** Bound with σ = −0.1 on both sides, sizes learned, from the same state. */
  readonly dense: number;
  /** sparse − dense, in nats: positive speaks for the sparse model. */
  readonly difference: number;
}

/** Most further iterations of either side of the comparison. */
const MOST_ITERATIONS = 100;

/**
 * Continues a sparse fit twice: with σ moved into the dense range until the bound converges again, and with σ as it was for
 * the same number of iterations. One common start keeps both in the same optimum, and equal further work gives neither an
 * advantage, so the difference is due to the hyperparameters.
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
  // The number of features is that of the fit.
  const { features: _, ...rest } = options;
  // Counts with a law of their own leave the edges to the simple model.
  const data = fitted.model.type === 'posterior' && fitted.model.counts ? simpleGraph(graph) : graph;
  const goOn = (with_: BothHyper, more: Counted<AscentOptions>) =>
    ascend(data, {
      ...(checkpoint.origin.options as Counted<AscentOptions>),
      ...rest,
      learn: ['size'],
      users: {},
      items: {},
      restarts: 1,
      onCheckpoint: undefined,
      ...more,
      resume: {
        ...checkpoint,
        state: {
          iteration: 0,
          warmSweeps: 0,
          bounds: [],
          likelihood: undefined,
          relaxation: RELAXATION,
          hyper: with_,
        },
      },
    });
  const dense = await goOn(
    { users: { ...hyper.users, sigma: DENSE_SIGMA }, items: { ...hyper.items, sigma: DENSE_SIGMA } },
    { model: 'dense', iterations: MOST_ITERATIONS },
  );
  const iterations = dense.model.provenance.iterations;
  const sparse = await goOn(hyper, { model: 'sparse', iterations, tolerance: Number.MIN_VALUE });
  const bounds = { sparse: sparse.model.bound!, dense: dense.model.bound! };
  return { ...bounds, difference: bounds.sparse - bounds.dense };
}
