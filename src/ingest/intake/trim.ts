// Removes vertices from a graph that was read: by id, and those with too few edges.

import { InputError } from '../../errors.js';
import {
  type BipartiteGraph,
  type BySide,
  bySide,
  type GraphSide,
  otherSide,
  type PartSize,
  SIDES,
  type SideName,
} from '../../graph/graph.js';
import { innerDegrees, selectVertices } from '../../graph/subgraph.js';
import { sumOf } from '../../math/moments.js';
import { option, optionError } from '../../options/error.js';
import type { LeftOut, ReadOptions, ReadResult } from '../options.js';

type Masks = BySide<Uint8Array>;

/** The graph without the vertices that the options leave out, and the values of its edges. */
export function trimmed(result: ReadResult, options: ReadOptions, source: string): ReadResult {
  const { dropUsers, dropItems } = options;
  const least = leastDegrees(options);
  if (!dropUsers && !dropItems && !least) return result;
  const { graph } = result;
  const masks = bySide((side) => new Uint8Array(graph[side].count).fill(1));
  const leftOut: { -readonly [K in 'dropped' | 'core']?: NonNullable<LeftOut[K]> } = {};
  let left = sizes(graph, masks);
  if (dropUsers || dropItems) {
    const unknown = [
      ...drop(graph.users, masks.users, dropUsers ?? []),
      ...drop(graph.items, masks.items, dropItems ?? []),
    ];
    // Vertices that have lost all neighbours are removed too.
    core(graph, masks, { users: 1, items: 1 });
    const now = sizes(graph, masks);
    leftOut.dropped = { ...minus(left, now), unknown };
    left = now;
  }
  if (least) {
    const passes = core(graph, masks, least);
    const now = sizes(graph, masks);
    leftOut.core = { ...minus(left, now), least, passes };
    left = now;
  }
  if (left.edges === 0) {
    throw least
      ? optionError`${source}: no edge is left with ${option('minDegree')} ${least.users},${least.items}; require fewer edges`
      : new InputError(`${source}: every edge belongs to a vertex that is dropped; drop fewer`);
  }
  const { values, read } = result;
  return {
    ...result,
    graph: selectVertices(graph, masks.users, masks.items),
    read: Object.freeze({ ...read, kept: left.edges, leftOut: { ...read.leftOut, ...leftOut } }),
    ...(values && { values: keptValues(graph, masks, values) }),
  };
}

/** Throws if vertices are to be left out of data that are not a graph in memory. */
export function refuseTrimming(options: ReadOptions): void {
  for (const name of ['minDegree', 'dropUsers', 'dropItems'] as const) {
    if (options[name] === undefined) continue;
    throw optionError`${option(name)} needs the whole graph in memory, which shards avoid; leave it out, or choose rows with ${option('where')}`;
  }
}

function leastDegrees({ minDegree }: ReadOptions): BySide<number> | undefined {
  if (minDegree === undefined) return undefined;
  const [users, items = users, ...more] = typeof minDegree === 'number' ? [minDegree] : minDegree;
  if (more.length > 0) {
    throw optionError`${option('minDegree')}: give one number for both sides, or two as in 5,1 for users,items`;
  }
  return { users, items };
}

/** Returns the ids that do not exist. */
function drop({ ids }: GraphSide, mask: Uint8Array, dropped: readonly string[]): string[] {
  const unknown: string[] = [];
  for (const id of dropped) {
    const vertex = ids.find(id);
    if (vertex < 0) unknown.push(id);
    else mask[vertex] = 0;
  }
  return unknown;
}

/** Repeatedly removes vertices with fewer neighbours than required; returns the number of passes. */
function core(graph: BipartiteGraph, masks: Masks, least: BySide<number>): number {
  const degrees = bySide((side) => innerDegrees(graph[side], masks[side], masks[otherSide(side)]));
  let gone = bySide(below);
  let passes = 0;
  while (gone.users.length + gone.items.length > 0) {
    passes++;
    for (const side of SIDES) for (const v of gone[side]) masks[side][v] = 0;
    const next: Record<SideName, number[]> = { users: [], items: [] };
    for (const side of SIDES) {
      const other = otherSide(side);
      const { offsets, neighbors } = graph[side];
      for (const v of gone[side]) {
        for (let e = offsets[v]; e < offsets[v + 1]; e++) {
          const w = neighbors[e];
          if (masks[other][w] === 1 && --degrees[other][w] === least[other] - 1) next[other].push(w);
        }
      }
    }
    gone = next;
  }
  return passes;

  function below(side: SideName): number[] {
    const found: number[] = [];
    for (let v = 0; v < masks[side].length; v++) {
      if (masks[side][v] === 1 && degrees[side][v] < least[side]) found.push(v);
    }
    return found;
  }
}

function sizes(graph: BipartiteGraph, masks: Masks): PartSize {
  const edges = sumOf(innerDegrees(graph.users, masks.users, masks.items));
  return { users: sumOf(masks.users), items: sumOf(masks.items), edges };
}

function minus(a: PartSize, b: PartSize): PartSize {
  return { users: a.users - b.users, items: a.items - b.items, edges: a.edges - b.edges };
}

function keptValues(graph: BipartiteGraph, masks: Masks, values: Float64Array): Float64Array {
  const { offsets, neighbors } = graph.users;
  const kept = values.slice();
  let at = 0;
  for (let user = 0; user < masks.users.length; user++) {
    if (masks.users[user] === 0) continue;
    for (let e = offsets[user]; e < offsets[user + 1]; e++) {
      if (masks.items[neighbors[e]] === 1) kept[at++] = values[e];
    }
  }
  return kept.slice(0, at);
}
