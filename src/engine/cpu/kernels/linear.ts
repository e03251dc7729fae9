// Kernels of the linear baselines: conjugate gradients for 32 right-hand sides at once (ridge regression of many
// targets on the same sparse inputs), and for one small system per row (alternating least squares).

import { madd, sum4 } from './simd';

/** Right-hand sides solved together: eight registers of four. */
const WIDTH_BYTES: usize = 128;

// @ts-ignore: decorator
@inline
function add8(at: usize, a: v128, b: v128, c: v128, d: v128, e: v128, f: v128, g: v128, h: v128): void {
  v128.store(at, f32x4.add(v128.load(at), a));
  v128.store(at, f32x4.add(v128.load(at, 16), b), 16);
  v128.store(at, f32x4.add(v128.load(at, 32), c), 32);
  v128.store(at, f32x4.add(v128.load(at, 48), d), 48);
  v128.store(at, f32x4.add(v128.load(at, 64), e), 64);
  v128.store(at, f32x4.add(v128.load(at, 80), f), 80);
  v128.store(at, f32x4.add(v128.load(at, 96), g), 96);
  v128.store(at, f32x4.add(v128.load(at, 112), h), 112);
}

/** out = (XᵀX + λ)·p for a 0/1 matrix X of `rows` rows over `columns` columns; p and out hold columns × 32. */
export function linearGram(
  offsets: usize,
  neighbors: usize,
  rows: i32,
  columns: i32,
  lambda: f32,
  p: usize,
  out: usize,
): void {
  const l = f32x4.splat(lambda);
  const bytes = <usize>columns * WIDTH_BYTES;
  for (let at: usize = 0; at < bytes; at += 16) v128.store(out + at, f32x4.mul(l, v128.load(p + at)));
  for (let r = 0; r < rows; r++) {
    const first = neighbors + (<usize>load<u32>(offsets + (<usize>r << 2)) << 2);
    const last = neighbors + (<usize>load<u32>(offsets + (<usize>r << 2), 4) << 2);
    let a = f32x4.splat(0), b = a, c = a, d = a, e = a, f = a, g = a, h = a;
    for (let n = first; n < last; n += 4) {
      const at = p + (<usize>load<u32>(n) << 7);
      a = f32x4.add(a, v128.load(at));
      b = f32x4.add(b, v128.load(at, 16));
      c = f32x4.add(c, v128.load(at, 32));
      d = f32x4.add(d, v128.load(at, 48));
      e = f32x4.add(e, v128.load(at, 64));
      f = f32x4.add(f, v128.load(at, 80));
      g = f32x4.add(g, v128.load(at, 96));
      h = f32x4.add(h, v128.load(at, 112));
    }
    for (let n = first; n < last; n += 4) add8(out + (<usize>load<u32>(n) << 7), a, b, c, d, e, f, g, h);
  }
}

/** Per column of 32: Σ a·b·s over the rows, s a scale per row (0: none), as 32 float64. */
export function linearDots(a: usize, b: usize, scale: usize, rows: i32, out: usize): void {
  memory.fill(out, 0, 256);
  for (let r = 0; r < rows; r++) {
    const s = scale ? f32x4.splat(load<f32>(scale + (<usize>r << 2))) : f32x4.splat(1);
    for (let lane: usize = 0; lane < WIDTH_BYTES; lane += 16) {
      const product = f32x4.mul(s, f32x4.mul(v128.load(a + lane), v128.load(b + lane)));
      const to = out + (lane << 1);
      v128.store(to, f64x2.add(v128.load(to), f64x2.promote_low_f32x4(product)));
      const high = i32x4.shuffle(product, product, 2, 3, 2, 3);
      v128.store(to, f64x2.add(v128.load(to, 16), f64x2.promote_low_f32x4(high)), 16);
    }
    a += WIDTH_BYTES;
    b += WIDTH_BYTES;
  }
}

/** y += α·x, α one of 32 float32 per column. */
export function linearAxpy(alpha: usize, x: usize, y: usize, rows: i32): void {
  for (let r = 0; r < rows; r++) {
    for (let lane: usize = 0; lane < WIDTH_BYTES; lane += 16) {
      v128.store(y + lane, madd(v128.load(alpha + lane), v128.load(x + lane), v128.load(y + lane)));
    }
    x += WIDTH_BYTES;
    y += WIDTH_BYTES;
  }
}

/** p = s·r + β·p, s a scale per row, β one of 32 float32 per column. */
export function linearDirection(beta: usize, scale: usize, r: usize, p: usize, rows: i32): void {
  for (let i = 0; i < rows; i++) {
    const s = f32x4.splat(load<f32>(scale + (<usize>i << 2)));
    for (let lane: usize = 0; lane < WIDTH_BYTES; lane += 16) {
      v128.store(p + lane, madd(v128.load(beta + lane), v128.load(p + lane), f32x4.mul(s, v128.load(r + lane))));
    }
    r += WIDTH_BYTES;
    p += WIDTH_BYTES;
  }
}

