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
  const logs = new Float64Array(known);
  let [sum, count] = [0, 0];
  for (let r = 0; r < known; r++) {
    if (isOut?.[r]) continue;
    logs[r] = Math.log1p(degree[r]);
    sum += logs[r];
    count++;
  }
  const mean = count > 0 ? sum / count : 0;
  for (let r = 0; r < known; r++) logs[r] = isOut?.[r] ? 0 : logs[r] - mean;
  const product = (w: Float64Array, r: number) => {
    let value = 0;
    for (let e = offsets[r]; e < offsets[r + 1]; e++) value += w[targets[e]];
    return value;
  };
  const transposed = (values: (r: number) => number) => {
    const out = new Float64Array(attributes);
    for (let r = 0; r < known; r++) {
      if (isOut?.[r]) continue;
      const value = values(r);
      for (let e = offsets[r]; e < offsets[r + 1]; e++) out[targets[e]] += value;
    }
    return out;
  };
  // Conjugate gradients on (X'X + penalty) w = X'y.
  const w = new Float64Array(attributes);
  const rest = transposed((r) => logs[r]);
  const direction = rest.slice();
  let square = squared(rest);
  const enough = TOLERANCE * square;
  for (let step = 0; step < STEPS && square > enough; step++) {
    const image = transposed((r) => product(direction, r));
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
