// The degree likelihood of the low degrees alone. Vertices with few edges decide between sparse and dense. The likelihood
// of all degrees fails at the top: features make rates uneven, and in a simple graph the other side limits the degree.
// Both push the estimate down, by up to 0.3 at σ = 0.2. Leaving out the top degrees, and conditioning on that, removes
// most of this bias; docs/sparsity.md has the figures.

import { maximize } from '../math/maximize.js';
import { lgamma } from '../math/special.js';
import { type DegreeCounts, degreeQuantile } from './degree-counts.js';
import { precisionAt } from './degree-likelihood.js';

/** The distribution fitted to the low degrees of a side. */
export interface LowDegreeFit {
  readonly estimate: number;
  /** Undefined if the estimate is at the end of its range. */
  readonly standardError: number | undefined;
  /** Signed root of twice the log-likelihood ratio against the border: standard errors above (+) or below (−) it. */
  readonly score: number;
  /** The largest degree used, and the number of vertices up to it. */
  readonly upTo: number;
  readonly vertices: number;
}

/** The σ that separates sparse from dense estimates: midway, in standard errors, between those at −0.1 and at 0.2. */
export const BORDER = 0.015;
/** Fraction of the vertices whose degrees are used; the largest degree used is from FEWEST to MOST. */
const SHARE = 0.95;
const FEWEST = 10;
const MOST = 1000;
const RANGE = { low: -30, high: 0.999 } as const;
/** With fewer vertices of low degree there is no estimate. */
const LEAST_VERTICES = 30;

/** Maximizes the likelihood of the low degrees; undefined if too few vertices have them or all degrees are 1. */
export function fitLowDegrees(counts: DegreeCounts): LowDegreeFit | undefined {
  const upTo = Math.min(MOST, Math.max(FEWEST, degreeQuantile(counts, SHARE)));
  const { vertices, count, sum } = countUpTo(counts, upTo);
  if (count < LEAST_VERTICES || sum <= count) return undefined;
  const mean = sum / count;
  const logWeight = new Float64Array(upTo + 1);
  let start = -0.01;

  /** Log-likelihood per vertex at σ and its best r ≤ 1. */
  const logLikelihood = (sigma: number): number => {
    const value = fillLogWeights(logWeight, sigma, vertices);
    const best = solveLogR(logWeight, mean, start);
    start = best.logR;
    return value / count + mean * best.logR - best.logMass;
  };

  const sigma = maximizeSigma(logLikelihood, RANGE, 1e-6);
  return {
    estimate: sigma,
    ...precisionAt(sigma, logLikelihood, count, RANGE, BORDER),
    upTo,
    vertices: count,
  };
}

/** Fills in log( Γ(n−σ)/(Γ(1−σ) n!) ) for each n ≥ 1; returns the sum over the vertices of each degree. */
export function fillLogWeights(logWeight: Float64Array, sigma: number, vertices: Float64Array): number {
  const base = lgamma(1 - sigma);
  let sum = 0;
  for (let n = 1; n < logWeight.length; n++) {
    logWeight[n] = lgamma(n - sigma) - base - lgamma(n + 1);
    if (vertices[n] > 0) sum += vertices[n] * logWeight[n];
  }
  return sum;
}

/** The σ at which a function with one peak is largest, searched uniformly in log(1−σ). */
export function maximizeSigma(
  f: (sigma: number) => number,
  { low, high }: { readonly low: number; readonly high: number },
  tolerance: number,
): number {
  const sigmaOf = (x: number) => 1 - Math.exp(x);
  const best = maximize((x) => f(sigmaOf(x)), Math.log(1 - high), Math.log(1 - low), { tolerance });
  return sigmaOf(best);
}

/** The log r at which the truncated distribution has the given mean, `highest` if it is above that, and its log-normalizer. */
export function solveLogR(
  logWeight: Float64Array,
  mean: number,
  start: number,
  highest = 0,
): { readonly logR: number; readonly logMass: number } {
  let low = -50;
  let high = highest;
  let logR = Math.min(-1e-12, start);
  let m = momentsOf(logWeight, highest);
  if (m.mean <= mean) return { logR: highest, logMass: m.logMass };
  // Newton steps, kept within the bracket that the sign of the error gives.
  for (let step = 0; step < 100; step++) {
    m = momentsOf(logWeight, logR);
    const error = mean - m.mean;
    if (error > 0) low = logR;
    else high = logR;
    if (Math.abs(error) < 1e-12 * mean || high - low < 1e-15) break;
    const next = logR + error / m.variance;
    logR = next > low && next < high ? next : (low + high) / 2;
  }
  return { logR, logMass: m.logMass };
}

/** Mean and variance of the distribution with probabilities proportional to exp(logWeight[n] + n · logR), n ≥ 1, and its log-normalizer. */
function momentsOf(
  logWeight: Float64Array,
  logR: number,
): { readonly mean: number; readonly variance: number; readonly logMass: number } {
  let max = Number.NEGATIVE_INFINITY;
  for (let n = 1; n < logWeight.length; n++) max = Math.max(max, logWeight[n] + n * logR);
  let mass = 0;
  let first = 0;
  let second = 0;
  for (let n = 1; n < logWeight.length; n++) {
    const weight = Math.exp(logWeight[n] + n * logR - max);
    mass += weight;
    first += n * weight;
    second += n * n * weight;
  }
  const mean = first / mass;
  return { mean, variance: Math.max(1e-300, second / mass - mean * mean), logMass: max + Math.log(mass) };
}

/** Vertices by degree up to `upTo`, their number, and the sum of their degrees. */
export function countUpTo(counts: DegreeCounts, upTo: number) {
  const vertices = new Float64Array(upTo + 1);
  let count = 0;
  let sum = 0;
  for (let n = 0; n < counts.degree.length && counts.degree[n] <= upTo; n++) {
    vertices[counts.degree[n]] = counts.vertices[n];
    count += counts.vertices[n];
    sum += counts.vertices[n] * counts.degree[n];
  }
  return { vertices, count, sum };
}
