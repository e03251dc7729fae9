// A law for each side. Real sides differ: one may be a fixed population of which some were not met yet (σ < 0, Gamma
// weights, dense), another may go on for ever (σ ≥ 0, sparse). Which of the two, and with which σ, the low degrees say;
// docs/sides.md has the rules that were tried and how well each predicts.

import type { SideHyper } from '../../engine/engine.js';
import { otherSide, type SideName } from '../../graph/graph.js';
import { poisson } from '../../math/counts.js';
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

/** σ̂ is a share of vertices, so it can reach 1 on tiny graphs; the model needs it below. */
export const LARGEST_SIGMA = 0.95;
/** Below this the weights of a side are all but equal, and a smaller σ changes nothing that can be seen. */
export const SMALLEST_SIGMA = -12;
/** Standard errors that a side must lie below the border to be taken for dense. */
const CLEAR = 2;

/** The tail index that a side's degrees speak for. */
export interface TailPrior {
  readonly kind: 'sparse' | 'dense';
  readonly sigma: number;
  /** Standard error of σ; undefined if the likelihood has none because σ lies at the end of its range. */
  readonly standardError: number | undefined;
}

/**
 * Dense with the σ of the low degrees where that is clearly negative, and otherwise sparse with σ̂(½), which predicts better
 * where there is a tail to see. All degrees stand in where hardly any are low.
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

/** Range of log τ: beyond it all vertices were seen, or hardly any. */
const LOG_TAU = { low: -7, high: 9 } as const;

/**
 * The τ of a dense side with which the model's curve of vertices agrees with the data's: thinning the other side to a half
 * leaves a share 2^−σ̂(½) of the vertices, and E[ψ(½θ·M)] / E[ψ(θ·M)] by the model. At τ = 1 the share of unseen vertices
 * would follow from the scale that both sides happen to have.
 */
export function matchTau(law: SideHyper, half: number, mass: Float64Array): number {
  const target = -half * Math.LN2;
  const halved = mass.map((m) => m / 2);
  const excess = (logTau: number) => {
    const at = { ...law, tau: Math.exp(logTau) };
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

/** What a fitted model says of the vertices of one side, seen and unseen. */
export interface SideReport {
  /** dense: a fixed population; sparse: one without end. */
  readonly kind: 'sparse' | 'dense';
  readonly sigma: number;
  readonly tau: number;
  readonly size: number;
  /** Whether the fit matched τ to the degrees. */
  readonly tauMatched: boolean;
  /** Of σ, if it was estimated from the degrees, and of the size, if the fit has found it; else null. */
  readonly standardError: { readonly sigma: number | null; readonly size: number | null };
  /** The 90 % interval of a size that the fit has found; null if there is none, or if it was given. */
  readonly sizeInterval: SizeInterval | null;
  /** Vertices of a dense side that the data do not have, with a 90 % interval; null where there is no end of them. */
  readonly unseen: { readonly mean: number; readonly low: number; readonly high: number } | null;
}

/** The law that each side was given, and why. */
export type SidesReport = Readonly<Record<SideName, SideReport>>;

/** The laws of a fitted model. */
export function describeSides(model: PosteriorModel): SidesReport {
  return describeSidesFrom(model, sizeFacts(model));
}

/** The same of a model whose users may be elsewhere. */
export function describeSidesFrom(model: PosteriorModel, facts: SizeFacts): SidesReport {
  const sizes = sizePosteriors(model, facts);
  return {
    users: describeSide(model, facts, 'users', sizes.users),
    items: describeSide(model, facts, 'items', sizes.items),
  };
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
function unseenOdds(law: SideHyper, mass: Float64Array): number {
  return Math.max(0, law.tau ** law.sigma / -law.sigma / expectedLaplace(law, mass) - 1);
}

/** Less than this is none. */
const LEAST_ODDS = 1e-9;
/** Draws behind an interval, and points at which σ's uncertainty is looked at, in standard errors. */
const DRAWS = 2000;
const POINTS = [-2, -1, 0, 1, 2] as const;

/**
 * Seen vertices are a share π of a population whose number is Poisson, so given π the unseen ones are negative binomial. σ
 * is known with an error, and τ follows it where the fit has matched it.
 */
function unseenVertices(model: PosteriorModel, facts: SizeFacts, side: SideName): SideReport['unseen'] {
  const { hyper, tauMatched } = model[side];
  const { count, degrees: counts } = facts[side];
  if (hyper.size === 0) return Object.freeze({ mean: 0, low: 0, high: 0 });
  if (hyper.sigma >= 0) return null;
  const { mass } = facts[otherSide(side)];
  const law = tailPrior(counts);
  const half = tailIndexAt(counts, 0.5);
  const spread = law.kind === 'dense' ? (law.standardError ?? 0) : 0;
  const atSigma = (sigma: number) => {
    const at = { ...hyper, sigma };
    return unseenOdds(tauMatched ? { ...at, tau: matchTau(at, half, mass) } : at, mass);
  };
  const odds = unseenOdds(hyper, mass);
  const lowest = Math.min(hyper.sigma, SMALLEST_SIGMA);
  // Relative to the middle: the masses have moved a little since τ was last matched.
  const middle = Math.log(LEAST_ODDS + atSigma(hyper.sigma)) - Math.log(LEAST_ODDS + odds);
  const logs = POINTS.map(
    (z) =>
      Math.log(LEAST_ODDS + atSigma(Math.min(-1e-3, Math.max(lowest, hyper.sigma + z * spread)))) - middle,
  );
  const random = randomStream(1, STREAMS.unseenVertices);
  const draws = Float64Array.from({ length: DRAWS }, () => {
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
