// @ts-nocheck: AssemblyScript. The host reads the types of exported functions (instantiate.ts).
// Conjugate gradients for small dense systems: one system per row (alternating least squares), or a single one.

import { madd, sum4 } from './simd';

/** Rows added at a time: they stay in the first-level cache while every tile of the Gram matrix is updated. */
const GRAM_ROWS: i32 = 32;

/**
 * gram = factor · Σ_rows y yᵀ over the first `rows` rows of a table with `stride` float32 per row, a multiple of 8. `packed` gets
 * the same matrix in panels of eight columns, as `apply4` reads it.
 */
export function alsGram(table: usize, rows: i32, stride: i32, factor: f32, gram: usize, packed: usize): void {
  const bytes = <usize>stride << 2;
  memory.fill(gram, 0, <usize>stride * bytes);
  for (let first = 0; first < rows; first += GRAM_ROWS) {
    const from = table + <usize>first * bytes;
    const to = table + <usize>min(rows, first + GRAM_ROWS) * bytes;
    // Tiles of 4 × 8 on and above the diagonal stay in registers while the rows pass.
    for (let k: usize = 0; k < bytes; k += 16) {
      for (let c = k & ~31; c < bytes; c += 32) addTile(from, to, bytes, k, c, gram + (k >> 2) * bytes + c);
    }
  }
  const f = f32x4.splat(factor);
  for (let at = gram; at < gram + <usize>stride * bytes; at += 16) v128.store(at, f32x4.mul(f, v128.load(at)));
  for (let k = 1; k < stride; k++) {
    const row = gram + <usize>k * bytes;
    for (let c = 0; c < k; c++) {
      store<f32>(row + (<usize>c << 2), load<f32>(gram + <usize>c * bytes + (<usize>k << 2)));
    }
  }
  for (let c: usize = 0; c < bytes; c += 32) {
    for (let k = 0; k < stride; k++) {
      memory.copy(packed, gram + <usize>k * bytes + c, 32);
      packed += 32;
    }
  }
}

/** Adds the products of columns k … k+3 and c … c+7 (given as bytes within a row) over the rows from … to. */
function addTile(from: usize, to: usize, bytes: usize, k: usize, c: usize, tile: usize): void {
  const second = tile + bytes, third = second + bytes, fourth = third + bytes;
  let a0 = v128.load(tile), a1 = v128.load(tile, 16);
  let b0 = v128.load(second), b1 = v128.load(second, 16);
  let c0 = v128.load(third), c1 = v128.load(third, 16);
  let d0 = v128.load(fourth), d1 = v128.load(fourth, 16);
  for (let row = from; row < to; row += bytes) {
    const low = v128.load(row + c), high = v128.load(row + c, 16);
    const y = row + k;
    let s = v128.load32_splat(y);
    a0 = madd(s, low, a0);
    a1 = madd(s, high, a1);
    s = v128.load32_splat(y, 4);
    b0 = madd(s, low, b0);
    b1 = madd(s, high, b1);
    s = v128.load32_splat(y, 8);
    c0 = madd(s, low, c0);
    c1 = madd(s, high, c1);
    s = v128.load32_splat(y, 12);
    d0 = madd(s, low, d0);
    d1 = madd(s, high, d1);
  }
  v128.store(tile, a0);
  v128.store(tile, a1, 16);
  v128.store(second, b0);
  v128.store(second, b1, 16);
  v128.store(third, c0);
  v128.store(third, c1, 16);
  v128.store(fourth, d0);
  v128.store(fourth, d1, 16);
}

/**
 * Rows first … last−1 of `own`, four at a time: a few steps of conjugate gradients from their current values towards the solution
 * of (G + λ_r + Σ_{n of row} w_n y_n y_nᵀ) x = Σ_n w_n y_n, with λ_r = lambda · (Σ_n w_n + base). Without `weights` (0) all w_n are 1. A row stops early if its residual is
 * below `tolerance` of the right-hand side. `own` has room for three more rows after the last. Scratch: 12 rows.
 */
