// Moments of γθ_k of one vertex by integration over log γ: the oracle of the joint sampler.

import type { KnownVertices } from '../../src/predict/draw/draw-vertex.js';

/** E[γθ_k], E[(γθ_k)²], and E[e^(−γθ·mass)], by the trapezoid rule on a fine grid of log γ. */
export function activityMoments(
  known: KnownVertices,
  row: number,
  mass: ArrayLike<number>,
): { mean: number[]; square: number[]; none: number } {
  const K = known.otherMass.length;
  const shapes = Array.from({ length: K }, (_, k) => known.featureShape[row * K + k]);
  const logDensity = (x: number) => {
    const weight = Math.exp(x);
    let value = known.weightShape[row] * x - known.tau * weight;
    for (let k = 0; k < K; k++) value -= shapes[k] * Math.log(known.rate + known.otherMass[k] * weight);
    return value;
  };
  // The density falls to the left like e^(shape·x), to the right faster; a coarse walk finds where it matters.
  const coarse = Array.from({ length: 2000 }, (_, i) => 20 - i / 2);
  const coarseHeights = coarse.map(logDensity);
  const coarseTop = Math.max(...coarseHeights);
  const near = coarse.filter((_, i) => coarseHeights[i] > coarseTop - 60);
  const low = near.at(-1)! - 1;
  const high = near[0] + 1;
  const step = (high - low) / 4000;
  const grid = Array.from({ length: 4001 }, (_, i) => low + i * step);
  const heights = grid.map(logDensity);
  const top = Math.max(...heights);
  const mean = new Array<number>(K).fill(0);
  const square = new Array<number>(K).fill(0);
  let none = 0;
  let total = 0;
  grid.forEach((x, i) => {
    const p = Math.exp(heights[i] - top);
    if (p < 1e-18) return;
    const weight = Math.exp(x);
    total += p;
    let logNone = 0;
    for (let k = 0; k < K; k++) {
      const rate = known.rate + known.otherMass[k] * weight;
      mean[k] += (p * weight * shapes[k]) / rate;
      square[k] += (p * weight * weight * shapes[k] * (shapes[k] + 1)) / rate ** 2;
      logNone -= shapes[k] * Math.log1p((weight * mass[k]) / rate);
    }
    none += p * Math.exp(logNone);
  });
  return { mean: mean.map((v) => v / total), square: square.map((v) => v / total), none: none / total };
}
