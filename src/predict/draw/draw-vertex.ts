// Draws the weight and the features of a known vertex jointly. The fit's q treats them as independent, but given the expected
// counts e_k of a vertex their posterior is
//   γ^(n−σ−1) e^(−τγ) Π_k θ_k^(a+e_k−1) e^(−(b+γM_k)θ_k),  n = Σ e_k:
// a large weight goes with small features. If they were drawn separately, the rate γθ·M of a vertex with few edges would vary
// far too much. Integrated over θ, the density of x = log γ is log-concave,
//   h(x) = (n−σ)x − τe^x − Σ_k (a+e_k) log(b+M_k e^x),
// so rejection under its tangents at one point on each side of the mode is exact. Given γ, the features are independent Gammas.
// If only the edges of a vertex are needed, θ is not drawn: given γ, the number of edges of a feature is negative binomial,
// which is a Poisson number of jumps of logarithmic sizes.

import type { Posterior } from '../../fit/model.js';
import type { CountEffects } from '../../fit/sides/count-prior.js';
import { poisson } from '../../math/count-samplers.js';
import { exponential, gamma } from '../../math/distributions.js';
import { allocate } from '../../math/memory.js';
import type { Random } from '../../math/random.js';

/** Known vertices, and the parameters that they were fitted with. */
export interface KnownVertices extends Posterior {
  /** GGP tilt and Gamma rate of the side. */
  readonly tau: number;
  readonly rate: number;
  /** Mass of the other side per feature, M, that the vertices were fitted with. */
  readonly otherMass: Float64Array;
  /** Their effects on counts, if the model has a prior of counts. */
  readonly counts?: CountEffects | undefined;
  /** The envelopes of the vertices, shared by all threads. Default: each thread makes its own. */
  readonly prepared?: Prepared | undefined;
}

/** For each vertex the envelope that its weight is drawn with, and whether it is made. */
interface Prepared {
  readonly envelopes: Float64Array;
  readonly made: Int32Array;
}

/** Room for the envelopes of `count` vertices. */
export function roomFor(count: number): Prepared {
  return { envelopes: allocate(Float64Array, FIELDS * count), made: allocate(Int32Array, count) };
}

/** Draws the activity γθ_k of one vertex into `out`. */
export type VertexSampler = (vertex: number, random: Random, out: Float64Array) => void;

/** Draws the number of edges of one vertex by feature, given the other side's mass; returns their sum. */
export type EdgeSampler = (vertex: number, random: Random, mass: Float64Array, out: Uint32Array) => number;

export function createVertexSampler(vertices: KnownVertices, features: number): VertexSampler {
  const { featureShape, rate, otherMass } = vertices;
  const drawWeight = createWeightSampler(vertices, features);
  return (v, random, out) => {
    const weight = drawWeight(v, random);
    for (let k = 0, at = v * features; k < features; k++, at++) {
      out[k] = (weight * featureGamma(random, featureShape[at])) / (rate + weight * otherMass[k]);
    }
  };
}

/** With more jumps per feature than this, drawing Gammas is cheaper. */
const MANY_JUMPS = 0.7;
/** The size of a jump is found by counting up. Up to this ratio the mean size is below 4. */
const LARGE_JUMPS = 8;

export function createEdgeSampler(vertices: KnownVertices, features: number): EdgeSampler {
  const { featureShape } = vertices;
  const drawWeight = createWeightSampler(vertices, features);
  const drawEdges = createEdgesOfWeight(vertices, features);
  return (v, random, mass, out) =>
    drawEdges(random, drawWeight(v, random), featureShape, v * features, mass, out);
}

/**
 * Draws the edges by feature of a vertex, given its weight and the Gamma shapes of its features, which are at `first` … of `shapes`.
 * `rate` and `otherMass` are those that the vertex was fitted with.
 */
export function createEdgesOfWeight(
  { rate, otherMass }: Pick<KnownVertices, 'rate' | 'otherMass'>,
  features: number,
) {
  const ratios = new Float64Array(features);
  const upTo = new Float64Array(features);
  return (
    random: Random,
    weight: number,
    shapes: ArrayLike<number>,
    first: number,
    mass: Float64Array,
    out: Uint32Array,
  ): number => {
    let most = 0;
    let jumps = 0;
    for (let k = 0; k < features; k++) {
      const ratio = (weight * mass[k]) / (rate + weight * otherMass[k]);
      if (ratio > most) most = ratio;
      ratios[k] = ratio;
      jumps += shapes[first + k] * ratio;
      upTo[k] = jumps;
    }
    let edges = 0;
    if (!(jumps <= MANY_JUMPS * features && most <= LARGE_JUMPS)) {
      for (let k = 0; k < features; k++) {
        const n = poisson(random, ratios[k] * featureGamma(random, shapes[first + k]));
        out[k] = n;
        edges += n;
      }
      return edges;
    }
    out.fill(0);
    // A feature has shape · log(1 + ratio) jumps on average. Thinning shape · ratio jumps avoids the logarithm for most features.
    for (let n = poisson(random, jumps); n > 0; n--) {
      const place = random.uniform() * jumps;
      let k = 0;
      while (k < features - 1 && upTo[k] <= place) k++;
      const ratio = ratios[k];
      const log = Math.log1p(ratio);
      if (random.uniform() * ratio >= log) continue;
      const size = logarithmic(random, ratio / (1 + ratio), log);
      out[k] += size;
      edges += size;
    }
    return edges;
  };
}

