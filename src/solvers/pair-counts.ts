// Counts the members that columns share with targets, each as often as it weighs (user-weights.ts), in tiles of 128 targets (kernels/pairs.ts). On @simulated this takes a tenth
// of the time of counting one by one. If members have short lists, counting one by one is faster.

import type { RowLists } from '../math/csr.js';
import type { Heap } from '../wasm/heap.js';
import { instantiate } from '../wasm/instantiate.js';
import { storeLists } from './stored-lists.js';

export const TILE = 128;
/** Members of columns whose masks are added in the time of counting one member directly. */
const MASKS_PER_COUNT = 1.5;
/** Columns whose counts are read from a tile in that time. */
const COLUMNS_PER_COUNT = 0.014;
/** Counts below this take 2 bytes. */
const NARROW = 2 ** 16;
/** The most scratch bytes of all workers. Kernel memory also holds the lists and the counts. */
const SCRATCH_BYTES = 2 ** 31;

/** Pairs that could be counted one by one in the time of the tiles of all columns with each other. */
export function tileWork(edges: number, columns: number): number {
  return Math.ceil(columns / TILE) * pairsOfTile(edges, columns);
}

function pairsOfTile(edges: number, columns: number): number {
  return edges / MASKS_PER_COUNT + columns / COLUMNS_PER_COUNT;
}

/** The columns in kernel memory. */
export type CountedColumns = ReturnType<typeof storeColumns>;

/** Copies the columns into kernel memory. `weights`, powers of two that never fall, says how often each member counts. */
export function storeColumns(heap: Heap, columns: RowLists, weights: Uint8Array) {
  const stored = storeLists(heap, columns);
  const classes = 32 - Math.clz32(weights.at(-1) ?? 1);
  /** The starts of the segments of all columns, a segment for each class of members. */
  const segments = classes === 1 ? stored.offsets : heap.allocate(4 * (stored.rows * classes + 1));
  const starts = heap.u32(segments, stored.rows * classes + 1);
  for (let c = 0, at = 0; classes > 1 && c < stored.rows; c++) {
    for (let k = 0; k < classes; k++) {
      starts[c * classes + k] = at;
      while (at < columns.offsets[c + 1] && weights[columns.values[at]] === 1 << k) at++;
    }
    starts[(c + 1) * classes] = at;
  }
  let largest = 0;
  for (let c = 0; c < stored.rows; c++) largest = Math.max(largest, listWeight(columns, c, weights));
  const wide = needsWide(largest);
  return { memory: heap.memory, columns: stored, segments, classes, members: weights.length, wide };
}

/** The weight of all members of a list: its count with itself. */
export function listWeight({ offsets, values }: RowLists, list: number, weights: Uint8Array): number {
  let sum = 0;
  for (let e = offsets[list]; e < offsets[list + 1]; e++) sum += weights[values[e]];
  return sum;
}

/** Whether counts take 4 bytes instead of 2. */
export function needsWide(largest: number): boolean {
  return largest >= NARROW;
}

/** Bytes that a worker needs to count a tile. */
export function tileScratchBytes({ columns, members, wide }: CountedColumns): number {
  return 512 + 16 * members + (wide ? 4 : 2) * TILE * columns.rows;
}

/**
 * The number of workers that fit in memory, at most one per block, and the tile bytes of each besides its `otherBytes` of scratch. The
 * tile is 0 if not even one worker has room for it; pairs are then counted one by one.
 */
export function scratchRoom(
  blocks: number,
  tile: number,
  otherBytes = 0,
): { readonly workers: number; readonly tile: number } {
  const own = tile + otherBytes <= SCRATCH_BYTES ? tile : 0;
  const workers = Math.max(1, Math.floor(SCRATCH_BYTES / (own + otherBytes)));
  return { workers: Math.min(blocks, workers), tile: own };
}

/** Counts of a tile: TILE counts for each column. */
type TileCounts = Uint16Array | Uint32Array;

/** A worker's scratch for tiles. */
export function createTiles(module: WebAssembly.Module, counted: CountedColumns, scratch: number) {
  const { memory, columns, members, wide, segments, classes } = counted;
  const kernels = instantiate(module, memory);
  const masksAt = scratch + 512;
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
    /** Whether a tile is faster than counting this number of pairs one by one. Both give the same counts. */
    isFaster: (pairs: number) => pairs > ofTile,
    /** Counts targets first … last − 1, at most TILE, with all columns. */
    count(targets: RowLists, first: number, last: number): void {
      masks.fill(0);
      for (let t = first; t < last; t++) {
        const [half, bit] = [(t - first) & 7, 1 << ((t - first) >>> 3)];
        for (let e = targets.offsets[t]; e < targets.offsets[t + 1]; e++) {
          masks[8 * targets.values[e] + half] |= bit;
        }
      }
      const lists = [segments, columns.neighbors, classes] as const;
      kernels.pairCounts(...lists, 0, columns.rows, masksAt, scratch, wide ? 1 : 0, out);
    },
  };
}

/** Copies the counts of target `at` of a tile, one column after the other. */
export function copyCounts(tile: TileCounts, at: number, to: TileCounts): void {
  for (let c = 0; c < to.length; c++) to[c] = tile[c * TILE + at];
}

/** The number of pairs to count if targets first … last − 1 are counted one by one; `rows` has the columns of each member. */
export function pairsMet(targets: RowLists, rows: RowLists, first: number, last: number): number {
  let pairs = 0;
  for (let e = targets.offsets[first]; e < targets.offsets[last]; e++) {
    const member = targets.values[e];
    pairs += rows.offsets[member + 1] - rows.offsets[member];
  }
  return pairs;
}
