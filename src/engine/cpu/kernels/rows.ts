// One half-step over a run of rows: the edge pass and, row by row while it is in cache, the update that follows it.
//
// All tables are rows × stride float32 (stride = features rounded up to 4), 16-byte aligned. The edges of the run lie
// in a window that the host has copied into this memory, so the index itself may be larger than WebAssembly can
// address.

import { expDigamma4, madd, oneMinusExpNeg, rowSums, sum4 } from './simd';

/** Edges added up in float32 before they go into the row's float64 sums: keeps long rows accurate. */
const CHUNK: u32 = 256;

// Edge term of the bound: Σ λ and the product of (1 − e^−λ), folded into `logProduct` before it underflows.
let linear: f64 = 0;
let product: f64 = 1;
let logProduct: f64 = 0;

export function resetEdgeTerm(): void {
  linear = 0;
  product = 1;
  logProduct = 0;
}

/** Σ log(e^λ − 1) over the simple edges, or Σ g log λ over the multigraph edges, walked since the reset. */
export function takeEdgeTerm(): f64 {
  return linear + logProduct + Math.log(product);
}

// @ts-ignore: decorator
@inline
function foldProduct(): void {
  if (product < 1e-150) {
    logProduct += Math.log(product);
    product = 1;
  }
}

/**
 * Σ_j w_ij B_jk over edges first … last−1 of the window, added to the float64 sums at `sums` (stride of them).
 * @param row address of the row's own activities A_i
 * @param other address of the other table's activities B
 * @param counts address of the window's counts; 0: a simple graph
 * @param acc address of stride float32 of scratch
 */
function passEdges(
  row: usize,
  other: usize,
  neighbors: usize,
  counts: usize,
  first: u32,
  last: u32,
  stride: u32,
  acc: usize,
  sums: usize,
  withTerm: bool,
): void {
  const bytes: usize = (<usize>stride) << 2;
  for (let start = first; start < last; start += CHUNK) {
    const end = min(start + CHUNK, last);
    memory.fill(acc, 0, bytes);
    let e = start;
    for (; e + 4 <= end; e += 4) {
      const at = neighbors + ((<usize>e) << 2);
      const b0 = other + (<usize>load<u32>(at)) * bytes;
      const b1 = other + (<usize>load<u32>(at, 4)) * bytes;
      const b2 = other + (<usize>load<u32>(at, 8)) * bytes;
      const b3 = other + (<usize>load<u32>(at, 12)) * bytes;
      let s0 = f32x4.splat(0);
      let s1 = f32x4.splat(0);
      let s2 = f32x4.splat(0);
      let s3 = f32x4.splat(0);
      for (let k: usize = 0; k < bytes; k += 16) {
        const a = v128.load(row + k);
        s0 = madd(a, v128.load(b0 + k), s0);
        s1 = madd(a, v128.load(b1 + k), s1);
        s2 = madd(a, v128.load(b2 + k), s2);
        s3 = madd(a, v128.load(b3 + k), s3);
      }
      const lambda = rowSums(s0, s1, s2, s3);
      let w: v128;
      if (counts) {
        const g = f32x4.convert_i32x4_u(v128.load(counts + ((<usize>e) << 2)));
        w = f32x4.div(g, lambda);
        if (withTerm) multiTerm4(lambda, g);
      } else {
        const q = oneMinusExpNeg(lambda);
        w = f32x4.div(f32x4.splat(1), q);
        if (withTerm) simpleTerm4(lambda, q);
      }
      const w0 = f32x4.splat(f32x4.extract_lane(w, 0));
      const w1 = f32x4.splat(f32x4.extract_lane(w, 1));
      const w2 = f32x4.splat(f32x4.extract_lane(w, 2));
      const w3 = f32x4.splat(f32x4.extract_lane(w, 3));
      for (let k: usize = 0; k < bytes; k += 16) {
        let s = madd(w0, v128.load(b0 + k), v128.load(acc + k));
        s = madd(w1, v128.load(b1 + k), s);
        s = madd(w2, v128.load(b2 + k), s);
        s = madd(w3, v128.load(b3 + k), s);
        v128.store(acc + k, s);
      }
    }
    for (; e < end; e++) {
      const b = other + (<usize>load<u32>(neighbors + ((<usize>e) << 2))) * bytes;
      let s = f32x4.splat(0);
      for (let k: usize = 0; k < bytes; k += 16) s = madd(v128.load(row + k), v128.load(b + k), s);
      const lambda = sum4(s);
      let w: f32;
      if (counts) {
        const g = <f32>load<u32>(counts + ((<usize>e) << 2));
        w = g / lambda;
        if (withTerm) logProduct += (<f64>g) * Math.log(<f64>lambda);
      } else {
        const q = f32x4.extract_lane(oneMinusExpNeg(f32x4.splat(lambda)), 0);
        w = 1 / q;
        if (withTerm) {
          linear += <f64>lambda;
          product *= <f64>q;
          foldProduct();
        }
      }
      const w4 = f32x4.splat(w);
      for (let k: usize = 0; k < bytes; k += 16) v128.store(acc + k, madd(w4, v128.load(b + k), v128.load(acc + k)));
    }
    for (let k: usize = 0; k < bytes; k += 16) {
      const part = v128.load(acc + k);
      const to = sums + (k << 1);
      v128.store(to, f64x2.add(v128.load(to), f64x2.promote_low_f32x4(part)));
      v128.store(to + 16, f64x2.add(v128.load(to + 16), f64x2.promote_low_f32x4(i64x2.shuffle(part, part, 1, 1))));
    }
  }
}