export function alsRows(
  own: usize,
  other: usize,
  offsets: usize,
  neighbors: usize,
  weights: usize,
  first: i32,
  last: i32,
  stride: i32,
  packed: usize,
  lambda: f32,
  base: f32,
  steps: i32,
  tolerance: f32,
  scratch: usize,
): void {
  const bytes = <usize>stride << 2;
  const r = scratch;
  const p = r + 4 * bytes;
  const q = p + 4 * bytes;
  const state = q + 4 * bytes; // per row: its penalty, r·r, and the r·r at which it stops
  for (let i = first; i < last; i += 4) {
    const rows = min(4, last - i);
    const x = own + <usize>i * bytes;
    for (let m = 0; m < 4; m++) {
      const at = offsets + (<usize>(i + m) << 2);
      let degree: f32 = m < rows ? <f32>(load<u32>(at, 4) - load<u32>(at)) : 0;
      if (weights && m < rows) degree = sumOf(weights, load<u32>(at), load<u32>(at, 4));
      store<f32>(state + (<usize>m << 2), lambda * (degree + base));
      store<f32>(state + (<usize>m << 2), 0, 16);
    }
    // r = b − A x; its edge part is Σ (1 − y·x) y.
    apply4(packed, state, x, q, bytes);
    for (let m = 0; m < rows; m++) {
      const shift = <usize>m * bytes;
      for (let at = shift; at < shift + bytes; at += 16) v128.store(r + at, f32x4.neg(v128.load(q + at)));
      addRow(other, offsets, neighbors, weights, i + m, 1, -1, x + shift, r + shift, bytes);
      store<f32>(state + (<usize>m << 2), dot(r + shift, r + shift, bytes), 16);
      store<f32>(state + (<usize>m << 2), 1e-12, 32);
      if (tolerance > 0) {
        // The right-hand side, which is the residual at 0.
        memory.fill(q, 0, bytes);
        addRow(other, offsets, neighbors, weights, i + m, 1, 0, x + shift, q, bytes);
        store<f32>(state + (<usize>m << 2), max<f32>(1e-12, tolerance * tolerance * dot(q, q, bytes)), 32);
      }
    }
    memory.copy(p, r, <usize>rows * bytes);
    for (let step = 0; step < steps; step++) {
      let open = 0;
      for (let m = 0; m < rows; m++) {
        if (load<f32>(state + (<usize>m << 2), 16) > load<f32>(state + (<usize>m << 2), 32)) open++;
      }
      if (open == 0) break;
      apply4(packed, state, p, q, bytes);
      for (let m = 0; m < rows; m++) {
        const shift = <usize>m * bytes;
        const rr = load<f32>(state + (<usize>m << 2), 16);
        if (rr <= load<f32>(state + (<usize>m << 2), 32)) continue;
        addRow(other, offsets, neighbors, weights, i + m, 0, 1, p + shift, q + shift, bytes);
        const next = descend(x + shift, r + shift, p + shift, q + shift, rr, bytes);
        store<f32>(state + (<usize>m << 2), next, 16);
      }
    }
  }
}

@inline
function addRow(
  other: usize, offsets: usize, neighbors: usize, weights: usize, row: i32,
  constant: f32, factor: f32, v: usize, out: usize, bytes: usize,
): void {
  const at = offsets + (<usize>row << 2);
  const from = <usize>load<u32>(at) << 2, to = <usize>load<u32>(at, 4) << 2;
  if (weights) addWeighted(other, neighbors + from, neighbors + to, weights + from, constant, factor, v, out, bytes);
  else addEdges(other, neighbors + from, neighbors + to, constant, factor, v, out, bytes);
}

/** out = (G + l) v for four consecutive vectors, each with its own l. Every number of the packed G is read once. */
function apply4(packed: usize, l: usize, v: usize, out: usize, bytes: usize): void {
  const v1 = v + bytes, v2 = v1 + bytes, v3 = v2 + bytes;
  for (let c: usize = 0; c < bytes; c += 32) {
    let s = v128.load32_splat(l);
    let a0 = f32x4.mul(s, v128.load(v + c)), a1 = f32x4.mul(s, v128.load(v + c, 16));
    s = v128.load32_splat(l, 4);
    let b0 = f32x4.mul(s, v128.load(v1 + c)), b1 = f32x4.mul(s, v128.load(v1 + c, 16));
    s = v128.load32_splat(l, 8);
    let c0 = f32x4.mul(s, v128.load(v2 + c)), c1 = f32x4.mul(s, v128.load(v2 + c, 16));
    s = v128.load32_splat(l, 12);
    let d0 = f32x4.mul(s, v128.load(v3 + c)), d1 = f32x4.mul(s, v128.load(v3 + c, 16));
    for (let k: usize = 0; k < bytes; k += 4) {
      const low = v128.load(packed), high = v128.load(packed, 16);
      packed += 32;
      s = v128.load32_splat(v + k);
      a0 = madd(s, low, a0);
      a1 = madd(s, high, a1);
      s = v128.load32_splat(v1 + k);
      b0 = madd(s, low, b0);
      b1 = madd(s, high, b1);
      s = v128.load32_splat(v2 + k);
      c0 = madd(s, low, c0);
      c1 = madd(s, high, c1);
      s = v128.load32_splat(v3 + k);
      d0 = madd(s, low, d0);
      d1 = madd(s, high, d1);
    }
    const o = out + c, o1 = o + bytes, o2 = o1 + bytes, o3 = o2 + bytes;
    v128.store(o, a0);
    v128.store(o, a1, 16);
    v128.store(o1, b0);
    v128.store(o1, b1, 16);
    v128.store(o2, c0);
    v128.store(o2, c1, 16);
    v128.store(o3, d0);
    v128.store(o3, d1, 16);
  }
}

/**
 * Solves A x = b for a symmetric positive definite A of `size` rows, a multiple of 4, by conjugate gradients from x = 0. Stops when
 * the residual is below `tolerance` of b, or after `steps` steps. b becomes the residual; scratch holds two vectors.
 */
