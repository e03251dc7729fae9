// @ts-nocheck: AssemblyScript. The host reads the types of exported functions (instantiate.ts).
// Kernels for regressions of items on their nearest items (solvers/item-regression.ts). They compute how much of a target each
// column explains alone, sort the chosen columns by it, count the users that each two of them share, and scale the system.
//
// Numbers of shared users lie in blocks of four rows; block I has 4 (I + 1) numbers per row, the lower half of the matrix. Columns are
// in order, so the matrix of fewer columns is the beginning of the matrix of more.

/** Four counts from column `c` on. A count has 2 bytes, or 4 if `wide`. */
@inline
function countsFrom(counts: usize, wide: bool, c: i32): v128 {
  const whole = wide
    ? v128.load(counts + (<usize>c << 2))
    : i32x4.extend_low_i16x8_u(v128.load64_zero(counts + (<usize>c << 1)));
  return f32x4.convert_i32x4_u(whole);
}

/** Writes four gains: −∞ where the count `n` is 0. */
@inline
function storeGains(gain: v128, n: v128, at: usize): void {
  const none = f32x4.splat(-f32.MAX_VALUE - f32.MAX_VALUE);
  v128.store(at, v128.bitselect(gain, none, f32x4.gt(n, f32x4.splat(0))));
}

/** n²/(degree + λ) of each column, −∞ if n is 0. `count` is a multiple of 8. */
export function regressionGains(counts: usize, wide: bool, inverse: usize, count: i32, gains: usize): void {
  for (let c = 0; c < count; c += 4) {
    const n = countsFrom(counts, wide, c);
    const at = <usize>c << 2;
    storeGains(f32x4.mul(f32x4.mul(n, n), v128.load(inverse + at)), n, gains + at);
  }
}

/** n/(column · own + added) of each column, −∞ if n is 0. `count` is a multiple of 8. */
export function similarityGains(
  counts: usize,
  wide: bool,
  columns: usize,
  own: f32,
  added: f32,
  count: i32,
  gains: usize,
): void {
  for (let c = 0; c < count; c += 4) {
    const n = countsFrom(counts, wide, c);
    const at = <usize>c << 2;
    const divisor = f32x4.add(f32x4.mul(v128.load(columns + at), f32x4.splat(own)), f32x4.splat(added));
    storeGains(f32x4.div(n, divisor), n, gains + at);
  }
}

/** Sorts the chosen columns by descending gain; ties go to the smaller column. */
export function regressionOrder(gains: usize, columns: usize, count: i32): void {
  let gap = 1;
  while (gap < count / 3) gap = 3 * gap + 1;
  for (; gap > 0; gap /= 3) {
    const back = <usize>gap << 2;
    for (let i = gap; i < count; i++) {
      const gain = load<f32>(gains + (<usize>i << 2));
      const column = load<u32>(columns + (<usize>i << 2));
      let j = i;
      for (; j >= gap; j -= gap) {
        const before = (<usize>j << 2) - back;
        const other = load<f32>(gains + before);
        if (other > gain || (other == gain && load<u32>(columns + before) < column)) break;
        store<f32>(gains + before + back, other);
        store<u32>(columns + before + back, load<u32>(columns + before));
      }
      store<f32>(gains + (<usize>j << 2), gain);
      store<u32>(columns + (<usize>j << 2), column);
    }
  }
}

/** One row's counts of the chosen columns. */
export function rightSide(counts: usize, wide: bool, chosen: usize, size: i32, out: usize): void {
  for (let i: usize = 0; i < <usize>size << 2; i += 4) {
    const column = <usize>load<u32>(chosen + i);
    store<f32>(out + i, wide ? <f32>load<u32>(counts + (column << 2)) : <f32>load<u16>(counts + (column << 1)));
  }
}

/** Shared users of the chosen columns, from a table of counts with rows of `stride` bytes. */
export function sharedFromCounts(pairs: usize, wide: bool, stride: usize, chosen: usize, size: i32, out: usize): void {
  for (let first = 0; first < size; first += 4) {
    const width = first + 4;
    for (let i = first; i < width; i++) {
      const last = i < size ? min(width, size) : 0;
      const row = last ? pairs + <usize>load<u32>(chosen + (<usize>i << 2)) * stride : 0;
      if (wide) {
        for (let j = 0; j < last; j++) {
          const at = row + (<usize>load<u32>(chosen + (<usize>j << 2)) << 2);
          store<f32>(out + (<usize>j << 2), <f32>load<u32>(at));
        }
      } else {
        for (let j = 0; j < last; j++) {
          const at = row + (<usize>load<u32>(chosen + (<usize>j << 2)) << 1);
          store<f32>(out + (<usize>j << 2), <f32>load<u16>(at));
        }
      }
      for (let j = last; j < width; j++) store<f32>(out + (<usize>j << 2), 0);
      out += <usize>width << 2;
    }
  }
}