// @ts-ignore: decorator
@inline
function simpleTerm4(lambda: v128, q: v128): void {
  linear += <f64>f32x4.extract_lane(lambda, 0) + <f64>f32x4.extract_lane(lambda, 1) +
    (<f64>f32x4.extract_lane(lambda, 2) + <f64>f32x4.extract_lane(lambda, 3));
  product *= <f64>f32x4.extract_lane(q, 0) * <f64>f32x4.extract_lane(q, 1) *
    (<f64>f32x4.extract_lane(q, 2) * <f64>f32x4.extract_lane(q, 3));
  foldProduct();
}

// @ts-ignore: decorator
@inline
function multiTerm4(lambda: v128, g: v128): void {
  logProduct += <f64>f32x4.extract_lane(g, 0) * Math.log(<f64>f32x4.extract_lane(lambda, 0)) +
    <f64>f32x4.extract_lane(g, 1) * Math.log(<f64>f32x4.extract_lane(lambda, 1)) +
    <f64>f32x4.extract_lane(g, 2) * Math.log(<f64>f32x4.extract_lane(lambda, 2)) +
    <f64>f32x4.extract_lane(g, 3) * Math.log(<f64>f32x4.extract_lane(lambda, 3));
}

/** Only the sums of one piece of a long row: zeroes `sums` (stride float64), then adds the piece's edges. */
export function passPiece(
  row: usize,
  other: usize,
  neighbors: usize,
  counts: usize,
  edges: u32,
  stride: u32,
  acc: usize,
  sums: usize,
  withTerm: bool,
): void {
  memory.fill(sums, 0, (<usize>stride) << 3);
  passEdges(row, other, neighbors, counts, 0, edges, stride, acc, sums, withTerm);
}

/** Only the edge term of rows first … last−1; their edges are in the window as in updateRows. */
export function passTerms(
  first: u32,
  last: u32,
  offsets: usize,
  neighbors: usize,
  counts: usize,
  activity: usize,
  other: usize,
  stride: u32,
  acc: usize,
  sums: usize,
): void {
  const base = load<u32>(offsets);
  for (let i = first; i < last; i++) {
    const at = offsets + ((<usize>(i - first)) << 2);
    const row = activity + (<usize>i) * ((<usize>stride) << 2);
    passEdges(row, other, neighbors, counts, load<u32>(at) - base, load<u32>(at, 4) - base, stride, acc, sums, true);
  }
}

