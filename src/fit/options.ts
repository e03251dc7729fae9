// Everything a fit can be told, with meaning, unit and default, normalised once at the door.

import type { SideHyper } from '../engine/engine.js';
import { ENGINE_NAMES, type EngineName } from '../engine/select.js';
import { InputError } from '../errors.js';
import { type BipartiteGraph, degrees, SIDES, type SideName } from '../graph/graph.js';
import type { TaskOptions } from '../progress.js';
import { shown } from '../text/untrusted.js';
import { oneOf, positive, whole } from '../validate.js';
import type { Checkpoint } from './loop.js';

/** Hyperparameters that the bound can be maximized over. */
export const LEARNABLE = ['sigma', 'size', 'tau', 'shape', 'rate'] as const;
export type Learnable = (typeof LEARNABLE)[number];

export interface FitOptions extends TaskOptions {
  /**
   * `evidence`: the Bayesian fit, which ascends the bound; for checks and draws. `ranking`: the cross-fitted one of
   * section 8b, for recommending; it has no bound. Default evidence.
   */
  readonly objective?: 'evidence' | 'ranking';
  /** Number of features K, 1 … 512. Default 30; for ranking by the size of the data. */
  readonly features?: number;
  /** `sparse`: unseen atoms on both sides, σ from the degrees; `dense`: σ = −0.1, no unseen atoms. Default sparse. */
  readonly model?: 'sparse' | 'dense';
  /** Hyperparameters that are given; the others are estimated (sigma, size) or have the paper's values. */
  readonly users?: Partial<SideHyper>;
  readonly items?: Partial<SideHyper>;
  /** Most iterations, each of two half-steps, warm ones included. Default 400; for ranking 40 sweeps. */
  readonly iterations?: number;
  /**
   * Stop when the bound changes by less than this, relatively, per iteration; for ranking the likelihood of items given
   * users who never saw them. Default 1e-5; for ranking 1e-3.
   */
  readonly tolerance?: number;
  /** Default auto. */
  readonly engine?: EngineName | 'gibbs';
  /** Where to begin; see fit/start.ts. Default warm. */
  readonly start?: 'warm' | 'cold';
  /** Fits from this many seeds and keeps the best bound. Default 1. */
  readonly restarts?: number;
  /**
   * Hyperparameters to maximize the bound over: 'sigma', or by side 'users.sigma'. Given values are where they begin.
   * Sizes that are not given are learned in any case.
   */
  readonly learn?: readonly string[];
  /** How sizes that are not given are found: `bound` with the fit, or `paper` by simulation before it. Default bound. */
  readonly sizes?: 'bound' | 'paper';
  /** Seed of the start. Default 1. */
  readonly seed?: number;
  /** Ranking: folds of the items; each sees users who were made without it. Default 3. */
  readonly folds?: number;
  /** Ranking: fits from this many seeds, whose scores are added. Default 1. */
  readonly average?: number;
  /** Continue a fit that was stopped, of the same objective. */
  readonly resume?: Checkpoint;
}

export interface FitSettings {
  readonly features: number;
  readonly model: 'sparse' | 'dense';
  readonly given: Readonly<Record<SideName, Partial<SideHyper>>>;
  readonly iterations: number;
  readonly tolerance: number;
  readonly engine: EngineName;
  readonly start: 'warm' | 'cold';
  readonly restarts: number;
  readonly learn: Readonly<Record<SideName, readonly Learnable[]>>;
  readonly sizes: 'bound' | 'paper';
  readonly seed: number;
}

const HYPER_RANGE: Record<keyof SideHyper, { readonly ok: (x: number) => boolean; readonly says: string }> = {
  sigma: { ok: (x) => x < 1, says: 'below 1' },
  tau: { ok: (x) => x > 0, says: 'above 0' },
  shape: { ok: (x) => x > 0, says: 'above 0' },
  rate: { ok: (x) => x > 0, says: 'above 0' },
  size: { ok: (x) => x >= 0, says: '0 or more' },
};

export function fitSettings(options: FitOptions): FitSettings {
  const settings: FitSettings = {
    features: whole('features', options.features ?? 30, 1, 512),
    model: oneOf('model', options.model ?? 'sparse', ['sparse', 'dense']),
    given: { users: given('users', options.users), items: given('items', options.items) },
    iterations: whole('iterations', options.iterations ?? 400, 1, 1e9),
    tolerance: positive('tolerance', options.tolerance ?? 1e-5),
    engine: oneOf('engine', (options.engine ?? 'auto') as EngineName, ENGINE_NAMES),
    start: oneOf('start', options.start ?? 'warm', ['warm', 'cold']),
    restarts: whole('restarts', options.restarts ?? 1, 1, 1000),
    learn: learnLists(options.learn ?? []),
    sizes: oneOf('sizes', options.sizes ?? 'bound', ['bound', 'paper']),
    seed: whole('seed', options.seed ?? 1, 0, Number.MAX_SAFE_INTEGER),
  };
  for (const name of ['folds', 'average'] as const) {
    if (options[name] !== undefined) {
      throw new InputError(
        `${name} belongs to the ranking objective; leave it out, or fit with objective ranking`,
      );
    }
  }
  for (const side of SIDES) {
    if (settings.learn[side].includes('size') && settings.given[side].size === 0) {
      throw new InputError(
        `learn: the size of the ${side} is given as 0 (no unseen ${side}); it cannot be learned too`,
      );
    }
  }
  return settings;
}

function learnLists(names: readonly string[]): Record<SideName, Learnable[]> {
  const lists: Record<SideName, Learnable[]> = { users: [], items: [] };
  for (const name of names) {
    const parts = name.trim().split('.');
    const what = parts.at(-1) as Learnable;
    const side = parts.length === 2 ? parts[0] : undefined;
    if (
      !LEARNABLE.includes(what) ||
      (side !== undefined && side !== 'users' && side !== 'items') ||
      parts.length > 2
    ) {
      throw new InputError(
        `learn: "${name}" is not one of ${LEARNABLE.join(', ')}, alone or as users.${LEARNABLE[0]}, items.${LEARNABLE[0]}`,
      );
    }
    for (const s of SIDES) if (side === undefined || side === s) lists[s].push(what);
  }
  return lists;
}

export function given(side: SideName, hyper: Partial<SideHyper> | undefined): Partial<SideHyper> {
  const result: Record<string, number> = {};
  for (const [name, value] of Object.entries(hyper ?? {})) {
    if (value === undefined) continue;
    const range = HYPER_RANGE[name as keyof SideHyper];
    if (!range) throw new InputError(`${side}: there is no hyperparameter ${name}`);
    if (!Number.isFinite(value) || !range.ok(value)) {
      throw new InputError(`${name} of the ${side} is ${value}; it must be ${range.says}`);
    }
    result[name] = value;
  }
  return Object.freeze(result);
}

export function checkGraph(graph: BipartiteGraph): void {
  if (graph.edges === 0) throw new InputError('the graph has no edges: there is nothing to fit');
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
