// Pairs → graph: two counting sorts, no comparison sort. Sorting by item and then, stably, by user gives the rows of
// both orders with ascending neighbours, so that equal pairs lie side by side and merge in one walk.

import { InputError } from '../errors.js';
import { allocate } from '../math/memory.js';
import type { SideNames } from '../text/sides.js';
import type { BipartiteGraph, GraphSide } from './graph.js';
import { VertexIds } from './ids.js';

/** The most edges a graph can hold: positions are unsigned 32-bit, neighbours below 2^31. */
export const MAX_EDGES = 2 ** 31;

export interface EdgeList {
  /** Vertex of each row, 0 … userCount−1. */
  readonly users: ArrayLike<number>;
  readonly items: ArrayLike<number>;
  /** Count of each row (whole, ≥ 1); absent: 1. */
  readonly counts?: ArrayLike<number> | undefined;
  readonly userCount: number;
  readonly itemCount: number;
  readonly userIds?: VertexIds;
  readonly itemIds?: VertexIds;
  /** Keep counts (adding those of equal pairs), or merge equal pairs into one edge. */
  readonly multigraph?: boolean;
  /** What people call the two sides: `sideNames({ users: 'customers', items: 'products' })`. */
  readonly names?: SideNames | undefined;
}

/** Builds the graph. Vertices without an edge must have been left out by the caller if they are not wanted. */
export function buildGraph(list: EdgeList): BipartiteGraph {
  const { users, items, userCount, itemCount } = list;
  const rows = users.length;
  if (rows >= MAX_EDGES) {
    throw new InputError(`${rows} rows: a graph holds at most ${MAX_EDGES - 1} edges; sample the data first`);
  }
  const multigraph = list.multigraph ?? false;
  const counts = multigraph ? list.counts : undefined;

  // Stable counting sort by item.
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

  // Then by user: within a user, items come out ascending, so equal pairs are adjacent.
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
  const neighbors = firstOf(itemByUser, edges);
  const merged = countByUser && firstOf(countByUser, edges);
  let total = edges;
  if (merged) {
    total = 0;
    for (let e = 0; e < edges; e++) total += merged[e];
  }

  const userSide: GraphSide = Object.freeze({
    count: userCount,
    ids: list.userIds ?? VertexIds.range(userCount),
    offsets,
    neighbors,
    counts: merged,
  });
  const itemSide: GraphSide = Object.freeze({
    count: itemCount,
    ids: list.itemIds ?? VertexIds.range(itemCount),
    ...transposeRows(userSide, itemCount),
  });
  return Object.freeze({
    users: userSide,
    items: itemSide,
    edges,
    total,
    multigraph,
    ...(list.names && { names: list.names }),
  });
}

/** Out-of-range vertices fall through the counting; rows that were not counted betray them. */
function requireAll(side: string, counted: number, rows: number, count: number): void {
  if (counted === rows) return;
  throw new InputError(
    `${rows - counted} rows name ${side} outside 0 … ${count - 1}; number the ${side} first`,
  );
}

/** The sum of two counts of one pair. */
export function addCounts(a: number, b: number): number {
  if (a + b < 2 ** 32) return a + b;
  throw new InputError(
    `the counts of one pair add up to ${a + b}; at most ${2 ** 32 - 1} fit, scale the counts down`,
  );
}

/** The first `length` values; a copy only where some are left out. */
export function firstOf(values: Uint32Array, length: number): Uint32Array {
  if (length === values.length) return values;
  const result = allocate(Uint32Array, length);
  result.set(values.subarray(0, length));
  return result;
}

/** The same edges grouped by the other side. */
export function transposeRows(
  side: Pick<GraphSide, 'count' | 'offsets' | 'neighbors' | 'counts'>,
  otherCount: number,
): Pick<GraphSide, 'offsets' | 'neighbors' | 'counts'> {
  const edges = side.neighbors.length;
  const offsets = allocate(Uint32Array, otherCount + 1);
  for (let e = 0; e < edges; e++) offsets[side.neighbors[e] + 1]++;
  for (let v = 0; v < otherCount; v++) offsets[v + 1] += offsets[v];
  const cursor = offsets.slice(0, otherCount);
  const neighbors = allocate(Uint32Array, edges);
  const counts = side.counts ? allocate(Uint32Array, edges) : undefined;
  for (let v = 0; v < side.count; v++) {
    for (let e = side.offsets[v]; e < side.offsets[v + 1]; e++) {
      const at = cursor[side.neighbors[e]]++;
      neighbors[at] = v;
      if (counts) counts[at] = side.counts![e];
    }
  }
  return { offsets, neighbors, counts };
}