// A table: where its arrays lie.
let weightShape: usize = 0;
let weightRate: usize = 0;
let featureShape: usize = 0;
let featureRate: usize = 0;
let activity: usize = 0;
// The side's hyperparameters and the call's options.
let sigma: f64 = 0;
let tau: f64 = 0;
let shape: f32 = 0;
let rate: f32 = 0;
let exact: bool = true;
let relaxation: f32 = 0;
let relaxationFloor: f32 = 0;
/** stride float32: M_k, the other side's mass; and a mask whose lanes are all ones for real features, 0 for padding. */
let otherMass: usize = 0;
let laneMask: usize = 0;
let shapeFloor: f64 = 0;
let activityFloor: f32 = 0;

export function bindTable(ws: usize, wr: usize, fs: usize, fr: usize, a: usize): void {
  weightShape = ws;
  weightRate = wr;
  featureShape = fs;
  featureRate = fr;
  activity = a;
}

export function bindHyper(
  sigma_: f64,
  tau_: f64,
  shape_: f32,
  rate_: f32,
  exact_: bool,
  otherMass_: usize,
  laneMask_: usize,
  shapeFloor_: f64,
  activityFloor_: f32,
  relaxation_: f32,
  relaxationFloor_: f32,
): void {
  sigma = sigma_;
  tau = tau_;
  shape = shape_;
  rate = rate_;
  exact = exact_;
  otherMass = otherMass_;
  laneMask = laneMask_;
  shapeFloor = shapeFloor_;
  activityFloor = activityFloor_;
  relaxation = relaxation_;
  relaxationFloor = relaxationFloor_;
}

/**
 * The update of row i from its sums Σ_j w_ij B_jk: weight, features, activity, and its part of the mass, added to
 * `mass` (stride float64). Returns false if the weight is not finite.
 */
export function finishRow(i: u32, stride: u32, sums: usize, mass: usize): bool {
  const at = (<usize>i) * ((<usize>stride) << 2);
  const bytes: usize = (<usize>stride) << 2;
  let expected = f32x4.splat(0);
  let tilt = f32x4.splat(0);
  for (let k: usize = 0; k < bytes; k += 16) {
    const low = f32x4.demote_f64x2_zero(v128.load(sums + (k << 1)));
    const high = f32x4.demote_f64x2_zero(v128.load(sums + (k << 1), 16));
    const count = f32x4.mul(v128.load(activity + at + k), i64x2.shuffle(low, high, 0, 2));
    expected = f32x4.add(expected, count);
    const means = f32x4.div(v128.load(featureShape + at + k), v128.load(featureRate + at + k));
    tilt = madd(means, v128.load(otherMass + k), tilt);
    let moved = count;
    if (relaxation > 0) {
      const before = f32x4.sub(v128.load(featureShape + at + k), f32x4.splat(shape));
      const farther = madd(f32x4.splat(relaxation), f32x4.sub(count, before), count);
      moved = f32x4.max(farther, f32x4.mul(f32x4.splat(relaxationFloor), count));
    }
    // Padding lanes keep shape 0, and with it mean 0 and activity 0.
    v128.store(featureShape + at + k, v128.and(f32x4.add(f32x4.splat(shape), moved), v128.load(laneMask + k)));
  }
  const ws: f64 = max(<f64>sum4(expected) - sigma, shapeFloor);
  const wr: f64 = tau + <f64>sum4(tilt);
  store<f32>(weightShape + ((<usize>i) << 2), <f32>ws);
  store<f32>(weightRate + ((<usize>i) << 2), <f32>wr);
  const mean = f32x4.splat(<f32>(ws / wr));
  for (let k: usize = 0; k < bytes; k += 16) {
    const rates = madd(mean, v128.load(otherMass + k), f32x4.splat(rate));
    v128.store(featureRate + at + k, rates);
    const part = f32x4.mul(mean, f32x4.div(v128.load(featureShape + at + k), rates));
    const to = mass + (k << 1);
    v128.store(to, f64x2.add(v128.load(to), f64x2.promote_low_f32x4(part)));
    v128.store(to + 16, f64x2.add(v128.load(to + 16), f64x2.promote_low_f32x4(i64x2.shuffle(part, part, 1, 1))));
  }
  showRow(i, stride);
  return isFinite(<f32>ws) && isFinite(<f32>wr);
}

