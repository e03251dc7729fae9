import { describe, expect, test } from 'vitest';
import { summarizeChains } from '../../src/math/diagnostics.js';
import { normal } from '../../src/math/distributions.js';
import { randomStream } from '../../src/math/random.js';

/** x_t = r x_{t−1} + noise, whose effective sample size is n (1−r)/(1+r). */
function autoregressive(length: number, r: number, seed: number, shift = 0): Float64Array {
  const random = randomStream(seed);
  let x = normal(random) / Math.sqrt(1 - r * r);
  return Float64Array.from({ length }, () => {
    x = r * x + normal(random);
    return x + shift;
  });
}

describe('chains', () => {
  test.each([0, 0.5, 0.9])('autocorrelation %d: effective samples as in theory', (r) => {
    const chains = [1, 2, 3, 4].map((seed) => autoregressive(20_000, r, seed));
    const { effectiveSamples, splitRHat, standardDeviation } = summarizeChains(chains);
    expect(effectiveSamples / ((80_000 * (1 - r)) / (1 + r))).toBeCloseTo(1, 0.7);
    expect(splitRHat).toBeLessThan(1.01);
    expect(standardDeviation).toBeCloseTo(1 / Math.sqrt(1 - r * r), 1);
  });

  test('chains in different places have not mixed', () => {
    const apart = [autoregressive(1000, 0, 1), autoregressive(1000, 0, 2, 3)];
    expect(summarizeChains(apart).splitRHat).toBeGreaterThan(1.5);
  });

  test('a drift within one chain shows', () => {
    const drift = Float64Array.from(autoregressive(1000, 0, 3), (x, t) => x + t / 250);
    expect(summarizeChains([drift]).splitRHat).toBeGreaterThan(1.2);
  });

  test('a constant counts as mixed', () => {
    expect(summarizeChains([new Float64Array(10).fill(2)])).toMatchObject({
      mean: 2,
      standardDeviation: 0,
      splitRHat: 1,
    });
  });
});
