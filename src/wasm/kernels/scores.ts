// @ts-nocheck: AssemblyScript. The host reads the types of exported functions (instantiate.ts).
// Ranking kernels: scores in blocks, then ranks by counting. They never sort all candidates.
//
// Items are packed in panels of 8, feature by feature: panel[k][8]; users in tiles of 4: tile[k][4]. The scores of a block of users
// are written row by row, and every later step reads one row. A score is always the same sum in the same order, so that a relevant
// item's score can be compared with its row for equality.

import { madd, total } from './simd';

/** Scores of `tiles`×4 users and `panels`×8 items. Row r of the block starts at out + r·stride bytes. */
export function rankScores(
  users: usize,
  tiles: i32,
  items: usize,
  panels: i32,
  features: i32,
  out: usize,
  stride: usize,
): void {
  const tileBytes: usize = <usize>features << 4;
  const panelBytes: usize = <usize>features << 5;
  for (let p = 0; p < panels; p++) {
    const panel = items + <usize>p * panelBytes;
    const end = panel + panelBytes;
    let user = users;
    let row = out + (<usize>p << 5);
    for (let t = 0; t < tiles; t++) {
      let a0 = f32x4.splat(0), b0 = a0, a1 = a0, b1 = a0, a2 = a0, b2 = a0, a3 = a0, b3 = a0;
      let u = user;
      for (let i = panel; i < end; i += 32) {
        const x = v128.load(i);
        const y = v128.load(i, 16);
        const u0 = v128.load32_splat(u);
        a0 = madd(u0, x, a0);
        b0 = madd(u0, y, b0);
        const u1 = v128.load32_splat(u, 4);
        a1 = madd(u1, x, a1);
        b1 = madd(u1, y, b1);
        const u2 = v128.load32_splat(u, 8);
        a2 = madd(u2, x, a2);
        b2 = madd(u2, y, b2);
        const u3 = v128.load32_splat(u, 12);
        a3 = madd(u3, x, a3);
        b3 = madd(u3, y, b3);
        u += 16;
      }
      v128.store(row, a0);
      v128.store(row, b0, 16);
      v128.store(row + stride, a1);
      v128.store(row + stride, b1, 16);
      v128.store(row + 2 * stride, a2);
      v128.store(row + 2 * stride, b2, 16);
      v128.store(row + 3 * stride, a3);
      v128.store(row + 3 * stride, b3, 16);
      user += tileBytes;
      row += stride << 2;
    }
  }
}

/**
 * Keeps the scores of a row that can be among its best `depth`: all scores of at least a threshold t that leaves `depth` or more.
 * An even sample of the row gives t; if t is too high it is dropped, so the result is exact. Writes the kept scores and
 * their positions, in ascending order of position, padded to a multiple of 4 with −∞. Returns how many it kept. Never keeps
 * a score of −∞ (an item that the caller excludes). `count` is a multiple of 8.
 */
export function rankKeep(
  scores: usize,
  count: i32,
  depth: i32,
  keptScores: usize,
  keptPositions: usize,
  sample: usize,
  sampleSize: i32,
): i32 {
  const least: f32 = -f32.MAX_VALUE;
  let threshold = least;
  if (sampleSize > 0 && count > 4 * depth && count > 2 * sampleSize) {
    const step = count / sampleSize;
    let taken = 0;
    for (let i = 0; i < count; i += step) {
      store<f32>(sample + (<usize>taken << 2), load<f32>(scores + (<usize>i << 2)));
      taken++;
    }
    const expected = <f64>depth / <f64>step;
    const nth = <i32>(expected + 3 * Math.sqrt(expected)) + 1;
    if (nth < taken) threshold = max<f32>(least, nthLargest(sample, taken, nth));
  }
  let kept = compact(scores, count, threshold, keptScores, keptPositions);
  if (kept < depth && threshold > least) kept = compact(scores, count, least, keptScores, keptPositions);
  for (let i = kept; i & 3; i++) store<f32>(keptScores + (<usize>i << 2), -f32.MAX_VALUE - f32.MAX_VALUE);
  return kept;
}

function compact(scores: usize, count: i32, threshold: f32, keptScores: usize, keptPositions: usize): i32 {
  const t = f32x4.splat(threshold);
  let kept = 0;
  const end = scores + (<usize>count << 2);
  for (let at = scores; at < end; at += 32) {
    const x = f32x4.ge(v128.load(at), t);
    const y = f32x4.ge(v128.load(at, 16), t);
    if (v128.any_true(v128.or(x, y))) {
      const first = <i32>((at - scores) >> 2);
      let bits = i32x4.bitmask(x) | (i32x4.bitmask(y) << 4);
      while (bits) {
        const lane = ctz(bits);
        store<f32>(keptScores + (<usize>kept << 2), load<f32>(at + (<usize>lane << 2)));
        store<i32>(keptPositions + (<usize>kept << 2), first + lane);
        kept++;
        bits &= bits - 1;
      }
    }
  }
  return kept;
}

/**
 * Ranks of a row's relevant positions (ascending) among the kept scores: 1 + higher scores + equal scores at smaller positions.
 * The rank is 0 if the score was not kept or the rank exceeds the depth.
 */
export function rankCount(
  relevant: usize,
  relevantCount: i32,
  depth: i32,
  keptScores: usize,
  keptPositions: usize,
  kept: i32,
  ranks: usize,
): void {
  let at = 0;
  for (let r = 0; r < relevantCount; r++) {
    const position = load<i32>(relevant + (<usize>r << 2));
    while (at < kept && load<i32>(keptPositions + (<usize>at << 2)) < position) at++;
    let rank = 0;
    if (at < kept && load<i32>(keptPositions + (<usize>at << 2)) == position) {
      rank = 1 + countHigher(keptScores, kept, at);
      if (rank > depth) rank = 0;
    }
    store<i32>(ranks + (<usize>r << 2), rank);
  }
}

