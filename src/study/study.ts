// The paper's whole study on one graph: check → split → auto, sparse and dense fits → fold-in → predictive checks →
// recommendation → baselines, once for each split.

import type { SideInfo } from '../attributes/info.js';
import { readSideInfo } from '../attributes/side-info.js';
import { mayUseGpu } from '../engine/select.js';
import { InputError } from '../errors.js';
import { ATTRIBUTE_BASELINES, attributeBaseline } from '../evaluate/baselines/attribute-baselines.js';
import { fitBaselines } from '../evaluate/baselines/run-baselines.js';
import { rankWithoutHistory } from '../evaluate/evaluate.js';
import { evaluateRanking, type RankingOptions } from '../evaluate/evaluate-ranking.js';
import { rankLists } from '../evaluate/list-ranking.js';
import { type SplitRankingTask, splitRankingTask } from '../evaluate/split-task.js';
import { chooseFeatures, type FeatureChoice } from '../fit/choose/feature-count.js';
import { fingerprint } from '../graph/fingerprint.js';
import { type BipartiteGraph, degrees, partSize, SIDES } from '../graph/graph.js';
import { joinIds } from '../graph/ids.js';
import { largest } from '../math/nth-largest.js';
import type { RankingResult } from '../metrics/ranking-metrics.js';
import { AUTO } from '../options/commands/fit.js';
import { shareThreads, type ThreadShare, withWaitReport } from '../parallel/budget.js';
import { threadCount } from '../parallel/pool.js';
import { drawnVertices, split as splitGraph, unseenByTraining } from '../sample/split.js';
import type { Split } from '../sample/split-types.js';
import { checkSparsity } from '../sparsity/check.js';
import { tailIndexJson } from '../sparsity/tail-index.js';
import { VERSION } from '../version.js';
import { rankingCeilings } from './ceilings.js';
import {
  buildLeaderboard,
  type Leaderboard,
  PLAIN_ROW,
  type RankedMethod,
  rankedBaselines,
} from './leaderboard.js';
import { type CountedSettings, type FirstRunFindings, fitModels, rankingOf } from './models.js';
import {
  checkStudyTimes,
  fitOptionsOf,
  type ModelKind,
  mainModel,
  numbersOf,
  type StudyLists,
  type StudyOptions,
  type StudySettings,
  studySettings,
} from './options.js';
import { fitRanker } from './ranker.js';
import { RESULTS_VERSION, type StudyResults, type StudyRun, type StudySplit } from './results.js';
import { StageTimes } from './stage-times.js';
import { leaderboardEntries, summarizeRuns } from './summary.js';

/**
 * Runs the study. The same graph and options give the same numbers, on any number of threads; only times differ.
 * @example
 * import { simulate, study } from 'graphex';
 * const { graph } = await simulate({ features: 4, users: { size: 30 }, items: { size: 30 }, seed: 1 });
 * const titles = new Map([[graph.items.ids.at(0), 'The first item']]);
 * const results = await study(graph, { features: 4, model: 'auto', draws: 0, baselines: ['popularity'], ranker: false, titles });
 * console.log(results.runs[0].leaderboard.rows.map(({ id }) => id));
 */
export async function study(graph: BipartiteGraph, options: StudyOptions = {}): Promise<StudyResults> {
  const settings = studySettings(options, graph.edges);
  checkTruth(graph, options);
  checkStudyTimes(settings, options, graph.edges);
  if (options.splits?.length === 0) throw new InputError('splits: there are none; give at least one');
  const start = performance.now();
  const times = new StageTimes(options, settings);
  const check = await times.stage({ stage: 'check' }, (task) =>
    checkSparsity(graph, { seed: settings.seed, ...task }),
  );
  const sigma = { users: tailIndexJson(check.sigma.users), items: tailIndexJson(check.sigma.items) };
  const checked = { ...check, multigraph: graph.multigraph, sigma };
  options.onFinding?.({ kind: 'check', check: checked });
  const byEvidence = settings.features.includes(AUTO)
    ? await featuresByEvidence(options.splits?.[0]?.train ?? firstTrain(graph, settings), settings, times)
    : null;
  const counted = { ...settings, features: numbersOf(settings.features, byEvidence?.chosen) };
  const found: FirstRunFindings = { evidence: [], topics: new Map(), atlas: new Map() };
  const runs: StudyRun[] = [];
  for (let repeat = 0; repeat < settings.repeats; repeat++) {
    times.run = repeat;
    runs.push(await oneRun(graph, options, counted, repeat, times, repeat === 0 ? found : undefined));
  }
  const kind = mainModel(settings);
  const features = bestFeatures(runs[0], kind);
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
      origin: options.origin ?? null,
      timings: times.times,
      seconds: (performance.now() - start) / 1000,
    },
    check: checked,
    runs,
    chosen: { features, byEvidence },
    evidence: found.evidence,
    topics: shownTopics ? { model: kind, features: shownTopics } : null,
    atlas: found.atlas.get(features),
    example: { user: busiestUser(graph) },
    summary: summarizeRuns(runs),
    leaderboard: leaderboardEntries(runs),
  });
}

