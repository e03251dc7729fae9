// @ts-nocheck: AssemblyScript. The host reads the types of exported functions (instantiate.ts).
// Counts the members that each list shares with 128 targets in parallel. A member has a mask of 128 bits: bit t is set if target t has
// the member too. Masks are added in bit planes: the first plane holds the lowest bit of every target's count, the second the next.
// Eight masks pass through a tree of full adders, which leaves one carry.

const ROUND: usize = 32;

/**
 * Writes, for each list from `first` to `last`, its counts with 128 targets to `out`. A count has 2 bytes, or 4 if `wide`. Target t is
 * bit t ≫ 3 of half-word t & 7 of a mask. A list has `classes` segments, whose starts are `offsets`; a member of segment c counts
 * 2^c times. `planes` is 512 bytes of scratch. Counts of 2^16 and more need `wide`.
 */
export function pairCounts(
  offsets: usize,
  values: usize,
  classes: i32,
  first: i32,
  last: i32,
  masks: usize,
  planes: usize,
  wide: bool,
  out: usize,
): void {
  for (let list = first; list < last; list++) {
    let segment = offsets + (<usize>(list * classes) << 2);
    let from = load<u32>(segment);
    let most: u32 = 0;
    memory.fill(planes, 0, wide ? 512 : 256);
    for (let c = 0; c < classes; c++) {
      segment += 4;
      const to = load<u32>(segment);
      if (to > from) addMasks(values + (<usize>from << 2), values + (<usize>to << 2), masks, planes + (<usize>c << 4));
      most += (to - from) << c;
      from = to;
    }
    const bits = 32 - <i32>clz(most);
    if (wide) storeWide(planes, bits, out);
    else storeCounts(planes, bits, out);
    out += wide ? 512 : 256;
  }
}

@inline
function maskOf(n: usize, masks: usize): v128 {
  return v128.load(masks + (<usize>load<u32>(n) << 4));
}

/** The carry of three bits; `differ` is a xor b. */
@inline
function carried(a: v128, b: v128, differ: v128, c: v128): v128 {
  return v128.or(v128.and(a, b), v128.and(differ, c));
}

/** Adds a carry to the planes from `plane` on, until it vanishes. */
@inline
function ripple(plane: usize, carry: v128): void {
  while (v128.any_true(carry)) {
    const before = v128.load(plane);
    v128.store(plane, v128.xor(before, carry));
    carry = v128.and(before, carry);
    plane += 16;
  }
}

/** Adds the masks of members to the planes. */
function addMasks(from: usize, to: usize, masks: usize, planes: usize): void {
  let ones = v128.load(planes), twos = v128.load(planes, 16), fours = v128.load(planes, 32);
  let n = from;
  for (; n + ROUND <= to; n += ROUND) {
    const a = maskOf(n, masks), b = maskOf(n + 4, masks);
    let differ = v128.xor(ones, a);
    const first = carried(ones, a, differ, b);
    ones = v128.xor(differ, b);
    const c = maskOf(n + 8, masks), d = maskOf(n + 12, masks);
    differ = v128.xor(ones, c);
    const second = carried(ones, c, differ, d);
    ones = v128.xor(differ, d);
    differ = v128.xor(twos, first);
    const four = carried(twos, first, differ, second);
    twos = v128.xor(differ, second);
    const e = maskOf(n + 16, masks), f = maskOf(n + 20, masks);
    differ = v128.xor(ones, e);
    const third = carried(ones, e, differ, f);
    ones = v128.xor(differ, f);
    const g = maskOf(n + 24, masks), h = maskOf(n + 28, masks);
    differ = v128.xor(ones, g);
    const fourth = carried(ones, g, differ, h);
    ones = v128.xor(differ, h);
    differ = v128.xor(twos, third);
    const other = carried(twos, third, differ, fourth);
    twos = v128.xor(differ, fourth);
    differ = v128.xor(fours, four);
    ripple(planes + 48, carried(fours, four, differ, other));
    fours = v128.xor(differ, other);
  }
  v128.store(planes, ones);
  v128.store(planes, twos, 16);
  v128.store(planes, fours, 32);
  for (; n < to; n += 4) ripple(planes, maskOf(n, masks));
}

/** The counts of eight targets: those at bit `bit` of the half-words. */
@inline
function countsOf(planes: usize, bits: i32, bit: i32): v128 {
  const one = i16x8.splat(1);
  let counts = i16x8.splat(0);
  for (let plane = planes + (<usize>bits << 4); plane > planes; ) {
    plane -= 16;
    const lowest = v128.and(i16x8.shr_u(v128.load(plane), bit), one);
    counts = v128.or(i16x8.add(counts, counts), lowest);
  }
  return counts;
}

function storeCounts(planes: usize, bits: i32, out: usize): void {
  for (let bit = 0; bit < 16; bit++) v128.store(out + (<usize>bit << 4), countsOf(planes, bits, bit));
}

function storeWide(planes: usize, bits: i32, out: usize): void {
  for (let bit = 0; bit < 16; bit++) {
    const low = countsOf(planes, min(bits, 16), bit);
    const high = countsOf(planes + 256, max(bits - 16, 0), bit);
    const to = out + (<usize>bit << 5);
    const first = i32x4.shl(i32x4.extend_low_i16x8_u(high), 16);
    const second = i32x4.shl(i32x4.extend_high_i16x8_u(high), 16);
    v128.store(to, v128.or(first, i32x4.extend_low_i16x8_u(low)));
    v128.store(to, v128.or(second, i32x4.extend_high_i16x8_u(low)), 16);
  }
}
