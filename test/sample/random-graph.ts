import fc from 'fast-check';
import { buildGraph } from '../../src/graph/build.js';
import type { BipartiteGraph } from '../../src/graph/graph.js';
import { VertexIds } from '../../src/graph/ids.js';

/** Every edge as 'user item count', sorted. */
export function edgeList(graph: BipartiteGraph): string[] {
  const edges: string[] = [];
  for (let user = 0; user < graph.users.count; user++) {
    for (let e = graph.users.offsets[user]; e < graph.users.offsets[user + 1]; e++) {
      const item = graph.users.neighbors[e];
      edges.push(`${graph.users.ids.at(user)} ${graph.items.ids.at(item)} ${graph.users.counts?.[e] ?? 1}`);
    }
  }
  return edges.sort();
}

/** A graph of the given pairs; vertices without an edge are left out, ids are kept. */
export function graphOf(pairs: readonly (readonly [number, number])[], multigraph = false): BipartiteGraph {
  const userIds = [...new Set(pairs.map((p) => p[0]))].sort((a, b) => a - b);
  const itemIds = [...new Set(pairs.map((p) => p[1]))].sort((a, b) => a - b);
  return buildGraph({
    users: pairs.map((p) => userIds.indexOf(p[0])),
    items: pairs.map((p) => itemIds.indexOf(p[1])),
    userCount: userIds.length,
    itemCount: itemIds.length,
    userIds: VertexIds.integers(Float64Array.from(userIds, (u) => 10 * u)),
    itemIds: VertexIds.texts(itemIds.map((i) => `i${String(i).padStart(3, '0')}`)),
    multigraph,
  });
}

export const someGraph = fc
  .tuple(fc.array(fc.tuple(fc.nat(40), fc.nat(25)), { minLength: 30, maxLength: 400 }), fc.boolean())
  .map(([pairs, multigraph]) => graphOf(pairs, multigraph));

/** Both orders hold the same edges; neighbours ascend; no vertex is isolated. */
export function problems(graph: BipartiteGraph): string[] {
  const found: string[] = [];
  for (const [name, side, other] of [
    ['users', graph.users, graph.items],
    ['items', graph.items, graph.users],
  ] as const) {
    if (side.offsets.length !== side.count + 1) found.push(`${name}: offsets`);
    if (side.ids.length !== side.count) found.push(`${name}: ids`);
    for (let v = 0; v < side.count; v++) {
      if (side.offsets[v + 1] <= side.offsets[v]) found.push(`${name} ${v}: isolated`);
      for (let e = side.offsets[v]; e < side.offsets[v + 1]; e++) {
        if (side.neighbors[e] >= other.count) found.push(`${name} ${v}: neighbour out of range`);
        if (e > side.offsets[v] && side.neighbors[e] <= side.neighbors[e - 1])
          found.push(`${name} ${v}: order`);
      }
    }
  }
  const sum = (counts: Uint32Array | undefined) => counts?.reduce((a, b) => a + b, 0) ?? graph.edges;
  if (graph.total !== sum(graph.users.counts) || graph.total !== sum(graph.items.counts)) found.push('total');
  if (graph.users.neighbors.length !== graph.edges || graph.items.neighbors.length !== graph.edges)
    found.push('edges');
  return found;
}
