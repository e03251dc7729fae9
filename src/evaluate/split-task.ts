// The ranking task of a split.

import { InputError } from '../errors.js';
import { type BipartiteGraph, degrees } from '../graph/graph.js';
import type { VertexIds } from '../graph/ids.js';
import { collectLists, pickLists, type RowLists } from '../math/csr.js';
import { itemsIn, type RankingTask, rankingTask } from '../metrics/ranking-task.js';
import type { Split } from '../sample/split-types.js';

/** The ranking task of a split, with what models know of each row and what cannot be evaluated. */
export interface SplitRankingTask extends RankingTask {
  /** Per row the known items, by index. */
  readonly history: RowLists;
  readonly left: {
    /** Test users without any known item. No model can tell them apart, so they are not evaluated. */
    readonly usersWithoutHistory: number;
    /** Edges of fold-in and test to items that training never saw. */
    readonly edgesToUnseenItems: number;
  };
}

/**
 * The ranking task of a split: rows are the users of `historyOf(split)`, candidates the items of the
 * test part that training saw. `items` names the training items in the scorer's order.
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
): SplitRankingTask {
  const count = items.length;
  const known = historyOf(split);
  const history = indexByIds(known, items);
  const test = indexByIds(split.test, items);
  const rows = known.users.count;
  // Test rows in the order of the known users. Users with an empty history are not evaluated.
  let usersWithoutHistory = 0;
  const testRow = new Int32Array(rows).fill(-1);
  for (let u = 0; u < split.test.users.count; u++) {
    if (test.offsets[u + 1] === test.offsets[u]) continue;
    const row = known.users.ids.find(split.test.users.ids.at(u));
    if (row >= 0 && history.offsets[row + 1] > history.offsets[row]) testRow[row] = u;
    else usersWithoutHistory++;
  }
  const relevant = pickLists(test, testRow);
  if (relevant.values.length === 0 && !whole) {
    if (split.method === 'new-items') {
      throw new InputError(
        'the model cannot score any held-out item: fit the training part with a table about the items, which describes the held-out ones too',
      );
    }
    throw new InputError(
      'no held-out user has both an item to fold in and a test item that training saw: hold out more users or items',
    );
  }
  const degree = whole?.degree ?? degreesById(items, split.train.items.ids, degrees(split.train.items));
  const candidates = whole?.candidates ?? itemsIn({ offsets: test.offsets, values: test.values }, count);
  return Object.freeze({
    ...rankingTask({ rows, items: count, relevant, excluded: history, candidates, degree }),
    history: { offsets: history.offsets, values: history.values },
    left: {
      usersWithoutHistory,
      edgesToUnseenItems: history.unknown + test.unknown,
    },
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
  for (let j = 0; j < trained.length; j++) {
    const item = items.find(ids.at(j));
    if (item >= 0) degree[item] = trained[j];
  }
  return degree;
}

/** The part with the known items of the test users: fold-in, or training if the split holds out edges. */
export function historyOf(split: Split): BipartiteGraph {
  return split.method !== 'pq' ? split.train : split.foldIn;
}

/** The user rows of a graph with items named by another graph's ids; unknown items are dropped and counted. */
export function indexByIds(graph: BipartiteGraph, items: VertexIds): RowLists & { readonly unknown: number } {
  const map = Int32Array.from({ length: graph.items.count }, (_, j) => items.find(graph.items.ids.at(j)));
  let unknown = 0;
  const lists = collectLists(graph.users.count, (u, add) => {
    for (let e = graph.users.offsets[u]; e < graph.users.offsets[u + 1]; e++) {
      const item = map[graph.users.neighbors[e]];
      if (item >= 0) add(item);
      else unknown++;
    }
  });
  return { ...lists, unknown };
}
