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
    addOne(sums, load<u32>(targets), factor * load<f32>(weights));
  }
}

@inline function addOne(sums: usize, target: u32, value: f32): void {
  const to = sums + (<usize>target << 2);
  store<f32>(to, load<f32>(to) + value);
}

/** The same, with a 1 for each block that gets a sum. */
@inline function markList(sums: usize, blocks: usize, targets: usize, weights: usize, count: u32, factor: f32): void {
  const end = targets + (<usize>count << 2);
  for (; targets < end; targets += 4, weights += 4) {
    const target = load<u32>(targets);
    addOne(sums, target, factor * load<f32>(weights));
    store<u8>(blocks + (<usize>target >> BLOCK_BITS), 1);
  }
}

/** Sizes of four sums: times their importance, if it is given. */
@inline function sizesAt(sums: usize, importance: usize, at: usize): v128 {
  const size = f32x4.abs(v128.load(sums + at));
  return importance ? f32x4.mul(size, v128.load(importance + at)) : size;
}

/** Sums are compared in runs of 16; a vector of every second run is sampled. */
@inline const RUN_BYTES: usize = 64;
@inline const SAMPLE_BYTES: usize = 2 * RUN_BYTES;
const SAMPLE_PART: i32 = 8;

/**
 * Finds the `n` numbers of the largest size: that of the sum, times its importance (0: all are 1). Writes them to `rows`, ascending, and
 * their sums to `values`. Ties go to the smaller number, and sums of zero are left out. Returns how many there are. `runs` has room
 * for an eighth of the bytes of the sums; `found` and `sizes` have room for `most` numbers and a run.
 */
