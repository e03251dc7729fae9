// The fingerprint of a large graph by a thread of its own, while the caller's thread does something else.

import { isShared } from '../math/memory.js';
import { createPool, taskModule } from '../parallel/pool.js';
import { fingerprint, fingerprintOf, type HashSum, vertexHashes } from './fingerprint.js';
import type { HashEdges } from './fingerprint-tasks.js';
import type { BipartiteGraph } from './graph.js';

const TASKS = taskModule('./fingerprint-tasks.js', import.meta.url);

/** Fewer edges are hashed in less time than a thread takes to start. */
const LEAST_EDGES = 4e6;

/** The same as `fingerprint`. Edges that threads do not share are hashed by the caller's thread. */
export async function fingerprintAside(graph: BipartiteGraph, least = LEAST_EDGES): Promise<string> {
  const { offsets, neighbors, counts } = graph.users;
  if (graph.edges < least || !isShared(neighbors)) return fingerprint(graph);
  const hashes = vertexHashes(graph);
  const pool = await createPool(TASKS, 1);
  try {
    const input: HashEdges = { edges: { offsets, neighbors, counts }, hashes };
    return fingerprintOf(graph, hashes, await pool.run<HashEdges, HashSum>('hashEdges', input));
  } finally {
    await pool.close();
  }
}
