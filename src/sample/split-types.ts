import type { BipartiteGraph } from '../graph/graph.js';
import type { VertexIds } from '../graph/ids.js';
import type { SplitMethod } from '../options/names.js';

/** The times of the edges of each part of a split, in the order of users.neighbors. */
export interface SplitTimes {
  /** Method `time`: edges from this time on are the test part. */
  readonly cut?: number | undefined;
  readonly train: Float64Array;
  readonly foldIn: Float64Array;
  readonly test: Float64Array;
}

/** The random draws of one side: which vertices of the whole graph are held out, even without an edge in any part. */
export interface Assignment {
  /** All vertices of the whole graph. */
  readonly ids: VertexIds;
  /** 1: a held-out user, or a test item. */
  readonly drawn: Uint8Array;
}

/**
 * A split with its assignment. `train`: the training users with all their items. `foldIn` and `test`: the held-out users
 * with the items drawn for fold-in and for test. `test` is raw: it may hold items that training never saw. Each part
 * drops isolated vertices; ids are those of the whole graph.
 */
export interface Split {
  readonly method: SplitMethod;
  readonly seed: number;
  /**
   * Held-out fraction of the users (p), and of the items (q). For `edges` and `time`, testUsers is the fraction of edges; `last`
   * ignores both, `new-items` ignores testUsers.
   */
  readonly testUsers: number;
  readonly testItems: number;
  readonly train: BipartiteGraph;
  readonly foldIn: BipartiteGraph;
  readonly test: BipartiteGraph;
  readonly assignment: { readonly users: Assignment; readonly items: Assignment };
  /** A validation part: its items are not ranked for their users under the protocol all-items, and no model sees them. */
  readonly validation?: BipartiteGraph | undefined;
  /** The times of the edges, if the data have times. */
  readonly times?: SplitTimes | undefined;
  /** Fingerprint of the whole graph. */
  readonly fingerprint: string;
}
