// @ts-nocheck: AssemblyScript. The host reads the types of exported functions (instantiate.ts).
// The contribution of a table's rows to the bound, in float64 from the float32 state, two lanes at a time.

import { job, unit } from './params';

/** a·b + c. */
@inline
function madd2(a: v128, b: v128, c: v128): v128 {
  if (RELAXED) return f64x2.relaxed_madd(a, b, c);
  return f64x2.add(f64x2.mul(a, b), c);
}

/** The constant at this address in both lanes; simd.ts says why constants lie in memory. */
@inline
function pair(at: usize): v128 {
  return v128.load64_splat(at);
}

const MINUS_HALF = memory.data<f64>([-0.5]);
const HALF = memory.data<f64>([0.5]);
const ONE = memory.data<f64>([1]);
const TWO = memory.data<f64>([2]);
const SIX = memory.data<f64>([6]);
const SEVEN = memory.data<f64>([7]);
const EIGHT = memory.data<f64>([8]);
const TEN = memory.data<f64>([10]);
const TWELVE = memory.data<f64>([12]);
const LN2 = memory.data<f64>([0.69314718055994530942]);
const HALF_LOG_2PI = memory.data<f64>([0.91893853320467274178]);
// log((1 + f)/(1 − f)) = Σ 2 f^n / n over odd n. With |f| ≤ 0.172 the error is below 1e-12; the state has seven digits.
const LOG_3 = memory.data<f64>([2.0 / 3]);
const LOG_5 = memory.data<f64>([2.0 / 5]);
const LOG_7 = memory.data<f64>([2.0 / 7]);
const LOG_9 = memory.data<f64>([2.0 / 9]);
const LOG_11 = memory.data<f64>([2.0 / 11]);
const LOG_13 = memory.data<f64>([2.0 / 13]);
// Stirling's series, in powers of 1/y. At y = 8 the error of either series is below 1e-11.
const LGAMMA_1 = memory.data<f64>([1.0 / 12]);
const LGAMMA_3 = memory.data<f64>([-1.0 / 360]);
const LGAMMA_5 = memory.data<f64>([1.0 / 1260]);
const LGAMMA_7 = memory.data<f64>([-1.0 / 1680]);
const DIGAMMA_2 = memory.data<f64>([-1.0 / 12]);
const DIGAMMA_4 = memory.data<f64>([1.0 / 120]);
const DIGAMMA_6 = memory.data<f64>([-1.0 / 252]);
const DIGAMMA_8 = memory.data<f64>([1.0 / 240]);

/** Natural logarithm of positive normal numbers: x = 2^n·m with m in [√½, √2), log m by the series in (m−1)/(m+1). */
@inline
function log2lanes(x: v128): v128 {
  // Adding this moves √½ to the edge of the exponent, so that the mantissa lands in [√½, √2).
  const bits = i64x2.add(x, i64x2.splat(0x3ff0000000000000 - 0x3fe6a09e667f3bcd));
  const n = i64x2.sub(i64x2.shr_u(bits, 52), i64x2.splat(1023));
  const mantissa = i64x2.add(v128.and(bits, i64x2.splat(0x000fffffffffffff)), i64x2.splat(0x3fe6a09e667f3bcd));
  const exponent = f64x2.convert_low_i32x4_s(i32x4.shuffle(n, n, 0, 2, 0, 2));
  const f = f64x2.div(f64x2.sub(mantissa, pair(ONE)), f64x2.add(mantissa, pair(ONE)));
  const g = f64x2.mul(f, f);
  let p = pair(LOG_13);
  p = madd2(p, g, pair(LOG_11));
  p = madd2(p, g, pair(LOG_9));
  p = madd2(p, g, pair(LOG_7));
  p = madd2(p, g, pair(LOG_5));
  p = madd2(p, g, pair(LOG_3));
  p = madd2(p, g, pair(TWO));
  return madd2(exponent, pair(LN2), f64x2.mul(f, p));
}

let lgammaOut: v128 = f64x2.splat(0);
let digammaOut: v128 = f64x2.splat(0);
/** The product that lgammaOut still lacks: log Γ(x) = lgammaOut − log(shiftOut). */
let shiftOut: v128 = f64x2.splat(1);

