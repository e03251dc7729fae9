import { describe, expect, it } from 'vitest';
import { quantile } from '../../src/math/quantile.js';

describe('quantile', () => {
  it('lies between the order statistics', () => {
    expect(quantile([1, 2, 3, 4], 0.5)).toBe(2.5);
    expect(quantile(Uint32Array.of(10, 20), 0.95)).toBeCloseTo(19.5, 12);
    expect(quantile([7], 0.95)).toBe(7);
    expect([0, 0.5, 1].map((level) => quantile([1, 5, 9], level))).toEqual([1, 5, 9]);
  });
});
