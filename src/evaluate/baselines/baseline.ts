// What the baselines share: the data they are fitted to, and what they give back.

import { allocate } from '../../math/memory.js';
import type { RowLists, Scorer } from '../../predict/rank.js';
import { collectLists } from '../ranking-task.js';

/** Training edges, in both orders; counts of a multigraph are ignored. */
export interface BaselineData {
  readonly users: RowLists;
  readonly items: RowLists;
  /** Per item, 1 if it can appear in the history of a user who is to be scored (its coin says "fit"). */
  readonly shown: Uint8Array;
  /** Items to be scored, ascending; a fitted baseline scores these and no others. */
  readonly candidates: Uint32Array;
}

/** A setting of a baseline: named numbers. */
export type Setting = Readonly<Record<string, number>>;

/** A fitted baseline: scores for users of whom nothing but a history is known. */
export interface FittedBaseline {
  readonly setting: Setting;
  scorer(history: RowLists): Promise<Scorer>;
}

/** Number of entries of each list. */
export function lengths(lists: RowLists): Uint32Array {
  return Uint32Array.from(
    { length: lists.offsets.length - 1 },
    (_, r) => lists.offsets[r + 1] - lists.offsets[r],
  );
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

/** The lists with only the values that `keep` says, renamed by it (−1: dropped). */
export function renameLists(lists: RowLists, rename: Int32Array): RowLists {
  return collectLists(lists.offsets.length - 1, (row, add) => {
    for (let e = lists.offsets[row]; e < lists.offsets[row + 1]; e++) {
      const value = rename[lists.values[e]];
      if (value >= 0) add(value);
    }
  });
}