/** gram += factor · Σ_rows y yᵀ for rows first … last−1 of a table with `stride` float32 a row. */
export function alsGram(table: usize, first: i32, last: i32, stride: i32, factor: f32, gram: usize): void {
  const bytes = <usize>stride << 2;
  let r = first;
  for (; r + 4 <= last; r += 4) {
    const a = table + <usize>r * bytes;
    const b = a + bytes;
    const c = b + bytes;
    const d = c + bytes;
    let to = gram;
    for (let k: usize = 0; k < bytes; k += 4) {
      add4(factor * load<f32>(a + k), factor * load<f32>(b + k), factor * load<f32>(c + k), factor * load<f32>(d + k),
        a, b, c, d, to, bytes);
      to += bytes;
    }
  }
  for (; r < last; r++) {
    const row = table + <usize>r * bytes;
    let to = gram;
    for (let k: usize = 0; k < bytes; k += 4) {
      axpy(factor * load<f32>(row + k), row, to, bytes);
      to += bytes;
    }
  }
}

/**
 * Rows first … last−1 of `own`: a few steps of conjugate gradients, from where they are, towards the solution of
 * (G + λ_r + Σ_{n of row} y_n y_nᵀ) x = Σ_n y_n, λ_r = lambda · (degree + base).
 */
export function alsRows(
  own: usize,
  other: usize,
  offsets: usize,
  neighbors: usize,
  first: i32,
  last: i32,
  stride: i32,
  gram: usize,
  lambda: f32,
  base: f32,
  steps: i32,
  scratch: usize,
): void {
  const bytes = <usize>stride << 2;
  const r = scratch;
  const p = r + bytes;
  const q = p + bytes;
  for (let i = first; i < last; i++) {
    const x = own + <usize>i * bytes;
    const from = neighbors + (<usize>load<u32>(offsets + (<usize>i << 2)) << 2);
    const to = neighbors + (<usize>load<u32>(offsets + (<usize>i << 2), 4) << 2);
    const l = lambda * (<f32>((to - from) >> 2) + base);
    // r = b − A x, where the edge part of it is Σ (1 − y·x) y.
    apply(gram, l, x, q, bytes);
    for (let at: usize = 0; at < bytes; at += 16) v128.store(r + at, f32x4.neg(v128.load(q + at)));
    addEdges(other, from, to, 1, -1, x, r, bytes);
    memory.copy(p, r, bytes);
    let rr = dot(r, r, bytes);
    for (let step = 0; step < steps && rr > 1e-12; step++) {
      apply(gram, l, p, q, bytes);
      addEdges(other, from, to, 0, 1, p, q, bytes);
      rr = descend(x, r, p, q, rr, bytes);
    }
  }
}

/**
 * Solves A x = b for a symmetric positive A of `size` rows, a multiple of 4, by conjugate gradients from x = 0: until the residual
 * is below `tolerance` of b, at most so many steps. b becomes the residual; scratch holds two vectors.
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
    apply(a, 0, p, q, bytes);
    rr = descend(x, b, p, q, rr, bytes);
  }
}

/** A step of conjugate gradients along p, where q = A p; rr is r·r before it, and what it returns after it. */
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

/** out += Σ_n (constant + factor · y_n·v) y_n over the rows y_n that the list names; four at a time. */
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

// @ts-ignore: decorator
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

/** out = (G + l) v; G is symmetric, so its rows serve as its columns. */
function apply(gram: usize, l: f32, v: usize, out: usize, bytes: usize): void {
  const ls = f32x4.splat(l);
  for (let at: usize = 0; at < bytes; at += 16) v128.store(out + at, f32x4.mul(ls, v128.load(v + at)));
  for (let k: usize = 0; k < bytes; k += 16) {
    const row = gram + (k >> 2) * bytes;
    add4(load<f32>(v + k), load<f32>(v + k, 4), load<f32>(v + k, 8), load<f32>(v + k, 12),
      row, row + bytes, row + 2 * bytes, row + 3 * bytes, out, bytes);
  }
}

// @ts-ignore: decorator
@inline
function dot(a: usize, b: usize, bytes: usize): f32 {
  let sum = f32x4.splat(0);
  for (let at: usize = 0; at < bytes; at += 16) sum = madd(v128.load(a + at), v128.load(b + at), sum);
  return sum4(sum);
}

// @ts-ignore: decorator
@inline
function axpy(alpha: f32, x: usize, y: usize, bytes: usize): void {
  const a = f32x4.splat(alpha);
  for (let at: usize = 0; at < bytes; at += 16) v128.store(y + at, madd(a, v128.load(x + at), v128.load(y + at)));
}
