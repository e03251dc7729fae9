// Computes the fingerprint of a large graph with several threads.

import { inSharedMemory, isShared } from '../math/memory.js';
import { createPool, taskModule, threadCount } from '../parallel/pool.js';
import type { TaskOptions } from '../progress.js';
import {
  addHashes,
  fingerprint,
  fingerprintOf,
  type HashSum,
  hashesOf,
  type IdHashes,
  NO_HASH,
} from './fingerprint.js';
import type { EdgeSum } from './fingerprint-tasks.js';
import type { BipartiteGraph } from './graph.js';
import { cutRows } from './pieces.js';

const SUMS = taskModule('./fingerprint-tasks.js', import.meta.url);

/** With fewer edges, starting threads takes longer than the sum. */
const LEAST_EDGES = 1 << 24;
const PIECES_PER_THREAD = 4;

/** Computes the same as `fingerprint`. */
export async function fingerprintWithThreads(
  graph: BipartiteGraph,
  { threads, signal }: Pick<TaskOptions, 'threads' | 'signal'>,
  least = LEAST_EDGES,
): Promise<string> {
  const size = threadCount(threads);
  // Each thread would get a copy of arrays that are not shared.
  const { offsets, neighbors, counts } = graph.users;
  const shared = isShared(offsets) && isShared(neighbors) && (!counts || isShared(counts));
  if (size === 1 || graph.edges < least || !shared) return fingerprint(graph);
  const hashes = hashesOf(graph);
  const inShared = ({ low, high }: IdHashes): IdHashes => ({
    low: inSharedMemory(low),
    high: inSharedMemory(high),
  });
  const [users, items] = [inShared(hashes.users), inShared(hashes.items)];
  const pool = await createPool(SUMS, size);
  try {
    const tasks = cutRows(offsets, PIECES_PER_THREAD * size).map(
      ([first, last]): EdgeSum => ({ offsets, neighbors, counts, users, items, first, last }),
    );
    const sums = await pool.map<EdgeSum, HashSum>('sumRows', tasks, { signal });
    return fingerprintOf(graph, { users, items }, sums.reduce(addHashes, NO_HASH));
  } finally {
    await pool.close();
  }
}
