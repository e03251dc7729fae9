// The tasks of threads that build a graph. Rows are distributed into buckets of consecutive vertices, and each bucket is
// sorted on its own. No two threads write to one position, and the result depends only on the rows.

import type { EdgeRows } from '../math/csr.js';
import { allocate } from '../math/memory.js';
import { serveTasks } from '../parallel/worker.js';
import { mergeEqual } from './build.js';

/** The vertex of each row on the distributed side, its vertex on the other side, and its count. */
export interface Rows {
  readonly own: Uint32Array;
  readonly other: Uint32Array;
  readonly counts: Uint32Array | undefined;
}

/** Counts the rows from … to−1 by bin: vertices of a bin differ only in the last `shift` bits. */
export interface CountBins {
  readonly own: Uint32Array;
  readonly from: number;
  readonly to: number;
  readonly shift: number;
  readonly bins: number;
}

export function countBins({ own, from, to, shift, bins }: CountBins): Uint32Array {
  const result = new Uint32Array(bins);
  for (let row = from; row < to; row++) result[own[row] >>> shift]++;
  return result;
}

/** Where the rows of a piece go. */
export interface Distribution {
  readonly shift: number;
  readonly bucketOf: Uint16Array;
  /** Where the next row of each bucket goes; modified. */
  readonly cursor: Uint32Array;
}

export interface DistributeRows extends Distribution {
  readonly rows: Rows;
  readonly from: number;
  readonly to: number;
  readonly into: Rows;
}

export function distributeRows({ rows, from, to, shift, bucketOf, cursor, into }: DistributeRows): void {
  const { own, other, counts } = rows;
  const { own: owns, other: others, counts: times } = into;
  for (let row = from; row < to; row++) {
    const vertex = own[row];
    const at = cursor[bucketOf[vertex >>> shift]]++;
    owns[at] = vertex;
    others[at] = other[row];
    if (times) times[at] = counts ? counts[row] : 1;
  }
}

/** Edges of a finished side, from which the other side is built. */
export interface DistributeEdges extends Distribution {
  readonly side: EdgeRows;
  /** The vertices are first … last−1. */
  readonly first: number;
  readonly last: number;
  readonly into: Rows;
}

export function distributeEdges({ side, first, last, shift, bucketOf, cursor, into }: DistributeEdges): void {
  const { offsets, neighbors, counts } = side;
  const { own, other, counts: times } = into;
  for (let v = first; v < last; v++) {
    const stop = offsets[v + 1];
    for (let e = offsets[v]; e < stop; e++) {
      const vertex = neighbors[e];
      const at = cursor[bucketOf[vertex >>> shift]]++;
      own[at] = vertex;
      other[at] = v;
      if (times) times[at] = counts ? counts[e] : 1;
    }
  }
}

export interface Bucket {
  readonly rows: Rows;
  readonly from: number;
  readonly to: number;
  /** The vertices are first … last−1. */
  readonly first: number;
  readonly last: number;
  /** Number of vertices of the other side; 0: the rows of each vertex are already in order. */
  readonly otherCount: number;
  /** Receives the start of each vertex's edges, relative to the bucket. */
  readonly offsets: Uint32Array;
}

/** Rows between two passes of a sort. Each thread keeps one buffer and uses it within a single call. */
let spare: Rows = { own: new Uint32Array(0), other: new Uint32Array(0), counts: undefined };

function spareRows(length: number, counted: boolean): Rows {
  if (spare.own.length < length || (counted && !spare.counts)) {
    const make = () => new Uint32Array(length);
    spare = { own: make(), other: make(), counts: counted ? make() : undefined };
  }
  return counted ? spare : { ...spare, counts: undefined };
}

/**
 * Sorts the rows of a bucket by vertex and neighbour and merges equal ones. Returns the number of edges, which then begin
 * at `from` in `other` and `counts`.
 */
