// Everything a study can be told, with meaning and default, normalised once at the door. What is left after that is
// plain JSON: it goes into the receipt, and a study from the receipt's options gives the same numbers.

import type { SideHyper } from '../engine/engine.js';
import { ENGINE_NAMES, type EngineName } from '../engine/select.js';
import { InputError } from '../errors.js';
import { BASELINES, type BaselineName } from '../evaluate/baselines/list.js';
import { PAPER_IS_NOT_CALIBRATED, replicaCount } from '../evaluate/calibrate.js';
import type { Titles } from '../evaluate/titles.js';
import { type FitOptions, fitSettings } from '../fit/options.js';
import type { SideName } from '../graph/graph.js';
import { PROTOCOLS, type Protocol } from '../predict/draw-plan.js';
import type { TaskOptions } from '../progress.js';
import { fraction, oneOf, whole } from '../validate.js';

const MODEL_KINDS = ['sparse', 'dense'] as const;
export type ModelKind = (typeof MODEL_KINDS)[number];

export interface StudyOptions extends TaskOptions {
  /** Which models to fit. Default both. */
  readonly model?: ModelKind | 'both' | undefined;
  /** Numbers of features K, each fitted. Default 30. */
  readonly features?: number | readonly number[] | undefined;
  /** Repeats the study on this many splits, with seeds one after the other. Default 1. */
  readonly repeats?: number | undefined;
  /** Posterior predictive draws; 0: no predictive checks. Default 100. */
  readonly draws?: number | undefined;
  /** Replicas of each model with unseen atoms to correct its intervals with, each as much work as its fit; at least 5, or 0. Default 0. */
  readonly calibrate?: number | undefined;
  /** What a draw is compared with; see predict. Default unconditional. */
  readonly protocol?: Protocol | undefined;
  /** Default 1. */
  readonly seed?: number | undefined;
  /** Held-out fraction of the users, and of the items. Default 0.2. */
  readonly testUsers?: number | undefined;
  readonly testItems?: number | undefined;
  /** Length of the lists that recall looks at. Default 20. */
  readonly n?: number | undefined;
  /** Ranks beyond this count as misses in nDCG. Default 1000. */
  readonly depth?: number | undefined;
  /** Baselines to set beside the models: all, none, or these. Default all. */
  readonly baselines?: boolean | readonly BaselineName[] | undefined;
  /** Also fit for ranking (cross-fitted, section 8b), to stand in the ladder. Default: up to 2 million edges. */
  readonly ranker?: boolean | undefined;
  /** Most settings tried for one baseline. Default 20; 8 for more than 2 million edges, where each takes long. */
  readonly trials?: number | undefined;
  /** Default auto. */
  readonly engine?: EngineName | undefined;
  /** As in a fit. Defaults 400 and 1e-5, warm, 1, none, bound. */
  readonly iterations?: number | undefined;
  readonly tolerance?: number | undefined;
  readonly start?: 'warm' | 'cold' | undefined;
  readonly restarts?: number | undefined;
  readonly learn?: readonly string[] | undefined;
  readonly sizes?: 'bound' | 'paper' | undefined;
  /** Hyperparameters that are given; σ and size are those of the sparse model. */
  readonly users?: Partial<SideHyper> | undefined;
  readonly items?: Partial<SideHyper> | undefined;
  /** Titles of the items, for the view of the features. */
  readonly titles?: Titles | undefined;
  /** Items shown of each feature. Default 10. */
  readonly topicItems?: number | undefined;
  /** The true parameters of a simulated graph, in the order of its vertices: then ceilings are computed. */
  readonly truth?: StudyTruth | undefined;
}

/** What a simulation knows: `simulate({ …, truth: true })`. */
export interface StudyTruth {
  readonly features: number;
  readonly users: TrueSide;
  readonly items: TrueSide;
}

export interface TrueSide {
  readonly law: SideHyper;
  readonly weights: Float64Array;
  /** Vertices × features, row-major. */
  readonly features: Float64Array;
}

/** The options that decide the numbers, complete; plain JSON. */
export interface StudySettings {
  readonly models: readonly ModelKind[];
  readonly features: readonly number[];
  readonly repeats: number;
  readonly draws: number;
  readonly calibrate: number;
  readonly protocol: Protocol;
  readonly seed: number;
  readonly testUsers: number;
  readonly testItems: number;
  readonly n: number;
  readonly depth: number;
  readonly baselines: readonly BaselineName[];
  readonly ranker: boolean;
  readonly trials: number;
  readonly engine: EngineName;
  readonly iterations: number;
  readonly tolerance: number;
  readonly start: 'warm' | 'cold';
  readonly restarts: number;
  readonly learn: readonly string[];
  readonly sizes: 'bound' | 'paper';
  readonly given: Readonly<Record<SideName, Partial<SideHyper>>>;
  readonly topicItems: number;
}

