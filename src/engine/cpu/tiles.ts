// Cuts the rows of an index into units of work. The cut depends on the degrees, on the neighbours and on the other table's size,
// never on the number of threads. Partial sums are added in unit order. So results are bit-identical for any number of threads.
//
// Tables larger than every cache are read tile by tile. Every edge reads a row of the other table. If that table exceeds the
// cache, nearly every read goes to memory and also misses the address translation. Neighbours ascend within a row, so a row's
// edges to one tile are contiguous. All rows walk their edges to the first tile while that tile is in cache, then those to the
// second, and so on. Meanwhile a row's partial sums wait in a slot.
//
// Only rows with several edges per tile gain. Shorter rows are walked whole when rows are finished. Rows longer than a window are
// cut into pieces as usual, but also at tile borders, and each piece runs with its tile.

import { allocate, allocateFrom } from '../../math/memory.js';
import type { RowRange } from '../engine.js';
import { bordersOf, UNIT_FINISH, UNIT_PIECE, UNIT_ROWS, UNIT_TILE, type UnitLimits } from './units.js';

export interface TileLimits {
  /** Tables of at most `near` bytes or `few` rows are not prefetched: their rows arrive soon enough. */
  readonly near: number;
  readonly few: number;
  /** Tables of at most this many bytes are read without tiles. */
  readonly cache: number;
  /** Most bytes of a tile. */
  readonly tile: number;
  /** Edges per tile that a row needs, on average, to be walked by tiles. */
  readonly least: number;
  /** Most bytes of waiting sums, if several shards are walked. */
  readonly sums: number;
}

/**
 * Sizes that suit current processors: 16 MiB is often a thread's share of the last-level cache. 8 MiB are 2,048 pages, which
 * the second level of address translation holds on most processors. They are constants because the cut decides the bits.
 * Timing gave `near` and `few` (docs/appendix/performance.md).
 */
export const DEFAULT_TILES: TileLimits = {
  near: 4 * 2 ** 20,
  few: 16384,
  cache: 16 * 2 ** 20,
  tile: 8 * 2 ** 20,
  least: 64,
  sums: 64 * 2 ** 20,
};

/** Edges that a row needs for every 4 bytes of waiting sums: tiles cost at most 2 bytes per edge. */
const EDGES_PER_SUM = 2;

/** Rows that are walked by tiles. Their sums lie in slots, in row order. */
export interface TiledRows {
  /** Row of each slot. */
  readonly rows: Uint32Array;
  /** Where the slots' edges begin, tile by tile, and where the last tile's end: (tiles + 1) × slots positions. */
  readonly begins: Uint32Array;
}

/** How a table is tiled. */
interface Tiling {
  readonly tiles: number;
  /** Rows of one tile. */
  readonly inTile: number;
  /** Least edges of a row that is walked by tiles. */
  readonly least: number;
  /** Least edges of a piece, on average. If a long row has fewer in a tile, a piece spans several tiles. */
  readonly leastPiece: number;
}

/** One tile has all rows, and no row is walked by tiles. */
export const NO_TILES: Tiling = { tiles: 1, inTile: Infinity, least: Infinity, leastPiece: 1 };

/** The table that edges lead to. `stride`: float32 per row. */
interface Gathered {
  readonly rows: number;
  readonly stride: number;
}

const bytesOf = ({ rows, stride }: Gathered): number => 4 * stride * rows;

/** Whether kernels prefetch rows of the table. Results do not depend on it. */
export function shouldPrefetch(table: Gathered, limits: TileLimits): boolean {
  return bytesOf(table) > limits.near && table.rows > limits.few;
}

export function tilingOf(table: Gathered, limits: TileLimits): Tiling {
  const { rows, stride } = table;
  const bytes = bytesOf(table);
  if (bytes <= limits.cache) return NO_TILES;
  const inTile = Math.ceil(rows / Math.ceil(bytes / limits.tile));
  const tiles = Math.ceil(rows / inTile);
  return {
    tiles,
    inTile,
    least: Math.max(limits.least * tiles, EDGES_PER_SUM * stride),
    leastPiece: EDGES_PER_SUM * 2 * stride, // sums of pieces are float64
  };
}

