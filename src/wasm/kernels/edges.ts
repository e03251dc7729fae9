// @ts-nocheck: AssemblyScript. The host reads the types of exported functions (instantiate.ts).
// The edge pass: λ of each edge from the two vertices' activities, its weight w = 1/(1 − e^−λ) (multigraph: g/λ), and the sums
// Σ_j w_ij B_jk of each row.
//
// Edges take these three steps in batches: all λ's of a batch, then all weights, then all sums. Reads of the other table's rows
// then wait for nothing in between, the weights of short rows fill whole vectors, and the third step finds the rows in cache.
//
// The host copies the edges into a window of this memory, so the index may be larger than WebAssembly can address.

import { job, rowBytes, scratch, unit } from './params';
import { addTo, constant, madd, narrow, ONE, oneMinusExpNeg, rowSums } from './simd';

/** Most edges of a batch. A longer row is cut into batches; their sums are added in float64, which keeps them accurate. */
const BATCH: u32 = 128;
/** Most bytes of the other table's rows in a batch: little more than the first-level cache, but at least 16 rows. */
const BATCH_ROWS: usize = 32768;
/** Scratch bytes of a batch: its λ's, which its weights replace. */
export const BATCH_BYTES: usize = 4 * BATCH + 16;

// Edge term of the bound: Σ λ and the product of (1 − e^−λ), folded into `logProduct` before it underflows.
let linear: f64 = 0;
let product: f64 = 1;
let logProduct: f64 = 0;

export function resetEdgeTerm(): void {
  linear = 0;
  product = 1;
  logProduct = 0;
}

/** Σ log(e^λ − 1) over the simple edges, or Σ g log λ over the multigraph edges, walked since the reset. */
export function takeEdgeTerm(): f64 {
  return linear + logProduct + Math.log(product);
}

/** Edges of a batch, for rows of `bytes` bytes. */
@inline
function batchEdges(bytes: usize): u32 {
  return max(16, min(BATCH, <u32>(BATCH_ROWS / bytes)));
}

/** Σ_k A_k B_k for the rows of B at four addresses. */
@inline
function dots(a: usize, b0: usize, b1: usize, b2: usize, b3: usize, bytes: usize): v128 {
  const end = a + bytes;
  let s0 = f32x4.splat(0);
  let s1 = f32x4.splat(0);
  let s2 = f32x4.splat(0);
  let s3 = f32x4.splat(0);
  // Eight features per iteration: more would exceed the registers, because V8 hoists all loads of an iteration.
  for (const whole = a + (bytes & ~31); a < whole; a += 32, b0 += 32, b1 += 32, b2 += 32, b3 += 32) {
    const x = v128.load(a);
    const y = v128.load(a, 16);
    s0 = madd(y, v128.load(b0, 16), madd(x, v128.load(b0), s0));
    s1 = madd(y, v128.load(b1, 16), madd(x, v128.load(b1), s1));
    s2 = madd(y, v128.load(b2, 16), madd(x, v128.load(b2), s2));
    s3 = madd(y, v128.load(b3, 16), madd(x, v128.load(b3), s3));
  }
  for (; a < end; a += 16, b0 += 16, b1 += 16, b2 += 16, b3 += 16) {
    const x = v128.load(a);
    s0 = madd(x, v128.load(b0), s0);
    s1 = madd(x, v128.load(b1), s1);
    s2 = madd(x, v128.load(b2), s2);
    s3 = madd(x, v128.load(b3), s3);
  }
  return rowSums(s0, s1, s2, s3);
}