export function denseSolve(
  a: usize,
  b: usize,
  x: usize,
  size: i32,
  tolerance: f32,
  steps: i32,
  scratch: usize,
): void {
  const bytes = <usize>size << 2;
  const p = scratch;
  const q = p + bytes;
  memory.fill(x, 0, bytes);
  memory.copy(p, b, bytes);
  let rr = dot(b, b, bytes);
  const goal = rr * tolerance * tolerance;
  for (let step = 0; step < steps && rr > goal; step++) {
    apply(a, p, q, bytes);
    rr = descend(x, b, p, q, rr, bytes);
  }
}

/** A step of conjugate gradients along p, with q = A p. `rr` is r·r before the step; returns r·r after it. */
function descend(x: usize, r: usize, p: usize, q: usize, rr: f32, bytes: usize): f32 {
  const alpha = rr / dot(p, q, bytes);
  axpy(alpha, p, x, bytes);
  axpy(-alpha, q, r, bytes);
  const next = dot(r, r, bytes);
  const beta = f32x4.splat(next / rr);
  for (let at: usize = 0; at < bytes; at += 16) {
    v128.store(p + at, madd(beta, v128.load(p + at), v128.load(r + at)));
  }
  return next;
}

function sumOf(weights: usize, from: u32, to: u32): f32 {
  let sum: f32 = 0;
  for (let e = from; e < to; e++) sum += load<f32>(weights + (<usize>e << 2));
  return sum;
}

/** As `addEdges`, with a weight for each row. */
function addWeighted(
  other: usize, from: usize, to: usize, weights: usize,
  constant: f32, factor: f32, v: usize, out: usize, bytes: usize,
): void {
  for (let n = from; n < to; n += 4) {
    const y = other + <usize>load<u32>(n) * bytes;
    const w = load<f32>(weights + (n - from));
    axpy(w * (constant + factor * dot(y, v, bytes)), y, out, bytes);
  }
}

/** out += Σ_n (constant + factor · y_n·v) y_n over the listed rows y_n, four at a time. */
function addEdges(
  other: usize,
  from: usize,
  to: usize,
  constant: f32,
  factor: f32,
  v: usize,
  out: usize,
  bytes: usize,
): void {
  let n = from;
  for (; n + 16 <= to; n += 16) {
    const a = other + <usize>load<u32>(n) * bytes;
    const b = other + <usize>load<u32>(n, 4) * bytes;
    const c = other + <usize>load<u32>(n, 8) * bytes;
    const d = other + <usize>load<u32>(n, 12) * bytes;
    let sa = f32x4.splat(0), sb = sa, sc = sa, sd = sa;
    for (let at: usize = 0; at < bytes; at += 16) {
      const x = v128.load(v + at);
      sa = madd(v128.load(a + at), x, sa);
      sb = madd(v128.load(b + at), x, sb);
      sc = madd(v128.load(c + at), x, sc);
      sd = madd(v128.load(d + at), x, sd);
    }
    add4(constant + factor * sum4(sa), constant + factor * sum4(sb), constant + factor * sum4(sc),
      constant + factor * sum4(sd), a, b, c, d, out, bytes);
  }
  for (; n < to; n += 4) {
    const y = other + <usize>load<u32>(n) * bytes;
    axpy(constant + factor * dot(y, v, bytes), y, out, bytes);
  }
}

@inline
function add4(
  wa: f32, wb: f32, wc: f32, wd: f32,
  a: usize, b: usize, c: usize, d: usize,
  out: usize, bytes: usize,
): void {
  const va = f32x4.splat(wa), vb = f32x4.splat(wb), vc = f32x4.splat(wc), vd = f32x4.splat(wd);
  for (let at: usize = 0; at < bytes; at += 16) {
    const low = madd(va, v128.load(a + at), madd(vb, v128.load(b + at), v128.load(out + at)));
    v128.store(out + at, madd(vc, v128.load(c + at), madd(vd, v128.load(d + at), low)));
  }
}

/** out = G v. G is symmetric, so its rows serve as its columns. */
function apply(gram: usize, v: usize, out: usize, bytes: usize): void {
  memory.fill(out, 0, bytes);
  for (let k: usize = 0; k < bytes; k += 16) {
    const row = gram + (k >> 2) * bytes;
    add4(load<f32>(v + k), load<f32>(v + k, 4), load<f32>(v + k, 8), load<f32>(v + k, 12),
      row, row + bytes, row + 2 * bytes, row + 3 * bytes, out, bytes);
  }
}

@inline
function dot(a: usize, b: usize, bytes: usize): f32 {
  let sum = f32x4.splat(0);
  for (let at: usize = 0; at < bytes; at += 16) sum = madd(v128.load(a + at), v128.load(b + at), sum);
  return sum4(sum);
}

@inline
function axpy(alpha: f32, x: usize, y: usize, bytes: usize): void {
  const a = f32x4.splat(alpha);
  for (let at: usize = 0; at < bytes; at += 16) v128.store(y + at, madd(a, v128.load(x + at), v128.load(y + at)));
}