export type RowCut = ReturnType<typeof cutRows>;

/** The cut of rows first … last−1, with units inside `groups`. */
export function cutRows(
  { offsets, neighbors }: { readonly offsets: Uint32Array; readonly neighbors: Uint32Array },
  { first, last }: RowRange,
  limits: UnitLimits,
  { tiles, inTile, least, leastPiece }: Tiling,
  groups?: Uint32Array,
) {
  const byTiles = (i: number) => {
    const degree = offsets[i + 1] - offsets[i];
    return degree >= least && degree <= limits.edges;
  };
  let count = 0;
  for (let i = first; i < last; i++) if (byTiles(i)) count++;
  const tiled: TiledRows = {
    rows: allocate(Uint32Array, count),
    begins: allocate(Uint32Array, (tiles + 1) * count),
  };
  const { rows: tiledRows, begins } = tiled;
  const stages = Array.from({ length: tiles }, (): number[] => []);
  const rows: number[] = [];
  let pieces = 0;
  let slot = 0;
  // The current unit: its first row, its first slot, and the edges of its untiled rows.
  let start = first;
  let startSlot = 0;
  let edges = 0;
  const flush = (end: number) => {
    if (end > start) rows.push(UNIT_ROWS, start, end, 0, edges, startSlot);
    [start, startSlot, edges] = [end, slot, 0];
  };
  const borders = bordersOf(groups);
  for (let i = first; i < last; i++) {
    const [from, to] = [offsets[i], offsets[i + 1]];
    if (borders.at(i)) flush(i);
    if (to - from > limits.edges) {
      flush(i);
      const firstPiece = pieces;
      const step = inTile * Math.ceil((leastPiece * tiles) / (to - from));
      for (let e = from; e < to; ) {
        const border = step * (Math.floor(neighbors[e] / step) + 1);
        const end = endIn(neighbors, e, Math.min(e + limits.edges, to), border);
        stages[Math.floor(neighbors[e] / inTile)].push(UNIT_PIECE, i, i + 1, e, end, pieces++);
        e = end;
      }
      rows.push(UNIT_FINISH, i, i + 1, 0, pieces - firstPiece, firstPiece);
      start = i + 1;
      continue;
    }
    const whole = byTiles(i) ? 0 : to - from;
    if (edges + whole > limits.edges || i - start >= limits.rows) flush(i);
    edges += whole;
    if (whole === to - from) continue;
    tiledRows[slot] = i;
    let e = from;
    for (let t = 0; t < tiles; t++) {
      begins[t * count + slot] = e;
      e = endIn(neighbors, e, to, (t + 1) * inTile);
    }
    begins[tiles * count + slot] = to;
    slot++;
  }
  flush(last);
  for (let t = 0; t < tiles; t++) cutStage(stages[t], begins, t * count, count, limits);
  return {
    /** Stages that run before `rows`, in order: pieces of long rows, and tiles. */
    stages: stages.filter((s) => s.length > 0).map(allocateFrom),
    /** Units of whole rows and updates of long rows, in row order. */
    rows: allocateFrom(rows),
    pieces,
    /** The rows that are walked by tiles, if any. */
    tiled: count > 0 ? tiled : undefined,
  };
}

/** The position after the last neighbour below `border`, within edges e … to−1 of a row. */
function endIn(neighbors: Uint32Array, e: number, to: number, border: number): number {
  while (e < to && neighbors[e] < border) e++;
  return e;
}

/** Units of a tile: runs of slots that fill a window with their edges in the tile. */
function cutStage(units: number[], begins: Uint32Array, at: number, count: number, limits: UnitLimits): void {
  let start = 0;
  let edges = 0;
  for (let s = 0; s <= count; s++) {
    const more = s < count ? begins[at + count + s] - begins[at + s] : 0;
    if (s === count || edges + more > limits.edges || s - start >= limits.rows) {
      if (s > start) units.push(UNIT_TILE, start, s, 0, edges, at);
      [start, edges] = [s, 0];
    }
    edges += more;
  }
}
