// The degree likelihood of the low degrees alone. Sparse or dense is decided among vertices of few edges, but the
// whole likelihood is fitted to all degrees, and at the top it fails: features make rates uneven, and in a simple graph a vertex
// cannot have more edges than the other side has vertices. Both push the estimate down, by up to 0.3 at σ = 0.2. Leaving
// out the top of the degrees and maximizing what remains, given that it remains, removes most of that: docs/sparsity.md
// has the figures.

import { maximize } from '../math/maximize.js';
import { lgamma } from '../math/special.js';
import { type DegreeCounts, degreeQuantile } from './degree-counts.js';

/** A law fitted to the low degrees of a side. */
export interface LowDegreeFit {
  readonly estimate: number;
  /** Undefined where the estimate lies at the end of its range. */
  readonly standardError: number | undefined;
  /** Signed root of twice the log-likelihood ratio against the border, as standard errors above (+) or below (−) it. */
  readonly score: number;
  /** Degrees up to this one were used, and so many vertices have them. */
  readonly upTo: number;
  readonly vertices: number;
}

/** The σ that parts sparse from dense estimates: half-way, in standard errors, between those seen at −0.1 and at 0.2. */
export const BORDER = 0.015;
/** Share of the vertices whose degrees are used; at least degrees up to FEWEST, at most up to MOST. */
const SHARE = 0.95;
const FEWEST = 10;
const MOST = 1000;
const RANGE = { low: -30, high: 0.999 } as const;
/** Fewer vertices of low degree than this say nothing. */
const LEAST_VERTICES = 30;

/** Maximizes the likelihood of the degrees up to `upTo`; undefined where too few vertices have them or all are 1. */
export function fitLowDegrees(counts: DegreeCounts): LowDegreeFit | undefined {
  const upTo = Math.min(MOST, Math.max(FEWEST, degreeQuantile(counts, SHARE)));
  const { vertices, count, sum } = tallyUpTo(counts, upTo);
  if (count < LEAST_VERTICES || sum <= count) return undefined;
  const mean = sum / count;
  const logWeight = new Float64Array(upTo + 1);
  let start = -0.01;

  /** Log-likelihood per vertex at σ and its best r ≤ 1. */
  const logLikelihood = (sigma: number): number => {
    const base = lgamma(1 - sigma);
    let value = 0;
    for (let n = 1; n <= upTo; n++) {
      logWeight[n] = lgamma(n - sigma) - base - lgamma(n + 1);
      if (vertices[n] > 0) value += vertices[n] * logWeight[n];
    }
    const best = solveLogR(logWeight, mean, start);
    start = best.logR;
    return value / count + mean * best.logR - best.logMass;
  };

  // Uniform in log(1−σ), as for the whole likelihood; the hill has one top.
  const sigmaOf = (x: number) => 1 - Math.exp(x);
  const top = maximize((x) => logLikelihood(sigmaOf(x)), Math.log(1 - RANGE.high), Math.log(1 - RANGE.low), {
    tolerance: 1e-6,
  });
  const sigma = sigmaOf(top);
  const value = logLikelihood(sigma);
  const width = 0.01 * (1 - sigma);
  const curvature = (2 * value - logLikelihood(sigma - width) - logLikelihood(sigma + width)) / width ** 2;
  const atEnd = sigma < 0.98 * RANGE.low || sigma > RANGE.high - 0.0005;
  const ratio = 2 * count * Math.max(0, value - logLikelihood(BORDER));
  return {
    estimate: sigma,
    standardError: atEnd || !(curvature > 0) ? undefined : 1 / Math.sqrt(count * curvature),
    score: Math.sign(sigma - BORDER) * Math.sqrt(ratio),
    upTo,
    vertices: count,
  };
}

/** The log r ≤ 0 at which the truncated law has the given mean (or 0 if it has it nowhere), and its log-normalizer. */
function solveLogR(logWeight: Float64Array, mean: number, start: number): { logR: number; logMass: number } {
  let low = -50;
  let high = 0;
  let logR = Math.min(-1e-12, start);
  let m = moments(logWeight, 0);
  if (m.mean <= mean) return { logR: 0, logMass: m.logMass };
  // Newton's step by the variance, kept between the bounds that the sign of the error has set.
  for (let step = 0; step < 100; step++) {
    m = moments(logWeight, logR);
    const error = mean - m.mean;
    if (error > 0) low = logR;
    else high = logR;
    if (Math.abs(error) < 1e-12 * mean || high - low < 1e-15) break;
    const next = logR + error / m.variance;
    logR = next > low && next < high ? next : (low + high) / 2;
  }
  return { logR, logMass: m.logMass };
}

function moments(logWeight: Float64Array, logR: number): { mean: number; variance: number; logMass: number } {
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

/** Vertices by degree up to a degree, how many they are, and their edges. */
export function tallyUpTo(counts: DegreeCounts, upTo: number) {
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
