// Continuous samplers. Each takes the random stream first and has no other source of randomness.

import { FitError } from '../errors.js';
import type { Random } from './random.js';

// Ziggurat of 256 layers of equal area for the density e^(−x²/2): the right edge of the lowest layer, and the area.
const LAYERS = 256;
const EDGE = 3.654152885361009;
const AREA = 0.004928673233974655;
const edges = new Float64Array(LAYERS + 1);
const heights = new Float64Array(LAYERS + 1);
{
  const density = (x: number) => Math.exp(-0.5 * x * x);
  edges[0] = AREA / density(EDGE); // the lowest layer, as wide as its area with the tail folded in
  edges[1] = EDGE;
  for (let i = 1; i < LAYERS - 1; i++) {
    edges[i + 1] = Math.sqrt(-2 * Math.log(AREA / edges[i] + density(edges[i])));
  }
  edges[LAYERS] = 0;
  for (let i = 0; i <= LAYERS; i++) heights[i] = density(edges[i]);
}

export function normal(random: Random): number {
  for (;;) {
    const bits = random.uint32();
    const layer = bits & 255;
    const sign = bits & 256 ? -1 : 1;
    const x = edges[layer] * random.uniform();
    if (x < edges[layer + 1]) return sign * x;
    if (layer === 0) return sign * normalTail(random);
    const y = heights[layer] + (heights[layer + 1] - heights[layer]) * random.uniform();
    if (y < Math.exp(-0.5 * x * x)) return sign * x;
  }
}

/** A normal beyond the ziggurat's edge (Marsaglia's tail method). */
function normalTail(random: Random): number {
  for (;;) {
    const x = -Math.log(random.uniform()) / EDGE;
    if (-2 * Math.log(random.uniform()) > x * x) return EDGE + x;
  }
}

/** Exponential of rate 1. */
export function exponential(random: Random): number {
  return -Math.log(random.uniform());
}

/** The smallest normal float64. Draws too small for float64 become this, so that no draw is 0. */
export const TINY = 2 ** -1022;

/** Gamma(shape, rate 1), shape > 0. Never 0: shapes below 1 are drawn in log space. */
export function gamma(random: Random, shape: number): number {
  if (shape >= 1) return gammaAboveOne(random, shape);
  return Math.max(TINY, Math.exp(logGamma(random, shape)));
}

/** The logarithm of a Gamma(shape, rate 1) draw; exact even if the draw itself would underflow. */
export function logGamma(random: Random, shape: number): number {
  if (shape >= 1) return Math.log(gammaAboveOne(random, shape));
  // G(shape + 1)·U^(1/shape) is Gamma(shape).
  return Math.log(gammaAboveOne(random, shape + 1)) + Math.log(random.uniform()) / shape;
}

/** Marsaglia and Tsang's cubed normal, shape ≥ 1. */
function gammaAboveOne(random: Random, shape: number): number {
  const d = shape - 1 / 3;
  const c = 1 / Math.sqrt(9 * d);
  // Without this check the rejection loop would never end.
  if (!(c > 0)) throw new FitError(`cannot draw a Gamma of shape ${shape}: hyperparameters are too extreme`);
  for (;;) {
    const x = normal(random);
    const root = 1 + c * x;
    if (root <= 0) continue;
    const v = root * root * root;
    const u = random.uniform();
    const x2 = x * x;
    if (u < 1 - 0.0331 * x2 * x2) return d * v;
    if (Math.log(u) < 0.5 * x2 + d * (1 - v + Math.log(v))) return d * v;
  }
}
