// How the rows of an index are cut into units of work. The cut depends on the degrees (and tiles.ts on neighbours and the other
// table's size), never on the number of threads, and partial sums are added in unit order: this is why results are
// bit-identical for any number of threads.

import { allocateFrom } from '../../math/memory.js';
/** Fields of a unit in the flat list: what, rows first … last−1, edges firstEdge … lastEdge−1, and a slot. */
export const UNIT_FIELDS = 6;
/** Whole rows, passed and updated at once. Where rows are tiled, `slot` is the first slot of those among them. */
export const UNIT_ROWS = 0;
/** One piece of a row that is longer than a window: its sums go to `slot`. */
export const UNIT_PIECE = 1;
/** The update of such a row from its pieces: slots slot … slot + (lastEdge − firstEdge) − 1 (edges hold the number). */
export const UNIT_FINISH = 2;
/** Edges of tiled rows in one tile: slots first … last−1, which begin at `slot` of the tiled rows' positions (tiles.ts). */
export const UNIT_TILE = 3;

export interface RowCut {
  /** Stages that come before the rows, one after the other: pieces of long rows, and tiles. */
  readonly stages: readonly Uint32Array[];
  /** Whole rows, and the finish of long ones, in row order. */
  readonly rows: Uint32Array;
  /** How many pieces there are. */
  readonly pieces: number;
}

export interface UnitLimits {
  /** Most edges in a window. */
  readonly edges: number;
  /** Most rows in a unit. */
  readonly rows: number;
}

export const DEFAULT_LIMITS: UnitLimits = { edges: 16384, rows: 4096 };

export function cutUnits(offsets: Uint32Array, first: number, last: number, limits: UnitLimits): RowCut {
  const pieces: number[] = [];
  const rows: number[] = [];
  let slots = 0;
  let start = first;
  const flush = (end: number) => {
    if (end > start) rows.push(UNIT_ROWS, start, end, offsets[start], offsets[end], 0);
    start = end;
  };
  for (let i = first; i < last; i++) {
    const from = offsets[i];
    const to = offsets[i + 1];
    if (to - from > limits.edges) {
      flush(i);
      const firstSlot = slots;
      for (let e = from; e < to; e += limits.edges) {
        pieces.push(UNIT_PIECE, i, i + 1, e, Math.min(e + limits.edges, to), slots++);
      }
      rows.push(UNIT_FINISH, i, i + 1, 0, slots - firstSlot, firstSlot);
      start = i + 1;
    } else if (to - offsets[start] > limits.edges || i - start >= limits.rows) {
      flush(i);
    }
  }
  flush(last);
  const stages = slots > 0 ? [allocateFrom(pieces)] : [];
  return { stages, rows: allocateFrom(rows), pieces: slots };
}
