// The data of item regressions: the columns that may be inputs, the users' lists of columns, and the lists of the targets.

import type { RowLists } from '../math/csr.js';
import { allocate, inSharedMemory } from '../math/memory.js';
import { needsWide, tileWork } from './pair-counts.js';

/** The most bytes of pair counts. If they would take more, the least popular columns are no inputs. */
const PAIR_BYTES = 2 ** 29;
/** The most pairs of a user's columns to count, over all users, or equivalent work. With more, evenly spaced users are left out. */
const MAX_PAIRS = 5e9;
/** Up to this number, a column's users fit in a few words of bits, and common users are counted on demand. */
const FEW_USERS = 512;

export interface RegressionData {
  /** Edges in both orders. */
  readonly users: RowLists;
  readonly items: RowLists;
  /** Per item, 1 if it may be an input; all by default. */
  readonly inputs?: ArrayLike<number> | undefined;
  /** Items to be regressed, ascending; all by default. */
  readonly targets?: Uint32Array | undefined;
}

/** Columns and their items, the most popular first, so that what is read often lies together. */
export interface RegressionInputs {
  /** Whether users are few enough for bits instead of counted pairs. */
  readonly few: boolean;
  /** The item of each column. */
  readonly inputs: Uint32Array;
  /** Columns by user, and users by column. */
  readonly rows: RowLists;
  readonly columns: RowLists;
}

/** The most popular items that may be inputs, as many as their pair counts fit in memory, and the users' lists of them. */
export function chooseInputs({ users, items, inputs: allowed }: RegressionData): RegressionInputs {
  const itemCount = items.offsets.length - 1;
  const degree = Uint32Array.from({ length: itemCount }, (_, i) => items.offsets[i + 1] - items.offsets[i]);
  const allowedItems = Array.from(degree.keys()).filter(
    (item) => degree[item] > 0 && (!allowed || allowed[item]),
  );
  const most = allowedItems.reduce((a, item) => Math.max(a, degree[item]), 0);
  const room = Math.floor(Math.sqrt(PAIR_BYTES / (needsWide(most) ? 4 : 2)));
  const inputs = allowedItems.sort((a, b) => degree[b] - degree[a] || a - b).slice(0, room);
  const column = new Int32Array(itemCount).fill(-1);
  for (const [c, item] of inputs.entries()) column[item] = c;
  const userCount = users.offsets.length - 1;
  const offsets = allocate(Uint32Array, userCount + 1);
  let pairs = 0;
  let edges = 0;
  for (let u = 0; u < userCount; u++) {
    let own = 0;
    for (let e = users.offsets[u]; e < users.offsets[u + 1]; e++) if (column[users.values[e]] >= 0) own++;
    offsets[u + 1] = own;
    pairs += own ** 2;
    edges += own;
  }
  const few = userCount <= FEW_USERS;
  const share = few ? 1 : Math.min(1, MAX_PAIRS / Math.min(pairs, tileWork(edges, inputs.length)));
  for (let u = 0; u < userCount; u++) {
    const kept = Math.floor((u + 1) * share) > Math.floor(u * share);
    offsets[u + 1] = offsets[u] + (kept ? offsets[u + 1] : 0);
  }
  const values = allocate(Uint32Array, offsets[userCount]);
  const starts = allocate(Uint32Array, inputs.length + 1);
  for (let u = 0, at = 0; u < userCount; u++) {
    if (offsets[u + 1] === offsets[u]) continue;
    for (let e = users.offsets[u]; e < users.offsets[u + 1]; e++) {
      const c = column[users.values[e]];
      if (c < 0) continue;
      values[at++] = c;
      starts[c + 1]++;
    }
  }
  for (let c = 0; c < inputs.length; c++) starts[c + 1] += starts[c];
  const cursor = starts.slice(0, inputs.length);
  const owners = allocate(Uint32Array, values.length);
  for (let u = 0; u < userCount; u++) {
    for (let e = offsets[u]; e < offsets[u + 1]; e++) owners[cursor[values[e]]++] = u;
  }
  return {
    few,
    inputs: Uint32Array.from(inputs),
    rows: { offsets, values },
    columns: { offsets: starts, values: owners },
  };
}

/** The lists of some rows, in memory that threads share. */
export function listsOf(lists: RowLists, rows: Uint32Array): RowLists {
  const offsets = allocate(Uint32Array, rows.length + 1);
  for (const [r, row] of rows.entries()) {
    offsets[r + 1] = offsets[r] + lists.offsets[row + 1] - lists.offsets[row];
  }
  if (offsets[rows.length] === lists.values.length) return { offsets, values: inSharedMemory(lists.values) };
  const values = allocate(Uint32Array, offsets[rows.length]);
  for (const [r, row] of rows.entries()) {
    values.set(lists.values.subarray(lists.offsets[row], lists.offsets[row + 1]), offsets[r]);
  }
  return { offsets, values };
}
