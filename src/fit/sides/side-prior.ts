// The prior of each side: sparse or dense, chosen by the low degrees of the side. A dense side (σ < 0, Gamma weights) is a finite
// population, partly unseen. A sparse side (σ ≥ 0) is infinite. docs/appendix/sides.md compares other rules.

import type { SideHyper } from '../../engine/engine.js';
import { type BySide, bySide, otherSide, type SideName } from '../../graph/graph.js';
import { poisson } from '../../math/count-samplers.js';
import { gamma, normal } from '../../math/distributions.js';
import { expectedLaplace } from '../../math/quadrature.js';
import { predictiveQuantile } from '../../math/quantile.js';
import { randomStream } from '../../math/random.js';
import { STREAMS } from '../../math/streams.js';
import type { DegreeCounts } from '../../sparsity/degree-counts.js';
import { fitDegrees } from '../../sparsity/degree-likelihood.js';
import { fitLowDegrees } from '../../sparsity/low-degrees.js';
import { tailIndexAt, tailIndexHalfError } from '../../sparsity/tail-index.js';
import type { PosteriorModel } from '../model.js';
import {
  type SizeFacts,
  type SizeInterval,
  type SizePosterior,
  sizeFacts,
  sizePosteriors,
} from './size-posterior.js';

/** σ̂ can reach 1 on tiny graphs; the model needs σ < 1. */
export const LARGEST_SIGMA = 0.95;
/** Below this the weights of a side are nearly equal, and a smaller σ has no visible effect. */
export const SMALLEST_SIGMA = -12;
/** A side is dense if its σ lies this many standard errors below the border. */
const CLEAR = 2;

/** Sparse or dense, and σ, as the degrees of a side suggest. */
interface TailPrior {
  readonly kind: 'sparse' | 'dense';
  readonly sigma: number;
  /** Standard error of σ; undefined if the likelihood has none because σ lies at the end of its range. */
  readonly standardError: number | undefined;
}

/**
 * Dense with the σ of the low degrees if that is clearly negative; otherwise sparse with σ̂(½), which predicts better if there
 * is a tail. If hardly any degree is low, all degrees are used.
 */
export function tailPrior(counts: DegreeCounts): TailPrior {
  const fitted = fitLowDegrees(counts) ?? fitDegrees(counts);
  if (fitted && fitted.score < -CLEAR && fitted.estimate < 0) {
    const sigma = Math.max(SMALLEST_SIGMA, fitted.estimate);
    return { kind: 'dense', sigma, standardError: fitted.standardError };
  }
  const sigma = Math.min(tailIndexAt(counts, 0.5), LARGEST_SIGMA);
  return { kind: 'sparse', sigma, standardError: tailIndexHalfError(counts) };
}

/** Range of log τ: beyond it nearly all vertices were seen, or hardly any. */
const LOG_TAU = { low: -7, high: 9 } as const;

/**
 * The τ of a dense side at which model and data agree on thinning: halving the other side leaves a share 2^−σ̂(½) of the vertices in the
 * data, and E[ψ(½θ·M)] / E[ψ(θ·M)] in the model. With a fixed τ, the share of unseen vertices would depend on how the scale is divided
 * between users and items, which is arbitrary.
 */
export function matchTau(prior: SideHyper, half: number, mass: Float64Array): number {
  const target = -half * Math.LN2;
  const halved = mass.map((m) => m / 2);
  const excess = (logTau: number) => {
    const at = { ...prior, tau: Math.exp(logTau) };
    return Math.log(expectedLaplace(at, halved) / expectedLaplace(at, mass)) - target;
  };
  // The share falls with τ: from all of them to one half.
  let { low, high }: { low: number; high: number } = LOG_TAU;
  if (excess(low) <= 0) return Math.exp(low);
  if (excess(high) >= 0) return Math.exp(high);
  while (high - low > 1e-4) {
    const middle = (low + high) / 2;
    if (excess(middle) > 0) low = middle;
    else high = middle;
  }
  return Math.exp((low + high) / 2);
}

/** One side of a fitted model: its prior, and its seen and unseen vertices. */
export interface SideReport {
  /** dense: a finite population; sparse: an infinite one. */
  readonly kind: 'sparse' | 'dense';
  readonly sigma: number;
  readonly tau: number;
  readonly size: number;
  /** Whether the fit matched τ to the degrees. */
  readonly tauMatched: boolean;
  /** Of σ if it was estimated from the degrees, and of the size if it was fitted; else null. */
  readonly standardError: { readonly sigma: number | null; readonly size: number | null };
  /** The 90 % interval of a fitted size; null if the side has none, or if it was given. */
  readonly sizeInterval: SizeInterval | null;
  /** Unseen vertices of a dense side, with a 90 % interval; null for a sparse side. */
  readonly unseen: { readonly mean: number; readonly low: number; readonly high: number } | null;
}

