// @ts-nocheck: AssemblyScript. The host reads the types of exported functions (instantiate.ts).
// Sums of some of many numbers, with the same bits as SparseSums (attributes/similarity.ts). A block of 256 numbers that has a sum
// has a 1 in `blocks`; the others are skipped. Sums are padded with zeros to whole blocks.

import { exceeding, keepLargest, most4, nthLargest } from './scores';

@inline const BLOCK_BITS: usize = 8;
@inline const BLOCK_BYTES: usize = 4 << BLOCK_BITS;

/** A sum for four numbers or more of each block: nearly all blocks get one. */
const FILLED: i32 = 4;

/**
 * Adds `count` lists to the sums of their targets: list `which[i]` times factors[i] and `factor`, or its first `longest` weights. List
 * l has the entries offsets[l] … offsets[l+1]−1.
 */
export function sumLists(
  sums: usize,
  blocks: usize,
  blockCount: i32,
  offsets: usize,
  targets: usize,
  weights: usize,
  which: usize,
  factors: usize,
  count: i32,
  longest: u32,
  factor: f32,
): void {
  let entries: u32 = 0;
  for (let i = 0; i < count; i++) {
    const at = offsets + (<usize>load<u32>(which + (<usize>i << 2)) << 2);
    entries += min(longest, load<u32>(at, 4) - load<u32>(at));
  }
  const fills = entries >= <u32>(FILLED * blockCount);
  if (fills) memory.fill(blocks, 1, <usize>blockCount);
  for (let i = 0; i < count; i++) {
    const own = factor * load<f32>(factors + (<usize>i << 2));
    if (own == 0) continue;
    const at = offsets + (<usize>load<u32>(which + (<usize>i << 2)) << 2);
    const first = load<u32>(at);
    const length = min(longest, load<u32>(at, 4) - first);
    const from = <usize>first << 2;
    if (fills) addList(sums, targets + from, weights + from, length, own);
    else markList(sums, blocks, targets + from, weights + from, length, own);
  }
}

@inline function addList(sums: usize, targets: usize, weights: usize, count: u32, factor: f32): void {
  const end = targets + (<usize>count << 2);
  for (; targets < end; targets += 4, weights += 4) {
    const to = sums + (<usize>load<u32>(targets) << 2);
    store<f32>(to, load<f32>(to) + factor * load<f32>(weights));
  }
}

/** The same, with a 1 for each block that gets a sum. */
@inline function markList(sums: usize, blocks: usize, targets: usize, weights: usize, count: u32, factor: f32): void {
  const end = targets + (<usize>count << 2);
  for (; targets < end; targets += 4, weights += 4) {
    const at = <usize>load<u32>(targets);
    const to = sums + (at << 2);
    store<f32>(to, load<f32>(to) + factor * load<f32>(weights));
    store<u8>(blocks + (at >> BLOCK_BITS), 1);
  }
}

/** Sizes of four sums: times their importance, if it is given. */
@inline function sizesAt(sums: usize, importance: usize, at: usize): v128 {
  const size = f32x4.abs(v128.load(sums + at));
  return importance ? f32x4.mul(size, v128.load(importance + at)) : size;
}

/** The bytes of a run of sums: it is compared by its largest ones, one of each lane. */
@inline const LONGEST_RUN: usize = 256;
@inline const SHORTEST_RUN: usize = 64;

/**
 * Finds the `n` numbers of the largest size: that of the sum, times its importance (0: all are 1). Writes them to `rows`, ascending, and
 * their sums to `values`. Ties go to the smaller number, and sums of zero are left out. Returns how many there are. `maxima` has room
 * for a quarter of the sums; `found` and `sizes` have room for `most` numbers and a block.
 */
export function sumLargest(
  sums: usize,
  importance: usize,
  blocks: usize,
  blockCount: i32,
  n: i32,
  most: i32,
  maxima: usize,
  found: usize,
  sizes: usize,
  rows: usize,
  values: usize,
): i32 {
  let used = 0;
  for (let block = 0; block < blockCount; block++) used += i32(load<u8>(blocks + <usize>block));
  let runBytes = LONGEST_RUN;
  while (runBytes > SHORTEST_RUN && (<usize>used * BLOCK_BYTES) / runBytes < <usize>n) runBytes >>= 1;
  // `n` maxima exceed a bound, and few other sizes do.
  let to = maxima;
  for (let block = 0; block < blockCount; block++) {
    if (!load<u8>(blocks + <usize>block)) continue;
    const end = <usize>(block + 1) * BLOCK_BYTES;
    for (let run = <usize>block * BLOCK_BYTES; run < end; run += runBytes, to += 16) {
      let largest = f32x4.splat(0);
      for (let at = run; at < run + runBytes; at += 16) {
        largest = f32x4.pmax(largest, sizesAt(sums, importance, at));
      }
      v128.store(to, largest);
    }
  }
  let least = boundBelow(maxima, to, n);
  let above = f32x4.splat(least);
  let count = 0;
  let from = maxima;
  for (let block = 0; block < blockCount; block++) {
    if (!load<u8>(blocks + <usize>block)) continue;
    const end = <usize>(block + 1) * BLOCK_BYTES;
    for (let run = <usize>block * BLOCK_BYTES; run < end; run += runBytes, from += 16) {
      if (!v128.any_true(f32x4.gt(v128.load(from), above))) continue;
      for (let at = run; at < run + runBytes; at += 16) {
        const size = sizesAt(sums, importance, at);
        let bits = i32x4.bitmask(f32x4.gt(size, above));
        if (!bits) continue;
        v128.store(from, size);
        while (bits) {
          const lane = <usize>ctz(bits);
          store<u32>(found + (<usize>count << 2), <u32>((at >> 2) + lane));
          store<f32>(sizes + (<usize>count << 2), load<f32>(from + (lane << 2)));
          count++;
          bits &= bits - 1;
        }
      }
    }
    if (count >= most) {
      least = keepLargest(found, sizes, count, n);
      above = f32x4.splat(least);
      count = n;
    }
  }
  if (count > n) {
    keepLargest(found, sizes, count, n);
    count = n;
  }
  memory.copy(rows, found, <usize>count << 2);
  for (let i: usize = 0; i < <usize>count << 2; i += 4) {
    store<f32>(values + i, load<f32>(sums + (<usize>load<u32>(found + i) << 2)));
  }
  return count;
}

