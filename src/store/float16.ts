// Tables in half precision. A row is divided by a number of its own, so that small rows lose nothing, and its squares are
// stored, with the sign of the value: a root halves the relative error of what it is taken of, and the range of a half is
// wide enough for squares. Of many such numbers the row takes the one that rounds the values that matter most to its
// scores least: a score is a sum with few large parts. Values keep twelve bits, those that matter most fourteen and more.

export interface HalfTable {
  readonly values: Uint16Array;
  /** What the roots of each row are to be multiplied with. */
  readonly scales: Float32Array;
}

/** What the largest square of a row comes to with the least of the scales: below the end of the range even after rounding. */
const TOP = 2 ** 15;
/** Scales that are tried within a factor of two, and values of a row that judge them. */
const TRIES = 1024;
const JUDGES = 16;

const single = new Float32Array(1);
const bits = new Uint32Array(single.buffer);

/** `weights`: how much each column counts, for instance the mass of the other side. */
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
  // Scales stay normal numbers of float32; rows below that are zero for every purpose.
  const least = largest > 0 ? Math.max(2 ** -126, largest / Math.sqrt(TOP)) : 1;
  const judges = chooseJudges(row, weights);
  let best = least;
  let error = Infinity;
  for (let t = 0; t < TRIES; t++) {
    const scale = Math.fround(least * (1 + t / TRIES));
    const inverse = 1 / scale;
    let sum = 0;
    // They come in the order of what they count: most scales are out after a few.
    for (let j = 0; j < judges && sum < error; j++) {
      const wanted = judgeValues[j] * inverse;
      const square = wanted * wanted;
      const wide = square * ELEVEN_BITS;
      // The root of a small error is half of it, and the half does not matter for which is least.
      const off = judgeWeights[j] * ((wide - (wide - square)) / square - 1);
      sum += off * off;
    }
    if (sum < error) {
      error = sum;
      best = scale;
    }
  }
  return best;
}

/** A number times this, less that product less the number, is the number in eleven bits. */
const ELEVEN_BITS = 2 ** 42 + 1;
const judgeValues = new Float64Array(JUDGES);
const judgeWeights = new Float64Array(JUDGES);

/** Finds the values of a row that count most, largest first; says how many there are. */
function chooseJudges(row: Float32Array, weights: ArrayLike<number> | undefined): number {
  let count = 0;
  for (let k = 0; k < row.length; k++) {
    const value = Math.abs(row[k]);
    const weight = weights ? Math.abs(value * weights[k]) : value;
    if (weight === 0 || (count === JUDGES && weight <= judgeWeights[JUDGES - 1])) continue;
    let at = count < JUDGES ? count++ : JUDGES - 1;
    for (; at > 0 && judgeWeights[at - 1] < weight; at--) {
      judgeValues[at] = judgeValues[at - 1];
      judgeWeights[at] = judgeWeights[at - 1];
    }
    judgeValues[at] = value;
    judgeWeights[at] = weight;
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

/** The nearest half of a number, ties to even. */
function halfBits(value: number): number {
  single[0] = value;
  const sign = (bits[0] >>> 16) & 0x8000;
  const magnitude = bits[0] & 0x7fffffff;
  if (magnitude >= 0x47800000) return sign | 0x7c00 | (magnitude > 0x7f800000 ? 1 : 0);
  if (magnitude < 0x38800000) {
    // Below the normal range: a whole number of 2^−24.
    const steps = Math.abs(single[0]) * 2 ** 24;
    const floor = Math.floor(steps);
    const up = steps - floor > 0.5 || (steps - floor === 0.5 && floor % 2 === 1);
    return sign | (floor + (up ? 1 : 0));
  }
  const rounded = magnitude - 0x38000000 + 0xfff + ((magnitude >>> 13) & 1);
  return sign | (rounded >>> 13);
}

/** The roots of all halves, with their signs, by their bits; made when first needed. */
let roots: Float32Array | undefined;
function halfRoots(): Float32Array {
  if (roots) return roots;
  roots = new Float32Array(1 << 16);
  for (let b = 0; b < roots.length; b++) {
    const fraction = b & 0x3ff;
    const exponent = (b >>> 10) & 0x1f;
    const magnitude =
      exponent === 0
        ? fraction * 2 ** -24
        : exponent === 31
          ? fraction
            ? Number.NaN
            : Number.POSITIVE_INFINITY
          : (1024 + fraction) * 2 ** (exponent - 25);
    roots[b] = (b & 0x8000 ? -1 : 1) * Math.sqrt(magnitude);
  }
  return roots;
}
