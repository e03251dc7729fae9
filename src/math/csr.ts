// Compressed sparse rows: lists of numbers, one list per row, in two typed arrays.

import { allocate } from './memory.js';

/** Lists of numbers, one per row: row r holds values[offsets[r] … offsets[r+1]−1], ascending. */
export interface RowLists {
  readonly offsets: Uint32Array;
  readonly values: Uint32Array;
}

/** Lists built row by row; each comes out ascending and without repetitions. */
export function collectLists(
  rows: number,
  fill: (row: number, add: (value: number) => void) => void,
): RowLists {
  const offsets = allocate(Uint32Array, rows + 1);
  let values = new Uint32Array(1024);
  let end = 0;
  let ascending = true;
  let first = 0;
  const add = (value: number) => {
    if (end === values.length) {
      const larger = new Uint32Array(2 * values.length);
      larger.set(values);
      values = larger;
    }
    ascending &&= end === first || values[end - 1] < value;
    values[end++] = value;
  };
  for (let row = 0; row < rows; row++) {
    first = end;
    ascending = true;
    fill(row, add);
    if (!ascending) {
      const list = Uint32Array.from(new Set(values.subarray(first, end))).sort();
      values.set(list, first);
      end = first + list.length;
    }
    offsets[row + 1] = end;
  }
  const result = allocate(Uint32Array, end);
  result.set(values.subarray(0, end));
  return { offsets, values: result };
}

/** Number of entries of each list. */
export function lengths(lists: RowLists): Uint32Array {
  return Uint32Array.from(
    { length: lists.offsets.length - 1 },
    (_, r) => lists.offsets[r + 1] - lists.offsets[r],
  );
}

/** The lists with only the values that `keep` says, renamed by it (−1: dropped). */
export function renameLists(lists: RowLists, rename: Int32Array): RowLists {
  return collectLists(lists.offsets.length - 1, (row, add) => {
    for (let e = lists.offsets[row]; e < lists.offsets[row + 1]; e++) {
      const value = rename[lists.values[e]];
      if (value >= 0) add(value);
    }
  });
}

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
