// The parts of a split over one numbering of their users and items, so that they can be compared pair by pair.

import type { SplitTables } from '../evaluate/table-task.js';
import { buildGraph } from '../graph/build.js';
import { type BipartiteGraph, type BySide, bySide, degrees, type SideName } from '../graph/graph.js';

export const PARTS = ['train', 'foldIn', 'validation', 'test'] as const;
/** The names of the parts of a split. */
export type PartName = (typeof PARTS)[number];

/** The pairs of one part, in the order of its graph's users.neighbors. */
export interface Pairs {
  readonly users: Uint32Array;
  readonly items: Uint32Array;
}

export interface CommonParts {
  readonly pairs: Readonly<Record<PartName, Pairs>>;
  readonly count: BySide<number>;
  /** Per part and side, 1 where a vertex is in the part. */
  readonly member: Readonly<Record<PartName, BySide<Uint8Array>>>;
  /** Every pair of every part, once. */
  readonly whole: BipartiteGraph;
  /** Degrees in the whole. */
  readonly degree: BySide<Uint32Array>;
  /** The number of a vertex, by its id. */
  find(side: SideName, id: string): number;
}

export function commonParts(parts: SplitTables): CommonParts {
  const number = { users: new Map<string, number>(), items: new Map<string, number>() };
  const pairs = byPart((name) => numbered(parts[name], number));
  const count = { users: number.users.size, items: number.items.size };
  const whole = buildGraph({
    users: PARTS.flatMap((name) => Array.from(pairs[name].users)),
    items: PARTS.flatMap((name) => Array.from(pairs[name].items)),
    userCount: count.users,
    itemCount: count.items,
  });
  return {
    pairs,
    count,
    member: byPart((name) => bySide((side) => marked(pairs[name][side], count[side]))),
    whole,
    degree: bySide((side) => degrees(whole[side])),
    find: (side, id) => number[side].get(id) ?? -1,
  };
}

function byPart<T>(value: (name: PartName) => T): Readonly<Record<PartName, T>> {
  return Object.fromEntries(PARTS.map((name) => [name, value(name)])) as Record<PartName, T>;
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

function marked(vertices: Uint32Array, count: number): Uint8Array {
  const marks = new Uint8Array(count);
  for (const v of vertices) marks[v] = 1;
  return marks;
}

/** A function that says whether a pair is in the part. */
export function pairSet({ users, items }: Pairs): (user: number, item: number) => boolean {
  const rows = new Map<number, Set<number>>();
  for (let e = 0; e < users.length; e++) {
    const row = rows.get(users[e]);
    if (row) row.add(items[e]);
    else rows.set(users[e], new Set([items[e]]));
  }
  return (user, item) => rows.get(user)?.has(item) ?? false;
}

/** All pairs of all parts as one graph, with the time of each pair where every part has times. */
export function wholeOfParts(
  parts: SplitTables,
  times: Readonly<Partial<Record<PartName, Float64Array>>> = {},
): { readonly graph: BipartiteGraph; readonly times: Float64Array | undefined } {
  const { pairs, whole } = commonParts(parts);
  const graph = parts.train.names ? Object.freeze({ ...whole, names: parts.train.names }) : whole;
  if (PARTS.some((name) => pairs[name].users.length > 0 && !times[name])) return { graph, times: undefined };
  const result = new Float64Array(whole.edges).fill(Number.POSITIVE_INFINITY);
  const { offsets, neighbors } = whole.users;
  for (const name of PARTS) {
    const { users, items } = pairs[name];
    for (let e = 0; e < users.length; e++) {
      const row = neighbors.subarray(offsets[users[e]], offsets[users[e] + 1]);
      const at = offsets[users[e]] + row.indexOf(items[e]);
      result[at] = Math.min(result[at], times[name]![e]);
    }
  }
  return { graph, times: result };
}
