// The state of the exact sampler, and the sums and rates computed from it.

import type { BySide } from '../../graph/graph.js';
import type { FeatureAtoms } from '../../process/unseen.js';

/** The weights and features of the observed vertices of a side, and the mass of the unseen ones. */
export interface GibbsSide {
  readonly weights: Float64Array;
  /** rows × features. */
  readonly features: Float64Array;
  /** Σ over unseen atoms of weight × feature, per feature. */
  readonly unseen: Float64Array;
  /** The unseen atoms above the cut of the last draw. */
  unseenAtoms: FeatureAtoms | undefined;
}

export type GibbsState = BySide<GibbsSide>;

/** Mass of the observed vertices per feature. */
export function seenMass(side: GibbsSide, K: number): Float64Array {
  return addSeen(new Float64Array(K), side);
}

/** Observed plus unseen mass per feature. */
export function totalMass(side: GibbsSide, K: number): Float64Array {
  return addSeen(side.unseen.slice(0, K), side);
}

function addSeen(mass: Float64Array, side: GibbsSide): Float64Array {
  const K = mass.length;
  for (let i = 0; i < side.weights.length; i++) {
    for (let k = 0; k < K; k++) mass[k] += side.weights[i] * side.features[i * K + k];
  }
  return mass;
}

/** γ_i ω_j Σ_k θ_ik β_jk. */
export function pairRate({ users, items }: GibbsState, i: number, j: number, K: number): number {
  let sum = 0;
  for (let k = 0; k < K; k++) sum += users.features[i * K + k] * items.features[j * K + k];
  return users.weights[i] * items.weights[j] * sum;
}
