// Units of work, and groups of rows. tiles.ts cuts the rows of an index into units.

import { allocateFrom } from '../../math/memory.js';
import type { RowRange } from '../engine.js';

/** Fields of a unit in the flat list: kind, rows first … last−1, edges firstEdge … lastEdge−1, slot. */
export const UNIT_FIELDS = 6;
/**
 * Whole rows: edge pass and update in one go. firstEdge is 0, and lastEdge the number of edges of untiled rows; `slot` is the first slot
 * among these rows.
 */
export const UNIT_ROWS = 0;
/** One piece of a row that is longer than a window. Its sums go to `slot`. */
export const UNIT_PIECE = 1;
/** The update of a long row from its pieces: `slot` is the first slot, firstEdge is 0, lastEdge is the number of slots. */
export const UNIT_FINISH = 2;
/** Edges of tiled rows in one tile: slots first … last−1. Their positions begin at `slot` of `TiledRows.begins` (tiles.ts). */
export const UNIT_TILE = 3;

export interface UnitLimits {
  readonly edges: number;
  /** Most rows in a unit. */
  readonly rows: number;
}

export const DEFAULT_LIMITS: UnitLimits = { edges: 16384, rows: 4096 };

export const countOf = (units: Uint32Array): number => units.length / UNIT_FIELDS;

/** Tells whether a group begins at a row. Rows must be asked for in ascending order. */
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

/** Where the units of each group begin, and where the last group ends. No unit crosses a group border. */
export function beginsOf(units: Uint32Array, groups: Uint32Array): Uint32Array {
  const count = countOf(groups);
  const begins = allocateFrom(new Uint32Array(count + 1));
  let unit = 0;
  for (let g = 0; g < count; g++) {
    const end = groups[g * UNIT_FIELDS + 2];
    while (unit * UNIT_FIELDS < units.length && units[unit * UNIT_FIELDS + 1] < end) unit++;
    begins[g + 1] = unit;
  }
  return begins;
}

/** Most bytes of a group's counts: they stay in a worker's cache while all parts of the data add to them. */
const GROUP_BYTES = 128 * 1024;
/** Large groups reuse more of a part's table in cache. The last groups are small, so that all threads end at about the same time. */
const SHARE = 48;
/** Least and most windows of a group. */
const LEAST_WINDOWS = 4;
const MOST_WINDOWS = 64;

/**
 * Groups of rows that one worker counts. Each takes a share of the `work` that is left. `work` covers all of the data, wherever
 * it is counted, so that sums over groups have the same bits everywhere. `bytes`: size of a row's counts.
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

/** The units of whole rows, clipped to a range of rows. */
export function unitsWithin(units: Uint32Array, { first, last }: RowRange): Uint32Array {
  const within: number[] = [];
  for (let at = 0; at < units.length; at += UNIT_FIELDS) {
    const from = Math.max(first, units[at + 1]);
    const to = Math.min(last, units[at + 2]);
    if (from < to) within.push(UNIT_ROWS, from, to, 0, 0, 0);
  }
  return allocateFrom(within);
}
