// An added item gets a part of the item weights of its neighbours too.

import type { Neighbours, SparseSums } from '../../attributes/similarity.js';
import type { ModelScorer } from '../scoring/model-scorer.js';

/** Added to the sum of the similarities, so that items with few similar neighbours get small scores. */
export const SMOOTHING = 1;
/** Less than the mean similarity of nearly every item. */
const LEAST_COMMON = 1e-4;

/** The mean similarity of an item to the items of the data: large if its attributes are common. */
export function commonnessOf({ total }: Neighbours, known: number): number {
  return LEAST_COMMON + total / Math.max(1, known);
}

/** Weights towards one neighbour that are passed on. */
const MOST_PASSED = 100;

/**
 * A function that adds `part` of the item weights towards `neighbour` to `to`, by the item that they come from.
 * Undefined if the model does not add item weights to factors.
 */
export function smoothingWeights(
  { factors }: ModelScorer,
  known: number,
): ((neighbour: number, part: number, to: SparseSums) => void) | undefined {
  const weights = factors?.itemWeights();
  if (!weights) return undefined;
  const starts = new Uint32Array(known + 1);
  for (const target of weights.targets) starts[target + 1]++;
  for (let j = 0; j < known; j++) starts[j + 1] += starts[j];
  const from = new Uint32Array(weights.targets.length);
  const values = new Float32Array(weights.targets.length);
  const next = starts.slice();
  for (let i = 0; i < known; i++) {
    for (let e = weights.offsets[i]; e < weights.offsets[i + 1]; e++) {
      const at = next[weights.targets[e]]++;
      from[at] = i;
      values[at] = weights.weights[e];
    }
  }
  /** The largest weights towards an item, found once. */
  const largest = new Map<number, Uint32Array>();
  const largestOf = (neighbour: number) => {
    let found = largest.get(neighbour);
    if (!found) {
      const all = Array.from(
        { length: starts[neighbour + 1] - starts[neighbour] },
        (_, i) => starts[neighbour] + i,
      );
      all.sort((a, b) => Math.abs(values[b]) - Math.abs(values[a]) || a - b);
      found = Uint32Array.from(all.slice(0, MOST_PASSED));
      largest.set(neighbour, found);
    }
    return found;
  };
  return (neighbour, part, to) => {
    for (const e of largestOf(neighbour)) to.add(from[e], part * values[e]);
  };
}
