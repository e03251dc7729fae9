// Sums of explanations, for scores that are sums.

import { concat } from '../../math/memory.js';
import type { Explanation, ScoreParts } from './explain.js';

/** The explanation of `share` times the score. */
export function scaled(explanation: Explanation, share: number): Explanation {
  if (share === 1) return explanation;
  const times = (values: Float64Array) => values.map((value) => share * value);
  const parts = ({ features, direct, items, prior }: ScoreParts): ScoreParts => ({
    features: times(features),
    direct: share * direct,
    items: times(items),
    prior: share * prior,
  });
  return { score: share * explanation.score, ...parts(explanation), all: parts(explanation.all) };
}

/** The sum of explanations. Their features follow one another, unless `features` adds them. */
export function addUp(
  parts: readonly Explanation[],
  features: (values: readonly Float64Array[]) => Float64Array = (values) => concat(Float64Array, values),
): Explanation {
  if (parts.length === 1) return parts[0];
  const sumOf = (all: readonly ScoreParts[]): ScoreParts => ({
    features: features(all.map((part) => part.features)),
    direct: all.reduce((sum, part) => sum + part.direct, 0),
    items: added(all.map((part) => part.items)),
    prior: all.reduce((sum, part) => sum + part.prior, 0),
  });
  return {
    score: parts.reduce((sum, part) => sum + part.score, 0),
    ...sumOf(parts),
    all: sumOf(parts.map((part) => part.all)),
  };
}

/** Values added entry by entry. */
export function added(values: readonly Float64Array[]): Float64Array {
  return values[0].map((_, at) => values.reduce((sum, one) => sum + one[at], 0));
}
