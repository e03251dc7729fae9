// @ts-nocheck: AssemblyScript. The host reads the types of exported functions (instantiate.ts).
// Scores of held-back items, by which settings are searched. A table has a row for each user, padded to whole vectors of items.

import { total } from './simd';

/**
 * out[r] = Σ weights[e] · dense[targets[e]] over the entries e of each of `rows` sparse rows, for four dense rows. Their numbers alternate
 * in `dense`; so do the products in `out`.
 */
export function sparseProducts(
  offsets: usize,
  targets: usize,
  weights: usize,
  rows: i32,
  dense: usize,
  out: usize,
): void {
  for (let r = 0; r < rows; r++) {
    const at = offsets + (<usize>r << 2);
    const end = <usize>load<u32>(at, 4) << 2;
    let e = <usize>load<u32>(at) << 2;
    // Two sums, which do not wait for each other.
    let a = f32x4.splat(0), b = a;
    for (; e + 4 < end; e += 8) {
      const x = v128.load(dense + (<usize>load<u32>(targets + e) << 4));
      const y = v128.load(dense + (<usize>load<u32>(targets + e, 4) << 4));
      a = f32x4.add(a, f32x4.mul(v128.load32_splat(weights + e), x));
      b = f32x4.add(b, f32x4.mul(v128.load32_splat(weights + e, 4), y));
    }
    if (e < end) {
      const x = v128.load(dense + (<usize>load<u32>(targets + e) << 4));
      a = f32x4.add(a, f32x4.mul(v128.load32_splat(weights + e), x));
    }
    v128.store(out + (<usize>r << 4), f32x4.add(a, b));
  }
}

/** Adds `factor` times a table of `vectors` vectors to another. */
export function addScaled(table: usize, factor: f32, to: usize, vectors: i32): void {
  const f = f32x4.splat(factor);
  const end = to + (<usize>vectors << 4);
  for (; to < end; to += 16, table += 16) {
    v128.store(to, f32x4.add(v128.load(to), f32x4.mul(f, v128.load(table))));
  }
}

/**
 * The mean over the users of the recall in lists of `longest` and of `shortest` items. User u wants the items wanted[starts[u]] …
 * wanted[starts[u+1]−1]. The score of an item is that of `table`, plus `part` times that of `other` (0: none), times its factor. Items
 * that share the last score share the places that are left. `row` has room for a padded row.
 */
export function recallInLists(
  table: usize,
  other: usize,
  part: f32,
  factors: usize,
  items: i32,
  users: i32,
  starts: usize,
  wanted: usize,
  longest: i32,
  shortest: i32,
  row: usize,
): f64 {
  const bytes = <usize>((items + 3) & ~3) << 2;
  const p = f32x4.splat(part);
  let sum: f64 = 0;
  for (let u = 0; u < users; u++) {
    for (let at: usize = 0; at < bytes; at += 16) {
      let score = v128.load(table + at);
      if (other) score = f32x4.add(score, f32x4.mul(p, v128.load(other + at)));
      v128.store(row + at, f32x4.mul(score, v128.load(factors + at)));
    }
    for (let at = <usize>items << 2; at < bytes; at += 4) store<f32>(row + at, -f32.MAX_VALUE - f32.MAX_VALUE);
    table += bytes;
    if (other) other += bytes;
    const first = load<u32>(starts + (<usize>u << 2));
    const end = load<u32>(starts + (<usize>u << 2), 4);
    let hits: f64 = 0;
    for (let w = first; w < end; w++) {
      const value = v128.load32_splat(row + (<usize>load<u32>(wanted + (<usize>w << 2)) << 2));
      let more = i32x4.splat(0), same = more;
      for (let at = row; at < row + bytes; at += 16) {
        const x = v128.load(at);
        more = i32x4.sub(more, f32x4.gt(x, value));
        same = i32x4.sub(same, f32x4.eq(x, value));
      }
      const above = total(more);
      const tied = <f64>total(same);
      hits += max<f64>(0, min<f64>(1, <f64>(longest - above) / tied));
      hits += max<f64>(0, min<f64>(1, <f64>(shortest - above) / tied));
    }
    if (end > first) sum += hits / <f64>(end - first);
  }
  return users > 0 ? sum / <f64>(2 * users) : 0;
}
