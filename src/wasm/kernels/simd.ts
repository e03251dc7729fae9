// @ts-nocheck: AssemblyScript.
// Four-lane float32 arithmetic. RELAXED is a build constant: 1 builds the kernels with fused multiply-add.

/** a·b + c. */
@inline
export function madd(a: v128, b: v128, c: v128): v128 {
  if (RELAXED) return f32x4.relaxed_madd(a, b, c);
  return f32x4.add(f32x4.mul(a, b), c);
}

/** c − a·b. */
@inline
export function nmadd(a: v128, b: v128, c: v128): v128 {
  if (RELAXED) return f32x4.relaxed_nmadd(a, b, c);
  return f32x4.sub(c, f32x4.mul(a, b));
}

/** The sum of each of four vectors, as one vector. */
@inline
export function rowSums(a: v128, b: v128, c: v128, d: v128): v128 {
  const ab = f32x4.add(i32x4.shuffle(a, b, 0, 1, 4, 5), i32x4.shuffle(a, b, 2, 3, 6, 7)); // a02 a13 b02 b13
  const cd = f32x4.add(i32x4.shuffle(c, d, 0, 1, 4, 5), i32x4.shuffle(c, d, 2, 3, 6, 7));
  return f32x4.add(i32x4.shuffle(ab, cd, 0, 2, 4, 6), i32x4.shuffle(ab, cd, 1, 3, 5, 7));
}

/** The sum of each of the four vectors at an address. */
@inline
export function sumsOfFour(at: usize): v128 {
  return rowSums(v128.load(at), v128.load(at, 16), v128.load(at, 32), v128.load(at, 48));
}

@inline
export function sum4(v: v128): f32 {
  return (
    f32x4.extract_lane(v, 0) + f32x4.extract_lane(v, 1) + (f32x4.extract_lane(v, 2) + f32x4.extract_lane(v, 3))
  );
}

/** The sum of four whole numbers. */
@inline
export function total(v: v128): i32 {
  return (
    i32x4.extract_lane(v, 0) + i32x4.extract_lane(v, 1) + i32x4.extract_lane(v, 2) + i32x4.extract_lane(v, 3)
  );
}

/** The upper two of four float32, as float64. */
@inline
export function promoteHigh(v: v128): v128 {
  return f64x2.promote_low_f32x4(i64x2.shuffle(v, v, 1, 1));
}

/** Adds four float32 to four float64. */
@inline
export function addTo(to: usize, values: v128): void {
  v128.store(to, f64x2.add(v128.load(to), f64x2.promote_low_f32x4(values)));
  v128.store(to, f64x2.add(v128.load(to, 16), promoteHigh(values)), 16);
}

/** Two vectors of float64 as one vector of float32. */
@inline
export function narrow(low: v128, high: v128): v128 {
  return i64x2.shuffle(f32x4.demote_f64x2_zero(low), f32x4.demote_f64x2_zero(high), 0, 2);
}

// Constants lie in memory and are broadcast from there, one instruction each. f32x4.splat(number) would take three instructions at
// every use, in loops too: V8 builds vector constants where they are used.

/** The constant at this address, in all four lanes. */
@inline
export function constant(at: usize): v128 {
  return v128.load32_splat(at);
}

export const ONE = memory.data<f32>([1]);
export const HALF = memory.data<f32>([0.5]);
export const MINUS_LOG2E = memory.data<f32>([-1.44269504]);
// ln 2 in two pieces: the first has few bits, so n·LN2_HIGH is exact.
export const LN2_HIGH = memory.data<f32>([0.693359375]);
export const LN2_LOW = memory.data<f32>([-2.12194440e-4]);
// 1.5·2^23: adding it rounds a small number to a whole one, which is then in the sum's lowest bits. This addition replaces a dozen
// instructions for rounding and conversion to integers.
export const ROUND = memory.data<f32>([12582912]);
export const GREATEST = memory.data<f32>([87]); // e^−87 is about the smallest normal number
const VANISHING = memory.data<f32>([30]); // e^−30 is negligible next to 1
// e^−r = 1 − r + r²(E2 + E3 r + E4 r² + E5 r³ + E6 r⁴) for |r| ≤ ln2/2: a minimax fit, relative error 3e-9.
export const E2 = memory.data<f32>([0.49999993]);
export const E3 = memory.data<f32>([-0.1666652]);
export const E4 = memory.data<f32>([4.1668391e-2]);
export const E5 = memory.data<f32>([-8.3687453e-3]);
export const E6 = memory.data<f32>([1.381454e-3]);

