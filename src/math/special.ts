// Special functions in float64. Errors are below 1e-13: relative away from zeros of the function, absolute near them
// (lgamma is relative at its zeros 1 and 2 too).

export const HALF_LOG_TWO_PI = 0.9189385332046728;
const ONE_MINUS_EULER = 0.42278433509846713;

// (−1)^k (ζ(k) − 1) / k for k = 2, 3, …: log Γ(2 + y) = (1 − γ) y + Σ of these times y^k, |y| < 2.
const LOG_GAMMA_AT_TWO = [
  0.3224670334241132, -0.0673523010531981, 0.020580808427784546, -0.007385551028673986, 0.0028905103307415234,
  -0.001192753911703261, 0.0005096695247430425, -0.00022315475845357939, 0.00009945751278180853,
  -0.00004492623673813314, 0.00002050721277567069, -0.000009439488275268397, 0.000004374866789907488,
  -0.000002039215753801366, 9.55141213040742e-7, -4.492469198764566e-7, 2.1207184805554665e-7,
  -1.0043224823968099e-7, 4.7698101693639804e-8, -2.2711094608943164e-8, 1.0838659214896955e-8,
  -5.183475041970047e-9, 2.4836745438024785e-9, -1.1921401405860912e-9,
];

function logGammaAtTwo(y: number): number {
  let sum = 0;
  for (let k = LOG_GAMMA_AT_TWO.length - 1; k >= 0; k--) sum = (sum + LOG_GAMMA_AT_TWO[k]) * y;
  return (sum + ONE_MINUS_EULER) * y;
}

/** log Γ(x) minus Stirling's formula, for x ≥ 8: 1/(12x) − 1/(360x³) + … */
export function stirlingCorrection(x: number): number {
  const z = 1 / (x * x);
  return (
    (1 / 12 -
      z *
        (1 / 360 -
          z *
            (1 / 1260 -
              z * (1 / 1680 - z * (1 / 1188 - z * (691 / 360360 - z * (1 / 156 - z * (3617 / 122400)))))))) /
    x
  );
}

/** log |Γ(x)|; Infinity at 0, −1, −2, … */
export function lgamma(x: number): number {
  if (x >= 8) {
    if (x > 1e305) return x * (Math.log(x) - 1);
    return (x - 0.5) * Math.log(x) - x + HALF_LOG_TWO_PI + stirlingCorrection(x);
  }
  if (x >= 2.5) {
    let product = 1;
    while (x >= 2.5) product *= --x;
    return Math.log(product) + logGammaAtTwo(x - 2);
  }
  if (x >= 1.5) return logGammaAtTwo(x - 2);
  if (x >= 0.5) return logGammaAtTwo(x - 1) - Math.log1p(x - 1);
  if (x > 0) return logGammaAtTwo(x) - Math.log1p(x) - Math.log(x);
  if (x === Math.floor(x)) return Number.POSITIVE_INFINITY;
  // Reflection, with the sine of the distance to the nearest whole number, which is exact.
  const distance = x - Math.round(x);
  return Math.log(Math.PI / Math.abs(Math.sin(Math.PI * distance))) - lgamma(1 - x);
}

/** ψ(x) = d/dx log Γ(x), x > 0. */
export function digamma(x: number): number {
  // Σ 1/(x+i) as one fraction, so that small x costs a single division.
  let numerator = 0;
  let denominator = 1;
  while (x < 8) {
    numerator = numerator * x + denominator;
    denominator *= x;
    x++;
  }
  const z = 1 / (x * x);
  const series =
    z *
    (1 / 12 -
      z *
        (1 / 120 -
          z *
            (1 / 252 -
              z * (1 / 240 - z * (1 / 132 - z * (691 / 32760 - z * (1 / 12 - z * (3617 / 8160))))))));
  return Math.log(x) - 0.5 / x - series - numerator / denominator;
}

/** log(1 − e^−x), x > 0, without cancellation at either end. */
export function log1mexp(x: number): number {
  return x < Math.LN2 ? Math.log(-Math.expm1(-x)) : Math.log1p(-Math.exp(-x));
}

/** log(e^x − 1), x > 0: log x for tiny x, x for huge x. */
export function logExpm1(x: number): number {
  return x < 1 ? Math.log(Math.expm1(x)) : x + Math.log1p(-Math.exp(-x));
}

/** (e^x − 1)/x, which is 1 at 0. */
export function expm1Ratio(x: number): number {
  return x === 0 ? 1 : Math.expm1(x) / x;
}

export function logFactorial(x: number): number {
  return x < 2 ? 0 : lgamma(x + 1);
}

/**
 * The regularized incomplete gamma functions P(a, x) = γ(a, x)/Γ(a) and Q = 1 − P, a > 0, x ≥ 0. The series serves below
 * a + 1, Lentz's continued fraction above, so the smaller of the two is always computed directly.
 */
export function incompleteGamma(a: number, x: number): { readonly lower: number; readonly upper: number } {
  if (x <= 0) return { lower: 0, upper: 1 };
  if (x === Number.POSITIVE_INFINITY) return { lower: 1, upper: 0 };
  const front = Math.exp(a * Math.log(x) - x - lgamma(a));
  if (x < a + 1) {
    let term = 1 / a;
    let sum = term;
    for (let n = 1; term > sum * 1e-17; n++) {
      term *= x / (a + n);
      sum += term;
    }
    const lower = Math.min(1, front * sum);
    return { lower, upper: 1 - lower };
  }
  const upper = Math.min(1, front * gammaFraction(a, x));
  return { lower: 1 - upper, upper };
}

/** Γ(a, x) / (x^a e^−x) by its continued fraction, x > 0; a may be negative. Converges fast for x ≥ max(1, a + 1). */
export function gammaFraction(a: number, x: number): number {
  let b = x + 1 - a;
  let c = 1e300;
  let d = 1 / b;
  let h = d;
  for (let n = 1; n < 10_000; n++) {
    const an = -n * (n - a);
    b += 2;
    d = 1 / (an * d + b);
    c = b + an / c;
    const delta = c * d;
    h *= delta;
    if (Math.abs(delta - 1) < 1e-16) break;
  }
  return h;
}

/** The upper incomplete gamma function Γ(a, x), x > 0, −1 < a < 1. */
export function upperGamma(a: number, x: number): number {
  if (x >= 1) return gammaFraction(a, x) * Math.exp(a * Math.log(x) - x);
  // From x to 1, the series of e^−t is integrated term by term, which is smooth where a passes through 0. The rest is Γ(a, 1).
  const log = Math.log(x);
  let sum = -log * expm1Ratio(a * log);
  let factor = 1;
  for (let n = 1; n < 25; n++) {
    factor /= -n;
    sum += (factor * -Math.expm1((a + n) * log)) / (a + n);
  }
  return sum + gammaFraction(a, 1) * Math.exp(-1);
}
