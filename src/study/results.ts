// The results of a study: a plain value that JSON holds without loss. Absent values are null, never undefined or NaN.

import type { EngineReason } from '../engine/select.js';
import type { GivenLists } from '../evaluate/make-lists.js';
import {
  drawsOf,
  isIndex,
  observedOf,
  type PredictiveCheck,
  type Statistic,
} from '../evaluate/predictive.js';
import type { CountChoice } from '../fit/choose/counts-model.js';
import type { FeatureChoice } from '../fit/choose/feature-count.js';
import type { RecencyReport } from '../fit/ranking/half-life-search.js';
import type { Recency } from '../fit/ranking/recency.js';
import type { SidesReport } from '../fit/sides/side-prior.js';
import type { BySide, PartSize } from '../graph/graph.js';
import type { ReadCounts, ReadGuess } from '../ingest/options.js';
import type { UserMetric } from '../metrics/ranking-metrics.js';
import type { DrawsGiven, SplitMethod } from '../options/names.js';
import type { SparsityCheck } from '../sparsity/check.js';
import type { TailIndexJson } from '../sparsity/tail-index.js';
import type { Stage } from '../text/stages.js';
import type { Atlas } from './atlas.js';
import type { Leaderboard, LeaderboardMetric, LeaderboardRow } from './leaderboard.js';
import type { ModelKind, StudySettings } from './options.js';
import type { Topic } from './topics.js';

/** Of the format of results.json; 2: settings have the names of the options; 3: three models, each fit with the priors of its sides; 4: `leaderboard`. */
export const RESULTS_VERSION = 4;

/** All results of a study, as results.json has them. */
export interface StudyResults {
  readonly format: 'graphex-study';
  readonly version: typeof RESULTS_VERSION;
  readonly receipt: StudyReceipt;
  readonly check: StudyCheck;
  /** One entry for each split. */
  readonly runs: readonly StudyRun[];
  /** The K that the report shows in detail: its first model (auto, if fitted) has the highest bound in the first run. */
  readonly chosen: {
    readonly features: number;
    /** How `auto` chose a number of features, on the training part of the first run; null if not requested. */
    readonly byEvidence: FeatureChoice | null;
  };
  /** For each K of the sparse fits of the first run. */
  readonly evidence: readonly StudyEvidence[];
  /** Features of the first run's model with the chosen K; null if items have no names. */
  readonly topics: { readonly model: ModelKind; readonly features: readonly Topic[] } | null;
  /** For the search of the report: the same model's features with their items and users. Not in results.json. */
  readonly atlas?: Atlas | undefined;
  /** The user with most edges, for commands that need a user. */
  readonly example: { readonly user: string };
  /** Mean and spread over the runs, if there are several. */
  readonly summary: StudySummary;
  /** Every method but ceilings, best recall first; means over the runs. */
  readonly leaderboard: readonly LeaderboardEntry[];
}

/** A result of a study that is under way. */
export type StudyFinding =
  | { readonly kind: 'check'; readonly check: StudyCheck }
  | {
      readonly kind: 'method';
      /** The split, from 0; null if there is only one. */
      readonly run: number | null;
      readonly row: Omit<LeaderboardRow, 'all' | 'unpopular'>;
      /** Whether models with other numbers of features are fitted too. */
      readonly several: boolean;
      readonly n: number;
      readonly recall: number;
      readonly ndcg: number;
      /** Of a model; null for other methods. */
      readonly fit: StudyFit | null;
    };

/** What is needed to repeat the study, and where and how long it ran. */
export interface StudyReceipt {
  readonly fingerprint: string;
  /** graphex. */
  readonly graphexVersion: string;
  readonly settings: StudySettings;
  /** Seeds of the splits, one for each run. */
  readonly seeds: readonly number[];
  readonly withTruth: boolean;
  readonly engines: readonly string[];
  /** Where the data came from and what ran the study; filled in by the command line. */
  readonly origin: StudyOrigin | null;
  readonly timings: readonly StageTime[];
  readonly seconds: number;
}

