// (p,q)-sampling: keep each user with probability p and each item with probability q, independently, take
// the edges between them, drop isolated vertices.

import { InputError } from '../errors.js';
import type { BipartiteGraph } from '../graph/graph.js';
import { selectVertices } from '../graph/subgraph.js';
import { Random } from '../math/random.js';
import { withAllDefaults } from '../options/check-options.js';
import { LEVELS } from '../options/library.js';

/** The share of each side that is kept. */
export interface Levels {
  /** Probability with which each user is kept, 0 … 1. */
  readonly users: number;
  /** Probability with which each item is kept, 0 … 1. */
  readonly items: number;
}

/** Keeps each user and each item by chance, and the edges between those kept. */
export function pqSample(graph: BipartiteGraph, levels: Levels, random: Random): BipartiteGraph {
  withAllDefaults(LEVELS, levels);
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
