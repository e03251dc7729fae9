// Tails and intervals of the normal distribution, with full relative accuracy however far out they are.

import { HALF_LOG_TWO_PI, incompleteGamma, log1mexp } from './special.js';

/** The range in which the log upper tail is tabulated; values between are interpolated with the slopes. */
const FIRST = -9;
const LAST = 37;
const STEPS = 64;
let table: { readonly value: Float64Array; readonly slope: Float64Array } | undefined;

function makeTable() {
  const length = (LAST - FIRST) * STEPS + 1;
  const value = new Float64Array(length);
  const slope = new Float64Array(length);
  for (let n = 0; n < length; n++) {
    const x = FIRST + n / STEPS;
    const { lower, upper } = incompleteGamma(0.5, (x * x) / 2);
    value[n] = x >= 0 ? Math.log(upper / 2) : Math.log1p(-upper / 2);
    // Far out the tail underflows before its logarithm does.
    if (x > 0 && upper < 1e-290) value[n] = farTail(x);
    if (x < 0 && lower === 0) value[n] = 0;
    slope[n] = -Math.exp(logDensity(x) - value[n]);
  }
  return { value, slope };
}

export function logDensity(x: number): number {
  return -0.5 * x * x - HALF_LOG_TWO_PI;
}

/** The tail beyond the table, by its asymptotic series. */
function farTail(x: number): number {
  const z = 1 / (x * x);
  return logDensity(x) - Math.log(x) + Math.log1p(-z * (1 - 3 * z * (1 - 5 * z)));
}

/** log P(Z > x). */
export function logUpper(x: number): number {
  if (x >= LAST) return x === Infinity ? -Infinity : farTail(x);
  if (x <= FIRST) return 0;
  table ??= makeTable();
  const at = (x - FIRST) * STEPS;
  const n = Math.min(Math.floor(at), table.value.length - 2);
  const t = at - n;
  const [y0, y1] = [table.value[n], table.value[n + 1]];
  const [d0, d1] = [table.slope[n] / STEPS, table.slope[n + 1] / STEPS];
  // Cubic Hermite interpolation.
  const c = 3 * (y1 - y0) - 2 * d0 - d1;
  return y0 + t * (d0 + t * (c + t * (2 * (y0 - y1) + d0 + d1)));
}

/** Probability and moments of a standard normal restricted to an interval. */
export interface TruncatedNormal {
  /** log P(a < Z ≤ b). */
  logProbability: number;
  mean: number;
  variance: number;
}

/** In an interval this narrow the density counts as constant. */
const NARROW = 0.02;

/** Probability and moments of Z given a < Z ≤ b, written into `out`; a may be −∞ and b may be +∞. */
export function truncateNormal(a: number, b: number, out: TruncatedNormal): TruncatedNormal {
  const width = b - a;
  if (width < NARROW) {
    const middle = a + width / 2;
    out.logProbability = logDensity(middle) + Math.log(width);
    out.mean = middle;
    out.variance = (width * width) / 12;
    return out;
  }
  const log = logBetween(a, b);
  const atA = a === -Infinity ? 0 : Math.exp(logDensity(a) - log);
  const atB = b === Infinity ? 0 : Math.exp(logDensity(b) - log);
  out.logProbability = log;
  out.mean = atA - atB;
  if (out.mean < a || out.mean > b) out.mean = Math.min(Math.max(out.mean, a), b);
  const square = 1 + (atA === 0 ? 0 : a * atA) - (atB === 0 ? 0 : b * atB);
  const most = width === Infinity ? 1 : Math.min(1, (width * width) / 4);
  out.variance = Math.min(Math.max(square - out.mean * out.mean, 0), most);
  return out;
}

function logBetween(a: number, b: number): number {
  if (a >= 0) return logTailDifference(a, b);
  if (b <= 0) return logTailDifference(-b, -a);
  return Math.log1p(-Math.exp(logUpper(b)) - Math.exp(logUpper(-a)));
}

/** log(Q(a) − Q(b)), 0 ≤ a < b. */
function logTailDifference(a: number, b: number): number {
  const upper = logUpper(a);
  return b === Infinity ? upper : upper + log1mexp(upper - logUpper(b));
}
