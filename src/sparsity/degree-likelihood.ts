// The degree likelihood. In the rank-one approximation the number of vertices of degree n ≥ 1 is Poisson with mean
// proportional to Γ(n−σ)/n! · r^n. Given their number, the degrees are independent draws from that distribution: a
// zero-truncated negative binomial (σ < 0), a log-series (0), a power law with a cut-off (0 < σ < 1).
//
// With u = −log(1−r) every term is an expm1. The normalizer is Γ(1−σ)·expm1(−σu)/(−σ). The mean σ·expm1(u)/expm1(σu)
// grows in u, so for each σ the best u matches the observed mean. A smooth function of σ alone remains.

import { maximize } from '../math/maximize.js';
import { lgamma, logExpm1 } from '../math/special.js';
import type { DegreeCounts } from './degree-counts.js';

/** The distribution fitted to all degrees of a side. */
export interface DegreeFit {
  /** The most likely σ; negative: dense, positive: sparse. */
  readonly estimate: number;
  /** From the curvature of the likelihood; undefined if the estimate is at the end of its range. */
  readonly standardError: number | undefined;
  /** The most likely r, the cut-off of the tail. */
  readonly r: number;
  /**
   * Signed root of twice the log-likelihood ratio against σ = 0: standard errors on the sparse (positive) or dense
   * (negative) side of the border. Valid even if the estimate has no standard error.
   */
  readonly score: number;
  /** The σ̂ at p = ½ that the fit implies. If it is far from the observed one, the fit does not describe the degrees. */
  readonly impliedHalf: number;
}

/** The searched range. Below −1000 the distribution is practically Poisson; at 1 it has no mean. */
const SIGMA_RANGE = { low: -1000, high: 0.999 } as const;

/** Maximizes the likelihood. Undefined if there are no vertices or all have degree 1. */
export function fitDegrees(counts: DegreeCounts): DegreeFit | undefined {
  const { count, sum } = counts;
  if (count === 0 || sum <= count) return undefined;
  const logLikelihood = (sigma: number) => profile(counts, sigma);

  // Uniform in log(1−σ), which treats −1000 and 0.999 alike. A grid locates the peak, golden section refines it.
  const low = Math.log(1 - SIGMA_RANGE.high);
  const high = Math.log(1 - SIGMA_RANGE.low);
  const steps = 40;
  const at = (i: number) => 1 - Math.exp(low + ((high - low) * i) / steps);
  let best = 0;
  let bestValue = Number.NEGATIVE_INFINITY;
  for (let i = 0; i <= steps; i++) {
    const value = logLikelihood(at(i));
    if (value > bestValue) [best, bestValue] = [i, value];
  }
  const sigma = maximize(logLikelihood, at(Math.min(steps, best + 1)), at(Math.max(0, best - 1)));

  const u = solveMean(sigma, sum / count);
  return {
    estimate: sigma,
    ...precisionAt(sigma, logLikelihood, count, SIGMA_RANGE, 0),
    r: -Math.expm1(-u),
    impliedHalf: impliedHalf(sigma, u),
  };
}

/** How sure the most likely σ is, by the log-likelihood per vertex: its standard error, and how far it lies from a border. */
export function precisionAt(
  sigma: number,
  logLikelihood: (sigma: number) => number,
  count: number,
  range: { readonly low: number; readonly high: number },
  border: number,
): Pick<DegreeFit, 'standardError' | 'score'> {
  const value = logLikelihood(sigma);
  const width = 0.01 * (1 - sigma);
  const curvature = (2 * value - logLikelihood(sigma - width) - logLikelihood(sigma + width)) / width ** 2;
  const atEnd = sigma < 0.98 * range.low || sigma > range.high - 0.0005;
  const ratio = 2 * count * Math.max(0, value - logLikelihood(border));
  return {
    standardError: atEnd || !(curvature > 0) ? undefined : 1 / Math.sqrt(count * curvature),
    score: Math.sign(sigma - border) * Math.sqrt(ratio),
  };
}

/** Log-likelihood per vertex at σ, at its best r. */
function profile({ degree, vertices, count, sum }: DegreeCounts, sigma: number): number {
  const mean = sum / count;
  const u = solveMean(sigma, mean);
  const base = lgamma(1 - sigma);
  let value = 0;
  for (let n = 0; n < degree.length; n++) {
    value += vertices[n] * (lgamma(degree[n] - sigma) - base - lgamma(degree[n] + 1));
  }
  return value / count + mean * Math.log(-Math.expm1(-u)) - logMass(sigma, u);
}

/** Log-probability of a degree under the distribution at (σ, r). */
export function logProbability({ estimate, r }: Pick<DegreeFit, 'estimate' | 'r'>, degree: number): number {
  const weight = lgamma(degree - estimate) - lgamma(1 - estimate) - lgamma(degree + 1);
  return weight + degree * Math.log(r) - logMass(estimate, -Math.log1p(-r));
}

/** Probability of a degree below `degree`, summed up from 1 by the ratio of successive terms. */
export function probabilityBelow(fit: Pick<DegreeFit, 'estimate' | 'r'>, degree: number): number {
  let sum = 0;
  let term = Math.exp(logProbability(fit, 1));
  for (let n = 1; n < degree; n++) {
    sum += term;
    term *= (fit.r * (n - fit.estimate)) / (n + 1);
  }
  return Math.min(1, sum);
}

/** log( expm1(−σu)/(−σ) ): the normalizer without its Γ(1−σ). */
function logMass(sigma: number, u: number): number {
  const x = -sigma * u;
  if (Math.abs(x) < 1e-8) return Math.log(u) + x / 2;
  return x > 0 ? logExpm1(x) - Math.log(-sigma) : Math.log(-Math.expm1(x) / sigma);
}

/** log of the mean degree at (σ, u). */
function logMean(sigma: number, u: number): number {
  // σ·expm1(u)/expm1(σu) = (expm1(u)/u) / (expm1(σu)/(σu)), and the latter is logMass at −σ.
  return logExpm1(u) - logMass(-sigma, u);
}

/** The u at which the mean degree is `mean` (> 1). */
function solveMean(sigma: number, mean: number): number {
  const target = Math.log(mean);
  let low = 1e-12;
  let high = 1;
  while (logMean(sigma, high) < target) {
    low = high;
    high *= 2;
  }
  while (high - low > 1e-15 * high) {
    const middle = low < 1e-3 * high ? Math.sqrt(low * high) : (low + high) / 2;
    if (middle <= low || middle >= high) break;
    if (logMean(sigma, middle) < target) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

/** log2(1/E[1 − 2^−n]): the normalizer at r/2 over that at r is E[2^−n]. */
function impliedHalf(sigma: number, u: number): number {
  const r = -Math.expm1(-u);
  const halved = logMass(sigma, -Math.log1p(-r / 2)) - logMass(sigma, u);
  return -Math.log2(-Math.expm1(halved));
}
