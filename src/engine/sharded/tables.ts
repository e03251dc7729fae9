// Tables and indexes with rows in shards. Each shard's part is a table or index of the local engine; so are whole tables and indexes.

import { allocateCounts, type EdgeCounts, type EdgeRows, lowerBound } from '../../math/csr.js';
import { allocate, concat } from '../../math/memory.js';
import {
  byField,
  type EdgeIndex,
  type RowRange,
  type Table,
  type TableTotals,
  type TableValues,
  type UniformValues,
} from '../engine.js';

/** How the data are cut into shards (the same for any number of ranks), and which shards this rank has. */
export interface ShardLayout {
  /** Number of shards of all of the data. */
  readonly shards: number;
  /** The first shard of this rank. Its shards are consecutive. */
  readonly first: number;
  /** Where each of these shards begins among this rank's rows, and where the last one ends. */
  readonly bounds: readonly number[];
}

export interface SplitTable extends Table {
  /** Rows of all ranks. */
  readonly rows: number;
  readonly layout: ShardLayout;
  /** One table per shard of this rank. */
  readonly parts: readonly Table[];
  /** Of all ranks. An update replaces the object. */
  totals: TableTotals;
}

export interface SplitIndex extends EdgeIndex {
  readonly by: 'own' | 'other';
  readonly parts: readonly EdgeIndex[];
  /** If the other side is split: the sum of counts of each row over all ranks, and the largest such sum. */
  readonly strengths: Float64Array;
  readonly largest: number;
}

export function isSplit(table: Table): table is SplitTable {
  return 'parts' in table;
}

/** Throws if the tables and the index of a half-step do not match. */
export function checkMatch(own: Table, index: EdgeIndex, other: Table): void {
  const by = 'parts' in index ? (index as SplitIndex).by : undefined;
  const [ownSplit, otherSplit] = [isSplit(own), isSplit(other)];
  if (ownSplit === (by === 'own') && otherSplit === (by === 'other')) return;
  const kind = (split: boolean) => (split ? 'split' : 'whole');
  throw new Error(
    `a ${kind(ownSplit)} table and a ${kind(otherSplit)} table cannot use an index that is ${by ? `split by its ${by} side` : 'whole'}`,
  );
}

export function partOf(bounds: readonly number[], p: number): RowRange {
  return { first: bounds[p], last: bounds[p + 1] };
}

/** The rows of a part that lie in a range of the whole table, numbered within the part; undefined: none. */
export function rowsWithin({ first, last }: RowRange, rows: RowRange | undefined): RowRange | undefined {
  const from = Math.max(first, rows?.first ?? first);
  const to = Math.min(last, rows?.last ?? last);
  return from < to ? { first: from - first, last: to - first } : undefined;
}

export function valuesWithin<V extends TableValues | UniformValues>(
  values: V,
  features: number,
  { first, last }: RowRange,
): V {
  return byField(features, (field, width) => {
    const of: UniformValues['weightShape'] = values[field];
    return typeof of === 'number' ? of : of.subarray(first * width, last * width);
  }) as V;
}

/** The values of all parts, concatenated. */
export function joinedValues(parts: readonly TableValues[]): TableValues {
  return byField(0, (field) => {
    const all = parts.map((part) => part[field]);
    return all[0] instanceof Float64Array ? concat(Float64Array, all) : concat(Float32Array, all);
  });
}

export function edgesWithin<C extends EdgeCounts>(
  { offsets, neighbors, counts }: EdgeRows<C>,
  { first, last }: RowRange,
): EdgeRows<C> {
  const own = allocate(Uint32Array, last - first + 1);
  for (let i = first; i <= last; i++) own[i - first] = offsets[i] - offsets[first];
  const [from, to] = [offsets[first], offsets[last]];
  return {
    offsets: own,
    neighbors: neighbors.subarray(from, to),
    counts: counts?.subarray(from, to) as C | undefined,
  };
}

/** For each part, the same rows with only the edges to that part, numbered within it. Neighbours ascend within a row. */
export function edgesByNeighbor<C extends EdgeCounts>(
  rows: EdgeRows<C>,
  bounds: readonly number[],
): EdgeRows<C>[] {
  const count = rows.offsets.length - 1;
  const parts = bounds.length - 1;
  const offsets = Array.from({ length: parts }, () => allocate(Uint32Array, count + 1));
  const partAt = (neighbor: number, from: number) => {
    let p = from;
    while (neighbor >= bounds[p + 1]) p++;
    return p;
  };
  for (let i = 0; i < count; i++) {
    let p = 0;
    for (let e = rows.offsets[i]; e < rows.offsets[i + 1]; e++) {
      p = partAt(rows.neighbors[e], p);
      offsets[p][i + 1]++;
    }
  }
  return offsets.map((own, p) => {
    for (let i = 0; i < count; i++) own[i + 1] += own[i];
    const neighbors = allocate(Uint32Array, own[count]);
    const counts = allocateCounts(rows.counts, own[count]);
    let to = 0;
    for (let i = 0; i < count; i++) {
      let from = lowerBound(rows.neighbors, bounds[p], rows.offsets[i], rows.offsets[i + 1]);
      for (; to < own[i + 1]; to++, from++) {
        neighbors[to] = rows.neighbors[from] - bounds[p];
        if (counts) counts[to] = rows.counts![from];
      }
    }
    return { offsets: own, neighbors, counts };
  });
}

/** Σ counts of each row. */
export function strengths({ offsets, counts }: EdgeRows<EdgeCounts>): Float64Array {
  const sums = new Float64Array(offsets.length - 1);
  for (let i = 0; i < sums.length; i++) {
    if (!counts) sums[i] = offsets[i + 1] - offsets[i];
    else for (let e = offsets[i]; e < offsets[i + 1]; e++) sums[i] += counts[e];
  }
  return sums;
}