/** −n in the lowest bits, where n is the integer nearest to x log2(e): e^−x = 2^−n e^−r. */
@inline
function round(x: v128): v128 {
  return madd(x, constant(MINUS_LOG2E), constant(ROUND));
}

/** r = x − n ln 2: at most ln2/2 in size. */
@inline
function reduce(x: v128, rounded: v128): v128 {
  const n = f32x4.sub(rounded, constant(ROUND));
  return madd(n, constant(LN2_LOW), madd(n, constant(LN2_HIGH), x));
}

/** (e^−r − 1 + r)/r², in pairs of terms, which is a shorter dependency chain than Horner's. */
@inline
function quadraticPart(r: v128, r2: v128): v128 {
  const high = madd(r2, constant(E6), madd(r, constant(E5), constant(E4)));
  return madd(high, r2, madd(r, constant(E3), constant(E2)));
}

/** e^−x for x ≥ 0, relative error about 1e-7; e^−87 beyond 87. */
@inline
function expNeg(x: v128): v128 {
  // pmin is one instruction; min takes several, because it orders NaN and −0.
  x = f32x4.pmin(x, constant(GREATEST));
  const rounded = round(x);
  const r = reduce(x, rounded);
  const r2 = f32x4.mul(r, r);
  const p = madd(quadraticPart(r, r2), r2, f32x4.sub(constant(ONE), r));
  return i32x4.add(p, i32x4.shl(rounded, 23)); // times 2^−n, by subtracting n from the exponent
}

/** 1 − e^−x for x ≥ 0, accurate for tiny x too, where it is x: nothing cancels. */
@inline
export function oneMinusExpNeg(x: v128): v128 {
  x = f32x4.pmin(x, constant(VANISHING));
  const rounded = round(x);
  const r = reduce(x, rounded);
  const r2 = f32x4.mul(r, r);
  const scale = i32x4.add(i32x4.shl(rounded, 23), constant(ONE)); // 2^−n
  return madd(scale, nmadd(quadraticPart(r, r2), r2, r), f32x4.sub(constant(ONE), scale));
}

// exp(ψ(x)) = e^(−1/x) · exp(ψ(x+1)). The second factor is smooth from 0 on: x + ½ + p(x)/d(x) with the quadratic p and the cubic d
// below, a minimax fit with relative error 2e-8 over all x ≥ 0. Every coefficient is positive, so nothing cancels. A caller that
// also divides by y multiplies y into d, which saves a division.
export const P0 = memory.data<f32>([9.4573799e-2]);
export const P1 = memory.data<f32>([0.11521068]);
export const P2 = memory.data<f32>([4.1678559e-2]);
export const D0 = memory.data<f32>([1.53879886]);
export const D1 = memory.data<f32>([3.78838479]);
export const D2 = memory.data<f32>([3.26876373]);
// From here on p/d is negligible next to x. Its argument is capped, so that no power overflows.
export const RATIO_CAP = memory.data<f32>([1e4]);

/** exp(ψ(x))/y for x > 0. showPair (activity.ts) does the same for two rows in lockstep; a test compares the two. */
@inline
export function expDigammaOver(x: v128, y: v128): v128 {
  const near = f32x4.pmin(x, constant(RATIO_CAP));
  const d = madd(madd(f32x4.add(near, constant(D2)), near, constant(D1)), near, constant(D0));
  const p = madd(madd(constant(P2), near, constant(P1)), near, constant(P0));
  const smooth = madd(f32x4.add(x, constant(HALF)), d, p);
  return f32x4.div(f32x4.mul(smooth, expNeg(f32x4.div(constant(ONE), x))), f32x4.mul(d, y));
}
