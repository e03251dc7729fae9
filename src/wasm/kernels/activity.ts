// @ts-nocheck: AssemblyScript.
// Activities (what the edge pass of the other side reads) and masses of rows, from the Gammas of weights and features.

import {
  addTo, constant, D0, D1, D2, E2, E3, E4, E5, E6, RATIO_CAP, GREATEST, HALF, LN2_HIGH, LN2_LOW, madd, MINUS_LOG2E, ONE, P0, P1, P2,
  ROUND,
} from './simd';

/**
 * Activities exp(E log ·) of two rows, at least the floor in real lanes, and their contribution to the mass. Both rows run
 * exp ψ in lockstep (simd.ts has it for one row): each constant is loaded once for both, and one row's arithmetic fills the
 * other's latency.
 * @param shapes0 address of the first row's feature shapes; likewise its rates and activities, and the second row's
 * @param mean0 the mean of the first row's weight; scale0 is exp(E log ·) of the weight
 * @param mass stride float64 that receive the rows' mass
 * @param updated true: set the rates to rate + mean·M; false: read them
 * @param single the second row repeats the first; ignore it
 */
@inline
export function showPair(
  bytes: usize,
  shapes0: usize,
  shapes1: usize,
  rates0: usize,
  rates1: usize,
  activities0: usize,
  activities1: usize,
  mean0: v128,
  mean1: v128,
  scale0: v128,
  scale1: v128,
  rate: v128,
  floor: v128,
  otherMass: usize,
  laneMask: usize,
  mass: usize,
  updated: bool,
  single: bool,
): void {
  for (let k: usize = 0; k < bytes; k += 16) {
    const x0 = v128.load(shapes0 + k);
    const x1 = v128.load(shapes1 + k);
    let r0: v128;
    let r1: v128;
    if (updated) {
      const M = v128.load(otherMass + k);
      r0 = madd(mean0, M, rate);
      r1 = madd(mean1, M, rate);
      v128.store(rates0 + k, r0);
      if (!single) v128.store(rates1 + k, r1);
    } else {
      r0 = v128.load(rates0 + k);
      r1 = v128.load(rates1 + k);
    }
    // e^(−1/x)
    const one = constant(ONE);
    let c = constant(GREATEST);
    let e0 = f32x4.pmin(f32x4.div(one, x0), c);
    let e1 = f32x4.pmin(f32x4.div(one, x1), c);
    c = constant(MINUS_LOG2E);
    const round = constant(ROUND);
    const n0 = madd(e0, c, round);
    const n1 = madd(e1, c, round);
    const w0 = f32x4.sub(n0, round);
    const w1 = f32x4.sub(n1, round);
    c = constant(LN2_HIGH);
    e0 = madd(w0, c, e0);
    e1 = madd(w1, c, e1);
    c = constant(LN2_LOW);
    e0 = madd(w0, c, e0);
    e1 = madd(w1, c, e1);
    const q0 = f32x4.mul(e0, e0);
    const q1 = f32x4.mul(e1, e1);
    c = constant(E5);
    const e4 = constant(E4);
    let h0 = madd(e0, c, e4);
    let h1 = madd(e1, c, e4);
    c = constant(E6);
    h0 = madd(q0, c, h0);
    h1 = madd(q1, c, h1);
    c = constant(E3);
    const e2 = constant(E2);
    h0 = madd(h0, q0, madd(e0, c, e2));
    h1 = madd(h1, q1, madd(e1, c, e2));
    h0 = madd(h0, q0, f32x4.sub(one, e0));
    h1 = madd(h1, q1, f32x4.sub(one, e1));
    h0 = i32x4.add(h0, i32x4.shl(n0, 23));
    h1 = i32x4.add(h1, i32x4.shl(n1, 23));
    // d(x), and 1/(d·rate), which both the activity and the mean use
    c = constant(RATIO_CAP);
    const y0 = f32x4.pmin(x0, c);
    const y1 = f32x4.pmin(x1, c);
    c = constant(D2);
    let d0 = f32x4.add(y0, c);
    let d1 = f32x4.add(y1, c);
    c = constant(D1);
    d0 = madd(d0, y0, c);
    d1 = madd(d1, y1, c);
    c = constant(D0);
    d0 = madd(d0, y0, c);
    d1 = madd(d1, y1, c);
    const inverse0 = f32x4.div(one, f32x4.mul(d0, r0));
    const inverse1 = f32x4.div(one, f32x4.mul(d1, r1));
    const part0 = f32x4.mul(f32x4.mul(mean0, f32x4.mul(x0, d0)), inverse0);
    const part1 = f32x4.mul(f32x4.mul(mean1, f32x4.mul(x1, d1)), inverse1);
    addTo(mass + (k << 1), single ? part0 : f32x4.add(part0, part1));
    // (x + ½) d + p
    c = constant(P2);
    const p1 = constant(P1);
    let s0 = madd(y0, c, p1);
    let s1 = madd(y1, c, p1);
    c = constant(P0);
    s0 = madd(s0, y0, c);
    s1 = madd(s1, y1, c);
    c = constant(HALF);
    s0 = madd(f32x4.add(x0, c), d0, s0);
    s1 = madd(f32x4.add(x1, c), d1, s1);
    const mask = v128.load(laneMask + k);
    s0 = f32x4.pmax(f32x4.mul(f32x4.mul(scale0, inverse0), f32x4.mul(s0, h0)), floor);
    s1 = f32x4.pmax(f32x4.mul(f32x4.mul(scale1, inverse1), f32x4.mul(s1, h1)), floor);
    v128.store(activities0 + k, v128.and(s0, mask));
    if (!single) v128.store(activities1 + k, v128.and(s1, mask));
  }
}

/** Activities equal to the means, for one row, and its contribution to the mass. */
@inline
export function showMeans(
  bytes: usize,
  shapes: usize,
  rates: usize,
  activities: usize,
  mean: v128,
  rate: v128,
  floor: v128,
  otherMass: usize,
  laneMask: usize,
  mass: usize,
  updated: bool,
): void {
  for (let k: usize = 0; k < bytes; k += 16) {
    let r: v128;
    if (updated) {
      r = madd(mean, v128.load(otherMass + k), rate);
      v128.store(rates + k, r);
    } else {
      r = v128.load(rates + k);
    }
    const part = f32x4.mul(mean, f32x4.div(v128.load(shapes + k), r));
    addTo(mass + (k << 1), part);
    v128.store(activities + k, v128.and(f32x4.pmax(part, floor), v128.load(laneMask + k)));
  }
}
