// How many vertices of a side will be seen when the other side has grown by the factor 1 + t, estimated from the degrees.
// docs/forecast.md has the formulas, their sources and their errors on thinned data.

import type { DegreeCounts } from '../sparsity/degree-counts.js';
import { tailIndexAt } from '../sparsity/tail-index.js';
import { fitDegreeModel, newVertices } from './degree-model.js';

/** The data of an estimator. */
interface SeenVertices {
  readonly counts: DegreeCounts;
  /** Vertices of the side that grows, as far as they are known: the number of samples. */
  readonly samples: number;
}

interface GrowthEstimator {
  readonly title: string;
  /** Smallest t it is made for; at and below it, it has no value. Default 0. */
  readonly from?: number;
  /** The largest t at which it is valid. Default: it is valid for any. */
  readonly until?: number;
  /** A function of t, made once for the same degrees: vertices seen in all. */
  readonly curve: (seen: SeenVertices) => (t: number) => number;
}

/** Every estimator that needs the degrees alone. `lowDegrees` is the default: docs/forecast.md has the reasons. */
export const ESTIMATORS = {
  lowDegrees: {
    title: 'low-degree model',
    curve: ({ counts }) => {
      const model = fitDegreeModel(counts);
      const single = counts.degree[0] === 1 ? counts.vertices[0] : 0;
      // If no vertex has two edges, every new edge may bring a new vertex. If no vertex has one edge, no new vertices are expected.
      return (t) => counts.count + (model ? newVertices(model, t) : t * single);
    },
  },
  goodToulmin: {
    title: 'Good–Toulmin',
    until: 1,
    curve: ({ counts }) => {
      const at = (t: number) => counts.count - weighted(counts, t, () => 1);
      const sigma = tailIndexAt(counts, 0.5);
      // The series ends at t = 1; a power law extends it.
      return (t) => (t <= 1 ? at(t) : at(1) * ((1 + t) / 2) ** sigma);
    },
  },
  efronThisted: {
    title: 'Efron–Thisted',
    from: 1,
    curve: ({ counts }) => smoothed(counts, (t) => binomialTail(1 / (t + 1), steps(counts, t, 2))),
  },
  smoothedBinomial: {
    title: 'smoothed Good–Toulmin (binomial)',
    from: 1,
    curve: ({ counts }) => smoothed(counts, (t) => binomialTail(2 / (t + 2), steps(counts, t, 3))),
  },
  smoothedPoisson: {
    title: 'smoothed Good–Toulmin (Poisson)',
    from: 1,
    curve: ({ counts }) =>
      smoothed(counts, (t) => poissonTail(Math.log((counts.sum * (t + 1) ** 2) / (t - 1)) / (2 * t))),
  },
  chao2: {
    title: 'Chao2',
    curve: ({ counts, samples }) => {
      const [once, twice] = [withDegree(counts, 1), withDegree(counts, 2)];
      const share = samples > 1 ? (samples - 1) / samples : 1;
      const unseen = share * (twice > 0 ? once ** 2 / (2 * twice) : (once * (once - 1)) / 2);
      // All unseen vertices are assumed to be alike, so each further sample finds the same share of the rest.
      const miss = unseen > 0 ? Math.log1p(-once / (samples * unseen + once)) : 0;
      return (t) => counts.count - unseen * Math.expm1(t * samples * miss);
    },
  },
  power: {
    title: 'power law',
    curve: ({ counts }) => {
      const sigma = tailIndexAt(counts, 0.5);
      return (t) => counts.count * (1 + t) ** sigma;
    },
  },
} as const satisfies Record<string, GrowthEstimator>;

/** The names of the estimators of growth. */
export type EstimatorName = keyof typeof ESTIMATORS;
export const ESTIMATOR_NAMES = Object.keys(ESTIMATORS) as readonly EstimatorName[];
export const DEFAULT_ESTIMATOR = 'lowDegrees' satisfies EstimatorName;

/** Random thinning or a left-out group may put t just above the largest valid one: by less than this factor. */
const SLACK = 1.15;

/** Whether an estimator is used at this t. */
export function servesAt(name: EstimatorName, t: number): boolean {
  const { from = 0, until = Number.POSITIVE_INFINITY }: GrowthEstimator = ESTIMATORS[name];
  return t > from && t < until * SLACK;
}

function withDegree({ degree, vertices }: DegreeCounts, wanted: number): number {
  for (let n = 0; n < degree.length && degree[n] <= wanted; n++) if (degree[n] === wanted) return vertices[n];
  return 0;
}

/** Σ_i (−t)^i w(i) Φ_i. */
function weighted({ degree, vertices }: DegreeCounts, t: number, weight: (i: number) => number): number {
  let sum = 0;
  for (let n = 0; n < degree.length; n++) {
    const i = degree[n];
    const w = weight(i);
    if (w === 0) {
      if (i > 1) break; // tails fall: nothing follows
      continue;
    }
    sum += (i % 2 === 0 ? 1 : -1) * Math.exp(i * Math.log(t)) * w * vertices[n];
  }
  return sum;
}

/** Good–Toulmin's terms, the i-th times P(L ≥ i): the mean of the sums that end after a random number L of terms. */
function smoothed(counts: DegreeCounts, tail: (t: number) => (i: number) => number): (t: number) => number {
  return (t) => counts.count - weighted(counts, t, tail(t));
}

/** Number of trials of the binomial: ½ log(n t²/(t−1)), n the number of edges, in the base that belongs to its probability. */
function steps(counts: DegreeCounts, t: number, base: number): number {
  return Math.max(0, Math.floor((0.5 * Math.log((counts.sum * t * t) / (t - 1))) / Math.log(base)));
}

function binomialTail(q: number, k: number): (i: number) => number {
  const tail = new Float64Array(k + 2);
  // Summed from the small end, to avoid cancellation in the tail.
  for (let i = k; i >= 0; i--) tail[i] = tail[i + 1] + choose(k, i) * q ** i * (1 - q) ** (k - i);
  return (i) => (i <= k ? tail[i] : 0);
}

function poissonTail(r: number): (i: number) => number {
  const last = Math.ceil(r + 12 * Math.sqrt(r) + 40);
  const tail = new Float64Array(last + 2);
  let log = -r;
  const terms = Float64Array.from({ length: last + 1 }, (_, i) => {
    if (i > 0) log += Math.log(r / i);
    return Math.exp(log);
  });
  for (let i = last; i >= 0; i--) tail[i] = tail[i + 1] + terms[i];
  return (i) => (i <= last ? tail[i] : 0);
}

function choose(k: number, i: number): number {
  let value = 1;
  for (let j = 1; j <= i; j++) value = (value * (k - i + j)) / j;
  return value;
}
