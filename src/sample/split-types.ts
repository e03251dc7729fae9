import type { BipartiteGraph } from '../graph/graph.js';
import type { VertexIds } from '../graph/ids.js';
import type { SplitMethod } from '../options/names.js';

/** When the edges of a split by time came about. */
export interface SplitTimes {
  readonly cut: number;
  readonly train: Float64Array;
  readonly test: Float64Array;
}

/** The random draws of one side: which vertices of the whole graph are held out, also those without an edge in any part. */
export interface Assignment {
  /** Every vertex of the whole graph. */
  readonly ids: VertexIds;
  /** 1: a held-out user, or a test item. */
  readonly drawn: Uint8Array;
}

/**
 * A split with its assignment. `train`: the training users with all their items. `foldIn`: the held-out users with
 * the items that are drawn for fold-in. `test`: the held-out users with the items that are drawn for test, raw: also
 * items that training never saw. Isolated vertices are dropped from each part; ids are those of the whole graph.
 */
export interface Split {
  readonly method: SplitMethod;
  readonly seed: number;
  /** Held-out fraction of the users (p), and of the items (q). For `edges` and `time`: testUsers is the fraction of edges. */
  readonly testUsers: number;
  readonly testItems: number;
  readonly train: BipartiteGraph;
  readonly foldIn: BipartiteGraph;
  readonly test: BipartiteGraph;
  readonly assignment: { readonly users: Assignment; readonly items: Assignment };
  /** Of `time`: edges from this time on are the test part, and the times of the edges of both, in the order of users.neighbors. */
  readonly byTime?: SplitTimes | undefined;
  /** Fingerprint of the whole graph. */
  readonly fingerprint: string;
}
