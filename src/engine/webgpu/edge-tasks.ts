// Rows have any number of edges, from none to a large share of all. So the edge pass works on *tasks*: at most `block` consecutive
// edges of one row. Each task has a slot for its partial sum. Slots are ordered by row, then by edge, and are added in that order:
// results do not depend on how the GPU schedules tasks.

import { type EdgeCounts, type EdgeRows, lowerBound } from '../../math/csr.js';

export interface CutOptions {
  /** Most edges of a task. */
  readonly block: number;
  /** Tasks of at most this many edges are listed separately, because several share a subgroup. */
  readonly short: number;
  /** Most edges of one binding of the edge index. No task crosses its border. */
  readonly chunkEdges: number;
  /**
   * Number of tiles: ranges of the other table's rows. Tasks that run at the same time read from one tile, which stays in cache.
   * Long rows are cut at the borders of tiles.
   */
  readonly tiles: number;
  readonly otherRows: number;
}

/** A row is cut at tile borders if it has at least this many edges per tile, on average. */
const LEAST_TILE_EDGES = 64;

export function cutRows(edges: EdgeRows<EdgeCounts>, options: CutOptions) {
  const { block, short, chunkEdges, tiles, otherRows } = options;
  const { offsets, neighbors } = edges;
  const rows = offsets.length - 1;
  /** The slots of row i are firstSlot[i] … firstSlot[i+1]−1. */
  const firstSlot = new Uint32Array(rows + 1);
  const tileRows = Math.max(1, Math.ceil(otherRows / tiles));
  // Task s: row, first edge, number of edges, sort key.
  const row: number[] = [];
  const start: number[] = [];
  const count: number[] = [];
  const tile: number[] = [];
  let mostSlots = 0;

  /** Cuts the edges of a row that lie in one tile into tasks. */
  const cutStretch = (i: number, from: number, to: number, inTile: number) => {
    let at = from;
    while (at < to) {
      const wall = Math.min(to, (Math.floor(at / chunkEdges) + 1) * chunkEdges);
      const pieces = Math.ceil((wall - at) / block);
      const size = Math.min(block, Math.ceil((wall - at) / pieces / 32) * 32);
      const end = Math.min(wall, at + size);
      row.push(i);
      start.push(at);
      count.push(end - at);
      tile.push(inTile);
      at = end;
    }
  };

  for (let i = 0; i < rows; i++) {
    const from = offsets[i];
    const to = offsets[i + 1];
    firstSlot[i] = row.length;
    if (from === to) continue;
    let parts = 1;
    while (parts * 2 <= tiles && to - from >= LEAST_TILE_EDGES * parts * 2) parts *= 2;
    let at = from;
    for (let part = 0; part < parts && at < to; part++) {
      const firstTile = Math.floor((part * tiles) / parts);
      const border = Math.floor(((part + 1) * tiles) / parts) * tileRows;
      const end = part === parts - 1 ? to : lowerBound(neighbors, border, at, to);
      cutStretch(i, at, end, firstTile);
      at = end;
    }
    mostSlots = Math.max(mostSlots, row.length - firstSlot[i]);
  }
  const slots = row.length;
  firstSlot[rows] = slots;

  // Order: chunk, kernel, tile, then longest first, so that the last tasks to start are short.
  const chunks = Math.max(1, Math.ceil(neighbors.length / chunkEdges));
  const keys = new Float64Array(slots);
  for (let s = 0; s < slots; s++) {
    const isShort = count[s] <= short;
    const group = 2 * Math.floor(start[s] / chunkEdges) + (isShort ? 1 : 0);
    keys[s] = (group * tiles + (isShort ? 0 : tile[s])) * (block + 1) + (block - count[s]);
  }
  const order = sortByKey(keys, 2 * chunks * tiles * (block + 1));

  /** The tasks of a group run in one dispatch, with one binding of the edge index and one kernel. */
  const groups: { chunk: number; short: boolean; records: Uint32Array<ArrayBuffer> }[] = [];
  for (let first = 0; first < slots; ) {
    const group = Math.floor(keys[order[first]] / (tiles * (block + 1)));
    let last = first;
    while (last < slots && Math.floor(keys[order[last]] / (tiles * (block + 1))) === group) last++;
    // For each task: row, slot, first edge within the chunk, number of edges.
    const records = new Uint32Array(4 * (last - first));
    const chunk = group >> 1;
    for (let t = first; t < last; t++) {
      const s = order[t];
      records.set([row[s], s, start[s] - chunk * chunkEdges, count[s]], 4 * (t - first));
    }
    groups.push({ chunk, short: (group & 1) === 1, records });
    first = last;
  }
  return { groups, firstSlot, slots, mostSlots };
}

/** Positions of the keys in ascending order, by a stable counting sort. */
function sortByKey(keys: Float64Array, bound: number): Uint32Array {
  const next = new Uint32Array(bound + 1);
  for (const key of keys) next[key + 1]++;
  for (let k = 0; k < bound; k++) next[k + 1] += next[k];
  const order = new Uint32Array(keys.length);
  for (let s = 0; s < keys.length; s++) order[next[keys[s]]++] = s;
  return order;
}
