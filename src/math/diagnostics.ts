// Tests whether chains have mixed: split R-hat and effective sample size of one scalar over chains of equal length.

import { mean as average } from './moments.js';
import { quantile } from './quantile.js';

/** Mean, spread and convergence of a chain. */
export interface ChainSummary {
  readonly mean: number;
  readonly standardDeviation: number;
  /** The 5 % and the 95 % quantile of all draws. */
  readonly interval: { readonly low: number; readonly high: number };
  /** Close to 1 when all halves of all chains agree; above 1.01 they have not mixed. */
  readonly splitRHat: number;
  /** Number of independent draws that would carry the same information. */
  readonly effectiveSamples: number;
}

export function summarizeChains(chains: readonly ArrayLike<number>[]): ChainSummary {
  const halves = chains.flatMap((chain) => {
    const values = Float64Array.from(chain);
    const half = Math.floor(values.length / 2);
    return [values.subarray(0, half), values.subarray(values.length - half)];
  });
  const n = halves[0].length;
  const means = halves.map(average);
  const variances = halves.map((half, h) => sumSquares(half, means[h]) / (n - 1));
  const mean = average(means);
  const within = average(variances);
  const between = (n * sumSquares(means, mean)) / (halves.length - 1);
  const pooled = ((n - 1) / n) * within + between / n;
  const draws = Float64Array.from(halves.flatMap((half) => [...half])).sort();
  const interval = { low: quantile(draws, 0.05), high: quantile(draws, 0.95) };
  // A constant has mixed, and one draw determines it.
  if (pooled === 0) {
    return { mean, standardDeviation: 0, interval, splitRHat: 1, effectiveSamples: n * halves.length };
  }
  return {
    mean,
    standardDeviation: Math.sqrt(pooled),
    interval,
    splitRHat: within > 0 ? Math.sqrt(pooled / within) : Infinity,
    effectiveSamples: effectiveSamples(halves, means, within, pooled),
  };
}

/** n·m over the autocorrelation time, summed in pairs while the pairs are positive and do not rise (Geyer). */
function effectiveSamples(
  halves: readonly Float64Array[],
  means: readonly number[],
  within: number,
  pooled: number,
): number {
  const n = halves[0].length;
  const correlation = (lag: number) => {
    const covariance = average(
      halves.map((half, h) => {
        let sum = 0;
        for (let t = 0; t + lag < n; t++) sum += (half[t] - means[h]) * (half[t + lag] - means[h]);
        return sum / n;
      }),
    );
    return 1 - (within - covariance) / pooled;
  };
  let time = 1;
  let before = Infinity;
  for (let lag = 1; lag + 1 < n; lag += 2) {
    const pair = Math.min(correlation(lag) + correlation(lag + 1), before);
    if (pair <= 0) break;
    time += 2 * pair;
    before = pair;
  }
  return (n * halves.length) / time;
}

function sumSquares(values: ArrayLike<number>, mean: number): number {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += (values[i] - mean) ** 2;
  return sum;
}
