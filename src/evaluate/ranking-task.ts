// What is to be ranked, apart from who ranks it: candidates, what is relevant to whom, what is left out.

import type { RankQuery, RankView, RowLists } from '../engine/rank.js';
import { InputError } from '../errors.js';
import { type BipartiteGraph, degrees } from '../graph/graph.js';
import type { VertexIds } from '../graph/ids.js';
import { allocate } from '../math/memory.js';
import { quantile } from '../math/quantile.js';
import type { Split } from '../sample/split-types.js';

/** A ranking problem. Rows are users, in the order of the scorer's rows; items are training items. */
export interface RankingTask {
  readonly rows: number;
  /** Items that are ranked, ascending. */
  readonly candidates: Uint32Array;
  /** Per row, positions in `candidates` of the relevant ones; a row without any is not evaluated. */
  readonly relevant: RowLists;
  /** Per row, positions in `candidates` that are not ranked. */
  readonly excluded: RowLists | undefined;
  /** Positions in `candidates` of the popular items: training degree above its 95th percentile. */
  readonly popular: Uint32Array;
}

/** The ranking problem of a split: what its models see of each row, and what could not be asked. */
export interface SplitRankingTask extends RankingTask {
  /** Per row the known items, by index. */
  readonly history: RowLists;
  readonly left: {
    /** Test users without any known item: they cannot be told apart, and a sparse model has no place for them. */
    readonly usersWithoutHistory: number;
    /** Edges of fold-in and test to items that training never saw. */
    readonly edgesToUnseenItems: number;
  };
}

export interface TaskParts {
  readonly rows: number;
  readonly items: number;
  /** Per row, the relevant items. */
  readonly relevant: RowLists;
  /** Per row, items that are not ranked; none of them relevant. */
  readonly excluded?: RowLists | undefined;
  /** Default: every item that is relevant to some row. */
  readonly candidates?: Uint32Array | undefined;
  /** Training degree of each item; absent: no item counts as popular. */
  readonly degree?: Uint32Array | undefined;
}

/** Checks the parts and turns items into positions among the candidates. */
export function rankingTask(parts: TaskParts): RankingTask {
  const { rows, items, relevant } = parts;
  for (const [name, lists] of [
    ['relevant', relevant],
    ['excluded', parts.excluded],
  ] as const) {
    if (lists && lists.offsets.length !== rows + 1) {
      throw new InputError(
        `${name}: ${lists.offsets.length - 1} lists for ${rows} rows; give one list for each`,
      );
    }
    const wrong = lists?.values.find((item) => item >= items);
    if (wrong !== undefined)
      throw new InputError(`${name}: item ${wrong} of only ${items}; give indexes below that`);
  }
  const candidates = parts.candidates ? sorted(parts.candidates) : itemsIn(relevant, items);
  const position = new Int32Array(items).fill(-1);
  for (let c = 0; c < candidates.length; c++) position[candidates[c]] = c;
  const strange = relevant.values.find((item) => position[item] < 0);
  if (strange !== undefined) {
    throw new InputError(
      `relevant: item ${strange} is not among the ${candidates.length} candidates; add it to them`,
    );
  }
  const excluded = parts.excluded && mapLists(parts.excluded, (item) => position[item]);
  const task = {
    rows,
    candidates,
    relevant: mapLists(relevant, (item) => position[item]),
    excluded: excluded && excluded.values.length > 0 ? excluded : undefined,
    popular: parts.degree ? popularPositions(candidates, parts.degree) : new Uint32Array(0),
  };
  if (task.excluded) checkDisjoint(task.relevant, task.excluded, candidates);
  return Object.freeze(task);
}

/**
 * The ranking problem of a split: rows are the users of `historyOf(split)`, candidates the items of the
 * test part that training saw. `items` names the training items in the scorer's order.
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
  // Test rows, put into the order of the known users; those whose history is empty cannot be asked.
  let usersWithoutHistory = 0;
  const testRow = new Int32Array(rows).fill(-1);
  for (let u = 0; u < split.test.users.count; u++) {
    if (test.offsets[u + 1] === test.offsets[u]) continue;
    const row = known.users.ids.find(split.test.users.ids.at(u));
    if (row >= 0 && history.offsets[row + 1] > history.offsets[row]) testRow[row] = u;
    else usersWithoutHistory++;
  }
  const relevant = collectLists(rows, (row, add) => {
    const u = testRow[row];
    if (u < 0) return;
    for (let e = test.offsets[u]; e < test.offsets[u + 1]; e++) add(test.values[e]);
  });
  if (relevant.values.length === 0 && !whole) {
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

/** What a task of some of the held-out users has of the whole: all candidates, and the training degree of each item. */
export interface WholeTask {
  readonly candidates: Uint32Array;
  readonly degree: Uint32Array;
}

