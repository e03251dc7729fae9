// What a fit must know of its data before it begins, wherever their edges lie.

import { type BipartiteGraph, type BySide, bySide, degrees } from '../../graph/graph.js';
import type { GraphSizes } from '../../process/sizes.js';
import { countDegrees, type DegreeCounts } from '../../sparsity/degree-counts.js';

export interface DataFacts extends GraphSizes {
  readonly degreeCounts: BySide<DegreeCounts>;
}

export function dataFacts(graph: BipartiteGraph): DataFacts {
  const { edges, total, multigraph, users, items } = graph;
  const degreeCounts = bySide((side) => countDegrees(degrees(graph[side])));
  return { edges, total, multigraph, users, items, degreeCounts };
}
