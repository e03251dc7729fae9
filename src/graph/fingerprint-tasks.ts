// The sum over edges in a fingerprint, for threads: partial sums add up in any order.

import { serveTasks } from '../parallel/worker.js';
import { type HashSum, type IdHashes, sumEdges } from './fingerprint.js';
import type { GraphSide } from './graph.js';

export interface EdgeSum extends Pick<GraphSide, 'offsets' | 'neighbors' | 'counts'> {
  readonly users: IdHashes;
  readonly items: IdHashes;
  /** The users are first … last−1. */
  readonly first: number;
  readonly last: number;
}

export function sumRows({ offsets, neighbors, counts, users, items, first, last }: EdgeSum): HashSum {
  const own = { low: users.low.subarray(first, last), high: users.high.subarray(first, last) };
  return sumEdges({ offsets: offsets.subarray(first, last + 1), neighbors, counts }, own, items);
}

serveTasks('fingerprint-tasks', { sumRows });
