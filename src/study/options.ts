// The options of a study, checked and completed once. The resulting settings are plain JSON and go into the receipt: a
// study with the settings of a receipt gives the same numbers.

import type { SideInfoSource } from '../attributes/side-info.js';
import type { SideHyper } from '../engine/engine.js';
import { PAPER_IS_NOT_CALIBRATED, replicaCount } from '../evaluate/calibrate.js';
import type { GivenRecommendations } from '../evaluate/make-lists.js';
import { type AscentWithFeatures, fitSettings } from '../fit/options.js';
import { parseHalfLife } from '../fit/ranking/recency.js';
import type { SideName } from '../graph/graph.js';
import { partFor, withDefaults } from '../options/check-options.js';
import { AUTO, METHODS } from '../options/commands/fit.js';
import { STUDY } from '../options/commands/study.js';
import { type OptionsOf, type SettingsOf, value } from '../options/declare.js';
import { option, optionError, show } from '../options/error.js';
import { BASELINES, type BaselineName, MODEL_KINDS, type ModelKind, PAPER_KINDS } from '../options/names.js';
import { TASK } from '../options/shared.js';
import type { TaskOptions } from '../progress.js';
import { requireTimes } from '../sample/split.js';
import type { Split } from '../sample/split-types.js';
import type { StudyFinding, StudyOrigin } from './results.js';

export type { ModelKind };

/** The row of a ranker that also knows attributes of the items. */
export const INFO_ROW = 'ranking-info';

const GIVEN = {
  /** Titles of the items, for the view of the features. */
  titles: value<StudyTitles>('object', 'titles of the items, for the view of the features'),
  /** The true parameters of a simulated graph, in the order of its vertices: then ceilings are computed. */
  truth: value<StudyTruth>(
    'object',
    'the true parameters of a simulated graph, in the order of its vertices',
  ),
  /** The time of each edge, in the order of graph.users.neighbors: for weights by age (`halfLife`). Splits have their own. */
  times: value<Float64Array>('object', 'the time of each edge, in the order of graph.users.neighbors'),
  /** Splits to study, one for each run, in place of random ones; the graph is that of all their parts (`wholeGraph`). */
  splits: value<readonly Split[]>('object', 'splits to study, one for each run'),
  /** Lists made elsewhere, which join the leaderboard. They need `splits` and the protocol all-items. */
  lists: value<readonly StudyLists[]>('object', 'lists made elsewhere, which join the leaderboard'),
  /** A table about the items: a ranker with attributes joins the leaderboard. */
  itemInfo: value<SideInfoSource>(
    'object',
    'a table about the items: a ranker with attributes joins the leaderboard',
  ),
  /** Where the data came from and what runs the study, for the receipt. */
  origin: value<StudyOrigin>('object', 'where the data came from, for the receipt'),
  /** Called with each result as soon as it is there; must return quickly. */
  onFinding: value<(finding: StudyFinding) => void>(
    'function',
    'called with each result as soon as it is there',
  ),
};

/** What a study takes; declared in options/commands/study.ts, less what only a program can give. */
export interface StudyOptions extends OptionsOf<typeof STUDY & typeof GIVEN>, TaskOptions {}

/** Lists made elsewhere, with a name. */
export interface StudyLists {
  readonly name: string;
  readonly recommendations: GivenRecommendations;
}

/** Titles of items by id: a Map, or an object that finds them. */
export type StudyTitles = ReadonlyMap<string, string> | TitleLookup;

/** Finds the title of an item by its id. */
export interface TitleLookup {
  find(id: string): string | undefined;
}

export function titleLookup(titles: StudyTitles | undefined): TitleLookup | undefined {
  return titles && 'get' in titles ? { find: (id: string) => titles.get(id) } : titles;
}

/** The parameters of a simulation, with what `simulate({ …, truth: true })` returns of the vertices. */
export interface StudyTruth {
  readonly features: number;
  readonly users: TrueSide;
  readonly items: TrueSide;
}

