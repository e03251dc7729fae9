// Formulas of the generalized gamma process that only its tests need.

import { expm1Ratio, incompleteGamma, lgamma } from '../../src/math/special.js';
import { type Ggp, meanMass } from '../../src/process/ggp.js';

/** Intensity of atoms at weight w > 0. */
export function levyDensity({ sigma, tau, size }: Ggp, w: number): number {
  return size * Math.exp((-1 - sigma) * Math.log(w) - tau * w - lgamma(1 - sigma));
}

/** ψ(t) = ((τ+t)^σ − τ^σ)/σ: the negative log of the Laplace transform of the total mass, per unit of size. */
export function laplaceExponent({ sigma, tau }: Omit<Ggp, 'size'>, t: number): number {
  const log = Math.log1p(t / tau);
  return tau ** sigma * log * expm1Ratio(sigma * log);
}

/** Expected mass of the atoms below the cut. */
export function massBelow(ggp: Ggp, cut: number): number {
  return meanMass(ggp) * incompleteGamma(1 - ggp.sigma, ggp.tau * cut).lower;
}
