// The options of a fit: checked and completed once, before it starts. options/commands/fit.ts declares them.

import type { SideHyper } from '../engine/engine.js';
import { InputError } from '../errors.js';
import { type BipartiteGraph, type BySide, bySide, degrees, SIDES, type SideName } from '../graph/graph.js';
import { checkOptions, partFor, withDefaults } from '../options/check-options.js';
import {
  AUTO,
  FIT,
  METHOD,
  METHODS,
  type Method,
  NO_AUTO,
  REFUSED,
  takersOf,
} from '../options/commands/fit.js';
import { type Declaration, decimal, type OptionsOf, type SettingsOf, value } from '../options/declare.js';
import { option, optionError } from '../options/error.js';
import { listOptions, valueAt } from '../options/option-list.js';
import { edgeTimes, type HyperName, TASK } from '../options/shared.js';
import type { TaskOptions } from '../progress.js';
import { shown } from '../text/untrusted.js';
import type { Checkpoint } from './ascent/loop.js';
import type { Model, PosteriorModel, Ranker } from './model.js';
import type { UnfinishedFit } from './unfinished.js';

/** Hyperparameters that can be learned by maximizing the bound. */
export type Learnable = HyperName;

/** Options of a fit that can be stopped and resumed. */
export interface Resumable extends TaskOptions, OptionsOf<typeof RESUME> {}

/** Coordinate ascent of the evidence lower bound, for predictive checks and draws. */
export interface AscentOptions extends OptionsOf<typeof METHODS.ascent>, Resumable {
  readonly method?: 'ascent' | undefined;
  /** Start from this model. */
  readonly from?: PosteriorModel | undefined;
}

/** Cross-fitting, for recommending; it has no bound. */
export interface RankingFitOptions
  extends OptionsOf<typeof METHODS.ranking>,
    OptionsOf<typeof TIMES>,
    Resumable {
  readonly method: 'ranking';
  /** Start from this ranker. */
  readonly from?: Ranker | undefined;
}

/** Ranking, implied by the ranker that the fit starts from. */
export interface RankingFromRanker extends Omit<RankingFitOptions, 'method'> {
  readonly method?: 'ranking' | undefined;
  readonly from: Ranker;
}

/** The exact sampler, for small data. */
export interface GibbsFitOptions extends OptionsOf<typeof METHODS.gibbs>, TaskOptions {
  readonly method: 'gibbs';
}

/** The options of `fit`: a method, by default ascent, and the options of that method. */
export type FitOptions = AscentOptions | RankingFitOptions | GibbsFitOptions | RankingFromRanker;

export type CheckedFit =
  | { readonly method: 'ascent'; readonly options: AscentOptions }
  | { readonly method: 'ranking'; readonly options: Omit<RankingFitOptions, 'method'> }
  | { readonly method: 'gibbs'; readonly options: Omit<GibbsFitOptions, 'method'> };

/** Default minutes between two checkpoints. */
export const CHECKPOINT_MINUTES = 5;

/** Options of fits that can resume. */
export const RESUME = {
  resume: value<Checkpoint>(
    'object',
    'continue a stopped fit with its options and its data; options that are given must be the same',
  ),
  onCheckpoint: value<(fit: UnfinishedFit) => void | Promise<void>>(
    'function',
    'called and awaited every few minutes with the state of the fit, as if it had been stopped there; not called with several restarts, which cannot resume',
  ),
  checkpointMinutes: decimal({
    above: 0,
    max: 1e6,
    default: CHECKPOINT_MINUTES,
    flag: null,
    meaning: 'minutes between two calls of onCheckpoint',
  }),
};

/** Options of fits that can start from a model. */
export const FROM = {
  from: value<Model>(
    'object',
    'start from a previous model: vertices are matched by id, new ones are folded in, missing ones are dropped; options that are left out are those of the model',
  ),
};

/** The times of the edges, for a ranker that weighs them by age. */
export const TIMES = {
  times: edgeTimes(
    'the time of each edge in milliseconds since 1970, in the order of graph.users.neighbors; weights by age need it',
  ),
};

