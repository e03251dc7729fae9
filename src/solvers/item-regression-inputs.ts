// The data of item regressions: the columns that may be inputs, the users' lists of columns, and the lists of the targets.

import { lengths, pickRows, placesOf, type RowLists, transposeLists } from '../math/csr.js';
import { allocate, inSharedMemory } from '../math/memory.js';
import { byFallingValue } from '../math/nth-largest.js';
import { listWeight, needsWide, tileWork } from './pair-counts.js';
import { weighUsers } from './user-weights.js';

/**
 * The most bytes of pair counts. If they would take more, the users that columns share are counted on demand; if that would take too
 * long, the least popular columns are no inputs.
 */
const PAIR_BYTES = 2 ** 29;
/** The most pairs of a user's columns to count, over all users, or equivalent work. With more, evenly spaced users are left out. */
const MAX_PAIRS = 5e9;
/** The time of counting pairs on demand is estimated for this number of columns of a target. */
const TYPICAL_NEIGHBOURS = 100;

export interface RegressionData {
  /** Edges in both orders. Weights of the users' edges count; those of the items' are not read. */
  readonly users: RowLists;
  readonly items: RowLists;
  /** Per item, 1 if it may be an input; all by default. */
  readonly inputs?: ArrayLike<number> | undefined;
  /** Items to be regressed, ascending; all by default. */
  readonly targets?: Uint32Array | undefined;
  /** Users of degree d weigh d^(−2 · userExponent) in all counts. Default 0. */
  readonly userExponent?: number | undefined;
  /** Whether only similarities are asked for: then columns are counted with the targets, not with each other. */
  readonly onlySimilar?: boolean | undefined;
  /** The most bytes of a table of counts, for tests. */
  readonly pairBytes?: number | undefined;
}

export type RegressionInputs = ReturnType<typeof chooseInputs>;

/** The items that may be inputs, the most popular first, so that what is read often lies together; and the users' lists of them. */
export function chooseInputs(data: RegressionData) {
  const itemCount = data.items.offsets.length - 1;
  const { users, weights, mean } = weighUsers(data.users, data.userExponent ?? 0);
  const userCount = users.offsets.length - 1;
  const items = users === data.users ? data.items : transposeLists(users, itemCount);
  const degree = lengths(items);
  const allowed = byFallingValue(degree).filter(
    (item) => degree[item] > 0 && (!data.inputs || data.inputs[item]),
  );
  const most = allowed.reduce((a, item) => Math.max(a, listWeight(items, item, weights)), 0);
  const room = Math.floor(Math.sqrt((data.pairBytes ?? PAIR_BYTES) / (needsWide(most) ? 4 : 2)));
  const byPairs = allowed.length > room && isSparse(degree, data) ? 'lists' : 'pairs';
  /** How the users of two columns are counted: in a table of all pairs, on demand from lists, or not at all. */
  const counted = data.onlySimilar ? 'none' : byPairs;
  // Of equally similar columns the first are kept, so these are in the order of the items.
  const inputs = counted === 'none' ? allowed.sort() : counted === 'pairs' ? allowed.slice(0, room) : allowed;
  const column = placesOf(inputs, itemCount);
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
  const share =
    counted === 'none' ? 1 : Math.min(1, MAX_PAIRS / Math.min(pairs, tileWork(edges, inputs.length)));
  for (let u = 0; u < userCount; u++) {
    const kept = Math.floor((u + 1) * share) > Math.floor(u * share);
    offsets[u + 1] = offsets[u] + (kept ? offsets[u + 1] : 0);
  }
  const values = allocate(Uint32Array, offsets[userCount]);
  for (let u = 0, at = 0; u < userCount; u++) {
    if (offsets[u + 1] === offsets[u]) continue;
    for (let e = users.offsets[u]; e < users.offsets[u + 1]; e++) {
      if (column[users.values[e]] >= 0) values[at++] = column[users.values[e]];
    }
  }
  const rows: RowLists = { offsets, values };
  return {
    counted,
    weights: inSharedMemory(weights),
    meanWeight: mean,
    /** The users of each item, in the order of the weights. */
    items,
    /** The item of each column. */
    inputs: Uint32Array.from(inputs),
    /** Columns by user, and users by column. */
    rows,
    columns: transposeLists(rows, inputs.length),
  };
}

/** Whether the lists of the columns that targets choose are short enough to be counted on demand. */
function isSparse(degree: Uint32Array, { users, targets }: RegressionData): boolean {
  const squares = degree.reduce((sum, d) => sum + d * d, 0);
  // The columns that targets choose have about this degree: the mean over the edges of their item's degree.
  const typical = squares / Math.max(1, users.values.length);
  return (targets?.length ?? degree.length) * TYPICAL_NEIGHBOURS * typical <= MAX_PAIRS;
}

/** The lists of some rows, which ascend, in memory that threads share. */
export function listsOf(lists: RowLists, rows: Uint32Array): RowLists {
  if (rows.length + 1 === lists.offsets.length) {
    return { offsets: inSharedMemory(lists.offsets), values: inSharedMemory(lists.values) };
  }
  const { offsets, values: neighbors } = lists;
  const picked = pickRows({ offsets, neighbors, counts: undefined }, rows);
  return { offsets: picked.offsets, values: picked.neighbors };
}
