// The names of random streams: a seed, one of these numbers, then what distinguishes pieces of work. No two kinds of work
// share a stream. Changing a number changes every result that depends on it.

export const STREAMS = {
  /** Simulated graphs: weights of each side, features, rows of edges, vertices below the cut. */
  userAtoms: 1,
  itemAtoms: 2,
  features: 3,
  rows: 4,
  belowCut: 5,
  /** Simulations that estimate sizes: this number plus the round, then the graph. */
  sizes: 0,
  /** Unseen vertices of a dense side, drawn for an interval. */
  unseenVertices: 0x1a5e,
  /** Groups of users and items of a model's internal check. */
  internalCheck: 0x9a0b,
  /** General graphex process: points of each side, edges between them. */
  userPoints: 11,
  itemPoints: 12,
  pointEdges: 13,
  /** Random draws of a split. */
  split: 0x5b117,
  /** Samples of a sparsity check. */
  check: 0xc4ec,
  /** Coarse sample that chooses the number of features. */
  counts: 0xc0571,
  coarse: 0xc0a25e,
  /** Start of a fit. */
  start: 0x57a7,
  /** Profiles of items, from which a fit starts. */
  profiles: 0x9f0f,
  /** Folds of the ranking objective. */
  folds: 0xf01d,
  /** Chains of the exact sampler. */
  chains: 0x61bb,
  /** Start of alternating least squares. */
  leastSquares: 0x616c73,
  /** Start of a graph filter. */
  filter: 0x67666366,
  /** Start of a hierarchical Poisson factorization. */
  hierarchical: 0x687066,
  /** Held-back users, and the items they are evaluated on. */
  heldBackItems: 0x7e57,
  heldBack: 0x686f6c64,
  /** Users whose last edges are held back to search a half-life. */
  heldBackLast: 0x6c617374,
  /** Resampled users of a paired comparison. */
  bootstrap: 0x626f6f74,
  /** Requests of a load test. */
  load: 0x10ad,
  /** Users whose last items are held back from a refit. */
  refit: 0x4ef17,
  /** Predictive draws, replicas of a model, and redrawn histories for the confidence of a list. */
  draws: 0xd4a3,
  replicas: 0x4e91,
  confidence: 0xc0f1,
  /** Items held back to find how attributes score. */
  content: 0xa77b,
  /** Back-tests of a forecast, and simulated growth. */
  backtests: 0xf0c5,
  growth: 0x6704,
  /** Redrawn assignments and exchanged pairs of the audit. */
  audit: 0xa0d17,
  /** Thinning of a table while it is read, and positions of items on a map. */
  thin: 0x7417,
  map: 0x3a9,
} as const;
