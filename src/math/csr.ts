// Compressed sparse rows: one array holds the lists of all rows one after another, a second the start of each list.

import { allocate, grown } from './memory.js';

/** Counts of edges: whole numbers, or fractions if edges are weighed. */
export type EdgeCounts = Uint32Array | Float32Array;

/** Edges grouped by row: one side of a graph, or a piece of one. The arrays are shared, never copied whole. */
export interface EdgeRows<C extends EdgeCounts = Uint32Array> {
  /** Rows + 1 positions: the edges of row r are offsets[r] … offsets[r+1]−1. */
  readonly offsets: Uint32Array;
  /** For each edge, the row of the other side. Any order works; engines gather ascending neighbours in tiles. */
  readonly neighbors: Uint32Array;
  /** For each edge, its count; undefined in a simple graph. */
  readonly counts: C | undefined;
}

/** Room for the counts of `length` edges, of the same type as the given ones; undefined if there are none. */
export function allocateCounts<C extends EdgeCounts>(counts: C | undefined, length: number): C | undefined {
  if (!counts) return undefined;
  return (
    counts instanceof Uint32Array ? allocate(Uint32Array, length) : allocate(Float32Array, length)
  ) as C;
}

/** Lists of numbers, one per row: row r holds values[offsets[r] … offsets[r+1]−1], ascending. */
export interface RowLists {
  readonly offsets: Uint32Array;
  readonly values: Uint32Array;
  /** A weight above 0 and up to 1 for each value; absent: all are 1. Only functions that say so read it. */
  readonly weights?: Float32Array | undefined;
}

/** Builds lists row by row; each comes out ascending and without repetitions. */
export function collectLists(
  rows: number,
  fill: (row: number, add: (value: number) => void) => void,
): RowLists {
  const offsets = allocate(Uint32Array, rows + 1);
  let values = new Uint32Array(1024);
  let end = 0;
  let ascending = true;
  let first = 0;
  const add = (value: number) => {
    if (end === values.length) values = grown(values);
    ascending &&= end === first || values[end - 1] < value;
    values[end++] = value;
  };
  for (let row = 0; row < rows; row++) {
    first = end;
    ascending = true;
    fill(row, add);
    if (!ascending) {
      const list = Uint32Array.from(new Set(values.subarray(first, end))).sort();
      values.set(list, first);
      end = first + list.length;
    }
    offsets[row + 1] = end;
  }
  const result = allocate(Uint32Array, end);
  result.set(values.subarray(0, end));
  return { offsets, values: result };
}

/** The number of values of each row. */
export function lengths({ offsets }: Pick<RowLists, 'offsets'>): Uint32Array {
  const result = allocate(Uint32Array, offsets.length - 1);
  for (let r = 0; r < result.length; r++) result[r] = offsets[r + 1] - offsets[r];
  return result;
}

/** The place of each of the numbers 0 … count−1 in a list; −1 if it is not there. */
export function placesOf(list: ArrayLike<number>, count: number): Int32Array {
  const places = new Int32Array(count).fill(-1);
  for (let at = 0; at < list.length; at++) places[list[at]] = at;
  return places;
}

/** The places at which an array is above 0. */
export function positivePlaces(values: ArrayLike<number>): Uint32Array {
  let count = 0;
  for (let at = 0; at < values.length; at++) if (values[at] > 0) count++;
  const places = new Uint32Array(count);
  count = 0;
  for (let at = 0; at < values.length; at++) if (values[at] > 0) places[count++] = at;
  return places;
}

/** Replaces every value by its entry in `rename`; drops values whose entry is −1. */
export function renameLists(lists: RowLists, rename: Int32Array): RowLists {
  return collectLists(lists.offsets.length - 1, (row, add) => {
    for (let e = lists.offsets[row]; e < lists.offsets[row + 1]; e++) {
      const value = rename[lists.values[e]];
      if (value >= 0) add(value);
    }
  });
}

/** The lists of the given rows, in their order; row −1 gives an empty list. `keep` selects the values that stay. Weights stay too. */
export function pickLists(
  lists: RowLists,
  rows: ArrayLike<number>,
  keep: (value: number) => boolean = () => true,
): RowLists {
  const weights: number[] = [];
  const picked = collectLists(rows.length, (r, add) => {
    if (rows[r] < 0) return;
    const end = lists.offsets[rows[r] + 1];
    for (let e = lists.offsets[rows[r]]; e < end; e++) {
      if (!keep(lists.values[e])) continue;
      add(lists.values[e]);
      if (lists.weights) weights.push(lists.weights[e]);
    }
  });
  return lists.weights ? { ...picked, weights: Float32Array.from(weights) } : picked;
}

/** The same pairs grouped by value, with their weights. */
export function transposeLists({ offsets, values, weights }: RowLists, columns: number): RowLists {
  const turned = transposeRows({ offsets, neighbors: values, counts: weights }, columns);
  return { offsets: turned.offsets, values: turned.neighbors, ...(weights && { weights: turned.counts }) };
}

/** The same edges grouped by the other side. */
export function transposeRows<C extends EdgeCounts>(rows: EdgeRows<C>, otherCount: number): EdgeRows<C> {
  const edges = rows.neighbors.length;
  const offsets = allocate(Uint32Array, otherCount + 1);
  for (let e = 0; e < edges; e++) offsets[rows.neighbors[e] + 1]++;
  for (let v = 0; v < otherCount; v++) offsets[v + 1] += offsets[v];
  const next = offsets.slice(0, otherCount);
  const neighbors = allocate(Uint32Array, edges);
  const counts = allocateCounts(rows.counts, edges);
  for (let r = 0; r + 1 < rows.offsets.length; r++) {
    for (let e = rows.offsets[r]; e < rows.offsets[r + 1]; e++) {
      const at = next[rows.neighbors[e]]++;
      neighbors[at] = r;
      if (counts) counts[at] = rows.counts![e];
    }
  }
  return { offsets, neighbors, counts };
}

/** The given rows, in their order. */
export function pickRows<C extends EdgeCounts>(side: EdgeRows<C>, rows: ArrayLike<number>): EdgeRows<C> {
  const offsets = allocate(Uint32Array, rows.length + 1);
  for (let r = 0; r < rows.length; r++) {
    offsets[r + 1] = offsets[r] + side.offsets[rows[r] + 1] - side.offsets[rows[r]];
  }
  const edges = offsets[rows.length];
  const neighbors = allocate(Uint32Array, edges);
  const counts = allocateCounts(side.counts, edges);
  for (let r = 0; r < rows.length; r++) {
    const [from, to] = [side.offsets[rows[r]], side.offsets[rows[r] + 1]];
    neighbors.set(side.neighbors.subarray(from, to), offsets[r]);
    counts?.set(side.counts!.subarray(from, to), offsets[r]);
  }
  return { offsets, neighbors, counts };
}

/**
 * The first position in from … to−1 of ascending values whose value is at least `wanted`, or above it if equal values are
 * passed; `to` if there is none.
 */
export function lowerBound(
  ascending: ArrayLike<number>,
  wanted: number,
  from = 0,
  to = ascending.length,
  passEqual = false,
): number {
  while (from < to) {
    const middle = (from + to) >>> 1;
    const value = ascending[middle];
    if (value < wanted || (passEqual && value === wanted)) from = middle + 1;
    else to = middle;
  }
  return from;
}

/** The first position in from … to−1 of ascending values whose value is above `wanted`; `to` if there is none. */
export function upperBound(ascending: ArrayLike<number>, wanted: number, from?: number, to?: number): number {
  return lowerBound(ascending, wanted, from, to, true);
}