/** The true hyperparameters of one side of simulated data. */
export interface TrueSide {
  readonly prior: SideHyper;
  readonly weights: Float64Array;
  /** Vertices × features, row-major. */
  readonly features: Float64Array;
}

/** The options that decide the numbers, complete and by their own names; plain JSON. */
export interface StudySettings extends Omit<SettingsOf<typeof STUDY>, 'features' | 'baselines'> {
  /** In order; `auto` last. */
  readonly features: readonly (number | typeof AUTO)[];
  readonly baselines: readonly BaselineName[];
  readonly ranker: boolean;
  readonly trials: number;
  readonly users: NonNullable<SettingsOf<typeof STUDY>['users']>;
  readonly items: NonNullable<SettingsOf<typeof STUDY>['items']>;
}

/** Above this number of edges a study tries fewer settings of the baselines, and fits no ranker by default. */
const MANY_EDGES = 2e6;

/** Defaults that depend on the data. */
export function studyDefaults(edges: number): Pick<StudySettings, 'ranker' | 'trials'> {
  return { ranker: edges <= MANY_EDGES, trials: edges > MANY_EDGES ? 14 : 20 };
}

export function modelsOf({ model }: Pick<StudySettings, 'model'>): readonly ModelKind[] {
  if (model === 'all') return MODEL_KINDS;
  return model === 'paper' ? PAPER_KINDS : [model];
}

/** The first model of the study (auto if it is among them). Its features are shown, and it decides between several K. */
export function mainModel(settings: Pick<StudySettings, 'model'>): ModelKind {
  return modelsOf(settings)[0];
}

/** The one model whose intervals replicas correct; auto has its own correction. */
export function calibratedModel(settings: Pick<StudySettings, 'model'>): ModelKind | undefined {
  const models = modelsOf(settings);
  return (['sparse', 'auto'] as const).find((kind) => models.includes(kind));
}

/** Replicas must have something to correct, and must not hide an error of the model or of the way of drawing. */
function checkCalibration({ draws, model, users, items, drawsGiven }: StudySettings): void {
  if (draws === 0) {
    throw optionError`${option('calibrate')}: without ${option('draws')} there are no intervals to correct; give both, or neither`;
  }
  if (model === 'dense' || users.size === 0 || items.size === 0) {
    throw optionError`${option('calibrate')}: a model that expects no unseen users or items is not corrected, since that would hide its error; leave the option out, or study the sparse model`;
  }
  if (drawsGiven === 'paper') throw optionError`${option('calibrate')}: ${PAPER_IS_NOT_CALIBRATED}`;
}

/** Checks the options and fills in the defaults. */
export function studySettings(options: StudyOptions, edges: number): StudySettings {
  const checked = withDefaults({ ...STUDY, ...TASK, ...GIVEN }, options);
  const { threads, signal, onProgress, titles, truth, origin, onFinding, ...given } = checked;
  const { times: _, splits, lists, itemInfo, ...said } = given;
  const settings: StudySettings = {
    ...studyDefaults(edges),
    ...(said as SettingsOf<typeof STUDY> & ReturnType<typeof studyDefaults>),
    features: inOrder([said.features].flat()),
    baselines: typeof said.baselines === 'boolean' ? (said.baselines ? BASELINES : []) : said.baselines,
    learn: [...said.learn],
    ...(splits && { repeats: splits.length }),
    users: { ...said.users },
    items: { ...said.items },
  };
  if (splits?.some(({ method }) => method === 'new-items')) checkNewItems(settings, itemInfo, lists);
  if (lists && lists.length > 0) {
    if (!splits)
      throw optionError`${option('lists')} need the split they were made for: give ${option('splits')}`;
    if (settings.protocol !== 'all-items') {
      throw optionError`${option('lists')} are lists of all items: they need ${option('protocol')} all-items`;
    }
    checkNames(lists, settings);
  }
  if (itemInfo && !settings.ranker) {
    throw optionError`${option('itemInfo')} needs a ranker, which scores items by their attributes; leave it out, or fit the ranker`;
  }
  if (parseHalfLife(settings.halfLife) !== 'never' && !settings.ranker) {
    throw optionError`${option('halfLife')} ${settings.halfLife}: only a ranker weighs edges by age; leave it out, or fit the ranker`;
  }
  replicaCount(settings.calibrate);
  if (settings.calibrate > 0) checkCalibration(settings);
  // The fit refuses options that it cannot use, before any work.
  for (const kind of modelsOf(settings)) {
    for (const k of numbersOf(settings.features)) fitSettings(fitOptionsOf(settings, kind, k));
  }
  return settings;
}