/** Powers of two below the largest number, within which a bound is looked for first. */
const NEAR: i32 = 6;

/** A number that at least `n` of the given ones exceed, and few more. 0 if fewer than `n` are above 0; none is below. */
function boundBelow(values: usize, end: usize, n: i32): f32 {
  let largest = f32x4.splat(0);
  for (let at = values; at < end; at += 16) largest = f32x4.pmax(largest, v128.load(at));
  // Floats from 0 on are in the order of their bits.
  let high = reinterpret<i32>(most4(largest));
  let low = max(0, high - (NEAR << 23));
  if (exceeding(values, end, end, reinterpret<f32>(low)) < n) {
    high = low;
    low = 0;
    if (exceeding(values, end, end, 0) < n) return 0;
  }
  while (high - low > 1) {
    const middle = low + ((high - low) >> 1);
    const above = exceeding(values, end, end, reinterpret<f32>(middle));
    if (above < n) high = middle;
    else {
      low = middle;
      if (above <= n + (n >> 3)) break;
    }
  }
  return reinterpret<f32>(low);
}

/** Sets all sums to zero. */
export function sumClear(sums: usize, blocks: usize, blockCount: i32): void {
  for (let block = 0; block < blockCount; block++) {
    if (load<u8>(blocks + <usize>block)) memory.fill(sums + <usize>block * BLOCK_BYTES, 0, BLOCK_BYTES);
  }
  memory.fill(blocks, 0, <usize>blockCount);
}

/**
 * The `most` weights of the largest size towards each of `rows` targets, by target: those towards j are starts[j] … starts[j+1]−1 of
 * `from` and `values`, and `from` ascends. The given ones are by the row that they come from. `from` and `values` have room for all,
 * `sizes` for `rows` numbers, and `ends` is zeroed and has room for `rows` + 1.
 */
export function largestTowards(
  offsets: usize,
  targets: usize,
  weights: usize,
  rows: i32,
  most: i32,
  ends: usize,
  starts: usize,
  from: usize,
  values: usize,
  sizes: usize,
): void {
  const last = targets + (<usize>load<u32>(offsets + (<usize>rows << 2)) << 2);
  for (let at = targets; at < last; at += 4) {
    const to = ends + (<usize>load<u32>(at) << 2);
    store<u32>(to, load<u32>(to, 4) + 1, 4);
  }
  for (let j = 0; j < rows; j++) {
    const at = ends + (<usize>j << 2);
    store<u32>(at, load<u32>(at, 4) + load<u32>(at), 4);
  }
  // Then ends[j] is where the weights towards j begin, and is moved on to where they end.
  for (let i = 0; i < rows; i++) {
    const end = <usize>load<u32>(offsets + (<usize>i << 2), 4) << 2;
    for (let e = <usize>load<u32>(offsets + (<usize>i << 2)) << 2; e < end; e += 4) {
      const to = ends + (<usize>load<u32>(targets + e) << 2);
      const at = <usize>load<u32>(to) << 2;
      store<u32>(to, <u32>(at >> 2) + 1);
      store<u32>(from + at, i);
      store<f32>(values + at, load<f32>(weights + e));
    }
  }
  let first: usize = 0;
  let kept: usize = 0;
  for (let j = 0; j < rows; j++) {
    const end = <usize>load<u32>(ends + (<usize>j << 2)) << 2;
    const count = <i32>((end - first) >> 2);
    for (let e = first; e < end; e += 4) store<f32>(sizes + (e - first), abs<f32>(load<f32>(values + e)));
    const least: f32 = count > most ? nthLargest(sizes, count, most) : 0;
    // Of equal weights at the end, the first ones are kept.
    let ties = most;
    for (let i: usize = 0; i < end - first; i += 4) if (load<f32>(sizes + i) > least) ties--;
    for (let e = first; e < end; e += 4) {
      const size = load<f32>(sizes + (e - first));
      if (size < least || (size == least && ties-- <= 0)) continue;
      store<u32>(from + kept, load<u32>(from + e));
      store<f32>(values + kept, load<f32>(values + e));
      kept += 4;
    }
    first = end;
    store<u32>(starts + (<usize>j << 2), <u32>(kept >> 2), 4);
  }
}
