// The names of the random streams: a seed, one of these, then whatever tells pieces of work apart. Two kinds of work never
// share a stream, and a name that changes its number changes every result that rests on it.

export const STREAMS = {
  /** Drawn graphs: the weights of each side, the features, the rows of edges, the vertices too small to be told apart. */
  userAtoms: 1,
  itemAtoms: 2,
  features: 3,
  rows: 4,
  dust: 5,
  /** Simulations that estimate sizes: this number plus the round, then the graph. */
  sizes: 0,
  /** Unseen vertices of a dense side, drawn for an interval. */
  unseenVertices: 0x1a5e,
  /** Groups of users and items of a model's internal check. */
  internalCheck: 0x9a0b,
  /** A graphex in general: the points of each side, and the edges between them. */
  userPoints: 11,
  itemPoints: 12,
  pointEdges: 13,
  /** Coins of a split. */
  split: 0x5b117,
  /** Samples of a sparsity check. */
  check: 0xc4ec,
  /** Coarse sample by which the number of features is chosen. */
  counts: 0xc0571,
  coarse: 0xc0a25e,
  /** Where a fit begins, and the users on whom starts are tried. */
  start: 0x57a7,
  levels: 0x1e7e1,
  /** Folds of the ranking objective. */
  folds: 0xf01d,
  /** Chains of the exact sampler. */
  chains: 0x61bb,
  /** Where alternating least squares begins. */
  leastSquares: 0x616c73,
  /** Where a hierarchical Poisson factorization begins. */
  hierarchical: 0x687066,
  /** Items that held-back users are judged on, and who is held back. */
  heldBackItems: 0x7e57,
  heldBack: 0x686f6c64,
  /** Resampled users of a paired comparison. */
  bootstrap: 0x626f6f74,
  /** Predictive draws, replicas of a model, and histories drawn again, to see how sure a list is. */
  draws: 0xd4a3,
  replicas: 0x4e91,
  confidence: 0xc0f1,
  /** Back-tests of a forecast, and growth drawn from the model. */
  backtests: 0xf0c5,
  growth: 0x6704,
  /** Redrawn assignments and exchanged pairs of the audit. */
  audit: 0xa0d17,
  /** Coins of a table that is thinned before work, and the places of items on a map. */
  thin: 0x7417,
  map: 0x3a9,
} as const;
