// The popularity that attributes predict: ridge regression of the logarithm of the degree on the attributes.

import type { SparseWeights } from '../topn/query.js';

/** Number of items of average popularity that every attribute starts with. */
const PENALTY = 10;
const STEPS = 40;
const TOLERANCE = 1e-6;

/**
 * The predicted logarithm of the degree of each row, minus the mean over the known rows. The first rows are those with degrees;
 * `isOut` marks rows that the regression must not see.
 */
export function predictedPopularity(
  rows: SparseWeights,
  attributes: number,
  degree: ArrayLike<number>,
  isOut?: Uint8Array,
): Float64Array {
  const { offsets, targets } = rows;
  const total = offsets.length - 1;
  const known = degree.length;
  const seen = Uint32Array.from({ length: known }, (_, r) => r).filter((r) => !isOut?.[r]);
  const logs = Float64Array.from(seen, (r) => Math.log1p(degree[r]));
  const mean = logs.reduce((sum, log) => sum + log, 0) / Math.max(1, seen.length);
  /** Adds `value` to each attribute of a row. */
  const addTo = (out: Float64Array, r: number, value: number) => {
    for (let e = offsets[r]; e < offsets[r + 1]; e++) out[targets[e]] += value;
  };
  const product = (w: Float64Array, r: number) => {
    let value = 0;
    for (let e = offsets[r]; e < offsets[r + 1]; e++) value += w[targets[e]];
    return value;
  };
  // Conjugate gradients on (X'X + penalty) w = X'y.
  const w = new Float64Array(attributes);
  const rest = new Float64Array(attributes);
  for (let i = 0; i < seen.length; i++) addTo(rest, seen[i], logs[i] - mean);
  const direction = rest.slice();
  let square = squared(rest);
  const enough = TOLERANCE * square;
  for (let step = 0; step < STEPS && square > enough; step++) {
    const image = new Float64Array(attributes);
    for (const r of seen) addTo(image, r, product(direction, r));
    let curvature = 0;
    for (let a = 0; a < attributes; a++) {
      image[a] += PENALTY * direction[a];
      curvature += image[a] * direction[a];
    }
    const length = square / curvature;
    for (let a = 0; a < attributes; a++) {
      w[a] += length * direction[a];
      rest[a] -= length * image[a];
    }
    const before = square;
    square = squared(rest);
    for (let a = 0; a < attributes; a++) direction[a] = rest[a] + (square / before) * direction[a];
  }
  return Float64Array.from({ length: total }, (_, r) => product(w, r));
}

function squared(values: Float64Array): number {
  let sum = 0;
  for (const value of values) sum += value * value;
  return sum;
}
