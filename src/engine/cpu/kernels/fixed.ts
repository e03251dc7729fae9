// Fixed point: expected counts as int64, so that adding them in any order gives the same bits.

import { promoteHigh } from './simd';

/** Below this a float64 that is whole, and an int64, have the same low 52 bits after 1.5·2⁵² is added. */
const NEAR: f64 = 2251799813685248; // 2⁵¹
const MAGIC: f64 = 6755399441055744; // 1.5·2⁵²
const MAGIC_BITS: i64 = 0x4338000000000000;
/** Counts end here: half of what int64 holds, so that a sum that went over is seen. */
const LIMIT: f64 = 4611686018427387904; // 2⁶²

/** Float64 in a vector that are whole once 1.5·2⁵² is added: as int64. Those that are not below 2⁵¹ have higher bits set. */
// @ts-ignore: decorator
@inline
function toFixed(scaled: v128): v128 {
  return i64x2.sub(f64x2.add(scaled, f64x2.splat(MAGIC)), i64x2.splat(MAGIC_BITS));
}

/**
 * Adds the products of a row's activities and its sums, times `scale`, to the int64 at `to`. False where one is not a number,
 * negative, or too large.
 * @param bytes of a row in float32
 */
// @ts-ignore: decorator
@inline
export function addRow(to: usize, activity: usize, sums: usize, bytes: usize, scale: f64): bool {
  // A power of two, so the products have the bits that they would have without it.
  const factor = f32x4.splat(<f32>scale);
  let seen = i64x2.splat(0);
  for (let k: usize = 0; k < bytes; k += 16) {
    const count = f32x4.mul(f32x4.mul(v128.load(activity + k), v128.load(sums + k)), factor);
    const low = toFixed(f64x2.promote_low_f32x4(count));
    const high = toFixed(promoteHigh(count));
    const at = to + (k << 1);
    v128.store(at, i64x2.add(v128.load(at), low));
    v128.store(at, i64x2.add(v128.load(at, 16), high), 16);
    seen = v128.or(seen, v128.or(low, high));
  }
  return v128.any_true(i64x2.shr_u(seen, 51)) ? addLargeRow(to, activity, sums, bytes, scale) : true;
}

/** The same for a row with large counts, which were added as if they were not: that is taken back first. */
function addLargeRow(to: usize, activity: usize, sums: usize, bytes: usize, scale: f64): bool {
  let fits = true;
  for (let k: usize = 0; k < bytes; k += 4, to += 8) {
    const scaled = <f64>(load<f32>(activity + k) * load<f32>(sums + k)) * scale;
    const wrong = i64x2.extract_lane(toFixed(f64x2.splat(scaled)), 0);
    store<i64>(to, load<i64>(to) - wrong);
    fits = addLarge(to, scaled) && fits;
  }
  return fits;
}

/** Adds two counts, times `scale`, to two int64 at `to`. False where one is not a number, negative, or too large. */
// @ts-ignore: decorator
@inline
export function addFixed(to: usize, counts: v128, scale: f64): bool {
  const scaled = f64x2.mul(counts, f64x2.splat(scale));
  if (i64x2.all_true(v128.and(f64x2.lt(scaled, f64x2.splat(NEAR)), f64x2.ge(scaled, f64x2.splat(0))))) {
    v128.store(to, i64x2.add(v128.load(to), toFixed(scaled)));
    return true;
  }
  return addLarge(to, f64x2.extract_lane(scaled, 0)) && addLarge(to + 8, f64x2.extract_lane(scaled, 1));
}

function addLarge(to: usize, scaled: f64): bool {
  if (!(scaled >= 0 && scaled < LIMIT)) return false;
  const sum = load<i64>(to) + <i64>nearest<f64>(scaled);
  store<i64>(to, sum);
  return sum >= 0 && sum < <i64>LIMIT;
}

/** Two counts from two int64 at `from`; not a number where the sum was beyond fixed point. */
// @ts-ignore: decorator
@inline
export function fromFixed(from: usize, share: f64): v128 {
  const whole = v128.load(from);
  if (!v128.any_true(i64x2.shr_u(whole, 51))) {
    return f64x2.mul(f64x2.sub(i64x2.add(whole, i64x2.splat(MAGIC_BITS)), f64x2.splat(MAGIC)), f64x2.splat(share));
  }
  return f64x2.replace_lane(
    f64x2.splat(largeCount(i64x2.extract_lane(whole, 0), share)), 1, largeCount(i64x2.extract_lane(whole, 1), share),
  );
}

function largeCount(whole: i64, share: f64): f64 {
  return whole >= 0 && whole < <i64>LIMIT ? <f64>whole * share : NaN;
}
