import { describe, expect, it } from 'vitest';
import { predictiveQuantile, quantile } from '../../src/math/quantile.js';
import { randomStream } from '../../src/math/random.js';

describe('quantile', () => {
  it('lies between the order statistics', () => {
    expect(quantile([1, 2, 3, 4], 0.5)).toBe(2.5);
    expect(quantile(Uint32Array.of(10, 20), 0.95)).toBeCloseTo(19.5, 12);
    expect(quantile([7], 0.95)).toBe(7);
    expect([0, 0.5, 1].map((level) => quantile([1, 5, 9], level))).toEqual([1, 5, 9]);
  });
});

describe('predictiveQuantile', () => {
  it.each([19, 20, 30, 100])(
    'holds a further value of the same prior with 90 %% between its ends, n = %i',
    (n) => {
      const random = randomStream(4, n);
      const rounds = 20_000;
      let held = 0;
      for (let round = 0; round < rounds; round++) {
        const values = Float64Array.from({ length: n }, () => random.uniform()).sort();
        const next = random.uniform();
        if (next >= predictiveQuantile(values, 0.05) && next <= predictiveQuantile(values, 0.95)) held++;
      }
      expect(Math.abs(held / rounds - 0.9)).toBeLessThan(4 * Math.sqrt(0.09 / rounds));
    },
  );

  it('has the extreme values if there are too few, and the median in the middle', () => {
    expect([0.05, 0.5, 0.95].map((level) => predictiveQuantile([1, 5, 9], level))).toEqual([1, 5, 9]);
    expect(predictiveQuantile([7], 0.05)).toBe(7);
  });
});
