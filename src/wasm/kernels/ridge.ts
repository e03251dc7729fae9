// @ts-nocheck: AssemblyScript. The host reads the types of exported functions (instantiate.ts).
// Ridge regression of many targets on the same sparse inputs: conjugate gradients for 32 right-hand sides in parallel.

import { addTo, madd } from './simd';

/** 32 right-hand sides in float32: eight registers of four. */
const WIDTH_BYTES: usize = 128;

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

/**
 * out = (XᵀWX + λ)·p for a 0/1 matrix X of `rows` rows over `columns` columns; p and out hold columns × 32. W has the float32 weights
 * of the rows on its diagonal (address 0: all are 1).
 */
export function linearGram(
  offsets: usize,
  neighbors: usize,
  weights: usize,
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
    if (weights) {
      const w = v128.load32_splat(weights + (<usize>r << 2));
      a = f32x4.mul(w, a), b = f32x4.mul(w, b), c = f32x4.mul(w, c), d = f32x4.mul(w, d);
      e = f32x4.mul(w, e), f = f32x4.mul(w, f), g = f32x4.mul(w, g), h = f32x4.mul(w, h);
    }
    for (let n = first; n < last; n += 4) add8(out + (<usize>load<u32>(n) << 7), a, b, c, d, e, f, g, h);
  }
}

/**
 * Writes, for each list from `first` to `last`, 32 columns of the sum of the table rows it names to a row of `out`, times the list's factor in
 * `scale` (address 0: no factor). Rows are `tableStride` and `outStride` float32 apart.
 */
export function linearSums(
  offsets: usize,
  values: usize,
  first: i32,
  last: i32,
  table: usize,
  tableStride: i32,
  scale: usize,
  out: usize,
  outStride: i32,
): void {
  const bytes = <usize>tableStride << 2;
  for (let list = first; list < last; list++) {
    const from = values + (<usize>load<u32>(offsets + (<usize>list << 2)) << 2);
    const to = values + (<usize>load<u32>(offsets + (<usize>list << 2), 4) << 2);
    let a = f32x4.splat(0), b = a, c = a, d = a, e = a, f = a, g = a, h = a;
    for (let n = from; n < to; n += 4) {
      const at = table + <usize>load<u32>(n) * bytes;
      a = f32x4.add(a, v128.load(at));
      b = f32x4.add(b, v128.load(at, 16));
      c = f32x4.add(c, v128.load(at, 32));
      d = f32x4.add(d, v128.load(at, 48));
      e = f32x4.add(e, v128.load(at, 64));
      f = f32x4.add(f, v128.load(at, 80));
      g = f32x4.add(g, v128.load(at, 96));
      h = f32x4.add(h, v128.load(at, 112));
    }
    const s = scale ? v128.load32_splat(scale + (<usize>list << 2)) : f32x4.splat(1);
    v128.store(out, f32x4.mul(s, a));
    v128.store(out, f32x4.mul(s, b), 16);
    v128.store(out, f32x4.mul(s, c), 32);
    v128.store(out, f32x4.mul(s, d), 48);
    v128.store(out, f32x4.mul(s, e), 64);
    v128.store(out, f32x4.mul(s, f), 80);
    v128.store(out, f32x4.mul(s, g), 96);
    v128.store(out, f32x4.mul(s, h), 112);
    out += <usize>outStride << 2;
  }
}

/** Per column of 32: Σ a·b·s over the rows, as 32 float64; s is a scale per row (address 0: no scale). */
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

/** y += α·x, with one of 32 float32 α per column. */
export function linearAxpy(alpha: usize, x: usize, y: usize, rows: i32): void {
  for (let r = 0; r < rows; r++) {
    for (let lane: usize = 0; lane < WIDTH_BYTES; lane += 16) {
      v128.store(y + lane, madd(v128.load(alpha + lane), v128.load(x + lane), v128.load(y + lane)));
    }
    x += WIDTH_BYTES;
    y += WIDTH_BYTES;
  }
}

/** p = s·r + β·p, with a scale s per row and one of 32 float32 β per column. */
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

/** Each row x of the table becomes xM; `stride` float32 per row, a multiple of 16, and M is stride × stride. Scratch: one row. */
export function linearTurn(table: usize, rows: i32, stride: i32, matrix: usize, scratch: usize): void {
  const bytes = <usize>stride << 2;
  for (let r = 0; r < rows; r++) {
    memory.copy(scratch, table, bytes);
    for (let column: usize = 0; column < bytes; column += 64) {
      let a = f32x4.splat(0), b = a, c = a, d = a;
      let from = matrix + column;
      for (let k: usize = 0; k < bytes; k += 4) {
        const x = v128.load32_splat(scratch + k);
        a = madd(x, v128.load(from), a);
        b = madd(x, v128.load(from, 16), b);
        c = madd(x, v128.load(from, 32), c);
        d = madd(x, v128.load(from, 48), d);
        from += bytes;
      }
      v128.store(table + column, a);
      v128.store(table + column, b, 16);
      v128.store(table + column, c, 32);
      v128.store(table + column, d, 48);
    }
    table += bytes;
  }
}