/** Draws n ≥ 1 with probability pⁿ/(n·log), where log = −log(1 − p). */
function logarithmic(random: Random, p: number, log: number): number {
  let u = random.uniform();
  let term = p / log;
  for (let n = 1; ; n++) {
    if (u < term || term === 0) return n;
    u -= term;
    term *= (p * n) / (n + 1);
  }
}

/** Fall of h from the mode to the points of contact. The envelope has its least area near 1. */
const FALL = 1;
/** Fields of an envelope: h at the mode; for each point of contact x, h and h′; the mode. */
const FIELDS = 8;

function createWeightSampler(
  vertices: KnownVertices,
  features: number,
): (vertex: number, random: Random) => number {
  const { count, weightShape, featureShape, tau, rate, otherMass } = vertices;
  const { envelopes, made } = vertices.prepared ?? roomFor(count);
  let vertex = 0;

  const h = (x: number): number => {
    const weight = Math.exp(x);
    let value = weightShape[vertex] * x - tau * weight;
    for (let k = 0, at = vertex * features; k < features; k++, at++) {
      value -= featureShape[at] * Math.log(rate + otherMass[k] * weight);
    }
    return value;
  };

  let slope = 0; // h′ at the last point
  let bend = 0; // h″
  const differentiate = (x: number): void => {
    const weight = Math.exp(x);
    slope = weightShape[vertex] - tau * weight;
    bend = -tau * weight;
    for (let k = 0, at = vertex * features; k < features; k++, at++) {
      const share = (otherMass[k] * weight) / (rate + otherMass[k] * weight);
      slope -= featureShape[at] * share;
      bend -= featureShape[at] * share * (1 - share);
    }
  };

  /** Newton's method on a concave function, in steps of at most 2, until h is within 1e-6 of its maximum. */
  function findMode(): number {
    let x = Math.log(weightShape[vertex] / vertices.weightRate[vertex]);
    for (let step = 0; step < 50; step++) {
      differentiate(x);
      const move = Math.max(-2, Math.min(2, -slope / bend));
      x += move;
      if (move * move * -bend < 1e-6) break;
    }
    return x;
  }

  /** Walks from the mode until h has fallen by about FALL. */
  function contact(mode: number, top: number, direction: 1 | -1, out: Float64Array): void {
    differentiate(mode);
    let distance = Math.sqrt((2 * FALL) / -bend);
    for (let step = 0; step < 30; step++) {
      const fall = top - h(mode + direction * distance);
      if (fall > 0.5 * FALL && fall < 2 * FALL) break;
      // h falls like a power of the distance, with an exponent between 1 and 2.
      distance *= Math.min(4, Math.max(0.25, (FALL / Math.max(fall, 1e-9)) ** 0.7));
    }
    const x = mode + direction * distance;
    differentiate(x);
    out[0] = x;
    out[1] = h(x);
    out[2] = slope;
  }

  function makeEnvelope(): void {
    const at = vertex * FIELDS;
    const mode = findMode();
    const top = h(mode);
    envelopes[at] = top;
    contact(mode, top, -1, envelopes.subarray(at + 1, at + 4));
    contact(mode, top, 1, envelopes.subarray(at + 4, at + 7));
    envelopes[at + 7] = mode;
    // The atomic store publishes the envelope. If two threads make the same one, they write the same numbers.
    Atomics.store(made, vertex, 1);
  }

  function drawLogWeight(random: Random): number {
    const at = vertex * FIELDS;
    const top = envelopes[at] + 1e-6;
    const mode = envelopes[at + 7];
    const leftAt = envelopes[at + 1];
    const leftValue = envelopes[at + 2];
    const leftSlope = envelopes[at + 3];
    const rightAt = envelopes[at + 4];
    const rightValue = envelopes[at + 5];
    const rightSlope = envelopes[at + 6];
    // The flat piece ends where the tangents reach the top; beyond it they are exponentials.
    const low = leftAt + (top - leftValue) / leftSlope;
    const high = rightAt + (top - rightValue) / rightSlope;
    const leftArea = 1 / leftSlope;
    const rightArea = -1 / rightSlope;
    for (;;) {
      let u = random.uniform() * (leftArea + rightArea + high - low);
      let x: number;
      let bound = top;
      if (u < high - low) x = low + u;
      else if ((u -= high - low) < leftArea) {
        x = low - exponential(random) / leftSlope;
        bound = top + leftSlope * (x - low);
      } else {
        x = high - exponential(random) / rightSlope;
        bound = top + rightSlope * (x - high);
      }
      const level = Math.log(random.uniform()) + bound;
      // h lies above its chords from the mode to the points of contact, so most draws are accepted without evaluating h.
      if (level <= chord(x, x < mode ? leftAt : rightAt, x < mode ? leftValue : rightValue, at)) return x;
      if (level <= h(x)) return x;
    }
  }

  /** The chord from the mode to a point of contact; −∞ beyond the point. */
  function chord(x: number, end: number, value: number, at: number): number {
    const share = (x - end) / (envelopes[at + 7] - end);
    return share >= 0 ? value + share * (envelopes[at] - value) : Number.NEGATIVE_INFINITY;
  }

  return (v, random) => {
    vertex = v;
    if (Atomics.load(made, v) === 0) makeEnvelope();
    return Math.exp(drawLogWeight(random));
  };
}

/** Gamma(shape, rate 1). A draw below the range of float64 becomes 0, an activity without effect. */
function featureGamma(random: Random, shape: number): number {
  if (shape >= 1) return gamma(random, shape);
  return gamma(random, shape + 1) * Math.exp(Math.log(random.uniform()) / shape);
}
