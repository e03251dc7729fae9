// Sums of some of many numbers, with the same bits as SparseSums (attributes/similarity.ts). A block of 256 numbers that has a sum
// has a 1 in `blocks`; the others are skipped. Sums are padded with zeros to whole blocks.

import { nthLargest } from './scores';

// @ts-ignore: decorator
@inline const BLOCK_BITS: usize = 8;
// @ts-ignore: decorator
@inline const BLOCK_BYTES: usize = 4 << BLOCK_BITS;

/** Adds `factor` times `count` weights to the sums of their targets. */
export function sumList(
  sums: usize,
  blocks: usize,
  targets: usize,
  weights: usize,
  count: i32,
  factor: f64,
): void {
  const end = targets + (<usize>count << 2);
  while (targets < end) {
    const at = <usize>load<u32>(targets);
    const to = sums + (at << 2);
    store<f32>(to, <f32>(<f64>load<f32>(to) + factor * <f64>load<f32>(weights)));
    store<u8>(blocks + (at >> BLOCK_BITS), 1);
    targets += 4;
    weights += 4;
  }
}

/** Sizes of four sums: times their importance, if it is given. */
// @ts-ignore: decorator
@inline function sizesAt(sums: usize, importance: usize, at: usize): v128 {
  const size = f32x4.abs(v128.load(sums + at));
  return importance ? f32x4.mul(size, v128.load(importance + at)) : size;
}

/** Multiplies all sums by `factor`. */
export function sumScale(sums: usize, blocks: usize, blockCount: i32, factor: f64): void {
  const f = f64x2.splat(factor);
  for (let block = 0; block < blockCount; block++) {
    if (!load<u8>(blocks + <usize>block)) continue;
    let at = sums + <usize>block * BLOCK_BYTES;
    const end = at + BLOCK_BYTES;
    for (; at < end; at += 16) {
      const x = v128.load(at);
      const low = f32x4.demote_f64x2_zero(f64x2.mul(f64x2.promote_low_f32x4(x), f));
      const high = f32x4.demote_f64x2_zero(
        f64x2.mul(f64x2.promote_low_f32x4(v128.shuffle<f32>(x, x, 2, 3, 2, 3)), f),
      );
      v128.store(at, v128.shuffle<f32>(low, high, 0, 1, 4, 5));
    }
  }
}

/** The sum of all sums, as four partial sums. */
export function sumTotal(sums: usize, blocks: usize, blockCount: i32): f64 {
  let a = f64x2.splat(0), b = a;
  for (let block = 0; block < blockCount; block++) {
    if (!load<u8>(blocks + <usize>block)) continue;
    let at = sums + <usize>block * BLOCK_BYTES;
    const end = at + BLOCK_BYTES;
    for (; at < end; at += 16) {
      const x = v128.load(at);
      a = f64x2.add(a, f64x2.promote_low_f32x4(x));
      b = f64x2.add(b, f64x2.promote_low_f32x4(v128.shuffle<f32>(x, x, 2, 3, 2, 3)));
    }
  }
  return (
    f64x2.extract_lane(a, 0) + f64x2.extract_lane(a, 1) + (f64x2.extract_lane(b, 0) + f64x2.extract_lane(b, 1))
  );
}

/**
 * Finds the `n` numbers of the largest size: that of the sum, times its importance (0: all are 1). Writes them to `found`, ascending;
 * ties go to the smaller number. Returns how many there are; sums of zero are left out. `found`, `sizes` and `scratch` have room for
 * `most` numbers and a block. If `n` sizes exceed `guess`, no other bound is looked for, which changes the time alone. `scratch` gets
 * a number that is not above the sizes that are kept.
 */
export function sumLargest(
  sums: usize,
  importance: usize,
  blocks: usize,
  blockCount: i32,
  n: i32,
  most: i32,
  found: usize,
  sizes: usize,
  scratch: usize,
  guess: f32,
): i32 {
  if (guess > 0) {
    const count = largestAbove(guess, sums, importance, blocks, blockCount, n, most, found, sizes, scratch);
    if (count == n) return n;
  }
  const bound = belowLargest(sums, importance, blocks, blockCount, n, scratch);
  return largestAbove(bound, sums, importance, blocks, blockCount, n, most, found, sizes, scratch);
}

