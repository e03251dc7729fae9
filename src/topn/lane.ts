// One row of scores → the ranks of its relevant candidates and its best few, by the kernels of kernels/scores.ts. A *lane* is the scratch
// memory of one thread. Several lanes and one packed item table share a WebAssembly memory.

import { lowestBit } from '../math/bits.js';
import type { Kernels } from '../wasm/instantiate.js';
import type { LaneQuery, RankAnswer } from './query.js';

const USERS_PER_TILE = 4;
const ITEMS_PER_PANEL = 8;
/** Rows per block: enough to reuse each panel, few enough for their scores to stay in cache. */
export const ROWS_PER_BLOCK = 16;
const SAMPLE = 2048;
/** A word of bits with all of them set. */
const ALL = 0xffffffff;

const align = (bytes: number) => Math.ceil(bytes / 64) * 64;
const paddedCandidates = (candidates: number) => Math.ceil(candidates / ITEMS_PER_PANEL) * ITEMS_PER_PANEL;

/** Bytes from one row of scores to the next. Never near a multiple of 4096, where rows would share cache sets. */
function rowStride(candidates: number): number {
  return Math.ceil((4 * paddedCandidates(candidates)) / 4096) * 4096 + 320;
}

export function packedItemBytes(candidates: number, features: number): number {
  return align(4 * paddedCandidates(candidates) * features);
}

export function laneBytes(candidates: number, features: number): number {
  const list = align(4 * paddedCandidates(candidates) + 64);
  const users = align(4 * ROWS_PER_BLOCK * features);
  return (
    users +
    ROWS_PER_BLOCK * rowStride(candidates) +
    4 * list +
    align(4 * Math.max(SAMPLE * 2, candidates) + 64)
  );
}

/** A lane's addresses and typed views. */
export class RankLane {
  readonly #kernels: Kernels;
  readonly #query: LaneQuery;
  readonly #floats: Float32Array;
  readonly #words: Uint32Array;
  readonly #stride: number;
  readonly users: number;
  readonly scores: number;
  readonly #keptScores: number;
  readonly #keptPositions: number;
  readonly #relevant: number;
  readonly #ranks: number;
  readonly #sample: number;

  constructor(
    kernels: Kernels,
    memory: WebAssembly.Memory,
    address: number,
    features: number,
    query: LaneQuery,
  ) {
    const list = align(4 * paddedCandidates(query.candidates) + 64);
    this.#kernels = kernels;
    this.#query = query;
    this.#floats = new Float32Array(memory.buffer);
    this.#words = new Uint32Array(memory.buffer);
    this.#stride = rowStride(query.candidates);
    this.users = address;
    this.scores = address + align(4 * ROWS_PER_BLOCK * features);
    this.#keptScores = this.scores + ROWS_PER_BLOCK * this.#stride;
    this.#keptPositions = this.#keptScores + list;
    this.#relevant = this.#keptPositions + list;
    this.#ranks = this.#relevant + list;
    this.#sample = this.#ranks + list;
  }

