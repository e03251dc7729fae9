// The paper's whole study on one graph: check → split → sparse and dense fits → fold-in → predictive checks →
// recommendation → baselines, once for each split.

import { InputError, throwIfAborted } from '../errors.js';
import { fitBaselines } from '../evaluate/baselines/ladder.js';
import { reasonAgainstCalibration } from '../evaluate/calibrate.js';
import { type Evaluation, evaluateModel } from '../evaluate/evaluate.js';
import type { RankingOptions } from '../evaluate/ranking.js';
import { type SplitRankingTask, splitRankingTask } from '../evaluate/ranking-task.js';
import { sparsityEvidence } from '../fit/evidence.js';
import { chooseFeatures, type FeatureChoice } from '../fit/feature-count.js';
import { type FitResult, fit } from '../fit/fit.js';
import { featureCount, type Model, type PosteriorModel, type Ranker } from '../fit/model.js';
import { fingerprint } from '../graph/fingerprint.js';
import { type BipartiteGraph, degrees, SIDES, type SideName } from '../graph/graph.js';
import { AUTO } from '../options/fit.js';
import { largest } from '../predict/largest.js';
import type { Progress, TaskOptions } from '../progress.js';
import { split as splitGraph, unseenByTraining } from '../sample/split.js';
import type { Split } from '../sample/split-types.js';
import { checkSparsity, type SparsityCheck } from '../sparsity/check.js';
import { type Stage, stageLabel } from '../text/stages.js';
import { VERSION } from '../version.js';
import { rankingCeilings } from './ceilings.js';
import { baselineContestants, buildLadder, type Contestant, type Ladder } from './ladder.js';
import {
  fitOptionsOf,
  type ModelKind,
  modelsOf,
  numbersOf,
  type StudyOptions,
  type StudySettings,
  studySettings,
} from './options.js';
import {
  fitId,
  RESULTS_VERSION,
  type StageTime,
  type StudyCheck,
  type StudyEvidence,
  type StudyFit,
  type StudyRanker,
  type StudyResults,
  type StudyRun,
  type StudySplit,
} from './results.js';
import { summarizeRuns } from './summary.js';
import { hasNames, type Topic, topics } from './topics.js';

/** Runs the study. The same graph and options give the same numbers, on any number of threads; only times differ. */
export async function study(graph: BipartiteGraph, options: StudyOptions = {}): Promise<StudyResults> {
  const settings = studySettings(options, graph.edges);
  checkTruth(graph, options);
  const began = performance.now();
  const clock = new Clock(options, settings);
  const check = await clock.stage({ stage: 'check' }, (task) =>
    checkSparsity(graph, { seed: settings.seed, ...task }),
  );
  const byEvidence = settings.features.includes(AUTO)
    ? await featuresByEvidence(graph, settings, clock)
    : null;
  const counted = { ...settings, features: numbersOf(settings.features, byEvidence?.chosen) };
  const found: FirstRunFindings = { evidence: [], topics: new Map() };
  const runs: StudyRun[] = [];
  for (let repeat = 0; repeat < settings.repeats; repeat++) {
    clock.run = repeat;
    runs.push(await oneRun(graph, options, counted, repeat, clock, repeat === 0 ? found : undefined));
  }
  const features = bestFeatures(runs[0]);
  const kind = mainKind(settings);
  const shownTopics = found.topics.get(features);
  return Object.freeze({
    format: 'graphex-study' as const,
    version: RESULTS_VERSION,
    receipt: {
      fingerprint: fingerprint(graph),
      graphexVersion: VERSION,
      settings,
      seeds: runs.map((run) => run.split.seed),
      withTruth: options.truth !== undefined,
      engines: [...new Set(runs.flatMap((run) => run.fits.map((f) => f.engine)))],
      origin: null,
      timings: clock.times,
      seconds: (performance.now() - began) / 1000,
    },
    check: jsonCheck(check, graph.multigraph),
    runs,
    chosen: { features, byEvidence },
    evidence: found.evidence,
    topics: shownTopics ? { model: kind, features: shownTopics } : null,
    example: { user: busiestUser(graph) },
    summary: summarizeRuns(runs),
  });
}

