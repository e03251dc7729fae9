// Tables in half precision. Each row is divided by a scale of its own, so that small rows lose nothing. The file holds the
// squares of the values with their signs: a root halves the relative error, and the range of a half is wide enough for
// squares. Among many scales the row takes the one with the least error in its large values: a score is a sum with few
// large terms. Values keep 12 bits, and those that matter most keep 14 and more.

import { halfNumber } from '../math/half.js';

interface HalfTable {
  readonly values: Uint16Array;
  /** The factor of each row. */
  readonly scales: Float32Array;
}

/** The largest square of a row with the smallest scale: within the range even after rounding. */
const TOP = 2 ** 15;
/** The number of scales to try within a factor of two, and of values of a row that decide between them. */
const TRIES = 1024;
const DECIDING = 16;

const single = new Float32Array(1);
const bits = new Uint32Array(single.buffer);

/** `weights`: the importance of each column, for instance the mass of the other side. */
export function toHalf(table: Float32Array, rows: number, weights?: ArrayLike<number>): HalfTable {
  const width = rows === 0 ? 0 : table.length / rows;
  const values = new Uint16Array(table.length);
  const scales = new Float32Array(rows);
  for (let r = 0; r < rows; r++) {
    const row = table.subarray(r * width, (r + 1) * width);
    const scale = bestScale(row, weights);
    scales[r] = scale;
    for (let k = 0; k < width; k++)
      values[r * width + k] = halfBits((row[k] / scale) * Math.abs(row[k] / scale));
  }
  return { values, scales };
}

function bestScale(row: Float32Array, weights: ArrayLike<number> | undefined): number {
  let largest = 0;
  for (let k = 0; k < row.length; k++) largest = Math.max(largest, Math.abs(row[k]));
  // Scales are normal numbers of float32; smaller rows are zero for every purpose.
  const least = largest > 0 ? Math.max(2 ** -126, largest / Math.sqrt(TOP)) : 1;
  const deciding = chooseDeciding(row, weights);
  let best = least;
  let error = Infinity;
  for (let t = 0; t < TRIES; t++) {
    const scale = Math.fround(least * (1 + t / TRIES));
    const inverse = 1 / scale;
    let sum = 0;
    // Important values come first, so most scales are rejected after a few.
    for (let j = 0; j < deciding && sum < error; j++) {
      const wanted = decidingValues[j] * inverse;
      const square = wanted * wanted;
      const wide = square * ELEVEN_BITS;
      // The root halves every small error, which does not change the smallest.
      const off = decidingWeights[j] * ((wide - (wide - square)) / square - 1);
      sum += off * off;
    }
    if (sum < error) {
      error = sum;
      best = scale;
    }
  }
  return best;
}

/** x·c − (x·c − x) with this c is x rounded to eleven bits. */
const ELEVEN_BITS = 2 ** 42 + 1;
const decidingValues = new Float64Array(DECIDING);
const decidingWeights = new Float64Array(DECIDING);

/** Finds the most important values of a row, largest first; returns their number. */
function chooseDeciding(row: Float32Array, weights: ArrayLike<number> | undefined): number {
  let count = 0;
  for (let k = 0; k < row.length; k++) {
    const value = Math.abs(row[k]);
    const weight = weights ? Math.abs(value * weights[k]) : value;
    if (weight === 0 || (count === DECIDING && weight <= decidingWeights[DECIDING - 1])) continue;
    let at = count < DECIDING ? count++ : DECIDING - 1;
    for (; at > 0 && decidingWeights[at - 1] < weight; at--) {
      decidingValues[at] = decidingValues[at - 1];
      decidingWeights[at] = decidingWeights[at - 1];
    }
    decidingValues[at] = value;
    decidingWeights[at] = weight;
  }
  return count;
}

export function fromHalf({ values, scales }: HalfTable, out: Float32Array): Float32Array {
  const roots = halfRoots();
  const width = scales.length === 0 ? 0 : values.length / scales.length;
  for (let r = 0; r < scales.length; r++) {
    for (let at = r * width; at < (r + 1) * width; at++) out[at] = roots[values[at]] * scales[r];
  }
  return out;
}

/** The bits of the nearest half-precision number; ties go to even. */
function halfBits(value: number): number {
  single[0] = value;
  const sign = (bits[0] >>> 16) & 0x8000;
  const magnitude = bits[0] & 0x7fffffff;
  if (magnitude >= 0x47800000) return sign | 0x7c00 | (magnitude > 0x7f800000 ? 1 : 0);
  if (magnitude < 0x38800000) {
    // Below the normal range: a multiple of 2^−24.
    const steps = Math.abs(single[0]) * 2 ** 24;
    const floor = Math.floor(steps);
    const up = steps - floor > 0.5 || (steps - floor === 0.5 && floor % 2 === 1);
    return sign | (floor + (up ? 1 : 0));
  }
  const rounded = magnitude - 0x38000000 + 0xfff + ((magnitude >>> 13) & 1);
  return sign | (rounded >>> 13);
}

/** The roots of all half-precision numbers, with their signs, by their bits; computed on first use. */
let roots: Float32Array | undefined;
function halfRoots(): Float32Array {
  if (roots) return roots;
  roots = new Float32Array(1 << 16);
  for (let b = 0; b < roots.length; b++) {
    const value = halfNumber(b);
    roots[b] = Math.sign(value) * Math.sqrt(Math.abs(value));
  }
  return roots;
}