/** log Γ(x) and ψ(x), x > 0, by Stirling's series above 8. Smaller arguments are raised by 8 first. */
@inline
function lgammaDigamma(x: v128): void {
  const small = f64x2.lt(x, pair(EIGHT));
  // Π (x+i) and Σ 1/(x+i), i = 0 … 7, by pairs (x+i)(x+7−i) = q + i(7−i), q = x(x+7).
  const q = f64x2.mul(x, f64x2.add(x, pair(SEVEN)));
  const d1 = f64x2.add(q, pair(SIX));
  const d2 = f64x2.add(q, pair(TEN));
  const d3 = f64x2.add(q, pair(TWELVE));
  const p01 = f64x2.mul(q, d1);
  const p23 = f64x2.mul(d2, d3);
  const product = f64x2.mul(p01, p23);
  shiftOut = v128.bitselect(product, pair(ONE), small);
  const sum = f64x2.div(
    f64x2.mul(
      madd2(pair(TWO), x, pair(SEVEN)),
      madd2(f64x2.add(q, d1), p23, f64x2.mul(f64x2.add(d2, d3), p01)),
    ),
    product,
  );
  const shift = v128.and(sum, small);
  const y = v128.bitselect(f64x2.add(x, pair(EIGHT)), x, small);
  const log = log2lanes(y);
  const v = f64x2.div(pair(ONE), y);
  const v2 = f64x2.mul(v, v);
  let s = pair(LGAMMA_7);
  s = madd2(s, v2, pair(LGAMMA_5));
  s = madd2(s, v2, pair(LGAMMA_3));
  s = madd2(s, v2, pair(LGAMMA_1));
  lgammaOut = madd2(f64x2.sub(y, pair(HALF)), log, madd2(v, s, f64x2.sub(pair(HALF_LOG_2PI), y)));
  let t = pair(DIGAMMA_8);
  t = madd2(t, v2, pair(DIGAMMA_6));
  t = madd2(t, v2, pair(DIGAMMA_4));
  t = madd2(t, v2, pair(DIGAMMA_2));
  digammaOut = madd2(t, v2, madd2(v, pair(MINUS_HALF), f64x2.sub(log, shift)));
}

@inline
function sum2(v: v128): f64 {
  return f64x2.extract_lane(v, 0) + f64x2.extract_lane(v, 1);
}

/** Whether a lane is outside [1e-120, 1e120], so that the logarithm of a running product is due. */
@inline
function outOfRange(v: v128): bool {
  return v128.any_true(v128.or(f64x2.gt(v, f64x2.splat(1e120)), f64x2.lt(v, f64x2.splat(1e-120))));
}

/**
 * Σ over rows first … last−1 of E log prior + entropy of weight and features, without the priors' constants. The caller adds
 * rows·features·(a log b − log Γ(a)).
 */
export function rowTerms(): f64 {
  const features = job.features;
  const stride = job.stride;
  const weightShape: usize = job.weightShape;
  const weightRate: usize = job.weightRate;
  const featureShape: usize = job.featureShape;
  const featureRate: usize = job.featureRate;
  const sigma = job.sigma;
  const tau = job.tau;
  const shape = job.shape;
  const rate = job.rate;
  let total: f64 = 0;
  const a = f64x2.splat(shape);
  const b = f64x2.splat(rate);
  const pairs = features & ~1;
  for (let i = unit.first, last = unit.last; i < last; i++) {
    // Weight: (−1−σ)(ψ − log r) − τ s/r + s − log r + lgamma(s) + (1−s)ψ.
    const s = <f64>load<f32>(weightShape + ((<usize>i) << 2));
    const r = <f64>load<f32>(weightRate + ((<usize>i) << 2));
    lgammaDigamma(f64x2.splat(s));
    const logs = log2lanes(f64x2.replace_lane(shiftOut, 0, r));
    total +=
      f64x2.extract_lane(lgammaOut, 0) - f64x2.extract_lane(logs, 1) + s -
      (sigma + s) * f64x2.extract_lane(digammaOut, 0) + sigma * f64x2.extract_lane(logs, 0) - (tau * s) / r;
    // Features: lgamma(s) + s + (a−s)ψ − a log r − b s/r. Products collect factors until a logarithm is due.
    const at = (<usize>i) * ((<usize>stride) << 2);
    let sum = f64x2.splat(0);
    let shifts = f64x2.splat(1);
    let rates = f64x2.splat(1);
    for (let k: u32 = 0; k < pairs; k += 2) {
      const fs = f64x2.promote_low_f32x4(v128.load64_zero(featureShape + at + ((<usize>k) << 2)));
      const fr = f64x2.promote_low_f32x4(v128.load64_zero(featureRate + at + ((<usize>k) << 2)));
      lgammaDigamma(fs);
      sum = f64x2.add(sum, madd2(f64x2.sub(a, fs), digammaOut, lgammaOut));
      sum = f64x2.add(sum, f64x2.sub(fs, f64x2.div(f64x2.mul(b, fs), fr)));
      shifts = f64x2.mul(shifts, shiftOut);
      rates = f64x2.mul(rates, fr);
      if (outOfRange(shifts) || outOfRange(rates)) {
        sum = f64x2.sub(sum, f64x2.add(log2lanes(shifts), f64x2.mul(a, log2lanes(rates))));
        shifts = f64x2.splat(1);
        rates = f64x2.splat(1);
      }
    }
    sum = f64x2.sub(sum, f64x2.add(log2lanes(shifts), f64x2.mul(a, log2lanes(rates))));
    total += sum2(sum);
    if (pairs < features) {
      const fs = <f64>load<f32>(featureShape + at + ((<usize>pairs) << 2));
      const fr = <f64>load<f32>(featureRate + at + ((<usize>pairs) << 2));
      lgammaDigamma(f64x2.splat(fs));
      const tail = log2lanes(f64x2.replace_lane(shiftOut, 0, fr));
      total +=
        f64x2.extract_lane(lgammaOut, 0) - f64x2.extract_lane(tail, 1) + fs +
        (shape - fs) * f64x2.extract_lane(digammaOut, 0) - shape * f64x2.extract_lane(tail, 0) - (rate * fs) / fr;
    }
  }
  return total;
}
