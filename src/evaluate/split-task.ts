// The ranking task of a split.

import { InputError } from '../errors.js';
import { type BipartiteGraph, degrees } from '../graph/graph.js';
import type { VertexIds } from '../graph/ids.js';
import { collectLists, pickLists, type RowLists, renameLists } from '../math/csr.js';
import { itemsIn, type RankingTask, rankingTask } from '../metrics/ranking-task.js';
import type { Protocol } from '../options/names.js';
import type { Split } from '../sample/split-types.js';

/** The ranking task of a split, with what models know of each row and what cannot be evaluated. */
export interface SplitRankingTask extends RankingTask {
  /** Per row the known items, by index. */
  readonly history: RowLists;
  /** What is ranked. */
  readonly protocol: Protocol;
  /**
   * Test users without any known item, who get what would be served: items by attributes, or popular ones. Undefined if there are
   * none, and for a split by new items: nobody has those, so nothing ranks them for such a user.
   */
  readonly withoutHistory: (RankingTask & { readonly users: readonly string[] }) | undefined;
  /** Training degree of each item. */
  readonly degree: Uint32Array;
  readonly left: {
    /** Test users without any known item. No model can tell them apart. */
    readonly usersWithoutHistory: number;
    /** Edges of fold-in and test to items that training never saw. */
    readonly edgesToUnseenItems: number;
  };
}

/**
 * The ranking task of a split: rows are the users of `historyOf(split)`. With the protocol `split`, candidates are the items of the
 * test part that training saw; with `all-items`, every item of training, and test items that training never saw are misses. `items` names the training items in the scorer's order.
 * @example
 * import { simulate, split, splitRankingTask } from 'graphex';
 * const { graph } = await simulate({ features: 4, users: { size: 30 }, items: { size: 30 }, seed: 1 });
 * const { rows, candidates } = splitRankingTask(split(graph, { testUsers: 0.3, testItems: 0.3, seed: 1 }));
 * console.log(rows, candidates.length); // pass the task to evaluateRanking, with a scorer
 */
export function splitRankingTask(
  split: Split,
  items: VertexIds = split.train.items.ids,
  whole?: WholeTask,
  protocol: Protocol = 'split',
): SplitRankingTask {
  const all = protocol === 'all-items';
  const known = historyOf(split);
  const history = indexByIds(known, items);
  const indexed = indexByIds(split.test, items);
  const had = all ? ownedItems(split, items) : undefined;
  const test = had ? withoutOwned(indexed, split.test, had) : indexed;
  const missed = all ? unseenOf(split.test, items) : undefined;
  // Test rows in the order of the known users, and test users without a history.
  const testRow = new Int32Array(known.users.count).fill(-1);
  const without: number[] = [];
  const { ids } = split.test.users;
  for (let u = 0; u < ids.length; u++) {
    if (test.offsets[u + 1] === test.offsets[u] && !missed?.[u]) continue;
    const row = known.users.ids.find(ids.at(u));
    if (row >= 0 && history.offsets[row + 1] > history.offsets[row]) testRow[row] = u;
    else without.push(u);
  }
  const degree = whole?.degree ?? degreesById(items, split.train.items.ids, degrees(split.train.items));
  const candidates =
    whole?.candidates ??
    (all ? Uint32Array.from({ length: items.length }, (_, item) => item) : itemsIn(test, items.length));
  /** The task of some users: their rows in the test part, −1 for none, and their ids. */
  const taskOf = (rows: ArrayLike<number>, idOf: (row: number) => string, own?: RowLists) => {
    const owned = (row: number, add: (item: number) => void) => {
      for (const item of had!(idOf(row))) add(item);
    };
    return rankingTask({
      rows: rows.length,
      items: items.length,
      relevant: pickLists(test, rows),
      excluded: had ? collectLists(rows.length, owned) : own,
      candidates,
      degree,
      ...(missed && { unseen: Uint32Array.from(rows, (u) => (u < 0 ? 0 : missed[u])) }),
    });
  };
  const task = taskOf(testRow, (row) => known.users.ids.at(row), history);
  if (task.relevant.values.length === 0 && !whole) {
    throw new InputError(
      split.method === 'new-items'
        ? 'the model cannot score any held-out item: fit the training part with a table about the items, which describes the held-out ones too'
        : 'no held-out user has both an item to fold in and a test item that training saw: hold out more users or items',
    );
  }
  const users = without.map((u) => ids.at(u));
  return Object.freeze({
    ...task,
    history: { offsets: history.offsets, values: history.values },
    protocol,
    degree,
    withoutHistory:
      users.length === 0 || split.method === 'new-items'
        ? undefined
        : { users, ...taskOf(without, (row) => users[row]) },
    left: {
      usersWithoutHistory: users.length,
      edgesToUnseenItems: history.unknown + test.unknown,
    },
  });
}

