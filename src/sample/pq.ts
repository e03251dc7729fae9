// (p,q)-sampling: keep each user with probability p and each item with probability q, independently. Keep the edges
// between them and drop isolated vertices.

import { InputError } from '../errors.js';
import type { BipartiteGraph } from '../graph/graph.js';
import { selectVertices } from '../graph/subgraph.js';
import { Random } from '../math/random.js';
import { withDefaults } from '../options/check-options.js';
import { LEVELS } from '../options/library.js';

/** The fraction of each side that is kept. */
export interface Levels {
  /** Probability of keeping a user, 0 … 1. */
  readonly users: number;
  /** Probability of keeping an item, 0 … 1. */
  readonly items: number;
}

/**
 * Keeps each user and each item at random, and the edges between them.
 * @example
 * import { pqSample, randomStream, simulate } from 'graphex';
 * const { graph } = await simulate({ features: 4, users: { size: 30 }, items: { size: 30 }, seed: 1 });
 * console.log(pqSample(graph, { users: 0.5, items: 0.5 }, randomStream(1)).edges);
 */
export function pqSample(graph: BipartiteGraph, levels: Levels, random: Random): BipartiteGraph {
  withDefaults(LEVELS, levels);
  if (!(random instanceof Random)) {
    throw new InputError('random: expected a stream of random numbers, as randomStream(seed) gives it');
  }
  const users = drawAssignment(graph.users.count, levels.users, random.derive(0));
  const items = drawAssignment(graph.items.count, levels.items, random.derive(1));
  return selectVertices(graph, users, items);
}

/** One draw per vertex: 1 with the given probability. */
export function drawAssignment(count: number, probability: number, random: Random): Uint8Array {
  const drawn = new Uint8Array(count);
  for (let v = 0; v < count; v++) drawn[v] = random.uniform() < probability ? 1 : 0;
  return drawn;
}
