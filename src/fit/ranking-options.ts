// What the ranking objective can be told: the options of a fit, with defaults of its own, less those that only the
// evidence fit understands.

import type { SideHyper } from '../engine/engine.js';
import { ENGINE_NAMES, type EngineName } from '../engine/select.js';
import { InputError } from '../errors.js';
import { type BipartiteGraph, SIDES, type SideName } from '../graph/graph.js';
import { oneOf, positive, whole } from '../validate.js';
import type { BothHyper } from './bound.js';
import { firstSigma, TAU } from './hyper.js';
import { type FitOptions, given } from './options.js';

export interface RankingSettings {
  readonly objective: 'ranking';
  readonly model: 'sparse' | 'dense';
  readonly features: number;
  readonly folds: number;
  readonly average: number;
  readonly iterations: number;
  readonly tolerance: number;
  readonly engine: EngineName;
  readonly seed: number;
  readonly hyper: BothHyper;
}

/** Options of the evidence fit that have no meaning here, and why. */
const REFUSED: Readonly<Partial<Record<keyof FitOptions, string>>> = {
  restarts: 'there is no bound to choose the best by; `average` adds the scores of several fits',
  learn:
    'hyperparameters are learned by the bound, which this objective has not; tune them on held-back users',
  sizes: 'this objective has no unseen vertices, and so no sizes',
  start: 'this objective has posterior means in its edge pass throughout: it is always warm',
};

/**
 * K grows with the square root of the edges, and shapes shrink with K: a user then begins with about one edge's worth of
 * prior spread over all features. Both were found on held-back users of several sets; docs/recommending.md has the grid.
 */
export function rankingFeatures(edges: number): number {
  return Math.min(512, Math.max(4, 4 * Math.round(Math.sqrt(edges) / 2)));
}

export function rankingSettings(graph: BipartiteGraph, options: FitOptions): RankingSettings {
  for (const [name, why] of Object.entries(REFUSED)) {
    if (options[name as keyof FitOptions] !== undefined) {
      throw new InputError(`${name} does not go with the ranking objective: ${why}`);
    }
  }
  const features = whole('features', options.features ?? rankingFeatures(graph.edges), 1, 512);
  const model = oneOf('model', options.model ?? 'sparse', ['sparse', 'dense']);
  const hyper = {} as Record<SideName, SideHyper>;
  for (const side of SIDES) {
    const own = given(side, options[side]);
    if (own.size) {
      throw new InputError(
        `size of the ${side} is ${own.size}: the ranking objective has no unseen ${side}; leave it out`,
      );
    }
    const sigma = firstSigma(model, graph, side);
    hyper[side] = { sigma, tau: TAU, shape: 1 / features, rate: 1 / features, ...own, size: 0 };
  }
  return {
    objective: 'ranking',
    model,
    features,
    folds: whole('folds', options.folds ?? 3, 2, 100),
    average: whole('average', options.average ?? 1, 1, 100),
    iterations: whole('iterations', options.iterations ?? 40, 1, 1e9),
    tolerance: positive('tolerance', options.tolerance ?? 1e-3),
    engine: oneOf('engine', (options.engine ?? 'auto') as EngineName, ENGINE_NAMES),
    seed: whole('seed', options.seed ?? 1, 0, Number.MAX_SAFE_INTEGER),
    hyper,
  };
}
