// The fingerprint of a large graph by a thread of its own, while the caller's thread does something else.

import { isShared } from '../math/memory.js';
import { createPool, taskModule } from '../parallel/pool.js';
import { limitsAddresses } from '../parallel/spawn.js';
import { fingerprint, fingerprintOf, type HashSum, sumEdges, vertexHashes } from './fingerprint.js';
import type { HashEdges } from './fingerprint-tasks.js';
import type { BipartiteGraph } from './graph.js';

const TASKS = taskModule('./fingerprint-tasks.js', import.meta.url);

/** Fewer edges are hashed in less time than a thread takes to start. */
const LEAST_EDGES = 4e6;

/** The same as `fingerprint`. The caller's thread hashes edges that threads do not share, and those of a thread that fails. */
export async function fingerprintAside(graph: BipartiteGraph, least = LEAST_EDGES): Promise<string> {
  const { offsets, neighbors, counts } = graph.users;
  if (graph.edges < least || !isShared(neighbors) || limitsAddresses()) return fingerprint(graph);
  const hashes = vertexHashes(graph);
  const input: HashEdges = { edges: { offsets, neighbors, counts }, hashes };
  const here = () => sumEdges(graph.users, hashes.users, hashes.items);
  return fingerprintOf(graph, hashes, await hashAside(input).catch(here));
}

async function hashAside(input: HashEdges): Promise<HashSum> {
  const pool = await createPool(TASKS, 1);
  try {
    return await pool.run<HashEdges, HashSum>('hashEdges', input);
  } finally {
    await pool.close();
  }
}
