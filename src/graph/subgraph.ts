import { type EdgeRows, positivePlaces } from '../math/csr.js';
import { allocate } from '../math/memory.js';
import { type BipartiteGraph, createGraph, type GraphSide } from './graph.js';

/**
 * The graph of the edges that have the given label. Vertices left without an edge are dropped; the others keep their ids
 * and their order. `labels` has one entry per edge, in the order of graph.users.neighbors.
 */
export function selectEdges(graph: BipartiteGraph, labels: Uint8Array, label: number): BipartiteGraph {
  const { rows, edges } = labelledEdges(graph.users, labels, label);
  const { neighbors } = edges;
  const itemDegree = new Uint32Array(graph.items.count);
  for (let e = 0; e < neighbors.length; e++) itemDegree[neighbors[e]]++;
  const number = numbersOf(itemDegree);
  for (let e = 0; e < neighbors.length; e++) neighbors[e] = number[neighbors[e]] - 1;
  return createGraph({
    userIds: graph.users.ids.pick(rows),
    itemIds: graph.items.ids.pick(positivePlaces(itemDegree)),
    byUser: edges,
    names: graph.names,
  });
}

/** The edges that have the given label, and the rows that have such an edge: the others are left out. */
export function labelledEdges(
  side: EdgeRows,
  labels: Uint8Array,
  label: number,
): { readonly rows: Uint32Array; readonly edges: EdgeRows } {
  const degree = new Uint32Array(side.offsets.length - 1);
  for (let row = 0; row < degree.length; row++) {
    let found = 0;
    for (let e = side.offsets[row]; e < side.offsets[row + 1]; e++) if (labels[e] === label) found++;
    degree[row] = found;
  }
  const rows = positivePlaces(degree);
  const offsets = allocate(Uint32Array, rows.length + 1);
  for (let row = 0; row < rows.length; row++) offsets[row + 1] = offsets[row] + degree[rows[row]];
  const neighbors = allocate(Uint32Array, offsets[rows.length]);
  const counts = side.counts && allocate(Uint32Array, neighbors.length);
  for (let e = 0, at = 0; at < neighbors.length; e++) {
    if (labels[e] !== label) continue;
    neighbors[at] = side.neighbors[e];
    if (counts) counts[at] = side.counts![e];
    at++;
  }
  return { rows, edges: { offsets, neighbors, counts } };
}

/**
 * The graph between the vertices whose mask is 1; isolated vertices are dropped. Equivalent to selectEdges, but it reads
 * each order sequentially: scattering ten million edges would miss the cache at each of them.
 */
export function selectVertices(graph: BipartiteGraph, users: Uint8Array, items: Uint8Array): BipartiteGraph {
  const userDegree = innerDegrees(graph.users, users, items);
  const itemDegree = innerDegrees(graph.items, items, users);
  const keptUsers = positivePlaces(userDegree);
  const keptItems = positivePlaces(itemDegree);
  return createGraph({
    userIds: graph.users.ids.pick(keptUsers),
    itemIds: graph.items.ids.pick(keptItems),
    byUser: takeRows(graph.users, keptUsers, userDegree, numbersOf(itemDegree)),
    byItem: takeRows(graph.items, keptItems, itemDegree, numbersOf(userDegree)),
    names: graph.names,
  });
}

/** The graph without the edges of the items whose mask is 0. All vertices stay, even without an edge. */
export function dropEdgesOfItems(graph: BipartiteGraph, kept: Uint8Array): BipartiteGraph {
  const { users, items, names } = graph;
  const everyone = new Uint8Array(users.count).fill(1);
  const all = Uint32Array.from(everyone.keys());
  const number = Uint32Array.from(kept, (one, j) => one * (j + 1));
  return createGraph({
    userIds: users.ids,
    itemIds: items.ids,
    byUser: takeRows(users, all, innerDegrees(users, everyone, kept), number),
    names,
  });
}

/** The number of neighbours in `other` of each vertex of `own`. */
export function innerDegrees(side: GraphSide, own: Uint8Array, other: Uint8Array): Uint32Array {
  const { offsets, neighbors, count } = side;
  const degree = new Uint32Array(count);
  for (let v = 0; v < count; v++) {
    if (own[v] === 0) continue;
    const end = offsets[v + 1];
    let found = 0;
    for (let e = offsets[v]; e < end; e++) found += other[neighbors[e]];
    degree[v] = found;
  }
  return degree;
}

/** The new number of each vertex of positive degree, plus one; 0 for the others. */
function numbersOf(degree: Uint32Array): Uint32Array {
  const numbers = new Uint32Array(degree.length);
  for (let v = 0, next = 1; v < numbers.length; v++) if (degree[v] > 0) numbers[v] = next++;
  return numbers;
}

/** The rows of `vertices`, restricted to neighbours that have a number; `degree` counts those. */
function takeRows(side: EdgeRows, vertices: Uint32Array, degree: Uint32Array, number: Uint32Array): EdgeRows {
  const offsets = allocate(Uint32Array, vertices.length + 1);
  for (let v = 0; v < vertices.length; v++) offsets[v + 1] = offsets[v] + degree[vertices[v]];
  const edges = offsets[vertices.length];
  const neighbors = allocate(Uint32Array, edges);
  const counts = side.counts ? allocate(Uint32Array, edges) : undefined;
  let at = 0;
  for (let v = 0; v < vertices.length; v++) {
    const old = vertices[v];
    if (degree[old] === 0) continue;
    const end = side.offsets[old + 1];
    for (let e = side.offsets[old]; e < end; e++) {
      const next = number[side.neighbors[e]];
      if (next === 0) continue;
      neighbors[at] = next - 1;
      if (counts) counts[at] = side.counts![e];
      at++;
    }
  }
  return { offsets, neighbors, counts };
}