/** The number of scores above the one at index `own`, plus equal ones before it. */
function countHigher(scores: usize, count: i32, own: i32): i32 {
  const value = load<f32>(scores + (<usize>own << 2));
  const t = f32x4.splat(value);
  const ownGroup = scores + (<usize>(own >> 2) << 4);
  const end = scores + (<usize>((count + 3) >> 2) << 4);
  let sum = i32x4.splat(0);
  for (let at = scores; at < ownGroup; at += 16) sum = i32x4.sub(sum, f32x4.ge(v128.load(at), t));
  for (let at = ownGroup + 16; at < end; at += 16) sum = i32x4.sub(sum, f32x4.gt(v128.load(at), t));
  let higher = total(sum);
  const ownAt = scores + (<usize>own << 2);
  for (let at = ownGroup; at < ownGroup + 16; at += 4) {
    const x = load<f32>(at);
    if (x > value || (x == value && at < ownAt)) higher++;
  }
  return higher;
}

/**
 * Moves the best `top` of the kept scores to the front, in ascending order of position; ties go to the smaller position. Returns how
 * many there are, fewer than `top` if fewer were kept.
 */
export function rankTop(keptScores: usize, keptPositions: usize, kept: i32, top: i32): i32 {
  if (kept <= top) return kept;
  keepLargest(keptPositions, keptScores, kept, top);
  return top;
}

/** Moves the `n` largest of `count` values and their numbers to the front, in their order; returns the smallest of them. */
export function keepLargest(numbers: usize, values: usize, count: i32, n: i32): f32 {
  const least = nthLargest(values, count, n);
  let ties = n;
  for (let i = 0; i < count; i++) if (load<f32>(values + (<usize>i << 2)) > least) ties--;
  let kept = 0;
  for (let i = 0; i < count && kept < n; i++) {
    const value = load<f32>(values + (<usize>i << 2));
    if (value < least || (value == least && ties-- <= 0)) continue;
    store<u32>(numbers + (<usize>kept << 2), load<u32>(numbers + (<usize>i << 2)));
    store<f32>(values + (<usize>kept << 2), value);
    kept++;
  }
  return least;
}

/**
 * The nth largest (1: the largest) of `count` floats: the smallest number that fewer than `nth` of them exceed. It is bisected in the
 * order of floats; no branch depends on a single value, so this takes a fifth of the time of a quickselect.
 */
export function nthLargest(values: usize, count: i32, nth: i32): f32 {
  let smallest = f32x4.splat(load<f32>(values));
  let largest = smallest;
  const whole = values + (<usize>(count >> 2) << 4);
  const end = values + (<usize>count << 2);
  let at = values;
  for (; at < whole; at += 16) {
    const x = v128.load(at);
    smallest = f32x4.pmin(smallest, x);
    largest = f32x4.pmax(largest, x);
  }
  for (; at < end; at += 4) {
    const x = v128.load32_splat(at);
    smallest = f32x4.pmin(smallest, x);
    largest = f32x4.pmax(largest, x);
  }
  let low = ordered(least4(smallest));
  let high = ordered(most4(largest));
  while (low < high) {
    const middle = low + <i32>(<u32>(high - low) >> 1);
    const bound = unordered(middle);
    const above = exceeding(values, whole, end, bound);
    if (above == nth) return smallestAbove(values, whole, end, bound);
    if (above < nth) high = middle;
    else low = middle + 1;
  }
  return unordered(low);
}

/** A whole number that is in the order of floats. */
@inline function ordered(value: f32): i32 {
  const bits = reinterpret<i32>(value);
  return bits ^ ((bits >> 31) & 0x7fffffff);
}

@inline function unordered(whole: i32): f32 {
  return reinterpret<f32>(whole ^ ((whole >> 31) & 0x7fffffff));
}

@inline function least4(v: v128): f32 {
  return min<f32>(
    min<f32>(f32x4.extract_lane(v, 0), f32x4.extract_lane(v, 1)),
    min<f32>(f32x4.extract_lane(v, 2), f32x4.extract_lane(v, 3)),
  );
}

@inline export function most4(v: v128): f32 {
  return max<f32>(
    max<f32>(f32x4.extract_lane(v, 0), f32x4.extract_lane(v, 1)),
    max<f32>(f32x4.extract_lane(v, 2), f32x4.extract_lane(v, 3)),
  );
}

/** How many floats exceed a bound; from `whole` on they are compared one by one. */
export function exceeding(values: usize, whole: usize, end: usize, bound: f32): i32 {
  const t = f32x4.splat(bound);
  let sum = i32x4.splat(0);
  let at = values;
  for (; at < whole; at += 16) sum = i32x4.sub(sum, f32x4.gt(v128.load(at), t));
  let above = total(sum);
  for (; at < end; at += 4) above += i32(load<f32>(at) > bound);
  return above;
}

/** The smallest float that exceeds a bound. */
function smallestAbove(values: usize, whole: usize, end: usize, bound: f32): f32 {
  const t = f32x4.splat(bound);
  const none = f32x4.splat(f32.MAX_VALUE + f32.MAX_VALUE);
  let smallest = none;
  let at = values;
  for (; at < whole; at += 16) {
    const x = v128.load(at);
    smallest = f32x4.pmin(smallest, v128.bitselect(x, none, f32x4.gt(x, t)));
  }
  let found = least4(smallest);
  for (; at < end; at += 4) {
    const x = load<f32>(at);
    if (x > bound) found = min<f32>(found, x);
  }
  return found;
}
