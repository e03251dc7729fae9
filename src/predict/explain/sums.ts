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

export function addUp(parts: readonly Explanation[]): Explanation {
  if (parts.length === 1) return parts[0];
  return {
    score: parts.reduce((sum, part) => sum + part.score, 0),
    ...addParts(parts),
    all: addParts(parts.map((part) => part.all)),
  };
}

function addParts(parts: readonly ScoreParts[]): ScoreParts {
  const features = parts.map((part) => part.features);
  return {
    features: concat(Float64Array, features),
    direct: parts.reduce((sum, part) => sum + part.direct, 0),
    items: parts[0].items.map((_, e) => parts.reduce((sum, part) => sum + part.items[e], 0)),
    prior: parts.reduce((sum, part) => sum + part.prior, 0),
  };
}
