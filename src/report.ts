// `graphex/report`: charts, pages and sentences from results, and the types that results are made of.

export type { AskedColumns } from './attributes/columns.js';
export type { ContentScores, ContentSettings } from './attributes/content-scores.js';
export type { ColumnKind, InfoColumn, ModelInfo, SideInfo, Tastes } from './attributes/info.js';
export type { SideInfoSource } from './attributes/side-info.js';
// Forecast and audit
export type { AuditCheck, AuditVerdict, CheckName, PartTimes } from './audit/checks.js';
export type { ComparedMethod, MethodScore, SplitKind, SplitLeaderboard } from './audit/decision.js';
export type { PartName } from './audit/numbering.js';
// Fit
export type { TableTotals, TableValues } from './engine/engine.js';
export type { EngineReason } from './engine/select.js';
export type { SkipReason } from './evaluate/baselines/baseline.js';
// Evaluate
export type { PairedInterval } from './evaluate/bootstrap.js';
export type { Dropped, NoPredictiveCheck } from './evaluate/evaluate.js';
export type { ListComparison, ListScoreRow, ListSource } from './evaluate/evaluate-tables.js';
export type { DroppedEdges } from './evaluate/held-out.js';
export type { GivenLists, MadeLists } from './evaluate/make-lists.js';
export type {
  CalibratedStatistic,
  Calibration,
  DegreeBin,
  InternalCheck,
  InternalStatistic,
  Statistic,
  StatisticCheck,
} from './evaluate/predictive.js';
export type { WholeTask } from './evaluate/split-task.js';
export type { TableTask } from './evaluate/table-task.js';
export type { BothHyper } from './fit/ascent/bound.js';
export type {
  AscentCheckpoint,
  FitOrigin,
  LoopState,
  RankingCheckpoint,
  RankingState,
  StopReason,
} from './fit/ascent/loop.js';
export type { MatchCounts, PreviousReport } from './fit/ascent/previous.js';
export type { Evaluation as PhaseEvaluation, Phase, Schedule, Until } from './fit/ascent/schedule.js';
export type { CountChoice } from './fit/choose/counts-model.js';
export type { FeatureChoice, FeatureTrial } from './fit/choose/feature-count.js';
// Recommend
export type { OwnItems } from './fit/fold-in/member-fold.js';
// Draw
export type { GibbsPosterior, PosteriorSide } from './fit/gibbs/gibbs.js';
export type { GibbsScalar } from './fit/gibbs/sampler.js';
export type {
  FactorScores,
  FitRecord,
  FoldRule,
  ItemScores,
  PopularityScores,
  Posterior,
  Provenance,
  RankerMember,
  RankerScores,
  RatePrior,
  SeenItems,
} from './fit/model.js';
export type { BlendReport, PreviousBlend } from './fit/ranking/blend/blend.js';
export type { PartGains, WeightSetting } from './fit/ranking/blend/item-weights.js';
export type { Penalties } from './fit/ranking/blend/least-squares.js';
export type { RecencyReport } from './fit/ranking/half-life-search.js';
export type { Recency } from './fit/ranking/recency.js';
export type { CountEffects, CountPrior } from './fit/sides/count-prior.js';
export type { SideReport, SidesReport } from './fit/sides/side-prior.js';
export type { SizeInterval } from './fit/sides/size-posterior.js';
export type { Backtest, Refusal, TrackRecord } from './forecast/backtest.js';
export type { TimeCut, TimeTest } from './forecast/by-time.js';
export type { EstimatorName } from './forecast/estimators.js';
export type { CurveForecast, ForecastEstimator, SideForecast } from './forecast/forecast.js';
export type { NextPeriod } from './forecast/next-period.js';
export type { Foreseen } from './forecast/project.js';
// Read data
export type { PartSize } from './graph/graph.js';
export type { TextRow } from './ingest/formats/scan.js';
export type { LeftOut, OriginKind, TextReading, TrimmedPart } from './ingest/options.js';
export type { EdgeCounts, EdgeRows, RowLists } from './math/csr.js';
export type { ChainSummary } from './math/diagnostics.js';
export type { IdShares } from './math/id-draws.js';
export type { UnseenHyper } from './math/quadrature.js';
export type { UserListMetric } from './metrics/definitions.js';
export type { ListScores, Lists, ListTask } from './metrics/list-metrics.js';
export type { UserMetric } from './metrics/ranking-metrics.js';
export type { Setting, SettingTrial, Tuned } from './metrics/setting-search.js';
export type { WriteOption } from './options/error.js';
export type { CountPriorName, PaperKind, Precision, UserStorage } from './options/names.js';
export type { GraphStatistics } from './predict/draw/draw-graph.js';
export type { ScoreParts } from './predict/explain/explain.js';
export type { Reasons } from './predict/explain/reasons.js';
export type { RankOptions } from './predict/scoring/scorer.js';
export type { VertexParameters } from './process/assemble.js';
export type { FiniteIntensity, InfiniteIntensity, PointSet } from './process/graphex.js';
export type { GraphSizes, Sizes, UnsizedPrior } from './process/sizes.js';
// Charts
export { type Chart, drawChart } from './report/charts/chart.js';
export { type DegreeCurve, degreesChart } from './report/charts/degrees.js';
export { type DensityCurves, densityChart } from './report/charts/density.js';
export { type PredictionChartOptions, predictionChart } from './report/charts/prediction.js';
export { type PredictivePanel, predictiveChart } from './report/charts/predictive.js';
export { rankingChart } from './report/charts/ranking.js';
export { splitChart } from './report/charts/split.js';
export {
  type PredictionPictures,
  type StudyPicture,
  type StudyPictureName,
  type StudyPictures,
  studyPictures,
} from './report/charts/study.js';
// Pages
export { type CheckPage, renderCheckPage } from './report/pages/check.js';
export { renderStudyPage } from './report/pages/study.js';
export { intervalWords, leftOutWords, noPredictiveCheck, surpriseWords } from './report/words/evaluation.js';
// Sentences
export { engineWords } from './report/words/fit.js';
export { methodTitle } from './report/words/methods.js';
export { readingWords } from './report/words/reading.js';
export {
  evidenceWords,
  type NamedVerdict,
  type SparsityWords,
  sparsityWords,
} from './report/words/sparsity.js';
export { type NextStep, type StudyVerdict, type StudyVerdicts, studyVerdicts } from './report/words/study.js';
export type { Levels } from './sample/pq.js';
export type { Assignment, SplitTimes } from './sample/split-types.js';
// Check sparsity
export type { DegreeSummary } from './sparsity/check.js';
export type { CurvePoint } from './sparsity/curves.js';
export type { DegreeCounts } from './sparsity/degree-counts.js';
export type { DegreeFit } from './sparsity/degree-likelihood.js';
export type { LowDegreeFit } from './sparsity/low-degrees.js';
export type { TailIndexJson, WithNull } from './sparsity/tail-index.js';
export type { Estimate, LowEstimate, SideVerdict, Verdict, VerdictReason } from './sparsity/verdict.js';
export type { RankerStorage } from './store/ranker-tensors.js';
// Study
export type { Atlas, AtlasEntry, AtlasFeature, AtlasVertex } from './study/atlas.js';
export type {
  Comparison,
  Figure,
  Leaderboard,
  LeaderboardMetric,
  LeaderboardRow,
  LeaderboardScores,
} from './study/leaderboard.js';
export type { StudySettings, TitleLookup, TrueSide } from './study/options.js';
export type {
  CheckedFit,
  Spread,
  StageTime,
  StudyCheck,
  StudyEvidence,
  StudyFinding,
  StudyFit,
  StudyOrigin,
  StudyParts,
  StudyPredictive,
  StudyRanker,
  StudyReceipt,
  StudyRun,
  StudySplit,
  StudySummary,
} from './study/results.js';
export type { Topic, TopicItem } from './study/topics.js';
export type { Noun } from './text/phrases.js';
export type { Stage } from './text/stages.js';
export type { FactorTables, ItemWeightScores, Products, RowScores, SparseWeights } from './topn/query.js';
