// @ts-nocheck: AssemblyScript.
// Fixed point: expected counts as int64, so that adding them in any order gives the same bits.

import { narrow, promoteHigh } from './simd';

/** 1.5·2⁵², kept in memory for the reason given in simd.ts. */
const MAGIC = memory.data<f64>([6755399441055744]);
/** Below this, adding 1.5·2⁵² to a whole float64 leaves the number's int64 bits in the low 52 bits of the sum. */
const NEAR: f64 = 2251799813685248; // 2⁵¹
/** Upper limit of counts: half the range of int64, so that an overflowing sum is detected. */
const LIMIT: f64 = 4611686018427387904; // 2⁶²

/** 1.5·2⁵² / scale in both lanes. */
export function magicOf(scale: f64): v128 {
  return f64x2.div(v128.load64_splat(MAGIC), f64x2.splat(scale));
}

/** The float32 from which counts count as large, in all four lanes. */
export function nearOf(scale: f64): v128 {
  return f32x4.splat(<f32>(NEAR / scale));
}

/** Two counts as int64. Adding `magic` rounds them to steps of 1/scale, and the low bits of the sum are the int64. */
@inline
function toFixed(counts: v128, magic: v128): v128 {
  return i64x2.sub(f64x2.add(counts, magic), magic);
}

/**
 * Adds the products of a row's activities and sums, times `scale`, to the int64 at `to`. Returns false if a product is NaN,
 * negative or too large.
 * @param bytes size of a row in float32
 * @param magic magicOf(scale)
 * @param near nearOf(scale)
 */
@inline
export function addRow(to: usize, activity: usize, sums: usize, bytes: usize, magic: v128, near: v128, scale: f64): bool {
  // As unsigned integers, float bits sort like the floats; negative numbers and NaN come last.
  let largest = i32x4.splat(0);
  for (let k: usize = 0; k < bytes; k += 16) {
    const count = f32x4.mul(v128.load(activity + k), v128.load(sums + k));
    largest = i32x4.max_u(largest, count);
    const at = to + (k << 1);
    v128.store(at, i64x2.add(v128.load(at), toFixed(f64x2.promote_low_f32x4(count), magic)));
    v128.store(at, i64x2.add(v128.load(at, 16), toFixed(promoteHigh(count), magic)), 16);
  }
  return v128.any_true(i32x4.ge_u(largest, near)) ? addLargeRow(to, activity, sums, bytes, scale) : true;
}

/** addRow for a row with large counts. First subtracts what addRow added for them, which is wrong. */
function addLargeRow(to: usize, activity: usize, sums: usize, bytes: usize, scale: f64): bool {
  const magic = magicOf(scale);
  let fits = true;
  for (let k: usize = 0; k < bytes; k += 4, to += 8) {
    const count = <f64>(load<f32>(activity + k) * load<f32>(sums + k));
    const scaled = count * scale;
    const wrong = i64x2.extract_lane(toFixed(f64x2.splat(count), magic), 0);
    store<i64>(to, load<i64>(to) - wrong);
    fits = addLarge(to, scaled) && fits;
  }
  return fits;
}

/** Adds two counts, times `scale`, to two int64 at `to`. Returns false if one is NaN, negative or too large. */
@inline
export function addFixed(to: usize, counts: v128, scale: f64): bool {
  const scaled = f64x2.mul(counts, f64x2.splat(scale));
  if (i64x2.all_true(v128.and(f64x2.lt(scaled, f64x2.splat(NEAR)), f64x2.ge(scaled, f64x2.splat(0))))) {
    v128.store(to, i64x2.add(v128.load(to), toFixed(scaled, v128.load64_splat(MAGIC))));
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

/** Converts int64 counts at `from` to `bytes` bytes of float32. A sum beyond fixed point becomes NaN. */
@inline
export function takeCounts(to: usize, from: usize, bytes: usize, scale: f64): void {
  const magic = v128.load64_splat(MAGIC);
  const share = f64x2.splat(1 / scale);
  for (let k: usize = 0; k < bytes; k += 16) {
    const low = v128.load(from + (k << 1));
    const high = v128.load(from + (k << 1), 16);
    let counts: v128;
    if (!v128.any_true(i64x2.shr_u(v128.or(low, high), 51))) {
      counts = narrow(
        f64x2.mul(f64x2.sub(i64x2.add(low, magic), magic), share),
        f64x2.mul(f64x2.sub(i64x2.add(high, magic), magic), share),
      );
    } else counts = narrow(largeCounts(low, scale), largeCounts(high, scale));
    v128.store(to + k, counts);
  }
}

function largeCounts(whole: v128, scale: f64): v128 {
  const share = 1 / scale;
  return f64x2.replace_lane(
    f64x2.splat(largeCount(i64x2.extract_lane(whole, 0), share)), 1, largeCount(i64x2.extract_lane(whole, 1), share),
  );
}

function largeCount(whole: i64, share: f64): f64 {
  return whole >= 0 && whole < <i64>LIMIT ? <f64>whole * share : NaN;
}
