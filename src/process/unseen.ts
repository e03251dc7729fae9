// Atoms with features: a GGP whose every atom carries θ_k ~ Gamma(shape, rate). Atoms that no edge has reached (unseen
// atoms) follow the same process with its intensity multiplied by e^(−w θ·M), M the mass of the other side. θ integrates
// out: E[e^(−w θ·M)] = Π_k (rate/(rate + wM_k))^shape. The weights are therefore again a Poisson process, with a smooth
// decreasing extra factor. Given its weight, an atom's features are independent Gamma(shape, rate + wM_k). The draw is
// exact and rejects no atom.

import { FitError } from '../errors.js';
import { gamma } from '../math/distributions.js';
import { sumOf } from '../math/moments.js';
import { expectedLaplace, integrateAgainstExponential, type UnseenHyper } from '../math/quadrature.js';
import type { Random } from '../math/random.js';
import { lgamma } from '../math/special.js';
import { atomsAbove, sampleAtoms } from './ggp.js';

/** The prior of one side: the GGP of its weights, the Gamma of its features, its size. */
export type SidePrior = UnseenHyper;

export interface TiltedOptions {
  readonly hyper: SidePrior;
  /** Mass M per feature of the other side; zeros give the process itself. */
  readonly otherMass: ArrayLike<number>;
  /** Atoms of smaller weight are not drawn; `missing` holds their expected mass. 0 is allowed at σ < 0. */
  readonly cut: number;
}

export type FeatureAtoms = ReturnType<typeof sampleTiltedAtoms>;

/** 4 GiB of features. */
const MOST_VALUES = 2 ** 29;

/** Draws the weights of the atoms above the cut, in random order. */
export function sampleTiltedWeights(random: Random, { hyper, otherMass, cut }: TiltedOptions): Float64Array {
  if (hyper.size === 0) return new Float64Array(0);
  return sampleAtoms(random, hyper, cut, logTilt(hyper, otherMass));
}

/** Draws the atoms above the cut, weights and features, in random order. */
export function sampleTiltedAtoms(random: Random, options: TiltedOptions) {
  const { hyper, otherMass, cut } = options;
  const { shape, rate } = hyper;
  const features = otherMass.length;
  const weights = sampleTiltedWeights(random, options);
  if (weights.length * features > MOST_VALUES) {
    throw new FitError(
      `${weights.length} unseen vertices with ${features} features each (size ${hyper.size}) are more than memory holds: use fewer features or a smaller size`,
    );
  }
  const values = new Float64Array(weights.length * features);
  for (let i = 0; i < weights.length; i++) {
    const w = weights[i];
    for (let k = 0; k < features; k++) {
      values[i * features + k] = gamma(random, shape) / (rate + w * otherMass[k]);
    }
  }
  /** Expected mass per feature, Σ w θ_k, of the atoms below the cut. */
  const missing = missingMass(hyper, otherMass, cut);
  return { weights, features: values, missing };
}

/** log Π_k (rate/(rate + wM_k))^shape as a function of w; undefined if all masses are 0. */
function logTilt(
  { shape, rate }: SidePrior,
  otherMass: ArrayLike<number>,
): ((w: number) => number) | undefined {
  const ratios = Float64Array.from(otherMass, (mass) => mass / rate).filter((ratio) => ratio > 0);
  if (ratios.length === 0) return undefined;
  return (w) => {
    let sum = 0;
    for (let k = 0; k < ratios.length; k++) sum += Math.log1p(w * ratios[k]);
    return -shape * sum;
  };
}

/** Expected mass per feature of the atoms below the cut, given `otherMass`. */
export function missingMass(hyper: SidePrior, otherMass: ArrayLike<number>, cut: number): Float64Array {
  const features = otherMass.length;
  if (cut <= 0 || hyper.size === 0) return new Float64Array(features);
  const { sigma, tau, shape, rate, size } = hyper;
  const tilt = logTilt(hyper, otherMass);
  // w = cut·e^(−v/(1−σ)) turns w^(−σ) dw into e^−v dv.
  const integral = integrateAgainstExponential(features, (v, values) => {
    const w = cut * Math.exp(-v / (1 - sigma));
    const common = Math.exp((tilt ? tilt(w) : 0) - tau * w);
    for (let k = 0; k < features; k++) values[k] = (common * shape) / (rate + w * otherMass[k]);
  });
  const factor = size * Math.exp((1 - sigma) * Math.log(cut) - Math.log(1 - sigma) - lgamma(1 - sigma));
  return integral.map((value) => value * factor);
}

/** Moments of the mass M per feature of the other side, which atoms can meet. */
export interface Reach {
  readonly mean: Float64Array;
  /** Σ_k E[M_k²]. */
  readonly squares: number;
  /** Σ_kl E[M_k M_l]. */
  readonly all: number;
}

/** The moments of a mass that is known. */
export function reachOfMass(mean: Float64Array): Reach {
  return {
    mean,
    squares: mean.reduce((sum, m) => sum + m * m, 0),
    all: sumOf(mean) ** 2,
  };
}

/** Above this many expected atoms the dense case is cut too (σ just below 0). */
const MOST_EXACT_ATOMS = 2 ** 22;

/**
 * Chooses the cut from a stated error. Below the cut every edge goes to a new vertex, which is wrong only for atoms with
 * two or more edges. Their expected number is at most ½ size ∫_0^cut w² g(dw) · E[(θ·M)²]. The cut makes this bound
 * `tolerance` times the expected number of vertices, size · E[ψ(θ·M)]. It is 0 (exact) where σ < 0 allows it.
 */
export function chooseCut(hyper: SidePrior, { mean, squares, all }: Reach, tolerance: number): number {
  const { sigma, shape, rate } = hyper;
  if (sigma < 0 && atomsAbove(hyper, 0) <= MOST_EXACT_ATOMS) return 0;
  // E[(θ·M)²] = (a/b)² Σ_kl E[M_k M_l] + a/b² Σ_k E[M_k²].
  const second = (shape * shape * all + shape * squares) / (rate * rate);
  const vertices = expectedLaplace(hyper, mean);
  // With e^(−τw) ≤ 1 the integral is at most cut^(2−σ)/((2−σ)Γ(1−σ)).
  const log = Math.log((2 * tolerance * vertices * (2 - sigma)) / second) + lgamma(1 - sigma);
  // Beyond 1/τ there are few atoms, so a larger cut saves nothing.
  const cut = second > 0 ? Math.exp(log / (2 - sigma)) : 1;
  return Math.min(cut, 0.1 / hyper.tau);
}
