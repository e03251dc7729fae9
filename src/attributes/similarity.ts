// How similar two rows of a table are: per column the cosine of their tf-idf weights, and over the columns a weighted sum.

import { pickRows, transposeRows } from '../math/csr.js';
import { nthLargest } from '../math/nth-largest.js';
import type { SparseWeights } from '../topn/query.js';
import type { SideInfo } from './info.js';

/** Rows as weights of attributes whose products are similarities. */
type Vectors = SparseWeights;

/** Lists of an attribute are cut to the rows that most users have, so that common attributes stay affordable. */
const LONGEST_LIST = 2000;

/**
 * The tf-idf weights of each row, of length 1 within each column, times the root of the column's part. `parts` is by column; 0
 * leaves a column out.
 */
export function attributeVectors(
  info: Pick<SideInfo, 'columns' | 'rows'>,
  parts: readonly number[],
): Vectors {
  const { offsets, targets, weights } = info.rows;
  const total = offsets.length - 1;
  const last = info.columns.at(-1);
  const attributes = last ? last.first + last.count : 0;
  const spread = new Uint32Array(attributes);
  for (const attribute of targets) spread[attribute]++;
  const idf = Float64Array.from(spread, (rows) => Math.log((total + 1) / (rows + 0.5)));
  const columnAt = new Uint16Array(attributes);
  for (const [c, { first, count }] of info.columns.entries()) columnAt.fill(c, first, first + count);
  const values = new Float32Array(targets.length);
  const norms = new Float64Array(info.columns.length);
  for (let r = 0; r < total; r++) {
    norms.fill(0);
    for (let e = offsets[r]; e < offsets[r + 1]; e++) {
      // Most weights are 1, and a logarithm takes longer than all else here.
      const value = (weights[e] > 1 ? 1 + Math.log(weights[e]) : 1) * idf[targets[e]];
      values[e] = value;
      norms[columnAt[targets[e]]] += value * value;
    }
    for (let e = offsets[r]; e < offsets[r + 1]; e++) {
      const column = columnAt[targets[e]];
      values[e] *= norms[column] > 0 ? Math.sqrt(parts[column] / norms[column]) : 0;
    }
  }
  return { offsets, targets, weights: values };
}

/** The rows that have each attribute: its list and their weights. Rows from `known` on are left out, and those with a 1 in `isOut`. */
export function invertedLists(
  vectors: Vectors,
  known: number,
  degree: ArrayLike<number>,
  isOut?: Uint8Array,
): Vectors {
  const { offsets, targets, weights } = vectors;
  let attributes = 0;
  for (const attribute of targets) attributes = Math.max(attributes, attribute + 1);
  const order = Uint32Array.from({ length: known }, (_, r) => r)
    .filter((r) => !isOut?.[r])
    .sort((a, b) => degree[b] - degree[a] || a - b);
  const turned = transposeRows(pickRows({ offsets, neighbors: targets, counts: weights }, order), attributes);
  return {
    offsets: turned.offsets,
    targets: turned.neighbors.map((at) => order[at]),
    weights: turned.counts!,
  };
}

/** The sum of the weights that `addSimilarities` adds for each attribute, by its list. */
export function listTotals({ offsets, weights }: Vectors): Float64Array {
  return Float64Array.from({ length: offsets.length - 1 }, (_, list) => {
    let sum = 0;
    const end = Math.min(offsets[list + 1], offsets[list] + LONGEST_LIST);
    for (let e = offsets[list]; e < end; e++) sum += weights[e];
    return sum;
  });
}

/** Rows, ascending, and a number for each. */
export interface RowValues {
  readonly rows: Uint32Array;
  readonly values: Float32Array;
}

/**
 * Adds the similarities of a row to all other known rows, whose attributes are in `lists`. Returns the similarity to itself that was
 * left out.
 */
export function addSimilarities(
  { vectors, lists, known }: { readonly vectors: Vectors; readonly lists: Vectors; readonly known: number },
  row: number,
  to: Sums,
): number {
  const { offsets } = vectors;
  to.addLists(lists, vectors, {
    first: offsets[row],
    end: offsets[row + 1],
    factor: 1,
    longest: LONGEST_LIST,
  });
  return row < known ? to.drop(row) : 0;
}