/** Degrees in the order of other ids; 0 where one has none. */
export function degreesById(items: VertexIds, ids: VertexIds, trained: Uint32Array): Uint32Array {
  const degree = new Uint32Array(items.length);
  for (let j = 0; j < trained.length; j++) {
    const item = items.find(ids.at(j));
    if (item >= 0) degree[item] = trained[j];
  }
  return degree;
}

/** The part of a split through which its test users are known: the fold-in part, or training where edges were held out. */
export function historyOf(split: Split): BipartiteGraph {
  return split.method !== 'pq' ? split.train : split.foldIn;
}

/** The same task with some users only. */
export function pickRows(task: RankingTask, rows: ArrayLike<number>): RankingTask {
  const pick = (lists: RowLists) =>
    collectLists(rows.length, (r, add) => {
      for (let e = lists.offsets[rows[r]]; e < lists.offsets[rows[r] + 1]; e++) add(lists.values[e]);
    });
  return Object.freeze({
    ...task,
    rows: rows.length,
    relevant: pick(task.relevant),
    excluded: task.excluded && pick(task.excluded),
  });
}

/** The query of a task: all candidates, then the unpopular ones. */
export function queryOf(task: RankingTask, n: number, depth: number): RankQuery {
  const { candidates, relevant, excluded, popular, rows } = task;
  const views: RankView[] = [{ without: new Uint32Array(0), relevant }];
  if (popular.length > 0) {
    const isPopular = new Uint8Array(candidates.length);
    for (const position of popular) isPopular[position] = 1;
    const kept = collectLists(rows, (row, add) => {
      for (let e = relevant.offsets[row]; e < relevant.offsets[row + 1]; e++) {
        if (!isPopular[relevant.values[e]]) add(relevant.values[e]);
      }
    });
    if (kept.values.length > 0) views.push({ without: popular, relevant: kept });
  }
  return { candidates: candidates.length, views, excluded, depth, top: Math.min(n, depth) };
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

function mapLists(lists: RowLists, position: (item: number) => number): RowLists {
  return collectLists(lists.offsets.length - 1, (row, add) => {
    for (let e = lists.offsets[row]; e < lists.offsets[row + 1]; e++) {
      const at = position(lists.values[e]);
      if (at >= 0) add(at);
    }
  });
}

function itemsIn(lists: RowLists, items: number): Uint32Array {
  const seen = new Uint8Array(items);
  for (const item of lists.values) seen[item] = 1;
  return Uint32Array.from(seen.keys()).filter((item) => seen[item] === 1);
}

function sorted(candidates: Uint32Array): Uint32Array {
  return Uint32Array.from(new Set(candidates)).sort();
}

/** Positions of the candidates whose degree is above the 95th percentile of the degrees of items that have any. */
function popularPositions(candidates: Uint32Array, degree: Uint32Array): Uint32Array {
  const known = degree.filter((d) => d > 0).sort();
  if (known.length === 0) return new Uint32Array(0);
  const cut = quantile(known, 0.95);
  const positions: number[] = [];
  for (let c = 0; c < candidates.length; c++) if (degree[candidates[c]] > cut) positions.push(c);
  return Uint32Array.from(positions);
}

function checkDisjoint(relevant: RowLists, excluded: RowLists, candidates: Uint32Array): void {
  for (let row = 0; row + 1 < relevant.offsets.length; row++) {
    const out = new Set(excluded.values.subarray(excluded.offsets[row], excluded.offsets[row + 1]));
    for (let e = relevant.offsets[row]; out.size > 0 && e < relevant.offsets[row + 1]; e++) {
      if (out.has(relevant.values[e])) {
        const item = candidates[relevant.values[e]];
        throw new InputError(
          `row ${row}: item ${item} is both relevant and excluded; take it out of one of the lists`,
        );
      }
    }
  }
}