/** A user with a long history, for examples. */
function busiestUser({ users }: BipartiteGraph): string {
  const degree = degrees(users);
  const [busiest] = largest(degree.length, 1, (u) => degree[u]);
  return users.ids.at(busiest);
}

/** One choice for all runs, made on the training part of the first: a choice must not see the test part. */
async function featuresByEvidence(
  train: BipartiteGraph,
  settings: StudySettings,
  times: StageTimes,
): Promise<FeatureChoice> {
  const { features: _, ...options } = fitOptionsOf(settings, mainModel(settings));
  return times.stage({ stage: 'features' }, (t) => chooseFeatures(train, { ...options, ...t }));
}

function firstTrain(graph: BipartiteGraph, { testUsers, testItems, seed }: StudySettings): BipartiteGraph {
  return splitGraph(graph, { testUsers, testItems, seed }).train;
}

async function oneRun(
  graph: BipartiteGraph,
  options: StudyOptions,
  base: CountedSettings,
  repeat: number,
  times: StageTimes,
  found: FirstRunFindings | undefined,
): Promise<StudyRun> {
  const given = options.splits?.[repeat];
  const seed = given ? base.seed : base.seed + repeat;
  // Lists made elsewhere end at n, so with all items nDCG does too.
  const depth = base.protocol === 'all-items' ? base.n : base.depth;
  const settings = { ...base, seed, depth };
  const { testUsers, testItems, n, protocol } = settings;
  const parts = await times.stage(
    { stage: 'split' },
    async () => given ?? splitGraph(graph, { testUsers, testItems, seed, times: options.times }),
  );
  const newItems =
    parts.method === 'new-items' ? readSideInfo(parts.train.items, options.itemInfo!).info : undefined;
  const ranked = newItems && joinIds([parts.train.items.ids, newItems.added]);
  const task = splitRankingTask(parts, ranked, undefined, protocol);
  // Before the fits: lists that do not match the parts are refused.
  const lists = (options.lists ?? []).map((given) => rankedLists(given, parts, task, n));
  const withoutHistory = await rankWithoutHistory(task, { n, depth, threads: options.threads });
  const parallel = worksInParallel(parts.train.edges, settings, options);
  // A GPU belongs to one thread, and two fits might not fit in its memory.
  const onGpu = settings.ranker && parallel && (await mayUseGpu(settings.engine));
  const [ofModels, ofRanker, ...ofBaselines] = parallel
    ? shareThreads(options.threads, 2 + settings.baselines.length)
    : [];
  if (!settings.ranker) ofRanker?.end();
  let modelsEnd = () => {};
  const models = new Promise<void>((resolve) => {
    modelsEnd = resolve;
  });
  const [{ fits, methods, counts }, ranker, baselines] = await times.runAll(
    [
      (own) =>
        own
          .within(ofModels, () => fitModels(parts, settings, own, found && { found, options }, newItems))
          .finally(modelsEnd),
      async (own) => {
        if (!settings.ranker) return undefined;
        if (onGpu) await models;
        return own.within(ofRanker, () =>
          fitRanker(parts, settings, own, parallel && !onGpu, options.itemInfo),
        );
      },
      async (own) => {
        try {
          if (settings.baselines.length === 0) return { rows: [], skipped: [] };
          const found = newItems
            ? await runAttributeBaselines(newItems, degrees(parts.train.items), task, settings, own)
            : await runBaselines(
                parts,
                task,
                withoutHistory,
                settings,
                own,
                parallel ? ofBaselines : undefined,
              );
          for (const row of found.rows) own.found(row);
          return found;
        } finally {
          for (const share of ofBaselines) share.end();
        }
      },
    ],
    parallel,
  );
  if (ranker) methods.push(...ranker.rows);
  methods.push(...baselines.rows);
  for (const { row } of lists) {
    methods.push(row);
    times.found(row);
  }
  if (options.truth) {
    const { truth } = options;
    const ceilings = await times.stage({ stage: 'ceilings' }, (t) =>
      rankingCeilings(graph, parts, task, truth, { ...t, n, depth }),
    );
    methods.push(
      ...ceilings.map((row) => ({ ...row, ranking: rankingOf({ ...row, task, withoutHistory }) })),
    );
  }
  const leaderboard = await times.stage({ stage: 'compare' }, async () =>
    buildLeaderboard(methods, seed, { skipped: baselines.skipped, left: task.left, withoutHistory }),
  );
  return {
    repeat,
    split: describeSplit(parts),
    fits,
    counts,
    ranker: ranker?.described ?? null,
    lists: lists.map(({ notes }) => notes),
    leaderboard,
  };
}

