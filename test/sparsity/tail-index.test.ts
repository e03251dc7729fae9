import gammaln from '@stdlib/math-base-special-gammaln';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { randomStream } from '../../src/math/random.js';
import { countDegrees, degreeQuantile, expectedSurvivors } from '../../src/sparsity/degree-counts.js';
import { fitDegrees, logProbability, probabilityBelow } from '../../src/sparsity/degree-likelihood.js';
import { fitLowDegrees } from '../../src/sparsity/low-degrees.js';
import { tailIndex, tailIndexHalf } from '../../src/sparsity/tail-index.js';

const someDegrees = fc.array(fc.integer({ min: 1, max: 5000 }), { minLength: 1, maxLength: 300 });

/** Draws from P(n) ∝ Γ(n−σ)/n! r^n by inversion. */
function drawDegrees(sigma: number, r: number, count: number, seed: number): number[] {
  const weights: number[] = [];
  let term = 1;
  for (let n = 1; n < 200_000 && (term > 1e-13 || n < 50); n++) {
    weights.push(term);
    term *= (r * (n - sigma)) / (n + 1);
  }
  const total = weights.reduce((a, b) => a + b, 0);
  const random = randomStream(seed);
  return Array.from({ length: count }, () => {
    let u = random.uniform() * total;
    let n = 0;
    while (n < weights.length - 1 && (u -= weights[n]) > 0) n++;
    return n + 1;
  });
}

describe('countDegrees', () => {
  it('groups degrees of any size, keeps their number and sum, and leaves out zeros', () => {
    const counts = countDegrees([3, 0, 1, 70_000, 3, 2_000_000_000, 70_000, 1, 1]);
    expect([...counts.degree]).toEqual([1, 3, 70_000, 2_000_000_000]);
    expect([...counts.vertices]).toEqual([3, 2, 2, 1]);
    expect(counts.count).toBe(8);
    expect(counts.sum).toBe(3 + 6 + 140_000 + 2_000_000_000);
    expect(degreeQuantile(counts, 0.5)).toBe(3);
    expect(degreeQuantile(counts, 1)).toBe(2_000_000_000);
  });

  it('expects every vertex to survive level 1, and sum(1-(1-p)^d) below', () => {
    const counts = countDegrees([1, 2, 2, 9]);
    expect(expectedSurvivors(counts, 1)).toBe(4);
    expect(expectedSurvivors(counts, 0.3)).toBeCloseTo(0.3 + 2 * (1 - 0.49) + (1 - 0.7 ** 9), 12);
  });
});

describe('tailIndex', () => {
  it('is log2(N / sum(1-2^-d)) at one half', () => {
    fc.assert(
      fc.property(someDegrees, (degrees) => {
        const direct = Math.log2(degrees.length / degrees.reduce((sum, d) => sum + (1 - 2 ** -d), 0));
        expect(tailIndexHalf(degrees)).toBeCloseTo(direct, 10);
      }),
    );
  });

  it('lies between 0 and 1 and does not depend on the order of the vertices', () => {
    fc.assert(
      fc.property(someDegrees, (degrees) => {
        const index = tailIndex(degrees);
        for (const value of [index.half, index.mean]) {
          expect(value).toBeGreaterThanOrEqual(0);
          expect(value).toBeLessThanOrEqual(1 + 1e-12);
        }
        expect(tailIndex([...degrees].reverse())).toEqual(index);
      }),
      { numRuns: 30 },
    );
  });

  it('is 1 if every vertex has one edge, and says that the likelihood is not defined', () => {
    const index = tailIndex([1, 1, 1, 1]);
    expect(index.half).toBeCloseTo(1, 12);
    expect(index.mean).toBeCloseTo(1, 12);
    expect(index.likelihood).toBeUndefined();
    expect(index.lowDegrees).toBeUndefined();
  });

  it('has finite estimates for one vertex, for huge degrees and for equal ones', () => {
    for (const degrees of [
      [1],
      [2],
      [1_000_000_000],
      [7, 7, 7, 7, 7, 7],
      Array(1000).fill(20),
      [1, 2_000_000],
    ]) {
      const { half, mean, likelihood, lowDegrees } = tailIndex(degrees);
      const values = [
        half,
        mean,
        likelihood?.estimate,
        likelihood?.r,
        likelihood?.score,
        likelihood?.impliedHalf,
      ];
      for (const value of [...values, lowDegrees?.estimate, lowDegrees?.score]) {
        if (value !== undefined)
          expect(Number.isFinite(value), `${degrees.slice(0, 3)}: ${value}`).toBe(true);
      }
    }
  });
});

