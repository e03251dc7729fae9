import stdlibDigamma from '@stdlib/math-base-special-digamma';
import stdlibLogGamma from '@stdlib/math-base-special-gammaln';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  digamma,
  expm1Ratio,
  gammaFraction,
  incompleteGamma,
  lgamma,
  log1mexp,
  logExpm1,
  logFactorial,
  stirlingCorrection,
  upperGamma,
} from '../../src/math/special.js';
import {
  DIGAMMA,
  GAMMA_FRACTION,
  INCOMPLETE_GAMMA,
  LOG_1M_EXP,
  LOG_EXPM1,
  LOG_GAMMA,
} from './special-values.js';

/** Relative error, absolute where the value is below `floor`. */
function error(actual: number, wanted: number, floor = 0): number {
  return Math.abs(actual - wanted) / Math.max(Math.abs(wanted), floor);
}

describe('special functions to 1e-13', () => {
  it.each(LOG_GAMMA)('lgamma(%d)', (x, wanted) => {
    expect(error(lgamma(x), wanted)).toBeLessThan(1e-13);
  });
  it.each(DIGAMMA)('digamma(%d)', (x, wanted) => {
    expect(error(digamma(x), wanted, 1)).toBeLessThan(1e-13);
  });
  it.each(LOG_1M_EXP)('log1mexp(%d)', (x, wanted) => {
    expect(error(log1mexp(x), wanted)).toBeLessThan(1e-13);
  });
  it.each(LOG_EXPM1)('logExpm1(%d)', (x, wanted) => {
    expect(error(logExpm1(x), wanted)).toBeLessThan(1e-13);
  });
  it.each(INCOMPLETE_GAMMA)('incompleteGamma(%d, %d)', (a, x, lower, upper) => {
    const both = incompleteGamma(a, x);
    // The smaller of the two is relative, its complement absolute.
    expect(error(both.lower, lower, lower < upper ? 1e-300 : 1)).toBeLessThan(1e-13);
    expect(error(both.upper, upper, upper < lower ? 1e-300 : 1)).toBeLessThan(1e-13);
  });
  it.each(GAMMA_FRACTION)('gammaFraction(%d, %d)', (a, x, wanted) => {
    expect(error(gammaFraction(a, x), wanted)).toBeLessThan(1e-13);
  });

  it.each(GAMMA_FRACTION)('upperGamma(%d, %d), and below 1 by its recurrence', (a, x, wanted) => {
    expect(error(upperGamma(a, x), wanted * x ** a * Math.exp(-x))).toBeLessThan(1e-13);
    // Γ(a + 1, y) = a Γ(a, y) + y^a e^−y at y < 1, where the series is used.
    const y = x / 100;
    const above =
      a + 1 < 1 ? upperGamma(a + 1, y) : incompleteGamma(a + 1, y).upper * Math.exp(lgamma(a + 1));
    expect(error(a * upperGamma(a, y) + y ** a * Math.exp(-y), above)).toBeLessThan(1e-12);
  });

  it('agrees with another library at random arguments', () => {
    const argument = fc.double({ min: -8, max: 8, noNaN: true }).map((log) => 10 ** log);
    fc.assert(
      fc.property(argument, (x) => {
        expect(error(lgamma(x), stdlibLogGamma(x), 1e-3)).toBeLessThan(1e-12);
        expect(error(digamma(x), stdlibDigamma(x), 1)).toBeLessThan(1e-12);
      }),
      { numRuns: 2000 },
    );
  });

  it('obeys its recurrences across the borders between the methods', () => {
    fc.assert(
      fc.property(fc.double({ min: 0.01, max: 20, noNaN: true }), (x) => {
        expect(error(lgamma(x + 1), lgamma(x) + Math.log(x), 1)).toBeLessThan(1e-13);
        expect(error(digamma(x + 1), digamma(x) + 1 / x, 1 / x)).toBeLessThan(1e-13);
      }),
      { numRuns: 2000 },
    );
  });

  it('log(e^x − 1) and log(1 − e^−x) differ by x', () => {
    fc.assert(
      fc.property(fc.double({ min: 1e-12, max: 500, noNaN: true }), (x) => {
        expect(Math.abs(logExpm1(x) - log1mexp(x) - x)).toBeLessThan(1e-13 * Math.max(1, x, -Math.log(x)));
      }),
    );
  });

  it('small ones', () => {
    expect(expm1Ratio(0)).toBe(1);
    expect(error(expm1Ratio(1), Math.E - 1)).toBeLessThan(1e-15);
    expect(expm1Ratio(1e-300)).toBe(1);
    expect(logFactorial(0)).toBe(0);
    expect(error(logFactorial(5), Math.log(120))).toBeLessThan(1e-15);
    expect(
      error(stirlingCorrection(8), Math.log(5040) - 7.5 * Math.log(8) + 8 - 0.5 * Math.log(2 * Math.PI)),
    ).toBeLessThan(1e-12);
    expect(lgamma(0)).toBe(Number.POSITIVE_INFINITY);
    expect(lgamma(-3)).toBe(Number.POSITIVE_INFINITY);
    expect(incompleteGamma(0.5, 0)).toEqual({ lower: 0, upper: 1 });
    expect(incompleteGamma(0.5, Number.POSITIVE_INFINITY)).toEqual({ lower: 1, upper: 0 });
  });
});
