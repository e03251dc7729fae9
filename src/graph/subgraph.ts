import { allocate } from '../math/memory.js';
import { transposeRows } from './build.js';
import type { BipartiteGraph, GraphSide } from './graph.js';

/**
 * The graph of the edges whose label is the given one; vertices left without an edge are dropped, the others keep their
 * ids and their order. `labels` has one entry per edge, in the order of graph.users.neighbors.
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
  let total = 0;
  let at = 0;
  for (let user = 0; user < users.length; user++) {
    const old = users[user];
    for (let e = offsets[old]; e < offsets[old + 1]; e++) {
      if (labels[e] !== label) continue;
      newNeighbors[at] = newItem[neighbors[e]];
      if (newCounts) total += newCounts[at] = counts![e];
      at++;
    }
    newOffsets[user + 1] = at;
  }

  const userSide: GraphSide = Object.freeze({
    count: users.length,
    ids: graph.users.ids.pick(users),
    offsets: newOffsets,
    neighbors: newNeighbors,
    counts: newCounts,
  });
  const itemSide: GraphSide = Object.freeze({
    count: items.length,
    ids: graph.items.ids.pick(items),
    ...transposeRows(userSide, items.length),
  });
  return Object.freeze({
    users: userSide,
    items: itemSide,
    edges,
    total: newCounts ? total : edges,
    multigraph: graph.multigraph,
    ...(graph.names && { names: graph.names }),
  });
}

/**
 * The graph between the vertices whose mask is 1; isolated ones are dropped. The same as selectEdges for such edges, but
 * each order is read straight through, where scattering ten million edges would miss the cache at every one.
 */
export function selectVertices(graph: BipartiteGraph, users: Uint8Array, items: Uint8Array): BipartiteGraph {
  const userDegree = innerDegrees(graph.users, users, items);
  const itemDegree = innerDegrees(graph.items, items, users);
  const userSide = selectSide(graph.users, userDegree, itemDegree);
  const itemSide = selectSide(graph.items, itemDegree, userDegree);
  return ofSides(graph, userSide, itemSide);
}

/** The graph without the edges of the items whose mask is 0; every vertex stays, in its place, if without an edge. */
export function dropEdgesOfItems(graph: BipartiteGraph, kept: Uint8Array): BipartiteGraph {
  const { users, items } = graph;
  const everyone = new Uint8Array(users.count).fill(1);
  const [allUsers, allItems] = [users, items].map(({ count }) =>
    Uint32Array.from({ length: count }, (_, v) => v),
  );
  const keptItem = Uint32Array.from(kept, (one, j) => one * (j + 1));
  const keptUser = Uint32Array.from(everyone, (_, i) => i + 1);
  return ofSides(
    graph,
    Object.freeze({
      ...{ count: users.count, ids: users.ids },
      ...takeRows(users, allUsers, innerDegrees(users, everyone, kept), keptItem),
    }),
    Object.freeze({
      ...{ count: items.count, ids: items.ids },
      ...takeRows(items, allItems, innerDegrees(items, kept, everyone), keptUser),
    }),
  );
}

function ofSides({ multigraph, names }: BipartiteGraph, users: GraphSide, items: GraphSide): BipartiteGraph {
  const edges = users.neighbors.length;
  const total = users.counts ? users.counts.reduce((sum, count) => sum + count, 0) : edges;
  return Object.freeze({ users, items, edges, total, multigraph, ...(names && { names }) });
}

/** How many neighbours in `other` each vertex of `own` has. */
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

/** The rows of the vertices of positive degree, with neighbours of positive degree, renumbered. */
function selectSide(side: GraphSide, degree: Uint32Array, otherDegree: Uint32Array): GraphSide {
  const vertices = withEdges(degree);
  const place = new Uint32Array(otherDegree.length); // one more than the new number; 0: dropped
  for (let v = 0, next = 1; v < place.length; v++) if (otherDegree[v] > 0) place[v] = next++;
  return Object.freeze({
    ...{ count: vertices.length, ids: side.ids.pick(vertices) },
    ...takeRows(side, vertices, degree, place),
  });
}

/** The rows of so many vertices, each with as many neighbours as its degree says: those with a place, which counts from 1. */
function takeRows(
  side: GraphSide,
  vertices: Uint32Array,
  degree: Uint32Array,
  place: Uint32Array,
): Pick<GraphSide, 'offsets' | 'neighbors' | 'counts'> {
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
      const next = place[side.neighbors[e]];
      if (next === 0) continue;
      neighbors[at] = next - 1;
      if (counts) counts[at] = side.counts![e];
      at++;
    }
  }
  return { offsets, neighbors, counts };
}

/** The vertices of degree above 0, ascending. */
function withEdges(degree: Uint32Array): Uint32Array {
  let kept = 0;
  for (let v = 0; v < degree.length; v++) if (degree[v] > 0) kept++;
  const vertices = new Uint32Array(kept);
  let at = 0;
  for (let v = 0; v < degree.length; v++) if (degree[v] > 0) vertices[at++] = v;
  return vertices;
}
