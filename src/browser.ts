// The public API that needs no files: what a page in a browser imports. index.ts adds the file readers and the store.

// What those mention
export type { PartSize } from './audit/audit.js';
// Is a split fair?
export { type AuditOptions, auditSplit, type SplitAudit } from './audit/audit.js';
export type { AuditCheck, AuditVerdict, CheckName, PartTimes } from './audit/checks.js';
export type {
  ComparedMethod,
  MethodScore,
  SplitKind,
  SplitLeaderboard as SplitLadder,
} from './audit/decision.js';
export { type Decision, type DecisionOptions, decideAcrossSplits } from './audit/decision.js';
export type { PartName } from './audit/numbering.js';
export type { Activity, SideHyper, TableTotals, TableValues } from './engine/engine.js';
// Values that are passed around
export type { EngineReason } from './engine/select.js';
export { AbortError, DeviceError, FitError, InputError } from './errors.js';
export type { Setting, SkipReason } from './evaluate/baselines/baseline.js';
export { type BaselineFit, type FitBaselineOptions, fitBaseline } from './evaluate/baselines/fit-baseline.js';
export type { PairedInterval } from './evaluate/bootstrap.js';
export type { Dropped, NoPredictiveCheck } from './evaluate/evaluate.js';
export { type EvaluateOptions, type Evaluation, evaluateModel } from './evaluate/evaluate.js';
// Judging
export { evaluateRanking, type RankingOptions } from './evaluate/evaluate-ranking.js';
export type { ListSource } from './evaluate/evaluate-tables.js';
export {
  type EvaluateTablesOptions as EvaluatePartsOptions,
  evaluateTables as evaluateParts,
  type ListComparison,
  type ListScoreRow as LadderRow,
  type TablesEvaluation as PartsEvaluation,
} from './evaluate/evaluate-tables.js';
export type { DroppedEdges } from './evaluate/held-out.js';
export type { GivenLists, GivenRecommendations, MadeLists } from './evaluate/make-lists.js';
export type { DegreeBin, Statistic } from './evaluate/predictive.js';
export {
  type CalibratedStatistic,
  type Calibration,
  checkPredictive,
  type InternalCheck,
  type InternalStatistic,
  type PredictiveCheck,
  type StatisticCheck,
} from './evaluate/predictive.js';
export { type SplitRankingTask, splitRankingTask } from './evaluate/split-task.js';
export type { SplitTables as SplitParts, TableTask as PartsTask } from './evaluate/table-task.js';
export { type TunedRanking, type TuneOptions, tuneRanking } from './evaluate/tune.js';
export type { BothHyper } from './fit/ascent/bound.js';
export type {
  AscentCheckpoint,
  Checkpoint,
  FitOrigin as Beginning,
  LoopState,
  RankingCheckpoint,
  RankingState,
  StopReason,
} from './fit/ascent/loop.js';
export type { MatchCounts, PreviousReport as FormerReport } from './fit/ascent/previous.js';
export type { CountChoice } from './fit/choose/counts.js';
export type { FeatureChoice, FeatureTrial } from './fit/choose/features.js';
export { type SparsityEvidence, sparsityEvidence } from './fit/choose/sparse-or-dense.js';
export { type FitResult, fit } from './fit/fit.js';
export {
  type FoldedVertex,
  type FoldInOptions,
  type FoldOneOptions,
  foldIn,
  foldInOne,
} from './fit/fold-in/fold-in.js';
export type { GibbsPosterior, PosteriorSide } from './fit/gibbs/gibbs.js';
export type { GibbsScalar } from './fit/gibbs/sampler.js';
export type {
  FactorScores,
  FitRecord,
  FoldRule,
  ItemScores,
  Model,
  ModelSide,
  PopularityScores,
  Posterior,
  PosteriorModel,
  Provenance,
  Ranker,
  RankerMember,
  RankerScores,
  RatePrior,
  SeenItems,
  Vertices,
} from './fit/model.js';
export type {
  AscentOptions,
  FitOptions,
  GibbsFitOptions,
  RankingFitOptions,
  RankingFromRanker,
  Resumable,
} from './fit/options.js';
export type { BlendReport, PreviousBlend as FormerBlend } from './fit/ranking/blend/blend.js';
export type { WeightSetting } from './fit/ranking/blend/item-weights.js';
export type { Penalties } from './fit/ranking/blend/least-squares.js';
export type { CountEffects, CountPrior as CountLaw } from './fit/sides/count-prior.js';
export {
  describeSides as modelLaw,
  type SideReport as SideLawReport,
  type SidesReport as LawReport,
} from './fit/sides/side-prior.js';
export type { SizeInterval } from './fit/sides/size-posterior.js';
// Fitting
export { LostFitError, type UnfinishedFit, unfinishedFit } from './fit/unfinished.js';
export type { Backtest, Refusal, TrackRecord } from './forecast/backtest.js';
export type { TimeCut, TimeTest } from './forecast/by-time.js';
export type { EstimatorName } from './forecast/estimators.js';
export type { ForecastEstimator } from './forecast/forecast.js';
// How it grows
export {
  type CurveForecast,
  type ForecastOptions,
  forecastGrowth,
  type GrowthForecast,
  type SideForecast,
} from './forecast/forecast.js';
export type { Foreseen } from './forecast/project.js';
export type { BySide, GraphSide, SideName } from './graph/graph.js';
export { VertexIds } from './graph/ids.js';
export { BipartiteGraph } from './graph/public.js';
export type {
  LeftOut,
  OriginKind,
  ReadCounts,
  ReadGuess,
  ReadResult,
  TextReading,
  TrimmedPart,
} from './ingest/options.js';
export type { Titles } from './ingest/title-table.js';
export type { RowLists } from './math/csr.js';
export type { ChainSummary } from './math/diagnostics.js';
export type { UnseenHyper as LeftoverHyper } from './math/quadrature.js';
export { Random, randomStream } from './math/random.js';
export type { ListMetricName, ListScores, Lists, ListTask, UserListMetric } from './metrics/list-metrics.js';
export type { RankingResult, RankingScores, UserMetric } from './metrics/ranking-metrics.js';
export type { RankingTask } from './metrics/ranking-task.js';
export type { SettingTrial as Trial, Tuned } from './metrics/setting-search.js';
export { type CommandName, optionsSchema } from './options/commands.js';
export type {
  BaselineName,
  CountPriorName as CountLawName,
  DrawsGiven,
  EngineName,
  ModelKind,
  PaperKind,
  Precision,
  SplitMethod,
  UserStorage,
} from './options/names.js';
// What functions take, for servers and forms
export type { JsonSchema, ObjectSchema } from './options/schema.js';
export { type DrawOptions, drawPredictive, type PredictiveDraw } from './predict/draw/draw.js';
export type { GraphStatistics } from './predict/draw/draw-graph.js';
export type { ListConfidence } from './predict/explain/confidence.js';
export {
  type Explanation,
  explain,
  type OwnItems,
  type ScoreParts,
  type UserRow,
} from './predict/explain/explain.js';
export type { Reasons } from './predict/explain/reasons.js';
// Predicting
export { type DescribedFeature, type DescribeOptions, describeFeatures } from './predict/features.js';
export type { Id } from './predict/recommend.js';
export {
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
export type { RankOptions, Scorer } from './predict/scoring/scorer.js';
export { type SimilarItem, similarItems } from './predict/similar.js';
export type { VertexParameters } from './process/assemble.js';
export type { FiniteIntensity, InfiniteIntensity, Intensity, PointSet } from './process/graphex.js';
export { type GraphexSample, type SampleGraphexOptions, sampleGraphex } from './process/graphex.js';
// Graphs that are drawn
export { type SimulateOptions, type Simulation, simulate } from './process/poisson-model.js';
export type { Sizes, UnsizedPrior as UnsizedLaw } from './process/sizes.js';
export { type EstimateSizesOptions, estimateSizes, type GraphSizes } from './process/sizes.js';
export type { SidePrior as SideLaw } from './process/unseen.js';
export type { Progress, TaskOptions } from './progress.js';
// What people read: charts, pages and sentences
export { type Chart, drawChart } from './report/charts/chart.js';
export { type DegreeCurve, degreesChart } from './report/charts/degrees.js';
export { type DensityCurves, densityChart } from './report/charts/density.js';
export { type PredictionChartOptions, predictionChart } from './report/charts/prediction.js';
export { type PredictivePanel, predictiveChart } from './report/charts/predictive.js';
export { rankingChart } from './report/charts/ranking.js';
export { splitChart } from './report/charts/split.js';
export type { PredictionPictures, StudyPictureName } from './report/charts/study.js';
export { type StudyPicture, type StudyPictures, studyPictures } from './report/charts/study.js';
export { type CheckPage, renderCheckPage } from './report/pages/check.js';
export { renderStudyPage } from './report/pages/study.js';
export { engineWords } from './report/words/engines.js';
export { intervalWords, leftOutWords, noPredictiveCheck, surpriseWords } from './report/words/evaluation.js';
export { methodTitle } from './report/words/methods.js';
export { readingWords } from './report/words/reading.js';
export type { Judged } from './report/words/sparsity.js';
export { evidenceWords, type SparsityWords, sparsityWords } from './report/words/sparsity.js';
export { type NextStep, type StudyVerdict, type StudyVerdicts, studyVerdicts } from './report/words/study.js';
// Sampling and splitting
export { type Levels, pqSample } from './sample/pq.js';
export { type SplitOptions, split } from './sample/split.js';
export type { Assignment as Coins, Split, SplitTimes } from './sample/split-types.js';
export { type ThinOptions, thin } from './sample/thin.js';
export type { DegreeSummary } from './sparsity/check.js';
// Is it sparse?
export { type CheckOptions, checkSparsity, type SparsityCheck } from './sparsity/check.js';
export type { CurvePoint } from './sparsity/curves.js';
export type { DegreeCounts } from './sparsity/degree-counts.js';
export type { DegreeFit } from './sparsity/degree-likelihood.js';
export type { LowDegreeFit } from './sparsity/low-degrees.js';
export { type TailIndex, tailIndex } from './sparsity/tail-index.js';
export type {
  Estimate,
  LowEstimate,
  SideVerdict as Judgement,
  Verdict,
  VerdictReason,
} from './sparsity/verdict.js';
// Models as bytes
export {
  type ModelFile,
  modelFileFromBytes,
  modelFromBytes,
  modelToBytes,
  type SaveOptions,
} from './store/model-bytes.js';
export type { RankerStorage } from './store/ranker-tensors.js';
export type { Atlas, AtlasEntry, AtlasFeature, AtlasVertex } from './study/atlas.js';
export type {
  Comparison,
  Figure,
  Leaderboard as Ladder,
  LeaderboardMetric as LadderMetric,
  LeaderboardRow as StudyLadderRow,
  LeaderboardScores as LadderScores,
} from './study/leaderboard.js';
export type { StudyOptions, StudySettings, StudyTruth, TrueSide } from './study/options.js';
export type {
  CheckedFit,
  PartSize as StudyPartSize,
  Spread,
  StageTime,
  StudyCheck,
  StudyEvidence,
  StudyFinding,
  StudyFit,
  StudyOrigin,
  StudyPredictive,
  StudyRanker,
  StudyReceipt,
  StudyResults,
  StudyRun,
  StudySplit,
  StudySummary,
  WithNull,
} from './study/results.js';
export { study } from './study/study.js';
export type { Topic, TopicItem } from './study/topics.js';
// What the two sides are called
export type { Noun } from './text/phrases.js';
export { type AskedNames, type SideNames, sideNames } from './text/sides.js';
export type { Stage } from './text/stages.js';
export type {
  FactorTables,
  ItemWeightScores,
  RowScores,
  SparseWeights,
} from './topn/query.js';
export { VERSION } from './version.js';
