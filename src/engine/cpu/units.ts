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

/** `groups`: units of rows that no unit may reach across. */
export function cutUnits(
  offsets: Uint32Array,
  first: number,
  last: number,
  limits: UnitLimits,
  groups?: Uint32Array,
): RowCut {
  const pieces: number[] = [];
  const rows: number[] = [];
  let slots = 0;
  let start = first;
  const flush = (end: number) => {
    if (end > start) rows.push(UNIT_ROWS, start, end, offsets[start], offsets[end], 0);
    start = end;
  };
  const borders = bordersOf(groups);
  for (let i = first; i < last; i++) {
    const from = offsets[i];
    const to = offsets[i + 1];
    if (borders.at(i)) flush(i);
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

/** Whether a group begins at a row; rows are asked for in their order. */
export function bordersOf(groups: Uint32Array | undefined): { at(row: number): boolean } {
  if (!groups) return { at: () => false };
  let next = 1; // the field of the first row
  return {
    at(row) {
      while (next < groups.length && groups[next] < row) next += UNIT_FIELDS;
      return groups[next] === row;
    },
  };
}

/** Where the units of each group begin among units that none reaches across, and where the last ends. */
export function beginsOf(units: Uint32Array, groups: Uint32Array): Uint32Array {
  const count = groups.length / UNIT_FIELDS;
  const begins = allocateFrom(new Uint32Array(count + 1));
  let unit = 0;
  for (let g = 0; g < count; g++) {
    const end = groups[g * UNIT_FIELDS + 2];
    while (unit * UNIT_FIELDS < units.length && units[unit * UNIT_FIELDS + 1] < end) unit++;
    begins[g + 1] = unit;
  }
  return begins;
}

/** Most bytes of counts of a group: they stay in a worker's cache while all parts of the data add to them. */
const GROUP_BYTES = 128 * 1024;
/** Large groups find more of a part's table in the cache; the last are small, so that threads end together. */
const SHARE = 48;
/** Windows of a group. */
const LEAST_WINDOWS = 4;
const MOST_WINDOWS = 64;

/**
 * Rows whose counts are made together: a share of the `work` that is left each, which is that in all of the data, wherever they
 * are counted, so that sums over groups have the same bits anywhere. `bytes`: of a row's counts.
 */
export function cutGroups(work: Float64Array, { edges, rows }: UnitLimits, bytes: number): Uint32Array {
  let left = 0;
  for (let i = 0; i < work.length; i++) left += work[i];
  const mostRows = Math.max(1, Math.min(rows, Math.floor(GROUP_BYTES / bytes)));
  const groups: number[] = [];
  let start = 0;
  let sum = 0;
  for (let i = 0; i <= work.length; i++) {
    const more = i < work.length ? work[i] : Infinity;
    const most = edges * Math.min(Math.max(left / SHARE / edges, LEAST_WINDOWS), MOST_WINDOWS);
    if (i > start && (sum + more > most || i - start >= mostRows)) {
      groups.push(UNIT_ROWS, start, i, 0, 0, 0);
      left -= sum;
      [start, sum] = [i, 0];
    }
    sum += more;
  }
  return allocateFrom(groups);
}

/** The units of whole rows that lie in a range, as far as they do. */
export function unitsWithin(
  units: Uint32Array,
  { first, last }: { readonly first: number; readonly last: number },
): Uint32Array {
  const within: number[] = [];
  for (let at = 0; at < units.length; at += UNIT_FIELDS) {
    const from = Math.max(first, units[at + 1]);
    const to = Math.min(last, units[at + 2]);
    if (from < to) within.push(UNIT_ROWS, from, to, 0, 0, 0);
  }
  return allocateFrom(within);
}
