// Weights between items: grouped by the item they come from, scaled by the degrees of their targets, and added to each other.

import { transposeRows } from '../math/csr.js';
import { allocate } from '../math/memory.js';
import type { SparseWeights } from '../topn/query.js';
import type { LargestWeights } from './ridge-blocks.js';

/** degree^(−exponent) of each target, divided by its mean over all edges. `degree` has the degrees of all items. */
export function degreeScale(
  degree: ArrayLike<number>,
  targets: ArrayLike<number> | undefined,
  exponent: number,
): Float64Array {
  let [edges, powers] = [0, 0];
  for (let i = 0; i < degree.length; i++) {
    if (degree[i] === 0) continue;
    edges += degree[i];
    powers += degree[i] ** (1 - exponent);
  }
  const mean = edges > 0 ? edges / powers : 1;
  return Float64Array.from({ length: targets?.length ?? degree.length }, (_, t) => {
    const item = targets ? targets[t] : t;
    return mean * Math.max(1, degree[item]) ** -exponent;
  });
}

/** The same weights, times a factor for each target. */
export function scaleTargets(weights: SparseWeights, scale: ArrayLike<number>): SparseWeights {
  const scaled = allocate(Float32Array, weights.weights.length);
  for (let e = 0; e < scaled.length; e++) scaled[e] = scale[weights.targets[e]] * weights.weights[e];
  return { ...weights, weights: scaled };
}

export function timesFactor(weights: SparseWeights, factor: number): SparseWeights {
  const scaled = allocate(Float32Array, weights.weights.length);
  for (let e = 0; e < scaled.length; e++) scaled[e] = factor * weights.weights[e];
  return { ...weights, weights: scaled };
}

/**
 * The sum of two sets of weights, the second times `share`. Targets ascend in both, and in the sum. A set with fewer rows has no
 * weights from the others.
 */
export function addScaled(
  one: SparseWeights,
  other: SparseWeights,
  share: number,
  rows = one.offsets.length - 1,
): SparseWeights {
  const startOf = ({ offsets: of }: SparseWeights, row: number) => of[Math.min(row, of.length - 1)];
  const most = one.targets.length + other.targets.length;
  const [targets, weights] = [new Uint32Array(most), new Float32Array(most)];
  const offsets = allocate(Uint32Array, rows + 1);
  let at = 0;
  for (let row = 0; row < rows; row++) {
    let [a, b] = [startOf(one, row), startOf(other, row)];
    const [endA, endB] = [startOf(one, row + 1), startOf(other, row + 1)];
    for (; a < endA || b < endB; at++) {
      const s = a < endA ? one.targets[a] : Number.POSITIVE_INFINITY;
      const t = b < endB ? other.targets[b] : Number.POSITIVE_INFINITY;
      targets[at] = Math.min(s, t);
      weights[at] = (s <= t ? one.weights[a++] : 0) + (t <= s ? share * other.weights[b++] : 0);
    }
    offsets[row + 1] = at;
  }
  const [ofAll, all] = [allocate(Uint32Array, at), allocate(Float32Array, at)];
  ofAll.set(targets.subarray(0, at));
  all.set(weights.subarray(0, at));
  return { offsets, targets: ofAll, weights: all };
}

/** Transposes weights by target into weights by source, and scales them. */
export function bySource(
  { found, sources, neighbours, targetWeights }: LargestWeights,
  inputs: Uint32Array,
  itemCount: number,
  scale?: ArrayLike<number>,
): SparseWeights {
  const offsets = new Uint32Array(found.length + 1);
  for (let t = 0; t < found.length; t++) offsets[t + 1] = offsets[t] + found[t];
  const neighbors = new Uint32Array(offsets[found.length]);
  const counts = new Float32Array(neighbors.length);
  for (let t = 0; t < found.length; t++) {
    for (let n = 0, at = offsets[t]; n < found[t]; n++, at++) {
      neighbors[at] = inputs[sources[t * neighbours + n]];
      counts[at] = (scale?.[t] ?? 1) * targetWeights[t * neighbours + n];
    }
  }
  const turned = transposeRows({ offsets, neighbors, counts }, itemCount);
  return { offsets: turned.offsets, targets: turned.neighbors, weights: turned.counts! };
}
