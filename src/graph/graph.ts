import { type EdgeCounts, type EdgeRows, lengths, transposeRows } from '../math/csr.js';
import type { SideNames } from '../text/sides.js';
import type { VertexIds } from './ids.js';

/** One side of a graph: its vertices, and the edges grouped by them. */
export interface GraphSide extends EdgeRows {
  /** Number of vertices. */
  readonly count: number;
  readonly ids: VertexIds;
  /** count + 1 positions: the edges of vertex v are offsets[v] … offsets[v+1]−1. */
  readonly offsets: Uint32Array;
  /** For each edge, the vertex of the other side; ascending within a vertex. */
  readonly neighbors: Uint32Array;
  /** For each edge, its count, in the same order; undefined in a simple graph. */
  readonly counts: Uint32Array | undefined;
}

/** A side whose counts may be fractions: those of weighed edges. */
export type WeighedSide = Omit<GraphSide, 'counts'> & { readonly counts: EdgeCounts | undefined };

/**
 * A bipartite graph in both orders, over shared buffers, frozen. Users and items are only names: functions that take a
 * side treat both alike.
 */
export interface BipartiteGraph {
  readonly users: GraphSide;
  readonly items: GraphSide;
  /** Distinct pairs. */
  readonly edges: number;
  /** Sum of counts; equals `edges` in a simple graph. */
  readonly total: number;
  /** True if counts are kept. */
  readonly multigraph: boolean;
  /** The names of the two sides. Default: users and items. They do not affect the fingerprint. */
  readonly names?: SideNames | undefined;
}

/** Vertices and edges of a part of a split. */
export interface PartSize {
  readonly users: number;
  readonly items: number;
  readonly edges: number;
}

export function partSize({ users, items, edges }: BipartiteGraph): PartSize {
  return { users: users.count, items: items.count, edges };
}

interface GraphParts {
  readonly userIds: VertexIds;
  readonly itemIds: VertexIds;
  readonly byUser: EdgeRows;
  /** The same edges by item. Default: computed. */
  readonly byItem?: EdgeRows;
  readonly names?: SideNames | undefined;
}

/** Assembles a graph; it is a multigraph if the edges have counts. All other functions build graphs with this one. */
export function createGraph({ userIds, itemIds, byUser, byItem, names }: GraphParts): BipartiteGraph {
  const users = createSide(userIds, byUser);
  const items = createSide(itemIds, byItem ?? transposeRows(byUser, itemIds.length));
  const edges = users.neighbors.length;
  let total = edges;
  if (users.counts) {
    total = 0;
    for (let e = 0; e < edges; e++) total += users.counts[e];
  }
  const multigraph = users.counts !== undefined;
  return Object.freeze({ users, items, edges, total, multigraph, ...(names && { names }) });
}

function createSide(ids: VertexIds, { offsets, neighbors, counts }: EdgeRows): GraphSide {
  return Object.freeze({ count: ids.length, ids, offsets, neighbors, counts });
}

/** The two sides of a graph. */
export type SideName = 'users' | 'items';
/** One value for each side. */
export type BySide<T> = Readonly<Record<SideName, T>>;
export const SIDES = ['users', 'items'] as const satisfies readonly SideName[];

/** A value for each side, made by the same function. */
export function bySide<T>(value: (side: SideName) => T): BySide<T> {
  return { users: value('users'), items: value('items') };
}

export function otherSide(side: SideName): SideName {
  return side === 'users' ? 'items' : 'users';
}

/** Number of distinct neighbours of each vertex of a side. */
export function degrees(side: Pick<GraphSide, 'count' | 'offsets'>): Uint32Array {
  return lengths(side);
}

/** The same pairs without their counts; shares all buffers. */
export function simpleGraph(graph: BipartiteGraph): BipartiteGraph {
  const { users, items, edges } = graph;
  return Object.freeze({
    ...graph,
    users: Object.freeze({ ...users, counts: undefined }),
    items: Object.freeze({ ...items, counts: undefined }),
    total: edges,
    multigraph: false,
  });
}

/** The same graph with users and items exchanged; shares all buffers. */
export function transpose(graph: BipartiteGraph): BipartiteGraph {
  const { users, items, names } = graph;
  const turned = names && { names: Object.freeze({ users: names.items, items: names.users }) };
  return Object.freeze({ ...graph, users: items, items: users, ...turned });
}
