import { describe, expect, it } from 'vitest';
import { exponential, gamma, logGamma, normal } from '../../src/math/distributions.js';
import type { Random } from '../../src/math/random.js';
import { randomStream } from '../../src/math/random.js';
import { digamma } from '../../src/math/special.js';
import { expectMoments, trigamma } from './moments.js';

/** ψ″ and ψ‴ by their series, with the tail by the midpoint rule. */
function polygamma(order: 2 | 3, x: number): number {
  const factor = order === 2 ? -2 : 6;
  let sum = 0;
  const terms = 2000;
  for (let n = 0; n < terms; n++) sum += (x + n) ** -(order + 1);
  return factor * (sum + (x + terms - 0.5) ** -order / order);
}

describe('continuous samplers, by four moments', () => {
  it('normal', () => {
    const random = randomStream(1);
    expectMoments(() => normal(random), { mean: 0, deviation: 1, skewness: 0, kurtosis: 3 }, 1_000_000);
  });

  it('normal: the share beyond the edge of the ziggurat, and within its wedges', () => {
    const random = randomStream(2);
    const n = 4_000_000;
    let tail = 0;
    let beyondFour = 0;
    let inner = 0;
    for (let i = 0; i < n; i++) {
      const x = Math.abs(normal(random));
      if (x > 3.654152885361009) tail++;
      if (x > 4) beyondFour++;
      if (x < 0.2) inner++;
    }
    // 2·(1 − Φ(x)) at 3.654…, 4 and 1 − that at 0.2.
    for (const [count, p] of [
      [tail, 0.0002580324876539022],
      [beyondFour, 0.00006334248366623984],
      [inner, 0.1585194188782062],
    ]) {
      expect(Math.abs(count - n * p) / Math.sqrt(n * p)).toBeLessThan(4.5);
    }
  });

  it('exponential', () => {
    const random = randomStream(3);
    expectMoments(() => exponential(random), { mean: 1, deviation: 1, skewness: 2, kurtosis: 9 }, 1_000_000);
  });

  it.each([0.3, 0.7, 1, 1.5, 4, 100, 1e6])('gamma of shape %d', (shape) => {
    const random = randomStream(4, shape);
    expectMoments(() => gamma(random, shape), {
      mean: shape,
      deviation: Math.sqrt(shape),
      skewness: 2 / Math.sqrt(shape),
      kurtosis: 3 + 6 / shape,
    });
  });

  it.each([0.01, 0.1, 0.5, 1, 3, 50])('log of a gamma of shape %d', (shape) => {
    const random = randomStream(5, shape * 100);
    const variance = trigamma(shape);
    expectMoments(() => logGamma(random, shape), {
      mean: digamma(shape),
      deviation: Math.sqrt(variance),
      skewness: polygamma(2, shape) / variance ** 1.5,
      kurtosis: 3 + polygamma(3, shape) / variance ** 2,
    });
  });

  it('no gamma draw is 0, however small the shape', () => {
    const random = randomStream(6);
    let smallest = Number.POSITIVE_INFINITY;
    for (let i = 0; i < 100_000; i++) smallest = Math.min(smallest, gamma(random, 0.01));
    expect(smallest).toBeGreaterThan(0);
    expect(Number.isFinite(1 / smallest)).toBe(true);
  });
});

describe('streams', () => {
  const draws = (random: Random, n: number) => Array.from({ length: n }, () => random.uint32());

  it('pieces of work draw the same numbers in any order and on any thread', () => {
    const piece = (index: number) => {
      const random = randomStream(7, 3, index);
      return Array.from({ length: 5 }, () => gamma(random, 0.4));
    };
    const inOrder = [0, 1, 2, 3, 4, 5, 6, 7].map(piece);
    const byThree: number[][] = [];
    for (let worker = 2; worker >= 0; worker--) for (let i = worker; i < 8; i += 3) byThree[i] = piece(i);
    expect(byThree).toEqual(inOrder);
  });

  it('deriving does not advance a stream, and does not depend on its draws', () => {
    const a = randomStream(1, 2);
    const before = draws(a.derive(5), 4);
    draws(a, 100);
    expect(draws(a.derive(5), 4)).toEqual(before);
    expect(draws(randomStream(1, 2, 5), 4)).toEqual(before);
    const b = randomStream(1, 2);
    b.derive(9);
    expect(draws(b, 3)).toEqual(draws(randomStream(1, 2), 3));
  });

  it('neighbouring paths and seeds are uncorrelated', () => {
    const pairs = 400;
    const n = 1000;
    let worst = 0;
    for (let i = 0; i < pairs; i++) {
      const a = i % 2 ? randomStream(i) : randomStream(1, i);
      const b = i % 2 ? randomStream(i + 1) : randomStream(1, i + 1);
      let sum = 0;
      for (let j = 0; j < n; j++) sum += (a.uniform() - 0.5) * (b.uniform() - 0.5);
      worst = Math.max(worst, Math.abs((12 * sum) / Math.sqrt(n)));
    }
    expect(worst).toBeLessThan(4.8); // the largest of 400 normals exceeds it once in 1,500
  });

  it('the sign, both halves and the position of every part of a path count', () => {
    const paths = [[0], [0, 0], [1], [-1], [2 ** 32], [2 ** 32 + 1], [1, 2], [2, 1], [1, 2, 0], [1e15]];
    const firsts = paths.map((path) => draws(randomStream(path[0], ...path.slice(1)), 2).join());
    expect(new Set(firsts).size).toBe(paths.length);
  });

  it('uniforms fill (0, 1) evenly', () => {
    const random = randomStream(11);
    expectMoments(() => random.uniform(), {
      mean: 0.5,
      deviation: Math.sqrt(1 / 12),
      skewness: 0,
      kurtosis: 1.8,
    });
    const seen = new Set(Array.from({ length: 1000 }, () => random.below(7)));
    expect([...seen].sort()).toEqual([0, 1, 2, 3, 4, 5, 6]);
  });
});