  /** The scores of row `index` of the block. A scorer that is not a product of factors writes them. */
  row(index: number): Float32Array {
    const first = (this.scores + index * this.#stride) >>> 2;
    return this.#floats.subarray(first, first + this.#query.candidates);
  }

  /** Copies rows of a users table into tiles of four and scores them with the packed items. */
  scoreFactors(table: Float32Array, rows: ArrayLike<number>, features: number, items: number): void {
    const floats = this.#floats;
    const tiles = Math.ceil(rows.length / USERS_PER_TILE);
    for (let r = 0; r < tiles * USERS_PER_TILE; r++) {
      const from = rows[Math.min(r, rows.length - 1)] * features;
      let at = (this.users >>> 2) + (r >> 2) * USERS_PER_TILE * features + (r & 3);
      for (let k = 0; k < features; k++, at += USERS_PER_TILE) floats[at] = table[from + k];
    }
    const panels = paddedCandidates(this.#query.candidates) / ITEMS_PER_PANEL;
    this.#kernels.rankScores(this.users, tiles, items, panels, features, this.scores, this.#stride);
  }

  /** Ranks the scores of row `index` of the block, which are those of row `row` of the query. */
  rank(index: number, row: number, answer: RankAnswer): void {
    const { views, depth, top } = this.#query;
    this.#exclude(index, row);
    for (const [v, view] of views.entries()) {
      this.#leaveOut(index, view.without);
      const first = view.relevant.offsets[row];
      const count = view.relevant.offsets[row + 1] - first;
      if (count === 0) continue;
      this.#words.set(view.relevant.values.subarray(first, first + count), this.#relevant >>> 2);
      const kept = this.#keep(index, depth);
      this.#kernels.rankCount(
        this.#relevant,
        count,
        depth,
        this.#keptScores,
        this.#keptPositions,
        kept,
        this.#ranks,
      );
      answer.ranks[v].set(this.#words.subarray(this.#ranks >>> 2, (this.#ranks >>> 2) + count), first);
      const best = this.#best(kept, top);
      for (let i = 0; i < best; i++) answer.shown[v][this.#words[(this.#keptPositions >>> 2) + i]] = 1;
    }
  }

  /** The best `n` candidates of row `index`, best first, ties to the smaller position. */
  top(index: number, row: number, n: number): { positions: Uint32Array; scores: Float32Array } {
    this.#exclude(index, row);
    const kept = this.#keep(index, n);
    const best = this.#best(kept, n);
    const positions = this.#words.subarray(this.#keptPositions >>> 2, (this.#keptPositions >>> 2) + best);
    const scores = this.#floats.subarray(this.#keptScores >>> 2, (this.#keptScores >>> 2) + best);
    // Positions ascend and the sort is stable, so ties stay in order.
    const order = Array.from({ length: best }, (_, i) => i).sort((a, b) => scores[b] - scores[a]);
    return {
      positions: Uint32Array.from(order, (i) => positions[i]),
      scores: Float32Array.from(order, (i) => scores[i]),
    };
  }

  #keep(index: number, depth: number): number {
    const padded = paddedCandidates(this.#query.candidates);
    const at = this.scores + index * this.#stride;
    this.#floats.fill(Number.NEGATIVE_INFINITY, (at >>> 2) + this.#query.candidates, (at >>> 2) + padded);
    return this.#kernels.rankKeep(
      at,
      padded,
      depth,
      this.#keptScores,
      this.#keptPositions,
      this.#sample,
      SAMPLE,
    );
  }

  #best(kept: number, top: number): number {
    return this.#kernels.rankTop(this.#keptScores, this.#keptPositions, kept, top);
  }

  #exclude(index: number, row: number): void {
    const { excluded, without } = this.#query;
    if (without) this.#leaveOutBits(index, without);
    if (!excluded) return;
    this.#leaveOut(index, excluded.values.subarray(excluded.offsets[row], excluded.offsets[row + 1]));
  }

  #leaveOutBits(index: number, without: Uint32Array): void {
    const scores = this.row(index);
    for (let word = 0, at = 0; word < without.length; word++, at += 32) {
      const bits = without[word];
      if (bits === ALL) scores.fill(Number.NEGATIVE_INFINITY, at, at + 32);
      else
        for (let left = bits; left !== 0; left &= left - 1)
          scores[at + lowestBit(left)] = Number.NEGATIVE_INFINITY;
    }
  }

  #leaveOut(index: number, positions: Uint32Array): void {
    const scores = this.row(index);
    for (let i = 0; i < positions.length; i++) scores[positions[i]] = Number.NEGATIVE_INFINITY;
  }
}

/** Packs the candidates' rows of an item table as panels of eight, feature by feature, padded with zeros. */
export function packItems(
  items: Float32Array,
  candidates: Uint32Array,
  features: number,
  memory: WebAssembly.Memory,
  address: number,
): void {
  const floats = new Float32Array(memory.buffer);
  for (let c = 0; c < candidates.length; c++) {
    const from = candidates[c] * features;
    let at = (address >>> 2) + (c - (c % ITEMS_PER_PANEL)) * features + (c % ITEMS_PER_PANEL);
    for (let k = 0; k < features; k++, at += ITEMS_PER_PANEL) floats[at] = items[from + k];
  }
}
