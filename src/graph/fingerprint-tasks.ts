// The task of a thread that hashes edges.

import { serveTasks } from '../parallel/worker.js';
import { type HashSum, type IdHashes, sumEdges } from './fingerprint.js';
import type { BySide, GraphSide } from './graph.js';

export interface HashEdges {
  readonly edges: Pick<GraphSide, 'offsets' | 'neighbors' | 'counts'>;
  readonly hashes: BySide<IdHashes>;
}

export function hashEdges({ edges, hashes }: HashEdges): HashSum {
  return sumEdges(edges, hashes.users, hashes.items);
}

serveTasks('fingerprint-tasks', { hashEdges });
