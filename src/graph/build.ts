// Builds a graph from pairs with two counting sorts. Sorting by item and then, stably, by user gives both orders with
// ascending neighbours, so that equal pairs are adjacent and merge in one walk.

import { InputError } from '../errors.js';
import { allocate } from '../math/memory.js';
import type { SideNames } from '../text/sides.js';
import { type BipartiteGraph, createGraph } from './graph.js';
import { VertexIds } from './ids.js';

/** The most edges a graph can hold: positions are unsigned 32-bit, neighbours below 2^31. */
export const MAX_EDGES = 2 ** 31;
/** The largest count of an edge. */
export const MAX_COUNT = 2 ** 32 - 1;

interface EdgeList {
  /** Vertex of each row, 0 … userCount−1. */
  readonly users: ArrayLike<number>;
  readonly items: ArrayLike<number>;
  /** Count of each row (whole, ≥ 1). Default 1. */
  readonly counts?: ArrayLike<number> | undefined;
  readonly userCount: number;
  readonly itemCount: number;
  readonly userIds?: VertexIds;
  readonly itemIds?: VertexIds;
  /** Keep counts (adding those of equal pairs), or merge equal pairs into one edge. */
  readonly multigraph?: boolean;
  /** The names of the two sides: `sideNames({ users: 'customers', items: 'products' })`. */
  readonly names?: SideNames | undefined;
}

/** Builds the graph. It keeps vertices without an edge; the caller leaves them out if they are not wanted. */
export function buildGraph(list: EdgeList): BipartiteGraph {
  const { users, items, userCount, itemCount } = list;
  const rows = users.length;
  if (rows >= MAX_EDGES) {
    throw new InputError(`${rows} rows: a graph holds at most ${MAX_EDGES - 1} edges; sample the data first`);
  }
  const multigraph = list.multigraph ?? false;
  const counts = multigraph ? list.counts : undefined;

  const itemStart = new Uint32Array(itemCount + 1);
  for (let e = 0; e < rows; e++) itemStart[items[e] + 1]++;
  for (let v = 0; v < itemCount; v++) itemStart[v + 1] += itemStart[v];
  requireAll('items', itemStart[itemCount] - itemStart[0], rows, itemCount);
  const cursor = itemStart.slice(0, itemCount);
  const userByItem = new Uint32Array(rows);
  const countByItem = multigraph ? new Uint32Array(rows) : undefined;
  for (let e = 0; e < rows; e++) {
    const at = cursor[items[e]]++;
    userByItem[at] = users[e];
    if (countByItem) countByItem[at] = counts ? counts[e] : 1;
  }

  // Within a user, items come out ascending, so equal pairs are adjacent.
  const userStart = new Uint32Array(userCount + 1);
  for (let e = 0; e < rows; e++) userStart[userByItem[e] + 1]++;
  for (let v = 0; v < userCount; v++) userStart[v + 1] += userStart[v];
  requireAll('users', userStart[userCount] - userStart[0], rows, userCount);
  const userCursor = userStart.slice(0, userCount);
  const itemByUser = allocate(Uint32Array, rows);
  const countByUser = multigraph ? allocate(Uint32Array, rows) : undefined;
  for (let item = 0; item < itemCount; item++) {
    for (let e = itemStart[item]; e < itemStart[item + 1]; e++) {
      const at = userCursor[userByItem[e]]++;
      itemByUser[at] = item;
      if (countByUser) countByUser[at] = countByItem![e];
    }
  }

  // Merge equal neighbours in place.
  let edges = 0;
  const offsets = allocate(Uint32Array, userCount + 1);
  for (let user = 0; user < userCount; user++) {
    offsets[user] = edges;
    const first = edges;
    for (let e = userStart[user]; e < userStart[user + 1]; e++) {
      const item = itemByUser[e];
      if (edges > first && itemByUser[edges - 1] === item) {
        if (countByUser) countByUser[edges - 1] = addCounts(countByUser[edges - 1], countByUser[e]);
      } else {
        if (countByUser) countByUser[edges] = countByUser[e];
        itemByUser[edges++] = item;
      }
    }
  }
  offsets[userCount] = edges;
  return createGraph({
    userIds: list.userIds ?? VertexIds.range(userCount),
    itemIds: list.itemIds ?? VertexIds.range(itemCount),
    byUser: {
      offsets,
      neighbors: firstOf(itemByUser, edges),
      counts: countByUser && firstOf(countByUser, edges),
    },
    names: list.names,
  });
}

/** The counting ignores vertices that are out of range, so a missing row reveals them. */
function requireAll(side: string, counted: number, rows: number, count: number): void {
  if (counted === rows) return;
  throw new InputError(
    `${rows - counted} rows name ${side} outside 0 … ${count - 1}; number the ${side} first`,
  );
}

export function addCounts(a: number, b: number): number {
  if (a + b <= MAX_COUNT) return a + b;
  throw new InputError(
    `the counts of one pair add up to ${a + b}; at most ${MAX_COUNT} fit, so scale the counts down`,
  );
}

/** The first `length` values; copies only if some are left out. */
export function firstOf(values: Uint32Array, length: number): Uint32Array {
  if (length === values.length) return values;
  const result = allocate(Uint32Array, length);
  result.set(values.subarray(0, length));
  return result;
}