/** Somebody for whom there is much to go by. */
function busiestUser({ users }: BipartiteGraph): string {
  const degree = degrees(users);
  const [busiest] = largest(degree.length, 1, (u) => degree[u]);
  return users.ids.at(busiest);
}

/** Settings whose numbers of features are known. */
interface CountedSettings extends StudySettings {
  readonly features: readonly number[];
}

/** Once for all runs: on the training part of the first, since a choice must not look at what it is judged by. */
async function featuresByEvidence(
  graph: BipartiteGraph,
  settings: StudySettings,
  clock: Clock,
): Promise<FeatureChoice> {
  const { testUsers, testItems, seed } = settings;
  const { train } = splitGraph(graph, { testUsers, testItems, seed });
  const { features: _, ...options } = fitOptionsOf(settings, mainKind(settings));
  return clock.stage({ stage: 'features' }, (t) => chooseFeatures(train, { ...options, ...t }));
}

/** What only the first run is asked for. */
interface FirstRunFindings {
  readonly evidence: StudyEvidence[];
  /** By K. */
  readonly topics: Map<number, Topic[]>;
}

async function oneRun(
  graph: BipartiteGraph,
  options: StudyOptions,
  base: CountedSettings,
  repeat: number,
  clock: Clock,
  found: FirstRunFindings | undefined,
): Promise<StudyRun> {
  const seed = base.seed + repeat;
  const settings = { ...base, seed };
  const { testUsers, testItems, n, depth } = settings;
  const parts = await clock.stage({ stage: 'split' }, async () =>
    splitGraph(graph, { testUsers, testItems, seed }),
  );
  const task = splitRankingTask(parts);
  const contestants: Contestant[] = [];
  const fits: StudyFit[] = [];
  for (const features of settings.features) {
    for (const kind of modelsOf(settings)) {
      const about = { model: kind, ...(settings.features.length > 1 && { features }) };
      const fitOptions = fitOptionsOf(settings, kind, features);
      const fitted = await clock.stage({ stage: 'fit', ...about }, (t) =>
        fit(parts.train, { ...fitOptions, ...t, objective: 'evidence' }),
      );
      const evaluation = await evaluate(fitted.model, parts, settings, clock, about);
      fits.push(describeFit(kind, fitted, evaluation));
      contestants.push(contestant(fitId(kind, features), 'model', kind, features, evaluation));
      if (found && kind === mainKind(settings)) {
        await findings(found, { parts, fitted, options, settings, kind, features, clock });
      }
    }
  }
  let ranker: StudyRanker | null = null;
  if (settings.ranker) {
    const { engine } = settings;
    const fitted = await clock.stage({ stage: 'fit', model: 'ranking' }, (t) =>
      fit(parts.train, { method: 'ranking', average: RANKER_AVERAGE, seed, engine, ...t }),
    );
    const evaluation = await evaluate(fitted.model, parts, { ...settings, draws: 0 }, clock, {
      model: 'ranking',
    });
    const features = featureCount(fitted.model)!;
    contestants.push(contestant('ranking', 'ranker', null, features, evaluation));
    ranker = describeRanker(fitted);
  }
  const skipped = await addBaselines(contestants, parts, task, settings, clock);
  if (options.truth) {
    const { truth } = options;
    const ceilings = await clock.stage({ stage: 'ceilings' }, (t) =>
      rankingCeilings(graph, parts, task, truth, { ...t, n, depth }),
    );
    for (const [id, ranking] of [
      ['ceiling-fold-in', ceilings.foldIn],
      ['ceiling-truth', ceilings.truth],
    ] as const) {
      contestants.push({ ...PLAIN_ROW, id, kind: 'ceiling', ranking });
    }
  }
  const ladder = await clock.stage({ stage: 'compare' }, async () =>
    buildLadder(contestants, seed, skipped, task.left),
  );
  return { repeat, split: describeSplit(parts), fits, ranker, ladder };
}

