import { countDegrees, type DegreeCounts, expectedSurvivors } from './degree-counts.js';
import { type DegreeFit, fitDegrees } from './degree-likelihood.js';
import { fitLowDegrees, type LowDegreeFit } from './low-degrees.js';

/** Four estimates of one side's tail index σ. */
export interface TailIndex {
  /** log2(N / Σ(1−2^−d)): between 0 and 1, biased upwards in small samples. The default. */
  readonly half: number;
  /** The same at every level p instead of ½, averaged over p. */
  readonly mean: number;
  /** From the likelihood of all degrees, which can be negative; undefined if all degrees are 1. */
  readonly likelihood: DegreeFit | undefined;
  /** From the likelihood of the low degrees, which decides the verdict; undefined if there are too few. */
  readonly lowDegrees: LowDegreeFit | undefined;
}

/** An estimate whose missing standard error is null, as JSON has it. */
export type WithNull<T extends { readonly standardError: number | undefined }> = Omit<T, 'standardError'> & {
  readonly standardError: number | null;
};

/** A tail index as JSON holds it: a missing estimate or error is null. */
export interface TailIndexJson extends Pick<TailIndex, 'half' | 'mean'> {
  readonly likelihood: WithNull<DegreeFit> | null;
  readonly lowDegrees: WithNull<LowDegreeFit> | null;
}

export function tailIndexJson({ half, mean, likelihood, lowDegrees }: TailIndex): TailIndexJson {
  const nullable = <T extends { readonly standardError: number | undefined }>(fit: T | undefined) =>
    fit ? { ...fit, standardError: fit.standardError ?? null } : null;
  return { half, mean, likelihood: nullable(likelihood), lowDegrees: nullable(lowDegrees) };
}

/**
 * Estimates the tail index of a side from its degrees (all ≥ 1).
 * @example
 * import { tailIndex } from 'graphex';
 * console.log(tailIndex([1, 1, 1, 2, 3, 8]).half);
 */
export function tailIndex(degrees: ArrayLike<number>): TailIndex {
  return tailIndexOfCounts(countDegrees(degrees));
}

export function tailIndexOfCounts(counts: DegreeCounts): TailIndex {
  return {
    half: tailIndexAt(counts, 0.5),
    mean: meanTailIndex(counts),
    likelihood: fitDegrees(counts),
    lowDegrees: fitLowDegrees(counts),
  };
}

/** σ̂ at p = ½ alone, for comparison with posterior predictive draws. */
export function tailIndexHalf(degrees: ArrayLike<number>): number {
  return tailIndexAt(countDegrees(degrees), 0.5);
}

/** σ̂ at level p, log(Σ(1−(1−p)^d)/N) / log p: in a power law, thinning to p leaves a fraction p^σ of the vertices. */
export function tailIndexAt(counts: DegreeCounts, p: number): number {
  if (counts.count === 0) return 0;
  // Rounding may put the sum slightly above N in a graph of huge degrees.
  return Math.max(0, Math.log(expectedSurvivors(counts, p) / counts.count) / Math.log(p));
}

/** Midpoint rule over p ∈ (0, 1). */
function meanTailIndex(counts: DegreeCounts): number {
  const points = 100;
  let sum = 0;
  for (let i = 0; i < points; i++) sum += tailIndexAt(counts, (i + 0.5) / points);
  return sum / points;
}

/** Standard error of σ̂ at p = ½, from the spread of 1 − 2^−d over the vertices. */
export function tailIndexHalfError({ degree, vertices, count }: DegreeCounts): number {
  let sum = 0;
  let squares = 0;
  for (let n = 0; n < degree.length; n++) {
    const kept = 1 - 2 ** -degree[n];
    sum += vertices[n] * kept;
    squares += vertices[n] * kept ** 2;
  }
  const mean = sum / count;
  return Math.sqrt(Math.max(0, squares / count - mean ** 2) / count) / (mean * Math.LN2);
}