/** Edges above which fewer settings of the baselines are tried. */
const MANY_EDGES = 2e6;

/** Replicas must correct something, and must not correct away what is wrong with a model or a protocol. */
function checkCalibration({ draws, models, given, protocol }: StudySettings): void {
  const { users, items } = given;
  if (draws === 0) {
    throw new InputError(
      'calibrate: there are no intervals to correct without draws; ask for both, or for neither',
    );
  }
  if (!models.includes('sparse') || users.size === 0 || items.size === 0) {
    throw new InputError(
      'calibrate: a model that expects no unseen users or items is not corrected, since that would hide its error; ' +
        'leave calibrate out, or study the sparse model',
    );
  }
  if (protocol === 'paper') throw new InputError(`calibrate: ${PAPER_IS_NOT_CALIBRATED}`);
}

export function studySettings(options: StudyOptions, edges: number): StudySettings {
  const features = typeof options.features === 'number' ? [options.features] : (options.features ?? [30]);
  if (features.length === 0) throw new InputError('features: an empty list; give at least one number');
  const model = oneOf('model', options.model ?? 'both', [...MODEL_KINDS, 'both'] as const);
  const settings: StudySettings = {
    models: model === 'both' ? MODEL_KINDS : [model],
    features: [...new Set(features)].sort((a, b) => a - b),
    repeats: whole('repeats', options.repeats ?? 1, 1, 1000),
    draws: whole('draws', options.draws ?? 100, 0, 100_000),
    calibrate: replicaCount(options.calibrate ?? 0),
    protocol: oneOf('protocol', options.protocol ?? 'unconditional', PROTOCOLS),
    seed: whole('seed', options.seed ?? 1, 0, Number.MAX_SAFE_INTEGER - 1000),
    testUsers: fraction('testUsers', options.testUsers ?? 0.2),
    testItems: fraction('testItems', options.testItems ?? 0.2),
    n: whole('n', options.n ?? 20, 1, 1e6),
    depth: whole('depth', options.depth ?? 1000, 1, 1e9),
    baselines: baselineList(options.baselines ?? true),
    ranker: options.ranker ?? edges <= MANY_EDGES,
    trials: whole('trials', options.trials ?? (edges > MANY_EDGES ? 8 : 20), 1, 1000),
    engine: oneOf('engine', options.engine ?? 'auto', ENGINE_NAMES),
    iterations: options.iterations ?? 400,
    tolerance: options.tolerance ?? 1e-5,
    start: options.start ?? 'warm',
    restarts: options.restarts ?? 1,
    learn: [...(options.learn ?? [])],
    sizes: options.sizes ?? 'bound',
    given: { users: { ...options.users }, items: { ...options.items } },
    topicItems: whole('topicItems', options.topicItems ?? 10, 1, 1000),
  };
  if (settings.calibrate > 0) checkCalibration(settings);
  // The fit's own door refuses what it cannot use, before any work.
  for (const kind of settings.models) {
    for (const k of settings.features) fitSettings(fitOptionsOf(settings, kind, k));
  }
  return settings;
}

/** The options of one of the study's fits. */
export function fitOptionsOf(settings: StudySettings, kind: ModelKind, features: number): FitOptions {
  const { iterations, tolerance, engine, start, restarts, sizes, seed, given } = settings;
  const dense = kind === 'dense';
  const own = (side: SideName) => {
    const { sigma, size, ...rest } = given[side];
    return dense ? rest : { ...rest, ...defined({ sigma, size }) };
  };
  return {
    model: kind,
    features,
    iterations,
    tolerance,
    engine,
    start,
    restarts,
    sizes,
    seed,
    users: own('users'),
    items: own('items'),
    // The dense model is what it is by its σ and by having no size.
    learn: dense ? settings.learn.filter((name) => !/(^|\.)(sigma|size)$/.test(name.trim())) : settings.learn,
  };
}

/** The options that give these settings again. */
export function optionsOf(settings: StudySettings): StudyOptions {
  const { models, given, ...rest } = settings;
  return { ...rest, model: models.length > 1 ? 'both' : models[0], users: given.users, items: given.items };
}

function defined<T extends object>(values: T): Partial<T> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Partial<T>;
}

function baselineList(value: boolean | readonly BaselineName[]): readonly BaselineName[] {
  if (typeof value === 'boolean') return value ? BASELINES : [];
  return value.map((name) => oneOf('baselines', name, BASELINES));
}
