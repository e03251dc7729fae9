// A worker's window of the WebAssembly memory: the edges of one unit are copied into it, 4 to 8 bytes per edge, and the kernels
// read them there.

import type { EdgeCounts } from '../../math/csr.js';
import type { TiledRows } from './tiles.js';
import type { UnitLimits } from './units.js';

export interface IndexArrays {
  readonly id: number;
  readonly offsets: Uint32Array;
  readonly neighbors: Uint32Array;
  readonly counts: EdgeCounts | undefined;
}

/** Addresses in a window: rows + 1 offsets (the first is where its edges begin), neighbours, and counts as float32 (0: none). */
export interface Window {
  readonly offsets: number;
  readonly neighbors: number;
  readonly edgeCounts: number;
  /** The numbers of the unit's tiled rows, then NO_ROW; 0: no row is tiled. */
  readonly tiledRows: number;
}

export const NO_WINDOW: Window = { offsets: 0, neighbors: 0, edgeCounts: 0, tiledRows: 0 };

/** Kernels read counts four at a time, so they may read this many bytes after the last one. */
const SLACK = 16;
/** Bytes that a list may need beyond its values: the slack and its alignment. */
const ROOM = SLACK + 24;
/** Ends the list of tiled rows. */
const NO_ROW = 0xffffffff;

/** Bytes of a window: offsets, neighbours, counts and tiled rows. */
export function windowBytes({ edges, rows }: UnitLimits): number {
  return 8 * (rows + 1) + 8 * edges + 4 * ROOM;
}

/** The window of rows first … last−1 with all their edges. `view` covers the whole memory. */
export function openWindow(
  view: Uint32Array,
  window: number,
  index: IndexArrays,
  [first, last]: readonly [number, number],
  [firstEdge, lastEdge]: readonly [number, number],
): Window {
  let free = window;
  const copy = (from: EdgeCounts, start: number, end: number, to: EdgeCounts = view): number => {
    // Between shared buffers V8 copies 8 bytes at a time if both sides have the same alignment, else byte by byte.
    const at = free + ((from.byteOffset + 4 * start) % 8);
    to.set(from.subarray(start, end), at / 4);
    free = after(at, end - start);
    return at;
  };
  const offsets = copy(index.offsets, first, last + 1);
  const neighbors = copy(index.neighbors, firstEdge, lastEdge);
  const edgeCounts = index.counts
    ? copy(index.counts, firstEdge, lastEdge, new Float32Array(view.buffer))
    : 0;
  return { offsets, neighbors, edgeCounts, tiledRows: 0 };
}

const after = (at: number, values: number): number => Math.ceil((at + 4 * values + SLACK) / 16) * 16;

/** The window of tiled rows: the edges of slots first … last−1 in one tile. The tile's positions begin at `tile`. */
export function openTile(
  view: Uint32Array,
  window: number,
  { neighbors, counts }: IndexArrays,
  [first, last]: readonly [number, number],
  edges: number,
  tiled: TiledRows,
  tile: number,
): Window {
  const places = placesFor(window, last - first, edges, counts !== undefined);
  const next = tile + tiled.rows.length;
  const floats = counts && new Float32Array(view.buffer);
  let offset = places.offsets / 4;
  let row = places.tiledRows / 4;
  let edge = 0;
  for (let s = first; s < last; s++) {
    view[row++] = tiled.rows[s];
    view[offset++] = edge;
    const [begin, end] = [tiled.begins[tile + s], tiled.begins[next + s]];
    edge = copyEdges(view, floats, places, edge, neighbors, counts, begin, end);
  }
  view[offset] = edge;
  return places;
}

/** The window of rows first … last−1 without the edges of tiled rows, which tiles have walked. `slot`: their first slot. */
export function openRest(
  view: Uint32Array,
  window: number,
  { offsets, neighbors, counts }: IndexArrays,
  [first, last]: readonly [number, number],
  edges: number,
  { rows }: TiledRows,
  slot: number,
): Window {
  const places = placesFor(window, last - first, edges, counts !== undefined);
  const floats = counts && new Float32Array(view.buffer);
  let offset = places.offsets / 4;
  let row = places.tiledRows / 4;
  let edge = 0;
  for (let i = first; i < last; i++) {
    view[offset++] = edge;
    if (slot < rows.length && rows[slot] === i) {
      view[row++] = i;
      slot++;
    } else edge = copyEdges(view, floats, places, edge, neighbors, counts, offsets[i], offsets[i + 1]);
  }
  view[offset] = edge;
  view[row] = NO_ROW;
  return places;
}

function placesFor(window: number, rows: number, edges: number, counted: boolean): Window {
  const tiledRows = after(window, rows + 1);
  const neighbors = after(tiledRows, rows + 1);
  return { offsets: window, tiledRows, neighbors, edgeCounts: counted ? after(neighbors, edges) : 0 };
}

/** One by one: most ranges are too short for a bulk copy to pay. Returns the next free position. */
function copyEdges(
  view: Uint32Array,
  floats: Float32Array | undefined,
  { neighbors, edgeCounts }: Window,
  edge: number,
  from: Uint32Array,
  counts: EdgeCounts | undefined,
  begin: number,
  end: number,
): number {
  let to = neighbors / 4 + edge;
  for (let e = begin; e < end; e++) view[to++] = from[e];
  if (counts && floats) {
    to = edgeCounts / 4 + edge;
    for (let e = begin; e < end; e++) floats[to++] = counts[e];
  }
  return edge + end - begin;
}
