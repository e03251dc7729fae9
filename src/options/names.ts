// The names that options choose from, each written once: the rooms that implement them import them from here.

export const ENGINE_NAMES = ['auto', 'cpu', 'gpu', 'reference'] as const;
/** The names of the engines. */
export type EngineName = (typeof ENGINE_NAMES)[number];

/** As the paper has them. sparse: unseen vertices on both sides, σ from the degrees; dense: σ = −0.1, no unseen vertices. */
export const PAPER_KINDS = ['sparse', 'dense'] as const;
/** The two kinds of model of the paper. */
export type PaperKind = (typeof PAPER_KINDS)[number];

/** auto: sparse or dense, chosen for each side by its degrees. */
export const MODEL_KINDS = ['auto', ...PAPER_KINDS] as const;
/** The kinds of model; `auto` chooses sparse or dense for each side. */
export type ModelKind = (typeof MODEL_KINDS)[number];

/** How the counts of a multigraph are fitted: chosen by prediction; as Poisson counts; or edges first, with a separate model of the counts. */
export const COUNT_PRIORS = ['auto', 'poisson', 'hurdle'] as const;
/** The ways of fitting counts. */
export type CountPriorName = (typeof COUNT_PRIORS)[number];

/** What predictive draws know of the test set. unconditional: nothing. paper: the users and items in it. */
export const DRAWS_GIVEN = ['unconditional', 'paper'] as const;
/** What predictive draws know of the test set. */
export type DrawsGiven = (typeof DRAWS_GIVEN)[number];

/** What an evaluation ranks. split: the items of the test part. all-items: every item that the user does not have. */
export const PROTOCOLS = ['split', 'all-items'] as const;
/** What an evaluation ranks. */
export type Protocol = (typeof PROTOCOLS)[number];

/** How the sizes of the processes enter a draw: drawn from their posterior, or as estimated. */
export const SIZE_MODES = ['posterior', 'point'] as const;
export type SizeMode = (typeof SIZE_MODES)[number];

/** Recommenders to compare with, in the order in which they are fitted. */
export const BASELINES = ['popularity', 'knn', 'filter', 'ease', 'slim', 'ials', 'hpf'] as const;
/** The names of the baselines. */
export type BaselineName = (typeof BASELINES)[number];

export function isBaseline(method: string | undefined): method is BaselineName {
  return (BASELINES as readonly (string | undefined)[]).includes(method);
}

export const SPLIT_METHODS = ['pq', 'edges', 'time', 'last', 'new-items'] as const;
/** The names of the ways to split. */
export type SplitMethod = (typeof SPLIT_METHODS)[number];

export const SPLIT_FORMATS = ['parquet', 'csv'] as const;
/** The names of the formats of a split's parts. */
export type SplitFormat = (typeof SPLIT_FORMATS)[number];

/** General graphex processes that can be drawn by name. */
export const PROCESS_NAMES = ['dense', 'sparse-items', 'power-law'] as const;
export type ProcessName = (typeof PROCESS_NAMES)[number];

export const PRECISIONS = ['float32', 'float16'] as const;
/** The precisions in which a ranker can be stored. */
export type Precision = (typeof PRECISIONS)[number];

/** What a ranker's file stores of its users: their tables, only the items they have, or nothing. */
export const USER_STORAGE = ['stored', 'folded', 'none'] as const;
/** What a ranker's file holds of users. */
export type UserStorage = (typeof USER_STORAGE)[number];

/** Metrics of recommended lists (metrics/list-metrics.ts). */
export const LIST_METRICS = [
  'recall',
  'recallCapped',
  'precision',
  'ndcg',
  'mrr',
  'map',
  'hitRate',
  'coverage',
  'gini',
  'novelty',
] as const;
/** The names of the metrics of ranked lists. */
export type ListMetricName = (typeof LIST_METRICS)[number];