export function sortBucket({ rows, from, to, first, last, otherCount, offsets }: Bucket): number {
  const size = to - from;
  const { counts } = rows;
  const here: Rows = {
    own: rows.own.subarray(from, to),
    other: rows.other.subarray(from, to),
    counts: counts?.subarray(from, to),
  };
  const starts = startsOf(here.own, first, last);
  if (!isSorted(here)) {
    const there = spareRows(size, counts !== undefined);
    let [now, next] = [here, there];
    const bits = otherCount > 1 ? 32 - Math.clz32(otherCount - 1) : 0;
    const passes = Math.ceil(bits / DIGIT_BITS);
    const width = Math.ceil(bits / Math.max(1, passes));
    for (let pass = 0; pass < passes; pass++) {
      byDigit(now, next, size, pass * width, width);
      [now, next] = [next, now];
    }
    byVertex(now, next, size, first, starts.slice());
    if (next === there) {
      here.other.set(there.other.subarray(0, size));
      here.counts?.set(there.counts!.subarray(0, size));
    }
  }
  return mergeEqual({ neighbors: here.other, counts: here.counts }, starts, offsets, first);
}

/** Wide enough for two passes over four million vertices, narrow enough for the first cache. */
const DIGIT_BITS = 11;

/** The start of each vertex's rows once they are sorted. */
function startsOf(own: Uint32Array, first: number, last: number): Uint32Array {
  const starts = new Uint32Array(last - first + 1);
  for (let i = 0; i < own.length; i++) starts[own[i] - first + 1]++;
  for (let v = 0; v < last - first; v++) starts[v + 1] += starts[v];
  return starts;
}

function isSorted({ own, other }: Rows): boolean {
  for (let i = 1; i < own.length; i++) {
    if (own[i] < own[i - 1] || (own[i] === own[i - 1] && other[i] < other[i - 1])) return false;
  }
  return true;
}

/** Sorts stably by some bits of the neighbour. */
function byDigit(rows: Rows, into: Rows, size: number, shift: number, width: number): void {
  const { own, other, counts } = rows;
  const { own: owns, other: others, counts: times } = into;
  const mask = 2 ** width - 1;
  const place = new Uint32Array(mask + 2);
  for (let i = 0; i < size; i++) place[((other[i] >>> shift) & mask) + 1]++;
  for (let d = 0; d < mask; d++) place[d + 1] += place[d];
  for (let i = 0; i < size; i++) {
    const neighbor = other[i];
    const at = place[(neighbor >>> shift) & mask]++;
    owns[at] = own[i];
    others[at] = neighbor;
    if (counts) times![at] = counts[i];
  }
}

/** Sorts stably by vertex; `place` is the start of each vertex's rows. Does not write the vertices themselves. */
function byVertex(rows: Rows, into: Rows, size: number, first: number, place: Uint32Array): void {
  const { own, other, counts } = rows;
  const { other: others, counts: times } = into;
  for (let i = 0; i < size; i++) {
    const at = place[own[i] - first]++;
    others[at] = other[i];
    if (counts) times![at] = counts[i];
  }
}

export function allocateRows(length: number, counted: boolean): Rows {
  return {
    own: allocate(Uint32Array, length),
    other: allocate(Uint32Array, length),
    counts: counted ? allocate(Uint32Array, length) : undefined,
  };
}

/** The edges of one side from the vertices of each row. Overwrites the arrays of the rows. */
export function buildRows(rows: Rows, ownCount: number, otherCount: number): EdgeRows {
  const offsets = allocate(Uint32Array, ownCount + 1);
  const whole = { from: 0, to: rows.own.length, first: 0, last: ownCount };
  const edges = sortBucket({ ...whole, rows, otherCount, offsets });
  offsets[ownCount] = edges;
  return {
    offsets,
    neighbors: rows.other.subarray(0, edges),
    counts: rows.counts?.subarray(0, edges),
  };
}

serveTasks('build-tasks', { countBins, distributeRows, distributeEdges, sortBucket });
