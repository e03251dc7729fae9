// The parts of a split over one numbering of their users and items, so that they can be compared pair by pair.

import type { SplitTables } from '../evaluate/table-task.js';
import { buildGraph } from '../graph/build.js';
import { type BipartiteGraph, type BySide, bySide, degrees, type SideName } from '../graph/graph.js';
import { lowerBound } from '../math/csr.js';
import { concat } from '../math/memory.js';

export const PARTS = ['train', 'foldIn', 'validation', 'test'] as const;
/** The names of the parts of a split. */
export type PartName = (typeof PARTS)[number];

/** The pairs of one part, in the order of its graph's users.neighbors. */
export type Pairs = BySide<Uint32Array>;

type ByPart<T> = Readonly<Record<PartName, T>>;

export interface CommonParts {
  readonly pairs: ByPart<Pairs>;
  readonly count: BySide<number>;
  /** Per part and side, 1 where a vertex is in the part. */
  readonly member: ByPart<BySide<Uint8Array>>;
  /** Every pair of every part, once. */
  readonly whole: BipartiteGraph;
  /** Per part, the edge of each pair in the whole; and 1 where an edge of the whole is in the part. */
  readonly edges: ByPart<Uint32Array>;
  readonly has: ByPart<Uint8Array>;
  /** Degrees in the whole. */
  readonly degree: BySide<Uint32Array>;
  /** The number of a vertex, by its id. */
  find(side: SideName, id: string): number;
}

export function commonParts(parts: SplitTables): CommonParts {
  const number = { users: new Map<string, number>(), items: new Map<string, number>() };
  const pairs = byPart((name) => numbered(parts[name], number));
  const count = { users: number.users.size, items: number.items.size };
  const all = (side: SideName) =>
    concat(
      Uint32Array,
      Object.values(pairs).map((part) => part[side]),
    );
  const whole = buildGraph({
    users: all('users'),
    items: all('items'),
    userCount: count.users,
    itemCount: count.items,
  });
  const edges = byPart((name) => edgesOf(pairs[name], whole));
  return {
    pairs,
    count,
    member: byPart((name) => bySide((side) => marked(pairs[name][side], count[side]))),
    whole,
    edges,
    has: byPart((name) => marked(edges[name], whole.edges)),
    degree: bySide((side) => degrees(whole[side])),
    find: (side, id) => number[side].get(id) ?? -1,
  };
}

function byPart<T>(value: (name: PartName) => T): ByPart<T> {
  return Object.fromEntries(PARTS.map((name) => [name, value(name)])) as ByPart<T>;
}

function edgesOf({ users, items }: Pairs, { users: { offsets, neighbors } }: BipartiteGraph): Uint32Array {
  return users.map((user, e) => lowerBound(neighbors, items[e], offsets[user], offsets[user + 1]));
}

function numbered(graph: BipartiteGraph | undefined, number: BySide<Map<string, number>>): Pairs {
  if (!graph) return { users: new Uint32Array(0), items: new Uint32Array(0) };
  const places = (side: SideName) =>
    Uint32Array.from({ length: graph[side].count }, (_, v) => {
      const id = graph[side].ids.at(v);
      const known = number[side].get(id);
      if (known !== undefined) return known;
      number[side].set(id, number[side].size);
      return number[side].size - 1;
    });
  const [users, items] = [places('users'), places('items')];
  const { offsets, neighbors, count } = graph.users;
  const result = { users: new Uint32Array(graph.edges), items: new Uint32Array(graph.edges) };
  for (let u = 0; u < count; u++) {
    for (let e = offsets[u]; e < offsets[u + 1]; e++) {
      result.users[e] = users[u];
      result.items[e] = items[neighbors[e]];
    }
  }
  return result;
}

function marked(places: Uint32Array, count: number): Uint8Array {
  const marks = new Uint8Array(count);
  for (const place of places) marks[place] = 1;
  return marks;
}

/** All pairs of all parts as one graph, with the time of each pair where every part has times. */
export function wholeOfParts(
  parts: SplitTables,
  times: Readonly<Partial<Record<PartName, Float64Array>>> = {},
): { readonly graph: BipartiteGraph; readonly times: Float64Array | undefined } {
  const { edges, whole } = commonParts(parts);
  const graph = parts.train.names ? Object.freeze({ ...whole, names: parts.train.names }) : whole;
  if (PARTS.some((name) => edges[name].length > 0 && !times[name])) return { graph, times: undefined };
  const result = new Float64Array(whole.edges).fill(Number.POSITIVE_INFINITY);
  for (const name of PARTS) {
    for (const [at, edge] of edges[name].entries()) result[edge] = Math.min(result[edge], times[name]![at]);
  }
  return { graph, times: result };
}
