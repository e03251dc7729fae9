// Special functions in float32, in WGSL, for positive arguments. Errors are below 3e-6: relative, or absolute where a function crosses
// zero. exp ψ(x) ≈ e^−1/x loses another 3e-7/x for small x, as float32 must. Nothing relies on the compiler's order of additions.

/** Arguments below this are raised by five before an asymptotic series. */
const SHIFT_BELOW = '4.5';

export const GAMMA_WGSL = `
// Σ 1/(x+i) and Π (x+i), i = 0 … 4.
fn shiftSum(x: f32) -> f32 {
  var product = x;
  var slope = 1.0;
  for (var i = 1; i < 5; i++) {
    let factor = x + f32(i);
    slope = slope * factor + product;
    product *= factor;
  }
  return slope / product;
}
fn shiftProduct(x: f32) -> f32 {
  return x * (x + 1.0) * (x + 2.0) * (x + 3.0) * (x + 4.0);
}

// e^−s for s ≥ 0. The built-in may be off by 2s units in the last place, so split off whole powers of two first.
fn expMinus(s: f32) -> f32 {
  let bounded = min(s, 120.0);
  let n = round(bounded * 1.44269504);
  let r = (n * 0.693359375 - bounded) - n * 2.12194440e-4;
  return ldexp(exp(r), -i32(n));
}

// exp(ψ(x)) = y + 1/(24y) − 37/(5760y³) + …, y = x − ½, after ψ(x) = ψ(x+5) − Σ 1/(x+i) for small x.
fn expDigamma(x: f32) -> f32 {
  let small = x < ${SHIFT_BELOW};
  let y = select(x - 0.5, x + 4.5, small);
  let r = 1.0 / y;
  let z = r * r;
  let series = y + r * (0.041666667 + z * (-0.0064236111 + z * (0.0035524829 - z * 0.0039535574)));
  let near = min(x, ${SHIFT_BELOW});
  return select(series, series * expMinus(shiftSum(near)), small);
}

fn digamma(x: f32) -> f32 {
  let small = x < ${SHIFT_BELOW};
  let y = select(x, x + 5.0, small);
  let r = 1.0 / y;
  let z = r * r;
  let series = log(y) - 0.5 * r - z * (0.083333333 - z * (0.0083333333 - z * (0.0039682540 - z * 0.0041666667)));
  let near = min(x, ${SHIFT_BELOW});
  return select(series, series - shiftSum(near), small);
}

// Entropy of Gamma(x, 1): x + log Γ(x) + (1 − x) ψ(x). Its terms cancel for large x, which gets a series of its own.
fn gammaEntropy(x: f32) -> f32 {
  let r = 1.0 / max(x, ${SHIFT_BELOW});
  let large = 1.4189385 + 0.5 * log(x) - r * (0.33333333 + r * (0.083333333 + r * (0.011111111 - r * (0.0083333333
    + r * (0.0047619048 - r * (0.0039682540 + r * 0.0047619048))))));
  let near = min(x, ${SHIFT_BELOW});
  let y = near + 5.0;
  let t = 1.0 / y;
  let z = t * t;
  let logGamma = (y - 0.5) * log(y) - y + 0.91893853 + t * (0.083333333 - z * (0.0027777778 - z * 0.00079365079))
    - log(shiftProduct(near));
  return select(large, near + logGamma + (1.0 - near) * digamma(near), x < ${SHIFT_BELOW});
}

// By component, in a loop: a compiler that inlines four copies takes seconds.
fn expDigammas(x: vec4f) -> vec4f {
  var y = vec4f(0.0);
  for (var c = 0u; c < 4u; c++) { y[c] = expDigamma(x[c]); }
  return y;
}

// log(1 + y), y ≥ 0, as 2 artanh(y / (2 + y)) below 1.
fn logOnePlus(y: f32) -> f32 {
  let z = y / (2.0 + y);
  let q = z * z;
  let near = 2.0 * z * (1.0 + q * (0.33333333 + q * (0.2 + q * (0.14285714 + q * (0.11111111
    + q * (0.090909091 + q * 0.076923077))))));
  return select(log(1.0 + y), near, y < 1.0);
}
`;
