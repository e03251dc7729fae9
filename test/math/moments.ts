import { expect } from 'vitest';

/** Mean, standard deviation, skewness and kurtosis of the standardized variable (3 for a normal). */
export interface Moments {
  readonly mean: number;
  readonly deviation: number;
  readonly skewness: number;
  readonly kurtosis: number;
}

/** Moments of a distribution on 0, 1, 2, … with unnormalized log probabilities, summed until nothing is left. */
export function momentsOf(logProbability: (k: number) => number, from: number, to: number): Moments {
  let top = Number.NEGATIVE_INFINITY;
  for (let k = from; k <= to; k++) top = Math.max(top, logProbability(k));
  let sum = 0;
  let mean = 0;
  for (let k = from; k <= to; k++) {
    const p = Math.exp(logProbability(k) - top);
    sum += p;
    mean += p * k;
  }
  mean /= sum;
  const central = [0, 0, 0];
  for (let k = from; k <= to; k++) {
    const p = Math.exp(logProbability(k) - top) / sum;
    for (let j = 0; j < 3; j++) central[j] += p * (k - mean) ** (j + 2);
  }
  const deviation = Math.sqrt(central[0]);
  return {
    mean,
    deviation,
    skewness: central[1] / deviation ** 3,
    kurtosis: central[2] / deviation ** 4,
  };
}

/**
 * Draws n times and requires the mean of z, z², z³ and z⁴ of the standardized draw to lie within 4.5 standard errors of
 * 0, 1, the skewness and the kurtosis: sixty such tests fail by chance once in two thousand choices of the seed.
 */
export function expectMoments(draw: () => number, expected: Moments, n = 200_000): void {
  const wanted = [0, 1, expected.skewness, expected.kurtosis];
  const sums = [0, 0, 0, 0];
  const squares = [0, 0, 0, 0];
  for (let i = 0; i < n; i++) {
    const z = (draw() - expected.mean) / expected.deviation;
    let power = 1;
    for (let j = 0; j < 4; j++) {
      power *= z;
      sums[j] += power;
      squares[j] += power * power;
    }
  }
  for (let j = 0; j < 4; j++) {
    const average = sums[j] / n;
    const error = Math.sqrt((squares[j] / n - average * average) / n);
    expect(
      Math.abs(average - wanted[j]) / error,
      `moment ${j + 1}: ${average}, wanted ${wanted[j]}`,
    ).toBeLessThan(4.5);
  }
}

/** ψ′(x), x > 0. */
export function trigamma(x: number): number {
  let sum = 0;
  while (x < 10) {
    sum += 1 / (x * x);
    x++;
  }
  const z = 1 / (x * x);
  const series =
    1 / 6 -
    z *
      (1 / 30 -
        z * (1 / 42 - z * (1 / 30 - z * (5 / 66 - z * (691 / 2730 - z * (7 / 6 - z * (3617 / 510)))))));
  return sum + (1 + (0.5 + series / x) / x) / x;
}