/** The same among the sizes that exceed `bound`. */
function largestAbove(
  bound: f32,
  sums: usize,
  importance: usize,
  blocks: usize,
  blockCount: i32,
  n: i32,
  most: i32,
  found: usize,
  sizes: usize,
  scratch: usize,
): i32 {
  let count = 0;
  let least = bound;
  for (let block = 0; block < blockCount; block++) {
    if (!load<u8>(blocks + <usize>block)) continue;
    const start = <usize>block * BLOCK_BYTES;
    const above = f32x4.splat(least);
    for (let at = start; at < start + BLOCK_BYTES; at += 16) {
      // Most sizes are below the bound: sixteen at a time are skipped.
      if (!(at & 63)) {
        const a = f32x4.pmax(sizesAt(sums, importance, at), sizesAt(sums, importance, at + 16));
        const b = f32x4.pmax(sizesAt(sums, importance, at + 32), sizesAt(sums, importance, at + 48));
        if (!v128.any_true(f32x4.gt(f32x4.pmax(a, b), above))) {
          at += 48;
          continue;
        }
      }
      const size = sizesAt(sums, importance, at);
      let bits = i32x4.bitmask(f32x4.gt(size, above));
      if (!bits) continue;
      v128.store(scratch, size);
      while (bits) {
        const lane = <usize>ctz(bits);
        store<u32>(found + (<usize>count << 2), <u32>((at >> 2) + lane));
        store<f32>(sizes + (<usize>count << 2), load<f32>(scratch + (lane << 2)));
        count++;
        bits &= bits - 1;
      }
    }
    if (count >= most) {
      least = keepLargest(found, sizes, count, n);
      count = n;
    }
  }
  if (count > n) {
    least = keepLargest(found, sizes, count, n);
    count = n;
  }
  store<f32>(scratch, least);
  return count;
}

/**
 * A bound that at least `n` sizes exceed, so that few others are compared; 0 if there are few sizes. The sizes form about 3 n groups,
 * and `n` groups have a maximum that is not below the `n`th largest maximum. `scratch` has room for 4 n numbers.
 */
function belowLargest(
  sums: usize,
  importance: usize,
  blocks: usize,
  blockCount: i32,
  n: i32,
  scratch: usize,
): f32 {
  let used = 0;
  for (let block = 0; block < blockCount; block++) used += i32(load<u8>(blocks + <usize>block));
  const groups = max(1, (3 * n) >> 2) << 2;
  if (used << <i32>BLOCK_BITS < groups << 2) return 0;
  const end = scratch + (<usize>groups << 2);
  memory.fill(scratch, 0, <usize>groups << 2);
  let to = scratch;
  for (let block = 0; block < blockCount; block++) {
    if (!load<u8>(blocks + <usize>block)) continue;
    const start = <usize>block * BLOCK_BYTES;
    for (let at = start; at < start + BLOCK_BYTES; at += 16) {
      const size = sizesAt(sums, importance, at);
      v128.store(to, f32x4.pmax(v128.load(to), size));
      to += 16;
      if (to == end) to = scratch;
    }
  }
  const least = nthLargest(scratch, groups, n);
  // The largest number below it, since sizes must exceed the bound.
  return least > 0 ? reinterpret<f32>(reinterpret<u32>(least) - 1) : 0;
}

/** Keeps the `n` largest of `count` sizes in their order; returns the smallest of them. */
function keepLargest(found: usize, sizes: usize, count: i32, n: i32): f32 {
  const least = nthLargest(sizes, count, n);
  let ties = n;
  for (let i = 0; i < count; i++) if (load<f32>(sizes + (<usize>i << 2)) > least) ties--;
  let kept = 0;
  for (let i = 0; i < count; i++) {
    const size = load<f32>(sizes + (<usize>i << 2));
    if (size < least || (size == least && ties-- <= 0)) continue;
    store<u32>(found + (<usize>kept << 2), load<u32>(found + (<usize>i << 2)));
    store<f32>(sizes + (<usize>kept << 2), size);
    kept++;
  }
  return least;
}

/** Sets all sums to zero. */
export function sumClear(sums: usize, blocks: usize, blockCount: i32): void {
  for (let block = 0; block < blockCount; block++) {
    if (load<u8>(blocks + <usize>block)) memory.fill(sums + <usize>block * BLOCK_BYTES, 0, BLOCK_BYTES);
  }
  memory.fill(blocks, 0, <usize>blockCount);
}
