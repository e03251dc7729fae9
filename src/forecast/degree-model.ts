// How vertices of few edges go on. In the model's law the number of vertices with n edges is proportional to
// Γ(n−σ)/n! · r^n, r = m/(1+m), where m is the mass that the other side has shown them so far, in units of τ. When the
// other side grows by the factor 1 + t, m becomes (1+t)m, and the vertices seen grow from ((1+m)^σ − 1)/σ to
// ((1+(1+t)m)^σ − 1)/σ. Whatever is new will have few edges, so the law is fitted to the vertices of few edges alone: at the
// top it fails (sparsity/low-degrees.ts), and what fails there must not steer what happens here.

import { maximize } from '../math/maximize.js';
import { lgamma } from '../math/special.js';
import type { DegreeCounts } from '../sparsity/degree-counts.js';
import { countUpTo } from '../sparsity/low-degrees.js';

export interface DegreeModel {
  readonly sigma: number;
  /** m above; a pure power law has a very large one. */
  readonly mass: number;
  /** Vertices with n edges: scale · Γ(n−σ)/(Γ(1−σ) n!) · r^n. */
  readonly scale: number;
  /** Degrees up to this one were used. */
  readonly upTo: number;
}

/** Degrees looked at: up to this one, further where fewer than `ENOUGH` vertices have them, never beyond `MOST`. */
const FEWEST = 7;
const MOST = 100;
const ENOUGH = 100;
/** Below −30 the law is a Poisson law for every purpose; at 1 every edge brings a new vertex. */
const RANGE = { low: -30, high: 0.98 } as const;
/** log r of a pure power law, kept off 0 so that m stays finite. */
const POWER = -1e-9;

/** The law of the vertices of few edges; undefined where there is no such vertex or every one of them has a single edge. */
export function fitDegreeModel(counts: DegreeCounts): DegreeModel | undefined {
  const upTo = highestDegree(counts);
  const { vertices, count, sum } = countUpTo(counts, upTo);
  if (sum <= count) return undefined;
  const logWeight = new Float64Array(upTo + 1);
  const profile = (sigma: number) => {
    const base = lgamma(1 - sigma);
    let value = 0;
    for (let n = 1; n <= upTo; n++) {
      logWeight[n] = lgamma(n - sigma) - base - lgamma(n + 1);
      if (vertices[n] > 0) value += vertices[n] * logWeight[n];
    }
    const { logR, logMass } = solveLogR(logWeight, sum / count);
    return { logR, logMass, value: value / count + (sum / count) * logR - logMass };
  };
  const sigma =
    1 -
    Math.exp(
      maximize((x) => profile(1 - Math.exp(x)).value, Math.log(1 - RANGE.high), Math.log(1 - RANGE.low), {
        tolerance: 1e-4,
      }),
    );
  const { logR, logMass } = profile(sigma);
  return { sigma, mass: 1 / Math.expm1(-logR), scale: count / Math.exp(logMass), upTo };
}

/** Vertices that the law adds when the other side grows from 1 to 1 + t times what it is. */
export function newVertices({ sigma, mass, scale }: DegreeModel, t: number): number {
  const growth = Math.log1p((t * mass) / (1 + mass));
  return scale * (Math.abs(sigma) < 1e-9 ? growth : Math.expm1(sigma * growth) / sigma);
}

/** Vertices that the law will add for ever; Infinity where the side is sparse. */
export function unseenForEver({ sigma, scale }: DegreeModel): number {
  return sigma < 0 ? -scale / sigma : Number.POSITIVE_INFINITY;
}

/** The t at which so many vertices have been added; Infinity where it never happens. */
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

/** The log r at which the law up to the last degree has the given mean, or that of a power law, and its log-normalizer. */
function solveLogR(logWeight: Float64Array, mean: number): { logR: number; logMass: number } {
  let low = -50;
  let high = POWER;
  if (moments(logWeight, high).mean > mean) {
    for (let step = 0; step < 50; step++) {
      const middle = (low + high) / 2;
      if (moments(logWeight, middle).mean < mean) low = middle;
      else high = middle;
    }
  } else low = high;
  const logR = (low + high) / 2;
  return { logR, logMass: moments(logWeight, logR).logMass };
}

function moments(logWeight: Float64Array, logR: number): { mean: number; logMass: number } {
  let largest = Number.NEGATIVE_INFINITY;
  for (let n = 1; n < logWeight.length; n++) largest = Math.max(largest, logWeight[n] + n * logR);
  let mass = 0;
  let first = 0;
  for (let n = 1; n < logWeight.length; n++) {
    const weight = Math.exp(logWeight[n] + n * logR - largest);
    mass += weight;
    first += n * weight;
  }
  return { mean: first / mass, logMass: largest + Math.log(mass) };
}
