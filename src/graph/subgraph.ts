import type { EdgeRows } from '../math/csr.js';
import { allocate } from '../math/memory.js';
import { type BipartiteGraph, createGraph, type GraphSide } from './graph.js';

/**
 * The graph of the edges that have the given label. Vertices left without an edge are dropped; the others keep their ids
 * and their order. `labels` has one entry per edge, in the order of graph.users.neighbors.
 */
export function selectEdges(graph: BipartiteGraph, labels: Uint8Array, label: number): BipartiteGraph {
  const { offsets, neighbors, counts } = graph.users;
  const userDegree = new Uint32Array(graph.users.count);
  const itemDegree = new Uint32Array(graph.items.count);
  let edges = 0;
  for (let user = 0; user < userDegree.length; user++) {
    const before = edges;
    for (let e = offsets[user]; e < offsets[user + 1]; e++) {
      if (labels[e] !== label) continue;
      itemDegree[neighbors[e]]++;
      edges++;
    }
    userDegree[user] = edges - before;
  }
  const users = withEdges(userDegree);
  const items = withEdges(itemDegree);

  const newItem = new Uint32Array(itemDegree.length);
  for (let item = 0; item < items.length; item++) newItem[items[item]] = item;
  const newOffsets = allocate(Uint32Array, users.length + 1);
  const newNeighbors = allocate(Uint32Array, edges);
  const newCounts = counts ? allocate(Uint32Array, edges) : undefined;
  let at = 0;
  for (let user = 0; user < users.length; user++) {
    const old = users[user];
    for (let e = offsets[old]; e < offsets[old + 1]; e++) {
      if (labels[e] !== label) continue;
      newNeighbors[at] = newItem[neighbors[e]];
      if (newCounts) newCounts[at] = counts![e];
      at++;
    }
    newOffsets[user + 1] = at;
  }

  return createGraph({
    userIds: graph.users.ids.pick(users),
    itemIds: graph.items.ids.pick(items),
    byUser: { offsets: newOffsets, neighbors: newNeighbors, counts: newCounts },
    names: graph.names,
  });
}

/**
 * The graph between the vertices whose mask is 1; isolated vertices are dropped. Equivalent to selectEdges, but it reads
 * each order sequentially: scattering ten million edges would miss the cache at each of them.
 */
export function selectVertices(graph: BipartiteGraph, users: Uint8Array, items: Uint8Array): BipartiteGraph {
  const userDegree = innerDegrees(graph.users, users, items);
  const itemDegree = innerDegrees(graph.items, items, users);
  const keptUsers = withEdges(userDegree);
  const keptItems = withEdges(itemDegree);
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
  const [allUsers, allItems] = [users, items].map(({ count }) =>
    Uint32Array.from({ length: count }, (_, v) => v),
  );
  const itemNumber = Uint32Array.from(kept, (one, j) => one * (j + 1));
  const userNumber = Uint32Array.from(everyone, (_, i) => i + 1);
  return createGraph({
    userIds: users.ids,
    itemIds: items.ids,
    byUser: takeRows(users, allUsers, innerDegrees(users, everyone, kept), itemNumber),
    byItem: takeRows(items, allItems, innerDegrees(items, kept, everyone), userNumber),
    names,
  });
}

/** The number of neighbours in `other` of each vertex of `own`. */
function innerDegrees(side: GraphSide, own: Uint8Array, other: Uint8Array): Uint32Array {
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

function withEdges(degree: Uint32Array): Uint32Array {
  let kept = 0;
  for (let v = 0; v < degree.length; v++) if (degree[v] > 0) kept++;
  const vertices = new Uint32Array(kept);
  let at = 0;
  for (let v = 0; v < degree.length; v++) if (degree[v] > 0) vertices[at++] = v;
  return vertices;
}
