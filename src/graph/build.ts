// Builds a graph from pairs with two counting sorts. Sorting by item and then, stably, by user gives both orders with
// ascending neighbours, so that equal pairs are adjacent and merge in one walk.

import { InputError } from '../errors.js';
import { type EdgeRows, transposeRows } from '../math/csr.js';
import { allocate } from '../math/memory.js';
import type { SideNames } from '../text/sides.js';
import { type BipartiteGraph, createGraph } from './graph.js';
import { VertexIds } from './ids.js';

/** The most edges a graph can hold: positions are unsigned 32-bit, neighbours below 2^31. */
export const MAX_EDGES = 2 ** 31;
/** The largest count of one row and of one edge. */
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
  const { users, userCount, itemCount } = list;
  const rows = users.length;
  if (rows >= MAX_EDGES) {
    throw new InputError(`${rows} rows: a graph holds at most ${MAX_EDGES - 1} edges; sample the data first`);
  }
  const byItem = groupByItem(list);
  // Within a user, items come out ascending, so equal pairs are adjacent.
  const byUser = transposeRows(byItem, userCount);
  requireAll('users', byUser.offsets[userCount], rows, userCount);
  const offsets = allocate(Uint32Array, userCount + 1);
  const edges = mergeEqual(byUser, byUser.offsets, offsets);
  offsets[userCount] = edges;
  return createGraph({
    userIds: list.userIds ?? VertexIds.range(userCount),
    itemIds: list.itemIds ?? VertexIds.range(itemCount),
    byUser: {
      offsets,
      neighbors: firstOf(byUser.neighbors, edges),
      counts: byUser.counts && firstOf(byUser.counts, edges),
    },
    names: list.names,
  });
}

function groupByItem({ users, items, itemCount, counts, multigraph }: EdgeList): EdgeRows {
  const rows = users.length;
  const offsets = new Uint32Array(itemCount + 1);
  for (let e = 0; e < rows; e++) offsets[items[e] + 1]++;
  for (let v = 0; v < itemCount; v++) offsets[v + 1] += offsets[v];
  requireAll('items', offsets[itemCount] - offsets[0], rows, itemCount);
  const cursor = offsets.slice(0, itemCount);
  const neighbors = new Uint32Array(rows);
  const times = multigraph ? new Uint32Array(rows) : undefined;
  for (let e = 0; e < rows; e++) {
    const at = cursor[items[e]]++;
    neighbors[at] = users[e];
    if (times) times[at] = counts ? counts[e] : 1;
  }
  return { offsets, neighbors, counts: times };
}

/**
 * Merges equal neighbours of the vertices from `first` on, whose edges begin at `starts` and ascend. Works in place, writes where the edges
 * of each vertex begin afterwards, and returns their number.
 */
export function mergeEqual(
  { neighbors, counts }: Pick<EdgeRows, 'neighbors' | 'counts'>,
  starts: Uint32Array,
  offsets: Uint32Array,
  first = 0,
): number {
  let edges = 0;
  for (let v = 0; v + 1 < starts.length; v++) {
    offsets[first + v] = edges;
    const stop = starts[v + 1];
    let before = -1;
    for (let e = starts[v]; e < stop; e++) {
      const neighbor = neighbors[e];
      if (neighbor !== before) {
        if (counts) counts[edges] = counts[e];
        neighbors[edges++] = neighbor;
      } else if (counts) counts[edges - 1] = addCounts(counts[edges - 1], counts[e]);
      before = neighbor;
    }
  }
  return edges;
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
