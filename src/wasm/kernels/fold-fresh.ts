// @ts-nocheck: AssemblyScript. The host reads the types of exported functions (instantiate.ts).
// Re-initialised rows: all start with equal features and take a few half-steps from the same other table, with means throughout.
// A row and the rows it gathers stay in cache meanwhile. Only means are stored: a step needs nothing else from the step before,
// because a feature's mean is the activity divided by the weight's mean.

import { BATCH_BYTES, demoteSums, passRows, sumPieces } from './edges';
import { job, rowBytes, scratch, unit } from './params';
import { addTo, madd, narrow, promoteHigh, sumsOfFour } from './simd';

/** Most rows of a block, as in rows.ts. A block has fewer rows if they gather more than stays in cache. */
const BLOCK: u32 = 16;
/** Most bytes that a block may gather: half of a core's own cache. */
const GATHERED: usize = 524288;

// A worker's scratch begins with the batch of the edge pass. Then follow, for each row: four partial sums of its counts, four
// partial sums of Σ_k E[feature_k] M_k times the weight, and the weight. Last are one row's sums in float64 and the sums of the
// block's rows.
const COUNT_SUMS: usize = BATCH_BYTES;
const RATE_SUMS: usize = COUNT_SUMS + 16 * <usize>BLOCK;
const WEIGHTS: usize = RATE_SUMS + 16 * <usize>BLOCK;
const LONG_SUMS: usize = WEIGHTS + 4 * <usize>BLOCK;

/** How many of the `left` rows form the next block. */
@inline
function blockRows(offsets: usize, left: u32, bytes: usize): u32 {
  const begin = load<u32>(offsets);
  for (let rows = BLOCK; rows > 4; rows >>= 1) {
    const here = min(rows, left);
    if ((<usize>(load<u32>(offsets + ((<usize>here) << 2)) - begin)) * bytes <= GATHERED) return here;
  }
  return min<u32>(4, left);
}

/** Replaces a row's sums with its expected counts A_ik Σ_j w_ij B_jk, and stores the partial sums for its weight. */
@inline
function countRow(shown: usize, sums: usize, mass: usize, bytes: usize, row: usize): void {
  let counted = f32x4.splat(0);
  let rateSum = f32x4.splat(0);
  for (let k: usize = 0; k < bytes; k += 16) {
    const a = v128.load(shown + k);
    const count = f32x4.mul(a, v128.load(sums + k));
    v128.store(sums + k, count);
    counted = f32x4.add(counted, count);
    rateSum = madd(a, v128.load(mass + k), rateSum);
  }
  v128.store(row, counted, COUNT_SUMS);
  v128.store(row, rateSum, RATE_SUMS);
}

/** Sets a row's activities to the means of its features times its weight, from its counts. */
@inline
function showRow(shown: usize, counts: usize, weight: v128, bytes: usize, mass: usize): void {
  const shape = f32x4.splat(<f32>job.shape);
  const rate = f32x4.splat(<f32>job.rate);
  const floor = f32x4.splat(<f32>job.activityFloor);
  const other: usize = job.otherMass;
  const mask: usize = job.laneMask;
  for (let k: usize = 0; k < bytes; k += 16) {
    const means = f32x4.div(
      f32x4.mul(weight, f32x4.add(shape, v128.load(counts + k))),
      madd(weight, v128.load(other + k), rate),
    );
    const real = v128.and(f32x4.pmax(means, floor), v128.load(mask + k));
    if (mass) addTo(mass + (k << 1), real);
    v128.store(shown + k, real);
  }
}

/**
 * The second half of a half-step for rows first … first+rows−1. Their sums and weights are in the scratch.
 * @param mass stride float64 that receive the rows' mass; 0: another step follows
 * @returns the first row with a weight that is not a positive number, or first+rows
 */