/** The number of the first value of row `row` in blocks of four rows. */
@inline
function blockRow(row: i32): usize {
  const block = row >> 2;
  return <usize>(8 * block * (block + 1) + 4 * (row & 3) * (block + 1));
}

/**
 * The same from the columns' users as lists, with the weight of each user. A user met before is followed by the chosen columns that
 * have the user. `heads` has a word for each user, all 0 before and after; `entries` has 8 bytes for each member of the lists and 8 more.
 */
export function sharedFromLists(
  offsets: usize,
  values: usize,
  weights: usize,
  chosen: usize,
  size: i32,
  heads: usize,
  entries: usize,
  out: usize,
): void {
  memory.fill(out, 0, blockRow(4 * ((size + 3) >> 2)) << 2);
  let next: u32 = 1;
  for (let i = 0; i < size; i++) {
    const list = offsets + (<usize>load<u32>(chosen + (<usize>i << 2)) << 2);
    const row = out + (blockRow(i) << 2);
    const end = values + (<usize>load<u32>(list, 4) << 2);
    for (let n = values + (<usize>load<u32>(list) << 2); n < end; n += 4) {
      const user = <usize>load<u32>(n);
      const weight = <f32>load<u8>(weights + user);
      const head = heads + (user << 2);
      const last = load<u32>(head);
      for (let e = last; e != 0; ) {
        const entry = entries + (<usize>e << 3);
        const at = row + (<usize>load<u32>(entry, 4) << 2);
        store<f32>(at, load<f32>(at) + weight);
        e = load<u32>(entry);
      }
      const own = entries + (<usize>next << 3);
      store<u32>(own, last);
      store<u32>(own, <u32>i, 4);
      store<u32>(head, next++);
    }
  }
  for (let i = 0; i < size; i++) {
    // The upper half of the block on the diagonal.
    const first = i & ~3;
    for (let j = first; j < i; j++) {
      const below = load<f32>(out + ((blockRow(i) + <usize>j) << 2));
      store<f32>(out + ((blockRow(j) + <usize>i) << 2), below);
    }
    const list = offsets + (<usize>load<u32>(chosen + (<usize>i << 2)) << 2);
    const end = values + (<usize>load<u32>(list, 4) << 2);
    for (let n = values + (<usize>load<u32>(list) << 2); n < end; n += 4) {
      store<u32>(heads + (<usize>load<u32>(n) << 2), 0);
    }
  }
}

/**
 * The whole matrix with each number scaled by its row and its column, and a unit diagonal: conjugate gradients converge fastest on
 * it. `size` is a multiple of 4. A column with scale 0 drops out.
 */
export function scaledSystem(shared: usize, scale: usize, size: i32, out: usize): void {
  const bytes = <usize>size << 2;
  for (let i = 0; i < size; i += 4) {
    const own = scale + (<usize>i << 2);
    const row = <usize>(i + 4) << 2;
    const to = out + <usize>i * bytes;
    const s0 = v128.load32_splat(own), s1 = v128.load32_splat(own, 4);
    const s2 = v128.load32_splat(own, 8), s3 = v128.load32_splat(own, 12);
    for (let j = 0; j <= i; j += 4) {
      const at = <usize>j << 2;
      const s = v128.load(scale + at);
      const a = f32x4.mul(f32x4.mul(v128.load(shared + at), s), s0);
      const b = f32x4.mul(f32x4.mul(v128.load(shared + row + at), s), s1);
      const c = f32x4.mul(f32x4.mul(v128.load(shared + 2 * row + at), s), s2);
      const d = f32x4.mul(f32x4.mul(v128.load(shared + 3 * row + at), s), s3);
      v128.store(to + at, a);
      v128.store(to + bytes + at, b);
      v128.store(to + 2 * bytes + at, c);
      v128.store(to + 3 * bytes + at, d);
      if (j == i) break;
      // The transposed half.
      const ab = i32x4.shuffle(a, b, 0, 4, 1, 5), cd = i32x4.shuffle(c, d, 0, 4, 1, 5);
      const AB = i32x4.shuffle(a, b, 2, 6, 3, 7), CD = i32x4.shuffle(c, d, 2, 6, 3, 7);
      const up = out + <usize>j * bytes + (<usize>i << 2);
      v128.store(up, i64x2.shuffle(ab, cd, 0, 2));
      v128.store(up + bytes, i64x2.shuffle(ab, cd, 1, 3));
      v128.store(up + 2 * bytes, i64x2.shuffle(AB, CD, 0, 2));
      v128.store(up + 3 * bytes, i64x2.shuffle(AB, CD, 1, 3));
    }
    for (let m: usize = 0; m < 4; m++) store<f32>(to + m * bytes + ((<usize>i + m) << 2), 1);
    shared += 4 * row;
  }
}
