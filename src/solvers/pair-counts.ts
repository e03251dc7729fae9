// How many members lists share: each of some columns with each of some targets, 128 targets at a time (kernels/pairs.ts). On @simulated this
// takes a tenth of the time of counting one by one. Where members have short lists, counting one by one is sooner done.

import type { RowLists } from '../math/csr.js';
import type { Heap } from '../wasm/heap.js';
import { type StoredLists, storeLists } from './linear-kernels.js';

/** Targets of a tile. */
export const TILE = 128;
/** Members of columns whose masks are added up in the time in which one more member is counted. */
const MASKS_PER_COUNT = 1.5;
/** The same for reading off the counts of a column. */
const COLUMNS_PER_COUNT = 0.014;
/** Members of a list up to which its counts take 2 bytes: as many as the kernel adds up at once. */
const NARROW = 2 ** 16 - 8;
/** Scratch of all workers together: the lists, and what is counted, lie beside it in the memory of the kernels. */
const SCRATCH_BYTES = 2 ** 31;

/** Pairs that could be counted one by one in the time in which tiles of all columns with each other are made. */
export function tileWork(edges: number, columns: number): number {
  return Math.ceil(columns / TILE) * pairsOfTile(edges, columns);
}

function pairsOfTile(edges: number, columns: number): number {
  return edges / MASKS_PER_COUNT + columns / COLUMNS_PER_COUNT;
}

/** Where the columns lie in the memory of the kernels. */
export interface CountedColumns {
  readonly memory: WebAssembly.Memory;
  readonly columns: StoredLists;
  /** Members of each list are less than this. */
  readonly members: number;
  /** 4 bytes for a count instead of 2. */
  readonly wide: boolean;
}

interface PairKernels {
  pairCounts(
    offsets: number,
    values: number,
    first: number,
    last: number,
    masks: number,
    planes: number,
    wide: number,
    out: number,
  ): void;
}

/** Brings the columns to the kernels. */
export function storeColumns(heap: Heap, columns: RowLists, members: number): CountedColumns {
  const stored = storeLists(heap, columns);
  let longest = 0;
  for (let c = 0; c < stored.rows; c++) {
    longest = Math.max(longest, columns.offsets[c + 1] - columns.offsets[c]);
  }
  return { memory: heap.memory, columns: stored, members, wide: needsWide(longest) };
}

/** Whether counts take 4 bytes instead of 2, where so many members are in the longest list. */
export function needsWide(longest: number): boolean {
  return longest > NARROW;
}

/** Bytes that a worker needs to count a tile. */
export function tileScratchBytes({ columns, members, wide }: CountedColumns): number {
  return 256 + 16 * members + (wide ? 4 : 2) * TILE * columns.rows;
}

/**
 * How many workers the memory has room for, of so many that there is work for, and the bytes of a tile that each may have `beside` its
 * other scratch: 0 where even one would have no room for them, and counts are made one by one.
 */
export function scratchRoom(
  blocks: number,
  tile: number,
  beside = 0,
): { readonly workers: number; readonly tile: number } {
  const own = tile + beside <= SCRATCH_BYTES ? tile : 0;
  const workers = Math.max(1, Math.floor(SCRATCH_BYTES / (own + beside)));
  return { workers: Math.min(blocks, workers), tile: own };
}

/** Counts of a tile: column by column, TILE each. */
export type TileCounts = Uint16Array | Uint32Array;

/** A worker's scratch for tiles. */
export function createTiles(module: WebAssembly.Module, counted: CountedColumns, scratch: number) {
  const { memory, columns, members, wide } = counted;
  const kernels = new WebAssembly.Instance(module, { env: { memory, abort: () => {} } })
    .exports as unknown as PairKernels;
  const masksAt = scratch + 256;
  const out = masksAt + 16 * members;
  const masks = new Uint16Array(memory.buffer, masksAt, 8 * members);
  const length = TILE * columns.rows;
  const counts: TileCounts = wide
    ? new Uint32Array(memory.buffer, out, length)
    : new Uint16Array(memory.buffer, out, length);
  const edges = new Uint32Array(memory.buffer, columns.offsets, columns.rows + 1)[columns.rows];
  const ofTile = pairsOfTile(edges, columns.rows);
  return {
    counts,
    /**
     * Whether a tile is sooner made than so many targets are counted one by one, in which so many pairs would be met. Either has the same
     * counts.
     */
    isSooner: (pairs: number) => pairs > ofTile,
    /** Counts targets first … last − 1, TILE at most, with columns from … to − 1 (all by default), which then come first. */
    count(targets: RowLists, first: number, last: number, from = 0, to = columns.rows): void {
      masks.fill(0);
      for (let t = first; t < last; t++) {
        const [half, bit] = [(t - first) & 7, 1 << ((t - first) >>> 3)];
        for (let e = targets.offsets[t]; e < targets.offsets[t + 1]; e++) {
          masks[8 * targets.values[e] + half] |= bit;
        }
      }
      const lists = [columns.offsets, columns.neighbors] as const;
      kernels.pairCounts(...lists, from, to, masksAt, scratch, wide ? 1 : 0, out);
    },
  };
}

/** Counts of target `at` of a tile, one column after the other. */
export function copyCounts(tile: TileCounts, at: number, to: TileCounts): void {
  for (let c = 0; c < to.length; c++) to[c] = tile[c * TILE + at];
}

/** Pairs that are met where targets first … last − 1 are counted one by one, by the members' lists of columns. */
export function pairsMet(targets: RowLists, rows: RowLists, first: number, last: number): number {
  let pairs = 0;
  for (let e = targets.offsets[first]; e < targets.offsets[last]; e++) {
    const member = targets.values[e];
    pairs += rows.offsets[member + 1] - rows.offsets[member];
  }
  return pairs;
}
