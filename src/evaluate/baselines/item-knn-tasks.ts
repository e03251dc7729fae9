// A worker of item-kNN takes a block of candidates. For each candidate it counts the users in common with every history item and
// finds the most similar ones. Blocks are independent, so results do not depend on the number of workers.

import { allocate } from '../../math/memory.js';
import { nthLargest } from '../../math/nth-largest.js';
import { serveTasks } from '../../parallel/worker.js';
import type { RowLists } from '../../predict/scoring/scorer.js';
import { type CountedColumns, copyCounts, createTiles, pairsMet } from '../../solvers/pair-counts.js';

/** How candidates and history items are compared. */
export interface NeighbourSetting {
  readonly neighbours: number;
  readonly shrinkage: number;
  /** Exponents of the degrees of history items and of candidates. */
  readonly history: number;
  readonly candidates: number;
  /** Users of degree d count d^(−2 · users) times. */
  readonly users: number;
}

/** Two bytes each if the counts are small enough. */
type CommonCounts = Uint16Array | Uint32Array;

/** The data. Columns are the items that can appear in a history, numbered from 0. */
export interface Neighbourhood {
  /** Per user the columns of the user's items, ascending. */
  readonly rows: RowLists;
  /** Weight of each user, and the mean over the edges. */
  readonly weights: Uint8Array;
  readonly meanWeight: number;
  /** Per candidate its users. */
  readonly targets: RowLists;
  /** Per candidate its own column; −1 if it has none. */
  readonly ownColumn: Int32Array;
  /** Number of users of each column and of each candidate. */
  readonly degree: { readonly columns: Uint32Array; readonly targets: Uint32Array };
  /** The columns in the kernels' memory. */
  readonly counted: CountedColumns;
  /** Counts (candidates × columns) that are kept for other settings; `counted` marks the candidates that are counted. */
  readonly kept: { readonly counts: CommonCounts; readonly counted: Uint8Array } | undefined;
}

export interface SimilarityJob {
  readonly data: Neighbourhood;
  readonly module: WebAssembly.Module;
  /** Scratch areas for tiles; a worker takes a free one and marks it in `taken`. Empty if memory has no room for them. */
  readonly scratch: readonly number[];
  readonly taken: Int32Array;
  readonly setting: NeighbourSetting;
  /** Candidates first … last − 1. */
  readonly first: number;
  readonly last: number;
}

/** For one candidate after the other: the number of columns that it keeps, the columns in ascending order, and their similarities. */
export interface SimilarColumns {
  readonly found: Uint32Array;
  readonly columns: Uint32Array;
  readonly weights: Float32Array;
}

export function findSimilar(job: SimilarityJob): SimilarColumns {
  const { data, setting, first, last } = job;
  const { shrinkage, history, candidates } = setting;
  const neighbours = Math.floor(setting.neighbours);
  const { columns: degree, targets: ownDegree } = data.degree;
  const count = degree.length;
  const scale = Float64Array.from(degree, (d) => data.meanWeight * d ** history);
  const common = data.kept ? undefined : createCounts(data.counted.wide, count);
  const counter = data.kept?.counted[first] ? undefined : createCounter(job);
  const touched = new Uint32Array(count);
  const similarity = new Float32Array(count);
  const order = new Float32Array(count);
  const width = Math.min(count, neighbours);
  const found = new Uint32Array(last - first);
  const columns = new Uint32Array((last - first) * width);
  const weights = new Float32Array(columns.length);
  let entries = 0;
  for (let c = first; c < last; c++) {
    const counts = common ?? keptCounts(data, c, count);
    counter?.count(c, counts);
    const ownScale = ownDegree[c] ** candidates;
    let met = 0;
    for (let column = 0; column < count; column++) {
      const both = counts[column];
      if (both === 0) continue;
      similarity[met] = both / (scale[column] * ownScale + data.meanWeight * shrinkage);
      touched[met++] = column;
    }
    let least = 0;
    let ties = met;
    if (met > neighbours) {
      order.set(similarity.subarray(0, met));
      least = nthLargest(order, met, neighbours);
      ties = neighbours;
      for (let t = 0; t < met; t++) if (similarity[t] > least) ties--;
    }
    const before = entries;
    for (let t = 0; t < met; t++) {
      if (similarity[t] < least || (similarity[t] === least && ties-- <= 0)) continue;
      columns[entries] = touched[t];
      weights[entries++] = similarity[t];
    }
    found[c - first] = entries - before;
    common?.fill(0);
  }
  counter?.close();
  return { found, columns: columns.slice(0, entries), weights: weights.slice(0, entries) };
}

/** Counts of one or several candidates; `wide` counts have 4 bytes, as in tiles. */
export function createCounts(wide: boolean, length: number): CommonCounts {
  return wide ? allocate(Uint32Array, length) : allocate(Uint16Array, length);
}

function keptCounts({ kept }: Neighbourhood, candidate: number, count: number): CommonCounts {
  return kept!.counts.subarray(candidate * count, (candidate + 1) * count);
}

/** Counts the candidates of a job: in a tile, or one by one if that is faster. */
function createCounter({ data, module, scratch, taken, first, last }: SimilarityJob) {
  const place = scratch.findIndex((_, at) => Atomics.compareExchange(taken, at, 0, 1) === 0);
  const tiles = place < 0 ? undefined : createTiles(module, data.counted, scratch[place]);
  const { rows, targets, ownColumn, kept } = data;
  const tile = tiles?.isFaster(pairsMet(targets, rows, first, last)) ? tiles : undefined;
  tile?.count(targets, first, last);
  return {
    count(candidate: number, counts: CommonCounts): void {
      if (tile) copyCounts(tile.counts, candidate - first, counts);
      else countCommon(data, candidate, counts);
      if (ownColumn[candidate] >= 0) counts[ownColumn[candidate]] = 0;
      if (kept) kept.counted[candidate] = 1;
    },
    close(): void {
      if (place >= 0) Atomics.store(taken, place, 0);
    },
  };
}

function countCommon(
  { rows, targets, weights }: Neighbourhood,
  candidate: number,
  counts: CommonCounts,
): void {
  const { offsets, values } = rows;
  for (let e = targets.offsets[candidate]; e < targets.offsets[candidate + 1]; e++) {
    const user = targets.values[e];
    const end = offsets[user + 1];
    for (let n = offsets[user]; n < end; n++) counts[values[n]] += weights[user];
  }
}

serveTasks('item-knn-tasks', { findSimilar });
