// The distribution of low degrees. In the model, the number of vertices with n edges is proportional to
// Γ(n−σ)/n! · r^n, r = m/(1+m), where m is the observed mass of the other side, in units of τ. When the
// other side grows by the factor 1 + t, m becomes (1+t)m, and the vertices seen grow from ((1+m)^σ − 1)/σ to
// ((1+(1+t)m)^σ − 1)/σ. New vertices will have few edges, so the distribution is fitted to low degrees
// only: it fails for high degrees (sparsity/low-degrees.ts), which would bias the fit.

import type { DegreeCounts } from '../sparsity/degree-counts.js';
import { countUpTo, fillLogWeights, maximizeSigma, solveLogR } from '../sparsity/low-degrees.js';

export interface DegreeModel {
  readonly sigma: number;
  /** m above; a pure power law has a very large one. */
  readonly mass: number;
  /** Vertices with n edges: scale · Γ(n−σ)/(Γ(1−σ) n!) · r^n. */
  readonly scale: number;
}

/** Degrees up to this one are used; more if fewer than `ENOUGH` vertices have them, but never beyond `MOST`. */
const FEWEST = 7;
const MOST = 100;
const ENOUGH = 100;
/** Below −30 the distribution is practically Poisson; at 1 every edge brings a new vertex. */
const RANGE = { low: -30, high: 0.98 } as const;
/** log r of a pure power law, kept off 0 so that m stays finite, and where the search of log r starts. */
const POWER = -1e-9;
const START = -0.01;

/** The distribution of low degrees; undefined if no vertex has a low degree, or if all of these have a single edge. */
export function fitDegreeModel(counts: DegreeCounts): DegreeModel | undefined {
  const upTo = highestDegree(counts);
  const { vertices, count, sum } = countUpTo(counts, upTo);
  if (sum <= count) return undefined;
  const logWeight = new Float64Array(upTo + 1);
  const profile = (sigma: number) => {
    const value = fillLogWeights(logWeight, sigma, vertices);
    const { logR, logMass } = solveLogR(logWeight, sum / count, START, POWER);
    return { logR, logMass, value: value / count + (sum / count) * logR - logMass };
  };
  const sigma = maximizeSigma((x) => profile(x).value, RANGE, 1e-4);
  const { logR, logMass } = profile(sigma);
  return { sigma, mass: 1 / Math.expm1(-logR), scale: count / Math.exp(logMass) };
}

/** New vertices that the model expects when the other side grows from 1 to 1 + t times what it is. */
export function newVertices({ sigma, mass, scale }: DegreeModel, t: number): number {
  const growth = Math.log1p((t * mass) / (1 + mass));
  return scale * (Math.abs(sigma) < 1e-9 ? growth : Math.expm1(sigma * growth) / sigma);
}

/** New vertices that the model expects in the limit; Infinity if the side is sparse. */
export function unseenForEver({ sigma, scale }: DegreeModel): number {
  return sigma < 0 ? -scale / sigma : Number.POSITIVE_INFINITY;
}

/** The t at which the given number of vertices is added; Infinity if that never happens. */
export function growthUntil({ sigma, mass, scale }: DegreeModel, added: number): number {
  const share = (sigma * added) / scale;
  if (share <= -1) return Number.POSITIVE_INFINITY;
  const growth = Math.abs(sigma) < 1e-9 ? added / scale : Math.log1p(share) / sigma;
  return (Math.expm1(growth) * (1 + mass)) / mass;
}

function highestDegree(counts: DegreeCounts): number {
  let upTo = FEWEST;
  let count = 0;
  for (let n = 0; n < counts.degree.length; n++) {
    const degree = counts.degree[n];
    if (degree > MOST || (degree > FEWEST && count >= ENOUGH)) break;
    upTo = Math.max(upTo, degree);
    count += counts.vertices[n];
  }
  return upTo;
}
