import { sharedUint32, transposeRows } from '../graph/build.js';
import type { BipartiteGraph, GraphSide } from '../graph/graph.js';

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
    for (let e = offsets[user]!; e < offsets[user + 1]!; e++) {
      if (labels[e] !== label) continue;
      itemDegree[neighbors[e]!]!++;
      edges++;
    }
    userDegree[user] = edges - before;
  }
  const users = withEdges(userDegree);
  const items = withEdges(itemDegree);

  const newItem = new Uint32Array(itemDegree.length);
  for (let item = 0; item < items.length; item++) newItem[items[item]!] = item;
  const newOffsets = sharedUint32(users.length + 1);
  const newNeighbors = sharedUint32(edges);
  const newCounts = counts ? sharedUint32(edges) : undefined;
  let total = 0;
  let at = 0;
  for (let user = 0; user < users.length; user++) {
    const old = users[user]!;
    for (let e = offsets[old]!; e < offsets[old + 1]!; e++) {
      if (labels[e] !== label) continue;
      newNeighbors[at] = newItem[neighbors[e]!]!;
      if (newCounts) total += newCounts[at] = counts![e]!;
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
  });
}

/** The vertices of degree above 0, ascending. */
function withEdges(degree: Uint32Array): Uint32Array {
  let kept = 0;
  for (let v = 0; v < degree.length; v++) if (degree[v]! > 0) kept++;
  const vertices = new Uint32Array(kept);
  let at = 0;
  for (let v = 0; v < degree.length; v++) if (degree[v]! > 0) vertices[at++] = v;
  return vertices;
}
