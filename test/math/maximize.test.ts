import { describe, expect, it } from 'vitest';
import { maximize } from '../../src/math/maximize.js';

describe('maximize', () => {
  it('finds the top of a hill, inside or at an end', () => {
    expect(maximize((x) => -((x - 0.3) ** 2), -2, 5)).toBeCloseTo(0.3, 6);
    expect(maximize((x) => Math.log(x) - x / 40, 1, 100)).toBeCloseTo(40, 4);
    expect(maximize((x) => x, 0, 1)).toBeCloseTo(1, 6);
    expect(maximize((x) => -x, 0, 1)).toBeCloseTo(0, 6);
  });

  it('stops after the steps it was given: each leaves 0.618 of the interval', () => {
    let calls = 0;
    const f = (x: number) => {
      calls++;
      return -((x - 1e-6) ** 2);
    };
    const top = maximize(f, 5e-7, 2e-6, { tolerance: 0, steps: 30 });
    expect(calls).toBe(32);
    expect(Math.abs(top - 1e-6)).toBeLessThan(1.5e-6 * 0.6181 ** 30);
  });
});
