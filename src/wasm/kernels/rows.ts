// @ts-nocheck: AssemblyScript. The host reads the types of exported functions (instantiate.ts).
// One half-step over a run of rows: the edge pass and, block by block while the rows are in cache, the update.
//
// All tables are rows × stride float32 (stride = features rounded up to 4), 16-byte aligned.

import { showMeans, showPair } from './activity';
import { BATCH_BYTES, demoteSums, passLong, passRows, sumPieces } from './edges';
import { addFixed, addRow, magicOf, nearOf, takeCounts } from './fixed';
import { job, rowBytes, scratch, unit } from './params';
import { expDigammaOver, madd, narrow, promoteHigh, sumsOfFour } from './simd';
import { beginTiled, passStretches, takeTiled, tiledBefore } from './tiled';

/**
 * Rows of a block. Values needed once per row (its weight and exp ψ of it) then fill vectors, and values needed once per feature
 * (its masses) stay in registers. The block's rows are still in the first-level cache when they are read again.
 */
const BLOCK: usize = 16;

// A worker's scratch begins with the batch of the edge pass. Then follow, in this order: what each row of a block needs once, at
// these offsets; one row's sums in float64; the sums of the block's rows (BLOCK × stride float32); and the gathered activities
// of tiled rows, of the same length.
const COUNT_SUMS: usize = BATCH_BYTES; // four partial sums of the row's counts
const RATE_SUMS: usize = COUNT_SUMS + 16 * BLOCK; // four partial sums of Σ_k E[feature_k] M_k
const SHAPES: usize = RATE_SUMS + 16 * BLOCK; // the weight's shape
const RATES: usize = SHAPES + 4 * BLOCK; // the weight's rate
const MEANS: usize = RATES + 4 * BLOCK; // the weight's mean
const SCALES: usize = MEANS + 4 * BLOCK; // the weight's factor in the row's activities
const LONG_SUMS: usize = SCALES + 4 * BLOCK;

/** Bytes of scratch for rows of this stride. */
export function scratchBytes(stride: u32): usize {
  return LONG_SUMS + ((<usize>stride) << 3) + 2 * BLOCK * ((<usize>stride) << 2);
}

@inline
function blockSums(): usize {
  return scratch + LONG_SUMS + (rowBytes << 1);
}

/**
 * Updates rows first … first+rows−1, at most a block, from the scratch: weights, features and activities. Adds their mass to `mass`
 * (stride float64).
 * @param counted the scratch holds expected counts A_ik Σ_j w_ij B_jk; else only the sums Σ_j w_ij B_jk
 * @returns the first row with a weight that is not finite, or first+rows
 */
function finishBlock(first: u32, rows: u32, mass: usize, counted: bool): u32 {
  const bytes = rowBytes;
  const sums = blockSums();
  const prior = f32x4.splat(<f32>job.shape);
  const farther = f32x4.splat(<f32>job.relaxation);
  const least = f32x4.splat(<f32>job.relaxationFloor);
  for (let r: u32 = 0; r < rows; r++) {
    const at = (<usize>(first + r)) * bytes;
    const from = sums + (<usize>r) * bytes;
    const row = scratch + ((<usize>r) << 4);
    if (counted) updateShapes(at, from, bytes, row, prior, farther, least, true, true);
    else if (job.relaxation > 0) updateShapes(at, from, bytes, row, prior, farther, least, true, false);
    else updateShapes(at, from, bytes, row, prior, farther, least, false, false);
  }
  updateWeights(rows);
  const shapes: usize = job.weightShape;
  const rates: usize = job.weightRate;
  let bad = first + rows;
  for (let r: u32 = 0; r < rows; r++) {
    const ws = load<f32>(scratch + ((<usize>r) << 2), SHAPES);
    const wr = load<f32>(scratch + ((<usize>r) << 2), RATES);
    store<f32>(shapes + ((<usize>(first + r)) << 2), ws);
    store<f32>(rates + ((<usize>(first + r)) << 2), wr);
    if (!(isFinite(ws) && isFinite(wr)) && bad == first + rows) bad = first + r;
  }
  showBlock(first, rows, mass, true);
  return bad;
}

