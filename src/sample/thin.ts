// Thinning: (p,q)-sampling by draws that depend on the ids, so that a table too large for memory is thinned while read.

import { type BipartiteGraph, bySide } from '../graph/graph.js';
import { selectVertices } from '../graph/subgraph.js';
import { idDraws } from '../math/id-draws.js';
import { withDefaults } from '../options/check-options.js';
import type { OptionsOf } from '../options/declare.js';
import { THIN } from '../options/library.js';

/** The fraction of each side that is kept, and the seed of the draws. */
export interface ThinOptions extends OptionsOf<typeof THIN> {}

/**
 * Keeps users and items by draws that depend only on seed and id, and the edges between them. The result is a smaller
 * table of the same kind; the first rows of a table are not.
 * @example
 * import { simulate, thin } from 'graphex';
 * const { graph } = await simulate({ features: 4, users: { size: 30 }, items: { size: 30 }, seed: 1 });
 * console.log(thin(graph, { users: 0.5, items: 0.5, seed: 1 }).edges);
 */
export function thin(graph: BipartiteGraph, options: ThinOptions = {}): BipartiteGraph {
  const keeps = idDraws(withDefaults(THIN, options));
  const { users, items } = bySide((side) => {
    const { ids, count } = graph[side];
    return Uint8Array.from({ length: count }, (_, v) => Number(keeps[side](ids.at(v))));
  });
  return selectVertices(graph, users, items);
}