/** Numbers of a block are read together; blocks without a sum are skipped. */
const BLOCK_BITS = 8;
export const BLOCK = 1 << BLOCK_BITS;

/** Lists and the factor of each: the entries `first` … `end − 1`, times `factor`. Of each list, at most `longest` weights. */
interface AddedLists {
  readonly first: number;
  readonly end: number;
  readonly factor: number;
  readonly longest?: number;
}

/** A sum for each of many numbers, most of which stay 0. */
export interface Sums {
  /** Adds the weights of the lists that `entries` names to their targets. */
  addLists(lists: SparseWeights, entries: Omit<SparseWeights, 'offsets'>, added: AddedLists): void;
  /** Makes a sum 0; returns what it was. */
  drop(one: number): number;
  /**
   * Writes the `n` sums of the largest size, times `importance` if it is given, from `at` on. Zeros are left out, and ties go to the
   * smaller number. Returns how many there are.
   */
  writeLargest(n: number, to: RowValues, at: number, importance?: Float32Array): number;
  /** Starts again at zero. */
  clear(): void;
}

/** The reference; attributes/kernel-sums.ts has the same bits. */
export class SparseSums implements Sums {
  readonly #sums: Float32Array;
  /** 1 for each block that has a sum. */
  readonly #blocks: Uint8Array;

  constructor(size: number) {
    this.#sums = new Float32Array(size);
    this.#blocks = new Uint8Array((size >>> BLOCK_BITS) + 1);
  }

  addLists(
    lists: SparseWeights,
    { targets, weights }: Omit<SparseWeights, 'offsets'>,
    { first, end, factor, longest = Number.POSITIVE_INFINITY }: AddedLists,
  ) {
    const { offsets } = lists;
    for (let e = first; e < end; e++) {
      const start = offsets[targets[e]];
      const own = Math.fround(factor) * weights[e];
      if (own !== 0) this.addList(lists, start, Math.min(offsets[targets[e] + 1], start + longest), own);
    }
  }

  /** Adds `factor` times the weights of the entries `first` … `end − 1` to their targets. */
  addList({ targets, weights }: Omit<SparseWeights, 'offsets'>, first: number, end: number, factor: number) {
    const [sums, blocks] = [this.#sums, this.#blocks];
    const own = Math.fround(factor);
    for (let e = first; e < end; e++) {
      const at = targets[e];
      sums[at] += Math.fround(own * weights[e]);
      blocks[at >>> BLOCK_BITS] = 1;
    }
  }

  drop(one: number): number {
    const sum = this.#sums[one];
    this.#sums[one] = 0;
    return sum;
  }

  writeLargest(n: number, to: RowValues, at: number, importance?: Float32Array): number {
    const { rows, values } = this.largest(n, importance);
    to.rows.set(rows, at);
    to.values.set(values, at);
    return rows.length;
  }

  largest(n: number, importance?: Float32Array): RowValues {
    const sums = this.#sums;
    const rows: number[] = [];
    const sizes: number[] = [];
    for (let at = this.#next(0); at >= 0; at = this.#next(at + BLOCK)) {
      const end = this.#end(at);
      for (let i = at; i < end; i++) {
        if (sums[i] === 0) continue;
        const size = importance ? Math.fround(Math.abs(sums[i]) * importance[i]) : Math.abs(sums[i]);
        if (size === 0) continue;
        rows.push(i);
        sizes.push(size);
      }
    }
    const least = rows.length > n ? nthLargest(Float32Array.from(sizes), sizes.length, n) : 0;
    let ties = n;
    for (const size of sizes) if (size > least) ties--;
    const kept = rows.filter((_, i) => sizes[i] > least || (sizes[i] === least && ties-- > 0));
    return { rows: Uint32Array.from(kept), values: Float32Array.from(kept, (row) => sums[row]) };
  }

  clear(): void {
    for (let at = this.#next(0); at >= 0; at = this.#next(at + BLOCK)) this.#sums.fill(0, at, this.#end(at));
    this.#blocks.fill(0);
  }

  /** The first number of the next block, from `at` on, that has a sum; −1 if there is none. */
  #next(at: number): number {
    const block = this.#blocks.indexOf(1, at >>> BLOCK_BITS);
    return block < 0 ? -1 : block << BLOCK_BITS;
  }

  #end(at: number): number {
    return Math.min(this.#sums.length, at + BLOCK);
  }
}
