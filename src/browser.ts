// `graphex` without files: what a page in a browser imports. index.ts adds the readers, the store and the server.
// Charts, pages, sentences and the types of details of results are in report.ts.

export {
  type FilterColumn,
  filterColumns,
  type ItemFilter,
  itemFilter,
  type ModelWithInfo,
} from './attributes/item-filter.js';
export type { SharedAttribute } from './attributes/shared-attributes.js';
// Forecast and audit
export { type AuditOptions, auditSplit, type SplitAudit } from './audit/audit.js';
export { type Decision, type DecisionOptions, decideAcrossSplits } from './audit/decision.js';
// Fit
export type { Activity, SideHyper } from './engine/engine.js';
// Options, errors and progress
export { AbortError, FitError, InputError } from './errors.js';
export { type BaselineFit, type FitBaselineOptions, fitBaseline } from './evaluate/baselines/fit-baseline.js';
export { type EvaluateOptions, type Evaluation, evaluateModel } from './evaluate/evaluate.js';
// Evaluate
export { evaluateRanking, type RankingOptions } from './evaluate/evaluate-ranking.js';
export {
  type EvaluateTablesOptions,
  evaluateTables,
  type Rival,
  type TablesEvaluation,
} from './evaluate/evaluate-tables.js';
export type { GivenRecommendations } from './evaluate/make-lists.js';
export { checkPredictive, type PredictiveCheck } from './evaluate/predictive.js';
export { type SplitRankingTask, splitRankingTask } from './evaluate/split-task.js';
export type { SplitTables } from './evaluate/table-task.js';
export type { Checkpoint } from './fit/ascent/loop.js';
export { type SparsityEvidence, sparsityEvidence } from './fit/choose/sparsity-evidence.js';
export { type FitResult, fit } from './fit/fit.js';
export { type FoldInOptions, foldIn } from './fit/fold-in/fold-in.js';
export type { Model, ModelSide, PosteriorModel, Ranker, Vertices } from './fit/model.js';
export type {
  AscentOptions,
  FitOptions,
  GibbsFitOptions,
  RankingFitOptions,
  RankingFromRanker,
  Resumable,
} from './fit/options.js';
export { type UnfinishedFit, unfinishedFit } from './fit/unfinished.js';
export { type ForecastOptions, forecastGrowth, type GrowthForecast } from './forecast/forecast.js';
// Read data
export type { BySide, GraphSide, SideName } from './graph/graph.js';
export type { VertexIds } from './graph/ids.js';
export { BipartiteGraph } from './graph/public.js';
export { type NamedBlob, readBlob } from './ingest/blob.js';
export type { ReadCounts, ReadGuess, ReadOptions, ReadResult, RejectSink } from './ingest/options.js';
// Draw
export { type Random, randomStream } from './math/random.js';
export type { RankingResult, RankingScores } from './metrics/ranking-metrics.js';
export type { RankingTask } from './metrics/ranking-task.js';
export type {
  BaselineName,
  DrawsGiven,
  EngineName,
  ListMetricName,
  ModelKind,
  Protocol,
  SplitMethod,
} from './options/names.js';
export { type DrawOptions, drawPredictive, type PredictiveDraw } from './predict/draw/draw.js';
// Recommend
export type { ListConfidence } from './predict/explain/confidence.js';
export type { ExplainedList, ExplainListOptions } from './predict/explain/explain-lists.js';
export { type DescribedFeature, type DescribeOptions, describeFeatures } from './predict/features.js';
export { type RateInterval, rateInterval } from './predict/rate-interval.js';
export {
  type Id,
  type Recommendation,
  type RecommendationExplanation,
  type RecommendOptions,
  recommend,
  recommendMany,
  type ScoreContribution,
  type UserQuery,
} from './predict/recommend.js';
export {
  createRecommender,
  type PopularItem,
  type RankCandidatesOptions,
  type Recommender,
} from './predict/recommender.js';
export type { Scorer } from './predict/scoring/scorer.js';
export { type SimilarItem, similarItems } from './predict/similar.js';
export {
  type GraphexSample,
  type Intensity,
  type SampleGraphexOptions,
  sampleGraphex,
} from './process/graphex.js';
export { type SimulateOptions, type Simulation, simulate } from './process/poisson-model.js';
export { type EstimateSizesOptions, estimateSizes } from './process/sizes.js';
export type { SidePrior } from './process/unseen.js';
export type { Progress, TaskOptions } from './progress.js';
// Split
export { pqSample } from './sample/pq.js';
export { type SplitOptions, split, splitFolds } from './sample/split.js';
export type { Split } from './sample/split-types.js';
export { type ThinOptions, thin } from './sample/thin.js';
// Check sparsity
export { type CheckOptions, checkSparsity, type SparsityCheck } from './sparsity/check.js';
export { type TailIndex, tailIndex } from './sparsity/tail-index.js';
// Store
export { modelFromBytes, modelToBytes, type SaveOptions } from './store/model-bytes.js';
// Study
export type { StudyLists, StudyOptions, StudyTitles, StudyTruth } from './study/options.js';
export type { EntryDifference, LeaderboardEntry, StudyResults } from './study/results.js';
export { study } from './study/study.js';
export { type AskedNames, type SideNames, sideNames } from './text/sides.js';
export { VERSION } from './version.js';