/** Writes the λ's of a row's edges to `lambdas`. Overwrites up to three values after the last; later steps fill those. */
@inline
function computeLambdas(row: usize, other: usize, neighbors: usize, edges: u32, bytes: usize, lambdas: usize): void {
  const end = (<usize>edges) << 2;
  for (let e: usize = 0; e < end; e += 16) {
    // Past the end, the last edge fills the group of four.
    const b0 = other + (<usize>load<u32>(neighbors + e)) * bytes;
    const b1 = other + (<usize>load<u32>(neighbors + min(e + 4, end - 4))) * bytes;
    const b2 = other + (<usize>load<u32>(neighbors + min(e + 8, end - 4))) * bytes;
    const b3 = other + (<usize>load<u32>(neighbors + min(e + 12, end - 4))) * bytes;
    v128.store(lambdas + e, dots(row, b0, b1, b2, b3, bytes));
  }
}

/** Replaces the λ's of a batch with its weights. */
@inline
function computeWeights(lambdas: usize, counts: usize, edges: u32, withTerm: bool): void {
  for (let e: u32 = 0; e < edges; e += 4) {
    const at = lambdas + ((<usize>e) << 2);
    const lambda = v128.load(at);
    if (counts) {
      const g = v128.load(counts + ((<usize>e) << 2));
      v128.store(at, f32x4.div(g, lambda));
      if (withTerm) multiTerm(lambda, g, edges - e);
    } else {
      const q = oneMinusExpNeg(lambda);
      v128.store(at, f32x4.div(constant(ONE), q));
      if (withTerm) simpleTerm(lambda, q, edges - e);
    }
  }
}

/** Writes Σ_j w_j B_jk over a row's edges to `sums`: 16 features at a time in registers, then 4 at a time. */
@inline
function addWeighted(other: usize, neighbors: usize, weights: usize, edges: u32, bytes: usize, sums: usize): void {
  const end = (<usize>edges) << 2;
  let k: usize = 0;
  for (; k + 64 <= bytes; k += 64) {
    const from = other + k;
    let s0 = f32x4.splat(0);
    let s1 = f32x4.splat(0);
    let s2 = f32x4.splat(0);
    let s3 = f32x4.splat(0);
    let e: usize = 0;
    for (; e + 8 <= end; e += 8) {
      const b = from + (<usize>load<u32>(neighbors + e)) * bytes;
      const c = from + (<usize>load<u32>(neighbors + e, 4)) * bytes;
      const v = v128.load32_splat(weights + e);
      const w = v128.load32_splat(weights + e, 4);
      s0 = madd(w, v128.load(c), madd(v, v128.load(b), s0));
      s1 = madd(w, v128.load(c, 16), madd(v, v128.load(b, 16), s1));
      s2 = madd(w, v128.load(c, 32), madd(v, v128.load(b, 32), s2));
      s3 = madd(w, v128.load(c, 48), madd(v, v128.load(b, 48), s3));
    }
    if (e < end) {
      const b = from + (<usize>load<u32>(neighbors + e)) * bytes;
      const v = v128.load32_splat(weights + e);
      s0 = madd(v, v128.load(b), s0);
      s1 = madd(v, v128.load(b, 16), s1);
      s2 = madd(v, v128.load(b, 32), s2);
      s3 = madd(v, v128.load(b, 48), s3);
    }
    v128.store(sums + k, s0);
    v128.store(sums + k, s1, 16);
    v128.store(sums + k, s2, 32);
    v128.store(sums + k, s3, 48);
  }
  for (; k < bytes; k += 16) {
    let s = f32x4.splat(0);
    for (let e: usize = 0; e < end; e += 4) {
      const b = other + (<usize>load<u32>(neighbors + e)) * bytes + k;
      s = madd(v128.load32_splat(weights + e), v128.load(b), s);
    }
    v128.store(sums + k, s);
  }
}

/** All ones in the first `count` lanes. */
@inline
function firstLanes(count: u32): v128 {
  return i32x4.lt_u(i32x4(0, 1, 2, 3), i32x4.splat(count));
}

