// Exact samplers of counts: inversion for small means, transformed rejection (Hörmann's PTRS and BTRS) for large ones.

import { FitError } from '../errors.js';
import type { Random } from './random.js';
import { HALF_LOG_TWO_PI, logFactorial, stirlingCorrection } from './special.js';

/** Larger means use rejection. PTRS and BTRS are valid from 10 on. */
const LARGE = 10;

/** Poisson, mean 0 … 1e15. */
export function poisson(random: Random, mean: number): number {
  if (mean >= LARGE) return poissonRejection(random, mean);
  if (!(mean > 0)) return 0;
  // Inversion from below. u runs over the upper tail, so that tiny means keep their relative accuracy.
  let term = Math.exp(-mean);
  let u = random.uniform();
  const none = -Math.expm1(-mean);
  if (u >= none) return 0;
  for (let k = 1; ; k++) {
    term *= mean / k;
    if (u < term || term === 0) return k;
    u -= term;
  }
}

function poissonRejection(random: Random, mean: number): number {
  // Without this check the rejection loop would never end.
  if (!(mean <= Number.MAX_SAFE_INTEGER)) {
    throw new FitError(`cannot draw a count of mean ${mean}: sizes or hyperparameters are too extreme`);
  }
  const root = Math.sqrt(mean);
  const b = 0.931 + 2.53 * root;
  const a = -0.059 + 0.02483 * b;
  const inverseAlpha = 1.1239 + 1.1328 / (b - 3.4);
  const vr = 0.9277 - 3.6224 / (b - 2);
  for (;;) {
    const v = random.uniform();
    const u = random.uniform() - 0.5;
    const us = 0.5 - Math.abs(u);
    const k = Math.floor(((2 * a) / us + b) * u + mean + 0.43);
    if (us >= 0.07 && v <= vr) return k;
    if (k < 0 || (us < 0.013 && v > us)) continue;
    if (Math.log((v * inverseAlpha) / (a / (us * us) + b)) <= logPoisson(k, mean)) return k;
  }
}

/** log of the Poisson probability of k, by Stirling's formula around k: no cancellation at means of 1e9. */
function logPoisson(k: number, mean: number): number {
  if (k === 0) return -mean;
  return deviance(k, mean) - HALF_LOG_TWO_PI - 0.5 * Math.log(k) - stirlingError(k);
}

/** log k! minus Stirling's formula, whole k ≥ 1. */
function stirlingError(k: number): number {
  if (k >= 8) return stirlingCorrection(k);
  return logFactorial(k) - (k + 0.5) * Math.log(k) + k - HALF_LOG_TWO_PI;
}

/** k log(m/k) + k − m ≤ 0 without cancellation near k = m. */
function deviance(k: number, m: number): number {
  const x = (m - k) / k;
  if (Math.abs(x) > 0.1) return k * Math.log(m / k) + k - m;
  // log1p(x) − x = −x²/2 + x³/3 − …
  let power = x * x;
  let sum = 0;
  for (let n = 2; n < 20; n++) {
    sum += (n % 2 ? power : -power) / n;
    power *= x;
  }
  return k * sum;
}

/** Poisson given that it is at least 1, for any mean > 0. */
export function truncatedPoisson(random: Random, mean: number): number {
  if (mean >= LARGE) {
    for (;;) {
      const k = poissonRejection(random, mean);
      if (k > 0) return k;
    }
  }
  if (mean < 1e-300) return 1;
  let term = mean / Math.expm1(mean);
  let u = random.uniform();
  for (let k = 1; ; ) {
    if (u < term || term === 0) return k;
    u -= term;
    term *= mean / ++k;
  }
}

/** Binomial(n, p), n whole up to 2^53, p in [0, 1]. */
export function binomial(random: Random, n: number, p: number): number {
  if (n <= 0 || p <= 0) return 0;
  if (p >= 1) return n;
  if (p > 0.5) return n - binomialBelowHalf(random, n, 1 - p);
  return binomialBelowHalf(random, n, p);
}

function binomialBelowHalf(random: Random, n: number, p: number): number {
  if (n === 1) return random.uniform() < p ? 1 : 0;
  if (n * p >= LARGE) return binomialRejection(random, n, p);
  // Inversion from below over the upper tail, as in `poisson`.
  const logNone = n * Math.log1p(-p);
  let u = random.uniform();
  if (u >= -Math.expm1(logNone)) return 0;
  let term = Math.exp(logNone);
  const odds = p / (1 - p);
  for (let k = 1; k <= n; k++) {
    term *= (odds * (n - k + 1)) / k;
    if (u < term || term === 0) return k;
    u -= term;
  }
  return n;
}

function binomialRejection(random: Random, n: number, p: number): number {
  const spread = Math.sqrt(n * p * (1 - p));
  const b = 1.15 + 2.53 * spread;
  const a = -0.0873 + 0.0248 * b + 0.01 * p;
  const center = n * p + 0.5;
  const alpha = (2.83 + 5.1 / b) * spread;
  const vr = 0.92 - 4.2 / b;
  const atMode = logBinomial(Math.floor((n + 1) * p), n, p);
  for (;;) {
    const v = random.uniform();
    const u = random.uniform() - 0.5;
    const us = 0.5 - Math.abs(u);
    const k = Math.floor(((2 * a) / us + b) * u + center);
    if (us >= 0.07 && v <= vr) return k;
    if (k < 0 || k > n) continue;
    if (Math.log((v * alpha) / (a / (us * us) + b)) <= logBinomial(k, n, p) - atMode) return k;
  }
}

/** log of the binomial probability of k, in the same form as `logPoisson`. */
function logBinomial(k: number, n: number, p: number): number {
  if (k === 0) return n * Math.log1p(-p);
  if (k === n) return n * Math.log(p);
  return (
    deviance(k, n * p) +
    deviance(n - k, n * (1 - p)) +
    stirlingError(n) -
    stirlingError(k) -
    stirlingError(n - k) -
    HALF_LOG_TWO_PI -
    0.5 * Math.log(k * (1 - k / n))
  );
}

/**
 * Multinomial: n balls into boxes in proportion to `weights` (≥ 0, positive sum). Writes the counts into `out`, of the
 * same length. A few balls are drawn one by one; many are drawn box by box, each a binomial of the remaining balls.
 */
export function multinomial(
  random: Random,
  n: number,
  weights: ArrayLike<number>,
  out: Uint32Array | Float64Array,
): void {
  const boxes = weights.length;
  out.fill(0);
  let total = 0;
  let last = 0;
  for (let k = 0; k < boxes; k++) {
    total += weights[k];
    if (weights[k] > 0) last = k;
  }
  if (n <= 16) {
    for (let ball = 0; ball < n; ball++) {
      let u = random.uniform() * total;
      let k = 0;
      while (k < last && u >= weights[k]) u -= weights[k++];
      out[k]++;
    }
    return;
  }
  let left = n;
  for (let k = 0; k < last && left > 0; k++) {
    if (!(weights[k] > 0)) continue;
    const drawn = binomial(random, left, Math.min(1, weights[k] / total));
    out[k] = drawn;
    left -= drawn;
    total -= weights[k];
  }
  out[last] += left;
}