/** Sets the activity of row i from its Gammas: exp(E log ·) or the mean, never below the floor in a real lane. */
// @ts-ignore: decorator
@inline
function showRow(i: u32, stride: u32): void {
  const bytes: usize = (<usize>stride) << 2;
  const at = (<usize>i) * bytes;
  const ws = load<f32>(weightShape + ((<usize>i) << 2));
  const wr = load<f32>(weightRate + ((<usize>i) << 2));
  const floor = f32x4.splat(activityFloor);
  if (exact) {
    const scale = f32x4.splat(f32x4.extract_lane(expDigamma4(f32x4.splat(ws)), 0) / wr);
    for (let k: usize = 0; k < bytes; k += 16) {
      const value = f32x4.mul(
        scale,
        f32x4.div(expDigamma4(v128.load(featureShape + at + k)), v128.load(featureRate + at + k)),
      );
      v128.store(activity + at + k, v128.and(f32x4.max(value, floor), v128.load(laneMask + k)));
    }
  } else {
    const scale = f32x4.splat(ws / wr);
    for (let k: usize = 0; k < bytes; k += 16) {
      const value = f32x4.mul(
        scale,
        f32x4.div(v128.load(featureShape + at + k), v128.load(featureRate + at + k)),
      );
      v128.store(activity + at + k, v128.and(f32x4.max(value, floor), v128.load(laneMask + k)));
    }
  }
}

/** Sets the activity of rows first … last−1 and adds their mass to `mass` (stride float64). */
export function showRows(first: u32, last: u32, stride: u32, mass: usize): void {
  const bytes: usize = (<usize>stride) << 2;
  for (let i = first; i < last; i++) {
    showRow(i, stride);
    const mean = load<f32>(weightShape + ((<usize>i) << 2)) / load<f32>(weightRate + ((<usize>i) << 2));
    const at = (<usize>i) * bytes;
    for (let k: usize = 0; k < bytes; k += 4) {
      const to = mass + (k << 1);
      const part = (mean * load<f32>(featureShape + at + k)) / load<f32>(featureRate + at + k);
      store<f64>(to, load<f64>(to) + <f64>part);
    }
  }
}

/**
 * Half-step of rows first … last−1.
 * @param offsets the window's copy of offsets[first … last]; the window's edges begin at offsets[first]
 * @returns the first row whose weight is not finite, or `last` if all are
 */
export function updateRows(
  first: u32,
  last: u32,
  offsets: usize,
  neighbors: usize,
  counts: usize,
  other: usize,
  stride: u32,
  acc: usize,
  sums: usize,
  mass: usize,
  withTerm: bool,
): u32 {
  const base = load<u32>(offsets);
  let bad = last;
  for (let i = first; i < last; i++) {
    const at = offsets + ((<usize>(i - first)) << 2);
    memory.fill(sums, 0, (<usize>stride) << 3);
    const row = activity + (<usize>i) * ((<usize>stride) << 2);
    passEdges(row, other, neighbors, counts, load<u32>(at) - base, load<u32>(at, 4) - base, stride, acc, sums, withTerm);
    if (!finishRow(i, stride, sums, mass) && bad == last) bad = i;
  }
  return bad;
}
