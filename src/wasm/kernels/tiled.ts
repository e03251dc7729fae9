// @ts-nocheck: AssemblyScript.
// Rows that are walked by tiles of the other table (engine/cpu/tiles.ts): the edge pass over one tile, and the sums after all tiles.
// Sums wait in slots, stride float32 each, in row order.

import { passRows } from './edges';
import { job, rowBytes, unit } from './params';

/** A loop, because memory.copy calls out of the module. */
@inline
function copyRow(to: usize, from: usize, bytes: usize): void {
  for (let k: usize = 0; k < bytes; k += 16) v128.store(to + k, v128.load(from + k));
}

/**
 * Σ_j w_ij B_jk over the edges of the unit's slots in one tile. The first tile sets the sums, the others add to them.
 * @param block rows walked per edge pass
 * @param rows scratch of `block` rows for gathered activities; likewise `sums`
 * @param long one row of float64
 */
export function passStretches(block: u32, rows: usize, long: usize, sums: usize): void {
  const bytes = rowBytes;
  const adds = unit.addsTile != 0;
  const count = unit.last - unit.first;
  let slots: usize = unit.tileSums;
  for (let start: u32 = 0; start < count; start += block) {
    const here = min(block, count - start);
    const offsets: usize = <usize>unit.offsets + ((<usize>start) << 2);
    const list: usize = <usize>unit.tiledRows + ((<usize>start) << 2);
    for (let r: u32 = 0; r < here; r++) {
      const row = <usize>load<u32>(list + ((<usize>r) << 2));
      copyRow(rows + (<usize>r) * bytes, <usize>job.activity + row * bytes, bytes);
    }
    passRows(rows, here, offsets, long, sums, job.prefetch != 0);
    const size = (<usize>here) * bytes;
    for (let k: usize = 0; k < size; k += 16) {
      const sum = v128.load(sums + k);
      v128.store(slots + k, adds ? f32x4.add(v128.load(slots + k), sum) : sum);
    }
    slots += size;
  }
}

// The next tiled row, in a list that ends with 0xffffffff (0: no row is tiled), and its sums.
let next: usize = 0;
let nextSums: usize = 0;

/** Starts with the unit's first tiled row. */
export function beginTiled(): void {
  next = unit.tiledRows;
  nextSums = unit.tileSums;
}

/** Whether a tiled row comes before row `end`. */
@inline
export function tiledBefore(end: u32): bool {
  return next != 0 && load<u32>(next) < end;
}

/** Copies the sums of the tiled rows among rows start … start+rows−1 to their places in `sums`. */
@inline
export function takeTiled(start: u32, rows: u32, sums: usize): void {
  const bytes = rowBytes;
  while (tiledBefore(start + rows)) {
    copyRow(sums + (<usize>(load<u32>(next) - start)) * bytes, nextSums, bytes);
    next += 4;
    nextSums += bytes;
  }
}