describe('fitDegrees', () => {
  it('has probabilities that add up to 1 and the mean of the data', () => {
    for (const sigma of [-20, -1, -0.1, 0.001, 0.3, 0.8]) {
      const degrees = drawDegrees(sigma, 0.9, 2000, 5);
      const fit = fitDegrees(countDegrees(degrees))!;
      let mass = 0;
      let mean = 0;
      for (let n = 1; n < 20_000; n++) {
        const p = Math.exp(logProbability(fit, n));
        mass += p;
        mean += n * p;
      }
      expect(mass).toBeCloseTo(1, 8);
      expect(mean / (degrees.reduce((a, b) => a + b, 0) / degrees.length)).toBeCloseTo(1, 8);
      expect(probabilityBelow(fit, 4)).toBeCloseTo(
        [1, 2, 3].reduce((sum, n) => sum + Math.exp(logProbability(fit, n)), 0),
        10,
      );
    }
  });

  it('beats every point of a grid, by a likelihood written down independently', () => {
    const degrees = drawDegrees(0.3, 0.97, 800, 11);
    const fit = fitDegrees(countDegrees(degrees))!;
    const logLikelihood = (sigma: number, r: number) => {
      // Γ(−σ)·((1−r)^σ − 1); both factors change sign at σ = 0.
      const gamma = Math.exp(gammaln(1 - sigma)) / -sigma;
      const mass = Math.log(gamma * ((1 - r) ** sigma - 1));
      return degrees.reduce(
        (sum, n) => sum + gammaln(n - sigma) - gammaln(n + 1) + n * Math.log(r) - mass,
        0,
      );
    };
    const top = logLikelihood(fit.estimate, fit.r);
    for (const sigma of [-2, -0.5, -0.1, 0.1, 0.2, 0.25, 0.35, 0.4, 0.6]) {
      for (const r of [0.5, 0.8, 0.9, 0.95, 0.97, 0.98, 0.99, 0.999]) {
        expect(logLikelihood(sigma, r)).toBeLessThanOrEqual(top + 1e-6);
      }
    }
    // and twice the gain over σ = 0 is the square of the score
    let best = Number.NEGATIVE_INFINITY;
    for (let r = 0.9; r < 1; r += 0.0001) best = Math.max(best, logLikelihood(1e-7, r));
    expect(fit.score).toBeCloseTo(Math.sqrt(2 * (top - best)), 1);
  });

  it('recovers σ within its standard errors', () => {
    for (const [sigma, r] of [
      [-3, 0.7],
      [-0.5, 0.95],
      [0, 0.99],
      [0.2, 0.99],
      [0.6, 0.999],
    ] as const) {
      const misses = Array.from({ length: 8 }, (_, seed) => {
        const counts = countDegrees(drawDegrees(sigma, r, 3000, 100 + seed));
        const all = fitDegrees(counts)!;
        const low = fitLowDegrees(counts)!;
        return [(all.estimate - sigma) / all.standardError!, (low.estimate - sigma) / low.standardError!];
      });
      for (const which of [0, 1]) {
        const z = misses.map((m) => m[which]);
        const mean = z.reduce((a, b) => a + b, 0) / z.length;
        // A mean of eight standard normal numbers: 4 standard errors.
        expect(Math.abs(mean), `σ ${sigma}, estimator ${which}: ${z}`).toBeLessThan(4 / Math.sqrt(8));
      }
    }
  });

  it('goes to the end of its range for Poisson-like and for equal degrees, without a standard error', () => {
    const equal = fitDegrees(countDegrees(Array(500).fill(12)))!;
    expect(equal.estimate).toBeLessThan(-900);
    expect(equal.standardError).toBeUndefined();
    expect(equal.score).toBeLessThan(-10);
  });

  it('implies the σ̂ at one half of its own distribution', () => {
    const degrees = drawDegrees(0.4, 0.98, 20_000, 3);
    const { half, likelihood } = tailIndex(degrees);
    expect(Math.abs(half - likelihood!.impliedHalf)).toBeLessThan(0.01);
  });

  it('takes milliseconds on a million vertices', () => {
    const random = randomStream(9);
    const degrees = Float64Array.from({ length: 1_000_000 }, () => Math.ceil(random.uniform() ** -0.8));
    const counts = countDegrees(degrees);
    const start = performance.now();
    fitDegrees(counts);
    fitLowDegrees(counts);
    expect(performance.now() - start).toBeLessThan(2000);
  });
});
