// What the rows of a table contribute to the bound, in float64 from the float32 state, two lanes at a time.

import { JobBlock, UnitBlock } from './params';

// @ts-ignore: decorator
@inline
const LN2: f64 = 0.69314718055994530942;
// @ts-ignore: decorator
@inline
const HALF_LOG_2PI: f64 = 0.91893853320467274178;

/** Natural logarithm of positive normal numbers: x = 2^n·m with m in [√½, √2), log m by the series in (m−1)/(m+1). */
// @ts-ignore: decorator
@inline
function log2lanes(x: v128): v128 {
  // Adding this moves √½ to the exponent's edge, so that the mantissa lands in [√½, √2).
  const bits = i64x2.add(x, i64x2.splat(0x3ff0000000000000 - 0x3fe6a09e667f3bcd));
  const n = i64x2.sub(i64x2.shr_u(bits, 52), i64x2.splat(1023));
  const mantissa = i64x2.add(v128.and(bits, i64x2.splat(0x000fffffffffffff)), i64x2.splat(0x3fe6a09e667f3bcd));
  const exponent = f64x2.convert_low_i32x4_s(i32x4.shuffle(n, n, 0, 2, 0, 2));
  const f = f64x2.div(f64x2.sub(mantissa, f64x2.splat(1)), f64x2.add(mantissa, f64x2.splat(1)));
  const g = f64x2.mul(f, f);
  let p = f64x2.splat(2.0 / 21);
  p = f64x2.add(f64x2.mul(p, g), f64x2.splat(2.0 / 19));
  p = f64x2.add(f64x2.mul(p, g), f64x2.splat(2.0 / 17));
  p = f64x2.add(f64x2.mul(p, g), f64x2.splat(2.0 / 15));
  p = f64x2.add(f64x2.mul(p, g), f64x2.splat(2.0 / 13));
  p = f64x2.add(f64x2.mul(p, g), f64x2.splat(2.0 / 11));
  p = f64x2.add(f64x2.mul(p, g), f64x2.splat(2.0 / 9));
  p = f64x2.add(f64x2.mul(p, g), f64x2.splat(2.0 / 7));
  p = f64x2.add(f64x2.mul(p, g), f64x2.splat(2.0 / 5));
  p = f64x2.add(f64x2.mul(p, g), f64x2.splat(2.0 / 3));
  p = f64x2.add(f64x2.mul(p, g), f64x2.splat(2));
  return f64x2.add(f64x2.mul(exponent, f64x2.splat(LN2)), f64x2.mul(f, p));
}

let lgammaOut: v128 = f64x2.splat(0);
let digammaOut: v128 = f64x2.splat(0);
/** Π of what lgammaOut still lacks: log Γ(x) = lgammaOut − log(shiftOut). */
let shiftOut: v128 = f64x2.splat(1);

/** log Γ(x) and ψ(x), x > 0, by Stirling's series above 8; smaller arguments are raised by 8 first. */
// @ts-ignore: decorator
@inline
function lgammaDigamma(x: v128): void {
  const small = f64x2.lt(x, f64x2.splat(8));
  // Π (x+i) and Σ 1/(x+i), i = 0 … 7, by pairs (x+i)(x+7−i) = q + i(7−i), q = x(x+7).
  const q = f64x2.mul(x, f64x2.add(x, f64x2.splat(7)));
  const d1 = f64x2.add(q, f64x2.splat(6));
  const d2 = f64x2.add(q, f64x2.splat(10));
  const d3 = f64x2.add(q, f64x2.splat(12));
  const p01 = f64x2.mul(q, d1);
  const p23 = f64x2.mul(d2, d3);
  const product = f64x2.mul(p01, p23);
  shiftOut = v128.bitselect(product, f64x2.splat(1), small);
  const sum = f64x2.div(
    f64x2.mul(
      f64x2.add(f64x2.mul(f64x2.splat(2), x), f64x2.splat(7)),
      f64x2.add(f64x2.mul(f64x2.add(q, d1), p23), f64x2.mul(f64x2.add(d2, d3), p01)),
    ),
    product,
  );
  const shift = v128.and(sum, small);
  const y = v128.bitselect(f64x2.add(x, f64x2.splat(8)), x, small);
  const log = log2lanes(y);
  const v = f64x2.div(f64x2.splat(1), y);
  const v2 = f64x2.mul(v, v);
  let s = f64x2.splat(-691.0 / 360360);
  s = f64x2.add(f64x2.mul(s, v2), f64x2.splat(1.0 / 1188));
  s = f64x2.sub(f64x2.mul(s, v2), f64x2.splat(1.0 / 1680));
  s = f64x2.add(f64x2.mul(s, v2), f64x2.splat(1.0 / 1260));
  s = f64x2.sub(f64x2.mul(s, v2), f64x2.splat(1.0 / 360));
  s = f64x2.add(f64x2.mul(s, v2), f64x2.splat(1.0 / 12));
  lgammaOut = f64x2.add(
    f64x2.sub(f64x2.mul(f64x2.sub(y, f64x2.splat(0.5)), log), y),
    f64x2.add(f64x2.splat(HALF_LOG_2PI), f64x2.mul(v, s)),
  );
  let t = f64x2.splat(691.0 / 32760);
  t = f64x2.sub(f64x2.mul(t, v2), f64x2.splat(1.0 / 132));
  t = f64x2.add(f64x2.mul(t, v2), f64x2.splat(1.0 / 240));
  t = f64x2.sub(f64x2.mul(t, v2), f64x2.splat(1.0 / 252));
  t = f64x2.add(f64x2.mul(t, v2), f64x2.splat(1.0 / 120));
  t = f64x2.sub(f64x2.mul(t, v2), f64x2.splat(1.0 / 12));
  digammaOut = f64x2.add(
    f64x2.sub(log, shift),
    f64x2.add(f64x2.mul(t, v2), f64x2.mul(f64x2.splat(-0.5), v)),
  );
}

// @ts-ignore: decorator
@inline
function sum2(v: v128): f64 {
  return f64x2.extract_lane(v, 0) + f64x2.extract_lane(v, 1);
}

/** True if a lane is outside [1e-120, 1e120]: time to take the logarithm of a running product. */
// @ts-ignore: decorator
@inline
function outOfRange(v: v128): bool {
  return v128.any_true(v128.or(f64x2.gt(v, f64x2.splat(1e120)), f64x2.lt(v, f64x2.splat(1e-120))));
}

/**
 * Σ over rows first … last−1 of E log prior + entropy of weight and features, without the constants of the priors:
 * the caller adds rows·features·(a log b − log Γ(a)).
 */
export function rowTerms(jobAt: usize, unitAt: usize): f64 {
  const job = changetype<JobBlock>(jobAt);
  const unit = changetype<UnitBlock>(unitAt);
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
    // Features: lgamma(s) + s + (a−s)ψ − a log r − b s/r; logarithms of products wait until they must be taken.
    const at = (<usize>i) * ((<usize>stride) << 2);
    let sum = f64x2.splat(0);
    let shifts = f64x2.splat(1);
    let rates = f64x2.splat(1);
    for (let k: u32 = 0; k < pairs; k += 2) {
      const fs = f64x2.promote_low_f32x4(v128.load64_zero(featureShape + at + ((<usize>k) << 2)));
      const fr = f64x2.promote_low_f32x4(v128.load64_zero(featureRate + at + ((<usize>k) << 2)));
      lgammaDigamma(fs);
      sum = f64x2.add(sum, f64x2.add(lgammaOut, f64x2.mul(f64x2.sub(a, fs), digammaOut)));
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
