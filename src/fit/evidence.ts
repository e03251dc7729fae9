// Sparse or dense? The bound decides, since it bounds the evidence of either: with the sizes learned on both, the two
// differ in σ alone and are comparable.

import type { BipartiteGraph } from '../graph/graph.js';
import { ascend } from './ascent.js';
import type { FitResult } from './fit.js';
import { DENSE_SIGMA } from './hyper.js';
import { RELAXATION } from './loop.js';
import type { FitOptions } from './options.js';

export interface SparsityEvidence {
  /** Bound of the sparse fit, its sizes learned. */
  readonly sparse: number;
  /** Bound with σ = −0.1 on both sides, sizes learned, from the same state. */
  readonly dense: number;
  /** sparse − dense, in nats: positive speaks for the sparse model. */
  readonly difference: number;
}

/**
 * Goes on from a sparse fit with σ moved into the dense range until the bound settles again. Starting where the sparse fit
 * ended keeps both in the same optimum, so that the difference is the hyperparameters' and not the start's.
 */
export async function sparsityEvidence(
  graph: BipartiteGraph,
  fitted: FitResult,
  options: FitOptions,
): Promise<SparsityEvidence | undefined> {
  const { model, checkpoint } = fitted;
  if (!checkpoint) return undefined;
  const { hyper } = checkpoint.state;
  if (model.bound === undefined || hyper.users.size === 0 || hyper.items.size === 0) return undefined;
  const dense = await ascend(graph, {
    ...options,
    model: 'dense',
    learn: ['size'],
    users: {},
    items: {},
    resume: {
      ...checkpoint,
      state: {
        iteration: 0,
        warmSweeps: 0,
        bounds: [],
        likelihood: undefined,
        relaxation: RELAXATION,
        hyper: {
          users: { ...hyper.users, sigma: DENSE_SIGMA },
          items: { ...hyper.items, sigma: DENSE_SIGMA },
        },
      },
    },
  });
  if (dense.model.bound === undefined || dense.stopped === 'aborted') return undefined;
  return { sparse: model.bound, dense: dense.model.bound, difference: model.bound - dense.model.bound };
}
