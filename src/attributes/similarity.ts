// How similar two rows of a table are: per column the cosine of their tf-idf weights, and over the columns a weighted sum.

import { nthLargest } from '../math/select.js';
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
      const value = (1 + Math.log(Math.max(1, weights[e]))) * idf[targets[e]];
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

/** The rows that have each attribute: its list and their weights. Rows from `known` on are left out. */
function invertedLists(vectors: Vectors, known: number, degree: ArrayLike<number>): Vectors {
  const { offsets, targets, weights } = vectors;
  let attributes = 0;
  for (const attribute of targets) attributes = Math.max(attributes, attribute + 1);
  const starts = new Uint32Array(attributes + 1);
  for (let e = 0; e < offsets[known]; e++) starts[targets[e] + 1]++;
  for (let a = 0; a < attributes; a++) starts[a + 1] += starts[a];
  const order = Uint32Array.from({ length: known }, (_, r) => r).sort(
    (a, b) => degree[b] - degree[a] || a - b,
  );
  const rows = new Uint32Array(offsets[known]);
  const values = new Float32Array(offsets[known]);
  const next = starts.slice();
  for (const r of order) {
    for (let e = offsets[r]; e < offsets[r + 1]; e++) {
      rows[next[targets[e]]] = r;
      values[next[targets[e]]++] = weights[e];
    }
  }
  return { offsets: starts, targets: rows, weights: values };
}

/** Rows with their similarities, the most similar first. */
export interface Neighbours {
  readonly items: readonly number[];
  readonly similarities: readonly number[];
  /** The sum of all similarities, of the rows that are not among these too. */
  readonly total: number;
}

/** Finds the known rows that are most similar to a row. It keeps scratch memory, so one call ends before the next. */
export function createNeighbourSearch(
  vectors: Vectors,
  known: number,
  degree: ArrayLike<number>,
): (row: number, n: number, isOut?: (row: number) => boolean) => Neighbours {
  const lists = invertedLists(vectors, known, degree);
  const sums = new SparseSums(known);
  return (row, n, isOut) => {
    for (let e = vectors.offsets[row]; e < vectors.offsets[row + 1]; e++) {
      const [attribute, weight] = [vectors.targets[e], vectors.weights[e]];
      if (weight === 0 || attribute + 1 >= lists.offsets.length) continue;
      const first = lists.offsets[attribute];
      const end = Math.min(lists.offsets[attribute + 1], first + LONGEST_LIST);
      for (let at = first; at < end; at++) sums.add(lists.targets[at], weight * lists.weights[at]);
    }
    if (row < known) sums.drop(row);
    if (isOut) sums.dropAll(isOut);
    return sums.takeLargest(n);
  };
}

/** Sums of few of many numbers. Taking the largest starts again at zero. */
export class SparseSums {
  readonly #sums: Float32Array;
  readonly #touched: Uint32Array;
  readonly #values: Float32Array;
  readonly #isTouched: Uint8Array;
  #count = 0;

  constructor(size: number) {
    this.#sums = new Float32Array(size);
    this.#touched = new Uint32Array(size);
    this.#values = new Float32Array(size);
    this.#isTouched = new Uint8Array(size);
  }

  add(at: number, value: number): void {
    if (this.#isTouched[at] === 0) {
      this.#isTouched[at] = 1;
      this.#touched[this.#count++] = at;
    }
    this.#sums[at] += value;
  }

  drop(at: number): void {
    this.#sums[at] = 0;
  }

  dropAll(isOut: (at: number) => boolean): void {
    for (let t = 0; t < this.#count; t++) if (isOut(this.#touched[t])) this.#sums[this.#touched[t]] = 0;
  }

  /** The `n` sums of the largest size, largest first; ties go to the smaller number. Zeros are left out. */
  takeLargest(n: number): Neighbours {
    const [sums, touched, values] = [this.#sums, this.#touched, this.#values];
    let total = 0;
    for (let t = 0; t < this.#count; t++) {
      values[t] = Math.abs(sums[touched[t]]);
      total += values[t];
    }
    const least = this.#count > n ? nthLargest(values, this.#count, n) : 0;
    const kept: number[] = [];
    for (let t = 0; t < this.#count; t++) {
      const size = Math.abs(sums[touched[t]]);
      if (size > 0 && size >= least) kept.push(touched[t]);
    }
    kept.sort((a, b) => Math.abs(sums[b]) - Math.abs(sums[a]) || a - b);
    if (kept.length > n) kept.length = n;
    const similarities = kept.map((at) => sums[at]);
    for (let t = 0; t < this.#count; t++) {
      sums[touched[t]] = 0;
      this.#isTouched[touched[t]] = 0;
    }
    this.#count = 0;
    return { items: kept, similarities, total };
  }
}