/** Per user id, the items that are not ranked with the protocol all-items: of training, fold-in and validation. */
function ownedItems(split: Split, items: VertexIds): (user: string) => Iterable<number> {
  const parts = [split.train, split.foldIn, ...(split.validation ? [split.validation] : [])];
  const rows = parts.map((part) => itemsByUser(part, items));
  return (user) => new Set(rows.flatMap((itemsOf) => [...itemsOf(user)]));
}

/** The test items that a user does not have in another part. */
function withoutOwned(
  test: RowLists & { readonly unknown: number },
  { users }: BipartiteGraph,
  had: (user: string) => Iterable<number>,
): RowLists & { readonly unknown: number } {
  const lists = collectLists(users.count, (u, add) => {
    const owned = new Set(had(users.ids.at(u)));
    for (let e = test.offsets[u]; e < test.offsets[u + 1]; e++)
      if (!owned.has(test.values[e])) add(test.values[e]);
  });
  return { ...lists, unknown: test.unknown };
}

/** Per test user, the number of test items that training never saw. */
function unseenOf({ users, items: own }: BipartiteGraph, items: VertexIds): Uint32Array {
  const unseen = Uint8Array.from(items.findAll(own.ids), (item) => (item < 0 ? 1 : 0));
  return Uint32Array.from({ length: users.count }, (_, u) => {
    let count = 0;
    for (let e = users.offsets[u]; e < users.offsets[u + 1]; e++) count += unseen[users.neighbors[e]];
    return count;
  });
}

/** What a task of some of the held-out users needs of all: the candidates, and the training degree of each item. */
export interface WholeTask {
  readonly candidates: Uint32Array;
  readonly degree: Uint32Array;
}

/** Degrees in the order of other ids; 0 for unknown ids. */
export function degreesById(items: VertexIds, ids: VertexIds, trained: Uint32Array): Uint32Array {
  const degree = new Uint32Array(items.length);
  for (const [j, item] of items.findAll(ids).entries()) if (item >= 0) degree[item] = trained[j];
  return degree;
}

/** The part with the known items of the test users: fold-in, or training if the split holds out edges. */
export function historyOf(split: Split): BipartiteGraph {
  return split.method !== 'pq' ? split.train : split.foldIn;
}

/** A function that finds the items of a user of a graph, by another graph's ids: ascending, without unknown ones. */
export function itemsByUser(graph: BipartiteGraph, items: VertexIds): (user: string) => Uint32Array {
  const { offsets, values } = indexByIds(graph, items);
  return (user) => {
    const row = graph.users.ids.find(user);
    return row < 0 ? new Uint32Array(0) : values.subarray(offsets[row], offsets[row + 1]);
  };
}

/** The user rows of a graph with items named by another graph's ids; unknown items are dropped and counted. */
export function indexByIds(graph: BipartiteGraph, items: VertexIds): RowLists & { readonly unknown: number } {
  const { offsets, neighbors } = graph.users;
  const lists = renameLists({ offsets, values: neighbors }, items.findAll(graph.items.ids));
  return { ...lists, unknown: neighbors.length - lists.values.length };
}