@inline
function simpleTerm(lambda: v128, q: v128, left: u32): void {
  if (left < 4) {
    lambda = v128.and(lambda, firstLanes(left));
    q = v128.bitselect(q, f32x4.splat(1), firstLanes(left));
  }
  linear += <f64>f32x4.extract_lane(lambda, 0) + <f64>f32x4.extract_lane(lambda, 1) +
    (<f64>f32x4.extract_lane(lambda, 2) + <f64>f32x4.extract_lane(lambda, 3));
  product *= <f64>f32x4.extract_lane(q, 0) * <f64>f32x4.extract_lane(q, 1) *
    (<f64>f32x4.extract_lane(q, 2) * <f64>f32x4.extract_lane(q, 3));
  if (product < 1e-150) {
    logProduct += Math.log(product);
    product = 1;
  }
}

@inline
function multiTerm(lambda: v128, g: v128, left: u32): void {
  if (left < 4) {
    g = v128.and(g, firstLanes(left));
    lambda = v128.bitselect(lambda, f32x4.splat(1), firstLanes(left));
  }
  logProduct += <f64>f32x4.extract_lane(g, 0) * Math.log(<f64>f32x4.extract_lane(lambda, 0)) +
    <f64>f32x4.extract_lane(g, 1) * Math.log(<f64>f32x4.extract_lane(lambda, 1)) +
    <f64>f32x4.extract_lane(g, 2) * Math.log(<f64>f32x4.extract_lane(lambda, 2)) +
    <f64>f32x4.extract_lane(g, 3) * Math.log(<f64>f32x4.extract_lane(lambda, 3));
}

/** Receives the prefetched values, so that the compiler keeps the loads. */
let prefetched: u32 = 0;

/**
 * Prefetches the rows of a batch. These loads depend on nothing, so the processor has many more of them in flight than it would
 * within dot products. If the rows were in cache, this would not pay. Eight loads per iteration leave room for little else.
 */
@inline
function prefetchRows(neighbors: usize, edges: u32): void {
  const end = neighbors + ((<usize>edges) << 2);
  const whole = end - ((edges & 3) << 2);
  const size = rowBytes;
  let seen: u32 = 0;
  for (let k: usize = 0; k < size; k += 128) {
    const from = <usize>job.other + k;
    const next = min<usize>(64, size - k - 4);
    let n = neighbors;
    for (; n < whole; n += 16) {
      const r0 = from + (<usize>load<u32>(n)) * size;
      const r1 = from + (<usize>load<u32>(n, 4)) * size;
      const r2 = from + (<usize>load<u32>(n, 8)) * size;
      const r3 = from + (<usize>load<u32>(n, 12)) * size;
      seen |= load<u32>(r0) | load<u32>(r0 + next) | load<u32>(r1) | load<u32>(r1 + next) |
        load<u32>(r2) | load<u32>(r2 + next) | load<u32>(r3) | load<u32>(r3 + next);
    }
    for (; n < end; n += 4) {
      const row = from + (<usize>load<u32>(n)) * size;
      seen |= load<u32>(row) | load<u32>(row + next);
    }
  }
  prefetched = seen;
}

/**
 * One batch: writes Σ_j w_ij B_jk of `count` rows to `sums` (stride float32 per row). The rows have at most one batch of edges.
 * @param rows address of the first row's activities A
 * @param offsets address of the first row's offset
 */
function passBatch(rows: usize, count: u32, offsets: usize, sums: usize, prefetch: bool): void {
  // Fields of the job are read where they are needed: held over the loops, they would take registers from the inner ones.
  const first = load<u32>(offsets);
  const skipped = skippedBytes(first);
  const at = <usize>unit.neighbors + skipped;
  if (prefetch) prefetchRows(at, load<u32>(offsets + ((<usize>count) << 2)) - first);
  let begin = first;
  for (let r: u32 = 0; r < count; r++) {
    const end = load<u32>(offsets + ((<usize>r) << 2), 4);
    const skip = (<usize>(begin - first)) << 2;
    computeLambdas(rows + (<usize>r) * rowBytes, job.other, at + skip, end - begin, rowBytes, scratch + skip);
    begin = end;
  }
  computeWeights(scratch, unit.edgeCounts ? <usize>unit.edgeCounts + skipped : 0, begin - first, job.withTerm != 0);
  begin = first;
  for (let r: u32 = 0; r < count; r++) {
    const end = load<u32>(offsets + ((<usize>r) << 2), 4);
    const skip = (<usize>(begin - first)) << 2;
    addWeighted(job.other, at + skip, scratch + skip, end - begin, rowBytes, sums + (<usize>r) * rowBytes);
    begin = end;
  }
}