/** The method and its options, checked for type and range; an InputError names the option. */
export function checkFit(given: FitOptions): CheckedFit {
  const method = methodOf(given);
  const { method: _, ...rest }: Readonly<Record<string, unknown>> = { ...given };
  const declared: Declaration = {
    ...METHODS[method],
    ...TASK,
    ...(method === 'gibbs' ? {} : { ...RESUME, ...FROM }),
    ...(method === 'ranking' ? TIMES : {}),
  };
  refuseOthers(method, declared, rest);
  if (method !== 'ascent' && rest.features === AUTO)
    throw optionError`${option('features')} ${AUTO} does not go with ${option('method')} ${method}: ${NO_AUTO[method]}`;
  return { method, options: checkOptions(declared, rest as object) } as CheckedFit;
}

function methodOf(given: FitOptions): Method {
  if (typeof given !== 'object' || given === null) return 'ascent'; // checkOptions refuses `given` later
  return checkOptions(METHOD, { method: given.method }).method ?? METHOD.method.default;
}

/** Refuses options of other methods, with the reason. checkOptions refuses options that no method has. */
function refuseOthers(method: Method, declared: Declaration, given: object): void {
  const own = new Set(listOptions(declared).map(({ path }) => path.join('.')));
  for (const { path } of listOptions({ ...FIT, ...RESUME, ...FROM, ...TIMES })) {
    const name = path.join('.');
    if (own.has(name) || valueAt(given, path) === undefined) continue;
    const why = REFUSED[method][name];
    if (why !== undefined)
      throw optionError`${option(name)} does not go with ${option('method')} ${method}: ${why}`;
    const takers = takersOf(name);
    const advice = takers === '' ? 'it samples from the start each time' : `it belongs to ${takers}`;
    throw optionError`${option(name)} does not go with ${option('method')} ${method}: ${advice}; leave it out`;
  }
}

/** The options that a model and its checkpoint record: the given ones and the defaults, in the form that `fit` takes. */
export function recordedOptions(method: Method, options: object): Readonly<Record<string, unknown>> {
  return { method, ...withDefaults(METHODS[method], partFor(METHODS[method], options)) };
}

export interface FitSettings
  extends Omit<SettingsOf<typeof METHODS.ascent>, SideName | 'features' | 'learn'> {
  readonly features: number;
  readonly given: BySide<Partial<SideHyper>>;
  readonly learn: BySide<readonly Learnable[]>;
}

/** Options of coordinate ascent with a number of features, not `auto`. */
export type AscentWithFeatures = Omit<AscentOptions, 'features'> & { readonly features?: number | undefined };

export function fitSettings(options: AscentWithFeatures): FitSettings {
  const { users, items, learn, ...plain } = withDefaults(METHODS.ascent, partFor(METHODS.ascent, options));
  const settings: FitSettings = {
    ...plain,
    // The type of the options excludes `auto`.
    features: plain.features as number,
    given: { users: given(users), items: given(items) },
    learn: learnLists(learn),
  };
  for (const side of SIDES) {
    if (settings.learn[side].includes('size') && settings.given[side].size === 0) {
      throw optionError`${option('learn')}: the size of the ${side} is given as 0 (no unseen ${side}); it cannot be learned too`;
    }
  }
  return settings;
}

/** The learned hyperparameters of each side, from names such as `sigma` (both sides) and `users.sigma`. */
export function learnLists(names: readonly string[]): BySide<readonly Learnable[]> {
  const parts = names.map((name) => name.split('.').reverse());
  return bySide((side) => {
    const own = parts.filter(([, of = side]) => of === side).map(([what]) => what as Learnable);
    return [...new Set(own)];
  });
}

/** The given hyperparameters without those that are undefined. */
export function given(
  hyper: { readonly [K in HyperName]?: number | undefined } | undefined,
): Partial<SideHyper> {
  return Object.freeze(Object.fromEntries(Object.entries(hyper ?? {}).filter(([, x]) => x !== undefined)));
}

export function checkGraph(graph: BipartiteGraph): void {
  if (graph.edges === 0) throw new InputError('the graph has no edges, so there is nothing to fit');
  for (const side of SIDES) {
    const degree = degrees(graph[side]);
    const isolated = degree.indexOf(0);
    if (isolated >= 0) {
      throw new InputError(
        `${side} ${shown(graph[side].ids.at(isolated))} has no edge; drop isolated vertices before a fit`,
      );
    }
  }
}
