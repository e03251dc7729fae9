// Fixed point: expected counts as int64, so that adding them in any order gives the same bits.

/** Below this a float64 that is whole, and an int64, have the same low 52 bits after 1.5·2⁵² is added. */
const NEAR: f64 = 2251799813685248; // 2⁵¹
const MAGIC: f64 = 6755399441055744; // 1.5·2⁵²
const MAGIC_BITS: i64 = 0x4338000000000000;
/** Counts end here: half of what int64 holds, so that a sum that went over is seen. */
const LIMIT: f64 = 4611686018427387904; // 2⁶²

/** Adds two counts, times `scale`, to two int64 at `to`. False where one is not a number, negative, or too large. */
// @ts-ignore: decorator
@inline
export function addFixed(to: usize, counts: v128, scale: f64): bool {
  const scaled = f64x2.mul(counts, f64x2.splat(scale));
  if (i64x2.all_true(v128.and(f64x2.lt(scaled, f64x2.splat(NEAR)), f64x2.ge(scaled, f64x2.splat(0))))) {
    const whole = i64x2.sub(f64x2.add(scaled, f64x2.splat(MAGIC)), i64x2.splat(MAGIC_BITS));
    v128.store(to, i64x2.add(v128.load(to), whole));
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