/** Fits whose scores the fit for ranking adds up. */
const RANKER_AVERAGE = 2;

async function evaluate(
  model: Model,
  parts: Split,
  settings: StudySettings,
  clock: Clock,
  about: Omit<Stage, 'stage'>,
): Promise<Evaluation> {
  const { n, depth, draws, protocol, seed, engine } = settings;
  // Of both models, only the one that can be is corrected.
  const fixed = model.type === 'ranker' || reasonAgainstCalibration(model);
  const calibrate = fixed ? 0 : settings.calibrate;
  return clock.stage({ stage: 'evaluate', ...about }, (t) =>
    evaluateModel(model, parts, { n, depth, draws, calibrate, protocol, seed, engine, ...t }),
  );
}

/** One of the fits of the first run, and what it was made with. */
interface FirstFit {
  readonly parts: Split;
  readonly fitted: FitResult<PosteriorModel>;
  readonly options: StudyOptions;
  readonly settings: StudySettings;
  readonly kind: ModelKind;
  readonly features: number;
  readonly clock: Clock;
}

async function findings(
  found: FirstRunFindings,
  { parts, fitted, options, settings, kind, features, clock }: FirstFit,
): Promise<void> {
  if (kind === 'sparse') {
    const evidence = await clock.stage({ stage: 'evidence', features }, (t) =>
      sparsityEvidence(parts.train, fitted, { ...fitOptionsOf(settings, kind, features), ...t }),
    );
    if (evidence) found.evidence.push({ features, ...evidence });
  }
  if (hasNames(fitted.model.items.ids, options.titles)) {
    found.topics.set(features, topics(fitted.model, { titles: options.titles, items: settings.topicItems }));
  }
}

/** Adds the baselines to the contestants; says which could not be fitted, and why. */
async function addBaselines(
  contestants: Contestant[],
  parts: Split,
  task: SplitRankingTask,
  { baselines, n, depth, seed, trials }: StudySettings,
  clock: Clock,
): Promise<Ladder['skipped']> {
  if (baselines.length === 0) return [];
  try {
    const report = await clock.stage({ stage: 'baselines' }, (t: RankingOptions) =>
      fitBaselines(parts, task, { baselines, n, depth, seed, maxTrials: trials, ...t }),
    );
    contestants.push(...baselineContestants(report));
    return report.skipped;
  } catch (error) {
    // Too little data to hold anyone back: the rest of the study stands all the same.
    if (!(error instanceof InputError)) throw error;
    return [{ name: 'all', reason: { code: 'error', message: error.message } }];
  }
}

/** Times the stages, and makes each one's progress say which it is. */
class Clock {
  readonly times: StageTime[] = [];
  run: number | null = null;

  constructor(
    readonly options: TaskOptions,
    readonly settings: StudySettings,
  ) {}

  async stage<T>(stage: Stage, work: (task: TaskOptions) => Promise<T>): Promise<T> {
    const { signal, threads, onProgress } = this.options;
    const label = stageLabel(stage);
    throwIfAborted(signal);
    const several = this.run !== null && this.settings.repeats > 1;
    const where = several ? `split ${this.run! + 1} of ${this.settings.repeats}, ` : '';
    const report =
      onProgress && ((p: Progress) => onProgress({ ...p, stage: `${where}${label}: ${p.stage}` }));
    onProgress?.({ stage: `${where}${label}`, done: 0 });
    const began = performance.now();
    const result = await work({ signal, threads, onProgress: report });
    throwIfAborted(signal);
    this.times.push({ run: this.run, ...stage, seconds: (performance.now() - began) / 1000 });
    return result;
  }
}