/** A split by new items ranks the held-out items alone, which only attributes can score. */
function checkNewItems(
  { protocol }: StudySettings,
  itemInfo: SideInfoSource | undefined,
  lists: readonly StudyLists[] = [],
): void {
  if (lists.length > 0) {
    throw optionError`${option('lists')} are lists of all items, but this split holds out items, which are ranked alone; leave the lists out`;
  }
  if (protocol === 'all-items') {
    throw optionError`${option('protocol')} all-items: this split holds out items, which are ranked alone; leave the option out`;
  }
  if (!itemInfo) {
    throw optionError`this split holds out items, which only their attributes can rank: give ${option('itemInfo')}, a table that describes them`;
  }
}

/** The names of lists are rows of the leaderboard, so none may be the name of another method. */
function checkNames(lists: readonly StudyLists[], settings: StudySettings): void {
  const taken = new Set<string>(['ranking', INFO_ROW, 'all', ...BASELINES]);
  for (const { name } of lists) {
    if (!/^[\p{L}\p{N}][\p{L}\p{N} ._-]{0,39}$/u.test(name)) {
      throw optionError`${option('lists')}: the name ${show(name)} must have 1 to 40 letters, digits, spaces, dots, underscores or hyphens`;
    }
    if (taken.has(name) || modelsOf(settings).some((kind) => name.startsWith(`${kind}-`))) {
      throw optionError`${option('lists')}: the name ${name} is taken by another method or given twice; choose another`;
    }
    taken.add(name);
  }
}

/** Weights by age need the time of every edge that the ranker is fitted to. */
export function checkStudyTimes(
  { halfLife }: StudySettings,
  { times, splits }: Pick<StudyOptions, 'times' | 'splits'>,
  edges: number,
): void {
  if (times) requireTimes(times, edges);
  if (parseHalfLife(halfLife) === 'never' || (splits ? splits.every((split) => split.times) : times)) return;
  throw optionError`${option('halfLife')} ${halfLife}: weights by age need the time of each edge; give ${option(splits ? 'splits' : 'times')} with times, or leave ${option('halfLife')} out`;
}

/** Each once, numbers first. */
function inOrder(features: StudySettings['features']): StudySettings['features'] {
  return [...numbersOf(features), ...(features.includes(AUTO) ? ([AUTO] as const) : [])];
}

/** The numbers of features that are fitted, each once and in order; what `auto` has chosen among them. */
export function numbersOf(features: StudySettings['features'], chosen?: number): number[] {
  const numbers = features.map((k) => (k === AUTO ? chosen : k)).filter((k) => k !== undefined);
  return [...new Set(numbers)].sort((a, b) => a - b);
}

export function fitOptionsOf(
  settings: StudySettings,
  kind: ModelKind,
  features?: number,
): AscentWithFeatures {
  const dense = kind === 'dense';
  const own = (side: SideName) => {
    const { sigma, size, ...rest } = settings[side];
    return dense ? rest : { ...rest, sigma, size };
  };
  return {
    ...partFor(METHODS.ascent, settings),
    model: kind,
    features,
    users: own('users'),
    items: own('items'),
    // The dense model has a fixed σ and no size.
    learn: dense ? settings.learn.filter((name) => !/(^|\.)(sigma|size)$/.test(name.trim())) : settings.learn,
  };
}