/** Where an edge lies in the window's lists. */
@inline
function skippedBytes(edge: u32): usize {
  return (<usize>(edge - load<u32>(unit.offsets))) << 2;
}

/**
 * Writes Σ_j w_ij B_jk over one row's edges begin … end−1 to `sums`, in float64, batch by batch.
 * @param row address of the row's activities A
 * @param part stride float32 of scratch
 */
export function passLong(row: usize, begin: u32, end: u32, part: usize, sums: usize, prefetch: bool): void {
  const other: usize = job.other;
  const bytes = rowBytes;
  const lambdas = scratch;
  memory.fill(sums, 0, bytes << 1);
  const batch = batchEdges(bytes);
  for (let e = begin; e < end; e += batch) {
    const here = min(batch, end - e);
    const skip = skippedBytes(e);
    const neighbors = <usize>unit.neighbors + skip;
    if (prefetch) prefetchRows(neighbors, here);
    computeLambdas(row, other, neighbors, here, bytes, lambdas);
    computeWeights(lambdas, unit.edgeCounts ? <usize>unit.edgeCounts + skip : 0, here, job.withTerm != 0);
    addWeighted(other, neighbors, lambdas, here, bytes, part);
    for (let k: usize = 0; k < bytes; k += 16) addTo(sums + (k << 1), v128.load(part + k));
  }
}

/** Adds up the float64 sums of a long row's pieces, in order. Returns `sums`. */
export function sumPieces(sums: usize): usize {
  const bytes = rowBytes << 1;
  for (let k: usize = 0; k < bytes; k += 16) {
    let sum = f64x2.splat(0);
    for (let p: u32 = 0; p < unit.pieces; p++) sum = f64x2.add(sum, v128.load(<usize>unit.pieceSums + (<usize>p) * bytes + k));
    v128.store(sums + k, sum);
  }
  return sums;
}

/** Float64 sums as float32. */
export function demoteSums(sums: usize, to: usize): void {
  const bytes = rowBytes;
  for (let k: usize = 0; k < bytes; k += 16) {
    v128.store(to + k, narrow(v128.load(sums + (k << 1)), v128.load(sums + (k << 1), 16)));
  }
}

/**
 * Writes Σ_j w_ij B_jk of `count` rows to `sums` (stride float32 per row).
 * @param rows address of the first row's activities A
 * @param offsets address of the first row's offset
 * @param long stride float64 of scratch
 * @param prefetch whether to prefetch rows of B, because B exceeds a core's own cache
 */
export function passRows(rows: usize, count: u32, offsets: usize, long: usize, sums: usize, prefetch: bool): void {
  const bytes = rowBytes;
  const batch = batchEdges(bytes);
  for (let r: u32 = 0; r < count; ) {
    const at = offsets + ((<usize>r) << 2);
    const begin = load<u32>(at);
    const row = rows + (<usize>r) * bytes;
    const to = sums + (<usize>r) * bytes;
    let next = r;
    while (next < count && load<u32>(offsets + ((<usize>next) << 2), 4) - begin <= batch) next++;
    if (next > r) {
      passBatch(row, next - r, at, to, prefetch);
      r = next;
    } else {
      passLong(row, begin, load<u32>(at, 4), to, long, prefetch);
      demoteSums(long, to);
      r++;
    }
  }
}
