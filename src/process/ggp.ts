// The generalized gamma process: a Poisson process of weights w with intensity
// size · w^(−1−σ) e^(−τw) / Γ(1−σ) dw.

import { FitError } from '../errors.js';
import { poisson } from '../math/count-samplers.js';
import { exponential, TINY } from '../math/distributions.js';
import { allocate } from '../math/memory.js';
import type { Random } from '../math/random.js';
import { incompleteGamma, lgamma, upperGamma } from '../math/special.js';

export interface Ggp {
  /** Tail index, below 1. Below 0 there are finitely many atoms (dense), from 0 on infinitely many (sparse). */
  readonly sigma: number;
  /** Rate of the exponential factor, above 0. */
  readonly tau: number;
  readonly size: number;
}

/** Expected total mass, size · τ^(σ−1). */
export function meanMass({ sigma, tau, size }: Ggp): number {
  return size * tau ** (sigma - 1);
}

/** Variance of the total mass: the expected sum of squared weights, size · (1−σ) τ^(σ−2). */
export function massVariance({ sigma, tau, size }: Ggp): number {
  return size * (1 - sigma) * tau ** (sigma - 2);
}

/** Expected number of atoms above the cut; infinite at cut 0 when σ ≥ 0. */
export function atomsAbove({ sigma, tau, size }: Ggp, cut: number): number {
  if (cut <= 0) return sigma < 0 ? (size * tau ** sigma) / -sigma : Number.POSITIVE_INFINITY;
  // Γ(−σ, x)/Γ(1−σ); the regularized form is used when Γ(−σ) may overflow.
  const share =
    sigma < -0.5
      ? incompleteGamma(-sigma, tau * cut).upper / -sigma
      : upperGamma(-sigma, tau * cut) * Math.exp(-lgamma(1 - sigma));
  return size * tau ** sigma * share;
}

/** 2 GiB of weights. */
const MOST_ATOMS = 2 ** 28;
/** Largest width of a cell in log w. */
const CELL = 0.25;

/**
 * Draws the atoms above the cut, in random order. `logTilt`, if given, is the logarithm of an extra factor of the
 * intensity: at most 0 and not increasing in w.
 *
 * Cells of equal width in log w divide the axis. Within a cell, candidates are uniform in log w at the cell's highest
 * intensity. Each is kept with probability (its own intensity) / (highest intensity). Where atoms are many, the
 * intensity changes little within a cell, so nearly all candidates are kept. Above the last cell, candidates are
 * exponential. At σ < 0 the cut may be 0: the lowest cell then extends to 0, and the draw is exact.
 */
export function sampleAtoms(
  random: Random,
  ggp: Ggp,
  cut: number,
  logTilt?: (w: number) => number,
): Float64Array {
  const { sigma, tau, size } = ggp;
  const logDamping = logTilt ? (w: number) => logTilt(w) - tau * w : (w: number) => -tau * w;
  // Work in logarithms: at very negative σ the factors of the intensity overflow although their product does not.
  const logScale = Math.log(size) - lgamma(1 - sigma);
  // Beyond `end`, w^(−1−σ) is at most e^(slope·(w−end)) times its value at `end`; slope is at most τ/2.
  const power = Math.max(0, -1 - sigma);
  const end = Math.max(cut, (4 + 2 * power) / tau);
  const lowest = cut > 0 ? cut : endOfFlat(logDamping, 1 / tau);
  // A cell is narrow enough that the power law changes by at most a factor of e.
  const cells = Math.max(0, Math.ceil(Math.log(end / lowest) / Math.min(CELL, 1 / Math.abs(sigma))));
  const width = cells > 0 ? Math.log(end / lowest) / cells : 0;
  const border = (cell: number) => (cell === cells ? end : lowest * Math.exp(cell * width));

  const slope = power / end;
  const below = cut > 0 ? 0 : poisson(random, Math.exp(logScale - sigma * Math.log(lowest)) / -sigma);
  // Within a cell, w^−σ (in log w) exceeds its value at the lower end by at most this log factor.
  const steepest = Math.max(0, -sigma * width);
  const counts = new Float64Array(cells);
  let candidates = below;
  for (let cell = 0; cell < cells; cell++) {
    const w = border(cell);
    counts[cell] = poisson(
      random,
      width * Math.exp(logScale - sigma * Math.log(w) + logDamping(w) + steepest),
    );
    candidates += counts[cell];
  }
  const logAtEnd = logScale + (-1 - sigma) * Math.log(end) + logDamping(end);
  const above = poisson(random, Math.exp(logAtEnd) / (tau - slope));
  candidates += above;

  if (!(candidates <= MOST_ATOMS)) {
    throw new FitError(
      `these parameters need ${candidates.toPrecision(3)} atoms (sigma ${sigma}, tau ${tau}, size ${size}), more than memory holds: make sigma or size smaller`,
    );
  }
  const atoms = new Float64Array(candidates);
  let kept = 0;
  for (let i = 0; i < below; i++) {
    const w = Math.max(TINY, lowest * Math.exp(Math.log(random.uniform()) / -sigma));
    if (accepted(random, logDamping(w))) atoms[kept++] = w;
  }
  for (let cell = 0; cell < cells; cell++) {
    const lower = border(cell);
    const reference = logDamping(lower) + steepest;
    for (let i = 0; i < counts[cell]; i++) {
      const y = random.uniform() * width;
      const w = lower * Math.exp(y);
      if (accepted(random, logDamping(w) - sigma * y - reference)) atoms[kept++] = w;
    }
  }
  const reference = logDamping(end);
  for (let i = 0; i < above; i++) {
    const w = end + exponential(random) / (tau - slope);
    const bound = reference - (tau - slope) * (w - end);
    if (accepted(random, (-1 - sigma) * Math.log(w / end) + logDamping(w) - bound)) atoms[kept++] = w;
  }
  return shuffled(random, atoms.subarray(0, kept));
}

/** True with probability e^log, log ≤ 0. Most draws need no exponential, because e^log ≥ 1 + log. */
function accepted(random: Random, log: number): boolean {
  const u = random.uniform();
  return u < 1 + log || u < Math.exp(log);
}

/** A weight below which the damping loses less than a tenth of the candidates. */
function endOfFlat(logDamping: (w: number) => number, start: number): number {
  let w = start;
  while (logDamping(w) < -0.1) w /= 2;
  return w;
}

/** A copy in random order, over a shared buffer. */
function shuffled(random: Random, values: Float64Array): Float64Array {
  const result = allocate(Float64Array, values.length);
  for (let i = 0; i < values.length; i++) {
    const j = random.below(i + 1);
    result[i] = result[j];
    result[j] = values[i];
  }
  return result;
}
