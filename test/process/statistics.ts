import { expect } from 'vitest';

/** Requires the mean of the draws to lie within `errors` standard errors of `wanted`. */
export function expectMean(draws: readonly number[], wanted: number, what = '', errors = 4.5): void {
  const { mean, variance } = summary(draws);
  const error = Math.sqrt(variance / draws.length);
  expect(Math.abs(mean - wanted) / error, `${what}: ${mean} ± ${error}, wanted ${wanted}`).toBeLessThan(
    errors,
  );
}

/** Requires two samples to agree in mean and variance within `errors` standard errors. */
export function expectSameMoments(a: readonly number[], b: readonly number[], what = '', errors = 4.5): void {
  const [first, second] = [summary(a), summary(b)];
  const error = Math.sqrt(first.variance / a.length + second.variance / b.length);
  expect(
    Math.abs(first.mean - second.mean) / error,
    `${what}: means ${first.mean}, ${second.mean}`,
  ).toBeLessThan(errors);
  const spread = Math.sqrt(first.varianceError ** 2 + second.varianceError ** 2);
  expect(
    Math.abs(first.variance - second.variance) / spread,
    `${what}: variances ${first.variance}, ${second.variance}`,
  ).toBeLessThan(errors);
}

export function summary(draws: readonly number[]): { mean: number; variance: number; varianceError: number } {
  const n = draws.length;
  const mean = draws.reduce((sum, x) => sum + x, 0) / n;
  const squares = draws.map((x) => (x - mean) ** 2);
  const variance = squares.reduce((sum, x) => sum + x, 0) / (n - 1);
  const spread = squares.reduce((sum, x) => sum + (x - variance) ** 2, 0) / (n - 1);
  return { mean, variance, varianceError: Math.sqrt(spread / n) };
}

/** ∫_low^high f(w) dw by Simpson's rule in log w; an even number of points. */
export function integrateLog(f: (w: number) => number, low: number, high: number, points = 20_000): number {
  const step = Math.log(high / low) / points;
  let sum = 0;
  for (let i = 0; i <= points; i++) {
    const w = low * Math.exp(i * step);
    sum += f(w) * w * (i === 0 || i === points ? 1 : i % 2 ? 4 : 2);
  }
  return (sum * step) / 3;
}
