// Lists of numbers, one per row, turned around.

import { allocate } from '../math/memory.js';
import type { RowLists } from './rank.js';

/** The same edges grouped by the other side. */
export function transposeLists(lists: RowLists, columns: number): RowLists {
  const offsets = allocate(Uint32Array, columns + 1);
  for (const value of lists.values) offsets[value + 1]++;
  for (let c = 0; c < columns; c++) offsets[c + 1] += offsets[c];
  const cursor = offsets.slice(0, columns);
  const values = allocate(Uint32Array, lists.values.length);
  for (let r = 0; r + 1 < lists.offsets.length; r++) {
    for (let e = lists.offsets[r]; e < lists.offsets[r + 1]; e++) values[cursor[lists.values[e]]++] = r;
  }
  return { offsets, values };
}
