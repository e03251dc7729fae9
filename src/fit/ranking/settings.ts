// The settings of a ranking fit: the given options, and defaults that depend on the data.

import { bySide, type SideName } from '../../graph/graph.js';
import { partFor, withDefaults } from '../../options/check-options.js';
import { FEATURES, METHODS } from '../../options/commands/fit.js';
import type { OptionsOf, SettingsOf } from '../../options/declare.js';
import type { BothHyper } from '../ascent/bound.js';
import { type DataFacts, firstSigma, TAU } from '../ascent/hyper.js';
import { given } from '../options.js';

type Declared = typeof METHODS.ranking;

export interface RankingSettings extends Omit<SettingsOf<Declared>, SideName | 'features'> {
  readonly features: number;
  readonly hyper: BothHyper;
  /** True if the fit started from a previous model. */
  readonly fromModel?: true;
}

/** In a blend more features gain nothing. */
const MOST_IN_BLEND = 256;

/**
 * K grows with the square root of the number of edges. Shapes are 1/K, so the prior of a user weighs about as much as one edge. These
 * rules were found on held-back users of several data sets (docs/appendix/ranking-fit.md).
 */
export function rankingSettings(
  { edges, degreeCounts }: Pick<DataFacts, 'edges' | 'degreeCounts'>,
  options: OptionsOf<Declared>,
): RankingSettings {
  const {
    users,
    items,
    features: asked,
    ...plain
  } = withDefaults(METHODS.ranking, partFor(METHODS.ranking, options));
  const most = plain.blend ? MOST_IN_BLEND : FEATURES.max;
  const features = asked ?? Math.min(most, Math.max(4, 4 * Math.round(Math.sqrt(edges) / 2)));
  const said = { users: given(users), items: given(items) };
  const hyper = bySide((side) => {
    const sigma = firstSigma(plain.model, degreeCounts[side]);
    return { sigma, tau: TAU, shape: 1 / features, rate: 1 / features, ...said[side], size: 0 };
  });
  return { ...plain, features, hyper };
}