export function sumLargest(
  sums: usize,
  importance: usize,
  blocks: usize,
  blockCount: i32,
  n: i32,
  most: i32,
  runs: usize,
  found: usize,
  sizes: usize,
  rows: usize,
  values: usize,
): i32 {
  let to = runs;
  for (let block = 0; block < blockCount; block++) {
    if (!load<u8>(blocks + <usize>block)) continue;
    const end = <usize>(block + 1) * BLOCK_BYTES;
    for (let at = <usize>block * BLOCK_BYTES; at < end; at += 4 * SAMPLE_BYTES, to += 16) {
      const a = f32x4.pmax(sizesAt(sums, importance, at), sizesAt(sums, importance, at + SAMPLE_BYTES));
      const next = at + 2 * SAMPLE_BYTES;
      const b = f32x4.pmax(sizesAt(sums, importance, next), sizesAt(sums, importance, next + SAMPLE_BYTES));
      v128.store(to, f32x4.pmax(a, b));
    }
  }
  // So many of the sample exceed the bound that nearly always `n` sizes do. Otherwise all are compared.
  const expected = <f64>n / <f64>SAMPLE_PART;
  const least = boundBelow(runs, to, <i32>(expected + 3 * Math.sqrt(expected)) + 1);
  let count = findAbove(sums, importance, blocks, blockCount, least, n, most, runs, found, sizes);
  if (count < n && least > 0) {
    count = findAbove(sums, importance, blocks, blockCount, 0, n, most, runs, found, sizes);
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

/** Writes the numbers whose sizes exceed a bound to `found`, ascending, and their sizes. Of `most` numbers or more, the `n` largest stay. */
function findAbove(
  sums: usize,
  importance: usize,
  blocks: usize,
  blockCount: i32,
  least: f32,
  n: i32,
  most: i32,
  runs: usize,
  found: usize,
  sizes: usize,
): i32 {
  const above = f32x4.splat(least);
  // Every run is written, and kept if one of its sizes is above: nobody can predict which.
  let end = runs;
  for (let block = 0; block < blockCount; block++) {
    if (!load<u8>(blocks + <usize>block)) continue;
    const last = <usize>(block + 1) * BLOCK_BYTES;
    for (let at = <usize>block * BLOCK_BYTES; at < last; at += RUN_BYTES) {
      const a = f32x4.gt(sizesAt(sums, importance, at), above);
      const b = f32x4.gt(sizesAt(sums, importance, at + 16), above);
      const c = f32x4.gt(sizesAt(sums, importance, at + 32), above);
      const d = f32x4.gt(sizesAt(sums, importance, at + 48), above);
      const bits = i8x16.bitmask(
        i8x16.narrow_i16x8_s(i16x8.narrow_i32x4_s(a, b), i16x8.narrow_i32x4_s(c, d)),
      );
      store<u32>(end, <u32>at);
      store<u32>(end, <u32>bits, 4);
      end += <usize>(bits != 0) << 3;
    }
  }
  let count: usize = 0;
  for (let run = runs; run < end; run += 8) {
    const at = <usize>load<u32>(run);
    for (let bits = load<u32>(run, 4); bits; bits &= bits - 1) {
      const one = at + (<usize>ctz(bits) << 2);
      const size = abs<f32>(load<f32>(sums + one));
      store<u32>(found + count, <u32>(one >> 2));
      store<f32>(sizes + count, importance ? size * load<f32>(importance + one) : size);
      count += 4;
    }
    if (count >> 2 < <usize>most) continue;
    keepLargest(found, sizes, <i32>(count >> 2), n);
    count = <usize>n << 2;
  }
  return <i32>(count >> 2);
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
      if (above <= n + (n >> 2)) break;
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
 * Counts weights by target: towards j there are ends[j + 1]. `ends` is zeroed and has room for `rows` + 1. Afterwards ends[j] is where
 * the weights towards j begin.
 */
export function startTowards(targets: usize, count: i32, rows: i32, ends: usize): void {
  const last = targets + (<usize>count << 2);
  for (let at = targets; at < last; at += 4) {
    const to = ends + (<usize>load<u32>(at) << 2);
    store<u32>(to, load<u32>(to, 4) + 1, 4);
  }
  for (let j = 0; j < rows; j++) {
    const at = ends + (<usize>j << 2);
    store<u32>(at, load<u32>(at, 4) + load<u32>(at), 4);
  }
}

/** Groups the weights of the rows `first` … `end − 1` by target. After all rows, ends[j] is where the weights towards j end. */
export function groupTowards(
  offsets: usize,
  targets: usize,
  weights: usize,
  first: i32,
  end: i32,
  ends: usize,
  from: usize,
  values: usize,
): void {
  for (let i = first; i < end; i++) {
    const last = <usize>load<u32>(offsets + (<usize>i << 2), 4) << 2;
    for (let e = <usize>load<u32>(offsets + (<usize>i << 2)) << 2; e < last; e += 4) {
      const to = ends + (<usize>load<u32>(targets + e) << 2);
      const at = <usize>load<u32>(to) << 2;
      store<u32>(to, <u32>(at >> 2) + 1);
      store<u32>(from + at, i);
      store<f32>(values + at, load<f32>(weights + e));
    }
  }
}

/**
 * Keeps the `most` weights of the largest size towards each of the targets `first` … `end − 1`, and moves them to the front: those towards
 * j are then starts[j] … starts[j+1]−1 of `from` and `values`, and `from` ascends. `sizes` has room for the weights towards a target.
 */
export function keepTowards(
  first: i32,
  end: i32,
  most: i32,
  ends: usize,
  starts: usize,
  from: usize,
  values: usize,
  sizes: usize,
): void {
  let start: usize = first ? <usize>load<u32>(ends + (<usize>(first - 1) << 2)) << 2 : 0;
  let kept = <usize>load<u32>(starts + (<usize>first << 2)) << 2;
  for (let j = first; j < end; j++) {
    const last = <usize>load<u32>(ends + (<usize>j << 2)) << 2;
    const count = <i32>((last - start) >> 2);
    for (let e = start; e < last; e += 4) store<f32>(sizes + (e - start), abs<f32>(load<f32>(values + e)));
    const least: f32 = count > most ? nthLargest(sizes, count, most) : 0;
    // Of equal weights at the end, the first ones are kept.
    let ties = most;
    for (let i: usize = 0; i < last - start; i += 4) if (load<f32>(sizes + i) > least) ties--;
    for (let e = start; e < last; e += 4) {
      const size = load<f32>(sizes + (e - start));
      if (size < least || (size == least && ties-- <= 0)) continue;
      store<u32>(from + kept, load<u32>(from + e));
      store<f32>(values + kept, load<f32>(values + e));
      kept += 4;
    }
    start = last;
    store<u32>(starts + (<usize>j << 2), <u32>(kept >> 2), 4);
  }
}