/** Sets one row's feature shapes a + Σ_j w_ij A_ik B_jk and stores the sums over features that its weight needs. */
@inline
function updateShapes(
  at: usize, sums: usize, bytes: usize, row: usize, prior: v128, farther: v128, least: v128, relaxed: bool, direct: bool,
): void {
  let a = <usize>job.activity + at;
  let fs = <usize>job.featureShape + at;
  let fr = <usize>job.featureRate + at;
  let M: usize = job.otherMass;
  let mask: usize = job.laneMask;
  let counted = f32x4.splat(0);
  let rateSum = f32x4.splat(0);
  for (const end = sums + bytes; sums < end; sums += 16, a += 16, fs += 16, fr += 16, M += 16, mask += 16) {
    const count = direct ? v128.load(sums) : f32x4.mul(v128.load(a), v128.load(sums));
    counted = f32x4.add(counted, count);
    const before = v128.load(fs);
    rateSum = madd(f32x4.div(before, v128.load(fr)), v128.load(M), rateSum);
    let moved = count;
    if (relaxed) {
      moved = madd(farther, f32x4.sub(count, f32x4.sub(before, prior)), count);
      moved = f32x4.pmax(moved, f32x4.mul(least, count));
    }
    // Padding lanes keep shape 0, hence mean 0 and activity 0.
    v128.store(fs, v128.and(f32x4.add(prior, moved), v128.load(mask)));
  }
  v128.store(row, counted, COUNT_SUMS);
  v128.store(row, rateSum, RATE_SUMS);
}

/** Sets the Gammas of the block's weights, four rows at a time. */
@inline
function updateWeights(rows: u32): void {
  for (let r: u32 = 0; r < rows; r += 4) {
    const from = scratch + ((<usize>r) << 4);
    const to = scratch + ((<usize>r) << 2);
    const counted = sumsOfFour(from + COUNT_SUMS);
    const rateSum = sumsOfFour(from + RATE_SUMS);
    v128.store(to, narrow(
      f64x2.pmax(f64x2.sub(f64x2.promote_low_f32x4(counted), f64x2.splat(job.sigma)), f64x2.splat(job.shapeFloor)),
      f64x2.pmax(f64x2.sub(promoteHigh(counted), f64x2.splat(job.sigma)), f64x2.splat(job.shapeFloor)),
    ), SHAPES);
    v128.store(to, narrow(
      f64x2.add(f64x2.promote_low_f32x4(rateSum), f64x2.splat(job.tau)),
      f64x2.add(promoteHigh(rateSum), f64x2.splat(job.tau)),
    ), RATES);
  }
}

/**
 * Activities of a block of rows from their Gammas, exp(E log ·) or the mean, at least the floor in real lanes; and their mass. The
 * scratch holds the block's weights. `updated`: first set the rates of the features from these weights.
 */
@inline
function showBlock(first: u32, rows: u32, mass: usize, updated: bool): void {
  for (let r: u32 = 0; r < rows; r += 4) {
    const at = scratch + ((<usize>r) << 2);
    const ws = v128.load(at, SHAPES);
    const wr = v128.load(at, RATES);
    const mean = f32x4.div(ws, wr);
    v128.store(at, mean, MEANS);
    v128.store(at, job.geometric ? expDigammaOver(ws, wr) : mean, SCALES);
  }
  const bytes = rowBytes;
  const prior = f32x4.splat(<f32>job.rate);
  const floor = f32x4.splat(<f32>job.activityFloor);
  const shapes: usize = job.featureShape;
  const rates: usize = job.featureRate;
  const activity: usize = job.activity;
  const otherMass: usize = job.otherMass;
  const laneMask: usize = job.laneMask;
  let at = (<usize>first) * bytes;
  let row = scratch;
  if (job.geometric) {
    for (let r: u32 = 2; r <= rows; r += 2) {
      showPair(
        bytes, shapes + at, shapes + at + bytes, rates + at, rates + at + bytes,
        activity + at, activity + at + bytes, v128.load32_splat(row, MEANS), v128.load32_splat(row, MEANS + 4),
        v128.load32_splat(row, SCALES), v128.load32_splat(row, SCALES + 4), prior, floor, otherMass, laneMask, mass,
        updated, false,
      );
      at += bytes << 1;
      row += 8;
    }
    if (rows & 1) {
      const mean = v128.load32_splat(row, MEANS);
      const scale = v128.load32_splat(row, SCALES);
      showPair(
        bytes, shapes + at, shapes + at, rates + at, rates + at, activity + at, activity + at,
        mean, mean, scale, scale, prior, floor, otherMass, laneMask, mass, updated, true,
      );
    }
  } else {
    for (let r: u32 = 0; r < rows; r++, at += bytes, row += 4) {
      showMeans(
        bytes, shapes + at, rates + at, activity + at, v128.load32_splat(row, MEANS), prior, floor,
        otherMass, laneMask, mass, updated,
      );
    }
  }
}

/** Sets the activities of a unit's rows and adds their mass. */
export function showRows(): void {
  for (let start = unit.first; start < unit.last; start += <u32>BLOCK) {
    const rows = min(<u32>BLOCK, unit.last - start);
    for (let r: u32 = 0; r < rows; r++) {
      const i = (<usize>(start + r)) << 2;
      store<f32>(scratch + ((<usize>r) << 2), load<f32>(<usize>job.weightShape + i), SHAPES);
      store<f32>(scratch + ((<usize>r) << 2), load<f32>(<usize>job.weightRate + i), RATES);
    }
    showBlock(start, rows, unit.mass, false);
  }
}