/** Where the data came from: the reader's guess, with the source and what ran the study. */
export interface StudyOrigin extends ReadGuess {
  /** As given. */
  readonly source: string;
  /** A relative source as seen from the folder of results.json; null if it does not depend on the folder. */
  readonly sourceFrom: string | null;
  /** Each as given and as seen from there, if several files were read as one. */
  readonly sources?: readonly { readonly source: string; readonly sourceFrom: string | null }[] | undefined;
  /** Options of the reader. */
  readonly read: Readonly<Record<string, unknown>>;
  readonly rows: ReadCounts;
  readonly titles: {
    readonly source: string;
    readonly sourceFrom: string | null;
    readonly matched: number;
    readonly columns: string;
  } | null;
  /** The table about the items, and the columns that were asked for; absent if there was none. */
  readonly itemInfo?:
    | {
        readonly source: string;
        readonly sourceFrom: string | null;
        readonly columns: readonly string[] | null;
      }
    | undefined;
  /** The column of the times, if one was given. */
  readonly time?: string | number | undefined;
  readonly runtime: string;
  readonly machine: {
    readonly cpu: string;
    readonly cores: number;
    readonly memory: number;
    readonly system: string;
  };
  readonly threads: number | null;
  /** The shares of both sides that the page kept at random, if it thinned the data. */
  readonly kept?: BySide<number> | undefined;
  /** The split of the study, if it was given; null: drawn. */
  readonly parts?: StudyParts | null | undefined;
}

/** A split that a study was given, and lists made elsewhere, as named on the command line. */
export interface StudyParts {
  /** The folder of a split or of folds. */
  readonly folder?: string | undefined;
  /** The number of folds; absent if the folder is that of one split. */
  readonly folds?: number | undefined;
  readonly train?: string | undefined;
  readonly test?: string | undefined;
  readonly validation?: string | undefined;
  readonly lists: readonly { readonly name: string; readonly source: string }[];
}

/** How long a stage took, and in which run; parallel stages overlap. */
export interface StageTime extends Stage {
  readonly run: number | null;
  readonly seconds: number;
}

/** The check as JSON holds it. */
export interface StudyCheck extends Omit<SparsityCheck, 'sigma'> {
  readonly multigraph: boolean;
  readonly sigma: BySide<TailIndexJson>;
}

/** The split of a study. */
export interface StudySplit {
  readonly method: SplitMethod;
  readonly seed: number;
  readonly testUsers: number;
  readonly testItems: number;
  readonly train: PartSize;
  readonly foldin: PartSize;
  readonly test: PartSize;
  /** Vertices that the random draws chose, with or without an edge in a part. */
  readonly coins: BySide<number>;
  /** Edges of fold-in and test to items not in training. */
  readonly dropped: number;
}

/** The results on one split. */
export interface StudyRun {
  readonly repeat: number;
  readonly split: StudySplit;
  readonly fits: readonly StudyFit[];
  /** How the counts of a multigraph were fitted, and why; null if there are none. */
  readonly counts: CountChoice | null;
  readonly leaderboard: Leaderboard;
  /** Notes on the lists made elsewhere. */
  readonly lists: readonly ({ readonly name: string } & Omit<GivenLists, 'lists'>)[];
  /** The ranker; null if none was requested. */
  readonly ranker: StudyRanker | null;
}

/** One fit of a study: what was estimated, and how well it predicts. */
export interface StudyFit {
  readonly model: ModelKind;
  readonly features: number;
  readonly bound: number;
  readonly bounds: readonly (readonly [number, number])[];
  readonly iterations: number;
  readonly converged: boolean;
  readonly seconds: number;
  readonly secondsPerIteration: number;
  readonly engine: string;
  readonly engineReason: EngineReason;
  readonly sigma: BySide<number>;
  readonly size: BySide<number>;
  readonly tau: BySide<number>;
  readonly shape: BySide<number>;
  readonly rate: BySide<number>;
  /** Both sides, with the unseen vertices of a dense one. */
  readonly sides: SidesReport;
  /** Another model of the same run with the same fit. */
  readonly sameAs: ModelKind | null;
  /** Null if no draws were requested. */
  readonly predictive: StudyPredictive | null;
}

/** A fit that was checked by draws. */
export type CheckedFit = StudyFit & {
  readonly predictive: StudyPredictive;
  /** Other models with the same fit. */
  readonly also?: readonly ModelKind[] | undefined;
};

/** The first run's fits with the K that the report shows. */
export function chosenFits({ runs, chosen }: StudyResults): StudyFit[] {
  return runs[0].fits.filter((fit) => fit.features === chosen.features);
}

/** The fits that were checked by draws: all of them, or none; a fit with two names comes twice. */
export function checkedFits(fits: readonly StudyFit[]): CheckedFit[] {
  return fits.filter((fit): fit is CheckedFit => fit.predictive !== null);
}

