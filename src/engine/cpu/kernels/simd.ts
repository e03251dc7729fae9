// Four-lane float32 arithmetic. RELAXED is a build constant: 1 builds the flavour with fused multiply-add.

/** a·b + c. */
// @ts-ignore: decorator
@inline
export function madd(a: v128, b: v128, c: v128): v128 {
  if (RELAXED) return f32x4.relaxed_madd(a, b, c);
  return f32x4.add(f32x4.mul(a, b), c);
}

/** c − a·b. */
// @ts-ignore: decorator
@inline
export function nmadd(a: v128, b: v128, c: v128): v128 {
  if (RELAXED) return f32x4.relaxed_nmadd(a, b, c);
  return f32x4.sub(c, f32x4.mul(a, b));
}

/** The sum of each of four vectors, as one vector. */
// @ts-ignore: decorator
@inline
export function rowSums(a: v128, b: v128, c: v128, d: v128): v128 {
  const ab = f32x4.add(i32x4.shuffle(a, b, 0, 1, 4, 5), i32x4.shuffle(a, b, 2, 3, 6, 7)); // a02 a13 b02 b13
  const cd = f32x4.add(i32x4.shuffle(c, d, 0, 1, 4, 5), i32x4.shuffle(c, d, 2, 3, 6, 7));
  return f32x4.add(i32x4.shuffle(ab, cd, 0, 2, 4, 6), i32x4.shuffle(ab, cd, 1, 3, 5, 7));
}

// @ts-ignore: decorator
@inline
export function sum4(v: v128): f32 {
  return (
    f32x4.extract_lane(v, 0) + f32x4.extract_lane(v, 1) + (f32x4.extract_lane(v, 2) + f32x4.extract_lane(v, 3))
  );
}

const LOG2E: f32 = 1.44269504;
// ln 2 in two pieces: the first has few bits, so n·LN2_HIGH is exact.
const LN2_HIGH: f32 = 0.693359375;
const LN2_LOW: f32 = -2.12194440e-4;

/** 2^n for whole n in [−126, 127]. */
// @ts-ignore: decorator
@inline
function pow2(n: v128): v128 {
  return i32x4.shl(i32x4.add(i32x4.trunc_sat_f32x4_s(n), i32x4.splat(127)), 23);
}

/** e^x, |relative error| about 1e-7; below −87 it is the smallest normal number's neighbourhood. */
// @ts-ignore: decorator
@inline
export function exp4(x: v128): v128 {
  x = f32x4.max(x, f32x4.splat(-87.0));
  const n = f32x4.nearest(f32x4.mul(x, f32x4.splat(LOG2E)));
  let r = nmadd(n, f32x4.splat(LN2_HIGH), x);
  r = nmadd(n, f32x4.splat(LN2_LOW), r);
  return f32x4.mul(madd(expm1Reduced(r), f32x4.splat(1), f32x4.splat(1)), pow2(n));
}

/** e^r − 1 for |r| ≤ ln2/2, accurate relative to its own size. */
// @ts-ignore: decorator
@inline
function expm1Reduced(r: v128): v128 {
  let p = f32x4.splat(1.9841270e-4); // 1/5040
  p = madd(p, r, f32x4.splat(1.3888889e-3)); // 1/720
  p = madd(p, r, f32x4.splat(8.3333333e-3)); // 1/120
  p = madd(p, r, f32x4.splat(4.1666667e-2)); // 1/24
  p = madd(p, r, f32x4.splat(0.16666667)); // 1/6
  p = madd(p, r, f32x4.splat(0.5));
  return madd(f32x4.mul(p, r), r, r);
}

/** 1 − e^−x for x ≥ 0, accurate also for tiny x, where it is x: no cancellation. */
// @ts-ignore: decorator
@inline
export function oneMinusExpNeg(x: v128): v128 {
  const y = f32x4.max(f32x4.neg(x), f32x4.splat(-30.0)); // e^−30 vanishes beside 1
  const n = f32x4.nearest(f32x4.mul(y, f32x4.splat(LOG2E)));
  let r = nmadd(n, f32x4.splat(LN2_HIGH), y);
  r = nmadd(n, f32x4.splat(LN2_LOW), r);
  const scale = pow2(n);
  return f32x4.sub(f32x4.sub(f32x4.splat(1), scale), f32x4.mul(scale, expm1Reduced(r)));
}

/**
 * exp(ψ(x)) for x > 0. For large x the series in y = x − ½: y + 1/(24y) − 37/(5760y³) + …; below 6 the argument is
 * first raised by 6 with ψ(x) = ψ(x+6) − Σ 1/(x+i), the six reciprocals as three fractions.
 */
// @ts-ignore: decorator
@inline
export function expDigamma4(x: v128): v128 {
  const small = f32x4.lt(x, f32x4.splat(6));
  const shifted = f32x4.add(x, f32x4.splat(6));
  const y = f32x4.sub(v128.bitselect(shifted, x, small), f32x4.splat(0.5));
  const inverse = f32x4.div(f32x4.splat(1), y);
  const inverse2 = f32x4.mul(inverse, inverse);
  let series = madd(f32x4.splat(3.5525892e-3), inverse2, f32x4.splat(-6.4236111e-3)); // 10313/2903040, −37/5760
  series = madd(series, inverse2, f32x4.splat(4.1666667e-2)); // 1/24
  const large = madd(series, inverse, y);
  if (!v128.any_true(small)) return large;
  // Pairs (x+i)(x+5−i) share x(x+5) = q: 1/(x+i) + 1/(x+5−i) = (2x+5)/(q + i(5−i)), i = 0, 1, 2.
  const q = f32x4.mul(x, f32x4.add(x, f32x4.splat(5)));
  const d0 = q;
  const d1 = f32x4.add(q, f32x4.splat(4));
  const d2 = f32x4.add(q, f32x4.splat(6));
  const twice = madd(f32x4.splat(2), x, f32x4.splat(5));
  // (1/d0 + 1/d1 + 1/d2) over one denominator: every term is positive, so nothing cancels.
  const p12 = f32x4.mul(d1, d2);
  const numerator = madd(d0, f32x4.add(d1, d2), p12);
  const shift = f32x4.div(f32x4.mul(twice, numerator), f32x4.mul(d0, p12));
  const lowered = f32x4.mul(large, exp4(f32x4.neg(shift)));
  return v128.bitselect(lowered, large, small);
}