/** Updates one long row from the sums of its pieces. Returns the row if its weight is not finite, else the next row. */
export function finishRow(): u32 {
  demoteSums(sumPieces(scratch + LONG_SUMS), blockSums());
  return finishBlock(unit.first, 1, unit.mass, false);
}

/** Writes the sums of one piece of a long row to its slot (stride float64). */
export function passPiece(): void {
  const row = <usize>job.activity + (<usize>unit.first) * rowBytes;
  const first = load<u32>(unit.offsets);
  passLong(row, first, first + unit.edges, blockSums(), unit.pieceSums, job.prefetch != 0);
}

/** Walks the edges of tiled rows in one tile. */
export function passTile(): void {
  const sums = blockSums();
  passStretches(<u32>BLOCK, sums + BLOCK * rowBytes, scratch + LONG_SUMS, sums);
}

/**
 * Half-step of a unit's rows. A block is updated as soon as its edges have been walked, while it is in cache.
 * @returns the first row with a weight that is not finite, or `last`
 */
export function walkRows(): u32 {
  const bytes = rowBytes;
  const sums = blockSums();
  const first = unit.first;
  const last = unit.last;
  const mass: usize = unit.mass;
  beginTiled();
  let bad = last;
  for (let start = first; start < last; start += <u32>BLOCK) {
    const rows = min(<u32>BLOCK, last - start);
    const offsets: usize = <usize>unit.offsets + ((<usize>(start - first)) << 2);
    passRows(<usize>job.activity + (<usize>start) * bytes, rows, offsets, scratch + LONG_SUMS, sums, job.prefetch != 0);
    if (!mass) continue;
    takeTiled(start, rows, sums);
    const badHere = finishBlock(start, rows, mass, false);
    if (bad == last && badHere < start + rows) bad = badHere;
  }
  return bad;
}

/**
 * The first half of a half-step: adds the expected counts of a unit's rows to the fixed-point counts.
 * @returns the first row with a count too large for fixed point, or `last`
 */
export function countRows(): u32 {
  const bytes = rowBytes;
  const sums = blockSums();
  const first = unit.first;
  const last = unit.last;
  beginTiled();
  const fixed: usize = job.counts;
  const scale = job.scale;
  const magic = magicOf(scale);
  const near = nearOf(scale);
  for (let start = first; start < last; start += <u32>BLOCK) {
    const rows = min(<u32>BLOCK, last - start);
    const offsets: usize = <usize>unit.offsets + ((<usize>(start - first)) << 2);
    const none = load<u32>(offsets) == load<u32>(offsets + ((<usize>rows) << 2));
    if (none && !tiledBefore(start + rows)) continue;
    passRows(<usize>job.activity + (<usize>start) * bytes, rows, offsets, scratch + LONG_SUMS, sums, job.prefetch != 0);
    takeTiled(start, rows, sums);
    for (let r: u32 = 0; r < rows; r++) {
      const row = (<usize>(start + r)) * bytes;
      if (!addRow(fixed + (row << 1), <usize>job.activity + row, sums + (<usize>r) * bytes, bytes, magic, near, scale)) {
        return start + r;
      }
    }
  }
  return last;
}

/** countRows for one long row, from the sums of its pieces. */
export function countPieces(): u32 {
  const bytes = rowBytes;
  const row = (<usize>unit.first) * bytes;
  const sums = sumPieces(scratch + LONG_SUMS);
  let fits = true;
  for (let k: usize = 0; k < bytes; k += 8) {
    const a = f64x2.promote_low_f32x4(v128.load64_zero(<usize>job.activity + row + k));
    fits = addFixed(<usize>job.counts + ((row + k) << 1), f64x2.mul(a, v128.load(sums + (k << 1))), job.scale) && fits;
  }
  return fits ? unit.last : unit.first;
}

export function clearRows(): void {
  const bytes = rowBytes << 1;
  const end = <usize>job.counts + (<usize>unit.last) * bytes;
  for (let to = <usize>job.counts + (<usize>unit.first) * bytes; to < end; to += 16) v128.store(to, i64x2.splat(0));
}

/**
 * The second half of a half-step: updates a unit's rows from their counts.
 * @returns the first row with a weight that is not finite or a count too large for fixed point, or `last`
 */
export function finishCounts(): u32 {
  const bytes = rowBytes;
  const sums = blockSums();
  let bad = unit.last;
  for (let start = unit.first; start < unit.last; start += <u32>BLOCK) {
    const rows = min(<u32>BLOCK, unit.last - start);
    const from = <usize>job.counts + ((<usize>start) * bytes << 1);
    takeCounts(sums, from, (<usize>rows) * bytes, job.scale);
    const badHere = finishBlock(start, rows, unit.mass, true);
    if (bad == unit.last && badHere < start + rows) bad = badHere;
  }
  return bad;
}
