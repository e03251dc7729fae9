// Tables in half precision: each row is divided by a power of two, so that its largest value comes near the top of the
// range and small rows lose nothing; values keep eleven bits.

export interface HalfTable {
  readonly values: Uint16Array;
  /** What each row is to be multiplied with. */
  readonly scales: Float32Array;
}

/** Exponent that the largest value of a row gets: below the end of the range even after rounding. */
const TOP = 14;

export function toHalf(table: Float32Array, rows: number): HalfTable {
  const width = rows === 0 ? 0 : table.length / rows;
  const values = new Uint16Array(table.length);
  const scales = new Float32Array(rows);
  for (let r = 0; r < rows; r++) {
    let largest = 0;
    for (let at = r * width; at < (r + 1) * width; at++) largest = Math.max(largest, Math.abs(table[at]));
    const exponent = largest > 0 ? Math.floor(Math.log2(largest)) - TOP : 0;
    // Scales stay normal numbers of float32; rows below that are zero for every purpose.
    const scale = 2 ** Math.max(-126, exponent);
    scales[r] = scale;
    for (let at = r * width; at < (r + 1) * width; at++) values[at] = halfBits(table[at] / scale);
  }
  return { values, scales };
}

export function fromHalf({ values, scales }: HalfTable, out: Float32Array): Float32Array {
  const table = halfValues();
  const width = scales.length === 0 ? 0 : values.length / scales.length;
  for (let r = 0; r < scales.length; r++) {
    for (let at = r * width; at < (r + 1) * width; at++) out[at] = table[values[at]] * scales[r];
  }
  return out;
}

const single = new Float32Array(1);
const bits = new Uint32Array(single.buffer);

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

/** All halves, by their bits; made when first needed. */
let halves: Float32Array | undefined;
function halfValues(): Float32Array {
  if (halves) return halves;
  halves = new Float32Array(1 << 16);
  for (let b = 0; b < halves.length; b++) {
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
    halves[b] = b & 0x8000 ? -magnitude : magnitude;
  }
  return halves;
}
