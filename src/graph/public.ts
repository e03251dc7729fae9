// The graph in the public library: one name for the type and its functions.

import { buildGraph } from './build.js';
import { fingerprint } from './fingerprint.js';
import { degrees, type BipartiteGraph as Graph, transpose } from './graph.js';
import { graphOfPairs } from './pairs.js';

/**
 * A graph of users, items and the edges between them; build one with `fromPairs` or `fromEdges`.
 * @example
 * import { BipartiteGraph } from 'graphex';
 * const graph = BipartiteGraph.fromPairs([['ann', 'tea'], ['bob', 'milk'], ['bob', 'tea']]);
 * console.log(graph.users.count, graph.items.count, BipartiteGraph.degrees(graph.users));
 */
export type BipartiteGraph = Graph;
export const BipartiteGraph = Object.freeze({
  /** Builds a graph from pairs of ids: [['ann', 'tea'], ['bob', 'milk']]. */
  fromPairs: graphOfPairs,
  /** Builds a graph from pairs of vertex numbers. */
  fromEdges: buildGraph,
  /** Number of distinct neighbours of each vertex of a side. */
  degrees,
  /** The same graph with users and items exchanged. */
  transpose,
  /** A hash of the content: ids, edges and counts, whatever their order. */
  fingerprint,
});
