// The whole graph of a split's parts, and a split of tables that somebody else made.

import { buildGraph } from '../graph/build.js';
import { fingerprint } from '../graph/fingerprint.js';
import type { BipartiteGraph } from '../graph/graph.js';
import { joinIds, VertexIds } from '../graph/ids.js';
import { selectEdges } from '../graph/subgraph.js';
import type { Split } from './split-types.js';

/** The parts of a split that was made elsewhere. */
export interface GivenParts {
  readonly train: BipartiteGraph;
  readonly test: BipartiteGraph;
  readonly validation?: BipartiteGraph | undefined;
  /** The times of the training edges, in the order of train.users.neighbors. */
  readonly times?: Float64Array | undefined;
}

/** The graph of all parts of a split, over the ids of its random draws. */
export function wholeGraph({ train, foldIn, test, validation, assignment }: Split): BipartiteGraph {
  const parts = [train, foldIn, test, ...(validation ? [validation] : [])];
  return joinGraphs(parts, assignment.users.ids, assignment.items.ids);
}

/** A split of tables: the users of the test part are those of training, and no user is folded in. */
export function splitOfTables({ train: given, test, validation, times }: GivenParts): Split {
  const parts = [given, test, ...(validation ? [validation] : [])];
  const users = mergedIds(parts.map((part) => part.users.ids));
  const items = mergedIds(parts.map((part) => part.items.ids));
  // Every part gets the kind of ids that all of them have together.
  const part = (graph: BipartiteGraph) => {
    const same = graph.users.ids.kind === users.kind && graph.items.ids.kind === items.kind;
    return same ? graph : withoutIsolated(joinGraphs([graph], users, items));
  };
  const whole = joinGraphs(parts, users, items);
  const train = part(given);
  const none = (ids: VertexIds) => Object.freeze({ ids, drawn: new Uint8Array(ids.length) });
  return Object.freeze({
    method: 'edges',
    seed: 0,
    testUsers: test.edges / whole.edges,
    testItems: 0,
    train,
    foldIn: withoutIsolated(joinGraphs([], users, items)),
    test: part(test),
    ...(validation && { validation: part(validation) }),
    assignment: Object.freeze({ users: none(users), items: none(items) }),
    ...(times && { times: { train: timesIn(train, given, times), ...NO_TIMES } }),
    fingerprint: fingerprint(whole),
  });
}

/** No user is folded in, and test edges are predicted: their times are not known. */
const NO_TIMES = { foldIn: new Float64Array(0), test: new Float64Array(0) };

/** The times of a graph's edges, which another graph of the same edges has in another order. */
function timesIn(graph: BipartiteGraph, other: BipartiteGraph, times: Float64Array): Float64Array {
  if (graph === other) return times;
  const item = other.items.ids.findAll(graph.items.ids);
  const user = other.users.ids.findAll(graph.users.ids);
  const result = new Float64Array(graph.edges);
  const own = new Float64Array(other.items.count);
  for (let u = 0; u < graph.users.count; u++) {
    const { offsets, neighbors } = other.users;
    for (let e = offsets[user[u]]; e < offsets[user[u] + 1]; e++) own[neighbors[e]] = times[e];
    for (let e = graph.users.offsets[u]; e < graph.users.offsets[u + 1]; e++)
      result[e] = own[item[graph.users.neighbors[e]]];
  }
  return result;
}

function withoutIsolated(graph: BipartiteGraph): BipartiteGraph {
  return selectEdges(graph, new Uint8Array(graph.edges).fill(1), 1);
}

/** The edges of all graphs as one graph over the given ids; counts of equal edges add up. */
export function joinGraphs(
  parts: readonly BipartiteGraph[],
  userIds: VertexIds,
  itemIds: VertexIds,
): BipartiteGraph {
  const edges = parts.reduce((sum, part) => sum + part.edges, 0);
  const [users, items, counts] = [0, 1, 2].map(() => new Uint32Array(edges));
  let at = 0;
  for (const part of parts) {
    const item = itemIds.findAll(part.items.ids);
    const user = userIds.findAll(part.users.ids);
    for (let u = 0; u < part.users.count; u++) {
      for (let e = part.users.offsets[u]; e < part.users.offsets[u + 1]; e++, at++) {
        users[at] = user[u];
        items[at] = item[part.users.neighbors[e]];
        counts[at] = part.users.counts?.[e] ?? 1;
      }
    }
  }
  const names = parts.find((part) => part.names)?.names;
  return buildGraph({
    ...{ users, items, counts, userIds, itemIds, names },
    userCount: userIds.length,
    itemCount: itemIds.length,
    multigraph: parts.some((part) => part.multigraph),
  });
}

/** The distinct ids of several lists in the order of graphs: whole numbers by value, else texts by code unit. */
export function mergedIds(lists: readonly VertexIds[]): VertexIds {
  const { values } = joinIds(lists);
  return values instanceof Float64Array
    ? VertexIds.integers(Float64Array.from(new Set(values)).sort())
    : VertexIds.texts([...new Set(values)].sort());
}