function finishRows(first: u32, rows: u32, sums: usize, mass: usize): u32 {
  const bytes = rowBytes;
  const shown: usize = <usize>job.activity + (<usize>first) * bytes;
  for (let r: usize = 0; r < <usize>rows; r++) {
    countRow(shown + r * bytes, sums + r * bytes, job.otherMass, bytes, scratch + (r << 4));
  }
  for (let r: usize = 0; r < <usize>rows; r += 4) {
    const from = scratch + (r << 4);
    const to = scratch + (r << 2);
    const counted = sumsOfFour(from + COUNT_SUMS);
    const rateSum = f32x4.div(sumsOfFour(from + RATE_SUMS), v128.load(to, WEIGHTS));
    const least = f64x2.splat(job.shapeFloor);
    const sigma = f64x2.splat(job.sigma);
    const tau = f64x2.splat(job.tau);
    const shape = narrow(
      f64x2.pmax(f64x2.sub(f64x2.promote_low_f32x4(counted), sigma), least),
      f64x2.pmax(f64x2.sub(promoteHigh(counted), sigma), least),
    );
    const rate = narrow(f64x2.add(f64x2.promote_low_f32x4(rateSum), tau), f64x2.add(promoteHigh(rateSum), tau));
    v128.store(to, f32x4.div(shape, rate), WEIGHTS);
  }
  let bad = first + rows;
  for (let r: u32 = 0; r < rows; r++) {
    const at = scratch + ((<usize>r) << 2);
    const row = (<usize>r) * bytes;
    const weight = load<f32>(at, WEIGHTS);
    if (!(weight > 0 && isFinite(weight)) && bad == first + rows) bad = first + r;
    showRow(shown + row, sums + row, v128.load32_splat(at, WEIGHTS), bytes, mass);
  }
  return bad;
}

/** Initialises a row with equal features: its weight goes to row `r` of the scratch, and its activities are set. */
@inline
function beginRow(row: u32, r: usize, bytes: usize): void {
  const weight = load<f32>(<usize>job.freshWeights + ((<usize>row) << 2));
  store<f32>(scratch + (r << 2), weight, WEIGHTS);
  const shown: usize = <usize>job.activity + (<usize>row) * bytes;
  const means = f32x4.splat(max(weight * <f32>job.firstFeature, <f32>job.activityFloor));
  for (let k: usize = 0; k < bytes; k += 16) v128.store(shown + k, v128.and(means, v128.load(<usize>job.laneMask + k)));
}

/**
 * All half-steps of a unit's rows.
 * @returns the first row with a weight that is not a positive number, or `last`
 */
export function foldFreshRows(): u32 {
  const bytes = rowBytes;
  const long = scratch + LONG_SUMS;
  const sums = long + (bytes << 1);
  let bad = unit.last;
  for (let start = unit.first; start < unit.last; ) {
    const offsets: usize = <usize>unit.offsets + ((<usize>(start - unit.first)) << 2);
    const rows = blockRows(offsets, unit.last - start, bytes);
    const shown = <usize>job.activity + (<usize>start) * bytes;
    for (let r: u32 = 0; r < rows; r++) beginRow(start + r, r, bytes);
    for (let step: u32 = 1; step <= job.steps; step++) {
      // After the first step, the rows that the block gathers are in cache.
      passRows(shown, rows, offsets, long, sums, step == 1 && job.prefetch != 0);
      const badHere = finishRows(start, rows, sums, step == job.steps ? <usize>unit.mass : 0);
      if (bad == unit.last && badHere < start + rows) bad = badHere;
    }
    start += rows;
  }
  return bad;
}

/** One half-step of a row longer than a window, from the sums of its pieces. Returns the row if its weight is bad, else the next. */
export function foldFreshLong(): u32 {
  const bytes = rowBytes;
  const long = scratch + LONG_SUMS;
  const sums = long + (bytes << 1);
  const weight: usize = <usize>job.freshWeights + ((<usize>unit.first) << 2);
  demoteSums(sumPieces(long), sums);
  store<f32>(scratch, load<f32>(weight), WEIGHTS);
  const bad = finishRows(unit.first, 1, sums, unit.mass);
  store<f32>(weight, load<f32>(scratch, WEIGHTS));
  return bad;
}
