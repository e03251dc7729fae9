import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { logDensity, logUpper, truncateNormal } from '../../src/math/normal.js';

const moments = (a: number, b: number) => truncateNormal(a, b, { logProbability: 0, mean: 0, variance: 0 });

/** Mass, mean and variance by brute force. */
function byHand(a: number, b: number): [number, number, number] {
  const [low, high] = [Math.max(a, -12), Math.min(b, 12)];
  const n = 20_000;
  let [mass, first, second] = [0, 0, 0];
  for (let i = 0; i < n; i++) {
    const x = low + ((i + 0.5) * (high - low)) / n;
    const w = (Math.exp(logDensity(x)) * (high - low)) / n;
    mass += w;
    first += w * x;
    second += w * x * x;
  }
  return [Math.log(mass), first / mass, second / mass - (first / mass) ** 2];
}

describe('the normal distribution', () => {
  it('has the tails of the tables', () => {
    // Φ(−1), Φ(−5), Φ(−10), Φ(−37.5) to many digits.
    expect(logUpper(0)).toBeCloseTo(Math.log(0.5), 10);
    expect(logUpper(1)).toBeCloseTo(Math.log(0.15865525393145705), 9);
    expect(logUpper(5)).toBeCloseTo(Math.log(2.866515718791939e-7), 8);
    expect(logUpper(10)).toBeCloseTo(-53.23128515051247, 8);
    expect(logUpper(-1)).toBeCloseTo(Math.log(0.841344746068543), 9);
    expect(logUpper(40)).toBeCloseTo(-804.608442, 4);
    expect(logUpper(Infinity)).toBe(-Infinity);
    expect(logUpper(-Infinity)).toBe(0);
  });

  it.each([
    [-Infinity, 0],
    [-Infinity, -3],
    [-1, 2],
    [0.5, 0.9],
    [3, 4],
    [-4, -3.5],
    [2, Infinity],
    [0.1, 0.115],
  ])('knows probability, mean and variance between %d and %d', (a, b) => {
    const [log, mean, variance] = byHand(a, b);
    const found = moments(a, b);
    expect(found.logProbability).toBeCloseTo(log, 4);
    expect(found.mean).toBeCloseTo(mean, 4);
    expect(found.variance).toBeCloseTo(variance, 4);
  });

  it('keeps the mean inside and the variance in bounds, however far out and narrow', () => {
    fc.assert(
      fc.property(
        fc.double({ min: -60, max: 60, noNaN: true }),
        fc.double({ min: 1e-9, max: 30, noNaN: true }),
        (a, width) => {
          const { logProbability, mean, variance } = moments(a, a + width);
          expect(Number.isFinite(logProbability)).toBe(true);
          expect(logProbability).toBeLessThanOrEqual(1e-9);
          expect(mean).toBeGreaterThanOrEqual(a - 1e-9);
          expect(mean).toBeLessThanOrEqual(a + width + 1e-9);
          expect(variance).toBeGreaterThanOrEqual(0);
          expect(variance).toBeLessThanOrEqual(1);
        },
      ),
    );
  });
});
