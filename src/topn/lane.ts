// One row of scores → the ranks of its relevant candidates and its best few, by the kernels of kernels/scores.ts. A *lane* is the scratch
// memory of one thread. Several lanes and one packed item table share a WebAssembly memory.

import { lowestBit } from '../math/bits.js';
import type { Kernels } from '../wasm/instantiate.js';
import { type LaneQuery, listOf, type RankAnswer } from './query.js';

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

export type RankLane = ReturnType<typeof createLane>;

/** A lane at an address. Its scratch memory holds the rows of users, a block of scores, lists of candidates, and a sample. */
export function createLane(
  kernels: Kernels,
  memory: WebAssembly.Memory,
  address: number,
  features: number,
  query: LaneQuery,
) {
  const { candidates, views, excluded, depth, top } = query;
  const list = align(4 * paddedCandidates(candidates) + 64);
  const floats = new Float32Array(memory.buffer);
  const words = new Uint32Array(memory.buffer);
  const stride = rowStride(candidates);
  const users = address;
  const scores = users + align(4 * ROWS_PER_BLOCK * features);
  const keptScores = scores + ROWS_PER_BLOCK * stride;
  const keptPositions = keptScores + list;
  const relevant = keptPositions + list;
  const ranks = relevant + list;
  const sample = ranks + list;

  /** The scores of row `index` of the block. A scorer that is not a product of factors writes them. */
  function row(index: number): Float32Array {
    const first = (scores + index * stride) >>> 2;
    return floats.subarray(first, first + candidates);
  }

  function keep(index: number, most: number): number {
    const padded = paddedCandidates(candidates);
    const at = scores + index * stride;
    floats.fill(Number.NEGATIVE_INFINITY, (at >>> 2) + candidates, (at >>> 2) + padded);
    return kernels.rankKeep(at, padded, most, keptScores, keptPositions, sample, SAMPLE);
  }

  function exclude(index: number, of: number): void {
    if (query.without) leaveOutBits(index, query.without);
    if (excluded) leaveOut(index, listOf(excluded, of));
  }

  function leaveOutBits(index: number, without: Uint32Array): void {
    const own = row(index);
    for (let word = 0, at = 0; word < without.length; word++, at += 32) {
      const bits = without[word];
      if (bits === ALL) own.fill(Number.NEGATIVE_INFINITY, at, at + 32);
      else
        for (let left = bits; left !== 0; left &= left - 1)
          own[at + lowestBit(left)] = Number.NEGATIVE_INFINITY;
    }
  }

  function leaveOut(index: number, positions: Uint32Array): void {
    const own = row(index);
    for (let i = 0; i < positions.length; i++) own[positions[i]] = Number.NEGATIVE_INFINITY;
  }

  return {
    row,
    /** Copies rows of a users table into tiles of four and scores them with the packed items. */
    scoreFactors(table: Float32Array, rows: ArrayLike<number>, items: number): void {
      const tiles = Math.ceil(rows.length / USERS_PER_TILE);
      for (let r = 0; r < tiles * USERS_PER_TILE; r++) {
        const from = rows[Math.min(r, rows.length - 1)] * features;
        let at = (users >>> 2) + (r >> 2) * USERS_PER_TILE * features + (r & 3);
        for (let k = 0; k < features; k++, at += USERS_PER_TILE) floats[at] = table[from + k];
      }
      const panels = paddedCandidates(candidates) / ITEMS_PER_PANEL;
      kernels.rankScores(users, tiles, items, panels, features, scores, stride);
    },

    /** Ranks the scores of row `index` of the block, which are those of row `of` of the query. */
    rank(index: number, of: number, answer: RankAnswer): void {
      exclude(index, of);
      for (const [v, view] of views.entries()) {
        leaveOut(index, view.without);
        const own = listOf(view.relevant, of);
        if (own.length === 0) continue;
        words.set(own, relevant >>> 2);
        const kept = keep(index, depth);
        kernels.rankCount(relevant, own.length, depth, keptScores, keptPositions, kept, ranks);
        const found = words.subarray(ranks >>> 2, (ranks >>> 2) + own.length);
        answer.ranks[v].set(found, view.relevant.offsets[of]);
        const best = kernels.rankTop(keptScores, keptPositions, kept, top);
        for (let i = 0; i < best; i++) answer.shown[v][words[(keptPositions >>> 2) + i]] = 1;
      }
    },

    /** The best `n` candidates of row `index`, best first, ties to the smaller position. */
    top(index: number, of: number, n: number): { positions: Uint32Array; scores: Float32Array } {
      exclude(index, of);
      const best = kernels.rankTop(keptScores, keptPositions, keep(index, n), n);
      const positions = words.subarray(keptPositions >>> 2, (keptPositions >>> 2) + best);
      const values = floats.subarray(keptScores >>> 2, (keptScores >>> 2) + best);
      // Positions ascend and the sort is stable, so ties stay in order.
      const order = Array.from({ length: best }, (_, i) => i).sort((a, b) => values[b] - values[a]);
      return {
        positions: Uint32Array.from(order, (i) => positions[i]),
        scores: Float32Array.from(order, (i) => values[i]),
      };
    },
  };
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