function checkTruth(graph: BipartiteGraph, { truth }: StudyOptions): void {
  if (!truth) return;
  for (const side of SIDES) {
    const { weights, features } = truth[side];
    if (weights.length !== graph[side].count || features.length !== weights.length * truth.features) {
      throw new InputError(
        `truth: parameters of ${weights.length} ${side}, the graph has ${graph[side].count}; give those of this graph`,
      );
    }
  }
}

function mainKind({ model }: StudySettings): ModelKind {
  return model === 'dense' ? 'dense' : 'sparse';
}

/** The K whose model has the highest bound; sparse where there is one. */
function bestFeatures({ fits }: StudyRun): number {
  const kind = fits.some((f) => f.model === 'sparse') ? 'sparse' : 'dense';
  return fits.filter((f) => f.model === kind).reduce((a, b) => (b.bound > a.bound ? b : a)).features;
}

const PLAIN_ROW = { model: null, features: null, setting: null, trials: 0, tuned: true };

function contestant(
  id: string,
  kind: Contestant['kind'],
  model: ModelKind | null,
  features: number,
  { ranking }: Evaluation,
): Contestant {
  return { ...PLAIN_ROW, id, kind, model, features, ranking };
}

function describeFit(kind: ModelKind, fitted: FitResult<PosteriorModel>, evaluation: Evaluation): StudyFit {
  const { model, seconds, engine, engineReason } = fitted;
  const { bounds, iterations, converged } = model.provenance;
  const pair = (name: 'sigma' | 'size' | 'tau' | 'shape' | 'rate') => ({
    users: model.users.hyper[name],
    items: model.items.hyper[name],
  });
  return {
    model: kind,
    features: model.features,
    bound: model.bound!,
    bounds,
    iterations,
    converged,
    seconds,
    secondsPerIteration: seconds / Math.max(1, iterations),
    engine,
    engineReason,
    sigma: pair('sigma'),
    size: pair('size'),
    tau: pair('tau'),
    shape: pair('shape'),
    rate: pair('rate'),
    predictive: evaluation.predictive ? { protocol: evaluation.protocol, ...evaluation.predictive } : null,
  };
}

function describeRanker({ model, seconds, engine }: FitResult<Ranker>): StudyRanker {
  const { iterations, converged } = model.provenance;
  return { features: featureCount(model)!, average: RANKER_AVERAGE, iterations, converged, seconds, engine };
}

function describeSplit(parts: Split): StudySplit {
  const size = (part: BipartiteGraph) => ({
    users: part.users.count,
    items: part.items.count,
    edges: part.edges,
  });
  const unseen = unseenByTraining(parts);
  const drawn = (coins: Uint8Array) => coins.reduce((sum, coin) => sum + coin, 0);
  return {
    seed: parts.seed,
    testUsers: parts.testUsers,
    testItems: parts.testItems,
    train: size(parts.train),
    foldin: size(parts.foldIn),
    test: size(parts.test),
    coins: { users: drawn(parts.coins.users.drawn), items: drawn(parts.coins.items.drawn) },
    dropped: unseen.foldIn.edges + unseen.test.edges,
  };
}

/** JSON has no undefined: null where an estimate or its error does not exist. */
function jsonCheck(check: SparsityCheck, multigraph: boolean): StudyCheck {
  const nullable = <T extends { readonly standardError: number | undefined }>(fit: T | undefined) =>
    fit ? { ...fit, standardError: fit.standardError ?? null } : null;
  const sigma = (side: SideName) => {
    const { half, mean, likelihood, lowDegrees } = check.sigma[side];
    return { half, mean, likelihood: nullable(likelihood), lowDegrees: nullable(lowDegrees) };
  };
  return { ...check, multigraph, sigma: { users: sigma('users'), items: sigma('items') } };
}