function rankedLists({ name, recommendations }: StudyLists, parts: Split, task: SplitRankingTask, n: number) {
  try {
    const { ranking, notes } = rankLists(recommendations, parts, task, n);
    const row: RankedMethod = { ...PLAIN_ROW, id: name, kind: 'lists', ranking };
    return { row, notes: { name, ...notes } };
  } catch (error) {
    throw error instanceof InputError ? new InputError(`lists ${name}: ${error.message}`) : error;
  }
}

/** Below `from` edges threads cost more than they save; above `to` edges memory may not hold all. */
const PARALLEL = { from: 2e4, to: 2e7 };

/** Whether models, ranker and baselines run in parallel: much of each runs in one thread. */
function worksInParallel(edges: number, { engine }: StudySettings, { threads }: StudyOptions): boolean {
  return edges >= PARALLEL.from && edges <= PARALLEL.to && engine !== 'gpu' && threadCount(threads) > 1;
}

interface RankedBaselines {
  readonly rows: readonly RankedMethod[];
  readonly skipped: Leaderboard['skipped'];
}

/** The baselines that rank items without edges by their attributes. */
async function runAttributeBaselines(
  info: SideInfo,
  degree: Uint32Array,
  task: SplitRankingTask,
  { n, depth }: StudySettings,
  times: StageTimes,
): Promise<RankedBaselines> {
  const rows = await times.stage({ stage: 'baselines' }, async (t) => {
    const found: RankedMethod[] = [];
    for (const id of ATTRIBUTE_BASELINES) {
      const scorer = attributeBaseline(id, info, degree, task.history);
      const ranking = await evaluateRanking(task, scorer, { ...t, n, depth });
      found.push({ ...PLAIN_ROW, id, kind: 'baseline', ranking });
    }
    return found;
  });
  return { rows, skipped: [] };
}

/** The baselines, and why some could not be fitted. */
async function runBaselines(
  parts: Split,
  task: SplitRankingTask,
  withoutHistory: RankingResult | undefined,
  { baselines, n, depth, seed, trials }: StudySettings,
  times: StageTimes,
  shares: readonly ThreadShare[] | undefined,
): Promise<RankedBaselines> {
  try {
    const how = { baselines, n, depth, seed, maxTrials: trials };
    const report = await times.stage({ stage: 'baselines' }, (t: RankingOptions, waited) =>
      fitBaselines(parts, task, { ...how, ...t, shares: shares && withWaitReport(shares, waited) }),
    );
    const rows = rankedBaselines(report).map((row) => ({
      ...row,
      ranking: rankingOf({ ...row, task, withoutHistory }),
    }));
    return { rows, skipped: report.skipped };
  } catch (error) {
    // Too little data to hold users back: the rest of the study goes on.
    if (!(error instanceof InputError)) throw error;
    return { rows: [], skipped: [{ name: 'all', reason: { code: 'error', message: error.message } }] };
  }
}

function checkTruth(graph: BipartiteGraph, { truth, splits }: StudyOptions): void {
  if (!truth) return;
  if (splits?.some(({ method }) => method === 'new-items')) {
    throw new InputError(
      'truth: ceilings rank items of training, and a split by new items ranks the others; leave it out',
    );
  }
  for (const side of SIDES) {
    const { weights, features } = truth[side];
    if (weights.length !== graph[side].count || features.length !== weights.length * truth.features) {
      throw new InputError(
        `truth: it has parameters of ${weights.length} ${side}, but the graph has ${graph[side].count}; give those of this graph`,
      );
    }
  }
}

/** The K whose main model has the highest bound. */
function bestFeatures({ fits }: StudyRun, kind: ModelKind): number {
  return fits.filter((f) => f.model === kind).reduce((a, b) => (b.bound > a.bound ? b : a)).features;
}

function describeSplit(parts: Split): StudySplit {
  const unseen = unseenByTraining(parts);
  return {
    method: parts.method,
    seed: parts.seed,
    testUsers: parts.testUsers,
    testItems: parts.testItems,
    train: partSize(parts.train),
    foldin: partSize(parts.foldIn),
    test: partSize(parts.test),
    coins: drawnVertices(parts.assignment),
    dropped: unseen.foldIn.edges + unseen.test.edges,
  };
}
