import { describe, expect, it } from 'vitest';
import { binomial, multinomial, poisson, truncatedPoisson } from '../../src/math/count-samplers.js';
import { Random, randomStream } from '../../src/math/random.js';
import { logFactorial } from '../../src/math/special.js';
import { expectMoments, momentsOf } from './moments.js';

/** A stream whose uniforms are given. */
class Scripted extends Random {
  #values: number[];
  constructor(...values: number[]) {
    super([0]);
    this.#values = values;
  }
  override uniform(): number {
    return this.#values.shift()!;
  }
}

const logPoisson = (mean: number) => (k: number) => k * Math.log(mean) - logFactorial(k);

describe('poisson', () => {
  it.each([0.01, 0.7, 3, 9.99, 10, 12.5, 40, 400])('four moments at mean %d', (mean) => {
    const random = randomStream(1, mean * 100);
    const top = Math.ceil(mean + 40 * Math.sqrt(mean) + 40);
    expectMoments(
      () => poisson(random, mean),
      momentsOf(logPoisson(mean), 0, top),
      mean < 0.1 ? 2_000_000 : 200_000,
    );
  });

  it.each([1e5, 43.2e6, 1e9])('four moments at mean %d', (mean) => {
    const random = randomStream(2, mean);
    expectMoments(() => poisson(random, mean), {
      mean,
      deviation: Math.sqrt(mean),
      skewness: 1 / Math.sqrt(mean),
      kurtosis: 3 + 1 / mean,
    });
  });

  it('means of 1e-9 are neither 0 nor rounded: one event in 1e9', () => {
    expect(poisson(new Scripted(0.99e-9), 1e-9)).toBe(1);
    expect(poisson(new Scripted(1.01e-9), 1e-9)).toBe(0);
    expect(poisson(new Scripted(0.5), 0)).toBe(0);
  });

  it('every single probability at the border between the methods', () => {
    const random = randomStream(3);
    const n = 1_000_000;
    const counts = new Float64Array(60);
    for (let i = 0; i < n; i++) counts[poisson(random, 10)]++;
    for (let k = 0; k < 30; k++) {
      const p = Math.exp(logPoisson(10)(k) - 10);
      expect(Math.abs(counts[k] - n * p) / Math.sqrt(n * p), `k = ${k}`).toBeLessThan(5);
    }
  });
});

describe('truncated poisson', () => {
  it.each([0.05, 0.7, 3, 9.99, 10, 60])('four moments at mean %d', (mean) => {
    const random = randomStream(4, mean * 100);
    const top = Math.ceil(mean + 40 * Math.sqrt(mean) + 40);
    expectMoments(
      () => truncatedPoisson(random, mean),
      momentsOf(logPoisson(mean), 1, top),
      mean < 0.1 ? 1_000_000 : 200_000,
    );
  });

  it.each([1e-5, 1e-100, 1e-310, 0])('is 1 at mean %d', (mean) => {
    const random = randomStream(5);
    let most = 0;
    for (let i = 0; i < 1000; i++) most = Math.max(most, truncatedPoisson(random, mean));
    expect(most).toBe(1);
  });
});

const logBinomial = (n: number, p: number) => (k: number) =>
  k * Math.log(p) + (n - k) * Math.log1p(-p) - logFactorial(k) - logFactorial(n - k);

describe('binomial', () => {
  it.each([
    [1, 0.3],
    [7, 0.02],
    [20, 0.5],
    [20, 0.7],
    [1000, 0.003],
    [30, 0.4],
    [50, 0.9],
    [1000, 0.0101],
    [100_000, 0.5],
  ])('four moments of n = %d, p = %d', (n, p) => {
    const random = randomStream(6, n, p * 1e4);
    expectMoments(() => binomial(random, n, p), momentsOf(logBinomial(n, p), 0, n));
  });

  it.each([
    [1e9, 1e-9],
    [1e9, 0.25],
    [1e13, 0.75],
  ])('four moments of n = %d, p = %d', (n, p) => {
    const random = randomStream(7, n, p * 1e4);
    const variance = n * p * (1 - p);
    expectMoments(() => binomial(random, n, p), {
      mean: n * p,
      deviation: Math.sqrt(variance),
      skewness: (1 - 2 * p) / Math.sqrt(variance),
      kurtosis: 3 + (1 - 6 * p * (1 - p)) / variance,
    });
  });

  it('border cases: none of n, all of n, n = 0', () => {
    const random = randomStream(8);
    expect([binomial(random, 5, 0), binomial(random, 5, 1), binomial(random, 0, 0.5)]).toEqual([0, 5, 0]);
  });
});

describe('multinomial', () => {
  it.each([3, 16, 17, 1000])('boxes are binomial and sum to n = %d', (n) => {
    const weights = [2, 0, 1, 5, 0, 0.5, 0];
    const sum = 8.5;
    const out = new Uint32Array(weights.length);
    weights.forEach((weight, k) => {
      const random = randomStream(9, n, k);
      const draw = () => {
        multinomial(random, n, weights, out);
        return out[k];
      };
      if (weight > 0) expectMoments(draw, momentsOf(logBinomial(n, weight / sum), 0, n), 60_000);
      else expect(draw()).toBe(0);
      expect(out.reduce((a, b) => a + b)).toBe(n);
    });
  });

  it.each([5, 100])('two boxes of n = %d have covariance −n p q', (n) => {
    const random = randomStream(10, n);
    const out = new Float64Array(3);
    const draws = 100_000;
    let sum = 0;
    let squares = 0;
    for (let i = 0; i < draws; i++) {
      multinomial(random, n, [1, 2, 3], out);
      const product = (out[0] - n / 6) * (out[1] - n / 3);
      sum += product;
      squares += product * product;
    }
    const error = Math.sqrt(squares / draws / draws);
    expect(Math.abs(sum / draws + n / 18) / error).toBeLessThan(4.5);
  });
});