/**
 * The fits to compare by their predictions, each once: a fit with two names is evaluated under the first. Corrections
 * by replicas, which a study makes for one of its models, count for a fit whichever of its names they were made under.
 */
export function predictingFits(fits: readonly StudyFit[]): CheckedFit[] {
  const checked = checkedFits(fits);
  return checked.flatMap((fit) => {
    const isOther = (other: CheckedFit) => other.sameAs === fit.model && other.features === fit.features;
    const first = checked.some(({ model, features }) => model === fit.sameAs && features === fit.features);
    if (first) return [];
    const same = checked.filter(isOther);
    const calibration = [fit, ...same].map(({ predictive }) => predictive.calibration).find(Boolean);
    const predictive = calibration ? { ...fit.predictive, calibration } : fit.predictive;
    return [{ ...fit, predictive, also: same.map(({ model }) => model) }];
  });
}

/** The ranking fit of a study. */
export interface StudyRanker {
  readonly features: number;
  readonly average: number;
  readonly iterations: number;
  readonly converged: boolean;
  readonly seconds: number;
  readonly engine: string;
  /** How edges are weighed by age; absent if they are not. */
  readonly recency?: Recency | undefined;
  /** How the half-life was found, if it was searched. */
  readonly halfLifeSearch?: RecencyReport | undefined;
}

/** Draws of the test graph against the test graph; intervals hold 90 % of the draws. */
export interface StudyPredictive extends PredictiveCheck {
  readonly drawsGiven: DrawsGiven;
}

/** Bounds on the evidence with the sizes learned on both; a positive difference is evidence for sparsity. */
export interface StudyEvidence {
  readonly features: number;
  readonly sparse: number;
  readonly dense: number;
  /** sparse − dense, in nats. */
  readonly difference: number;
}

/** A figure over several splits: mean and standard deviation. */
export interface Spread {
  readonly mean: number;
  /** Standard deviation over the runs; null for a single one. */
  readonly spread: number | null;
  /** 95 % interval of the mean over the runs, by Student's t; null for a single one. */
  readonly low: number | null;
  readonly high: number | null;
}

/** A difference with its 95 % interval. */
export interface EntryDifference {
  readonly mean: number;
  readonly low: number;
  readonly high: number;
}

/** One method in the table of all. */
export interface LeaderboardEntry extends Readonly<Record<UserMetric, number>> {
  readonly name: string;
  readonly kind: Exclude<LeaderboardRow['kind'], 'ceiling'>;
  readonly users: number;
  readonly recallUnpopular: number | null;
  readonly ndcgUnpopular: number | null;
  readonly coverage: number;
  /** To the next method in the table: over the same users, or over the runs if there are several. Null for the last. */
  readonly difference: {
    readonly to: string;
    readonly recall: EntryDifference;
    readonly ndcg: EntryDifference;
  } | null;
}

/** Figures over all splits of a study. */
export interface StudySummary {
  readonly runs: number;
  /** By row id and metric. */
  readonly ranking: Readonly<Record<string, Readonly<Partial<Record<LeaderboardMetric, Spread>>>>>;
  /** By fit ('sparse-30') and statistic: mean of the draws over the test set, minus 1; for σ̂ the difference. Empty without draws. */
  readonly prediction: Readonly<Record<string, Readonly<Partial<Record<Statistic, Spread>>>>>;
}

export function fitId(model: ModelKind, features: number): string {
  return `${model}-${features}`;
}

/** How far the draws' mean lies from the test set: relatively for counts, absolutely for σ̂. */
export function predictionError(fit: CheckedFit, statistic: Statistic): number {
  const observed = observedOf(fit.predictive, statistic);
  const difference = drawsOf(fit.predictive, statistic).mean - observed;
  return isIndex(statistic) ? difference : difference / observed;
}

/** Below these numbers of test users or test edges, chance decides which method comes first. */
export const LEAST_TEST = { users: 30, edges: 50 };

/** The sizes of a test part that is too small to tell methods apart; null if it is large enough. */
export type TooLittle = { readonly users: number; readonly edges: number } | null;

export function tooLittle({ split }: StudyRun, users = split.test.users): TooLittle {
  const { edges } = split.test;
  return users >= LEAST_TEST.users && edges >= LEAST_TEST.edges ? null : { users, edges };
}