/** Both sides of a fitted model. */
export type SidesReport = BySide<SideReport>;

/** Describes both sides of a fitted model: σ and size with their standard errors, τ, and the unseen vertices. */
export function describeSides(model: PosteriorModel): SidesReport {
  return describeSidesFrom(model, sizeFacts(model));
}

/** The same for a model whose users may be in shards: `facts` hold sums over them. */
export function describeSidesFrom(model: PosteriorModel, facts: SizeFacts): SidesReport {
  const sizes = sizePosteriors(model, facts);
  return bySide((side) => describeSide(model, facts, side, sizes[side]));
}

function describeSide(
  model: PosteriorModel,
  facts: SizeFacts,
  side: SideName,
  known: SizePosterior | undefined,
): SideReport {
  const { sigma, tau, size } = model[side].hyper;
  return Object.freeze({
    kind: sigma < 0 ? 'dense' : 'sparse',
    sigma,
    tau,
    size,
    tauMatched: model[side].tauMatched === true,
    standardError: { sigma: sigmaError(model, facts, side), size: known?.standardError ?? null },
    sizeInterval: known?.interval ?? null,
    unseen: unseenVertices(model, facts, side),
  });
}

/** Standard error of a σ that was estimated from the degrees; null if σ was given, learned by the bound, or fixed. */
function sigmaError({ kind, provenance }: PosteriorModel, facts: SizeFacts, side: SideName): number | null {
  const options = provenance.options as Partial<Record<SideName, Partial<SideHyper>>> & {
    readonly learn?: readonly string[];
  };
  const learned = options.learn?.some((name) => name === 'sigma' || name === `${side}.sigma`);
  if (learned || options[side]?.sigma !== undefined || kind === 'dense') return null;
  const { degrees } = facts[side];
  return (kind === 'auto' ? tailPrior(degrees).standardError : tailIndexHalfError(degrees)) ?? null;
}

/** Unseen over seen vertices of a dense side. */
function unseenOdds(prior: SideHyper, mass: Float64Array): number {
  const { sigma, tau } = prior;
  return Math.max(0, tau ** sigma / -sigma / expectedLaplace(prior, mass) - 1);
}

/** Odds below this count as none. */
const LEAST_ODDS = 1e-9;
/** Draws for an interval; and values of σ at which the odds are evaluated, in standard errors. */
const INTERVAL_DRAWS = 2000;
const POINTS = [-2, -1, 0, 1, 2] as const;

/**
 * The seen vertices are a fraction π of a population with a Poisson number. Given π, the number of unseen vertices is negative
 * binomial. π is uncertain because σ has a standard error, and a matched τ follows σ.
 */
function unseenVertices(model: PosteriorModel, facts: SizeFacts, side: SideName): SideReport['unseen'] {
  const { hyper, tauMatched } = model[side];
  const { count, degrees: counts } = facts[side];
  if (hyper.size === 0) return Object.freeze({ mean: 0, low: 0, high: 0 });
  if (hyper.sigma >= 0) return null;
  const { mass } = facts[otherSide(side)];
  const prior = tailPrior(counts);
  const half = tailIndexAt(counts, 0.5);
  const spread = prior.kind === 'dense' ? (prior.standardError ?? 0) : 0;
  const atSigma = (sigma: number) => {
    const at = { ...hyper, sigma };
    return unseenOdds(tauMatched ? { ...at, tau: matchTau(at, half, mass) } : at, mass);
  };
  const odds = unseenOdds(hyper, mass);
  const lowest = Math.min(hyper.sigma, SMALLEST_SIGMA);
  // Relative to the odds at σ itself, because the masses have changed a little since τ was last matched.
  const middle = Math.log(LEAST_ODDS + atSigma(hyper.sigma)) - Math.log(LEAST_ODDS + odds);
  const logs = POINTS.map(
    (z) =>
      Math.log(LEAST_ODDS + atSigma(Math.min(-1e-3, Math.max(lowest, hyper.sigma + z * spread)))) - middle,
  );
  const random = randomStream(1, STREAMS.unseenVertices);
  const draws = Float64Array.from({ length: INTERVAL_DRAWS }, () => {
    const z = Math.max(-2, Math.min(2 - 1e-9, normal(random)));
    const at = Math.floor(z) + 2;
    const share = z - Math.floor(z);
    const ratio = Math.exp(logs[at] * (1 - share) + logs[at + 1] * share);
    return poisson(random, gamma(random, count) * ratio);
  }).sort();
  return Object.freeze({
    mean: count * odds,
    low: predictiveQuantile(draws, 0.05),
    high: predictiveQuantile(draws, 0.95),
  });
}
