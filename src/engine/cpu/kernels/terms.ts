// What the rows of a table contribute to the bound, in float64 from the float32 state.

// @ts-ignore: decorator
@inline
const HALF_LOG_2PI: f64 = 0.91893853320467274178;

let lgammaOut: f64 = 0;
let digammaOut: f64 = 0;

/** log Γ(x) and ψ(x), x > 0, by Stirling's series above 8; smaller arguments are raised by 8 first. */
function lgammaDigamma(x: f64): void {
  let shiftLog: f64 = 0;
  let shiftSum: f64 = 0;
  if (x < 8) {
    // Π (x+i) and Σ 1/(x+i), i = 0 … 7, by pairs (x+i)(x+7−i) = q + i(7−i), q = x(x+7).
    const q = x * (x + 7);
    const d1 = q + 6;
    const d2 = q + 10;
    const d3 = q + 12;
    const p01 = q * d1;
    const p23 = d2 * d3;
    shiftLog = Math.log(p01 * p23);
    shiftSum = (2 * x + 7) * ((q + d1) / p01 + (d2 + d3) / p23);
    x += 8;
  }
  const log = Math.log(x);
  const v = 1 / x;
  const v2 = v * v;
  lgammaOut =
    (x - 0.5) * log - x + HALF_LOG_2PI - shiftLog +
    v * (1.0 / 12 - v2 * (1.0 / 360 - v2 * (1.0 / 1260 - v2 * (1.0 / 1680 - v2 * (1.0 / 1188 - v2 * (691.0 / 360360))))));
  digammaOut =
    log - 0.5 * v - shiftSum -
    v2 * (1.0 / 12 - v2 * (1.0 / 120 - v2 * (1.0 / 252 - v2 * (1.0 / 240 - v2 * (1.0 / 132 - v2 * (691.0 / 32760))))));
}

/**
 * Σ over rows first … last−1 of E log prior + entropy of weight and features, without the constants of the priors:
 * the caller adds rows·features·(a log b − log Γ(a)).
 */
export function rowTerms(
  first: u32,
  last: u32,
  features: u32,
  stride: u32,
  weightShape: usize,
  weightRate: usize,
  featureShape: usize,
  featureRate: usize,
  sigma: f64,
  tau: f64,
  shape: f64,
  rate: f64,
): f64 {
  let sum: f64 = 0;
  for (let i = first; i < last; i++) {
    const s = <f64>load<f32>(weightShape + ((<usize>i) << 2));
    const r = <f64>load<f32>(weightRate + ((<usize>i) << 2));
    lgammaDigamma(s);
    // (−1−σ)(ψ − log r) − τ s/r + s − log r + lgamma(s) + (1−s)ψ
    sum += lgammaOut + s - (sigma + s) * digammaOut + sigma * Math.log(r) - (tau * s) / r;
    const at = (<usize>i) * ((<usize>stride) << 2);
    let rates: f64 = 1; // Π r_ik, folded before it leaves float64's range
    let logRates: f64 = 0;
    for (let k: u32 = 0; k < features; k++) {
      const fs = <f64>load<f32>(featureShape + at + ((<usize>k) << 2));
      const fr = <f64>load<f32>(featureRate + at + ((<usize>k) << 2));
      lgammaDigamma(fs);
      sum += lgammaOut + fs + (shape - fs) * digammaOut - (rate * fs) / fr;
      rates *= fr;
      if (rates > 1e200 || rates < 1e-200) {
        logRates += Math.log(rates);
        rates = 1;
      }
    }
    sum -= shape * (logRates + Math.log(rates));
  }
  return sum;
}
