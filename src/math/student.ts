// Student's t distribution, for estimates from few replicas.

import { lgamma } from './special.js';

/** P(|T| ≥ |t|) for the given degrees of freedom, above 0. */
export function studentTwoSided(t: number, freedom: number): number {
  return regularizedBeta(freedom / (freedom + t * t), freedom / 2, 0.5);
}

/** The t above 0 with P(|T| ≥ t) = level, 0 < level < 1. */
export function studentQuantile(level: number, freedom: number): number {
  let high = 1;
  while (studentTwoSided(high, freedom) > level) high *= 2;
  let low = 0;
  for (let step = 0; step < 60; step++) {
    const middle = (low + high) / 2;
    if (studentTwoSided(middle, freedom) > level) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

/** I_x(a, b), by its continued fraction on the side where it converges fast. */
function regularizedBeta(x: number, a: number, b: number): number {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const front = Math.exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * Math.log(x) + b * Math.log1p(-x));
  return x < (a + 1) / (a + b + 2)
    ? (front * betaFraction(x, a, b)) / a
    : 1 - (front * betaFraction(1 - x, b, a)) / b;
}

/** 1/(1 + d₁/(1 + d₂/(1 + …))), evaluated forward by ratios of successive convergents. */
function betaFraction(x: number, a: number, b: number): number {
  const term = (n: number) => {
    const m = Math.floor(n / 2);
    return n % 2 === 0
      ? (m * (b - m) * x) / ((a + n - 1) * (a + n))
      : (-(a + m) * (a + b + m) * x) / ((a + n - 1) * (a + n));
  };
  let numerator = 1;
  let denominator = 0;
  let value = 1;
  for (let n = 1; n < 1000; n++) {
    const d = term(n);
    numerator = 1 + d / numerator;
    denominator = 1 / (1 + d * denominator);
    value *= numerator * denominator;
    if (Math.abs(numerator * denominator - 1) < 1e-15) break;
  }
  return 1 / value;
}
